"""A series to forecast: the target, its times, and columns that are known ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eigenecho.forecasting.clock import Clock
from eigenecho.forecasting.regular import keep_time
from eigenecho.forecasting.table import SHOWN, Table, TableError
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class Series:
    """Values (T,) at regular times.

    ``inputs`` (T + ahead, k) are further columns; they reach beyond the last value where the
    table does. ``notes`` say what was done to the table.
    """

    name: str
    values: Array
    clock: Clock
    inputs: Array
    input_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)


def from_table(
    table: Table,
    target: str,
    *,
    time: str | None = None,
    inputs: Sequence[str] = (),
    gaps: str = "error",
) -> Series:
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
        About missing rows, see ``keep_time``; "fill" also fills empty cells, by interpolation.
    """
    columns = [table.index(target, "--target"), *(table.index(i, "--inputs") for i in inputs)]
    if len(set(columns)) < len(columns):
        raise TableError("--inputs names the target or one column twice: each column counts once.")
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
    filled, count = _filled(table, target, values[:length], clock, rows, gaps)
    columns_filled = []
    for name, column in zip(inputs, known, strict=True):
        column, more = _filled(table, name, column, clock, rows, gaps)
        columns_filled.append(column)
        count += more
    if count and gaps == "fill":
        notes.append(f"{count} cells filled by interpolation")
    if np.ptp(filled) == 0:
        raise TableError(
            f"column {target!r} is constant: every row holds {filled[0]:g}. There is nothing to "
            "learn; the forecast is that number."
        )
    return Series(
        target,
        filled,
        Clock(clock.name, clock.times[:length], clock.step),
        np.array(columns_filled).T.reshape(len(values), len(inputs)),
        tuple(inputs),
        tuple(notes),
    )


def _filled(
    table: Table, name: str, values: Array, clock: Clock, rows: Array, gaps: str
) -> tuple[Array, int]:
    """Values without NaN, and how many cells of the table were empty."""
    empty = np.isnan(values)
    if not empty.any():
        return values, 0
    if gaps != "fill":
        bad = np.flatnonzero(empty)
        times = clock.text(clock.times[bad[:SHOWN]])
        shown = "; ".join(
            f"{table.where(rows[i])} ({clock.name} {when})"
            for i, when in zip(bad, times, strict=False)
        )
        more = f"; and {len(bad) - SHOWN} more" if len(bad) > SHOWN else ""
        raise TableError(
            f"column {name!r} is empty at {shown}{more}. Fill it by linear interpolation with "
            "--gaps fill."
        )
    place = np.arange(len(values))
    filled = np.interp(place, place[~empty], values[~empty])
    return filled, int(np.count_nonzero(empty & (rows[: len(values)] >= 0)))
