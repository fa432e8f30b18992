"""Model files: safetensors with a JSON header, versioned, checked, no pickle.

A file holds named arrays and one metadata entry, ``eigenecho``: JSON with the format's version,
the kind of object, its plain values, and a digest of all that. The digest finds damage; it is no
proof of who wrote the file. So whatever is in it, what loads runs, and all else is a
``StorageError``: parts check that they fit each other when they are put together, numbers are
finite, and nothing may be missing or left over. No more memory is taken than a few times the
file's size: three or four, and ten where its numbers are single bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from eigenecho import files
from eigenecho.basis import Basis, Cascade
from eigenecho.errors import StorageError, bad_argument, check_flag, unknown_name
from eigenecho.model.certificate import Certificate
from eigenecho.model.doubt import Doubt
from eigenecho.model.evidence import Evidence
from eigenecho.model.learner import Learner, Memory
from eigenecho.model.model import Array, LinearModel, State
from eigenecho.model.scaling import Scaling
from eigenecho.model.stream import Stream
from eigenecho.readout import Gram, Penalty, Triangle
from eigenecho.readout.triangle import check_upper
from eigenecho.reservoir import Reservoir
from eigenecho.reservoir.transition import check_matrix
from eigenecho.spectra import Spectrum

FORMAT = 1
Tensors = dict[str, Array]
Values = dict[str, Any]
Made = TypeVar("Made")

CONTAINERS = 100
"""Lists and objects in a header, at most: ``save`` writes about ten, and parsing them takes twenty
times the memory of their text."""

NO_MODEL = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
)  # fmt: skip
"""What goes wrong where the content of a file is not what ``save`` writes."""


def save(path: Any, model: LinearModel) -> None:
    """Write a model."""
    tensors, values = pack_model(model)
    write(path, "LinearModel", tensors, values)


def save_stream(path: Any, stream: Stream) -> None:
    """Write a model and where a stream of it stands."""
    tensors, values = pack_model(stream.model)
    if stream.feature_names is not None:
        values["feature_names"] = stream.feature_names
    write(path, "Stream", tensors | pack_state("state", stream.state), values)


def unpack_stream(tensors: Tensors, values: Values) -> Stream:
    """The stream that ``save_stream`` wrote."""
    model, state = unpack_model(tensors, values), unpack_state("state", tensors)
    return Stream(model, state, unpack_names(values, "feature_names", model.D_in))


def save_learner(path: Any, learner: Learner) -> None:
    """Write a learner: its model, what it has learnt and where it stands."""
    model, memory, penalty, ridge, forgetting, warmup, state, names = learner._parts()
    tensors, values = pack_model(model)
    if names is not None:
        values["feature_names"] = names
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


def unpack_learner(tensors: Tensors, values: Values) -> Learner:
    """The learner that ``save_learner`` wrote."""
    model = unpack_model(tensors, values)
    doubt = None
    if isinstance(values.get("learner"), dict) and "doubted_steps" in values["learner"]:
        scale, start, size, seen = (take(tensors, f"doubt.{name}") for name in Doubt._fields[:4])
        doubt = Doubt(scale, start, size, seen, values["learner"].pop("doubted_steps"))
    rows, free, neurons, ridge, forgetting, warmup = fields(
        values, "learner", "rows", "free", "neurons", "ridge", "forgetting", "warmup"
    )
    R, Z, weights, centre = (take(tensors, f"learner.{name}") for name in Memory._fields[:4])
    check_range(weights, "learner.weights", model.reservoir.dtype)
    penalty = Penalty(len(model.W_out), free, penalised(neurons, model))
    memory = Memory(R, Z, weights, centre, rows, doubt)
    state, names = unpack_state("state", tensors), unpack_names(values, "feature_names", model.D_in)
    return Learner(model, memory, penalty, ridge, forgetting, warmup, state, names)


def write(path: Any, kind: str, tensors: Tensors, values: Mapping[str, Any]) -> None:
    """Write arrays and plain values, whole or not at all."""
    from safetensors.numpy import save as to_bytes

    # Files have the byte order of nearly all machines, and the digest is that of what is read.
    tensors = {
        name: np.ascontiguousarray(a, a.dtype.newbyteorder("<")) for name, a in tensors.items()
    }
    digest = _digest(kind, tensors, values)
    header = {"format": FORMAT, "kind": kind, "values": values, "digest": digest}
    data = to_bytes(tensors, metadata={"eigenecho": json.dumps(header)})
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot save to {path}: the folder {path.parent} does not exist.")
    files.write_whole(path, data)


def read(path: Any) -> tuple[str, Tensors, Values]:
    """Kind, arrays and plain values of a file, or a ``StorageError`` that says what is wrong."""
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no model file at {path}.")
    try:
        with safe_open(str(path), framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, *NO_MODEL) as error:  # a dtype that NumPy has not, too
        raise StorageError(f"{path} is not a readable model file: {error}.") from error
    try:
        header = _parsed(metadata["eigenecho"])
        version, kind, values = header["format"], header["kind"], header["values"]
        digest, found = header["digest"], _digest(kind, tensors, values)
    except NO_MODEL as error:
        raise StorageError(f"{path} was not written by eigenecho's save().") from error
    if type(version) is not int or version != FORMAT:
        raise StorageError(
            f"{path} has format {version}, this version of eigenecho reads {FORMAT}: "
            "use the version that wrote it, or a newer one."
        )
    if digest != found:
        raise StorageError(f"{path} is damaged: its content does not match its digest.")
    if not isinstance(kind, str) or not isinstance(values, dict):
        raise StorageError(f"{path} was not written by eigenecho's save().")
    return kind, tensors, values


def rebuilt(
    path: Any, unpack: Callable[[Tensors, Values], Made], tensors: Tensors, values: Values
) -> Made:
    """What ``unpack`` makes of all that was read, or a ``StorageError`` with the cause's words."""
    try:
        made = unpack(tensors, values)
        left = [*tensors, *values]
        if left:
            raise ValueError(f"it holds what means nothing here: {', '.join(left)}.")
    except KeyError as error:
        raise StorageError(f"{path} is damaged: it does not say {error}.") from error
    except NO_MODEL as error:
        raise StorageError(f"{path} is damaged: {error}") from error
    return made


