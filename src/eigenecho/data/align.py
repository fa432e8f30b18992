"""Tables placed on regular clocks: histories of series, and X at their rows and beyond."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.data import clock as clocks_of
from eigenecho.data.clock import Clock, as_numbers, is_date, is_period, joined, positions, shown
from eigenecho.data.panel import Columns, History, filled_forward
from eigenecho.data.read import Table
from eigenecho.errors import Words, bad_argument
from eigenecho.types import Array

RESAMPLE = "Resample to a regular step, or pass arrays, whose rows are steps."
LOOSE = 1000
"""Maximum number of steps per row: beyond, a step is too short for the rows."""
SMALLEST = 1e-150
"""Smallest non-zero range of a series, whose square is still a number."""


class Drivers:
    """Columns of X by series.

    Parameters
    ----------
    tables : dict of Table
        By series, or under None for all series.
    columns : Columns
        The columns that are needed.
    allowed : sequence of Hashable
        Labels of the columns that may exist.
    name : str
        The name of X in errors.
    """

    def __init__(
        self,
        tables: Mapping[Hashable, Table],
        columns: Columns,
        allowed: Sequence[Hashable],
        name: str,
    ) -> None:
        self.tables, self.columns, self.name = tables, columns, name
        for table in tables.values():
            columns.check_labels(table.labels, allowed, name)

    def beside(
        self, series: Hashable, clock: Clock, rows: Array, fill: bool
    ) -> tuple[Array | None, Array | None, Array]:
        """Return X at the rows of a series, known ahead and of the past, and after its end."""
        length = len(clock.times)
        table, has = self._on_grid(series, clock.times[:1], clock, length)
        further = len(table) - length
        times = joined([clock.times, clock.ahead(further)]) if further else clock.times
        needed = np.arange(len(table)) >= length
        needed[rows] = True
        if (needed & ~has).any():
            got = f"no row at {shown(times[int(np.argmax(needed & ~has)) :])}{self._of(series)}"
            raise bad_argument(self.name, Words(got), "one row per row of y, and no gaps after it")
        # If neither y nor X has a row, the last known values of X are used.
        table[~has] = filled_forward(table)[~has]
        known, past = self.columns.split(table)
        self.columns.check_complete(known, self.name, times, self._of(series))
        past = filled_forward(past[:length]) if fill else past[:length]
        return (
            known[:length] if self.columns.known else None,
            past if self.columns.past else None,
            known[length:],
        )

    def after(self, series: Hashable, clock: Clock, horizon: int) -> Array:
        """Return columns known ahead, (horizon, k), at the times after the end of a series."""
        times = clock.ahead(horizon)
        table, has = (part[:horizon] for part in self._on_grid(series, times[:1], clock, horizon))
        if not has.all():
            got = f"no row at {shown(times[int(np.argmin(has)) :])}{self._of(series)}"
            wanted = f"{horizon} rows from {shown(times)} to {shown(times[-1:])}"
            raise bad_argument(self.name, Words(got), wanted)
        self.columns.check_complete(table, self.name, times, self._of(series))
        return table

    def _on_grid(
        self, series: Hashable, first: Any, clock: Clock, rows: int
    ) -> tuple[Array, Array]:
        """Return values from a first time on, at least ``rows``, and whether each row exists."""
        given = self.tables.get(None, self.tables.get(series))
        if given is None:
            got = Words(f"no rows of series {series!r}")
            raise bad_argument(self.name, got, "rows of every series")
        check_same_type(given.times, clock.times, self.name)
        if isinstance(given.times, np.ndarray):
            is_after = given.times > first[0] - clock.step / 2
        else:
            is_after = np.asarray(given.times >= first[0])
        times = given.times[is_after]
        found = positions(times, clock.step, first)
        if (found < 0).any():
            got = Words(f"a row at {shown(times[int(np.argmax(found < 0)) :])}{self._of(series)}")
            wanted = f"rows in the steps of y, {clock.words} from {shown(first)}"
            raise bad_argument(self.name, got, wanted)
        size = max(rows, int(found.max(initial=-1)) + 1)
        labels = self.columns.labels
        table, has = np.full((size, len(labels)), np.nan), np.zeros(size, bool)
        table[found] = given.values[is_after][:, [given.labels.index(label) for label in labels]]
        has[found] = True
        return table, has

    def _of(self, series: Hashable) -> str:
        """Return the words that name a series in errors, if it has a table of its own."""
        return "" if None in self.tables else f" of series {series!r}"


@dataclass(frozen=True, eq=False)
class Aligned:
    """Histories, the clock of each, and rows of X after its end, (m_i, k)."""

    histories: tuple[History, ...]
    clocks: tuple[Clock, ...]
    ahead: tuple[Array, ...]


def align(
    tables: Sequence[Table],
    step: Any,
    drivers: Drivers | None,
    name: str,
    own_steps: Mapping[Hashable, Any] | None = None,
    whole: bool = True,
) -> Aligned:
    """Place tables on grids of a step; rows that are missing there are NaN.

    Parameters
    ----------
    step : pandas offset or number
        The step of all series except those in ``own_steps``.
    whole : bool
        The tables contain all rows: check that something is observed, and fill gaps in columns
        of the past.
    """
    histories: list[History] = []
    clocks: list[Clock] = []
    ahead: list[Array] = []
    cache: dict[tuple[Any, ...], tuple[Clock, Array]] = {}
    for table in tables:
        label = table.labels[0] if len(tables) > 1 else None
        pace = (own_steps or {}).get(table.labels[0], step)
        # Series of a long frame often have the same times, which are then placed once.
        key = pace, as_numbers(table.times).tobytes()
        if key not in cache:
            cache[key] = _placed(table.times, pace, name, label)
        clock, rows = cache[key]
        values = np.full((len(clock.times), table.values.shape[1]), np.nan)
        values[rows] = table.values
        known, past, after = None, None, np.zeros((0, 0))
        if drivers is not None:
            known, past, after = drivers.beside(table.labels[0], clock, rows, whole)
        for series, column in zip(table.labels, values.T, strict=True):
            if whole:
                _check_observed(column, name, series)
            histories.append(History(series, np.ascontiguousarray(column), known, past))
        clocks += [clock] * len(table.labels)
        ahead += [after] * len(table.labels)
    return Aligned(tuple(histories), tuple(clocks), tuple(ahead))


def find_step(times: Any, name: str, label: Any = None) -> Any:
    """Return the step of sorted times, or raise an error."""
    of = _of(label)
    if len(times) == 1:
        if is_date(times):
            got = Words(f"one date, {shown(times)}{of}")
            raise bad_argument(name, got, "several dates, or an index with a freq")
        return times.freq.n if is_period(times) else 1
    step = clocks_of.find_step(times)
    if step is None:
        common = clocks_of.usual_steps(times)[0]
        values = np.asarray(times) if is_date(times) else as_numbers(times)
        odd = int(np.argmax(np.diff(values) != common))
        words = Clock(times, clocks_of.tick(common) if is_date(times) else common).words
        got = Words(f"{shown(times[odd:])} followed by {shown(times[odd + 1 :])}{of}")
        raise bad_argument(name, got, f"a regular step: most are {words}", RESAMPLE)
    return step


def _check_observed(values: Array, name: str, label: Any = None) -> None:
    """Raise if a series has no observations, or its range is positive but below ``SMALLEST``."""
    of = "" if label is None else f" in series {label!r}"
    if np.isnan(values).all():
        raise bad_argument(name, Words(f"nothing but NaN{of}"), "a series with observations")
    spread = float(np.nanmax(values) - np.nanmin(values))
    if 0 < spread < SMALLEST:
        got = Words(f"numbers within a range of {spread:.3g}{of}")
        raise bad_argument(name, got, f"a range of at least {SMALLEST:g}", "Rescale the data.")


def check_same_type(times: Any, like: Any, name: str) -> None:
    """Raise unless times are dates of the same time zone, periods of one length, or numbers."""
    got, wanted = _type(times), _type(like)
    if got != wanted:
        raise bad_argument(name, Words(f"rows with {got}"), f"{wanted}, as before")


def _placed(times: Any, step: Any, name: str, label: Any) -> tuple[Clock, Array]:
    """Return the clock of sorted times without gaps, and the positions of the rows on it.

    If the step does not fit, another one of the same length may: quarters from another month.
    """
    if not len(times):
        return Clock(times, step), np.zeros(0, np.int64)
    found = positions(times, step)
    if (found < 0).any():
        own = clocks_of.find_step(times) if len(times) > 1 else None
        if own is None or not clocks_of.same_pace(Clock(times, own), Clock(times, step)):
            odd = int(np.argmax(found < 0))
            got = Words(f"a row at {shown(times[odd:])}{_of(label)}")
            wanted = f"steps of {Clock(times, step).words} from {shown(times)}"
            raise bad_argument(name, got, wanted, RESAMPLE)
        step, found = own, positions(times, own)
    if found[-1] >= LOOSE * (len(times) + 10):
        got = Words(f"{len(times)} rows{_of(label)} on {found[-1] + 1} steps")
        raise bad_argument(name, got, f"rows {Clock(times, step).words} apart", RESAMPLE)
    return Clock(clocks_of.filled(times, found, step), step), found


def _type(times: Any) -> str:
    if is_period(times):
        return f"periods {times.freqstr!r}"
    if not is_date(times):
        return "numbers"
    return "dates without a time zone" if times.tz is None else f"dates of zone {times.tz}"


def _of(label: Any) -> str:
    return "" if label is None else f" in series {label!r}"
