"""Models, streams and learners from files: what ``pack`` took apart, put together again.

Arrays and values are taken out of what was read, so that nothing that is left over goes unseen;
parts check that they fit each other when they are made.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenecho.basis import Basis
from eigenecho.checks import check_flag, check_known, check_shape
from eigenecho.errors import Shown, bad_argument
from eigenecho.model.certificate import Certificate
from eigenecho.model.learner import Learner
from eigenecho.model.model import LinearModel
from eigenecho.model.reduction import Reduction
from eigenecho.model.state import State
from eigenecho.model.stream import Stream
from eigenecho.readout import Gram, Penalty, Triangle
from eigenecho.reservoir import Reservoir
from eigenecho.scaling import Scaling
from eigenecho.storage import Tensors, Values, check_range, fields, take, take_names
from eigenecho.training import Evidence, Learnt
from eigenecho.training.doubt import Doubt


def unpack_model(tensors: Tensors, values: Values) -> LinearModel:
    """What ``LinearModel.save`` wrote."""
    reservoir, W_out = Reservoir.unpack(tensors), take(tensors, "W_out")
    check_range(W_out, "W_out", reservoir.dtype)
    basis = None
    if "Q" in tensors:
        layout = reservoir.transition.layout
        if layout is None:
            raise bad_argument("Q", Shown("array"), "none: a matrix is in its own basis")
        block, n_real = layout
        basis = Basis(take(tensors, "Q"), n_real, block)
    certificate = values.pop("certificate", None)
    said: Certificate | Reduction | None
    said = None if certificate is None else Certificate(**certificate)
    if "reduction" in values:
        said = Reduction.unpack(tensors, values.pop("reduction"))
    return LinearModel(
        reservoir,
        W_out,
        values.pop("readout_bias"),
        values.pop("output_to_readout"),
        basis,
        _unpack_scaling("inputs", tensors, reservoir.dtype),
        _unpack_scaling("outputs", tensors, reservoir.dtype),
        said,
    )


def unpack_stream(tensors: Tensors, values: Values) -> Stream:
    """What ``Stream.save`` wrote."""
    model = unpack_model(tensors, values)
    state = State.unpack("state", tensors)
    return Stream(model, state, take_names(values, "feature_names", model.D_in))


def unpack_learner(tensors: Tensors, values: Values) -> Learner:
    """What ``Learner.save`` wrote."""
    model = unpack_model(tensors, values)
    doubt = None
    if "doubt.scale" in tensors:
        doubt = Doubt(*(take(tensors, f"doubt.{name}") for name in Doubt._fields))
    rows, free, neurons, ridge, forgetting, warmup = fields(
        values, "learner", "rows", "free", "neurons", "ridge", "forgetting", "warmup"
    )
    R, Z, weights, centre = (take(tensors, f"learner.{name}") for name in Learnt._fields[:4])
    check_range(weights, "learner.weights", model.reservoir.dtype)
    penalty = Penalty(len(model.W_out), free, _penalised(neurons, model))
    learnt = Learnt(R, Z, weights, centre, rows, doubt)
    state = State.unpack("state", tensors)
    names = take_names(values, "feature_names", model.D_in)
    return Learner(model, learnt, penalty, ridge, forgetting, warmup, state, names)


def unpack_evidence(tensors: Tensors, values: Values, model: LinearModel) -> Evidence:
    """What a readout was trained on, as ``Evidence.pack`` took it apart."""
    kind, rows, ridge, free, neurons = fields(
        values, "statistics", "kind", "rows", "ridge", "free", "neurons"
    )
    # Squares of large residuals overflow, which is no reason to refuse the rest.
    scatter = take(tensors, "statistics.scatter", np.inf)
    weights = take(tensors, "statistics.weights")
    XtE = take(tensors, "statistics.XtE") if "statistics.XtE" in tensors else None
    check_shape(weights, "weights", model.W_out.shape)
    check_known(kind, "kind", ("Gram", "Triangle"))
    statistics: Gram | Triangle
    if kind == "Gram":
        XtX, XtY = (take(tensors, f"statistics.{name}") for name in ("XtX", "XtY"))
        statistics = Gram(XtX, XtY, rows)
    else:
        R, Z, rest = (take(tensors, f"statistics.{name}") for name in ("R", "Z", "rest"))
        statistics = Triangle(R, Z, rest, rows)
    penalty = Penalty(len(weights), free, _penalised(neurons, model))
    evidence = Evidence(statistics, penalty, ridge, weights, scatter, XtE)
    evidence.check()
    return evidence


def _unpack_scaling(name: str, tensors: Tensors, dtype: Any) -> Scaling | None:
    if f"{name}.mean" not in tensors:
        return None
    parts = [take(tensors, f"{name}.{part}") for part in ("mean", "scale")]
    for part in parts:
        check_range(part, name, dtype)
    return Scaling(*parts)


def _penalised(neurons: Any, model: LinearModel) -> Basis | None:
    """The basis through which a ridge penalises ``neurons``, where the file says so."""
    check_flag(neurons, "neurons")
    return model.need_basis() if neurons else None
