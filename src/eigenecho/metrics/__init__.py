"""How far predictions are from their targets, and how much of the targets they recall.

rmse, nrmse                            size of the errors
squared_correlation, memory_capacity   how much of the targets is recalled
mase, smape                            size of the errors of a forecast, free of units
pinball, crps, coverage                forecasts of quantiles and of intervals

Arrays are (T,), (T, D), or (series, T, D). Nothing is broadcast: (T,) against (T, 1) is an error,
as it would compare every row with every other. Of forecasts NaN in ``y`` is an observation that is
missing, and is left out; elsewhere every number is finite.
"""

from eigenecho.metrics.forecasts import coverage, crps, mase, pinball, smape
from eigenecho.metrics.predictions import memory_capacity, nrmse, rmse, squared_correlation

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
]
