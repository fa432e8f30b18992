"""Conversion of arrays, lists and DataFrames to tables of numbers with times."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from eigenecho.checks import LARGEST_NUMBER, as_array
from eigenecho.data.clock import as_numbers, is_date, is_period, shown, with_room
from eigenecho.errors import (
    ENCODE,
    Words,
    bad_argument,
    counted,
    not_finite,
    object_of,
    place,
    unknown_name,
)
from eigenecho.frames import FrameFormat, is_table, to_narwhals, to_pandas
from eigenecho.tables import floats
from eigenecho.types import Array

ARRAYS = {"single": "an array (T,)", "columns": "an array (T, D)", "list": "a list of arrays (T,)"}
FRAMES = {"series": "a Series", "wide": "a wide DataFrame", "long": "a long DataFrame"}
KINDS = ARRAYS | FRAMES
"""Descriptions of the supported formats."""
WANTED = "an array (T,) or (T, D), a list of arrays (T,), a Series or a DataFrame"
TIMES = "dates, periods or numbers"
RESULTS = ("forecast", "lower", "upper", "cutoff")
"""Columns of results in long frames, besides ids and times."""
FARTHEST = 2.0**62
"""Largest number that is accepted as a time. The largest 64-bit integer is 2⁶³ − 1."""

OTHERS = "List exogenous variables in known= or past=, or pass them as X. Drop all other columns."
"""The remedy for a column of a frame that is not a target."""

TEXT = (
    "Convert it to numbers, drop it, or make it the index if it contains the times. For a long "
    "frame, set id= and time= to the names of its columns."
)
"""The remedy for a column of a frame that does not contain numbers."""

MOST_CATEGORIES = 100
"""Maximum number of categories in a column. For short frames, it is half the number of rows or
``FEW_CATEGORIES``: columns with more values are probably ids, or dates or numbers as text."""
FEW_CATEGORIES = 10


def in_series(label: Hashable | None) -> str:
    """Return words that name a series in an error message, or "" if there is only one series."""
    return "" if label is None else f" in series {label!r}"


class LongNames(NamedTuple):
    """Column names of a long frame."""

    id: Hashable = "unique_id"
    time: Hashable = "ds"
    target: Hashable = "y"


@dataclass(eq=False)
class TimeTable:
    """Sorted unique times (n,), the values of c columns (n, c), and the labels of the columns."""

    times: Any
    values: Array
    labels: Sequence[Hashable]


class PanelFormat(NamedTuple):
    """The format in which y was given.

    Attributes
    ----------
    kind : {"single", "columns", "list", "series", "wide", "long"}
        Array (T,), array (T, D), list of arrays, Series, wide frame or long frame.
    names : LongNames
    index_name : Hashable
        Name of the index of a Series or wide frame.
    is_range : bool
        True for arrays, and if the index of a Series or wide frame is a RangeIndex.
    frame : FrameFormat or None
        The library of the frame, or None for pandas.
    """

    kind: Annotated[str, tuple(KINDS)]
    names: LongNames
    index_name: Hashable = None
    is_range: bool = False
    frame: FrameFormat | None = None

    @property
    def is_array(self) -> bool:
        """True for arrays and lists of arrays."""
        return self.kind in ARRAYS

    @property
    def shared(self) -> bool:
        """True if all series have the same rows."""
        return self.kind not in ("list", "long")


def identify(y: Any, names: LongNames, name: str) -> tuple[PanelFormat, Any]:
    """Return the format of y, and its data as a pandas object or, for arrays, a list of columns."""
    y, native = to_pandas(y, name)
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
            got = Words(f"a DataFrame with only some of the columns {listed}")
            wanted = "a long frame with all of them, or a wide frame with the times as index"
            remedy = "Pass the column names of a long frame to Forecaster(id=, time=, target=)."
            raise bad_argument(name, got, wanted, remedy)
        y = _with_index(y, native, names.time, name)
        if not y.shape[1]:
            raise bad_argument(name, Words("0 columns"), "one column per series")
    is_range = hasattr(y.index, "start") and hasattr(y.index, "stop")
    kind, frame = "series" if y.ndim == 1 else "wide", FrameFormat.of(native, None, y.index.name)
    return PanelFormat(kind, names, y.index.name, is_range, frame), y


def read_y(
    form: PanelFormat, y: Any, name: str, starts: Sequence[int] | None = None
) -> tuple[Any, list[TimeTable]]:
    """Return the labels of the series, and their tables.

    Series with the same rows share a table. The times of arrays are row numbers, which start at 0
    or at ``starts``.
    """
    if form.is_array:
        return _array_tables(form.kind, y, name, starts or [0] * len(y))
    if form.kind == "long":
        extra = [column for column in y.columns if column not in form.names]
        if extra:
            got = Words(f"an unexpected column {extra[0]!r}")
            expected = f"only the columns {', '.join(map(repr, form.names))}"
            raise bad_argument(name, got, expected, OTHERS)
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
    """Split a frame into the targets and the columns of X, both with the ids and times."""
    native = to_narwhals(y, name)
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
        if native is None:
            _check_unique(y.columns, name)
        extra = next(column for column in targets if column != names.target)
        wanted = f"only the columns {', '.join(map(repr, [*times, names.target, *labels]))}"
        raise bad_argument(name, Words(f"an unexpected column {extra!r}"), wanted, OTHERS)
    parts = [*times, *targets], [*times, *labels]
    if native is None:
        return y[parts[0]], y[parts[1]]
    return native.select(parts[0]).to_native(), native.select(parts[1]).to_native()


def has_columns(y: Any, labels: Sequence[Hashable]) -> bool:
    """Return True if a value is a frame with these columns."""
    native = to_narwhals(y, "y")
    columns = native.columns if native is not None else getattr(y, "columns", ())
    return len(columns) > 0 and all(label in columns for label in labels)


def read_X(
    X: Any,
    form: PanelFormat,
    name: str,
    times: Sequence[Any],
    labels: Sequence[Hashable] = (),
    categories: dict[Hashable, tuple[str, ...]] | None = None,
    learn: bool = False,
) -> dict[Hashable, TimeTable]:
    """Return the tables of X by series; the key None stands for all series.

    Parameters
    ----------
    times : sequence of arrays
        Times of the rows of each series, for arrays.
    labels : sequence of Hashable
        Column labels of arrays, by default "x0", "x1", ….
    categories : dict
        Categories of the columns that are encoded, as one column of 0 and 1 per category.
    learn : bool
        Add all columns of text or categories to ``categories``.
    """
    if form.is_array:
        if form.shared:
            return {None: _array_table(X, times[0], name, labels)}
        if not isinstance(X, (list, tuple)) or len(X) != len(times):
            got = Words(counted(len(X), "item") if isinstance(X, (list, tuple)) else object_of(X))
            expected = f"a list of {counted(len(times), 'array')}, one for each series"
            raise bad_argument(name, got, expected)
        tables = (_array_table(x, times[i], f"{name}[{i}]", labels) for i, x in enumerate(X))
        return dict(enumerate(tables))
    X, native = to_pandas(X, name)
    if not hasattr(X, "iloc"):
        raise bad_argument(name, Words(object_of(X)), "a DataFrame with the times of y")
    if not len(X):
        raise bad_argument(name, Words("0 rows"), "a row for each row of y")
    if X.ndim == 1:
        X = X.to_frame("x0" if X.name is None else X.name)
    _check_unique(X.columns, name)
    names, is_long = form.names, form.kind == "long"
    if is_long and names.time not in X.columns:
        raise bad_argument(name, Words(f"no column {names.time!r}"), "a column with the times")
    X = X if is_long else _with_index(X, native, names.time, name)
    beside = (names.id, names.time) if is_long else ()
    X = _encoded(X, beside, name, categories, learn)
    labels = [column for column in X.columns if column not in beside]
    if not labels:
        raise bad_argument(name, Words("only times"), "at least one other column")
    if is_long and names.id in X.columns:
        return _long_tables(X, labels, names, name, flags=True)[1]
    values = _matrix(X[labels], name, flags=True)
    stamps = _times(X[names.time] if is_long else X.index, name)
    return {None: _sorted_table(stamps, values, labels, name)}


# Arrays -------------------------------------------------------------------------------------------


def _array_columns(y: Any, name: str) -> tuple[str, list[Any]]:
    """Return the kind of format, and the columns (T,) of an array or a list of arrays."""
    is_list = isinstance(y, (list, tuple))
    if is_list and any(hasattr(x, "__len__") and not isinstance(x, (str, bytes)) for x in y):
        for i, x in enumerate(y):
            if isinstance(x, (list, tuple)) or np.ndim(_plain(x, f"{name}[{i}]")) != 1:
                got = Words(f"shape {x.shape}" if hasattr(x, "shape") else object_of(x))
                raise bad_argument(f"{name}[{i}]", got, "an array (T,)")
        return "list", [_plain(x, name) for x in y]
    array = _plain(y, name)
    if array.ndim not in (1, 2) or 0 in array.shape:
        got = Words(f"shape {array.shape}" if array.ndim else object_of(y))
        raise bad_argument(name, got, f"{WANTED}, with at least one row")
    return ("single", [array]) if array.ndim == 1 else ("columns", list(array.T))


def _plain(x: Any, name: str) -> Any:
    """Return a dense array, which may be masked."""
    if hasattr(x, "toarray") or hasattr(x, "iloc") or is_table(x):
        raise bad_argument(name, Words(object_of(x)), "a dense array")
    return x if isinstance(x, np.ma.MaskedArray) else as_array(x, name, WANTED)


def _array_table(x: Any, times: Any, name: str, labels: Sequence[Hashable]) -> TimeTable:
    """Convert an array (T,) or (T, k) of X to a table."""
    array = _plain(x, name)
    array = array.reshape(-1, 1) if array.ndim == 1 else array
    width = array.shape[1] if array.ndim == 2 else 0
    if not width or width != (len(labels) or width) or len(array) != len(times):
        wanted = f"shape ({len(times)}, {len(labels) or 'k'}), with one row for each row of y"
        raise bad_argument(name, Words(f"shape {np.shape(x)}"), wanted)
    values = _stacked(array.T, range(width), name, flags=True)
    return TimeTable(times, values, labels or [f"x{i}" for i in range(width)])


def _array_tables(
    kind: str, items: Sequence[Any], name: str, starts: Sequence[int]
) -> tuple[Any, list[TimeTable]]:
    labels: tuple[Hashable, ...] = (None,) if kind == "single" else tuple(range(len(items)))
    times = [np.arange(start, start + len(x)) for x, start in zip(items, starts, strict=True)]
    if kind != "list":
        return labels, [TimeTable(times[0], _stacked(items, labels, name), labels)]
    return labels, [
        TimeTable(rows, as_floats(x, f"{name}[{i}]")[:, None], [i])
        for i, (x, rows) in enumerate(zip(items, times, strict=True))
    ]


def _stacked(items: Any, labels: Sequence[Hashable], name: str, flags: bool = False) -> Array:
    """Combine columns (T,) into one array (T, c) of floats."""
    columns = [as_floats(x, name, label, flags) for x, label in zip(items, labels, strict=True)]
    return np.stack(columns, axis=1)


# Frames -------------------------------------------------------------------------------------------


def _with_index(frame: Any, native: Any, time: Hashable, name: str) -> Any:
    """Return a wide frame with the times as index. Frames of pandas are unchanged."""
    if native is None:
        return frame
    dates = [label for label in frame.columns if is_date(frame[label])]
    if time not in frame.columns and len(dates) != 1:
        got = Words(f"a frame with {len(dates)} columns of dates")
        remedy = "Pass the name of the time column to Forecaster(time=)."
        raise bad_argument(name, got, "exactly one column of dates", remedy)
    return frame.set_index(time if time in frame.columns else dates[0])


def _encoded(
    frame: Any,
    beside: Sequence[Hashable],
    name: str,
    categories: dict[Hashable, tuple[str, ...]] | None,
    learn: bool,
) -> Any:
    """Encode categories as columns of 0 and 1, which are named "label=category"."""
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
            raise bad_argument(name, got, f"at most {most} categories", TEXT)
        for value in observed:
            if value not in categories[label]:
                got = Words(f"a new category {value!r} in column {label!r}")
                expected = f"categories that were passed to fit(): {', '.join(categories[label])}"
                raise bad_argument(name, got, expected)
        for value in categories[label]:
            encoded = f"{label}={value}"
            if encoded in frame.columns:
                got = Words(f"a column {encoded!r} and a column {label!r} with category {value!r}")
                raise bad_argument(name, got, "distinct names", "Rename the first column.")
            columns[encoded] = np.where(missing, np.nan, values == value)
    return pandas.DataFrame(columns, frame.index)


def _is_text(column: Any) -> bool:
    """Return True if a column contains text or categories."""
    if column.dtype.kind == "O" and str(column.dtype) == "object":
        return any(isinstance(value, str) for value in column)
    return str(column.dtype).partition("[")[0] in ("category", "string", "str")


def _times(column: Any, name: str) -> Any:
    """Convert an index or column to a DatetimeIndex, a PeriodIndex or an array of numbers."""
    import pandas

    index = column if hasattr(column, "nlevels") else pandas.Index(column)
    if index.nlevels > 1:
        raise bad_argument(name, Words("a MultiIndex"), f"an index of {TIMES}")
    if index.dtype.kind in "iuf":
        times = index.to_numpy(dtype=np.float64, na_value=np.nan)
        _check_complete(~np.isfinite(times), name, "time")
        if (np.abs(times) > FARTHEST).any():
            got = Words(f"times up to {np.abs(times).max():.6g}")
            raise bad_argument(name, got, f"times up to {FARTHEST:.3g}")
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
    """Parse dates that are given as text or as objects."""
    import pandas

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas warns if it has to guess the format
        try:
            dates = pandas.DatetimeIndex(pandas.to_datetime(index))
        except (ValueError, TypeError, OverflowError) as error:
            dates = pandas.to_datetime(index, errors="coerce", utc=True)
            row = int(np.argmax(dates.isna() & ~index.isna()))
            got = Words(f"{str(index[row])[:40]!r} as the time of row {row}")
            remedy = "Convert the times with pandas.to_datetime and format=, dayfirst= or utc=."
            raise bad_argument(name, got, TIMES, remedy) from error
        for order in () if str(index[0])[:4].isdigit() else ("dayfirst", "yearfirst"):
            other = pandas.to_datetime(index, errors="coerce", **{order: True})
            if other.notna().all() and (other != dates).any():
                got = Words(f"times such as {index[np.argmax(other != dates)]!r}")
                remedy = f"Convert the times with pandas.to_datetime and format= or {order}=."
                raise bad_argument(name, got, "unambiguous dates", remedy)
    return dates


def _sorted_table(
    times: Any, values: Array, labels: Sequence[Hashable], name: str, series: Any = None
) -> TimeTable:
    """Return a table sorted by time; raise an error if times are repeated."""
    numbers = as_numbers(times)
    order = np.argsort(numbers, kind="stable")
    twice = np.flatnonzero(np.diff(numbers[order]) == 0)
    if twice.size:
        got = Words(f"several rows at {shown(times[order[twice[:1]]])}{in_series(series)}")
        remedy = "Aggregate rows with equal times. For local times, set the time zone."
        raise bad_argument(name, got, "unique times", remedy)
    return TimeTable(times[order], values[order], labels)


def _long_tables(
    frame: Any, labels: Sequence[Hashable], names: LongNames, name: str, flags: bool = False
) -> tuple[Any, dict[Hashable, TimeTable]]:
    """Return the sorted ids of a long frame, and the table of each series."""
    import pandas

    values, times = _matrix(frame[list(labels)], name, flags), _times(frame[names.time], name)
    try:
        codes, unique = pandas.factorize(frame[names.id], sort=True)
    except TypeError as error:  # unhashable values, or values that cannot be sorted
        got = Words(f"column {names.id!r}, because {error}")
        raise bad_argument(name, got, "ids that are text or numbers") from error
    _check_complete(codes < 0, name, repr(names.id))
    order = np.argsort(codes, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    ids = pandas.Index(unique)
    return ids, {
        label: _sorted_table(times[rows], values[rows], labels, name, label)
        for label, rows in zip(ids, parts, strict=True)
    }


def _matrix(frame: Any, name: str, flags: bool = False) -> Array:
    """Convert the columns of a frame to an array (n, c) of floats."""
    columns = (frame.iloc[:, i] for i in range(frame.shape[1]))
    return _stacked(columns, frame.columns, name, flags)


def _check_names(names: LongNames) -> None:
    """Raise an error unless the column names are unique and differ from those of results."""
    for argument, label in names._asdict().items():
        if not isinstance(label, Hashable) or (argument != "target" and label in RESULTS):
            others = ", ".join(RESULTS)
            raise bad_argument(argument, label, f"a column name other than {others}")
    if len(set(names)) < len(names) and any(names):  # with empty names, no frame is long
        raise bad_argument("time", names.time, "different names for id, time and target")


def _check_unique(columns: Any, name: str) -> None:
    if not columns.is_unique:
        twice = columns[columns.duplicated()][0]
        raise bad_argument(name, Words(f"two columns named {twice!r}"), "unique column names")


def _check_complete(missing: Array, name: str, what: str) -> None:
    if missing.any():
        row = int(np.argmax(missing))
        raise bad_argument(name, Words(f"no {what} in row {row}"), f"a {what} in each row")


# Numbers ------------------------------------------------------------------------------------------


def as_floats(column: Any, name: str, label: Any = None, flags: bool = False) -> Array:
    """Convert a column (T,) to a new float64 array, with NaN for missing values.

    Text, infinity and numbers above ``LARGEST_NUMBER`` raise an error, and so do Boolean values
    without ``flags``.
    """
    remedy = TEXT if hasattr(column, "iloc") else ENCODE
    values = floats(column, name, label, flags=flags, remedy=remedy)
    large = np.abs(values) > LARGEST_NUMBER
    if large.any():
        row = int(np.argmax(large))
        if np.isinf(values[row]):
            remedy = "Use NaN for missing observations."
            raise not_finite(name, float(values[row]), place(row, label), "float64", remedy)
        got = Words(f"{values[row]:.6g} {place(row, label)}")
        raise bad_argument(name, got, f"numbers up to {LARGEST_NUMBER:g}", "Rescale the data.")
    return values
