"""Series of a table as ``ee.Forecaster`` takes them: targets, their times, and columns beside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from eigenecho.apps.tables.named_clock import NamedClock
from eigenecho.apps.tables.regular import Timed, TimedRows, keep_time
from eigenecho.apps.tables.table import SHOWN, Table, TableError, counted, listed, need_pandas
from eigenecho.data.numbers import filled_forward
from eigenecho.types import Array


@dataclass(frozen=True)
class TableColumns:
    """What columns of a table are: targets; known ahead; known up to the present only."""

    targets: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    past: tuple[str, ...] = ()
    id: str | None = None
    time: str | None = None

    def __post_init__(self) -> None:
        twice = [name for name, count in Counter(self.used).items() if count > 1]
        if twice:
            raise TableError(f"options name {twice[0]!r} twice: each column counts once.")
        if self.id is not None and len(self.targets) > 1:
            raise TableError(
                f"--target names {len(self.targets)} columns and --id {self.id!r} many series: "
                "forecast one target at a time."
            )

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns of X."""
        return (*self.inputs, *self.past)

    @property
    def used(self) -> tuple[str, ...]:
        """All but the times."""
        return (*self.targets, *self.beside, *(() if self.id is None else (self.id,)))


@dataclass(frozen=True, eq=False)
class TableSeries:
    """Series of a table at regular times.

    ``y`` and ``X`` are rows of the table as ``Forecaster`` takes them: a column for each target and
    times as the index, or long where there is an id. X goes on ``ahead`` rows beyond the last
    values. ``clocks`` and ``values`` (T_i,), NaN where nothing was observed or no row is, are those
    of each series by its name.

    ``columns`` has the time column that was found, "row" for none, and ``code`` says how Python
    reads it. ``by_rows``: y counts rows as steps, whatever their times. ``trimmed``: rows before
    the first target or after the last were left out. ``filled``: empty cells of inputs hold what
    was before them. ``last`` is the number of rows that series were cut to, if any was; ``notes``
    say what was done to the table.
    """

    columns: TableColumns
    y: Any
    X: Any
    clocks: Mapping[str, NamedClock]
    values: Mapping[str, Array]
    ahead: int
    code: str = ""
    by_rows: bool = False
    trimmed: bool = False
    filled: bool = False
    last: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The series."""
        return list(self.values)

    @property
    def rows(self) -> int:
        """Of the longest."""
        return max(map(len, self.values.values()))


def from_table(
    table: Table, columns: TableColumns, *, gaps: str = "error", last: int | None = None
) -> TableSeries:
    """Take targets, and columns that help to forecast them, out of a table.

    Rows at the end without a target only say what the inputs will be. ``gaps`` is about missing
    rows, see ``keep_time``; "fill" also goes on without empty cells: of targets and past columns
    they are not observed, of inputs the cell before goes on. Of each series the ``last`` rows of
    the table are kept.
    """
    timed = keep_time(table, columns.time, columns.used, gaps, _groups(table, columns))
    if timed.name in columns.used:
        raise TableError(f"--time and another option both name {timed.name!r}.")
    used = (*columns.targets, *columns.beside)
    numbers = {name: table.numbers(table.index(name, "column")) for name in used}
    all_parts = [_Rows(table, one, numbers, gaps).part(columns, last) for one in timed.series]
    parts = [part for part in all_parts if len(part.values)]
    if not parts:
        raise TableError(f"column {columns.targets[0]!r} holds no numbers.")
    told = sum((part.told for part in parts), Counter())
    told["left out"] = len(all_parts) - len(parts)
    seen = [np.unique(part.values[~np.isnan(part.values)]) for part in parts]
    if max(map(len, seen)) < 2:
        raise TableError(
            f"column {columns.targets[0]!r} is constant: every row holds {seen[0][0]:g}. There is "
            "nothing to learn; the forecast is that number."
        )
    found = _gathered(replace(columns, time=timed.name), timed, parts)
    return replace(
        found,
        trimmed=bool(told["late"] or told["beyond"] or told["left out"]),
        filled=bool(told["filled"]),
        last=last if told["cut"] else None,
        notes=(*timed.notes, *_notes(columns, told, last)),
    )


def _groups(table: Table, columns: TableColumns) -> dict[str | None, Array] | None:
    """The rows of each series, by its id; None without."""
    if columns.id is None:
        return None
    cells = table.columns[table.index(columns.id, "--id")]
    # Whole numbers of a Parquet file without a point.
    words = [f"{cell:.17g}" if isinstance(cell, float) else str(cell).strip() for cell in cells]
    ids = np.array(words, dtype=object)
    if (empty := np.flatnonzero((ids == "") | (ids == "nan"))).size:
        where = table.where(int(empty[0]))
        raise TableError(f"column {columns.id!r} is empty at {where}: every row needs an id.")
    codes, labels = need_pandas().factorize(ids, sort=True)
    order = np.argsort(codes, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    return dict(zip(labels, parts, strict=True))


class _Part(NamedTuple):
    """Rows of one group: values (T, targets), X (T + ahead, k), and how often what was done.

    ``there`` (T + ahead,) says which of them the table has.
    """

    label: str | None
    clock: NamedClock
    values: Array
    beside: Array
    there: Array
    told: Counter[str]


@dataclass(frozen=True, eq=False)
class _Rows:
    """Numbers of a group of rows, to say where they are missing."""

    table: Table
    timed: TimedRows
    numbers: Mapping[str, Array]
    gaps: str

    def part(self, columns: TableColumns, last: int | None) -> _Part:
        """From the first row with a target to the last, and X beyond."""
        values = np.stack([self.column(name) for name in columns.targets], axis=1)
        seen = np.flatnonzero(~np.isnan(values).all(axis=1))
        first, stop = (int(seen[0]), int(seen[-1]) + 1) if seen.size else (0, 0)
        there = self.timed.rows >= 0
        start = first if last is None else max([first, *np.flatnonzero(there[:stop])[-last:][:1]])
        told = Counter(late=first, cut=start - first, beyond=len(values) - stop)
        for name in (*columns.targets, *columns.past):
            empty = self.missing(name, start, stop)
            told["empty"] += empty if name in columns.targets else 0
        known = [self.known(name, start, stop) for name in columns.inputs]
        told["filled"] = sum(
            int(np.isnan(self.column(name))[start:][there[start:]].sum()) for name in columns.inputs
        )
        beside = np.array([*known, *map(self.column, columns.past)]).T.reshape(len(values), -1)
        clock = self.timed.clock
        clock = replace(clock, times=clock.times[start:stop])
        label, values = self.timed.label, values[start:stop]
        return _Part(label, clock, values, beside[start:], there[start:], told)

    def column(self, name: str) -> Array:
        """Numbers at each step, NaN where there is none."""
        rows = self.timed.rows
        return np.where(rows >= 0, self.numbers[name][rows], np.nan)

    def missing(self, name: str, start: int, stop: int) -> int:
        """Empty cells in some rows, after the first that is not; refused unless gaps are filled."""
        empty = np.isnan(self.column(name))
        empty[: max(start, int(np.argmin(empty)))] = False
        empty[stop:] = False
        if empty.any() and self.gaps != "fill":
            raise self._empty(name, np.flatnonzero(empty), "Go on without by --gaps fill.")
        return int(empty.sum())

    def known(self, name: str, start: int, stop: int) -> Array:
        """Numbers without NaN: up to the target's end what was known before goes on."""
        values = self.column(name)
        empty = np.isnan(values)
        empty[:start] = False
        if empty.any() and self.gaps != "fill":
            remedy = "Go on with what was before by --gaps fill."
            raise self._empty(name, np.flatnonzero(empty), remedy)
        whole = filled_forward(values[:, None])[:, 0]
        whole[stop:] = values[stop:]
        outside = np.flatnonzero(np.isnan(whole) & empty)
        if outside.size:
            raise self._empty(
                name, outside,
                "Inputs go on from what was known before, and have to be known where the forecast "
                "needs them: write what they are, or leave these rows out.",
            )  # fmt: skip
        return whole

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


