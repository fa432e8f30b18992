"""Saving and loading fitted estimators."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np

from eigenecho.errors import (
    StorageError,
    bad_argument,
    check_flag,
    is_finite_number,
    unknown_name,
)
from eigenecho.estimators.diagonal_reservoir import DiagonalReservoir
from eigenecho.estimators.linear_esn import LinearESN
from eigenecho.model import LinearModel
from eigenecho.model.intervals import check_noise
from eigenecho.model.run import as_state
from eigenecho.model.storage import (
    Tensors,
    Values,
    fields,
    pack_evidence,
    pack_matrix,
    pack_model,
    pack_reservoir,
    pack_state,
    read,
    rebuilt,
    take,
    unpack_evidence,
    unpack_learner,
    unpack_matrix,
    unpack_model,
    unpack_names,
    unpack_reservoir,
    unpack_state,
    unpack_stream,
    write,
)
from eigenecho.random import generator
from eigenecho.reservoir.inputs import per_feature
from eigenecho.reservoir.transition import check_matrix
from eigenecho.spectra import Spectrum, law
from eigenecho.spectra.spectrum import check_lr, check_n

TARGETS = (None, "next", "same", "other")
SOLVED_BY = ("gram", "qr", "structured", "refined")

Estimator = LinearESN | DiagonalReservoir


def save(path: Any, esn: LinearESN, statistics: bool) -> None:
    """Write a fitted ``LinearESN``, with its training statistics where asked."""
    tensors, values = pack_model(esn.model_)
    tensors |= pack_state("final_state", esn.final_state_)
    if esn._noise is not None or esn._evidence is not None:
        noise = esn.noise_covariance_
        if np.all(np.isfinite(noise)):
            tensors["noise"] = noise
    if esn._drawn_spectrum is not None:
        tensors |= pack_matrix("spectrum", esn._drawn_spectrum)
    _pack_shell(esn, esn.spectrum_ if callable(esn.spectrum) else None, tensors, values)
    values |= {"solver": esn.solver_, "ridge": esn.ridge_, "flat": esn._flat, "lr": esn._lr}
    values["target"] = esn._target
    if statistics:
        more, values["statistics"] = pack_evidence(esn._need_evidence())
        tensors |= more
    write(path, "LinearESN", tensors, values)


def save_reservoir(path: Any, reservoir: DiagonalReservoir) -> None:
    """Write a fitted ``DiagonalReservoir``: what was drawn, and what it was drawn by."""
    values: Values = {}
    tensors = pack_reservoir(reservoir.reservoir_) | pack_matrix("spectrum", reservoir.spectrum_)
    _pack_shell(reservoir, reservoir.spectrum_, tensors, values)
    values["effective_radius"] = reservoir.effective_radius_
    write(path, "DiagonalReservoir", tensors, values)


def load(path: Any) -> Any:
    """Read what ``save`` wrote.

    A ``LinearESN``, ``DiagonalReservoir``, ``LinearModel``, ``Stream`` or ``Learner`` comes back
    as it was, to the last bit. A file that is damaged, foreign or of a newer format raises
    ``errors.StorageError``; whatever loads, runs.
    """
    kind, tensors, values = read(path)
    if kind not in UNPACK:
        raise StorageError(f"{path} holds a {kind!r}, which this version does not know.")
    return rebuilt(path, UNPACK[kind], tensors, values)


def _unpack_esn(tensors: Tensors, values: Values) -> LinearESN:
    model = unpack_model(tensors, values)
    esn = _unpack_shell(LinearESN, model.D_in, tensors, values)
    esn.model_ = model
    esn.final_state_ = as_state(model, unpack_state("final_state", tensors), "final_state")
    esn.n_outputs_ = model.D_out
    esn.solver_, esn.ridge_ = values.pop("solver"), values.pop("ridge")
    # Files of this format may still call it by its older name.
    esn.solver_ = "refined" if esn.solver_ == "refined gram" else esn.solver_
    if esn.solver_ not in SOLVED_BY:
        raise unknown_name("solver", esn.solver_, SOLVED_BY)
    if not is_finite_number(esn.ridge_) or esn.ridge_ < 0:
        raise bad_argument("ridge", esn.ridge_, "a finite number ≥ 0")
    esn._flat, esn._lr = values.pop("flat"), values.pop("lr")
    check_flag(esn._flat, "flat")
    if esn._flat and model.D_out > 1:
        raise bad_argument("flat", True, f"False, since there are {model.D_out} outputs")
    check_lr(esn._lr)
    esn._target = values.pop("target", None)  # files of 0.1.0 do not say
    if esn._target not in TARGETS:
        raise unknown_name("target", esn._target, filter(None, TARGETS))
    esn._closed_loop_radius = None
    esn._noise = _unpack_noise(tensors, model)
    esn._evidence = None
    if "statistics" in values:
        esn._evidence = unpack_evidence(tensors, values, model)
    esn._drawn_spectrum = None
    if "spectrum.real" in tensors:
        esn._drawn_spectrum = _unpack_spectrum(tensors, model.units)
    return esn


def _unpack_reservoir(tensors: Tensors, values: Values) -> DiagonalReservoir:
    drawn = unpack_reservoir(tensors)
    if drawn.W_fb is not None or not len(drawn.W_in):
        raise bad_argument("W_in", f"<shape {drawn.W_in.shape}>", "weights of inputs alone")
    made = _unpack_shell(DiagonalReservoir, len(drawn.W_in), tensors, values)
    made.reservoir_ = drawn
    made.spectrum_ = _unpack_spectrum(tensors, drawn.units)
    # Kept, since to find it anew takes N² numbers of a sparse matrix, and N³ operations.
    made.effective_radius_ = values.pop("effective_radius")
    if not is_finite_number(made.effective_radius_) or made.effective_radius_ < 0:
        raise bad_argument("effective_radius", made.effective_radius_, "a finite number ≥ 0")
    return made


UNPACK = {
    "LinearModel": unpack_model,
    "LinearESN": _unpack_esn,
    "DiagonalReservoir": _unpack_reservoir,
    "Stream": unpack_stream,
    "Learner": unpack_learner,
}
"""How each kind of file is read."""


def _unpack_spectrum(tensors: Tensors, units: int) -> Spectrum:
    spectrum = unpack_matrix("spectrum", tensors)
    if not isinstance(spectrum, Spectrum) or spectrum.units != units:
        raise bad_argument("spectrum", spectrum, f"{units} eigenvalues")
    return spectrum


def _unpack_noise(tensors: Tensors, model: LinearModel) -> Any:
    if "noise" not in tensors:
        return None
    noise = take(tensors, "noise", np.inf)
    # Squares of large residuals overflow, which version 0.1.0 wrote as they were.
    return None if np.any(np.isinf(noise)) else check_noise(noise, model.D_out)


def _pack_shell(
    estimator: Estimator, drawn: Spectrum | None, tensors: Tensors, values: Values
) -> None:
    """Parameters and features of an estimator; ``drawn`` is what a callable spectrum gave."""
    _check_params(estimator, estimator.n_features_in_)
    params = dict(estimator.get_params(deep=False))
    given, seed = params["spectrum"], params["seed"]
    if not isinstance(given, str):
        if callable(given):
            _warn_of_loss("spectrum", given, "the eigenvalues that it gave")
            given = drawn
        tensors |= _pack_given(given)
        params["spectrum"] = None
    if isinstance(seed, np.random.Generator):
        _warn_of_loss("seed", seed, "None; what was drawn is kept all the same")
        params["seed"] = None
    names = getattr(estimator, "feature_names_in_", None)
    values |= {
        "params": {name: _plain(value, name) for name, value in params.items()},
        "n_features_in": estimator.n_features_in_,
        "feature_names_in": None if names is None else list(map(str, names)),
    }


def _unpack_shell(kind: type, D_in: int, tensors: Tensors, values: Values) -> Any:
    """An estimator with the parameters and features that ``_pack_shell`` took apart."""
    params = values.pop("params")
    wanted = set(kind().get_params(deep=False))
    if not isinstance(params, dict) or params.keys() != wanted:
        raise bad_argument("params", params, f"the parameters {', '.join(sorted(wanted))}")
    for name, value in params.items():
        if isinstance(value, int) and abs(value) >= 2**63 and name != "seed":
            raise bad_argument(name, value, "a number that a machine can count to")
        if isinstance(value, (list, dict)) and name not in ("input_scaling", "ridge", "dtype"):
            raise bad_argument(name, value, "one value")
    if params["spectrum"] is None:
        params["spectrum"] = _unpack_given(tensors)
    elif not isinstance(params["spectrum"], str):
        raise bad_argument("spectrum", params["spectrum"], "a name, or arrays")
    if isinstance(params["dtype"], dict):
        (dtype,) = fields(params, "dtype", "numpy")
        params["dtype"] = np.dtype(dtype)
    estimator = kind(**params)
    _check_params(estimator, D_in)
    estimator.n_features_in_ = values.pop("n_features_in")
    if type(estimator.n_features_in_) is not int or estimator.n_features_in_ != D_in:
        raise bad_argument("n_features_in", estimator.n_features_in_, f"{D_in}, as W_in has")
    names = unpack_names(values, "feature_names_in", D_in)
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return estimator


def _check_params(estimator: Estimator, D_in: int) -> None:
    """All parameters, as ``fit`` would; those of a file may be anybody's."""
    estimator._recipe()
    if isinstance(estimator, LinearESN):
        estimator._options()
    per_feature(estimator.input_scaling, D_in)
    generator(estimator.seed)
    if isinstance(estimator.spectrum, str):
        check_n(estimator.units, "units")
        if estimator.spectrum != "matrix":
            law(estimator.spectrum, also=("matrix",))


