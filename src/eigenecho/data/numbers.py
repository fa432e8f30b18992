"""Columns of numbers, some missing: of any real type to float64, NaN where there is none."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from eigenecho.cells import numbers_in_text
from eigenecho.errors import Shown, bad_argument, not_finite, not_numbers, place
from eigenecho.types import Array

LARGEST, SMALLEST = 1e150, 1e-150
"""Of numbers that squares and their sums are made of: at most, and the least that a series may
move by, if it does."""

NOTHING = ("NoneType", "NAType", "NaTType", "MaskedConstant")
"""Types of objects that stand for a missing number."""


def as_floats(
    column: Any, name: str, label: Any = None, series: int | None = None, flags: bool = False
) -> Array:
    """A column (T,) as float64, without infinities and what is nearly that large.

    Nullable types, masked arrays and objects that are numbers are read. Text, dates and complex
    numbers are refused, since none of them is meant as a measurement.

    Parameters
    ----------
    column : array or pandas Series (T,)
    name : str
        The argument, for errors.
    label : Hashable, optional
        The name of the column.
    series : int, optional
        Its number among several.
    flags : bool
        Whether truth values are read, too, as 0 and 1: in columns beside a series.
    """
    dtype = column.dtype
    kind = getattr(dtype, "kind", "O")
    if kind not in ("fiuOb" if flags else "fiuO") or str(dtype) in ("category", "string", "str"):
        where = place(column=label, series=series) if label is not None else _of(series)
        raise not_numbers(
            name, f"dtype {dtype} {where}".rstrip(), None, _remedy(column, name, label, series)
        )
    with np.errstate(over="ignore"):
        if kind == "O":
            advice = partial(_remedy, column, name, label, series)
            values = _objects(np.asarray(column, object), name, label, series, flags, advice)
        elif hasattr(column, "iloc"):
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            values = _unmasked(column)
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        remedy = "NaN is a missing observation."
        raise not_finite(name, float(values[row]), place(row, label, series), "float64", remedy)
    large = np.abs(values) > LARGEST
    if large.any():
        row = int(np.argmax(large))
        got = Shown(f"{values[row]:.6g} {place(row, label, series)}")
        raise bad_argument(
            name, got, f"numbers up to {LARGEST:g}, whose squares are numbers", "Scale the data."
        )
    return values


def check_observed(values: Array, name: str, label: Any = None) -> None:
    """Raise where a series holds no number at all, or moves by less than squares can tell."""
    of = "" if label is None else f" in series {label!r}"
    if np.isnan(values).all():
        raise bad_argument(name, Shown(f"nothing but NaN{of}"), "a series with observations")
    spread = float(np.nanmax(values) - np.nanmin(values))
    if 0 < spread < SMALLEST:
        got = Shown(f"numbers that differ by {spread:.3g} at most{of}")
        wanted = f"differences of {SMALLEST:g} or more, whose squares are numbers"
        raise bad_argument(name, got, wanted, "Scale the data.")


def filled_forward(values: Array, before: Array | None = None) -> Array:
    """Columns (T, p) with the last number before in place of NaN; at first those of ``before``.

    NaN stays where there was none yet.
    """
    first = np.full(values.shape[1], np.nan) if before is None else before
    whole = np.vstack([first, values])
    rows = np.where(np.isnan(whole), 0, np.arange(len(whole))[:, None])
    return np.take_along_axis(whole, np.maximum.accumulate(rows, axis=0), axis=0)[1:]


def _remedy(column: Any, name: str, label: Any, series: int | None) -> str:
    """What to do about a column that holds no numbers, or text that says some."""
    name = name if series is None else f"{name}[{series}]"
    held = name if label is None else f"{name}[{label!r}]"
    if not hasattr(column, "iloc"):
        held = f"pd.Series({held})" if label is None else f"pd.Series({name}[:, {label}])"
    return numbers_in_text(np.asarray(column, object), held)


def _of(series: int | None) -> str:
    return "" if series is None else f"in series {series}"


def _unmasked(column: Any) -> Any:
    if isinstance(column, np.ma.MaskedArray):
        return np.ma.filled(column.astype(np.float64), np.nan)
    return np.array(column, np.float64)


def _objects(
    column: Array,
    name: str,
    label: Any,
    series: int | None,
    flags: bool,
    advice: Callable[[], str],
) -> Array:
    dates = (np.datetime64, np.timedelta64)  # float would read them
    others = (str, bytes, complex, np.complexfloating)
    refused = (*dates, *others) if flags else (*dates, *others, bool, np.bool_)
    values = np.empty(len(column))
    for row, value in enumerate(column):
        if type(value).__name__ in NOTHING:
            values[row] = np.nan
            continue
        try:
            if isinstance(value, refused):
                raise ValueError(f"a {type(value).__name__} is no measurement")
            values[row] = float(value)
        except (TypeError, ValueError, OverflowError) as error:
            shown = f"{str(value)[:40]!r} {place(row, label, series)}"
            raise not_numbers(name, shown, error, advice()) from None
    return values
