"""Forecasts that need no training: what readouts correct, and fall back to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenecho.types import Array, PositiveInt

KINDS = ("level", "drift", "season", "growth")


@dataclass(frozen=True)
class Base:
    """A naive forecast, made after every row.

    ``level``: the level stays. ``drift``: the last value, and the mean step since the first, again
    and again. ``season``: the last season again. ``growth``: that, each time by so much higher as
    the last season lay above the one before, in the mean.

    All are linear in the series, and answer a constant with that constant.
    """

    kind: str = "level"
    season: PositiveInt = 1

    @property
    def needs(self) -> int:
        """Rows before which it has nothing to go by."""
        return {"level": 1, "drift": 2, "season": self.season, "growth": 2 * self.season}[self.kind]

    def ahead(self, y: Array, level: Array, rows: Array, horizon: int) -> Array:
        """Forecasts (rows, H) after the rows of a series (T,) whose levels are (T,)."""
        steps = np.arange(1, horizon + 1)
        if self.kind == "level":
            return np.repeat(level[rows, None], horizon, axis=1)
        if self.kind == "drift":
            slope = (y[rows] - y[0]) / np.maximum(rows, 1)
            return y[rows, None] + slope[:, None] * steps
        seasons = -(-steps // self.season)
        again = y[np.maximum(rows[:, None] + steps - self.season * seasons, 0)]
        if self.kind == "season":
            return again
        return again + self._growth(y, rows)[:, None] * seasons

    def _growth(self, y: Array, rows: Array) -> Array:
        """How far the mean of the last season lies above the one before; 0 where there is none."""
        m = self.season
        sums = np.concatenate([[0.0], np.cumsum(y - y[0])])
        ends = rows + 1
        last = sums[ends] - sums[np.maximum(ends - m, 0)]
        before = sums[np.maximum(ends - m, 0)] - sums[np.maximum(ends - 2 * m, 0)]
        return np.where(ends >= 2 * m, (last - before) / m, 0.0)
