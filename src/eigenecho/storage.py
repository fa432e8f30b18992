"""Model files in the safetensors format, without pickled objects.

A file contains named arrays and one metadata entry, ``eigenecho``: JSON with the version of the
format, the kind of object, its plain values, and a digest of the content. The digest detects
damage, but does not authenticate the file. Loaded objects are always valid, and invalid files raise
a ``StorageError``: numbers must be finite, entries must be complete and consistent, and unknown
entries are rejected. Loading requires up to four times the size of the file in memory (ten times
for single-byte numbers), and a few hundred bytes for each small object.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from eigenecho import schema
from eigenecho.errors import StorageError, bad_argument
from eigenecho.schema import Arrays, Values

FORMAT = 3

CONTAINERS = 200
"""Maximum number of lists and objects in a header.

``save`` writes up to a hundred, regardless of the size of an object. Parsing requires a few hundred
bytes for each, which is twenty times the size of its text.
"""

NO_MODEL = (
    ArithmeticError, AttributeError, LookupError, NotImplementedError, RecursionError, TypeError,
    ValueError,
)  # fmt: skip
"""Errors that can occur if a file was not written by ``save``."""


def as_path(path: Any) -> Path:
    """Return the path of a file, or raise."""
    if not isinstance(path, (str, os.PathLike)):
        raise bad_argument("path", path, "the path of a file")
    return Path(path)


def save(path: Any, value: Any, **options: Any) -> None:
    """Write an object to a file. ``options`` are passed to ``schema.pack``."""
    write(path, *schema.pack(value, **options))


def write(path: Any, kind: str, tensors: Arrays, values: Values) -> None:
    """Write arrays and plain values to a file in a single atomic step."""
    from safetensors.numpy import save as to_bytes

    # Files and digests use little-endian arrays.
    tensors = {
        name: np.ascontiguousarray(a, a.dtype.newbyteorder("<")) for name, a in tensors.items()
    }
    digest = _digest(kind, tensors, values)
    header = {"format": FORMAT, "kind": kind, "values": values, "digest": digest}
    data = to_bytes(tensors, metadata={"eigenecho": json.dumps(header)})
    write_whole({as_path(path): data})


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
    *others, last = files
    with ExitStack() as undo:
        for path, data in files.items():
            undo.callback(parts[path].unlink, missing_ok=True)
            try:
                parts[path].write_bytes(data)
            except OSError as error:
                error.filename = str(path)  # so that the message does not name a temporary file
                raise
        for path in others:
            old = path.read_bytes() if path.exists() else None
            os.replace(parts[path], path)
            undo.callback(path.unlink if old is None else partial(path.write_bytes, old))
        os.replace(parts[last], last)
        undo.pop_all()


def read(path: Any) -> tuple[str, Arrays, Values]:
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
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, *NO_MODEL) as error:  # also for dtypes unknown to NumPy
        foreign = f"it was not written by save(), or it is damaged ({error})"
        reason = error if isinstance(error, OSError) else foreign
        raise StorageError(f"{path} is not a readable model file: {reason}.") from error
    try:
        header = schema.parsed(metadata["eigenecho"], CONTAINERS)
        # Values of other types do not match the digest after this conversion.
        version, kind, values = header["format"], str(header["kind"]), dict(header["values"])
        digest, actual = header["digest"], _digest(kind, tensors, values)
    except NO_MODEL as error:
        raise StorageError(f"{path} was not written by eigenecho's save().") from error
    if type(version) is not int or version != FORMAT:
        raise StorageError(
            f"{path} has format {version}, but this version of eigenecho reads format {FORMAT}. "
            "Fit and save the model again, or load it with the version that saved it."
        )
    if digest != actual:
        raise StorageError(f"{path} is damaged: its content does not match its digest.")
    return kind, tensors, values


def load(path: Any, find_class: Callable[[str], type | None]) -> Any:
    """Return the object stored in a file.

    Invalid files raise a ``StorageError``. ``find_class`` returns the class for a kind of object,
    or None if the kind is unknown.
    """
    kind, arrays, values = read(path)
    cls = find_class(kind)
    if cls is None:
        raise StorageError(f"{path} contains a {kind!r}, which this version cannot load.")
    try:
        return schema.unpack(cls, arrays, values)
    except NO_MODEL as error:
        state = "cannot be loaded" if isinstance(error, StorageError) else "is damaged"
        raise StorageError(f"{path} {state}: {error}") from error


def _digest(kind: Any, tensors: Arrays, values: Any) -> str:
    digest = hashlib.sha256(json.dumps([kind, values], sort_keys=True).encode())
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name])
        digest.update(f"{name} {array.dtype.str} {array.shape};".encode())
        digest.update(array)
    return digest.hexdigest()