def _pack_given(given: Any) -> Tensors:
    """Eigenvalues or a matrix that were given as ``spectrum``."""
    if not isinstance(given, Spectrum) and np.ndim(given) == 1:
        given = Spectrum.from_values(given)
    return pack_matrix("param.spectrum", given)


def _unpack_given(tensors: Tensors) -> Any:
    if "param.spectrum" not in tensors:
        return unpack_matrix("param.spectrum", tensors)
    # As it was: the entries of a matrix may be ints, or flags.
    matrix = tensors.pop("param.spectrum")
    check_matrix(matrix, "spectrum")
    return matrix


def _warn_of_loss(name: str, value: Any, kept: str) -> None:
    warnings.warn(
        f"{name}={value!r} cannot be written to a file, which keeps {kept}.",
        UserWarning,
        stacklevel=5,
    )


def _plain(value: Any, name: str) -> Any:
    """A parameter as JSON has it, equal to what it was, or an error that it cannot be kept."""
    if value is None or isinstance(value, (str, bool, np.bool_)):
        return value.item() if isinstance(value, np.bool_) else value
    if name == "dtype":
        return {"numpy": np.dtype(value).name}
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and float(value) == value:
        return float(value)
    array = np.asarray(value)
    if array.ndim <= 1 and array.dtype.kind in "fiu" and array.dtype.itemsize <= 8:
        return array.tolist()
    raise bad_argument(name, value, "numbers or words, which a file can keep")
