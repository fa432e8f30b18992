"""One series, a stack of equal ones, or a ragged list: the same thing inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from eigenecho.arrays import namespace, on_device, to_host
from eigenecho.checks import as_array, has_complex
from eigenecho.errors import Shown, bad_argument, not_finite, not_numbers, place
from eigenecho.frames import to_pandas
from eigenecho.types import Array

RAGGED = "a 2-D series (T, D)", "Several series are a list of 2-D arrays."
"""What is wanted of rows that differ in length, and what to do."""

DATES = (np.datetime64, np.timedelta64)
"""Objects that NumPy reads as numbers though they are dates."""

FILL = "Fill or drop the gaps first."
"""What to do about NaN and infinity."""


@dataclass(frozen=True)
class Container:
    """How the caller held the series: ``single``, ``stack`` (3-D array) or ``list``.

    ``flat`` says that each series was 1-D, (T,), so that answers are too. ``whole`` is a stack of
    checked tensors on a device as the one array (series, T, D) that it is.
    """

    kind: str = "single"
    flat: bool = False
    whole: Any = field(default=None, compare=False, repr=False)

    def restore(self, arrays: Sequence[Array]) -> Any:
        """Arrays (T_i, D), one for each series, as the caller holds them."""
        if self.flat:
            arrays = [a[:, 0] for a in arrays]
        if self.kind == "single":
            return arrays[0]
        return namespace(arrays[0]).stack(arrays) if self.kind == "stack" else list(arrays)

    def together(self, series: list[Array]) -> list[Array]:
        """Series to be run: those of a stack on a device are one (series, T, D), for one run."""
        if self.kind != "stack" or not on_device(series[0]):
            return series
        return [namespace(series[0]).stack(series) if self.whole is None else self.whole]

    def restored(self, arrays: Sequence[Array]) -> Any:
        """Answers to series that were ``together`` as the caller holds them."""
        if self.kind == "stack" and arrays[0].ndim == 3:
            return arrays[0][..., 0] if self.flat else arrays[0]
        return self.restore(arrays)


def unpack(X: Any) -> tuple[list[Any], Container]:
    """The series in ``X`` as they are, unchecked, and how they were held.

    A list or tuple of two-dimensional elements is several series; a nested list of numbers is
    one.
    """
    if isinstance(X, (list, tuple)) and len(X) and _ndim(X[0]) == 2:
        return list(X), Container("list")
    if _ndim(X) == 3 and on_device(X):
        return list(X), Container("stack")
    if _ndim(X) == 3:
        return list(_unmasked(np.asanyarray(X))), Container("stack")
    if _are_flat_series(X):
        raise ValueError(
            f"X is a list of 1-D arrays, the first of shape {np.shape(X[0])}: series are 2-D, "
            "(T, D). For several series of one column pass [x.reshape(-1, 1) for x in X]; for one "
            "series given row by row pass np.array(X)."
        )
    return [X], Container("single")


def _are_flat_series(X: Any) -> bool:
    """Whether a list could be read as one series of long rows, and hardly is meant so."""
    if not (isinstance(X, (list, tuple)) and len(X)):
        return False
    return all(len(getattr(x, "shape", ())) == 1 and len(x) > 1 for x in X)


def output_container(y: Any) -> Container:
    """How outputs that come without inputs are held; a nested list of numbers is one series."""
    if isinstance(y, (list, tuple)) and len(y):
        several = getattr(y[0], "ndim", 0) in (1, 2) or np.ndim(y[0]) == 2
        return Container("list" if several else "single")
    return Container("stack" if np.ndim(y) == 3 else "single")


def unpack_outputs(y: Any, name: str, like: Container) -> tuple[list[Any], Container]:
    """Outputs held as ``like``, each (T,) or (T, D): the series as columns (T, D)."""
    if like.kind == "single":
        items = [y]
    elif isinstance(y, (list, tuple)) or _ndim(y) >= 2:
        items = list(y)
    else:
        raise bad_argument(name, Shown(f"shape {np.shape(y)}"), "several series, as X has")
    if any(_ndim(item) not in (1, 2) for item in items):
        raise bad_argument(name, Shown("series of other shapes"), "series (T,) or (T, D)")
    flat = all(_ndim(item) == 1 for item in items)
    columns = [_as_column(item) if _ndim(item) == 1 else item for item in items]
    return columns, Container(like.kind, flat)


def _as_column(item: Any) -> Any:
    return item[:, None] if on_device(item) else np.asarray(_unmasked(item)).reshape(-1, 1)


def as_series(
    X: Any, name: str, D: int | None = None, dtype: DTypeLike = np.float64
) -> tuple[list[Array], Container]:
    """``X`` as a list of finite contiguous arrays (T_i, D), with its container."""
    if on_device(X) and X.ndim == 3:
        return as_stack(X, name, D, dtype)
    items, container = unpack(X)
    check_not_empty(items, name)
    several = container.kind != "single"
    return [
        as_rows(x, name, D, dtype, i if several else None) for i, x in enumerate(items)
    ], container


def as_stack(X: Any, name: str, D: int | None, dtype: DTypeLike) -> tuple[list[Array], Container]:
    """A stack of tensors (series, T, D) on a device, as its series and how they were held."""
    whole = checked_stack(X, name, D, dtype)
    return list(whole.unbind(0)), Container("stack", whole=whole)


def checked_stack(X: Any, name: str, D: int | None, dtype: DTypeLike) -> Any:
    """A stack of tensors on a device, looked at once for all of its series."""
    if D is not None and X.shape[-1] != D:
        raise bad_argument(name, Shown(f"shape {tuple(X.shape)}"), f"{D} columns")
    check_not_empty(range(len(X)), name)
    as_table(X[0], name, 0)
    whole = namespace(X).ascontiguousarray(X, dtype)
    finite = whole.isfinite().flatten(1).all(1)
    if not bool(finite.all()):
        i = int(finite.int().argmin())
        check_finite(whole[i], X[i], name, i)
    return whole


def check_not_empty(items: Sequence[Any], name: str) -> None:
    """Raise where a container holds no series."""
    if not items:
        raise bad_argument(name, Shown("0 series"), "at least one series")


def as_rows(
    x: Any,
    name: str,
    D: int | None = None,
    dtype: DTypeLike = np.float64,
    series: int | None = None,
    *,
    gaps: bool = False,
) -> Array:
    """One finite series (T, D), but for NaN where there may be ``gaps``; ``series`` is its number
    among several, for the errors.
    """
    if hasattr(x, "toarray"):
        raise bad_argument(
            name, Shown(f"{type(x).__name__}"), "a dense array", f"{name}.toarray()."
        )
    table = as_table(x, name, series)
    if D is not None and table.shape[1] != D:
        raise bad_argument(name, Shown(f"shape {tuple(table.shape)}"), f"{D} columns")
    rows = (
        namespace(table).ascontiguousarray(table, dtype)
        if on_device(table)
        else (np.ascontiguousarray(_numbers(table, dtype)))
    )
    check_finite(rows, table, name, series, gaps=gaps)
    return rows


def as_table(x: Any, name: str, series: int | None = None) -> Any:
    """Return a pandas frame or an array (T, D) of real numbers; other frames become pandas frames.

    Masked entries become NaN.
    """
    x, _ = to_pandas(x, name)
    table = _unmasked(x if hasattr(x, "shape") else as_array(x, name, *RAGGED))
    if len(table.shape) != 2:
        raise _not_two_dimensional(x, name, tuple(table.shape), series)
    if on_device(table):
        if table.is_complex():
            raise not_numbers(name, f"tensor of {table.dtype}")
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
    """Raise where rows (T, D), read from ``given``, are not finite, and say where first.

    ``flat`` rows were (T,), and have no columns to speak of. NaN will do where there may be
    ``gaps``; else ``remedy`` says what to do about it.
    """
    if on_device(rows):
        if namespace(rows).all_finite(rows):
            return
        rows, given = to_host((rows, given))
    finite = ~np.isinf(rows) if gaps else np.isfinite(rows)
    if finite.all():
        return
    row, column = np.unravel_index(int(np.argmin(finite)), rows.shape)
    # A number that was finite before it was cast is too large, and no gap.
    value = float(_numbers(given, np.float64)[row, column])
    label = None if flat else (column_labels(given) or range(rows.shape[1]))[int(column)]
    remedy = remedy if np.isnan(value) else FILL
    raise not_finite(name, value, place(int(row), label, series), rows.dtype, remedy)


def column_labels(table: Any) -> list[Any] | None:
    """Return the names of the columns of a frame."""
    # The columns of a PyArrow table are arrays.
    columns = getattr(table, "column_names", getattr(table, "columns", None))
    if columns is None:
        return None
    names = list(columns)
    return names if all(isinstance(n, (str, int, np.integer, tuple)) for n in names) else None


def _unmasked(x: Any) -> Any:
    if not np.ma.is_masked(x) or has_complex(x):  # as_table refuses complex numbers
        return x
    return x.astype(np.float64).filled(np.nan)


def _not_two_dimensional(
    x: Any, name: str, shape: tuple[int, ...], series: int | None
) -> ValueError:
    which = "" if series is None else f" of series {series}"
    wanted, remedy = "a 2-D series (T, D)", ""
    if not shape:
        plain = isinstance(x, (str, int, float, complex, np.generic))
        shown = x if plain else Shown(f"{type(x).__name__}{which}")
        return bad_argument(name, shown, f"{wanted}, an array or a DataFrame")
    if len(shape) > 2:
        wanted += ", or several, (series, T, D)"
    elif shape[0]:
        one = name if series is None else f"{name}[{series}]"
        array = one if hasattr(x, "reshape") else f"np.array({one})"
        remedy = f"{array}.reshape(-1, 1) for one column, {array}.reshape(1, -1) for one row"
        if hasattr(x, "to_frame"):
            remedy = f"{one}.to_frame() for one column"
        remedy = f"Reshape your data: {remedy}."
    return bad_argument(name, Shown(f"shape {shape}{which}"), wanted, remedy)


def _check_columns(table: Any, name: str, series: int | None) -> None:
    """Raise where a column holds other than real numbers: text, dates, complex numbers."""
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
        try:
            column.astype(np.float64)
        except (TypeError, ValueError) as error:
            row, cause = _first_unreadable(column, error)
            shown = f"{_brief(column[row])} {place(row, label, series)}, of dtype {dtype}"
            raise not_numbers(name, shown, cause) from None


def _first_unreadable(column: Array, error: Exception) -> tuple[int, Exception]:
    for row, value in enumerate(column.tolist()):
        try:
            np.array([value], object).astype(np.float64)
        except (TypeError, ValueError) as cause:
            return row, cause
    return 0, error


def _brief(value: Any, limit: int = 40) -> str:
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _numbers(table: Any, dtype: DTypeLike) -> Array:
    # pandas alone knows how to turn its missing integers into NaN.
    if hasattr(table, "iloc"):
        return table.to_numpy(dtype=dtype)
    return np.asarray(table, dtype)


def shifted(y: Array, first: Array | float = 0.0) -> Array:
    """y(t−1) for t = 1 … T, given y(0); of either kind, as y is."""
    previous = namespace(y).empty_like(y)
    previous[:1] = first
    previous[1:] = y[:-1]
    return previous


def _ndim(x: Any) -> int:
    # np.ndim asks a container that is only convertible to an array for more than conversion.
    if hasattr(x, "shape"):
        return len(x.shape)
    try:
        return np.asarray(x).ndim
    except ValueError:  # rows of different lengths: as_table says so, and whose they are
        return 1
