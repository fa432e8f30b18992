"""Model files: safetensors with a JSON header, versioned, checked, no pickle.

A file holds named arrays and one metadata entry, ``eigenecho``: JSON with the format's version,
the kind of object, its plain values, and a digest of all that.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from eigenecho.basis import Basis, Cascade
from eigenecho.errors import StorageError
from eigenecho.model.certificate import Certificate
from eigenecho.model.doubt import Doubt
from eigenecho.model.evidence import Evidence
from eigenecho.model.learner import Learner, Memory
from eigenecho.model.model import Array, LinearModel, State
from eigenecho.model.scaling import Scaling
from eigenecho.model.stream import Stream
from eigenecho.readout import Gram, Penalty, Triangle
from eigenecho.reservoir import Reservoir
from eigenecho.spectra import Spectrum

FORMAT = 1
Tensors = dict[str, Array]


def save(path: Any, model: LinearModel) -> None:
    """Write a model."""
    tensors, values = pack_model(model)
    write(path, "LinearModel", tensors, values)


def save_stream(path: Any, stream: Stream) -> None:
    """Write a model and where a stream of it stands."""
    tensors, values = pack_model(stream.model)
    write(path, "Stream", tensors | pack_state("state", stream.state), values)


def unpack_stream(tensors: Tensors, values: Mapping[str, Any]) -> Stream:
    """The stream that ``save_stream`` wrote."""
    return Stream(unpack_model(tensors, values), unpack_state("state", tensors))


def save_learner(path: Any, learner: Learner) -> None:
    """Write a learner: its model, what it has learnt and where it stands."""
    model, memory, penalty, ridge, forgetting, warmup, state = learner._parts()
    tensors, values = pack_model(model)
    arrays = memory._asdict()
    doubt = arrays.pop("doubt")
    values["learner"] = {
        "rows": arrays.pop("rows"),
        "free": penalty.free,
        "neurons": penalty.basis is not None,
        "ridge": ridge,
        "forgetting": forgetting,
        "warmup": warmup,
    }
    if doubt is not None:
        kept = doubt._asdict()
        values["learner"]["doubted_steps"] = kept.pop("steps")
        tensors |= {f"doubt.{name}": array for name, array in kept.items()}
    tensors |= pack_state("state", state)
    tensors |= {f"learner.{name}": array for name, array in arrays.items()}
    write(path, "Learner", tensors, values)


def unpack_learner(tensors: Tensors, values: Mapping[str, Any]) -> Learner:
    """The learner that ``save_learner`` wrote."""
    model, plain = unpack_model(tensors, values), values["learner"]
    R, Z, weights, centre = (tensors[f"learner.{name}"] for name in Memory._fields[:4])
    doubt = None
    if "doubted_steps" in plain:
        kept = {name: tensors[f"doubt.{name}"] for name in Doubt._fields[:4]}
        doubt = Doubt(**kept, steps=plain["doubted_steps"])
    memory = Memory(R, Z, weights, centre, plain["rows"], doubt)
    basis = model.basis if plain["neurons"] else None
    penalty = Penalty(len(memory.R), plain["free"], basis)
    rates = plain["ridge"], plain["forgetting"], plain["warmup"]
    return Learner(model, memory, penalty, *rates, unpack_state("state", tensors))


def write(path: Any, kind: str, tensors: Tensors, values: Mapping[str, Any]) -> None:
    """Write arrays and plain values, whole or not at all."""
    from safetensors.numpy import save as to_bytes

    tensors = {name: np.ascontiguousarray(a) for name, a in tensors.items()}
    digest = _digest(kind, tensors, values)
    header = {"format": FORMAT, "kind": kind, "values": values, "digest": digest}
    data = to_bytes(tensors, metadata={"eigenecho": json.dumps(header)})
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot save to {path}: the folder {path.parent} does not exist.")
    # A crash or a full disk in the middle must not cost the file that was there before.
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read(path: Any) -> tuple[str, Tensors, dict[str, Any]]:
    """Kind, arrays and plain values of a file, or a ``StorageError`` that says what is wrong."""
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no model file at {path}.")
    try:
        with safe_open(str(path), framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise StorageError(f"{path} is not a readable model file: {error}.") from error
    try:
        header = json.loads(metadata["eigenecho"])
        version, kind, values = header["format"], header["kind"], header["values"]
        digest = header["digest"]
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(f"{path} was not written by eigenecho's save().") from error
    if version != FORMAT:
        raise StorageError(
            f"{path} has format {version}, this version of eigenecho reads {FORMAT}: "
            "use the version that wrote it, or a newer one."
        )
    if digest != _digest(kind, tensors, values):
        raise StorageError(f"{path} is damaged: its content does not match its digest.")
    return kind, tensors, values


def pack_model(model: LinearModel) -> tuple[Tensors, dict[str, Any]]:
    """The arrays and plain values of a model."""
    reservoir = model.reservoir
    tensors: Tensors = {"W_in": reservoir.W_in, "W_out": model.W_out}
    values: dict[str, Any] = {
        "readout_bias": bool(model.readout_bias),
        "output_to_readout": bool(model.output_to_readout),
    }
    if model.certificate is not None:
        values["certificate"] = asdict(model.certificate)
    if reservoir.bias is not None:
        tensors["bias"] = reservoir.bias
    if reservoir.W_fb is not None:
        tensors["W_fb"] = reservoir.W_fb
    tensors |= pack_matrix("W", reservoir.transition)
    if model.basis is not None:
        tensors["Q"] = model.basis.Q
    for name in ("inputs", "outputs"):
        scaling = getattr(model, name)
        if scaling is not None:
            tensors |= {f"{name}.mean": scaling.mean, f"{name}.scale": scaling.scale}
    return tensors, values


def unpack_model(tensors: Tensors, values: Mapping[str, Any]) -> LinearModel:
    """The model that ``pack_model`` took apart; its parts check that they fit each other."""
    transition = unpack_matrix("W", tensors)
    reservoir = Reservoir(transition, tensors["W_in"], tensors.get("bias"), tensors.get("W_fb"))
    basis = None
    if "Q" in tensors:
        is_cascade = isinstance(transition, Cascade)
        modes = transition.modes if is_cascade else transition
        basis = Basis(tensors["Q"], modes.real.size, len(transition.block) if is_cascade else 0)
    scalings = [
        Scaling(tensors[f"{name}.mean"], tensors[f"{name}.scale"])
        if f"{name}.mean" in tensors
        else None
        for name in ("inputs", "outputs")
    ]
    return LinearModel(
        reservoir,
        tensors["W_out"],
        values["readout_bias"],
        values["output_to_readout"],
        basis,
        scalings[0],
        scalings[1],
        Certificate(**values["certificate"]) if "certificate" in values else None,
    )


def pack_state(name: str, state: State) -> Tensors:
    """A state as arrays."""
    return {f"{name}.r": state.r, f"{name}.y": state.y}


def unpack_state(name: str, tensors: Tensors) -> State:
    """What ``pack_state`` took apart."""
    return State(tensors[f"{name}.r"], tensors[f"{name}.y"])


def pack_evidence(evidence: Evidence) -> tuple[Tensors, dict[str, Any]]:
    """Statistics as arrays and plain values; the penalty's basis is the model's."""
    statistics = dict(vars(evidence.statistics))
    values = {
        "kind": type(evidence.statistics).__name__,
        "rows": statistics.pop("rows"),
        "ridge": evidence.ridge,
        "free": evidence.penalty.free,
        "neurons": evidence.penalty.basis is not None,
    }
    statistics |= {"weights": evidence.weights, "scatter": evidence.scatter}
    if evidence.XtE is not None:
        statistics["XtE"] = evidence.XtE
    return {f"statistics.{name}": array for name, array in statistics.items()}, values


def unpack_evidence(tensors: Tensors, values: Mapping[str, Any], basis: Basis | None) -> Evidence:
    """What ``pack_evidence`` took apart."""
    kind = {"Gram": Gram, "Triangle": Triangle}[values["kind"]]
    arrays = {
        name.removeprefix("statistics."): array
        for name, array in tensors.items()
        if name.startswith("statistics.")
    }
    weights, scatter, XtE = arrays.pop("weights"), arrays.pop("scatter"), arrays.pop("XtE", None)
    penalty = Penalty(len(weights), values["free"], basis if values["neurons"] else None)
    statistics = kind(**arrays, rows=values["rows"])
    return Evidence(statistics, penalty, values["ridge"], weights, scatter, XtE)


def pack_matrix(name: str, matrix: Any) -> Tensors:
    """A spectrum, cascade, dense or sparse matrix as arrays."""
    if isinstance(matrix, Cascade):
        parts = {f"{name}.block": matrix.block, f"{name}.coupling": matrix.coupling}
        return parts | pack_matrix(name, matrix.modes)
    if isinstance(matrix, Spectrum):
        return {
            f"{name}.real": matrix.real,
            f"{name}.re": matrix.pairs.real,
            f"{name}.im": matrix.pairs.imag,
        }
    if hasattr(matrix, "tocsr"):
        csr = matrix.tocsr()
        return {
            f"{name}.data": csr.data,
            f"{name}.indices": csr.indices,
            f"{name}.indptr": csr.indptr,
        }
    return {name: np.asarray(matrix)}


def unpack_matrix(name: str, tensors: Tensors) -> Any:
    """What ``pack_matrix`` took apart."""
    if f"{name}.real" in tensors:
        pairs = tensors[f"{name}.re"] + 1j * tensors[f"{name}.im"]
        modes = Spectrum(tensors[f"{name}.real"], pairs)
        if f"{name}.block" not in tensors:
            return modes
        return Cascade(tensors[f"{name}.block"], tensors[f"{name}.coupling"], modes)
    if f"{name}.indptr" in tensors:
        from scipy.sparse import csr_matrix

        indptr = tensors[f"{name}.indptr"]
        parts = (tensors[f"{name}.data"], tensors[f"{name}.indices"], indptr)
        return csr_matrix(parts, shape=(len(indptr) - 1, len(indptr) - 1))
    return tensors[name]


def _digest(kind: str, tensors: Tensors, values: Mapping[str, Any]) -> str:
    digest = hashlib.sha256(json.dumps([kind, values], sort_keys=True).encode())
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name])
        digest.update(f"{name} {array.dtype.str} {array.shape};".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
