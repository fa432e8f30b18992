"""Metrics of predictions and forecasts.

rmse, nrmse                            errors of predictions
valid_time                             time during which a chaotic forecast stays accurate
squared_correlation, memory_capacity   correlation of predictions and targets
mase, smape                            scaled errors of forecasts
pinball, crps, coverage                quantile forecasts and prediction intervals

Arrays have shape (T,), (T, D) or (series, T, D). They are not broadcast: comparing (T,) with (T, 1)
raises an error, because broadcasting would compare each row with all rows. For metrics of
forecasts, NaN in ``y`` is a missing observation and is ignored. All other numbers must be finite.
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
