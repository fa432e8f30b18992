"""Time stamps: which column holds them, their regular step, and how they go on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenecho.forecasting.table import SHOWN, Table, TableError, need_pandas
from eigenecho.types import Array

NAMES = re.compile(r"^(date|time|datetime|timestamp|year|month|week|day|t|step|index|period)s?$")
"""Columns of numbers that count as time by their name, in small letters."""

OFFSETS = ("B", "MS", "ME", "QS", "QE", "YS", "YE")
"""Steps that are not a fixed length of time, tried after the fixed one; QS, YS in any month."""

UNEVEN = {
    "B": "1 business day", "MS": "1 month", "ME": "1 month", "QS": "1 quarter",
    "QE": "1 quarter", "YS": "1 year", "YE": "1 year",
}  # fmt: skip

DAY = 86400.0
UNITS = {"week": 7 * DAY, "day": DAY, "hour": 3600.0, "minute": 60.0, "second": 1.0}
CYCLES = {  # calendar cycles in seconds, and the longest step at which each still shows
    "day": (DAY, DAY / 4),
    "week": (7 * DAY, 1.5 * DAY),
    "year": (365.2425 * DAY, 100 * DAY),
}


@dataclass(frozen=True, eq=False)
class Clock:
    """Regular times of a series.

    Attributes
    ----------
    name : str
        The column, or "row" where there is none.
    times : DatetimeIndex or array (T,)
    step : pandas offset or number
    """

    name: str
    times: Any
    step: Any

    @property
    def is_dates(self) -> bool:
        """Whether times are dates, rather than numbers."""
        return self.times.dtype.kind == "M"

    def ahead(self, steps: int) -> Any:
        """The times that follow."""
        if self.is_dates:
            pandas = need_pandas()
            return pandas.date_range(self.times[-1], periods=steps + 1, freq=self.step)[1:]
        return self.times[-1] + self.step * np.arange(1, steps + 1)

    def text(self, times: Any) -> list[str]:
        """Times as a table shows them: days without hours where none has any."""
        if self.is_dates:
            if bool((self.times == self.times.normalize()).all()):
                return [time.strftime("%Y-%m-%d") for time in times]
            fraction = bool((self.times.microsecond != 0).any())
            detail = "milliseconds" if fraction else "seconds"
            if bool((self.times == self.times.floor("min")).all()):
                detail = "minutes"
            return [time.isoformat(" ", timespec=detail) for time in times]
        return [f"{time:.15g}" for time in times]

    @property
    def words(self) -> str:
        """The step in words."""
        if not self.is_dates:
            return f"{self.step:g}"
        name = getattr(self.step, "freqstr", "").split("-")[0]
        if name in UNEVEN:
            return UNEVEN[name]
        if hasattr(self.step, "months"):
            return f"{self.step.months} month{'s' * (self.step.months > 1)}"
        seconds = self._seconds
        for unit, size in UNITS.items():
            if seconds >= size and seconds % size == 0:
                count = int(seconds // size)
                return f"{count} {unit}{'s' * (count > 1)}"
        return f"{seconds:g} seconds"

    @property
    def _seconds(self) -> float:
        """The mean length of a step."""
        start = need_pandas().Timestamp("2001-01-01") + self.step
        # 480 steps are whole years of months, and whole weeks of business days.
        return (start + 480 * self.step - start).total_seconds() / 480

    @property
    def cycles(self) -> tuple[float, ...]:
        """Day, week and year in steps, those that a step is short enough to show."""
        if not self.is_dates:
            return ()
        step = self._seconds
        found = [cycle / step for cycle, longest in CYCLES.values() if step <= longest]
        # Months do not divide the mean year quite evenly, but every year.
        return tuple(round(p) if abs(p - round(p)) < 1e-3 else p for p in found)


@dataclass(frozen=True, eq=False)
class Timed:
    """Rows of a table in the order of time, and what had to be done for that.

    ``rows[i]`` is the row of step i, −1 where the table has none.
    """

    clock: Clock
    rows: Array
    notes: tuple[str, ...] = ()


def keep_time(table: Table, column: str | None, used: Sequence[str], gaps: str) -> Timed:
    """Find the time column of a table and check that its step is regular.

    Parameters
    ----------
    table : Table
    column : str, optional
        Its name; by default the first column that holds dates and is not ``used`` otherwise.
    gaps : {"error", "fill", "ignore"}
        What to do about missing times: refuse, leave places for them, or go on as if there were
        none.
    """
    found = _named(table, column) if column is not None else _detected(table, used)
    if found is None:
        rows = np.arange(len(table))
        return Timed(Clock("row", rows + 1, 1), rows, ("no column of dates: rows are steps",))
    name, readings = found
    problem: TableError | None = None
    for times in readings:  # day first or month first: the reading with a regular step is right
        try:
            timed = _regular(table, name, times, gaps)
            return replace(timed, notes=(*timed.notes, *_in_utc(table, name)))
        except TableError as error:
            problem = problem or error
    assert problem is not None
    raise problem


def _in_utc(table: Table, name: str) -> tuple[str, ...]:
    """A note where times came with an offset from UTC."""
    cell = table.columns[table.names.index(name)][0]
    offset = isinstance(cell, str) and re.search(r":\d\d(\.\d+)?\s*(Z|[-+]\d\d:?\d\d)$", cell)
    return ("times are given in UTC",) if offset else ()


def _named(table: Table, column: str) -> tuple[str, list[Any]]:
    index = table.index(column, "--time")
    readings = list(_readings(table, index, strict=True))
    return column, readings


def _detected(table: Table, used: Sequence[str]) -> tuple[str, list[Any]] | None:
    for index, name in enumerate(table.names):
        if name in used or table.names.count(name) > 1:
            continue
        readings = list(_readings(table, index, strict=False))
        if readings:
            return name, readings
    return None


def _readings(table: Table, index: int, strict: bool) -> Iterator[Any]:
    """Ways to read a column as times; none where it is no such thing, unless ``strict``."""
    pandas = need_pandas()
    cells, name = table.columns[index], table.names[index]
    if cells.dtype.kind == "M":
        yield _complete(table, index, pandas.DatetimeIndex(cells))
        return
    numeric = _as_numbers(table, index)
    if numeric is not None:
        if strict or NAMES.match(name.lower()):
            yield from _number_times(table, index, numeric, pandas)
        return
    sample = [cell for cell in cells if str(cell).strip()][:20]
    dates = [cell for cell in sample if _parsed([cell], pandas) is not None]
    if not strict and (not sample or len(dates) < 0.8 * len(sample)):
        return
    whole = [_parsed(cells, pandas, dayfirst) for dayfirst in (False, True)]
    read = [times for times in whole if times is not None]
    if not read:
        raise TableError(_not_dates(table, index, pandas))
    for i, times in enumerate(read):
        if i == 0 or not times.equals(read[0]):
            yield _complete(table, index, times)


def _as_numbers(table: Table, index: int) -> Array | None:
    try:
        return table.numbers(index)
    except TableError:
        return None


def _number_times(table: Table, index: int, numbers: Array, pandas: Any) -> Iterator[Any]:
    """Numbers such as 1987, 1987.5 or 19870131."""
    if np.isnan(numbers).any():
        row = int(np.argmax(np.isnan(numbers)))
        raise TableError(
            f"column {table.names[index]!r} is empty at {table.where(row)}: every row needs a time."
        )
    if np.all((numbers >= 19000101) & (numbers <= 21001231) & (numbers % 1 == 0)):
        text = pandas.Series(numbers.astype(np.int64).astype(str))
        dates = pandas.to_datetime(text, format="%Y%m%d", errors="coerce")
        if not dates.isna().any():
            yield pandas.DatetimeIndex(dates)
            return
    yield numbers


def _parsed(cells: Any, pandas: Any, dayfirst: bool = False) -> Any:
    """Text as dates, or None; offsets from UTC are undone."""
    import warnings

    series = pandas.Series(list(map(str, cells)), dtype=object)
    series = series.where(series.str.strip() != "", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about formats that it has to guess
        try:
            times = pandas.to_datetime(series, dayfirst=dayfirst, utc=True)
        except (ValueError, TypeError, OverflowError):
            try:  # with and without hours in one column
                times = pandas.to_datetime(series, format="ISO8601", utc=True)
            except (ValueError, TypeError, OverflowError):
                return None
    if times.isna().all():
        return None
    return pandas.DatetimeIndex(times).tz_localize(None)


def _not_dates(table: Table, index: int, pandas: Any) -> str:
    cells = table.columns[index]
    bad = [row for row, cell in enumerate(cells) if _parsed([cell], pandas) is None]
    if not bad:
        shown = f"{cells[0]!r} and others do not read alike"
    else:
        shown = "; ".join(f"{table.where(row)} says {str(cells[row])!r}" for row in bad[:SHOWN])
        shown += f"; and {len(bad) - SHOWN} more" if len(bad) > SHOWN else ""
    return (
        f"column {table.names[index]!r} does not read as dates: {shown}. "
        "Write them as 2024-12-31 or 2024-12-31 18:00, or name another column with --time."
    )


def _complete(table: Table, index: int, times: Any) -> Any:
    if times.isna().any():
        row = int(np.argmax(times.isna()))
        raise TableError(
            f"column {table.names[index]!r} is empty at {table.where(row)}: every row needs a time."
        )
    return times


def _regular(table: Table, name: str, times: Any, gaps: str) -> Timed:
    """Sorted, unique, with a regular step; places for missing rows where they are to be filled."""
    order = np.argsort(np.asarray(times), kind="stable")
    notes = []
    if np.any(np.diff(order) != 1):
        backwards = bool(np.all(np.diff(order) == -1))
        notes.append(
            "rows ran from the newest to the oldest and were turned round"
            if backwards
            else f"rows were not in the order of {name!r} and were sorted"
        )
    times = times[order]
    clock = Clock(name, times, 1)
    _check_unique(table, clock, order)
    if len(times) < 3:
        raise TableError(f"{table.path} has {len(times)} rows, too few for a forecast.")
    step, grid = _grid(times)
    if step is None:
        if gaps != "ignore":
            raise TableError(_irregular(table, clock, order))
        notes.append("times have no regular step: rows are steps")
        return Timed(Clock(name, times, _most_common(times)), order, tuple(notes))
    clock = Clock(name, times, step)
    if len(grid) == len(times):
        return Timed(clock, order, tuple(notes))
    places = np.isin(np.asarray(grid), np.asarray(times))
    missing = grid[~places]
    if gaps == "error":
        raise TableError(_gaps(table, clock, order, missing))
    if gaps == "ignore":
        notes.append(f"{len(missing)} missing times were passed over: rows are steps")
        return Timed(clock, order, tuple(notes))
    rows = np.full(len(grid), -1)
    rows[places] = order
    notes.append(f"{_count(len(missing), 'row')} missing, filled by interpolation")
    return Timed(Clock(name, grid, step), rows, tuple(notes))


def _check_unique(table: Table, clock: Clock, order: Array) -> None:
    values = np.asarray(clock.times)
    twice = np.flatnonzero(values[1:] == values[:-1])
    if twice.size:
        text = clock.text(clock.times[twice[:SHOWN]])
        shown = "; ".join(
            f"{when} at {table.where(order[i])} and {table.where(order[i + 1])}"
            for i, when in zip(twice, text, strict=False)
        )
        more = f"; and {len(twice) - SHOWN} more" if len(twice) > SHOWN else ""
        raise TableError(
            f"column {clock.name!r} holds the same time twice: {shown}{more}. Keep one row for "
            "each time: sum or average them, or keep one series of several in a file."
        )


def _grid(times: Any) -> tuple[Any, Any]:
    """A step and all times from first to last of which ``times`` is a part; else None."""
    common = _most_common(times)
    if times.dtype.kind != "M":
        places = (times - times[0]) / common
        whole = np.round(places)
        if np.abs(places - whole).max() > 0.01 or whole[-1] > 3 * len(times):
            return None, None
        known = {int(k): time for k, time in zip(whole, times, strict=True)}
        count = int(whole[-1]) + 1
        return common, np.array([known.get(k, times[0] + k * common) for k in range(count)])
    pandas = need_pandas()
    found: list[tuple[int, Any, Any]] = []
    for step in _steps(times, pandas):
        span = (times[-1] - times[0]).total_seconds() / Clock("", times, step)._seconds
        if span > 3 * len(times) + 10:
            continue
        grid = pandas.date_range(times[0], times[-1], freq=step)
        if len(grid) == len(times) and grid.equals(times):
            return step, grid
        if times.isin(grid).all():
            found.append((len(grid), step, grid))
    if not found:
        return None, None
    _, step, grid = min(found, key=lambda one: one[0])
    return step, grid


def _most_common(times: Any) -> Any:
    """The step that most rows have to the next."""
    sizes, counts = np.unique(np.diff(np.asarray(times)), return_counts=True)
    common = sizes[np.argmax(counts)]
    if times.dtype.kind != "M":
        return common
    pandas = need_pandas()
    return pandas.tseries.frequencies.to_offset(pandas.Timedelta(common))


def _steps(times: Any, pandas: Any) -> Iterator[Any]:
    yield _most_common(times)
    month = times[0].strftime("%b").upper()
    for name in OFFSETS:
        offset = f"{name}-{month}" if name[0] in "QY" else name
        yield pandas.tseries.frequencies.to_offset(offset)
    if bool((times.day == times[0].day).all()) and times[0].day <= 28:
        # The same day of every month, such as the 15th.
        for months in (1, 3, 12):
            yield pandas.DateOffset(months=months)


def _irregular(table: Table, clock: Clock, order: Array) -> str:
    values = np.asarray(clock.times)
    differences = np.diff(values)
    sizes, counts = np.unique(differences, return_counts=True)
    common = sizes[np.argmax(counts)]
    odd = int(np.argmax(differences != common))
    before, after = clock.text(clock.times[[odd, odd + 1]])
    return (
        f"column {clock.name!r} has no regular step: {counts.max()} of {counts.sum()} steps are "
        f"{_span(common)}, but from {table.where(order[odd])} ({before}) to "
        f"{table.where(order[odd + 1])} ({after}) it is {_span(differences[odd])}. Resample the "
        "table to a regular step, or count rows as steps with --gaps ignore."
    )


def _span(difference: Any) -> str:
    if isinstance(difference, np.timedelta64):
        return str(need_pandas().Timedelta(difference)).replace(" 00:00:00", "")
    return f"{difference:g}"


def _gaps(table: Table, clock: Clock, order: Array, missing: Any) -> str:
    values = np.asarray(clock.times)
    after = np.searchsorted(values, np.asarray(missing))
    starts, counts = np.unique(after, return_counts=True)
    shown = []
    for i, count in list(zip(starts, counts, strict=True))[:SHOWN]:
        text = clock.text(missing[after == i])
        span = text[0] if count == 1 else f"{text[0]} to {text[-1]}"
        shown.append(f"{span} ({_count(int(count), 'row')}, before {table.where(order[i])})")
    more = f"; and {len(starts) - SHOWN} more gaps" if len(starts) > SHOWN else ""
    return (
        f"column {clock.name!r} goes in steps of {clock.words}, with "
        f"{_count(len(missing), 'row')} missing: {'; '.join(shown)}{more}. Fill them by linear "
        "interpolation with --gaps fill, or pass over them with --gaps ignore."
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
