"""A series to forecast: the target, its times, and columns that are known ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eigenecho.apps.tables.regular import counted, keep_time
from eigenecho.apps.tables.table import SHOWN, Table, TableError, listed
from eigenecho.forecasting.clock import Clock
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class TimeSeries:
    """Values (T,) at regular times.

    ``inputs`` (T + ahead, k) are further columns; they reach beyond the last value where the
    table does. ``notes`` say what was done to the table. ``filled`` (T,) are rows that nobody
    observed: networks may start from them, but no error is measured there.
    """

    name: str
    values: Array
    clock: Clock
    inputs: Array
    input_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    filled: Array | None = None

    @property
    def observed(self) -> Array:
        """Values, NaN where they were filled."""
        return self.values if self.filled is None else np.where(self.filled, np.nan, self.values)

    def __len__(self) -> int:
        return len(self.values)


def from_table(
    table: Table,
    target: str,
    *,
    time: str | None = None,
    inputs: Sequence[str] = (),
    gaps: str = "error",
) -> TimeSeries:
    """Take a target, and columns that are known ahead, out of a table.

    Rows at the end without a target only say what the inputs will be.

    Parameters
    ----------
    table : Table
    target : str
    time : str, optional
        The column of dates; found by itself by default.
    inputs : names of columns
    gaps : {"error", "fill", "ignore"}
        About missing rows, see ``keep_time``; "fill" also fills empty cells: of the target with
        the last value before, of inputs by interpolation, as they are known ahead.
    """
    columns = [table.index(target, "--target"), *(table.index(i, "--inputs") for i in inputs)]
    if len(set(columns)) < len(columns):
        raise TableError("--inputs names the target or one column twice: each column counts once.")
    fill = gaps == "fill"
    timed = keep_time(table, time, (target, *inputs), gaps)
    clock, rows, notes = timed.clock, timed.rows, list(timed.notes)
    values, *known = (
        np.where(rows >= 0, table.numbers(column)[rows], np.nan) for column in columns
    )
    if clock.name == target:
        raise TableError(f"--time and --target both name {target!r}.")
    present = np.flatnonzero(~np.isnan(values))
    if present.size == 0:
        raise TableError(f"column {target!r} holds no numbers.")
    length = int(present[-1]) + 1
    if length < len(values):
        notes.append(
            f"{len(values) - length} rows at the end have no {target!r}: the forecast starts there"
        )
    empty = np.isnan(values[:length])
    filled = _target(_Column(table, target, clock, rows), values[:length], fill)
    if empty.any():
        notes.append(
            f"{counted(int(empty.sum()), 'row')} without {target!r}, filled with the last value "
            "before and left out of all errors"
        )
    columns_filled, count = [], 0
    for name, column in zip(inputs, known, strict=True):
        count += int(np.isnan(column).sum())
        columns_filled.append(_input(_Column(table, name, clock, rows), column, length, fill))
    if count:
        notes.append(f"{counted(count, 'cell')} of inputs filled by interpolation")
    if np.ptp(filled) == 0:
        raise TableError(
            f"column {target!r} is constant: every row holds {filled[0]:g}. There is nothing to "
            "learn; the forecast is that number."
        )
    return TimeSeries(
        target,
        filled,
        Clock(clock.name, clock.times[:length], clock.step),
        np.array(columns_filled).T.reshape(len(values), len(inputs)),
        tuple(inputs),
        tuple(notes),
        empty,
    )


@dataclass(frozen=True, eq=False)
class _Column:
    """A column, to say where it is empty."""

    table: Table
    name: str
    clock: Clock
    rows: Array

    def gaps(self, values: Array, fill: bool, remedy: str) -> Array:
        """Where values (T,) are missing; refused unless they are to be filled."""
        empty = np.isnan(values)
        if empty.any() and not fill:
            raise self.empty(np.flatnonzero(empty), remedy)
        return empty

    def empty(self, places: Array, remedy: str) -> TableError:
        times = self.clock.text(self.clock.times[places[:SHOWN]])
        shown = (
            f"{self.table.where(self.rows[i])} ({self.clock.name} {when})"
            if self.rows[i] >= 0
            else f"{self.clock.name} {when} (no such row)"
            for i, when in zip(places, times, strict=False)
        )
        return TableError(
            f"column {self.name!r} is empty at {listed(shown, len(places))}. {remedy}"
        )


def _target(column: _Column, values: Array, fill: bool) -> Array:
    """Values without NaN: the last one before goes on, so that no row knows of a later one."""
    remedy = "Fill it with the last value before by --gaps fill."
    empty = column.gaps(values, fill, remedy)
    first = int(np.argmin(empty))
    if first:
        raise column.empty(np.arange(first), "There is no value before: leave these rows out.")
    return values[np.maximum.accumulate(np.where(empty, 0, np.arange(len(values))))]


def _input(column: _Column, values: Array, length: int, fill: bool) -> Array:
    """Values without NaN, by interpolation between those known; never after the target's end."""
    remedy = "Fill it by linear interpolation with --gaps fill."
    empty = column.gaps(values, fill, remedy)
    place = np.arange(len(values))
    known = place[~empty]
    inside = (place > min(known, default=0)) & (place < max(known, default=0)) & (place < length)
    if (empty & ~inside).any():
        raise column.empty(
            np.flatnonzero(empty & ~inside),
            "Inputs are filled between rows that are known, not before, not after, and not where "
            "the forecast needs them: write what they are, or leave these rows out.",
        )
    return np.interp(place, known, values[known])
