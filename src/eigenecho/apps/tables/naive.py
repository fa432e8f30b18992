"""Forecasts that need no model: what any other has to beat."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from eigenecho.types import Array

Naive = Callable[[Array, int], Array]
"""Past values and a horizon to the values that follow."""


def last_value(past: Array, horizon: int) -> Array:
    """Nothing changes."""
    return np.full(horizon, past[-1])


def mean_value(past: Array, horizon: int) -> Array:
    """Back to the mean at once."""
    return np.full(horizon, past.mean())


def seasonal(period: int) -> Naive:
    """The last cycle again and again."""

    def forecast(past: Array, horizon: int) -> Array:
        return np.resize(past[-period:], horizon)

    return forecast


def best_season(
    truth: Array, values: Array, periods: Sequence[float], origins: Sequence[int], horizon: int
) -> int | None:
    """The period, in whole steps, whose repetition is nearest to what follows the origins.

    ``truth`` is NaN where ``values`` were filled.
    """

    def error(period: int) -> float:
        ahead = seasonal(period)
        return sum(
            float(np.nansum((ahead(values[:o], horizon) - truth[o : o + horizon]) ** 2))
            for o in origins
        )

    whole = [round(p) for p in periods if 2 <= round(p) <= min(origins)]
    return min(whole, key=error) if whole else None


def forecasts(season: int | None) -> dict[str, Naive]:
    """All of them, by name."""
    named: dict[str, Naive] = {"last value": last_value, "mean": mean_value}
    if season is not None:
        named[f"seasonal naive, {season}"] = seasonal(season)
    return named
