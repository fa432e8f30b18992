"""Series of a table as ``ee.Forecaster`` takes them: targets, their times, and columns beside."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenecho.apps.tables.regular import Timed, TimedRows, keep_time
from eigenecho.apps.tables.table import (
    SHOWN,
    Table,
    TableError,
    counted,
    listed,
    need_pandas,
)
from eigenecho.forecasting.clock import Clock
from eigenecho.types import Array


@dataclass(frozen=True)
class Columns:
    """What columns of a table are: targets; known ahead; known up to the present only."""

    targets: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    past: tuple[str, ...] = ()
    id: str | None = None
    time: str | None = None

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns of X."""
        return (*self.inputs, *self.past)


@dataclass(frozen=True, eq=False)
class TableSeries:
    """Series of a table at regular times.

    Attributes
    ----------
    columns : Columns
        With the time column that was found, "row" for none.
    y, X : DataFrame
        As ``Forecaster`` takes them: a column for each target and times as the index, or a long
        frame where there is an id; rows of X go on beyond the last values, as the table does.
    clocks : mapping of Clock
        The times of each series, by its name.
    values : mapping of arrays (T_i,)
        NaN where nothing was observed.
    code : str
        How Python reads the time column, a format of it.
    by_rows : bool
        Whether y counts rows as steps, whatever their times.
    notes : tuple of str
        What was done to the table.
    """

    columns: Columns
    y: Any
    X: Any
    clocks: Mapping[Hashable, Clock]
    values: Mapping[Hashable, Array]
    code: str = ""
    by_rows: bool = False
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[Hashable]:
        """The series."""
        return list(self.values)

    @property
    def name(self) -> str:
        """Of all of them, for titles."""
        if self.columns.id is None:
            return ", ".join(self.columns.targets)
        return f"{self.columns.targets[0]} of {len(self.names)} series"

    @property
    def rows(self) -> int:
        """Of the longest."""
        return max(map(len, self.values.values()))

    @property
    def ahead(self) -> int:
        """Rows beyond the last value of a series, where that is fewest."""
        beyond = 0 if self.X is None else len(self.X)
        if self.columns.id is None:
            return beyond - self.rows
        counts = self.X[self.columns.id].value_counts()
        return int(min(counts[name] - len(values) for name, values in self.values.items()))


def from_table(
    table: Table, columns: Columns, *, gaps: str = "error", last: int | None = None
) -> TableSeries:
    """Take targets, and columns that help to forecast them, out of a table.

    Rows at the end without a target only say what the inputs will be.

    Parameters
    ----------
    table : Table
    columns : Columns
    gaps : {"error", "fill", "ignore"}
        About missing rows, see ``keep_time``; "fill" also goes on without empty cells: of targets
        and past columns they are not observed, inputs are interpolated, as they are known ahead.
    last : int, optional
        Rows of each series to keep, the last ones.
    """
    groups = _groups(table, columns)
    used = (*columns.targets, *columns.beside, *([columns.id] if columns.id else []))
    timed = keep_time(table, columns.time, used, gaps, groups)
    if timed.name in used:
        raise TableError(f"--time and another option both name {timed.name!r}.")
    numbers = {
        name: table.numbers(table.index(name, "column"))
        for name in (*columns.targets, *columns.beside)
    }
    found = [_Rows(table, one, numbers, gaps) for one in timed.series]
    parts = [one.part(columns, last) for one in found]
    parts = [part for part in parts if len(part.values)]
    if not parts:
        raise TableError(f"column {columns.targets[0]!r} holds no numbers.")
    _check_changes(columns, parts)
    notes = (*timed.notes, *_notes(columns, parts, len(found), last))
    return _gathered(replace(columns, time=timed.name), timed, parts, notes)


