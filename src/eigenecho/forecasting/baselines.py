"""Naive forecasts: baselines that models correct, and that backtests use for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from eigenecho.checks import check_count
from eigenecho.data.panel import Panel
from eigenecho.forecasting.signals import LARGEST_PERIOD, fill_gaps
from eigenecho.types import Array, PositiveInt

BASELINES = ("level", "mean", "drift", "damped", "season", "growth")
"""Kinds of baselines."""

DAMPING = 0.9
"""Ratio of consecutive steps of a damped trend."""


@dataclass(frozen=True)
class Baseline:
    """Naive forecast from any row of a series.

    ``level``: the last value. ``mean``: the mean so far. ``drift``: the last value plus the mean
    step so far for each step ahead. ``damped``: a drift with shrinking steps. ``season``: the last
    season. ``growth``: the last season plus, for each season ahead, the difference between the
    means of the last two seasons.

    All forecasts are linear in the series, and exact for a constant series.
    """

    kind: Annotated[str, tuple(BASELINES)] = "level"
    season: PositiveInt = 1

    def check(self) -> None:
        """Raise an error if a loaded baseline has an unknown kind or a season that is too long."""
        check_count(self.season, "baseline", "a number of rows", 1, LARGEST_PERIOD)

    @property
    def needs(self) -> int:
        """Number of rows required for a forecast."""
        needs = {"drift": 2, "damped": 2, "season": self.season, "growth": 2 * self.season}
        return needs.get(self.kind, 1)

    def forecast(self, y: Array, rows: Array, horizon: int) -> Array:
        """Return forecasts (S, O, H) from the rows (O,) of series (S, T)."""
        steps = np.arange(1, horizon + 1)
        if self.kind == "level":
            return np.repeat(y[:, rows, None], horizon, axis=2)
        if self.kind == "mean":
            first = y[:, :1]
            means = first + np.cumsum(y - first, axis=1) / np.arange(1, y.shape[1] + 1)
            return np.repeat(means[:, rows, None], horizon, axis=2)
        if self.kind in ("drift", "damped"):
            slope = (y[:, rows] - y[:, :1]) / np.maximum(rows, 1)
            trend = steps if self.kind == "drift" else np.cumsum(DAMPING**steps)
            return y[:, rows, None] + slope[:, :, None] * trend
        seasons = -(-steps // self.season)
        last = y[:, np.maximum(rows[:, None] + steps - self.season * seasons, 0)]
        if self.kind == "season":
            return last
        return last + self._growth(y, rows)[:, :, None] * seasons

    def _growth(self, y: Array, rows: Array) -> Array:
        """Return the differences (S, O) of the means of the last two seasons, or 0 if unknown."""
        m, ends, start = self.season, rows + 1, np.zeros((len(y), 1))
        sums = np.concatenate([start, np.cumsum(y - y[:, :1], axis=1)], axis=1)
        last = sums[:, ends] - sums[:, np.maximum(ends - m, 0)]
        before = sums[:, np.maximum(ends - m, 0)] - sums[:, np.maximum(ends - 2 * m, 0)]
        return np.where(ends >= 2 * m, (last - before) / m, 0.0)


def rivals(season: int) -> dict[str, Baseline]:
    """Return naive baselines by name, including seasonal ones if the season exceeds one row."""
    named = {"last value": Baseline(), "mean": Baseline("mean"), "drift": Baseline("drift")}
    if season > 1:
        named["seasonal naive"] = Baseline("season", season)
        named["seasonal growth"] = Baseline("growth", season)
    return named


def naive(baseline: Baseline, values: Array, horizon: int) -> Array:
    """Return a naive forecast (H,) after the end of a series (T,) that may contain NaN.

    The mean ignores missing values. A series shorter than a season is forecast by its last value.
    """
    if baseline.kind == "mean":
        return np.full(horizon, np.nanmean(values))
    y = fill_gaps(values, baseline.season).values[None]
    if y.shape[1] < baseline.needs and baseline.kind == "season":
        baseline = Baseline("level")
    return baseline.forecast(y, np.array([y.shape[1] - 1]), horizon)[0, 0]


def naive_error(values: Array, season: int) -> float:
    """Return the mean absolute change over a season, which is the error of a naive forecast.

        mean |y(t) − y(t − season)|

    If this is 0 or undefined, the change over one row is used. If that is also 0 or undefined, the
    result is NaN.
    """
    for lag in (season, 1):
        changes = np.abs(values[lag:] - values[:-lag])
        changes = changes[~np.isnan(changes)]
        if changes.size and (mean := float(changes.mean())) > 0:
            return mean
    return float("nan")


def naive_season(panel: Panel, seasons: Sequence[int]) -> int:
    """Return the season with the smallest naive error, or 1 if there are no seasons."""
    if len(seasons) < 2:
        return seasons[0] if seasons else 1
    lags = (1, *seasons)
    errors = np.array([[naive_error(h.values, s) for s in lags] for h in panel.histories])
    relative = errors[:, 1:] / errors[:, :1]
    changing = relative[np.isfinite(relative).all(axis=1)]
    return seasons[int(np.argmin(changing.mean(axis=0)))] if len(changing) else seasons[0]
