"""Forecasts of held-out blocks, ours and naive ones, and how far off they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eigenecho.apps.tables import naive
from eigenecho.apps.tables.split import Split
from eigenecho.apps.tables.time_series import TimeSeries
from eigenecho.types import Array

OURS = "eigenecho"

ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""Of the largest value."""


@dataclass(frozen=True, eq=False)
class Backtest:
    """Forecasts of the held-out blocks, (blocks, horizon) by name, ours first."""

    truth: Array
    """NaN where rows were filled: nothing is measured there."""
    guesses: dict[str, Array]
    scale: float
    """Mean size of a step, over a season where there is one: what MASE is relative to."""

    def mae(self, name: str) -> float:
        """Mean absolute error."""
        return float(np.nanmean(self.errors(name)))

    def rmse(self, name: str) -> float:
        """Root mean square error."""
        return float(np.sqrt(np.nanmean(self.errors(name) ** 2)))

    def mase(self, name: str) -> float:
        """Mean absolute error, scaled; NaN where rows before repeat each other exactly."""
        return self.mae(name) / self.scale if self.scale > self.rounding else float("nan")

    @property
    def rounding(self) -> float:
        """Below this an error is that of arithmetic, not of a forecast."""
        return ROUNDING * float(np.nanmax(np.abs(self.truth)))

    def block_errors(self, name: str) -> Array:
        """Mean absolute error of each block; NaN for one without a row to measure at."""
        return _means(self.errors(name))

    def errors(self, name: str) -> Array:
        """Absolute errors, (blocks, horizon); NaN where the truth is, never by a guess."""
        errors = np.abs(self.guesses[name] - self.truth)
        return np.where(np.isnan(errors) & ~np.isnan(self.truth), np.inf, errors)

    @property
    def measured(self) -> int:
        """Held-out rows that were observed."""
        return int(np.count_nonzero(~np.isnan(self.truth)))


def compared(series: TimeSeries, parts: Split, ours: Array, season: int | None) -> Backtest:
    """Our forecasts (blocks, horizon) of the held-out blocks beside naive ones."""
    values, h = series.values, parts.horizon
    guesses: dict[str, Array] = {OURS: ours}
    for name, ahead in naive.forecasts(season).items():
        guesses[name] = np.array([ahead(values[:o], h) for o in parts.test])
    learnt, lag = series.observed[: parts.test[0]], season or 1
    steps = np.abs(learnt[lag:] - learnt[:-lag])
    scale = float(np.nanmean(steps)) if not np.isnan(steps).all() else float("nan")
    return Backtest(rows_after(series.observed, parts.test, h), guesses, scale)


def rows_after(values: Array, origins: Sequence[int], horizon: int) -> Array:
    """(origins, horizon)"""
    return np.array([values[o : o + horizon] for o in origins])


def _means(errors: Array) -> Array:
    """The mean of each row of what there is."""
    seen = ~np.isnan(errors)
    sums, counts = np.where(seen, errors, 0.0).sum(axis=1), seen.sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
