"""Rows in the order of time, one regular step apart; what is missing, and what to do about it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenecho.apps.tables.stamps import NONE, Reading, detected, in_utc, named
from eigenecho.apps.tables.table import SHOWN, Table, TableError, counted, listed, need_pandas
from eigenecho.forecasting import steps
from eigenecho.forecasting.clock import Clock, same_pace
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class TimedRows:
    """Rows of a series in the order of time: ``rows[i]`` is that of step i, −1 where there is none.

    ``label`` is the series' among several.
    """

    clock: Clock
    rows: Array
    label: Hashable = None

    @property
    def of(self) -> str:
        """Whose rows, in words."""
        return "" if self.label is None else f" of series {self.label!r}"


@dataclass(frozen=True, eq=False)
class Timed:
    """All series of a table, and what had to be done to it.

    Attributes
    ----------
    name : str
        The column of times, "row" for none.
    series : list of TimedRows
    code : str
        How Python reads the column, a format of it; empty where there is none.
    by_rows : bool
        Whether rows are steps, whatever their times.
    notes : tuple of str
    """

    name: str
    series: list[TimedRows]
    code: str = ""
    by_rows: bool = False
    notes: tuple[str, ...] = ()


def keep_time(
    table: Table,
    column: str | None,
    used: Sequence[str],
    gaps: str,
    groups: Mapping[Hashable, Array] | None = None,
) -> Timed:
    """Find the time column of a table and check that its step is regular.

    Parameters
    ----------
    table : Table
    column : str, optional
        Its name, or "none"; by default the first column of dates, or else of numbers with the
        name of a time, that is not ``used`` otherwise.
    gaps : {"error", "fill", "ignore"}
        What to do about missing times: refuse, leave places for them, or go on as if there were
        none.
    groups : mapping of arrays, optional
        The rows of each series, where there are several.
    """
    groups = groups or {None: np.arange(len(table))}
    longest = max(groups.values(), key=len)
    if column == NONE and NONE not in table.names:
        return _by_rows(groups, "rows are steps")
    if column is not None:
        found: Any = named(table, column)
    else:
        found = detected(
            table, used, lambda times: _is_unique(times, groups), lambda n: _is_time(n[longest])
        )
    if found is None:
        return _by_rows(groups, "no column of dates: rows are steps")
    name, readings = found
    problem: TableError | None = None
    # Day first or month first: the reading with a regular step is right.
    if len(readings) > 1:
        readings = sorted(readings, key=lambda reading: _unevenness(reading.times[longest]))
    for reading in readings:
        try:
            return _Keeper(table, name, reading, gaps).keep(groups)
        except TableError as error:
            problem = problem or error
    assert problem is not None
    raise problem


def _by_rows(groups: Mapping[Hashable, Array], note: str) -> Timed:
    series = [
        TimedRows(Clock("row", np.arange(1, len(rows) + 1), 1), rows, label)
        for label, rows in groups.items()
    ]
    return Timed("row", series, by_rows=True, notes=(note,))


def _is_unique(times: Any, groups: Mapping[Hashable, Array]) -> bool:
    return all(times[rows].is_unique for rows in groups.values())


def _unevenness(times: Any) -> int:
    """0 for a regular step, 1 with gaps in it, 2 for none, 3 where times repeat."""
    ordered = np.sort(np.asarray(times))
    if len(ordered) < 3 or np.any(ordered[1:] == ordered[:-1]):
        return 3
    if times.dtype.kind == "M":
        ordered = need_pandas().DatetimeIndex(ordered)
    step = steps.find(ordered)
    return 2 if step is None else int(steps.places(ordered, step)[-1] >= len(ordered))


def _is_time(numbers: Array) -> bool:
    """Whether numbers without a name given count as time: each once, in order or evenly apart.

    A column of measurements that is called "index" must not sort the rows.
    """
    differences = np.diff(numbers)
    return bool(np.all(differences > 0) or np.all(differences < 0)) or _unevenness(numbers) < 2


@dataclass(frozen=True, eq=False)
class _Keeper:
    """One reading of a column, and what to do about gaps in it."""

    table: Table
    name: str
    reading: Reading
    gaps: str

    def keep(self, groups: Mapping[Hashable, Array]) -> Timed:
        """Sorted, unique, with a regular step; places for missing rows where they are filled."""
        ordered = [self._ordered(rows, label) for label, rows in groups.items()]
        longest = max(ordered, key=lambda one: len(one.rows))
        if len(longest.rows) < 3:
            raise TableError(f"{self.table.path} has {len(self.table)} rows, too few to forecast.")
        step = steps.find(longest.clock.times)
        notes = self._order_notes(groups.values(), ordered) + in_utc(self.table, self.name)
        if step is None:
            if self.gaps != "ignore":
                raise TableError(self._irregular(longest))
            notes += ("times have no regular step: rows are steps",)
            return self._by_rows(ordered, _most_common(longest.clock.times), notes)
        placed = [self._placed(one, step) for one in ordered]
        missing = sum(int((one.rows < 0).sum()) for one in placed)
        if missing and self.gaps == "ignore":
            notes += (f"{missing} missing times were passed over: rows are steps",)
            return self._by_rows(ordered, step, notes)
        if missing:
            notes += (f"{counted(missing, 'row')} missing from the table",)
        return Timed(self.name, placed, self.reading.code, False, notes)

    def _by_rows(self, ordered: Sequence[TimedRows], step: Any, notes: tuple[str, ...]) -> Timed:
        series = [replace(one, clock=replace(one.clock, step=step)) for one in ordered]
        return Timed(self.name, series, self.reading.code, True, notes)

    def _ordered(self, rows: Array, label: Hashable) -> TimedRows:
        times = self.reading.times[rows]
        order = np.argsort(np.asarray(times), kind="stable")
        times = times[order]
        found = TimedRows(Clock(self.name, times, None), rows[order], label)
        self._check_unique(found)
        return found

    def _order_notes(self, groups: Any, ordered: Sequence[TimedRows]) -> tuple[str, ...]:
        pairs = list(zip(groups, ordered, strict=True))
        if all(np.array_equal(rows, one.rows) for rows, one in pairs):
            return ()
        if all(np.array_equal(rows[::-1], one.rows) for rows, one in pairs):
            return ("rows ran from the newest to the oldest and were turned round",)
        return (f"rows were not in the order of {self.name!r} and were sorted",)

    def _placed(self, one: TimedRows, step: Any) -> TimedRows:
        """A series on the grid of a step, or of another one that is as long."""
        times = one.clock.times
        found = steps.places(times, step)
        if (found < 0).any():
            own = steps.find(times) if len(times) > 1 else None
            clocks = (Clock(self.name, times, s) for s in (own, step))
            if own is None or not same_pace(*clocks):
                if self.gaps == "ignore":
                    return one
                raise TableError(self._irregular(one))
            step, found = own, steps.places(times, own)
        clock = Clock(self.name, steps.filled(times, found, step), step)
        rows = np.full(len(clock.times), -1)
        rows[found] = one.rows
        placed = TimedRows(clock, rows, one.label)
        if len(rows) > len(times) and self.gaps == "error":
            raise TableError(self._missing(placed))
        return placed

    def _check_unique(self, one: TimedRows) -> None:
        values = np.asarray(one.clock.times)
        twice = np.flatnonzero(values[1:] == values[:-1])
        if twice.size:
            text, where = one.clock.text(one.clock.times[twice[:SHOWN]]), self.table.where
            shown = (
                f"{when} at {where(one.rows[i])} and {where(one.rows[i + 1])}"
                for i, when in zip(twice, text, strict=False)
            )
            remedy = "If they are several series, name the column that tells them apart with --id."
            if one.label is not None:
                remedy = f"They are all{one.of}."
            raise TableError(
                f"column {self.name!r} holds the same time twice: {listed(shown, len(twice))}. "
                f"Keep one row for each time: sum or average them, or keep one. {remedy}"
            )

    def _irregular(self, one: TimedRows) -> str:
        differences = np.diff(np.asarray(one.clock.times))
        sizes, counts = np.unique(differences, return_counts=True)
        common = sizes[np.argmax(counts)]
        odd = int(np.argmax(differences != common))
        before, after = one.clock.text(one.clock.times[[odd, odd + 1]])
        where = self.table.where
        return (
            f"column {self.name!r}{one.of} has no regular step: {counts.max()} of {counts.sum()} "
            f"steps are {_span(common)}, but from {where(one.rows[odd])} ({before}) to "
            f"{where(one.rows[odd + 1])} ({after}) it is {_span(differences[odd])}. Resample the "
            "table to a regular step, or count rows as steps with --gaps ignore."
        )

    def _missing(self, one: TimedRows) -> str:
        gone = np.flatnonzero(one.rows < 0)
        runs = np.split(gone, np.flatnonzero(np.diff(gone) > 1) + 1)
        shown = []
        for run in runs[:SHOWN]:
            text = one.clock.text(one.clock.times[run[[0, -1]]])
            span = text[0] if len(run) == 1 else f"{text[0]} to {text[-1]}"
            place = self.table.where(one.rows[run[-1] + 1])
            shown.append(f"{span} ({counted(len(run), 'row')}, before {place})")
        return (
            f"column {self.name!r}{one.of} goes in steps of {one.clock.words}, with "
            f"{counted(len(gone), 'row')} missing: {listed(shown, len(runs), ' gaps')}. Go on "
            "without them by --gaps fill, or pass over them with --gaps ignore."
        )


def _most_common(times: Any) -> Any:
    """The step that most rows have to the next."""
    common = steps.most_common(times)
    if times.dtype.kind != "M":
        return common
    pandas = need_pandas()
    return pandas.tseries.frequencies.to_offset(pandas.Timedelta(common))


def _span(difference: Any) -> str:
    if isinstance(difference, np.timedelta64):
        return str(need_pandas().Timedelta(difference)).replace(" 00:00:00", "")
    return f"{difference:g}"
