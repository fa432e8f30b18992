"""Holt's damped trend, as a model that a user adds to the forecaster."""

from dataclasses import dataclass
from itertools import product

import numpy as np


@dataclass(frozen=True)
class DampedTrend:
    """Exponential smoothing with a damped trend, and the same parameters for all series."""

    level: float = 0.5
    trend: float = 0.1
    damping: float = 0.9

    def fit(self, batches, stops):
        """Choose the parameters with the smallest one-step errors."""
        grid = product((0.2, 0.5, 0.8, 0.99), (0.05, 0.2), (0.8, 0.9, 0.95))
        models = [DampedTrend(*parameters) for parameters in grid]
        return min(models, key=lambda m: sum(map(m._error, batches, stops)))

    def _error(self, batch, stop):
        y = batch.values[:, :stop]
        level, slope = self._states(y)
        made = (level + self.damping * slope)[:, :-1]
        return float(np.sum(np.abs(y[:, 1:] - made) / batch.unit[:, None]))

    def _states(self, y):
        level, slope = np.copy(y), np.zeros(y.shape)
        for t in range(1, y.shape[1]):
            before = level[:, t - 1] + self.damping * slope[:, t - 1]
            level[:, t] = before + self.level * (y[:, t] - before)
            slope[:, t] = self.damping * slope[:, t - 1] + self.trend * (y[:, t] - before)
        return level, slope

    def forecast(self, batch, origins, horizon):
        """Return forecasts (S, O, H)."""
        level, slope = (x[:, origins, None] for x in self._states(batch.values))
        return level + slope * np.cumsum(self.damping ** np.arange(1, horizon + 1))
