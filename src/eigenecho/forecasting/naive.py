"""Naive forecasts that ours are compared with, and their errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eigenecho.data.panel import Panel
from eigenecho.forecasting.rows import Baseline
from eigenecho.forecasting.signals import fill_gaps
from eigenecho.types import Array


def rivals(season: int) -> dict[str, Baseline | None]:
    """Return naive forecasts by name, without the seasonal ones for a season of one row.

    None is the mean of all observations, which is the best forecast of white noise.
    """
    named = {"last value": Baseline(), "mean": None, "drift": Baseline("drift")}
    if season > 1:
        named["seasonal naive"] = Baseline("season", season)
        named["seasonal growth"] = Baseline("growth", season)
    return named


def naive(baseline: Baseline | None, values: Array, horizon: int) -> Array:
    """Return a naive forecast (H,) after the end of a series (T,) that may contain NaN.

    None forecasts the mean. A series shorter than a season is forecast by its last value.
    """
    if baseline is None:
        return np.full(horizon, np.nanmean(values))
    y = fill_gaps(values, baseline.season).values
    if len(y) < baseline.needs and baseline.kind == "season":
        baseline = Baseline("level")
    return baseline.forecast(y, y, np.array([len(y) - 1]), horizon)[0]


def naive_error(values: Array, season: int) -> float:
    """Return the mean absolute change over a season, the error of a naive forecast.

        mean |y(t) − y(t − season)|

    Over a single row if the series has no two seasons; NaN if it never changes.
    """
    for lag in (season, 1):
        changes = np.abs(values[lag:] - values[:-lag])
        changes = changes[~np.isnan(changes)]
        if changes.size and (mean := float(changes.mean())) > 0:
            return mean
    return float("nan")


def naive_season(panel: Panel, seasons: Sequence[int]) -> int:
    """Return the season with the smallest naive error; 1 if there are none."""
    candidates = [season for season in seasons if season > 1]
    if len(candidates) < 2:
        return candidates[0] if candidates else 1
    lags = (1, *candidates)
    errors = np.array([[naive_error(h.values, s) for s in lags] for h in panel.histories])
    relative = errors[:, 1:] / errors[:, :1]
    changing = relative[np.isfinite(relative).all(axis=1)]
    return candidates[int(np.argmin(changing.mean(axis=0)))] if len(changing) else candidates[0]
