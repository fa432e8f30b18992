"""Files: safetensors with a JSON header, versioned, checked, no pickle.

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
import os
import re
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from eigenecho.checks import check_real
from eigenecho.errors import Shown, StorageError, bad_argument
from eigenecho.types import Array

FORMAT = 2
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
    write_whole(path, data)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that takes its place when it is complete.

    A full disk or an interrupt leaves the file that was there before, and no temporary file.
    """
    # The start of the name is enough: a whole one may be as long as names may be.
    part = path.with_name(f"{path.name[:40]}.{secrets.token_hex(8)}.part")
    try:
        part.write_bytes(data)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def read(path: Any) -> tuple[str, Tensors, Values]:
    """Kind, arrays and plain values of a file, or a ``StorageError`` that says what is wrong."""
    from safetensors import SafetensorError, safe_open

    if not isinstance(path, (str, os.PathLike)):
        raise bad_argument("path", path, "the path of a file that save() wrote")
    path = Path(path)
    if not path.is_file():
        folder = ": it is a folder" if path.is_dir() else ""
        raise FileNotFoundError(f"no model file at {path}{folder}.")
    try:
        with safe_open(str(path), framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, *NO_MODEL) as error:  # a dtype that NumPy has not, too
        foreign = f"save() did not write it, or it is damaged ({error})"
        why = error if isinstance(error, OSError) else foreign
        raise StorageError(f"{path} is not a readable model file: {why}.") from error
    try:
        header = _parsed(metadata["eigenecho"])
        version, kind, values = header["format"], header["kind"], header["values"]
        digest, found = header["digest"], _digest(kind, tensors, values)
    except NO_MODEL as error:
        raise StorageError(f"{path} was not written by eigenecho's save().") from error
    if type(version) is not int or version != FORMAT:
        raise StorageError(
            f"{path} has format {version}, this version of eigenecho reads {FORMAT}: "
            "fit and save it again, or use the version that wrote it."
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
    check_real(array, name)
    if not np.all(np.abs(array) <= largest):
        raise bad_argument(name, Shown("NaN or Inf"), "finite numbers")
    return array


def fields(values: Values, name: str, *wanted: str) -> tuple[Any, ...]:
    """Take the part of that name out of a file's values, and its values out of that."""
    part = values.pop(name)
    if not isinstance(part, dict) or part.keys() != set(wanted):
        raise bad_argument(name, part, f"values of {', '.join(wanted)}")
    return tuple(part[key] for key in wanted)


def take_names(values: Values, name: str, columns: int) -> list[str] | None:
    """Take the names of so many columns out of a file's values, where it has them."""
    names = values.pop(name, None)
    if names is None:
        return None
    all_words = isinstance(names, list) and all(isinstance(one, str) for one in names)
    if not all_words or len(names) != columns or not names:
        raise bad_argument(name, names, f"{columns} names")
    return names


def part(tensors: Tensors, name: str) -> Tensors:
    """Take the arrays ``name`` and ``name.…`` out of a file's, by what follows the name."""
    found = {
        key: key[len(name) + 1 :] for key in tensors if key == name or key.startswith(f"{name}.")
    }
    return {short: tensors.pop(key) for key, short in found.items()}


def named(name: str, arrays: Tensors) -> Tensors:
    """Arrays as ``part`` takes them: ``name`` itself for the one without a name."""
    return {f"{name}.{short}" if short else name: array for short, array in arrays.items()}


def check_range(array: Array, name: str, dtype: Any) -> None:
    """Whether numbers stay finite in the dtype of a model."""
    if not np.all(np.abs(array) <= np.finfo(dtype).max):
        raise bad_argument(name, Shown(f"numbers beyond {dtype}"), f"the range of {dtype}")


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