def _notes(columns: TableColumns, told: Mapping[str, int], last: int | None) -> tuple[str, ...]:
    """What was done to the rows, in words."""
    target = " and ".join(map(repr, columns.targets))
    words = {
        "left out": f"{told['left out']} series without numbers were left out",
        "late": f"{counted(told['late'], 'row')} before the first {target} left out",
        "beyond": f"{told['beyond']} rows at the end have no {target}: the forecast starts there",
        "empty": f"{counted(told['empty'], 'cell')} of {target} empty: bridged, and left out of "
        "all errors",
        "filled": f"{counted(told['filled'], 'cell')} of inputs empty: what was before goes on",
        "cut": f"only the last {last} rows are learnt from; --last takes more",
    }
    return tuple(text for key, text in words.items() if told[key])


def _gathered(columns: TableColumns, timed: Timed, parts: Sequence[_Part]) -> TableSeries:
    """Frames of all parts."""
    pandas = need_pandas()
    y, X = {}, {}
    for part in parts:
        # Rows that are not in the table are left to the forecaster.
        times = _times(part, timed.by_rows)[part.there]
        rows = part.values[part.there[: len(part.values)]]
        y[part.label] = pandas.DataFrame(rows, times[: len(rows)], columns.targets)
        X[part.label] = pandas.DataFrame(part.beside[part.there], times, columns.beside)
    if columns.id is None:
        frames = [y[None], X[None]]
        values = dict(zip(columns.targets, parts[0].values.T, strict=True))
        clocks = dict.fromkeys(columns.targets, parts[0].clock)
    else:
        keys = [columns.id, columns.time]
        frames = [pandas.concat(some, names=keys).reset_index() for some in (y, X)]
        values = {str(part.label): part.values[:, 0] for part in parts}
        clocks = {str(part.label): part.clock for part in parts}
    ahead = min(len(part.beside) - len(part.values) for part in parts)
    beside = frames[1] if columns.beside else None
    return TableSeries(columns, frames[0], beside, clocks, values, ahead, timed.code, timed.by_rows)


def _times(part: _Part, by_rows: bool) -> Any:
    """Times of rows as the index of a frame, also of those after the end."""
    pandas = need_pandas()
    clock, count = part.clock, len(part.beside)
    if by_rows:
        return pandas.RangeIndex(1, count + 1, name=clock.name)
    more = count - len(clock.times)
    times = clock.then(clock.ahead(more)).times if more else clock.times
    return pandas.Index(times, name=clock.name)
