"""Metrics of predictions and forecasts.

rmse, nrmse                            errors of predictions
valid_time                             how long forecasts of chaotic systems stay accurate
squared_correlation, memory_capacity   correlation of predictions and targets
mase, smape                            scaled errors of forecasts
pinball, crps, coverage                quantile forecasts and prediction intervals

Arrays are (T,), (T, D), or (series, T, D). Nothing is broadcast: (T,) against (T, 1) is an error,
because it would compare every row with every other. For forecasts, NaN in ``y`` is a missing
observation and is ignored; all other numbers must be finite.
"""

from eigenecho.metrics.forecasts import coverage, crps, mase, pinball, smape
from eigenecho.metrics.predictions import (
    memory_capacity,
    nrmse,
    rmse,
    squared_correlation,
    valid_time,
)

__all__ = [
    "coverage",
    "crps",
    "mase",
    "memory_capacity",
    "nrmse",
    "pinball",
    "rmse",
    "smape",
    "squared_correlation",
    "valid_time",
]
