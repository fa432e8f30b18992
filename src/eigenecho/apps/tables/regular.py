"""Rows in the order of time, one regular step apart; what is missing, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenecho.apps.tables.stamps import NONE, detected, in_utc, named
from eigenecho.apps.tables.table import SHOWN, Table, TableError, listed, need_pandas
from eigenecho.forecasting import steps
from eigenecho.forecasting.clock import Clock
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class TimedRows:
    """Rows of a table in the order of time, and what had to be done for that.

    ``rows[i]`` is the row of step i, −1 where the table has none.
    """

    clock: Clock
    rows: Array
    notes: tuple[str, ...] = ()


def keep_time(table: Table, column: str | None, used: Sequence[str], gaps: str) -> TimedRows:
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
    """
    if column == NONE and NONE not in table.names:
        return _by_rows(table, "rows are steps")
    found = named(table, column) if column is not None else detected(table, used, _is_time)
    if found is None:
        return _by_rows(table, "no column of dates: rows are steps")
    name, readings = found
    problem: TableError | None = None
    # Day first or month first: the reading with a regular step is right.
    for times in sorted(readings, key=_unevenness) if len(readings) > 1 else readings:
        try:
            timed = _regular(table, name, times, gaps)
            return replace(timed, notes=(*timed.notes, *in_utc(table, name)))
        except TableError as error:
            problem = problem or error
    assert problem is not None
    raise problem


def _by_rows(table: Table, note: str) -> TimedRows:
    rows = np.arange(len(table))
    return TimedRows(Clock("row", rows + 1, 1), rows, (note,))


def _unevenness(times: Any) -> int:
    """0 for a regular step, 1 with gaps in it, 2 for none, 3 where times repeat."""
    ordered = np.sort(np.asarray(times))
    if len(ordered) < 3 or np.any(ordered[1:] == ordered[:-1]):
        return 3
    if times.dtype.kind == "M":
        ordered = need_pandas().DatetimeIndex(ordered)
    step, grid = _grid(ordered)
    return 2 if step is None else int(len(grid) > len(ordered))


def _is_time(numbers: Array) -> bool:
    """Whether numbers without a name given count as time: each once, in order or evenly apart.

    A column of measurements that is called "index" must not sort the rows.
    """
    differences = np.diff(numbers)
    return bool(np.all(differences > 0) or np.all(differences < 0)) or _unevenness(numbers) < 2


def _regular(table: Table, name: str, times: Any, gaps: str) -> TimedRows:
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
        return TimedRows(Clock(name, times, _most_common(times)), order, tuple(notes))
    clock = Clock(name, times, step)
    if len(grid) == len(times):
        return TimedRows(clock, order, tuple(notes))
    places = np.isin(np.asarray(grid), np.asarray(times))
    missing = grid[~places]
    if gaps == "error":
        raise TableError(_gaps(table, clock, order, missing))
    if gaps == "ignore":
        notes.append(f"{len(missing)} missing times were passed over: rows are steps")
        return TimedRows(clock, order, tuple(notes))
    rows = np.full(len(grid), -1)
    rows[places] = order
    notes.append(f"{counted(len(missing), 'row')} missing from the table")
    return TimedRows(Clock(name, grid, step), rows, tuple(notes))


def _check_unique(table: Table, clock: Clock, order: Array) -> None:
    values = np.asarray(clock.times)
    twice = np.flatnonzero(values[1:] == values[:-1])
    if twice.size:
        text = clock.text(clock.times[twice[:SHOWN]])
        shown = (
            f"{when} at {table.where(order[i])} and {table.where(order[i + 1])}"
            for i, when in zip(twice, text, strict=False)
        )
        raise TableError(
            f"column {clock.name!r} holds the same time twice: {listed(shown, len(twice))}. Keep "
            "one row for each time: sum or average them, or keep one series of several in a file."
        )


def _grid(times: Any) -> tuple[Any, Any]:
    """A step and all times from first to last of which ``times`` is a part; else None."""
    step = steps.find(times)
    if step is None:
        return None, None
    return step, steps.filled(times, steps.places(times, step), step)


def _most_common(times: Any) -> Any:
    """The step that most rows have to the next."""
    common = steps.most_common(times)
    if times.dtype.kind != "M":
        return common
    pandas = need_pandas()
    return pandas.tseries.frequencies.to_offset(pandas.Timedelta(common))


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
        shown.append(f"{span} ({counted(int(count), 'row')}, before {table.where(order[i])})")
    return (
        f"column {clock.name!r} goes in steps of {clock.words}, with "
        f"{counted(len(missing), 'row')} missing: {listed(shown, len(starts), ' gaps')}. Fill them "
        "with the last value before by --gaps fill, or pass over them with --gaps ignore."
    )


def counted(number: int, what: str) -> str:
    """A number of things, in words."""
    return f"{number} {what}{'s' * (number != 1)}"
