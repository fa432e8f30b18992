"""Naive forecasts by name: what a forecast is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eigenecho.data.panel import Panel
from eigenecho.forecasting.base import Base
from eigenecho.forecasting.signal import bridged
from eigenecho.types import Array


@dataclass(frozen=True)
class Mean:
    """The mean of all that was observed, which nothing beats on noise."""


Rival = Base | Mean


def rivals(season: int) -> dict[str, Rival]:
    """Naive forecasts by name: all of them, or with a season of one row those without a season."""
    found: dict[str, Rival] = {"last value": Base(), "mean": Mean(), "drift": Base("drift")}
    if season > 1:
        found["seasonal naive"] = Base("season", season)
        found["seasonal growth"] = Base("growth", season)
    return found


def naive(base: Rival, values: Array, horizon: int) -> Array:
    """A naive forecast (H,) after the end of a series (T,); NaN in it is a missing observation.

    A series shorter than a season stays at its last value.
    """
    if isinstance(base, Mean):
        return np.full(horizon, np.nanmean(values))
    seen = bridged(values, base.season).values
    if len(seen) < base.needs and base.kind == "season":
        base = Base("level")
    return base.ahead(seen, seen, np.array([len(seen) - 1]), horizon)[0]


def naive_error(values: Array, season: int) -> float:
    """The mean change over a season, which a naive forecast's error would have been.

        mean |y(t) − y(t − season)|

    Over a single row where the series has no two seasons; NaN where it never changes.
    """
    for apart in (season, 1):
        changes = np.abs(values[apart:] - values[:-apart])
        changes = changes[~np.isnan(changes)]
        if changes.size and (mean := float(changes.mean())) > 0:
            return mean
    return float("nan")


def naive_season(panel: Panel, seasons: Sequence[int]) -> int:
    """Of several seasons the one that series repeat themselves best after; 1 for none."""
    candidates = [season for season in seasons if season > 1]
    if len(candidates) < 2:
        return candidates[0] if candidates else 1
    lags = (1, *candidates)
    errors = np.array([[naive_error(one.values, s) for s in lags] for one in panel.histories])
    relative = errors[:, 1:] / errors[:, :1]
    changing = relative[np.isfinite(relative).all(axis=1)]
    return candidates[int(np.argmin(changing.mean(axis=0)))] if len(changing) else candidates[0]