def take(tensors: Tensors, name: str, largest: float = np.finfo(np.float64).max) -> Array:
    """Take an array of real, finite numbers out of a file's."""
    if name not in tensors:
        raise ValueError(f"it has no array {name!r}.")
    array = tensors.pop(name)
    if array.dtype.kind not in "fiub":
        raise bad_argument(name, f"<dtype {array.dtype}>", "real numbers")
    if not np.all(np.abs(array) <= largest):
        raise bad_argument(name, "<NaN or Inf>", "finite numbers")
    return array


def fields(values: Values, name: str, *wanted: str) -> tuple[Any, ...]:
    """Take the part of that name out of a file's values, and its values out of that."""
    part = values.pop(name)
    if not isinstance(part, dict) or part.keys() != set(wanted):
        raise bad_argument(name, part, f"values of {', '.join(wanted)}")
    return tuple(part[key] for key in wanted)


def unpack_names(values: Values, name: str, columns: int) -> list[str] | None:
    """Take the names of so many columns out of a file's values, where it has them."""
    names = values.pop(name, None)
    if names is None:
        return None
    all_words = isinstance(names, list) and all(isinstance(one, str) for one in names)
    if not all_words or len(names) != columns or not names:
        raise bad_argument(name, names, f"{columns} names")
    return names


def check_range(array: Array, name: str, dtype: Any) -> None:
    """Whether numbers stay finite in the dtype of a model."""
    if not np.all(np.abs(array) <= np.finfo(dtype).max):
        raise bad_argument(name, f"<numbers beyond {dtype}>", f"the range of {dtype}")


def penalised(neurons: Any, model: LinearModel) -> Basis | None:
    """The basis through which a ridge penalises ``neurons``, where the file says so."""
    check_flag(neurons, "neurons")
    return model.need_basis() if neurons else None


def pack_model(model: LinearModel) -> tuple[Tensors, dict[str, Any]]:
    """The arrays and plain values of a model."""
    tensors = pack_reservoir(model.reservoir) | {"W_out": model.W_out}
    values: dict[str, Any] = {
        "readout_bias": bool(model.readout_bias),
        "output_to_readout": bool(model.output_to_readout),
    }
    if model.certificate is not None:
        values["certificate"] = asdict(model.certificate)
    if model.basis is not None:
        tensors["Q"] = model.basis.Q
    for name in ("inputs", "outputs"):
        scaling = getattr(model, name)
        if scaling is not None:
            tensors |= {f"{name}.mean": scaling.mean, f"{name}.scale": scaling.scale}
    return tensors, values


def unpack_model(tensors: Tensors, values: Values) -> LinearModel:
    """The model that ``pack_model`` took apart; its parts check that they fit each other."""
    reservoir = unpack_reservoir(tensors)
    transition, W_out = reservoir.transition, take(tensors, "W_out")
    check_range(W_out, "W_out", reservoir.dtype)
    basis = None
    if "Q" in tensors:
        block = 0
        if isinstance(transition, Cascade):
            block, transition = len(transition.block), transition.modes
        if not isinstance(transition, Spectrum):
            raise bad_argument("Q", "<array>", "none: a matrix is in its own basis")
        basis = Basis(take(tensors, "Q"), transition.real.size, block)
    certificate = values.pop("certificate", None)
    return LinearModel(
        reservoir,
        W_out,
        values.pop("readout_bias"),
        values.pop("output_to_readout"),
        basis,
        _unpack_scaling("inputs", tensors, reservoir.dtype),
        _unpack_scaling("outputs", tensors, reservoir.dtype),
        None if certificate is None else Certificate(**certificate),
    )


