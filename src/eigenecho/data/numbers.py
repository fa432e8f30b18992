"""Columns of numbers with missing values: any real type to float64, NaN for missing values."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenecho.errors import ENCODE, Shown, bad_argument, not_finite, not_numbers, place
from eigenecho.types import Array

LARGEST, SMALLEST = 1e150, 1e-150
"""Largest number, and smallest non-zero range of a series, whose squares are still numbers."""

MISSING = ("NoneType", "NAType", "NaTType", "MaskedConstant")
"""Types of objects that stand for a missing number."""

TEXT = "Convert it to numbers, drop it, or make it the index if it contains the times."
"""The remedy for a column of a frame that does not contain numbers."""

NOT_NUMBERS = (str, bytes, complex, np.complexfloating, np.datetime64, np.timedelta64)
"""Types that ``float`` may convert, but that are not real numbers."""


def as_floats(column: Any, name: str, label: Any = None, flags: bool = False) -> Array:
    """Return a column (T,) as a new float64 array, NaN for missing values.

    Nullable types, masked arrays and objects that are numbers are converted. Text, dates, complex
    numbers, infinity and numbers above ``LARGEST`` raise an error.

    Parameters
    ----------
    column : array or pandas Series (T,)
    name, label : str, Hashable
        Names of the argument and the column, for errors.
    flags : bool
        Convert Boolean values to 0 and 1 instead of raising an error.
    """
    dtype = column.dtype
    kind = getattr(dtype, "kind", "O")
    if kind not in ("fiuOb" if flags else "fiuO") or str(dtype) in ("category", "string", "str"):
        where = "" if label is None else f" {place(column=label)}"
        remedy = TEXT if hasattr(column, "iloc") else ENCODE
        raise not_numbers(name, f"dtype {dtype}{where}", None, remedy)
    with np.errstate(over="ignore"):
        if kind == "O":
            values = _object_floats(column, name, label, flags)
        elif hasattr(column, "iloc"):
            values = column.to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
        elif isinstance(column, np.ma.MaskedArray):
            values = np.ma.filled(column.astype(np.float64), np.nan)
        else:
            values = np.array(column, np.float64)
    large = np.abs(values) > LARGEST
    if large.any():
        row = int(np.argmax(large))
        if np.isinf(values[row]):
            remedy = "Use NaN for missing observations."
            raise not_finite(name, float(values[row]), place(row, label), "float64", remedy)
        got = Shown(f"{values[row]:.6g} {place(row, label)}")
        raise bad_argument(name, got, f"numbers up to {LARGEST:g}", "Rescale the data.")
    return values


def check_observed(values: Array, name: str, label: Any = None) -> None:
    """Raise if a series has no observations, or its range is positive but below ``SMALLEST``."""
    of = "" if label is None else f" in series {label!r}"
    if np.isnan(values).all():
        raise bad_argument(name, Shown(f"nothing but NaN{of}"), "a series with observations")
    spread = float(np.nanmax(values) - np.nanmin(values))
    if 0 < spread < SMALLEST:
        got = Shown(f"numbers within a range of {spread:.3g}{of}")
        raise bad_argument(name, got, f"a range of at least {SMALLEST:g}", "Rescale the data.")


def filled_forward(values: Array, before: Array | None = None) -> Array:
    """Return columns (T, p) with NaN replaced by the last number before it.

    ``before`` is the row before the first. NaN stays where there is no earlier number.
    """
    first = np.full(values.shape[1], np.nan) if before is None else before
    whole = np.vstack([first, values])
    rows = np.where(np.isnan(whole), 0, np.arange(len(whole))[:, None])
    return np.take_along_axis(whole, np.maximum.accumulate(rows, axis=0), axis=0)[1:]


def _object_floats(column: Any, name: str, label: Any, flags: bool) -> Array:
    refused = NOT_NUMBERS if flags else (*NOT_NUMBERS, bool, np.bool_)
    values = np.empty(len(column))
    for row, value in enumerate(np.asarray(column, object)):
        try:
            if isinstance(value, refused):
                raise ValueError(f"a {type(value).__name__} is not a number")
            values[row] = np.nan if type(value).__name__ in MISSING else float(value)
        except (TypeError, ValueError, OverflowError) as error:
            got = f"{str(value)[:40]!r} {place(row, label)}"
            remedy = TEXT if hasattr(column, "iloc") else ENCODE
            raise not_numbers(name, got, error, remedy) from None
    return values
