"""Model files in the safetensors format, without pickled objects.

A file contains named arrays, a header and a digest. The header is JSON with the version of the
format, the kind of object and its plain values; the digest detects damage, but does not
authenticate the file. An object is stored as its parts: the fields of a dataclass or NamedTuple,
or the parameters of its method ``_from_parts``, whose values its method ``_parts`` returns.
Annotations define how a part is stored:

=========================== ======================================================================
annotation                  stored as
=========================== ======================================================================
bool, int, float, str       JSON
``Hashable``                JSON; labels that JSON does not support are objects with one entry
array                       array of the file, whose name is the path of the part; True in JSON
tuple of arrays             one array of all rows, and the number of rows of each array
other tuples, lists, dicts  JSON arrays and objects
class                       JSON object of its parts
several classes, ``Saved``  JSON object of its parts, with the name of the class as ``class``
=========================== ======================================================================

Files are not trusted. No part may be missing or unexpected, numbers must be finite unless they are
annotated otherwise, and everything else is checked by the constructor of a class, or by its method
``check``. Invalid files raise a ``StorageError``. Loading requires up to ten times the size of a
file in memory, and a few hundred bytes for each series.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from inspect import signature
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

import eigenecho
from eigenecho.checks import check_marks, converted
from eigenecho.errors import StorageError, Words, bad_argument, counted
from eigenecho.types import Array, parse_hint

FORMAT = 4

WRITERS = {"1": "0.1", "2": "0.2", "3": "0.3"}
"""Versions that wrote earlier formats, which did not contain the version."""

DIGEST = ', "digest": '
"""Separator of the header and its last entry, the digest of the header and the arrays."""

KINDS = {
    "LinearModel": "eigenecho.model",
    "Stream": "eigenecho.model",
    "Learner": "eigenecho.model",
    "LinearESN": "eigenecho.estimators",
    "DiagonalReservoir": "eigenecho.estimators",
    "Forecaster": "eigenecho.estimators",
    "ReservoirFeatures": "eigenecho.estimators",
    "ReservoirClassifier": "eigenecho.estimators",
}
"""Classes of saved objects, and the modules that define them.

