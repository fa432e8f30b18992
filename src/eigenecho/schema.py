"""Conversion of objects to arrays and plain values, and back, based on field annotations.

Stored classes are dataclasses or NamedTuples. An object is stored as a JSON object with one entry
per field:

- Numbers, strings and Booleans are stored unchanged. ``Hashable`` labels that JSON does not support
  are encoded as text.
- An array is stored as its number of rows. Its numbers become an array of the file, whose name is
  the path of the field.
- A tuple is stored as ``count`` and ``of``, where ``of`` contains all items as one column.
- An object that may be None, or an instance of several classes, is stored as ``kind`` and an entry
  for each class.

A column of objects is stored as one object of columns, and a column of arrays as one array, so that
the number of lists and objects in a header does not depend on the number of items.

Files are not trusted: no entry may be missing or unexpected, and numbers must be finite unless they
are annotated otherwise. Everything else is checked by the constructor of a class, or by its method
``check``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import fields
from functools import cache
from inspect import isabstract
from itertools import accumulate
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from eigenecho.checks import check_known, check_real
from eigenecho.errors import Words, bad_argument, counted
from eigenecho.types import Array

Arrays = dict[str, Array]
Values = dict[str, Any]
T = TypeVar("T")

STAND_INS: dict[type, Any] = {}
"""Stored forms of classes. A stored form has the methods ``of(value)`` and ``restored()``."""

NOT_STORED = {"stored": False}
"""Metadata of a field that is not stored. After loading, the field has its default value."""


def stands_for(kind: type) -> Callable[[type[T]], type[T]]:
    """Register the decorated class as the stored form of ``kind``."""

    def register(stand_in: type[T]) -> type[T]:
        STAND_INS[kind] = stand_in
        return stand_in

    return register


def pack(value: Any, **options: Any) -> tuple[str, Arrays, Values]:
    """Return the class name, the arrays and the plain values of an object.

    ``options`` are passed to the method ``of`` of the stored form.
    """
    kind = next((base for base in type(value).__mro__ if base in STAND_INS), type(value))
    if kind in STAND_INS:
        value = STAND_INS[kind].of(value, **options)
    arrays: Arrays = {}
    return kind.__name__, arrays, _pack_fields(type(value), [value], "", True, arrays)


def unpack(kind: type[T], arrays: Arrays, values: Values) -> T:
    """Return the object that ``pack`` converted, or raise an error if its entries are invalid."""
    unused = dict(arrays)
    (value,) = _unpack_fields(kind, values, "", None, unused)
    if unused:
        raise ValueError(f"Unknown entries: {', '.join(unused)}.")
    return value


def parsed(text: str, containers: int) -> Any:
    """Parse JSON, or raise an error for duplicate names or too many lists and objects."""
    bare = re.sub(r'"(?:[^"\\]++|\\.)*+"', "", text)
    if bare.count("[") + bare.count("{") > containers:
        raise ValueError("The text contains more lists and objects than save() writes.")
    return json.loads(text, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise ValueError("A JSON object contains the same name more than once.")
    return unique


class _Hint(NamedTuple):
    """A parsed annotation of a field.

    None is allowed if ``optional`` is True. The marks are restrictions that ``types`` defines.
    """

    form: str
    of: Any
    optional: bool
    marks: tuple[str, ...]


@cache
def _parsed(hint: Any) -> _Hint:
    args = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    first, *others = (kind for kind in args if kind is not NoneType)
    marks: list[str] = []
    if get_origin(first) is Annotated:
        first, *marks = get_args(first)
    origin, inner = get_origin(first), get_args(first)
    form: str = "object"
    of: Any = (first, *others)
    if first in (bool, int, float, str, Hashable) or origin is dict:
        form, of = "plain", origin or first
    elif origin in (tuple, Sequence):
        form, of = "sequence", inner[0]
    elif origin is np.ndarray:
        form, of = "array", int
    return _Hint(form, of, NoneType in args, tuple(marks))


@cache
def _fields(cls: Any) -> dict[str, Any]:
    """Return the annotations of the stored fields of a class."""
    hints = get_type_hints(cls, include_extras=True)
    if hasattr(cls, "_fields"):
        return {name: hints[name] for name in cls._fields}
    stored = (field for field in fields(cls) if field.init and field.metadata.get("stored", True))
    return {field.name: hints[field.name] for field in stored}


def _concrete(classes: Iterable[type]) -> dict[str, type]:
    """Return classes by name, with abstract classes replaced by their subclasses."""
    by_name: dict[str, type] = {}
    for cls in classes:
        by_name |= _concrete(cls.__subclasses__()) if isabstract(cls) else {cls.__name__: cls}
    return by_name


# Packing: a single value is stored without a list -----------------------------------------------


def _pack(hint: Any, values: list[Any], name: str, single: bool, arrays: Arrays) -> Any:
    form, of, optional, marks = _parsed(hint)
    if form == "object":
        return _pack_objects(_concrete(of), values, name, single, arrays, optional)
    present = [value for value in values if value is not None or not optional]
    write = len if form != "plain" else to_label if of is Hashable else of
    listed = [None if value is None and optional else write(value) for value in values]
    plain = listed[0] if single else listed
    if form == "array" and present:
        array = np.asarray(present[0]) if single else np.concatenate(present)
        is_complex = "complex" in marks
        arrays[name] = np.stack([array.real, array.imag], axis=-1) if is_complex else array
    if form == "sequence":
        items = [item for value in present for item in value]
        return {"count": plain, "of": _pack(of, items, name, False, arrays)}
    return plain


def _pack_objects(
    classes: Any, values: list[Any], name: str, single: bool, arrays: Arrays, optional: bool
) -> Values:
    if len(classes) == 1 and not optional:
        return _pack_fields(next(iter(classes.values())), values, name, single, arrays)
    kinds = [_kind(value, classes) for value in values]
    plain: Values = {"kind": kinds[0] if single else kinds}
    for kind in dict.fromkeys(filter(None, kinds)):
        objects = [value for value, own in zip(values, kinds, strict=True) if own == kind]
        path = name if len(classes) == 1 else _path(name, kind)
        plain[kind] = _pack_fields(classes[kind], objects, path, single, arrays)
    return plain


def _kind(value: Any, classes: Any) -> str | None:
    """Return the name of the class in ``classes`` that a value belongs to, or None for None."""
    if value is None:
        return None
    return next(base.__name__ for base in type(value).__mro__ if base.__name__ in classes)


def _pack_fields(cls: type, values: list[Any], name: str, single: bool, arrays: Arrays) -> Values:
    if cls in STAND_INS:
        cls, values = STAND_INS[cls], [STAND_INS[cls].of(value) for value in values]
    return {
        key: _pack(hint, [getattr(v, key) for v in values], _path(name, key), single, arrays)
        for key, hint in _fields(cls).items()
    }


# Unpacking: ``count`` is None for a single value, which is stored without a list -----------------


def _unpack(hint: Any, plain: Any, name: str, count: int | None, arrays: Arrays) -> list[Any]:
    form, of, optional, marks = _parsed(hint)
    if form == "object":
        return _unpack_objects(_concrete(of), plain, name, count, arrays, optional)
    items = None
    if form == "sequence":
        plain, items = _entries(plain, ("count", "of"), name).values()
    listed = [plain] if count is None else plain
    if not isinstance(listed, list) or len(listed) != (1 if count is None else count):
        raise bad_argument(name, plain, counted(count or 1, "value"))
    kind, rules = (of, marks) if form == "plain" else (int, ("≥ 0",))
    checked = [
        None if value is None and optional else _checked(value, kind, rules, name)
        for value in listed
    ]
    if form == "plain":
        return checked
    sizes = [size or 0 for size in checked]
    whole: Any = ()
    if form == "sequence":
        whole = tuple(_unpack(of, items, name, sum(sizes), arrays))
    elif any(size is not None for size in checked):
        whole = _take(arrays, name, sum(sizes), marks)
    pairs = zip(checked, accumulate(sizes), strict=True)
    return [None if size is None else whole[stop - size : stop] for size, stop in pairs]


def _unpack_objects(
    classes: Any, plain: Any, name: str, count: int | None, arrays: Arrays, optional: bool
) -> list[Any]:
    if len(classes) == 1 and not optional:
        return _unpack_fields(next(iter(classes.values())), plain, name, count, arrays)
    names = plain.get("kind") if isinstance(plain, dict) else plain
    kinds = _unpack(str | None if optional else str, names, f"{name}.kind", count, arrays)
    parts = _entries(plain, ("kind", *filter(None, dict.fromkeys(kinds))), name)
    objects = {}
    for kind in [*parts][1:]:
        check_known(kind, f"{name}.kind", classes)
        path = name if len(classes) == 1 else _path(name, kind)
        of_kind = None if count is None else kinds.count(kind)
        objects[kind] = iter(_unpack_fields(classes[kind], parts[kind], path, of_kind, arrays))
    return [None if kind is None else next(objects[kind]) for kind in kinds]


def _unpack_fields(
    cls: type, plain: Any, name: str, count: int | None, arrays: Arrays
) -> list[Any]:
    stored: Any = STAND_INS.get(cls, cls)
    hints = _fields(stored)
    parts = _entries(plain, hints, name)
    columns = [
        _unpack(hint, parts[key], _path(name, key), count, arrays) for key, hint in hints.items()
    ]
    objects = [stored(**dict(zip(hints, row, strict=True))) for row in zip(*columns, strict=True)]
    for value in objects if hasattr(stored, "check") else ():
        value.check()
    return objects if stored is cls else [value.restored() for value in objects]


def _take(arrays: Arrays, name: str, rows: int, marks: tuple[str, ...]) -> Array:
    """Remove and return an array; raise an error if its numbers do not satisfy the marks."""
    if name not in arrays:
        raise ValueError(f"The array {name!r} is missing.")
    array = arrays.pop(name)
    check_real(array, name)
    if not array.ndim or len(array) != rows:
        raise bad_argument(name, Words(f"shape {array.shape}"), counted(rows, "row"))
    _check_numbers(array, marks, name)
    if "complex" not in marks:
        return array
    if array.dtype != np.float64 or array.ndim < 2 or array.shape[-1] != 2:
        expected = "pairs of float64 numbers, the real and imaginary parts"
        raise bad_argument(name, Words(f"a {array.dtype} array of shape {array.shape}"), expected)
    return array.view(np.complex128)[..., 0]


def _entries(plain: Any, keys: Iterable[str], name: str) -> Values:
    """Return the entries of a JSON object; raise an error if some are missing or unexpected."""
    if not isinstance(plain, dict):
        raise bad_argument(name or "values", plain, f"an object with entries {', '.join(keys)}")
    for key in keys:
        if key not in plain:
            raise ValueError(f"The entry {_path(name, key)!r} is missing.")
    others = [_path(name, key) for key in plain if key not in set(keys)]
    if others:
        raise ValueError(f"Unknown entries: {', '.join(others)}.")
    return {key: plain[key] for key in keys}


def _path(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key


WORDS = {bool: "True or False", int: "an int", float: "a number", str: "text", dict: "an object"}


def _checked(value: Any, of: Any, marks: tuple[str, ...], name: str) -> Any:
    """Return a plain value; raise an error if it has another type or does not satisfy the marks."""
    if of is Hashable:
        return from_label(value)
    if type(value) is not of or (of is int and not -(2**63) <= value < 2**63):
        raise bad_argument(name, value, WORDS[of])
    if of in (int, float):
        _check_numbers(value, marks, name)
    return value


def _check_numbers(numbers: Any, marks: tuple[str, ...], name: str) -> None:
    """Raise an error if numbers do not satisfy the marks. By default, they must be finite."""
    largest = np.inf if "Inf" in marks else np.finfo(np.float64).max
    fits = np.abs(numbers) <= largest
    if "> 0" in marks or "≥ 0" in marks:
        fits &= (numbers >= 0) if "≥ 0" in marks else (numbers > 0)
    if not np.all(fits | np.isnan(numbers) if "NaN" in marks else fits):
        bound = "".join(f" {mark}" for mark in marks if mark.endswith("0"))
        got = Words("invalid numbers") if np.ndim(numbers) else numbers
        raise bad_argument(name, got, f"finite numbers{bound}")


# Labels -----------------------------------------------------------------------------------------

ODD = "\0"
"""First character of text that encodes a date or a tuple, which are not supported by JSON."""


def to_label(label: Any, name: str = "series") -> Any:
    """Convert a label to text, a number, a Boolean or None."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, tuple):
        return f"{ODD}u" + json.dumps([to_label(part, name) for part in label])
    if hasattr(label, "isoformat") and hasattr(label, "tz_convert"):
        return f"{ODD}t{label.isoformat()}"
    if label is None or isinstance(label, (bool, int, float)):
        return label
    if isinstance(label, str) and not label.startswith(ODD):
        return label
    expected = "a label that can be stored: text, a number or a date"
    raise bad_argument(name, Words(repr(label)), expected, "Replace the label before fitting.")


def from_label(plain: Any) -> Any:
    """Return the label that ``to_label`` converted to a plain value."""
    if isinstance(plain, str) and plain.startswith(f"{ODD}t"):
        import pandas

        return pandas.Timestamp(plain[2:])
    if isinstance(plain, str) and plain.startswith(f"{ODD}u"):
        return tuple(map(from_label, parsed(plain[2:], 1)))
    if isinstance(plain, (list, dict)) or (isinstance(plain, str) and plain.startswith(ODD)):
        raise bad_argument("label", plain, "text, a number, a Boolean or None")
    return plain