def check_columns(columns: Columns) -> None:
    """Each column has one use, and several targets no id."""
    given = (*columns.targets, *columns.beside, *([columns.id] if columns.id else []))
    twice = [name for name in given if given.count(name) > 1]
    if twice:
        raise TableError(
            f"{twice[0]!r} is named twice, by --target, --inputs, --past or --id: each column "
            "counts once."
        )
    if columns.id and len(columns.targets) > 1:
        raise TableError(
            f"--target names {len(columns.targets)} columns and --id {columns.id!r} many series: "
            "forecast one target at a time."
        )


def _groups(table: Table, columns: Columns) -> dict[Hashable, Array] | None:
    """The rows of each series, by its id; None without."""
    check_columns(columns)
    if columns.id is None:
        return None
    index = table.index(columns.id, "--id")
    ids = np.array(table.words(index), dtype=object)
    empty = np.flatnonzero(ids == "")
    if empty.size:
        raise TableError(
            f"column {columns.id!r} is empty at {table.where(int(empty[0]))}: every row needs an "
            "id."
        )
    codes, labels = need_pandas().factorize(ids, sort=True)
    order = np.argsort(codes, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    return dict(zip(labels, parts, strict=True))


@dataclass(frozen=True, eq=False)
class _Part:
    """Rows of one group: values (T, targets), columns of X (T + ahead, k), and what was done."""

    label: Hashable
    clock: Clock
    values: Array
    beside: Array
    empty: int = 0
    interpolated: int = 0
    beyond: int = 0
    late: int = 0
    cut: int = 0


@dataclass(frozen=True, eq=False)
class _Rows:
    """Numbers of a group of rows, to say where they are missing."""

    table: Table
    timed: TimedRows
    numbers: Mapping[str, Array]
    gaps: str

    def part(self, columns: Columns, last: int | None) -> _Part:
        """Up to the last row with a target, and X beyond."""
        targets = np.stack([self.column(name) for name in columns.targets], axis=1)
        seen = np.flatnonzero(~np.isnan(targets).all(axis=1))
        length = int(seen[-1]) + 1 if seen.size else 0
        first = int(seen[0]) if seen.size else 0
        start = max(first, length - last) if last is not None else first
        inside = range(start, length)
        empty = sum(
            self.check(name, column, inside) for name, column in zip(columns.targets, targets.T)
        )
        known = [self.known(name, start, length) for name in columns.inputs]
        for name in columns.past:
            self.check(name, self.column(name), inside)
        beside = [*known, *(self.column(name) for name in columns.past)]
        clock = self.timed.clock
        return _Part(
            self.timed.label,
            replace(clock, times=clock.times[start:length]),
            targets[start:length],
            np.array(beside).T.reshape(len(targets), len(beside))[start:],
            empty,
            sum(int(np.isnan(self.column(name)[start:]).sum()) for name in columns.inputs),
            len(targets) - length,
            first,
            start - first,
        )

    def column(self, name: str) -> Array:
        """Numbers at each step, NaN where there is none."""
        rows = self.timed.rows
        return np.where(rows >= 0, self.numbers[name][rows], np.nan)

    def check(self, name: str, values: Array, inside: Any) -> int:
        """How many numbers are missing in some rows; refused unless gaps are filled."""
        empty = np.flatnonzero(np.isnan(values[inside.start : inside.stop])) + inside.start
        # A target of several may start later than the others.
        first = int(np.argmin(np.isnan(values))) if not np.isnan(values).all() else inside.start
        inner = empty[empty > first]
        if inner.size and self.gaps != "fill":
            raise self._empty(name, inner, "Go on without by --gaps fill.")
        return len(inner)

    def known(self, name: str, start: int, length: int) -> Array:
        """Numbers without NaN, interpolated between those known; never after the target's end."""
        values = self.column(name)
        empty, place = np.isnan(values), np.arange(len(values))
        empty[:start] = False
        if empty.any() and self.gaps != "fill":
            remedy = "Fill it by linear interpolation with --gaps fill."
            raise self._empty(name, np.flatnonzero(empty), remedy)
        there = place[~np.isnan(values)]
        low, high = min(there, default=0), min(max(there, default=0), length)
        outside = np.flatnonzero(empty & ((place <= low) | (place >= high)))
        if outside.size:
            raise self._empty(
                name, outside,
                "Inputs are filled between rows that are known, not before, not after, and not "
                "where the forecast needs them: write what they are, or leave these rows out.",
            )  # fmt: skip
        return np.interp(place, there, values[there])

    def _empty(self, name: str, places: Array, remedy: str) -> TableError:
        clock, rows = self.timed.clock, self.timed.rows
        times = clock.text(clock.times[places[:SHOWN]])
        shown = (
            f"{self.table.where(rows[i])} ({clock.name} {when})"
            if rows[i] >= 0
            else f"{clock.name} {when} (no such row)"
            for i, when in zip(places, times, strict=False)
        )
        said = listed(shown, len(places))
        return TableError(f"column {name!r}{self.timed.of} is empty at {said}. {remedy}")


def _check_changes(columns: Columns, parts: Sequence[_Part]) -> None:
    values = np.concatenate([part.values for part in parts])
    if all(len(np.unique(part.values[~np.isnan(part.values)])) < 2 for part in parts):
        raise TableError(
            f"column {columns.targets[0]!r} is constant: every row holds {np.nanmax(values):g}. "
            "There is nothing to learn; the forecast is that number."
        )


def _notes(
    columns: Columns, parts: Sequence[_Part], count: int, last: int | None
) -> tuple[str, ...]:
    """What was done to the rows, in words."""
    target = " and ".join(repr(name) for name in columns.targets)
    empty, filled = sum(p.empty for p in parts), sum(p.interpolated for p in parts)
    beyond, late = sum(p.beyond for p in parts), sum(p.late for p in parts)
    said = {
        f"{count - len(parts)} series without numbers were left out": count - len(parts),
        f"{counted(late, 'row')} before the first {target} left out": late,
        f"{counted(beyond, 'row')} at the end have no {target}: the forecast starts there": beyond,
        f"{counted(empty, 'cell')} without {target}, bridged and left out of all errors": empty,
        f"{counted(filled, 'cell')} of inputs filled by interpolation": filled,
        f"only the last {last} rows are learnt from; --last takes more": any(p.cut for p in parts),
    }
    return tuple(words for words, number in said.items() if number)


def _gathered(
    columns: Columns, timed: Timed, parts: Sequence[_Part], notes: tuple[str, ...]
) -> TableSeries:
    """Frames of all parts."""
    pandas = need_pandas()
    y, X = [], []
    for part in parts:
        times = _times(part, timed.by_rows, len(part.beside))
        y.append(pandas.DataFrame(part.values, times[: len(part.values)], columns.targets))
        X.append(pandas.DataFrame(part.beside, times, columns.beside))
    if columns.id is None:
        names: list[Hashable] = list(columns.targets)
        values = dict(zip(names, parts[0].values.T, strict=True))
        clocks = dict.fromkeys(names, parts[0].clock)
        frames = y[0], X[0]
    else:
        names = [part.label for part in parts]
        values = {part.label: part.values[:, 0] for part in parts}
        clocks = {part.label: part.clock for part in parts}
        index = [columns.id, columns.time]
        frames = tuple(  # type: ignore[assignment]
            pandas.concat(dict(zip(names, some, strict=True)), names=index).reset_index()
            for some in (y, X)
        )
    beside = frames[1] if columns.beside else None
    return TableSeries(
        columns, frames[0], beside, clocks, values, timed.code, timed.by_rows, notes
    )


def _times(part: _Part, by_rows: bool, count: int) -> Any:
    """Times of rows as the index of a frame, also of those after the end."""
    pandas = need_pandas()
    if by_rows:
        return pandas.RangeIndex(1, count + 1, name=part.clock.name)
    times = part.clock.times
    if count > len(times):
        times = part.clock.then(part.clock.ahead(count - len(times))).times
    return pandas.Index(times, name=part.clock.name)