Loading networks and streams thus requires neither scikit-learn nor pandas.
"""

NOT_STORED = {"stored": False}
"""Metadata of a field that is not stored. After loading, the field has its default value."""

INVALID = (
    ArithmeticError, AttributeError, LookupError, NotImplementedError, RecursionError, TypeError,
    ValueError,
)  # fmt: skip
"""Errors that can occur if a file was not written by ``save``."""

TYPES = [np.dtype(kind) for kind in (np.float64, np.float32, np.int64, np.int32)]
"""Types of arrays in files. Other arrays are converted to float64."""

Arrays = dict[str, Array]


# Objects ------------------------------------------------------------------------------------------


def pack(value: Any, **options: Any) -> tuple[str, Arrays, Any]:
    """Return the class name, the arrays and the plain values of an object.

    ``options`` are passed to its method ``_parts``.
    """
    cls, arrays = _kind_of(value), Arrays()
    return cls.__name__, arrays, _write_parts(cls, value, "", arrays, **options)


def unpack(cls: Any, arrays: Arrays, values: Any) -> Any:
    """Return the object that ``pack`` converted, or raise one of the errors ``INVALID``."""
    unused = dict(arrays)
    value = _read_parts(cls, values, "", unused)
    if unused:
        raise ValueError(f"Unknown entries: {', '.join(unused)}.")
    return value


def save(path: Any, value: Any, **options: Any) -> None:
    """Write an object to a file; ``options`` are passed to its method ``_parts``."""
    write(path, *pack(value, **options))


def load(path: Any) -> Any:
    """Load an object from a file written by ``save``.

    The result is a ``LinearESN``, ``DiagonalReservoir``, ``Forecaster``, ``ReservoirFeatures``,
    ``ReservoirClassifier``, ``LinearModel``, ``Stream`` or ``Learner`` that is bit-identical to the
    saved object. A file that is damaged or has another format raises ``errors.StorageError``.

    Parameters
    ----------
    path : str or Path
        Path of the file.

    See Also
    --------
    eigenecho.errors.StorageError : Raised for files that cannot be read.

    Examples
    --------
    >>> import eigenecho as ee
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "network.safetensors")
    >>> series = ee.tasks.mso(3, steps=400)
    >>> esn = ee.LinearESN(50, warmup=50, ridge=1e-10, seed=0).fit(series[:-1], series[1:])
    >>> esn.save(path)
    >>> bool((ee.load(path).predict(series) == esn.predict(series)).all())
    True
    """
    kind, arrays, values = read(path)
    if kind not in KINDS:
        raise StorageError(f"{path} contains a {kind!r}, which this version cannot load.")
    try:
        return unpack(_class_of_kind(kind), arrays, values)
    except (MemoryError, *INVALID) as error:
        is_other = isinstance(error, StorageError | MemoryError)
        state = "cannot be loaded" if is_other else "is damaged"
        raise StorageError(f"{path} {state}: {error}") from error


class Saved:
    """Annotation of a part that is an object of a class in ``KINDS``."""


@cache
def _part_hints(cls: Any) -> dict[str, Any]:
    """Return the annotations of the stored parts of a class."""
    make = getattr(cls, "_from_parts", None)
    if make is None and (is_dataclass(cls) or hasattr(cls, "_fields")):
        hints = get_type_hints(cls, include_extras=True)
        stored = (
            [f.name for f in fields(cls) if f.init and f.metadata.get("stored", True)]
            if is_dataclass(cls)
            else cls._fields
        )
        return {name: hints[name] for name in stored}
    make = make or cls.__init__
    hints = get_type_hints(make, include_extras=True)
    return {name: hints[name] for name in signature(make).parameters if name != "self"}


SEQUENCES = tuple, list, Sequence
WORDS = {bool: "True or False", int: "an int", float: "a number", str: "text"}


def _kind_of(value: Any) -> Any:
    own = type(value)
    return next((base for base in own.__mro__ if base.__name__ in KINDS), own)


def _class_of_kind(kind: str) -> Any:
    return getattr(import_module(KINDS[kind]), kind)


def _is_class(kind: Any) -> bool:
    return isinstance(kind, type) and kind not in (bool, int, float, str, Hashable)


def _plain_kind(kinds: tuple[Any, ...], value: Any) -> Any:
    """Return the kind that is no class; one may be lists, and one other values."""
    plain = [kind for kind in kinds if not _is_class(kind)]
    of_lists = [kind for kind in plain if get_origin(kind) is list]
    return (of_lists if isinstance(value, list) and of_lists else [*plain, None])[0]


def _write(hint: Any, value: Any, name: str, arrays: Arrays) -> Any:
    """Return the JSON form of a part, and add its arrays to ``arrays``."""
    kinds, optional, marks = parse_hint(hint)
    if value is None and optional:
        return None
    if Saved in kinds:
        kinds = _kind_of(value), Saved
    classes = {kind.__name__: kind for kind in kinds if _is_class(kind)}
    owner = next((base.__name__ for base in type(value).__mro__ if base.__name__ in classes), None)
    if owner is not None:
        plain = _write_parts(classes[owner], value, name, arrays)
        return plain if len(kinds) == 1 else {"class": owner, **plain}
    kind = _plain_kind(kinds, value)
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in SEQUENCES and _is_array(inner[0]):
        return _write_rows(value, name, arrays)
    if origin in SEQUENCES:
        return [_write(inner[0], item, f"{name}.{i}", arrays) for i, item in enumerate(value)]
    if origin is dict:
        return {key: _write(inner[1], item, f"{name}.{key}", arrays) for key, item in value.items()}
    if origin is np.ndarray:
        array = np.asarray(value)
        is_complex = "complex" in marks
        arrays[name] = np.stack([array.real, array.imag], axis=-1) if is_complex else array
        return True
    if origin is Callable:
        raise ValueError(
            "Custom features cannot be saved, because a file does not contain Python functions. "
            "Use the features of eigenecho.features, or pickle the network."
        )
    return to_label(value, name) if kind is Hashable else kind(value)


def _write_rows(value: Sequence[Array], name: str, arrays: Arrays) -> int:
    """Write a tuple of arrays as one array of all rows; return the number of arrays."""
    if value:
        arrays[name] = np.concatenate(value)
        arrays[f"{name}.rows"] = np.array([len(array) for array in value])
    return len(value)


def _write_parts(cls: Any, value: Any, name: str, arrays: Arrays, **options: Any) -> Any:
    hints = _part_hints(cls)
    if hasattr(cls, "_parts"):
        parts = value._parts(**options)  # noqa: SLF001 (a protocol of this package)
    else:
        parts = {key: getattr(value, key) for key in hints}
    return {key: _write(hint, parts[key], _path(name, key), arrays) for key, hint in hints.items()}


def _read(hint: Any, plain: Any, name: str, arrays: Arrays) -> Any:
    """Return a part, and remove its arrays from ``arrays``; raise an error if it is invalid."""
    kinds, optional, marks = parse_hint(hint)
    if plain is None and optional:
        return None
    if Saved in kinds and isinstance(plain, dict) and plain.get("class") in KINDS:
        kinds = _class_of_kind(plain["class"]), Saved
    classes = {kind.__name__: kind for kind in kinds if _is_class(kind)}
    if classes and len(kinds) == 1:
        return _read_parts(kinds[0], plain, name, arrays)
    if classes and isinstance(plain, dict) and "class" in plain:
        if plain["class"] not in classes:
            raise bad_argument(f"{name}.class", plain["class"], f"one of {', '.join(classes)}")
        own = {key: part for key, part in plain.items() if key != "class"}
        return _read_parts(classes[plain["class"]], own, name, arrays)
    kind = _plain_kind(kinds, plain)
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in SEQUENCES and _is_array(inner[0]):
        return _read_rows(inner[0], plain, name, arrays)
    if origin in SEQUENCES and isinstance(plain, list):
        items = [_read(inner[0], item, f"{name}.{i}", arrays) for i, item in enumerate(plain)]
        return items if origin is list else tuple(items)
    if origin is dict and isinstance(plain, dict):
        return {key: _read(inner[1], part, f"{name}.{key}", arrays) for key, part in plain.items()}
    if origin is np.ndarray and plain is True:
        return _take(arrays, name, marks)
    return _read_plain(kind, marks, plain, name)


def _read_plain(kind: Any, marks: tuple[Any, ...], plain: Any, name: str) -> Any:
    """Return a number, text or label; raise an error if it has another type."""
    if kind is Hashable:
        return from_label(plain)
    if type(plain) is not kind or (kind is int and not -(2**63) <= plain < 2**63):
        raise bad_argument(name, plain, WORDS.get(kind, "another form"))
    return converted(kind, marks, plain, name)


def _read_rows(hint: Any, plain: Any, name: str, arrays: Arrays) -> tuple[Array, ...]:
    """Return a tuple of arrays that are stored as one array of all rows."""
    if type(plain) is int and plain == 0:
        return ()
    whole, rows = (
        _take(arrays, name, parse_hint(hint).marks),
        _take(arrays, f"{name}.rows", ("≥ 0",)),
    )
    fits = rows.ndim == 1 and rows.dtype == np.int64 and len(rows) == plain
    # Compare before adding, because sums of large integers wrap around.
    if not fits or np.any(rows > len(whole)) or rows.sum() != len(whole):
        raise bad_argument(name, Words(f"{len(whole)} rows"), counted(int(plain), "array"))
    edges = pairwise(accumulate(rows.tolist(), initial=0))
    return tuple(whole[start:stop] for start, stop in edges)


def _read_parts(cls: Any, plain: Any, name: str, arrays: Arrays) -> Any:
    hints = _part_hints(cls)
    if not isinstance(plain, dict) or plain.keys() != hints.keys():
        got = Words(f"entries {', '.join(plain)}") if isinstance(plain, dict) else plain
        raise bad_argument(name or "values", got, f"the entries {', '.join(hints)}")
    parts = {key: _read(hint, plain[key], _path(name, key), arrays) for key, hint in hints.items()}
    value = getattr(cls, "_from_parts", cls)(**parts)
    if hasattr(value, "check"):
        value.check()
    return value


def _path(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key


def _is_array(hint: Any) -> bool:
    return any(get_origin(kind) is np.ndarray for kind in parse_hint(hint).kinds)


def _take(arrays: Arrays, name: str, marks: tuple[str, ...]) -> Array:
    """Remove and return an array; raise an error if its numbers do not satisfy the marks."""
    if name not in arrays:
        raise ValueError(f"The array {name!r} is missing.")
    array = arrays.pop(name)
    if array.dtype not in TYPES or not array.ndim:
        got = Words(f"a {array.dtype} array of shape {array.shape}")
        raise bad_argument(name, got, f"an array with a type of {', '.join(map(str, TYPES))}")
    check_marks(array, marks, name)
    if "complex" not in marks:
        return array
    if array.dtype != np.float64 or array.ndim < 2 or array.shape[-1] != 2:
        expected = "pairs of float64 numbers, the real and imaginary parts"
        raise bad_argument(name, Words(f"a {array.dtype} array of shape {array.shape}"), expected)
    return array.view(np.complex128)[..., 0]


# Labels -------------------------------------------------------------------------------------------


def to_label(label: Any, name: str = "series") -> Any:
    """Convert a label to JSON. Tuples, dates and dtypes become objects with one entry."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, tuple):
        return {"tuple": [to_label(part, name) for part in label]}
    if hasattr(label, "isoformat") and hasattr(label, "tz_convert"):
        return {"time": label.isoformat()}
    if isinstance(label, type | np.dtype) and np.dtype(label) in TYPES:
        return {"dtype": np.dtype(label).name}
    if label is None or isinstance(label, (bool, int, float, str)):
        return label
    expected = "a label that can be stored: text, a number or a date"
    name = name.rpartition(".")[2]
    raise bad_argument(name, Words(repr(label)), expected, "Replace the label before fitting.")


