"""Checks of arguments, which raise errors created by ``errors``."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import fields
from functools import cache
from numbers import Integral, Real
from typing import Any, get_type_hints

import numpy as np

from eigenecho.errors import Words, bad_argument, unknown_name
from eigenecho.types import Array, Seed, parse_hint

LARGEST_NUMBER = 1e150
"""Largest magnitude of a number in a series or in trained weights, so that its square is finite."""


BOUNDS: dict[Any, Callable[[Any], Any]] = {
    "> 0": lambda x: x > 0,
    "≥ 0": lambda x: x >= 0,
    "≤ 1": lambda x: x <= 1,
}
"""Marks that bound numbers."""


def check_flag(value: Any, name: str) -> bool:
    """Return True or False, or raise; a string such as "no" would count as true."""
    if isinstance(value, np.ndarray) and value.ndim == 0:  # as read by np.load
        value = value[()]
    if not isinstance(value, (bool, np.bool_)):
        raise bad_argument(name, value, "True or False")
    return bool(value)


def check_known(value: Any, name: str, known: Iterable[str]) -> None:
    """Raise unless a value is one of the known names."""
    if value not in known:
        raise unknown_name(name, value, known)


def check_marks(numbers: Any, marks: tuple[Any, ...], name: str) -> None:
    """Raise unless numbers satisfy the marks of ``types``. By default, they must be finite."""
    largest = np.inf if "Inf" in marks else np.finfo(np.float64).max
    fits = np.abs(numbers) <= largest
    for mark in BOUNDS.keys() & set(marks):
        fits &= BOUNDS[mark](numbers)
    if not np.all(fits | np.isnan(numbers) if "NaN" in marks else fits):
        got = Words("invalid numbers") if np.ndim(numbers) else numbers
        raise bad_argument(name, got, _expected("finite numbers", marks))


def _expected(what: str, marks: tuple[Any, ...]) -> str:
    return " ".join([what, " and ".join(mark for mark in marks if mark in BOUNDS)]).rstrip()


def converted(kind: Any, marks: tuple[Any, ...], value: Any, name: str) -> Any:
    """Return a value as a Python bool, int, float or str that satisfies the marks, or raise."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if kind is bool:
        return check_flag(value, name)
    if kind is int:
        least = 1 if "> 0" in marks else 0 if "≥ 0" in marks else -sys.maxsize - 1
        return check_count(value, name, "a number", least)
    if kind is float:
        with suppress(TypeError, ValueError, OverflowError):
            if isinstance(value, Real) and not isinstance(value, bool):
                check_marks(float(value), marks, name)
                return float(value)
        raise bad_argument(name, value, _expected("a finite number", marks))
    for names in (mark for mark in marks if isinstance(mark, tuple)):
        check_known(value, name, names)
    return value


def convert_fields(record: Any) -> None:
    """Convert the fields of a frozen dataclass to their annotated types, or raise.

    Fields with other types than bool, int, float and str are unchanged.
    """
    cls: Any = type(record)
    hints = _hints(cls)
    for field in fields(record):
        kinds, optional, marks = parse_hint(hints[field.name])
        value = getattr(record, field.name)
        if kinds[0] in (bool, int, float, str) and not (value is None and optional):
            object.__setattr__(record, field.name, converted(kinds[0], marks, value, field.name))


@cache
def _hints(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls, include_extras=True)


def generator(seed: Seed, *, needed: bool = False) -> np.random.Generator:
    """Return a Generator for a seed; the seed may be None unless it is ``needed``."""
    if isinstance(seed, np.random.Generator):
        return seed
    if seed is None and not needed:
        return np.random.default_rng()
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and seed >= 0:
        return np.random.default_rng(int(seed))
    others = " or a numpy Generator" if needed else ", a numpy Generator or None"
    raise bad_argument("seed", seed, f"a non-negative int{others}")


