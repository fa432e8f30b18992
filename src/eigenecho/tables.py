"""Conversion of one array, list or frame to numbers, with the position of whatever is not one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from eigenecho.arrays import is_on_device, namespace, to_host
from eigenecho.checks import as_array, has_complex
from eigenecho.errors import ENCODE, FILL, Words, bad_argument, not_finite, not_numbers, place
from eigenecho.frames import to_narwhals
from eigenecho.types import Array

RAGGED = "a 2-D series (T, D)", "Pass several series as a list of 2-D arrays."
"""Expected input and remedy in the error message for rows of different lengths."""

MISSING = ("NoneType", "NAType", "NaTType", "MaskedConstant")
"""Types of objects that represent a missing number."""

NOT_NUMBERS = (bytes, complex, np.complexfloating, np.datetime64, np.timedelta64)
"""Types of objects that are not real numbers, although ``float`` converts some of them."""


class Table(NamedTuple):
    """Real numbers (T, D) as an array or tensor, with NaN for missing ones, and column labels."""

    values: Any
    labels: list[Any] | None = None

    def as_rows(self, dtype: DTypeLike) -> Any:
        """Return the numbers as a contiguous array."""
        return namespace(self.values).ascontiguousarray(self.values, np.dtype(dtype))


def as_table(x: Any, name: str, series: int | None = None) -> Table:
    """Read a 2-D array, a nested list, or a frame of any library.

    ``series`` is the number of the series in error messages.
    """
    if hasattr(x, "toarray"):
        raise TypeError(
            f"Invalid {name}: got a sparse matrix; expected a dense array. Use {name}.toarray()."
        )
    frame = None if isinstance(x, np.ndarray) else to_narwhals(x, name)
    table: Any = x if hasattr(x, "shape") else as_array(x, name, *RAGGED)
    if len(table.shape) != 2:
        raise _shape_error(x, name, tuple(table.shape), series)
    if is_on_device(table):
        if table.is_complex():
            raise not_numbers(name, f"a {table.dtype} tensor")
        return Table(table)
    labels = column_labels(table)
    if frame is None and not hasattr(table, "iloc") and not hasattr(table, "dtype"):
        table = np.asarray(table)
    if frame is None and not hasattr(table, "iloc") and table.dtype.kind in "fiub":
        return Table(unmasked(table), labels)
    if frame is None and hasattr(table, "iloc") and _are_numbers(table.dtypes):
        return Table(table.to_numpy(np.float64, na_value=np.nan), labels)
    if frame is not None:
        columns = [frame[label] for label in frame.columns]
    else:
        at = table.iloc if hasattr(table, "iloc") else table
        columns = [at[:, i] for i in range(table.shape[1])]
    names = labels or range(len(columns))
    arrays = [
        floats(column, name, label, series, flags=True, text=True)
        for label, column in zip(names, columns, strict=True)
    ]
    values = np.stack(arrays).T if arrays else np.empty(table.shape)
    return Table(values, labels)


def _are_numbers(dtypes: Any) -> bool:
    return all(getattr(dtype, "kind", "O") in "fiub" for dtype in dtypes)


def floats(
    column: Any,
    name: str,
    label: Any = None,
    series: int | None = None,
    *,
    flags: bool = False,
    text: bool = False,
    remedy: str = ENCODE,
) -> Array:
    """Convert a column (T,) to a new float64 array, with NaN for missing values.

    Nullable types, masked arrays and objects that are numbers are converted. Dates and complex
    numbers raise an error.

    Parameters
    ----------
    column : array, pandas Series, or Series of narwhals (T,)
    name, label, series : str, Hashable, int
        Names of the argument, the column and the series in error messages.
    flags, text : bool
        Convert Boolean values to 0 and 1, and text that ``float`` can parse.
    remedy : str
        Remedy for values that are not numbers.
    """
    if hasattr(column, "implementation"):
        column = _plain_column(column)
    dtype = column.dtype
    kind = getattr(dtype, "kind", "O")
    kind = "O" if kind == "U" and text else kind
    where = "" if label is None else f" {place(column=label, series=series)}"
    if kind not in ("fiuOb" if flags else "fiuO") or (str(dtype) == "category" and not text):
        cause = ValueError("Complex data not supported") if kind == "c" else None
        raise not_numbers(name, f"dtype {dtype}{where}", cause, remedy)
    with np.errstate(over="ignore"):
        if kind != "O" and hasattr(column, "iloc"):
            return column.to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
        if kind != "O":
            return np.ma.filled(column.astype(np.float64), np.nan)
    refused: tuple[type, ...] = NOT_NUMBERS if text else (*NOT_NUMBERS, str)
    refused = refused if flags else (*refused, bool, np.bool_)
    values = np.empty(len(column))
    for row, value in enumerate(np.asarray(column, object)):
        try:
            if isinstance(value, refused):
                raise ValueError(f"a {type(value).__name__} is not a number")
            values[row] = np.nan if type(value).__name__ in MISSING else float(value)
        except (TypeError, ValueError, OverflowError) as error:
            shown = repr(value) if len(repr(value)) <= 40 else f"{value!r:.39}…"
            is_complex = isinstance(value, complex | np.complexfloating)
            why = ValueError("Complex data not supported") if is_complex else error
            got = f"{shown} {place(row, label, series)}, of dtype {dtype}"
            raise not_numbers(name, got, why, remedy) from None
    return values


def _plain_column(column: Any) -> Any:
    """Convert a Series of narwhals to an array; text and other objects remain objects."""
    import narwhals as nw

    dtype = column.dtype
    if dtype.is_float() or (dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128)):
        return column.cast(nw.Float64).to_numpy()
    if dtype.is_temporal():
        return column.to_numpy()
    return np.array([*column.to_list(), None], object)[:-1]  # lists remain elements


def as_floats(value: Any, name: str, expected: str) -> Array:
    """Convert an array, a list, a Series or a frame of any shape to float64."""
    if ndim_of(value) == 2 and not isinstance(value, np.ndarray | list | tuple):
        return as_table(value, name).values.astype(np.float64, copy=False)
    array = as_array(value, name, expected) if not np.ma.is_masked(value) else value
    if array.dtype.kind == "c":
        raise not_numbers(name, f"dtype {array.dtype}")
    return floats(array.ravel(), name, flags=True, text=True).reshape(array.shape)


def check_finite(
    rows: Any,
    table: Table,
    name: str,
    series: int | None = None,
    flat: bool = False,
    *,
    gaps: bool = False,
    remedy: str = FILL,
) -> None:
    """Raise an error if rows (T, D), which were converted from a table, are not finite.

    With ``gaps``, NaN is allowed. With ``flat``, the message does not name the column. ``remedy``
    is the remedy for NaN.
    """
    if is_on_device(rows):
        if namespace(rows).all_finite(rows):
            return
        rows, table = to_host(rows), Table(to_host(table.values))
    finite = ~np.isinf(rows) if gaps else np.isfinite(rows)
    if finite.all():
        return
    row, column = np.unravel_index(int(np.argmin(finite)), rows.shape)
    # A number that was finite before the conversion is too large for the dtype.
    value = float(table.values[row, column])
    label = None if flat else (table.labels or range(rows.shape[1]))[int(column)]
    remedy = remedy if np.isnan(value) else FILL
    raise not_finite(name, value, place(int(row), label, series), rows.dtype, remedy)


def column_labels(table: Any) -> list[Any] | None:
    """Return the column names of a frame, or None if it has no valid names."""
    # In PyArrow tables, the attribute ``columns`` contains arrays.
    columns = getattr(table, "column_names", getattr(table, "columns", None))
    if columns is None:
        return None
    names = list(columns)
    return names if all(isinstance(n, (str, int, np.integer, tuple)) for n in names) else None


def unmasked(x: Any) -> Any:
    """Return an array with NaN for masked values."""
    if not np.ma.is_masked(x) or has_complex(x):  # as_table raises an error for complex numbers
        return x
    return x.astype(np.float64).filled(np.nan)


def _shape_error(x: Any, name: str, shape: tuple[int, ...], series: int | None) -> ValueError:
    argument = name if series is None else f"{name}[{series}]"
    expected, remedy = "a 2-D series (T, D)", ""
    if not shape:
        got = x if np.isscalar(x) else Words(f"an object of type {type(x).__name__}")
        return bad_argument(argument, got, f"{expected} as an array or a DataFrame")
    if len(shape) > 2:
        expected += ", or several series (series, T, D)"
    elif shape[0]:
        array = argument if hasattr(x, "reshape") else f"np.array({argument})"
        remedy = f"{array}.reshape(-1, 1) for one column, {array}.reshape(1, -1) for one row"
        if hasattr(x, "to_frame"):
            remedy = f"{argument}.to_frame() for one column"
        remedy = f"Reshape your data: {remedy}."
    return bad_argument(argument, Words(f"shape {shape}"), expected, remedy)


def ndim_of(x: Any) -> int:
    """Return the number of axes of an array, a list or a frame."""
    # Tables of some libraries have a shape, but no ndim.
    if hasattr(x, "shape"):
        return len(x.shape)
    try:
        return np.asarray(x).ndim
    except ValueError:  # rows of different lengths, for which as_table raises an error
        return 1