def from_label(plain: Any) -> Any:
    """Return the label that ``to_label`` converted to JSON."""
    match plain:
        case {"tuple": [*parts]}:
            return tuple(map(from_label, parts))
        case {"time": str(text)}:
            import pandas

            return pandas.Timestamp(text)
        case {"dtype": "float64" | "float32" as text}:
            return np.dtype(text)
        case list() | dict():
            raise bad_argument("label", plain, "text, a number, a Boolean or None")
    return plain


# Bytes --------------------------------------------------------------------------------------------


def as_path(path: Any) -> Path:
    """Return the path of a file, or raise."""
    if not isinstance(path, (str, os.PathLike)):
        raise bad_argument("path", path, "the path of a file")
    return Path(path)


def write(path: Any, kind: str, arrays: Arrays, values: Any) -> None:
    """Write arrays and plain values to a file in a single atomic step."""
    from safetensors.numpy import save as to_bytes

    # Files and digests use little-endian arrays of at least four bytes.
    for name, array in arrays.items():
        dtype = array.dtype if array.dtype in TYPES else np.dtype(np.float64)
        arrays[name] = np.ascontiguousarray(array, dtype.newbyteorder("<"))
    header = {"format": FORMAT, "version": eigenecho.__version__, "kind": kind, "values": values}
    text = json.dumps(header)
    text = f'{text[:-1]}{DIGEST}"{_digest(text[:-1], arrays)}"}}'
    write_whole({as_path(path): to_bytes(arrays, metadata={"eigenecho": text})})


