"""Alignment of series, and of the columns of X, with grids of regular times."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.checks import check_floats
from eigenecho.data import clock as clocks
from eigenecho.data.clock import Clock, as_numbers, is_date, is_period, joined, positions, shown
from eigenecho.data.read import TimeTable, in_series
from eigenecho.errors import Words, bad_argument, counted, unknown_name
from eigenecho.types import Array

RESAMPLE = "Resample the data to a regular step, or pass arrays, whose rows are consecutive steps."
LOOSE = 1000
"""Maximum number of grid steps per row. Series with more missing rows are rejected."""
SMALLEST = 1e-150
"""Smallest non-zero range of a series. Squares of smaller numbers underflow."""


@dataclass(frozen=True, eq=False)
class History:
    """A series on a grid of regular times.

    Attributes
    ----------
    name : Hashable or None
        The id or column name of a series in a frame, or its position in a list or array. None for
        a single array.
    values : array (T,), float64
        NaN is a missing observation. The first and last values may be missing as well.
    clock : Clock
        The times of the rows. The times of arrays are row numbers.
    known : array (T + m, k)
        Columns of X that are known in advance: T rows for ``values``, and m rows after them. All
        values are finite.
    past : array (T, p)
        Columns of X that are known only up to the forecast origin. Missing values are filled
        forward, and are NaN before the first observation.
    """

    name: Hashable | None
    values: Array
    clock: Clock
    known: Array
    past: Array

    def __len__(self) -> int:
        return len(self.values)

    def check(self, columns: Columns, is_array: bool) -> None:
        """Raise an error if a file contains an inconsistent history."""
        rows = len(self)
        check_floats(self.values, "series", None)
        if np.isnan(self.values).all():
            raise bad_argument("series", Words("only NaN"), "at least one observation")
        if is_array and self.clock.times[-1] + 1 != rows:
            raise bad_argument("times", Words("times that are not row numbers"), "row numbers")
        check_floats(self.known, "known", None, len(columns.known))
        check_floats(self.past, "past", rows, len(columns.past))
        if len(self.known) < rows:
            raise bad_argument("known", Words(f"{len(self.known)} rows"), f"at least {rows}")

    @property
    def start(self) -> int:
        """The number of rows before the first observation."""
        return int(np.argmax(~np.isnan(self.values)))

    @property
    def ahead(self) -> Array:
        """The rows (m, k) of the columns known in advance that follow the last row of y."""
        return self.known[len(self) :]

    @property
    def times(self) -> Any:
        """The times of all rows."""
        return self.clock.last(len(self))

    def row_of(self, time: Any) -> int | None:
        """Return the number of the row at a time that pandas can parse, or None."""
        times = self.times
        if isinstance(times, np.ndarray):
            return None
        import pandas

        try:
            if is_period(times):
                return int(times.get_loc(pandas.Period(time, freq=times.freq)))
            time = pandas.Timestamp(time)
            return int(times.get_loc(time.tz_localize(times.tz) if time.tz is None else time))
        except (KeyError, ValueError, TypeError):
            return None

    def until(self, stop: int) -> History:
        """Return the history before row ``stop``; columns known in advance keep all rows."""
        clock = Clock(self.times[:stop], self.clock.step)
        return History(self.name, self.values[:stop], clock, self.known, self.past[:stop])

    def then(self, after: History) -> History:
        """Return the history followed by the rows of another history.

        If ``after`` has rows of X beyond its end, they replace the rows beyond the end of this
        history.
        """
        clock = Clock(joined([self.clock.times, after.clock.times]), self.clock.step)
        values = np.concatenate([self.values, after.values])
        ahead = after.ahead if len(after.ahead) else self.ahead[len(after) :]
        known = np.vstack([self.known[: len(self)], after.known[: len(after)], ahead])
        past = np.vstack([self.past, filled_forward(after.past, self.past[-1])])
        return History(self.name, values, clock, known, past)


def filled_forward(values: Array, before: Array | None = None) -> Array:
    """Fill NaN in columns (T, p) with the last number before it, if there is one.

    ``before`` is the row that precedes ``values``.
    """
    first = np.full(values.shape[1], np.nan) if before is None else before
    whole = np.vstack([first, values])
    rows = np.where(np.isnan(whole), 0, np.arange(len(whole))[:, None])
    return np.take_along_axis(whole, np.maximum.accumulate(rows, axis=0), axis=0)[1:]


def as_labels(value: Any) -> list[Any]:
    """Return one label, several labels or None as a list of labels."""
    is_list = hasattr(value, "__iter__") and not isinstance(value, str)
    return list(value) if is_list else [] if value is None else [value]


# Columns of X -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Columns:
    """Labels of the columns of X, in the order used by the fit.

    Columns of arrays have the labels "x0", "x1", …. A column of categories is encoded by one
    column "source=value" for each category.

    Attributes
    ----------
    labels : tuple
        Labels of the columns after encoding.
    past : tuple
        Labels of the columns that are known only up to the forecast origin.
    sources, values : tuple
        Name of the categorical column, and category, of each encoded column.
    """

    labels: tuple[Hashable, ...] = ()
    past: tuple[Hashable, ...] = ()
    sources: tuple[Hashable, ...] = ()
    values: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        labels: Sequence[Hashable],
        past: Any,
        known: Any,
        numbered: bool,
        categories: Mapping[Hashable, Sequence[str]],
    ) -> Columns:
        """Return the columns of a fit.

        ``past`` lists the columns that are not known in advance. ``known`` is empty or lists all
        other columns. If the columns are ``numbered``, their numbers may be used as names.
        """
        pairs = [(label, value) for label, values in categories.items() for value in values]
        sources: dict[Any, Hashable] = {f"{label}={value}": label for label, value in pairs}
        own: dict[Any, list[Hashable]] = {}
        for number, label in enumerate(labels):
            own.setdefault(sources.get(label, label), []).append(label)
            if numbered:
                own[number] = [label]
        in_past, in_known = _find_labels("past", past, own), _find_labels("known", known, own)
        listed = in_past + in_known
        if len(set(listed)) < len(listed):
            raise bad_argument("past", past, "each column to be listed only once, in past or known")
        for label in labels if in_known else ():
            if label not in listed:
                expected = f"every column of X to be listed in known or past, but {label!r} is not"
                raise bad_argument("known", known, expected)
        columns, values = zip(*pairs, strict=True) if pairs else ((), ())
        return cls(tuple(labels), tuple(in_past), columns, values)

    @property
    def categories(self) -> dict[Hashable, tuple[str, ...]]:
        """Categories of each categorical column."""
        found: dict[Hashable, tuple[str, ...]] = {}
        for source, value in zip(self.sources, self.values, strict=True):
            found[source] = (*found.get(source, ()), value)
        return found

    @property
    def names(self) -> tuple[Hashable, ...]:
        """Names of the columns before encoding."""
        return tuple(dict.fromkeys(self._encoded.get(label, label) for label in self.labels))

    @property
    def _encoded(self) -> dict[Hashable, Hashable]:
        """Names of the categorical columns, by the labels of the encoded columns."""
        return {f"{s}={v}": s for s, v in zip(self.sources, self.values, strict=True)}

    def check(self) -> None:
        """Raise an error if a file contains inconsistent columns."""
        for labels in (self.labels, self.past):
            if len(set(labels)) < len(labels) or not set(labels) <= set(self.labels):
                raise bad_argument("columns", labels, "unique names of existing columns")
        if len(self._encoded) < len(self.sources) or not set(self._encoded) <= set(self.labels):
            raise bad_argument("sources", self.sources, "one label for each category")

    @property
    def known(self) -> tuple[Hashable, ...]:
        """Labels of the columns that are known in advance."""
        return tuple(label for label in self.labels if label not in self.past)

    def split(self, rows: Array) -> tuple[Array, Array]:
        """Split X (T, c) into known columns (T, k) and past columns (T, p)."""
        known, past = (
            [self.labels.index(label) for label in labels] for labels in (self.known, self.past)
        )
        return rows[:, known], rows[:, past]

    def check_complete(self, known: Array, name: str, times: Any, of: str) -> None:
        """Raise an error if columns (T, k) that are known in advance contain NaN."""
        empty = np.isnan(known)
        if empty.any():
            row, column = np.unravel_index(int(np.argmax(empty)), known.shape)
            got = Words(f"NaN in column {self.known[column]!r}{of} at {shown(times[row:])}")
            expected = "no missing values in columns that are known in advance"
            remedy = "Fill them, or list the column in past= if its future values are unknown."
            raise bad_argument(name, got, expected, remedy)

    def check_labels(self, labels: Sequence[Any], ignored: Sequence[Any], name: str) -> None:
        """Raise an error for missing columns, and for unexpected ones that are not ``ignored``."""
        for label in self.labels:
            if label not in labels:
                expected = f"the columns {', '.join(map(repr, self.labels))}"
                raise bad_argument(name, Words(f"no column {label!r}"), expected)
        for label in labels:
            if label not in self.labels and label not in ignored:
                got = Words(f"an unexpected column {label!r}")
                raise bad_argument(name, got, "only columns that were passed to fit()")


def _find_labels(argument: str, value: Any, own: Mapping[Any, list[Hashable]]) -> list[Hashable]:
    """Return the labels of the columns that an argument lists by name or number."""
    items = as_labels(value)
    if items and not own:
        raise bad_argument(argument, value, "None, because X is not given", "Pass columns as X.")
    for label in items:
        if not isinstance(label, Hashable) or isinstance(label, (bool, np.bool_, float)):
            raise bad_argument(argument, value, "column names of X, or column numbers of an array")
        if label not in own:
            raise unknown_name(argument, label, [str(x) for x in own if type(x) is not int])
    return [label for item in items for label in own[item]]


@dataclass(frozen=True, eq=False)
class Drivers:
    """Exogenous variables of each series.

    Attributes
    ----------
    tables : dict of TimeTable
        The rows of X by series. The key None stands for all series.
    columns : Columns
        The required columns.
    name : str
        The name of the argument in error messages.
    ignored : sequence of Hashable
        Labels of optional columns, which are not used.
    """

    tables: Mapping[Hashable, TimeTable]
    columns: Columns
    name: str
    ignored: Sequence[Hashable] = ()

    def __post_init__(self) -> None:
        for table in self.tables.values():
            self.columns.check_labels(table.labels, self.ignored, self.name)

    def beside(
        self, series: Hashable, clock: Clock, rows: Array, fill: bool
    ) -> tuple[Array, Array]:
        """Return the known columns up to the end of X, and the past columns up to the end of y."""
        length = len(clock.times)
        table, exists = self._on_grid(series, clock.times[:1], clock, length)
        times = joined([clock.times, clock.ahead(len(table) - length)])
        needed = np.append(rows, np.arange(length, len(table)))
        missing = needed[~exists[needed]]
        if missing.size:
            got = Words(f"no row at {shown(times[missing[0] :])}{self._of(series)}")
            expected = "a row for each row of y, and consecutive rows after the end of y"
            raise bad_argument(self.name, got, expected)
        # If neither y nor X has a row, the values of the previous row of X are used.
        table[~exists] = filled_forward(table)[~exists]
        known, past = self.columns.split(table)
        self.columns.check_complete(known, self.name, times, self._of(series))
        return known, filled_forward(past[:length]) if fill else past[:length]

    def after(self, series: Hashable, clock: Clock, horizon: int) -> Array:
        """Return the known columns (horizon, k) at the times after the end of a series."""
        times = clock.ahead(horizon)
        table, exists = (x[:horizon] for x in self._on_grid(series, times[:1], clock, horizon))
        if not exists.all():
            got = f"no row at {shown(times[int(np.argmin(exists)) :])}{self._of(series)}"
            wanted = f"{counted(horizon, 'row')} from {shown(times)} to {shown(times[-1:])}"
            raise bad_argument(self.name, Words(got), wanted)
        self.columns.check_complete(table, self.name, times, self._of(series))
        return table

    def _on_grid(
        self, series: Hashable, first: Any, clock: Clock, rows: int
    ) -> tuple[Array, Array]:
        """Return at least ``rows`` rows from time ``first`` on, and a mask of existing rows."""
        table = self.tables.get(None, self.tables.get(series))
        if table is None:
            got = Words(f"no rows for series {series!r}")
            raise bad_argument(self.name, got, "rows for every series")
        check_same_type(table.times, clock.times, self.name)
        if isinstance(table.times, np.ndarray):
            is_after = table.times > first[0] - clock.step / 2
        else:
            is_after = np.asarray(table.times >= first[0])
        times = table.times[is_after]
        at = positions(times, clock.step, first)
        if (at < 0).any():
            got = Words(f"a row at {shown(times[int(np.argmax(at < 0)) :])}{self._of(series)}")
            wanted = f"rows on the time grid of y, with steps of {clock.words} from {shown(first)}"
            raise bad_argument(self.name, got, wanted)
        size = max(rows, int(at.max(initial=-1)) + 1)
        columns = [table.labels.index(label) for label in self.columns.labels]
        values, exists = np.full((size, len(columns)), np.nan), np.zeros(size, bool)
        values[at] = table.values[is_after][:, columns]
        exists[at] = True
        return values, exists

    def _of(self, series: Hashable) -> str:
        """Return words that name the series in error messages, unless all series share X."""
        return in_series(None if None in self.tables else series)


# Series -------------------------------------------------------------------------------------------


def align(
    tables: Sequence[TimeTable],
    step: Any,
    drivers: Drivers | None,
    name: str,
    own_steps: Mapping[Hashable, Any] | None = None,
    whole: bool = True,
) -> tuple[History, ...]:
    """Place the series of tables on regular time grids, with NaN for missing rows.

    Parameters
    ----------
    step : pandas offset or number
        The step of all series except those in ``own_steps``.
    whole : bool
        True if the tables contain complete series, rather than rows that continue earlier ones.
        Complete series must have observations, and their past columns are filled forward.
    """
    histories: list[History] = []
    cache: dict[tuple[Any, ...], tuple[Clock, Array]] = {}
    for table in tables:
        label = table.labels[0] if len(tables) > 1 else None
        pace = (own_steps or {}).get(table.labels[0], step)
        # Series of a long frame often have the same times, which are then placed once.
        key = pace, as_numbers(table.times).tobytes()
        if key not in cache:
            cache[key] = _place(table.times, pace, name, label)
        clock, rows = cache[key]
        values = np.full((len(clock.times), table.values.shape[1]), np.nan)
        values[rows] = table.values
        known = past = np.zeros((len(clock.times), 0))
        if drivers is not None:
            known, past = drivers.beside(table.labels[0], clock, rows, whole)
        for series, column in zip(table.labels, values.T, strict=True):
            if whole:
                _check_observed(column, name, series)
            histories.append(History(series, np.ascontiguousarray(column), clock, known, past))
    return tuple(histories)


def detect_step(times: Any, name: str, label: Any = None) -> Any:
    """Return the step of sorted times; raise an error if they are not equally spaced."""
    of = in_series(label)
    if len(times) == 1:
        if is_date(times):
            got = Words(f"one date, {shown(times)}{of}")
            raise bad_argument(name, got, "at least two dates, or an index whose freq is set")
        return times.freq.n if is_period(times) else 1
    step = clocks.find_step(times)
    if step is None:
        common = clocks.usual_steps(times)[0]
        values = np.asarray(times) if is_date(times) else as_numbers(times)
        odd = int(np.argmax(np.diff(values) != common))
        words = Clock(times, clocks.tick(common) if is_date(times) else common).words
        got = Words(f"{shown(times[odd:])} followed by {shown(times[odd + 1 :])}{of}")
        raise bad_argument(name, got, f"equal steps (most are {words})", RESAMPLE)
    return step


def check_same_type(times: Any, like: Any, name: str) -> None:
    """Raise an error unless times have the same type, and dates the same time zone."""
    got, wanted = _type(times), _type(like)
    if got != wanted:
        raise bad_argument(name, Words(f"{got} as times"), f"{wanted}, as in y")


def _type(times: Any) -> str:
    if is_period(times):
        return f"periods of frequency {times.freqstr!r}"
    if not is_date(times):
        return "numbers"
    return "dates without a time zone" if times.tz is None else f"dates in time zone {times.tz}"


def _check_observed(values: Array, name: str, label: Any) -> None:
    """Raise an error if a series has no observations, or a tiny but positive range."""
    of = in_series(label)
    if np.isnan(values).all():
        got, remedy = Words(f"only missing values{of}"), "Remove the series."
        raise bad_argument(name, got, "at least one observation", remedy)
    spread = float(np.nanmax(values) - np.nanmin(values))
    if 0 < spread < SMALLEST:
        got = Words(f"a range of {spread:.3g}{of}")
        raise bad_argument(name, got, f"a range of at least {SMALLEST:g}", "Rescale the data.")


def _place(times: Any, step: Any, name: str, label: Any) -> tuple[Clock, Array]:
    """Return the clock that contains sorted times, and the positions of the times on it.

    If the times are not on the grid of ``step``, another step of the same length is tried, such as
    quarters that start in another month.
    """
    if not len(times):
        return Clock(times, step), np.zeros(0, np.int64)
    rows = positions(times, step)
    if (rows < 0).any():
        own = clocks.find_step(times) if len(times) > 1 else None
        if own is None or not clocks.same_pace(Clock(times, own), Clock(times, step)):
            got = Words(f"a row at {shown(times[int(np.argmax(rows < 0)) :])}{in_series(label)}")
            wanted = f"rows with a step of {Clock(times, step).words} from {shown(times)}"
            raise bad_argument(name, got, wanted, RESAMPLE)
        step, rows = own, positions(times, own)
    if rows[-1] >= LOOSE * (len(times) + 10):
        got = Words(f"only {len(times)} rows for {rows[-1] + 1} steps{in_series(label)}")
        raise bad_argument(name, got, f"rows with a step of {Clock(times, step).words}", RESAMPLE)

    return Clock(clocks.filled(times, rows, step), step), rows
