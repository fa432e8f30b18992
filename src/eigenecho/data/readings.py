"""Sheets set on regular times: histories, and X beside and after them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.data import steps
from eigenecho.data.clock import Clock
from eigenecho.data.columns import Columns, check_known, split
from eigenecho.data.numbers import check_observed, filled_forward
from eigenecho.data.panel import History
from eigenecho.data.sheets import Sheet
from eigenecho.data.times import check_alike, placed, shown, since
from eigenecho.errors import Shown, bad_argument
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class Drivers:
    """Rows of X by the series they belong to, or under None for all; and what columns they are.

    ``name`` is the argument, for errors.
    """

    rows: Mapping[Hashable, Sheet]
    columns: Columns
    name: str

    def of(self, series: Hashable) -> Sheet:
        """Rows of X of a series."""
        if None in self.rows:
            return self.rows[None]
        if series not in self.rows:
            raise bad_argument(
                self.name, Shown(f"no rows of series {series!r}"), "rows of every series"
            )
        return self.rows[series]


@dataclass(frozen=True, eq=False)
class Reading:
    """Histories, the clock of each, and what is known of X after its end, (m_i, k)."""

    histories: tuple[History, ...]
    clocks: tuple[Clock, ...]
    ahead: tuple[Array, ...]


def read_sheets(
    parts: Sequence[Sheet],
    step: Any,
    drivers: Drivers | None,
    name: str,
    *,
    own_steps: Mapping[Hashable, Any] | None = None,
    whole: bool = True,
) -> Reading:
    """Set sheets on the grid of a step; rows that are missing there are NaN.

    Parameters
    ----------
    step : pandas offset or number
        Of all series but those that have one in ``own_steps``.
    whole : bool
        Whether these are all rows there are: then something is observed, and gaps of columns that
        are known up to the present are filled.
    """
    histories: list[History] = []
    clocks: list[Clock] = []
    ahead: list[Array] = []
    found: dict[tuple[Any, ...], tuple[Clock, Array]] = {}
    for sheet in parts:
        # A sheet of several series is a wide frame: its times are not those of any one of them.
        series = sheet.labels[0] if len(parts) > 1 else None
        pace = (own_steps or {}).get(sheet.labels[0], step)
        # Many series of a long frame have the same times, which are then looked at once.
        key = pace, steps.as_numbers(sheet.times).tobytes()
        if key not in found:
            found[key] = placed(sheet.times, pace, name, series)
        clock, rows = found[key]
        values = np.full((len(clock.times), sheet.values.shape[1]), np.nan)
        values[rows] = sheet.values
        known, past, after = _beside(drivers, sheet.labels[0], clock, rows, whole)
        for label, column in zip(sheet.labels, values.T, strict=True):
            if whole:
                check_observed(column, name, label)
            histories.append(History(label, np.ascontiguousarray(column), known, past))
        clocks += [clock] * len(sheet.labels)
        ahead += [after] * len(sheet.labels)
    return Reading(tuple(histories), tuple(clocks), tuple(ahead))


def rows_ahead(drivers: Drivers, series: Hashable, clock: Clock, horizon: int) -> Array:
    """Columns known ahead, (horizon, k), at the times after the last of a clock."""
    times = clock.ahead(horizon)
    found, values = _on_grid(drivers, series, times[:1], clock)
    inside = found < horizon
    rows = np.full((horizon, len(drivers.columns.labels)), np.nan)
    has = np.zeros(horizon, bool)
    rows[found[inside]], has[found[inside]] = values[inside], True
    if not has.all():
        when = shown(times[int(np.argmin(has)) :])
        raise bad_argument(
            drivers.name, Shown(f"no row at {when}{_of(drivers, series)}"),
            f"{horizon} rows from {shown(times)} to {shown(times[-1:])}",
        )  # fmt: skip
    check_known(rows, drivers.columns, drivers.name, _at(times), _series(drivers, series))
    return rows


def _beside(
    drivers: Drivers | None, series: Hashable, clock: Clock, rows: Array, whole: bool
) -> tuple[Array | None, Array | None, Array]:
    """X at the rows of a series: known ahead, up to the present; and known after its end."""
    if drivers is None:
        return None, None, np.zeros((0, 0))
    length = len(clock.times)
    found, values = _on_grid(drivers, series, clock.times[:1], clock)
    size = max(length, int(found.max(initial=-1)) + 1)
    table = np.full((size, values.shape[1]), np.nan)
    table[found] = values
    needed, has = np.ones(size, bool), np.zeros(size, bool)
    needed[:length] = False
    needed[rows], has[found] = True, True
    times = clock.then(clock.ahead(size - length)).times if size > length else clock.times
    if (needed & ~has).any():
        when = shown(times[int(np.argmax(needed & ~has)) :])
        raise bad_argument(
            drivers.name, Shown(f"no row at {when}{_of(drivers, series)}"),
            "a row for each of the series, and none left out after its end",
        )  # fmt: skip
    # Where neither has a row, nothing was observed: what was known before goes on.
    table[~has] = filled_forward(table)[~has]
    label = _series(drivers, series)
    known, past = split(table[:length], drivers.columns, drivers.name, _at(times), label, whole)
    after = drivers.columns.parts(table[length:])[0]
    check_known(after, drivers.columns, drivers.name, _at(times[length:]), label)
    return known, past, after


def _on_grid(drivers: Drivers, series: Hashable, first: Any, clock: Clock) -> tuple[Array, Array]:
    """Places of rows of X from a first time on, and their values; those before are left out."""
    sheet = drivers.of(series)
    check_alike(sheet.times, clock.times, drivers.name)
    chosen = since(sheet.times, first, clock.step)
    times = sheet.times[chosen]
    found = steps.places(times, clock.step, first)
    if (found < 0).any():
        when = shown(times[int(np.argmax(found < 0)) :])
        raise bad_argument(
            drivers.name, Shown(f"a row at {when}{_of(drivers, series)}"),
            f"rows in the steps of the series, {clock.words} from {shown(first)} on",
        )  # fmt: skip
    return found, sheet.values[chosen]


def _at(times: Any) -> Any:
    return lambda row: f"at {shown(times[row:])}"


def _series(drivers: Drivers, series: Hashable) -> Hashable:
    """A series, where rows of X belong to one."""
    return None if None in drivers.rows else series


def _of(drivers: Drivers, series: Hashable) -> str:
    return "" if None in drivers.rows else f" of series {series!r}"