def read(path: Any) -> tuple[str, Arrays, Any]:
    """Return the kind, the arrays and the plain values stored in a file.

    Invalid files raise a ``StorageError``.
    """
    from safetensors import SafetensorError, safe_open

    path = as_path(path)
    if not path.is_file():
        cause = "it is a folder" if path.is_dir() else "there is no such file"
        raise FileNotFoundError(f"Cannot load {path}: {cause}.")
    try:
        with safe_open(str(path), framework="numpy") as file:
            text = (file.metadata() or {})["eigenecho"]
            header = _parse_text(text, path.stat().st_size)
            kind, values, digest = str(header["kind"]), header["values"], header["digest"]
            version, writer = header["format"], header.get("version")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, *INVALID) as error:  # also for dtypes unknown to NumPy
        reason = str(error) if isinstance(error, OSError) else "it is damaged, or of another kind"
        raise StorageError(f"{path} is not a readable model file: {reason}.") from error
    if type(version) is not int or version != FORMAT:
        writer = writer or WRITERS.get(str(version), "another version")
        raise StorageError(
            f"{path} has format {version} of eigenecho {writer}, but this version reads format "
            f"{FORMAT}. Fit and save the model again, or load it with the version that saved it."
        )
    if digest != _digest(text.rpartition(DIGEST)[0], arrays):
        raise StorageError(f"{path} is damaged: its content does not match its digest.")
    return kind, arrays, values