def is_finite_number(value: Any) -> bool:
    """Return True if a value is a finite real number and not a bool."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:  # a large int
        return False


def check_number(value: Any, name: str, *marks: str) -> float:
    """Return a finite number that satisfies the marks as a float, or raise."""
    return float(converted(float, marks, value, name))


def check_count(
    value: Any,
    name: str,
    what: str = "a number of rows or steps",
    least: int = 0,
    most: int = sys.maxsize,
) -> int:
    """Return an int between ``least`` and ``most``, or raise."""
    is_int = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_int or not least <= int(value) <= most:
        is_bounded = most < sys.maxsize or (is_int and int(value) > most)
        bounds = f"from {least} to {most}" if is_bounded else f"≥ {least}"
        raise bad_argument(name, value, f"{what} (an int {bounds})")
    return int(value)


def check_memory(needed: float, name: str, value: Any) -> None:
    """Raise if a number of bytes exceeds the memory of this machine, if its size is known."""
    with suppress(AttributeError, ValueError):  # a platform without these names
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if needed > memory > 0:
            raise MemoryError(
                f"{name}={value!r} requires at least {needed / 2**30:,.0f} GiB of memory, but this "
                f"machine has {memory / 2**30:,.0f} GiB."
            )


def check_units(n: Any, name: str = "n") -> int:
    """Return a number of units ≥ 1, or raise."""
    count = check_count(n, name, "a number of units", 1)
    check_memory(16.0 * count, name, count)  # of the eigenvalues
    return count


def as_float_dtype(dtype: Any) -> np.dtype:
    """Return float64 or float32 as a dtype, or raise."""
    with suppress(TypeError):
        if np.dtype(dtype) in (np.float64, np.float32):
            return np.dtype(dtype)
    raise unknown_name("dtype", dtype, ("float64", "float32"))


def check_coverage(coverage: Any) -> float:
    """Return a coverage in (0, 1) as a float, or raise."""
    if not is_finite_number(coverage) or not 0 < float(coverage) < 1:
        raise bad_argument("interval", coverage, "a coverage in (0, 1), such as 0.9")
    return float(coverage)


def check_not_masked(value: Any, name: str) -> None:
    """Raise if an array or a list of arrays has masked values, which NumPy functions would use."""
    if type(value) is np.ndarray:  # a generator would take as long as half a step of a stream
        return
    parts = value if isinstance(value, (list, tuple)) else [value]
    if any(isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part) for part in parts):
        raise bad_argument(name, Words("masked values"), "values without a mask")


def as_array(value: Any, name: str, expected: str, remedy: str = "") -> Array:
    """Return a value as an array, or raise if rows have different lengths or values are masked."""
    check_not_masked(value, name)
    try:
        return np.asarray(value)
    except ValueError:  # NumPy's error for inhomogeneous shapes
        got = Words("rows of different lengths")
        raise bad_argument(name, got, expected, remedy) from None


def check_real(A: Any, name: str) -> None:
    """Raise unless the dtype of an array is floating, integer or Boolean."""
    if A.dtype.kind not in "fiub":
        raise bad_argument(name, Words(f"dtype {A.dtype}"), "real numbers")


def has_complex(array: Any) -> bool:
    """Return True if an array contains complex numbers, even as elements of an object array.

    If NumPy casts such objects to floats, it drops their imaginary parts with only a warning.
    """
    if array.dtype.kind != "O":
        return bool(array.dtype.kind == "c")
    return any(isinstance(value, (complex, np.complexfloating)) for value in array.flat)


def check_finite(A: Any, name: str, remedy: str = "") -> None:
    """Raise if an array contains NaN or infinity."""
    if not np.all(np.isfinite(A)):
        raise bad_argument(name, Words("NaN or infinity"), "finite numbers", remedy)


def check_range(A: Any, name: str, dtype: Any) -> None:
    """Raise if numbers are outside the range of a dtype."""
    if not np.all(np.abs(A) <= np.finfo(dtype).max):
        got = Words("numbers that are too large")
        raise bad_argument(name, got, f"numbers within the range of {dtype}")


def check_shape(A: Any, name: str, shape: tuple[int, ...], like: str = "") -> None:
    """Raise unless an array has this shape; ``like`` is added to the message."""
    if np.shape(A) != shape:
        raise bad_argument(name, Words(f"shape {np.shape(A)}"), f"shape {shape}{like}")


def check_floats(A: Array, name: str, *shape: int | None, dtype: Any = np.float64) -> None:
    """Raise unless an array has this dtype and shape (None for any length), and no huge numbers."""
    fits = A.ndim == len(shape) and all(
        expected in (None, length) for length, expected in zip(A.shape, shape, strict=True)
    )
    if not fits or A.dtype != dtype:
        expected = f"a {np.dtype(dtype)} array of shape {tuple(shape)}".replace("None", "any")
        raise bad_argument(name, Words(f"a {A.dtype} array of shape {A.shape}"), expected)
    if (np.abs(A) > np.float64(LARGEST_NUMBER)).any():
        got = Words("numbers that are too large")
        raise bad_argument(name, got, f"numbers up to {LARGEST_NUMBER:g}")


def check_square(W: Any, name: str) -> None:
    """Raise unless W is a real square matrix (N, N), N ≥ 1."""
    if len(W.shape) != 2 or W.shape[0] != W.shape[1] or W.shape[0] == 0:
        raise bad_argument(name, Words(f"shape {W.shape}"), "a square matrix (N, N) with N ≥ 1")
    check_real(W, name)


def as_square(W: Any, name: str = "W") -> Array:
    """Return a real, finite, square matrix as a dense float64 array, or raise."""
    W = as_array(W.toarray() if hasattr(W, "toarray") else W, name, "a square matrix (N, N)")
    check_square(W, name)
    W = W.astype(np.float64)
    check_finite(W, name, "Clean the matrix first.")
    return W
