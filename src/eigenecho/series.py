"""Conversion of the inputs and outputs of networks to arrays, and back to the caller's format."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from eigenecho.arrays import is_on_device, namespace, to_host
from eigenecho.checks import as_array, has_complex
from eigenecho.errors import FILL, Words, bad_argument, counted, not_finite, not_numbers, place
from eigenecho.frames import to_pandas
from eigenecho.types import Array

RAGGED = "a 2-D series (T, D)", "Pass several series as a list of 2-D arrays."
"""Expected input and remedy in the error message for rows of different lengths."""

DATES = (np.datetime64, np.timedelta64)
"""Types of dates that NumPy would convert to numbers."""


@dataclass(frozen=True)
class Container:
    """The caller's format: ``single``, ``stack`` (3-D array) or ``list``.

    With ``flat``, each series is 1-D, (T,), and so are results. ``whole`` is the array
    (series, T, D) of a checked stack.
    """

    kind: str = "single"
    flat: bool = False
    whole: Any = field(default=None, compare=False, repr=False)

    def together(self, series: list[Array]) -> list[Array]:
        """Return the series to run: a stack as one array (series, T, D)."""
        return series if self.whole is None else [self.whole]

    def restore(self, arrays: Sequence[Array]) -> Any:
        """Return arrays (T_i, D), or a stack from ``together``, in the caller's format."""
        if self.kind == "stack" and arrays[0].ndim < 3:
            arrays = [namespace(arrays[0]).stack(arrays)]
        if self.flat:
            arrays = [a[..., 0] for a in arrays]
        return list(arrays) if self.kind == "list" else arrays[0]


def container_kind(X: Any) -> str:
    """Return the format of ``X``: "single", "stack" (a 3-D array) or "list".

    A list or tuple of 2-D arrays contains several series. A nested list of numbers is one series.
    """
    if isinstance(X, (list, tuple)) and len(X):
        if _ndim(X[0]) == 2:
            return "list"
        # A list of 1-D arrays may contain several series, or the rows of one series.
        if all(len(getattr(x, "shape", ())) == 1 and len(x) > 1 for x in X):
            got = Words(f"a list of 1-D arrays, the first of shape {np.shape(X[0])}")
            remedy = (
                "Use [x.reshape(-1, 1) for x in X] for several series with one column each, or "
                "np.array(X) for the rows of one series."
            )
            raise bad_argument("X", got, "2-D series (T, D)", remedy)
    return "stack" if _ndim(X) == 3 else "single"


def unpack(X: Any) -> tuple[list[Any], Container]:
    """Return the series in ``X``, unchanged and unchecked, and their format."""
    kind = container_kind(X)
    if kind == "single":
        return [X], Container()
    if kind == "stack" and not is_on_device(X):
        X = _unmasked(np.asanyarray(X))
    return list(X), Container(kind)


def output_container(y: Any) -> Container:
    """Return the format of outputs that have no inputs. A nested list of numbers is one series."""
    if isinstance(y, (list, tuple)) and len(y):
        several = getattr(y[0], "ndim", 0) in (1, 2) or np.ndim(y[0]) == 2
        return Container("list" if several else "single")
    return Container("stack" if np.ndim(y) == 3 else "single")


def unpack_outputs(y: Any, name: str, like: Container) -> tuple[list[Any], Container]:
    """Return outputs in the format ``like`` as arrays (T, D), and their own format.

    Outputs of each series have shape (T,) or (T, D).
    """
    if like.kind == "single":
        items = [y]
    elif isinstance(y, (list, tuple)) or _ndim(y) >= 2:
        items = list(y)
    else:
        raise bad_argument(name, Words(f"shape {np.shape(y)}"), "several series, as in X")
    if any(_ndim(item) not in (1, 2) for item in items):
        raise bad_argument(name, Words("series of other shapes"), "series of shape (T,) or (T, D)")
    flat = all(_ndim(item) == 1 for item in items)
    columns = [_as_column(item) if _ndim(item) == 1 else item for item in items]
    return columns, Container(like.kind, flat)


def _as_column(item: Any) -> Any:
    return item[:, None] if is_on_device(item) else np.asarray(_unmasked(item)).reshape(-1, 1)


def as_series(
    X: Any, name: str, D: int | None = None, dtype: DTypeLike = np.float64
) -> tuple[list[Array], Container]:
    """Return the series in ``X`` as finite contiguous arrays (T_i, D), and their format."""
    if is_stack(X):
        return split_stack(as_stack(X, name, D, dtype))
    items, container = unpack(X)
    check_not_empty(items, name)
    several = container.kind != "single"
    series = [as_rows(x, name, D, dtype, i if several else None) for i, x in enumerate(items)]
    return series, container


def is_stack(X: Any) -> bool:
    """Return True if ``X`` is one array of numbers (series, T, D), so that it is not split."""
    if is_on_device(X):
        return bool(X.ndim == 3)
    is_array = isinstance(X, np.ndarray) and X.ndim == 3
    return is_array and X.dtype.kind in "fiub" and not np.ma.is_masked(X)


def as_stack(X: Any, name: str, D: int | None, dtype: DTypeLike, *, finite: bool = True) -> Array:
    """Return a stack as a contiguous array (series, T, D), after checking all series at once."""
    check_not_empty(range(len(X)), name)
    if D is not None and X.shape[-1] != D:
        raise bad_argument(name, Words(f"shape {tuple(X.shape)}"), counted(D, "column"))
    as_table(X[0], name, 0)
    xp = namespace(X)
    whole = xp.ascontiguousarray(X, dtype)
    if finite and not xp.all_finite(whole):
        i = int(to_host(xp.isfinite(whole).reshape(len(whole), -1).all(1)).argmin())
        check_finite(whole[i], X[i], name, i)
    return whole