ITEM, ENTRY, GROUP = 64, 192, 256
"""Memory in bytes of an item, an entry of an object, and a list or object of parsed JSON."""

LARGEST_MULTIPLE, ROOM = 6, 2**19
"""Parsed JSON may take this multiple of the size of a file, plus a number of bytes."""


def _parse_text(text: str, size: int) -> Any:
    """Parse JSON that ``write`` may have written; raise an error for text that needs more memory.

    Parsed lists can take more than twenty times the size of their text. Files that ``save`` writes
    have far fewer, because most of their content are arrays.
    """
    needed = ITEM * text.count(",") + ENTRY * text.count(":")
    needed += GROUP * (text.count("[") + text.count("{"))
    if not text.isascii() or needed > LARGEST_MULTIPLE * size + ROOM:
        raise ValueError("The text contains more than save() writes.")
    return json.loads(text)


def _digest(text: str, arrays: Arrays) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape};".encode())
        digest.update(array)
    return digest.hexdigest()


def write_whole(files: Mapping[Path, bytes]) -> None:
    """Write files, and replace existing files only when all new files are complete.

    If writing fails or is interrupted, existing files are unchanged and no other files remain.
    """
    for path in files:
        if not path.parent.is_dir():
            raise FileNotFoundError(f"Cannot write {path}: there is no folder {path.parent}.")
        if path.is_dir():
            raise IsADirectoryError(f"Cannot write {path}: it is a folder.")
    # The name is truncated, because it may already have the maximum length.
    parts = {p: p.with_name(f"{p.name[:40]}.{secrets.token_hex(8)}.part") for p in files}
    try:
        for path, data in files.items():
            parts[path].write_bytes(data)
        _replace_all(parts)
    except OSError as error:
        # The message does not name a temporary file.
        error.filename = error.filename2 or str(path)
        raise
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def _replace_all(parts: Mapping[Path, Path]) -> None:
    """Move new files to their places. If one cannot be moved, restore the files before it."""
    before: dict[Path, bytes | None] = {}
    try:
        for path, part in parts.items():
            old = path.read_bytes() if len(parts) > 1 and path.exists() else None
            os.replace(part, path)
            before[path] = old
    except BaseException:
        for path, old in before.items():
            if old is None:
                path.unlink()
            else:
                path.write_bytes(old)
        raise
