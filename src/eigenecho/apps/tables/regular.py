"""Rows in the order of time, one regular step apart; what is missing, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenecho.apps.tables.named_clock import NamedClock
from eigenecho.apps.tables.stamps import NONE, ParsedTimes, detected, in_utc, named
from eigenecho.apps.tables.table import SHOWN, Table, TableError, counted, listed, need_pandas
from eigenecho.data import clock as steps
from eigenecho.data.clock import same_pace
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class TimedRows:
    """Rows of a series in the order of time: ``rows[i]`` is that of step i, −1 for none."""

    clock: NamedClock
    rows: Array
    label: str | None = None

    @property
    def of(self) -> str:
        """Whose rows, in words."""
        return "" if self.label is None else f" of series {self.label!r}"


@dataclass(frozen=True, eq=False)
class Timed:
    """All series of a table.

    ``name`` is the column of times, "row" for none, and ``code`` how Python reads it; ``by_rows``
    says that rows are steps, whatever their times, and ``notes`` what had to be done.
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
    groups: Mapping[str | None, Array] | None = None,
) -> Timed:
    """Find the time column of a table and check that its step is regular.

    ``column`` is its name, or "none"; by default the first column of dates, or else of numbers
    with the name of a time, that is not ``used`` otherwise. About missing times ``gaps`` says:
    "error", "fill" (leave places for them) or "ignore" (go on as if there were none). ``groups``
    are the rows of each series, where there are several.
    """
    groups = groups or {None: np.arange(len(table))}
    longest = max(groups.values(), key=len)
    if len(longest) < 3:
        raise TableError(f"{len(longest)} rows of {table.path} are too few to forecast.")
    if column == NONE and NONE not in table.names:
        return _by_rows(groups, "rows are steps")
    if column is not None:
        found: Any = named(table, column)
    else:
        found = detected(table, used, list(groups.values()), lambda n: _is_time(n[longest]))
    if found is None:
        return _by_rows(groups, "no column of dates: rows are steps")
    name, readings = found
    # Day first or month first: the reading with a regular step is right.
    if len(readings) > 1:
        readings = sorted(readings, key=lambda reading: _unevenness(reading.times[longest]))
    return _Keeper(table, name, readings[0], gaps).keep(groups)


def _by_rows(groups: Mapping[str | None, Array], note: str) -> Timed:
    clocks = [NamedClock(np.arange(1, len(rows) + 1), 1, "row") for rows in groups.values()]
    series = list(map(TimedRows, clocks, groups.values(), groups))
    return Timed("row", series, by_rows=True, notes=(note,))


def _unevenness(times: Any) -> int:
    """0 for a regular step, 1 with gaps in it, 2 for none, 3 where times repeat."""
    ordered = np.sort(np.asarray(times))
    if len(ordered) < 3 or np.any(ordered[1:] == ordered[:-1]):
        return 3
    if times.dtype.kind == "M":
        ordered = need_pandas().DatetimeIndex(ordered)
    step = steps.find_step(ordered)
    return 2 if step is None else int(steps.positions(ordered, step)[-1] >= len(ordered))


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
    reading: ParsedTimes
    gaps: str

    def keep(self, groups: Mapping[str | None, Array]) -> Timed:
        """Sorted, unique, with a regular step; places for missing rows where they are filled."""
        ordered = [self._ordered(rows, label) for label, rows in groups.items()]
        longest = max(ordered, key=lambda one: len(one.rows))
        step = steps.find_step(longest.clock.times)
        notes = self._order_notes(groups.values(), ordered) + in_utc(self.table, self.name)
        if step is None and self.gaps != "ignore":
            raise TableError(self._irregular(longest))
        placed = ordered if step is None else [self._placed(one, step) for one in ordered]
        missing = sum(int((one.rows < 0).sum()) for one in placed)
        by_rows = step is None or (missing > 0 and self.gaps == "ignore")
        if step is None or missing:
            said = "times have no regular step"
            said = said if step is None else f"{counted(missing, 'row')} missing from the table"
            notes += (f"{said}: rows are steps" if by_rows else said,)
        if by_rows:
            step = step or steps.usual_steps(longest.clock.times)[0]
            step = steps.tick(step) if isinstance(step, np.timedelta64) else step
            placed = [replace(one, clock=replace(one.clock, step=step)) for one in ordered]
        return Timed(self.name, placed, self.reading.code, by_rows, notes)

    def _ordered(self, rows: Array, label: str | None) -> TimedRows:
        times = self.reading.times[rows]
        order = np.argsort(np.asarray(times), kind="stable")
        found = TimedRows(NamedClock(times[order], None, self.name), rows[order], label)
        self._check_unique(found)
        return found

    def _order_notes(self, groups: Any, ordered: Sequence[TimedRows]) -> tuple[str, ...]:
        pairs = [(rows, one.rows) for rows, one in zip(groups, ordered, strict=True)]
        if all(np.array_equal(rows, found) for rows, found in pairs):
            return ()
        if all(np.array_equal(rows[::-1], found) for rows, found in pairs):
            return ("rows ran from the newest to the oldest and were turned round",)
        return (f"rows were not in the order of {self.name!r} and were sorted",)

    def _placed(self, one: TimedRows, step: Any) -> TimedRows:
        """A series on the grid of a step, or of another one that is as long."""
        times = one.clock.times
        found = steps.positions(times, step)
        if (found < 0).any():
            own = steps.find_step(times) if len(times) > 1 else None
            clocks = [NamedClock(times, s) for s in (own, step)]
            if own is None or not same_pace(*clocks):
                if self.gaps == "ignore":
                    return one
                raise TableError(self._irregular(one))
            step, found = own, steps.positions(times, own)
        clock = NamedClock(steps.filled(times, found, step), step, self.name)
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
            several = " If they are of several series, say by which column: --id."
            raise TableError(
                f"column {self.name!r}{one.of} holds the same time twice: "
                f"{listed(shown, len(twice))}. Keep one row for each time: sum or average them."
                f"{several if one.label is None else ''}"
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
            text = dict.fromkeys(one.clock.text(one.clock.times[run[[0, -1]]]))
            place = self.table.where(one.rows[run[-1] + 1])
            shown.append(f"{' to '.join(text)} ({counted(len(run), 'row')}, before {place})")
        return (
            f"column {self.name!r}{one.of} goes in steps of {one.clock.words}, with "
            f"{counted(len(gone), 'row')} missing: {listed(shown, len(runs), ' gaps')}. Go on "
            "without them by --gaps fill, or pass over them with --gaps ignore."
        )


def _span(difference: Any) -> str:
    if isinstance(difference, np.timedelta64):
        return str(need_pandas().Timedelta(difference)).replace(" 00:00:00", "")
    return f"{difference:g}"
