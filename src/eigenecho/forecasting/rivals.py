"""Naive forecasts by name: what a forecast is compared with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eigenecho.forecasting.base import Base
from eigenecho.forecasting.signal import bridged
from eigenecho.panels.panel import Panel
from eigenecho.types import Array

NAMES = {"level": "last value", "drift": "drift", "season": "seasonal naive",
         "growth": "seasonal growth"}  # fmt: skip
"""What each is called in tables."""


def rivals(season: int) -> dict[str, Base]:
    """Naive forecasts by name: all four, or with a season of one row those without a season."""
    found = {NAMES[kind]: Base(kind, season) for kind in ("level", "drift", "season", "growth")}
    return dict(list(found.items())[: 4 if season > 1 else 2])


def naive(base: Base, values: Array, horizon: int) -> Array:
    """A naive forecast (H,) after the end of a series (T,); NaN in it is a missing observation.

    A series shorter than a season stays at its last value.
    """
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
