"""Arrays, lists and DataFrames as tables of numbers with times."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eigenecho.checks import LARGEST_NUMBER, as_array, check_known
from eigenecho.data.clock import as_numbers, is_date, is_period, shown, with_room
from eigenecho.errors import (
    ENCODE,
    Words,
    bad_argument,
    not_finite,
    not_numbers,
    place,
    unknown_name,
)
from eigenecho.frames import FrameFormat, is_table, to_narwhals, to_pandas
from eigenecho.types import Array

ARRAYS = {"single": "an array (T,)", "columns": "an array (T, D)", "list": "a list of arrays (T,)"}
FRAMES = {"series": "a Series", "wide": "a wide DataFrame", "long": "a long DataFrame"}
KINDS = ARRAYS | FRAMES
"""Descriptions of the supported formats."""
WANTED = "a series (T,), columns (T, D), a list of arrays (T,), or a Series or DataFrame"
TIMES = "dates, periods or numbers"
RESULTS = ("forecast", "lower", "upper", "cutoff")
"""Columns of a long result besides ids and times."""
FARTHEST = 2.0**62
"""Largest number that is accepted as a time; integers end at 2⁶³."""

MISSING = ("NoneType", "NAType", "NaTType", "MaskedConstant")
"""Types of objects that stand for a missing number."""

OTHERS = "List columns that help to forecast in known= or past=, or pass them as X; drop others."
"""The remedy for a column of a frame that is not a target."""

TEXT = (
    "Convert it to numbers, drop it, or make it the index if it contains the times. For a long "
    "frame, pass its column names: Forecaster(id=, time=, target=)."
)
"""The remedy for a column of a frame that does not contain numbers."""

MOST_CATEGORIES = 100
"""Maximum number of categories of a column. It is reduced to half of the rows, but not below
``FEW_CATEGORIES``: columns with more are probably ids, or dates or numbers as text."""
FEW_CATEGORIES = 10

NOT_NUMBERS = (str, bytes, complex, np.complexfloating, np.datetime64, np.timedelta64)
"""Types that ``float`` may convert, but that are not real numbers."""


def in_series(label: Hashable | None) -> str:
    """Return words that name a series in errors, or empty text for a single series."""
    return "" if label is None else f" in series {label!r}"


class LongNames(NamedTuple):
    """Names of the columns of a long frame."""

    id: Hashable = "unique_id"
    time: Hashable = "ds"
    target: Hashable = "y"


@dataclass(eq=False)
class Table:
    """Rows that share their times, sorted: times (n,), values (n, c) and labels of the columns."""

    times: Any
    values: Array
    labels: Sequence[Hashable]


class PanelFormat(NamedTuple):
    """The caller's format of y.

    Attributes
    ----------
    kind : {"single", "columns", "list", "series", "wide", "long"}
        Arrays (T,) and (T, D), a list of arrays, or a Series, wide frame or long frame.
    names : LongNames
    index_name, is_range : Hashable, bool
        Name and type (RangeIndex) of the index of a Series or wide frame; arrays have a range.
    frame : FrameFormat or None
        The library of the frame, None for pandas.
    """

    kind: str
    names: LongNames
    index_name: Hashable = None
    is_range: bool = False
    frame: FrameFormat | None = None

    def check(self) -> None:
        """Raise if a file contains an unknown kind."""
        check_known(self.kind, "kind", KINDS)

    @property
    def is_array(self) -> bool:
        """Return True for arrays and lists of arrays."""
        return self.kind in ARRAYS

    @property
    def shared(self) -> bool:
        """Return True if all series have the same rows."""
        return self.kind not in ("list", "long")


def identify(y: Any, names: LongNames, name: str) -> tuple[PanelFormat, Any]:
    """Return the format of y, and its data: a list of columns for arrays, else a pandas object."""
    y, native = (y, None) if isinstance(y, np.ndarray) else to_pandas(y, name)
    if not hasattr(y, "iloc"):
        kind, arrays = _array_columns(y, name)
        return PanelFormat(kind, names, is_range=True), arrays
    if not len(y):
        raise bad_argument(name, Words("0 rows"), "at least one row")
    if y.ndim == 2:
        _check_names(names)
        _check_unique(y.columns, name)
        if all(column in y.columns for column in names):
            return PanelFormat("long", names, frame=FrameFormat.of(native, *names[:2])), y
        columns = set(y.columns)
        is_partial = names.time in columns if native is None else set(names[1:]) < columns
        if is_partial or names.id in columns or names.id in y.index.names:
            listed = ", ".join(map(repr, names))
            got = Words(f"a DataFrame without all of the columns {listed}")
            wanted = "a long frame with these columns, or a wide one with the times as index"
            remedy = "Pass the column names of a long frame: Forecaster(id=, time=, target=)."
            raise bad_argument(name, got, wanted, remedy)
        y = _with_index(y, native, names.time, name)
        if not y.shape[1]:
            raise bad_argument(name, Words("0 columns"), "one column per series")
    is_range = hasattr(y.index, "start") and hasattr(y.index, "stop")
    kind, frame = "series" if y.ndim == 1 else "wide", FrameFormat.of(native, None, y.index.name)
    return PanelFormat(kind, names, y.index.name, is_range, frame), y


def read_y(
    form: PanelFormat, y: Any, name: str, starts: Sequence[int] | None = None
) -> tuple[Any, list[Table]]:
    """Return the labels of all series, and one table for all or one per series.

    Rows of arrays have row numbers as times, which begin at 0 or at ``starts``.
    """
    if form.is_array:
        return _array_tables(form.kind, y, name, starts or [0] * len(y))
    if form.kind == "long":
        extra = [column for column in y.columns if column not in form.names]
        if extra:
            raise bad_argument(
                name, Words(f"a column {extra[0]!r}"), f"only {', '.join(map(repr, form.names))}",
                OTHERS,
            )  # fmt: skip
        ids, tables = _long_tables(y, [form.names.target], form.names, name)
        for label, table in tables.items():
            table.labels = [label]
        return ids, list(tables.values())
    if form.kind == "series":
        import pandas

        labels = pandas.Index([y.name], dtype=object, tupleize_cols=False)
        values = as_floats(y, name)[:, None]
    else:
        labels, values = y.columns, _matrix(y, name)
    return labels, [_sorted_table(_times(y.index, name), values, labels, name)]


def split_frame(y: Any, labels: Sequence[Hashable], names: LongNames, name: str) -> tuple[Any, Any]:
    """Split a frame into one without columns of X, and one of these with the ids and times."""
    native = _narwhals(y)
    columns = list(y.columns if native is None else native.columns)
    for label in labels:
        if label not in columns or label in names:
            others = [str(column) for column in columns if column not in names]
            raise unknown_name("known or past", label, others)
    times = [names.id, names.time]
    if native is not None and names.time not in columns:
        times = [column for column, dtype in native.schema.items() if dtype.is_temporal()]
    times = [column for column in times if column in columns and column not in labels]
    targets = [column for column in columns if column not in (*labels, *times)]
    if names.target in targets and len(targets) > 1:
        extra = next(column for column in targets if column != names.target)
        wanted = ", ".join(map(repr, [*times, names.target, *labels]))
        raise bad_argument(name, Words(f"a column {extra!r}"), f"only {wanted}", OTHERS)
    parts = [*times, *targets], [*times, *labels]
    if native is None:
        return y[parts[0]], y[parts[1]]
    return native.select(parts[0]).to_native(), native.select(parts[1]).to_native()


def has_columns(y: Any, labels: Sequence[Hashable]) -> bool:
    """Return True for a frame with these columns."""
    native = _narwhals(y)
    columns = native.columns if native is not None else getattr(y, "columns", ())
    return len(columns) > 0 and all(label in columns for label in labels)


def _narwhals(y: Any) -> Any:
    """Return a frame of a library other than pandas as a narwhals frame, otherwise None."""
    return to_narwhals(y, "y") if not isinstance(y, np.ndarray) and is_table(y) else None


def read_X(
    X: Any,
    form: PanelFormat,
    name: str,
    times: Sequence[Any],
    labels: Sequence[Hashable] = (),
    categories: dict[Hashable, tuple[str, ...]] | None = None,
    learn: bool = False,
) -> dict[Hashable, Table]:
    """Return the tables of X by series, or under None if all series share one.

    ``times`` are those of the rows of arrays, one per series. ``labels`` are those of the columns
    of arrays, by default "x0", "x1", …. Columns of ``categories`` have one column of 0 and 1 for
    each category; with ``learn``, all columns of text or categories are added to these.
    """
    if form.is_array:
        if form.shared:
            return {None: _array_table(X, times[0], name, labels)}
        if not isinstance(X, (list, tuple)) or len(X) != len(times):
            raise bad_argument(name, Words(type(X).__name__), f"a list of {len(times)} arrays")
        tables = (_array_table(x, times[i], f"{name}[{i}]", labels) for i, x in enumerate(X))
        return dict(enumerate(tables))
    X, native = to_pandas(X, name)
    if not hasattr(X, "iloc"):
        raise bad_argument(name, Words(type(X).__name__), "a DataFrame with the times of y")
    if not len(X):
        raise bad_argument(name, Words("0 rows"), "a row for each row of y")
    if X.ndim == 1:
        X = X.to_frame("x0" if X.name is None else X.name)
    _check_unique(X.columns, name)
    names, is_long = form.names, form.kind == "long"
    if is_long and names.time not in X.columns:
        raise bad_argument(name, Words(f"no column {names.time!r}"), "a column of times")
    X = X if is_long else _with_index(X, native, names.time, name)
    beside = (names.id, names.time) if is_long else ()
    X = _encoded(X, beside, name, categories, learn)
    labels = [column for column in X.columns if column not in beside]
    if not labels:
        raise bad_argument(name, Words("no columns"), "at least one column besides the times")
    if is_long and names.id in X.columns:
        return _long_tables(X, labels, names, name, flags=True)[1]
    values = _matrix(X[labels], name, flags=True)
    stamps = _times(X[names.time] if is_long else X.index, name)
    return {None: _sorted_table(stamps, values, labels, name)}


# Arrays -------------------------------------------------------------------------------------------


def _array_columns(y: Any, name: str) -> tuple[str, list[Any]]:
    """Return the kind of arrays and their columns (T,)."""
    is_list = isinstance(y, (list, tuple))
    if is_list and any(hasattr(x, "__len__") and not isinstance(x, (str, bytes)) for x in y):
        for i, x in enumerate(y):
            if isinstance(x, (list, tuple)) or np.ndim(_plain(x, f"{name}[{i}]")) != 1:
                got = Words(f"{type(x).__name__} {getattr(x, 'shape', '')}".rstrip())
                raise bad_argument(f"{name}[{i}]", got, "an array (T,)")
        return "list", [_plain(x, name) for x in y]
    array = _plain(y, name)
    if array.ndim not in (1, 2) or 0 in array.shape:
        got = Words(f"shape {array.shape}" if array.ndim else type(y).__name__)
        raise bad_argument(name, got, f"{WANTED}, with at least one row")
    return ("single", [array]) if array.ndim == 1 else ("columns", list(array.T))


def _plain(x: Any, name: str) -> Any:
    """Return an array, masked or not."""
    is_array = isinstance(x, np.ndarray)
    if not is_array and (hasattr(x, "toarray") or hasattr(x, "iloc") or is_table(x)):
        raise bad_argument(name, Words(type(x).__name__), "a dense array")
    return x if isinstance(x, np.ma.MaskedArray) else as_array(x, name, WANTED)


def _array_table(x: Any, times: Any, name: str, labels: Sequence[Hashable]) -> Table:
    """Return the table of an array (T, k) or (T,) of X."""
    array = _plain(x, name)
    array = array.reshape(-1, 1) if array.ndim == 1 else array
    width = array.shape[1] if array.ndim == 2 else 0
    if not width or width != (len(labels) or width) or len(array) != len(times):
        wanted = f"an array ({len(times)}, {len(labels) or 'k ≥ 1'})"
        raise bad_argument(name, Words(f"shape {np.shape(x)}"), wanted)
    values = _stacked(array.T, range(width), name, flags=True)
    return Table(times, values, labels or [f"x{i}" for i in range(width)])


def _array_tables(
    kind: str, items: Sequence[Any], name: str, starts: Sequence[int]
) -> tuple[Any, list[Table]]:
    labels: tuple[Hashable, ...] = (None,) if kind == "single" else tuple(range(len(items)))
    times = [np.arange(start, start + len(x)) for x, start in zip(items, starts, strict=True)]
    if kind != "list":
        return labels, [Table(times[0], _stacked(items, labels, name), labels)]
    return labels, [
        Table(rows, as_floats(x, f"{name}[{i}]")[:, None], [i])
        for i, (x, rows) in enumerate(zip(items, times, strict=True))
    ]


def _stacked(items: Any, labels: Sequence[Hashable], name: str, flags: bool = False) -> Array:
    """Return columns (T,) as one array (T, c)."""
    columns = [as_floats(x, name, label, flags) for x, label in zip(items, labels, strict=True)]
    return np.stack(columns, axis=1)


# Frames -------------------------------------------------------------------------------------------


def _with_index(frame: Any, native: Any, time: Hashable, name: str) -> Any:
    """Return a wide frame with its times as index; frames of pandas already have it."""
    if native is None:
        return frame
    dates = [label for label in frame.columns if is_date(frame[label])]
    if time not in frame.columns and len(dates) != 1:
        got = Words(f"a frame with {len(dates)} columns of dates")
        raise bad_argument(name, got, "exactly one, or the column named by Forecaster(time=)")
    return frame.set_index(time if time in frame.columns else dates[0])


def _encoded(
    frame: Any,
    beside: Sequence[Hashable],
    name: str,
    categories: dict[Hashable, tuple[str, ...]] | None,
    learn: bool,
) -> Any:
    """Return a frame with a column "label=category" of 0 and 1 for each category of a column."""
    if categories is None:
        return frame
    import pandas

    columns: dict[Hashable, Any] = {}
    for label in frame.columns:
        column = frame[label]
        if label in beside or not (label in categories or (learn and _is_text(column))):
            columns[label] = column
            continue
        missing = column.isna().to_numpy()
        values = column.astype(object).map(str).to_numpy(object)
        observed = sorted(set(values[~missing]))
        if learn:
            categories[label] = tuple(observed)
        most = min(MOST_CATEGORIES, max(len(values) // 2, FEW_CATEGORIES))
        if learn and len(observed) > most:
            got = Words(f"{len(observed)} categories in column {label!r}")
            raise bad_argument(name, got, f"at most {most}", TEXT)
        for value in observed:
            if value not in categories[label]:
                got = Words(f"a new category {value!r} in column {label!r}")
                raise bad_argument(name, got, f"those of fit: {', '.join(categories[label])}")
        for value in categories[label]:
            encoded = f"{label}={value}"
            if encoded in frame.columns:
                got = Words(f"a column {encoded!r} beside a category {value!r} of column {label!r}")
                raise bad_argument(name, got, "different names", "Rename the first column.")
            columns[encoded] = np.where(missing, np.nan, values == value)
    return pandas.DataFrame(columns, frame.index)


def _is_text(column: Any) -> bool:
    """Return True for a column of categories or text."""
    if column.dtype.kind == "O" and str(column.dtype) == "object":
        return any(isinstance(value, str) for value in column)
    return str(column.dtype).partition("[")[0] in ("category", "string", "str")


def _times(column: Any, name: str) -> Any:
    """Return an index or column as a DatetimeIndex, a PeriodIndex, or an array of numbers."""
    import pandas

    index = column if hasattr(column, "nlevels") else pandas.Index(column)
    if index.nlevels > 1:
        raise bad_argument(name, Words("a MultiIndex"), f"one index of {TIMES}")
    if index.dtype.kind in "iuf":
        times = index.to_numpy(dtype=np.float64, na_value=np.nan)
        _check_complete(~np.isfinite(times), name, "time")
        if (np.abs(times) > FARTHEST).any():
            got = Words(f"times up to {np.abs(times).max():.6g}")
            raise bad_argument(name, got, f"numbers up to {FARTHEST:.3g}")
        return times if index.dtype.kind == "f" else index.to_numpy(dtype=np.int64)
    if index.dtype.kind == "O" and not is_period(index):
        index = _parsed(index, name)
    if is_date(index):
        index = with_room(pandas.DatetimeIndex(index))  # also converts dates of PyArrow
    elif not is_period(index):
        raise bad_argument(name, Words(f"times of dtype {index.dtype}"), TIMES)
    _check_complete(np.asarray(index.isna()), name, "time")
    return index.rename(None)


def _parsed(index: Any, name: str) -> Any:
    """Return dates that are given as text or as objects."""
    import pandas

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about formats that pandas has to guess
        try:
            dates = pandas.DatetimeIndex(pandas.to_datetime(index))
        except (ValueError, TypeError, OverflowError) as error:
            dates = pandas.to_datetime(index, errors="coerce", utc=True)
            row = int(np.argmax(dates.isna() & ~index.isna()))
            got = Words(f"times such as {str(index[row])[:40]!r} in row {row}")
            remedy = "Convert them with pandas.to_datetime, with format=, dayfirst= or utc=."
            raise bad_argument(name, got, TIMES, remedy) from error
        for order in () if str(index[0])[:4].isdigit() else ("dayfirst", "yearfirst"):
            other = pandas.to_datetime(index, errors="coerce", **{order: True})
            if other.notna().all() and (other != dates).any():
                got = Words(f"times such as {index[np.argmax(other != dates)]!r}")
                remedy = f"Convert them with pandas.to_datetime, with format= or {order}=."
                raise bad_argument(name, got, "unambiguous dates", remedy)
    return dates


def _sorted_table(
    times: Any, values: Array, labels: Sequence[Hashable], name: str, series: Any = None
) -> Table:
    """Return rows sorted by time; times must be unique."""
    numbers = as_numbers(times)
    order = np.argsort(numbers, kind="stable")
    twice = np.flatnonzero(np.diff(numbers[order]) == 0)
    if twice.size:
        got = Words(f"{shown(times[order[twice[:1]]])} twice{in_series(series)}")
        remedy = "Aggregate the rows of one time; local times may need a time zone."
        raise bad_argument(name, got, "unique times", remedy)
    return Table(times[order], values[order], labels)


def _long_tables(
    frame: Any, labels: Sequence[Hashable], names: LongNames, name: str, flags: bool = False
) -> tuple[Any, dict[Hashable, Table]]:
    """Return the sorted ids of a long frame, and the table of each."""
    import pandas

    values, times = _matrix(frame[list(labels)], name, flags), _times(frame[names.time], name)
    codes, unique = pandas.factorize(frame[names.id], sort=True)
    _check_complete(codes < 0, name, repr(names.id))
    order = np.argsort(codes, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    ids = pandas.Index(unique)
    return ids, {
        label: _sorted_table(times[rows], values[rows], labels, name, label)
        for label, rows in zip(ids, parts, strict=True)
    }


def _matrix(frame: Any, name: str, flags: bool = False) -> Array:
    """Return the columns of a frame as numbers (n, c)."""
    columns = (frame.iloc[:, i] for i in range(frame.shape[1]))
    return _stacked(columns, frame.columns, name, flags)


def _check_names(names: LongNames) -> None:
    """Raise unless the names of columns are unique and differ from those of results."""
    for argument, label in names._asdict().items():
        if not isinstance(label, Hashable) or (argument != "target" and label in RESULTS):
            others = ", ".join(RESULTS)
            raise bad_argument(argument, label, f"the name of a column, not one of {others}")
    if len(set(names)) < len(names) and any(names):  # empty names: no frame is a long one
        raise bad_argument("time", names.time, "a column other than id and target")


def _check_unique(columns: Any, name: str) -> None:
    if not columns.is_unique:
        twice = columns[columns.duplicated()][0]
        raise bad_argument(name, Words(f"two columns {twice!r}"), "columns with unique names")


def _check_complete(missing: Array, name: str, what: str) -> None:
    if missing.any():
        row = int(np.argmax(missing))
        raise bad_argument(name, Words(f"no {what} in row {row}"), f"a {what} in each row")


# Numbers ------------------------------------------------------------------------------------------


def as_floats(column: Any, name: str, label: Any = None, flags: bool = False) -> Array:
    """Return a column (T,) as a new float64 array, NaN for missing values.

    Nullable types, masked arrays and objects that are numbers are converted. Text, dates, complex
    numbers, infinity and numbers above ``LARGEST_NUMBER`` raise an error.

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
        else:
            values = np.ma.filled(column.astype(np.float64), np.nan)
    large = np.abs(values) > LARGEST_NUMBER
    if large.any():
        row = int(np.argmax(large))
        if np.isinf(values[row]):
            remedy = "Use NaN for missing observations."
            raise not_finite(name, float(values[row]), place(row, label), "float64", remedy)
        got = Words(f"{values[row]:.6g} {place(row, label)}")
        raise bad_argument(name, got, f"numbers up to {LARGEST_NUMBER:g}", "Rescale the data.")
    return values


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