def _unpack_scaling(name: str, tensors: Tensors, dtype: Any) -> Scaling | None:
    if f"{name}.mean" not in tensors:
        return None
    parts = [take(tensors, f"{name}.{part}") for part in ("mean", "scale")]
    for part in parts:
        check_range(part, name, dtype)
    return Scaling(*parts)


def pack_reservoir(reservoir: Reservoir) -> Tensors:
    """The arrays of a reservoir."""
    tensors: Tensors = {"W_in": reservoir.W_in}
    if reservoir.bias is not None:
        tensors["bias"] = reservoir.bias
    if reservoir.W_fb is not None:
        tensors["W_fb"] = reservoir.W_fb
    return tensors | pack_matrix("W", reservoir.transition)


def unpack_reservoir(tensors: Tensors) -> Reservoir:
    """What ``pack_reservoir`` took apart."""
    transition, W_in = unpack_matrix("W", tensors), take(tensors, "W_in")
    bias, W_fb = (take(tensors, name) if name in tensors else None for name in ("bias", "W_fb"))
    reservoir = Reservoir(transition, W_in, bias, W_fb)
    if reservoir.dtype == np.float32:  # numbers of the file may be beyond its range
        with np.errstate(over="ignore"):
            form = reservoir.form
        for part in form:
            check_range(part, "W", reservoir.dtype)
    return reservoir


def pack_state(name: str, state: State) -> Tensors:
    """A state as arrays."""
    return {f"{name}.r": state.r, f"{name}.y": state.y}


def unpack_state(name: str, tensors: Tensors) -> State:
    """What ``pack_state`` took apart."""
    return State(take(tensors, f"{name}.r"), take(tensors, f"{name}.y"))


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


def unpack_evidence(tensors: Tensors, values: Values, model: LinearModel) -> Evidence:
    """What ``pack_evidence`` took apart."""
    kind, rows, ridge, free, neurons = fields(
        values, "statistics", "kind", "rows", "ridge", "free", "neurons"
    )
    # Squares of large residuals overflow, which is no reason to refuse the rest.
    scatter = take(tensors, "statistics.scatter", np.inf)
    weights = take(tensors, "statistics.weights")
    XtE = take(tensors, "statistics.XtE") if "statistics.XtE" in tensors else None
    if weights.shape != model.W_out.shape:
        raise bad_argument("weights", f"<shape {weights.shape}>", f"shape {model.W_out.shape}")
    statistics: Gram | Triangle
    if kind == "Gram":
        XtX, XtY = (take(tensors, f"statistics.{name}") for name in ("XtX", "XtY"))
        statistics = Gram(XtX, XtY, rows)
    elif kind == "Triangle":
        R, Z, rest = (take(tensors, f"statistics.{name}") for name in ("R", "Z", "rest"))
        statistics = Triangle(R, Z, rest, rows)
        check_upper(R)
    else:
        raise unknown_name("kind", kind, ("Gram", "Triangle"))
    penalty = Penalty(len(weights), free, penalised(neurons, model))
    return Evidence(statistics, penalty, ridge, weights, scatter, XtE)


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
        real, re, im = (take(tensors, f"{name}.{part}") for part in ("real", "re", "im"))
        if re.shape != im.shape:
            raise bad_argument(name, f"<shapes {re.shape}, {im.shape}>", "Re and Im of each pair")
        modes = Spectrum(real, re + 1j * im)
        if f"{name}.block" not in tensors:
            return modes
        return Cascade(take(tensors, f"{name}.block"), take(tensors, f"{name}.coupling"), modes)
    if f"{name}.indptr" in tensors:
        return _unpack_sparse(name, tensors)
    matrix = take(tensors, name)
    check_matrix(matrix, name)
    return matrix


def _unpack_sparse(name: str, tensors: Tensors) -> Any:
    from scipy.sparse import csr_matrix

    parts = [tensors.pop(f"{name}.{part}") for part in ("data", "indices", "indptr")]
    data, indices, indptr = parts
    if any(part.ndim != 1 for part in parts) or len(indptr) < 2:
        raise bad_argument(name, f"<shapes {[part.shape for part in parts]}>", "a sparse matrix")
    if any(part.dtype not in (np.int32, np.int64) for part in (indices, indptr)):
        raise bad_argument(name, f"<indices of dtype {indices.dtype}, {indptr.dtype}>", "int32")
    size = len(indptr) - 1
    matrix = csr_matrix((data, indices, indptr), shape=(size, size))
    check_matrix(matrix, name)
    return matrix


def _parsed(text: str) -> Any:
    """The JSON of a header, whose names occur once and which is no deeper than ours are."""
    bare = re.sub(r'"(?:[^"\\]++|\\.)*+"', "", text)
    if bare.count("[") + bare.count("{") > CONTAINERS:
        raise ValueError("more lists and objects than save() writes")
    return json.loads(text, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice")
    return found


def _digest(kind: Any, tensors: Tensors, values: Any) -> str:
    digest = hashlib.sha256(json.dumps([kind, values], sort_keys=True).encode())
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name])
        digest.update(f"{name} {array.dtype.str} {array.shape};".encode())
        digest.update(array)
    return digest.hexdigest()