def split_stack(stack: Array) -> tuple[list[Array], Container]:
    """Return the series of a checked stack, and their format."""
    return list(stack), Container("stack", whole=stack)


def check_not_empty(items: Sequence[Any], name: str) -> None:
    """Raise an error if there are no series."""
    if not items:
        raise bad_argument(name, Words("0 series"), "at least one series")


def check_dense(x: Any, name: str) -> None:
    """Raise an error for sparse matrices."""
    if hasattr(x, "toarray"):
        remedy = f"Use {name}.toarray()."
        raise bad_argument(name, Words("a sparse matrix"), "a dense array", remedy)


def as_rows(
    x: Any,
    name: str,
    D: int | None = None,
    dtype: DTypeLike = np.float64,
    series: int | None = None,
    *,
    gaps: bool = False,
) -> Array:
    """Return one finite series as a contiguous array (T, D). With ``gaps``, NaN is allowed.

    ``series`` is the number of the series in error messages.
    """
    check_dense(x, name)
    table = as_table(x, name, series)
    if D is not None and table.shape[1] != D:
        raise bad_argument(name, Words(f"shape {tuple(table.shape)}"), counted(D, "column"))
    if is_on_device(table):
        rows = namespace(table).ascontiguousarray(table, dtype)
    else:
        rows = np.ascontiguousarray(to_numbers(table, dtype))
    check_finite(rows, table, name, series, gaps=gaps)
    return rows


def as_table(x: Any, name: str, series: int | None = None) -> Any:
    """Return real numbers as an array (T, D) or a pandas frame, with NaN for masked entries.

    Frames of other libraries are converted to pandas frames.
    """
    if not isinstance(x, np.ndarray):
        x, _ = to_pandas(x, name)
    table = _unmasked(x if hasattr(x, "shape") else as_array(x, name, *RAGGED))
    if len(table.shape) != 2:
        raise _shape_error(x, name, tuple(table.shape), series)
    if is_on_device(table):
        if table.is_complex():
            raise not_numbers(name, f"a {table.dtype} tensor")
        return table
    _check_columns(table, name, series)
    return table


def check_finite(
    rows: Any,
    given: Any,
    name: str,
    series: int | None = None,
    flat: bool = False,
    *,
    gaps: bool = False,
    remedy: str = FILL,
) -> None:
    """Raise an error if rows (T, D), which were converted from ``given``, are not finite.

    With ``gaps``, NaN is allowed. With ``flat``, the message does not name the column. ``remedy``
    is the remedy for NaN.
    """
    if is_on_device(rows):
        if namespace(rows).all_finite(rows):
            return
        rows, given = to_host((rows, given))
    finite = ~np.isinf(rows) if gaps else np.isfinite(rows)
    if finite.all():
        return
    row, column = np.unravel_index(int(np.argmin(finite)), rows.shape)
    # A number that was finite before the conversion is too large for the dtype.
    value = float(to_numbers(given, np.float64)[row, column])
    label = None if flat else (column_labels(given) or range(rows.shape[1]))[int(column)]
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


def _unmasked(x: Any) -> Any:
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


def _check_columns(table: Any, name: str, series: int | None) -> None:
    """Raise an error if a column contains text, dates or complex numbers."""
    D = table.shape[1]
    dtypes = [table.dtype] * D if hasattr(table, "dtype") else list(table.dtypes)
    if all(getattr(dtype, "kind", "O") in "fiub" for dtype in dtypes):
        return
    labels = column_labels(table) or range(D)
    for j, (label, dtype) in enumerate(zip(labels, dtypes, strict=True)):
        column = np.asarray(table.iloc[:, j] if hasattr(table, "iloc") else table[:, j])
        # Dates with a time zone are objects to NumPy.
        kind = column.dtype.kind if column.dtype.kind != "O" else getattr(dtype, "kind", "O")
        kind = "c" if has_complex(column) else kind
        if kind in "fiub":
            continue
        if kind in "mMc" or any(isinstance(value, DATES) for value in column):
            which = "" if series is None else f" of series {series}"
            why = ValueError("Complex data not supported") if kind == "c" else None
            raise not_numbers(name, f"column {label!r}{which}, of dtype {dtype}", why)
        with suppress(TypeError, ValueError, OverflowError):
            column.astype(np.float64)
            continue
        for row, value in enumerate(column.tolist()):
            try:
                # With a second element, a cell that contains a list remains one element.
                np.array([value, None], object).astype(np.float64)
            except (TypeError, ValueError, OverflowError) as cause:
                text = repr(value) if len(repr(value)) <= 40 else f"{value!r:.39}…"
                shown = f"{text} {place(row, label, series)}, of dtype {dtype}"
                raise not_numbers(name, shown, cause) from None


def to_numbers(table: Any, dtype: DTypeLike) -> Array:
    """Convert a pandas frame or an array to numbers, with NaN for missing values."""
    # NumPy cannot convert the missing values of nullable pandas types.
    if hasattr(table, "iloc"):
        return table.to_numpy(dtype=dtype)
    return np.asarray(table, dtype)


def shifted(y: Array, first: Array | float = 0.0) -> Array:
    """Return y(t−1) for t = 1 … T, where y(0) is ``first``."""
    previous = namespace(y).empty_like(y)
    previous[:1] = first
    previous[1:] = y[:-1]
    return previous


def _ndim(x: Any) -> int:
    # Tables of some libraries have a shape, but no ndim.
    if hasattr(x, "shape"):
        return len(x.shape)
    try:
        return np.asarray(x).ndim
    except ValueError:  # rows of different lengths, for which as_table raises an error
        return 1
