"""Metrics of point, quantile and interval forecasts.

NaN in ``y`` is a missing observation and is ignored.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eigenecho.checks import check_count, check_shape
from eigenecho.errors import Words, bad_argument
from eigenecho.metrics.arrays import as_finite, as_observed, as_shape


def mase(y: ArrayLike, forecast: ArrayLike, train: ArrayLike, season: int = 1) -> float:
    """Compute the mean absolute scaled error (MASE).

        mean |y(t) − forecast(t)| / mean |train(t) − train(t − season)|

    The denominator is the mean absolute error of a seasonal naive forecast on the training rows. It
    is computed for each column of each series, and the result is the mean over all columns with
    observations.

    Parameters
    ----------
    y, forecast : array (T,), (T, D) or (series, T, D)
        Observations and forecasts. NaN in ``y`` is a missing observation.
    train : array (T',), (T', D) or (series, T', D)
        Training rows of the same series and columns. NaN is a missing observation.
    season : int
        Seasonal period in rows.

    Returns
    -------
    float

    See Also
    --------
    eigenecho.metrics.rmse : Error in the units of y.
    eigenecho.metrics.smape : Error in per cent.

    Examples
    --------
    >>> from eigenecho import metrics
    >>> metrics.mase([5.0, 7.0], [5.0, 6.0], train=[1.0, 2.0, 3.0, 4.0])
    0.5
    """
    true = as_observed("y", y)
    predicted = as_shape("forecast", forecast, true.shape, "y")
    before = as_finite("train", train, gaps=True)
    axis = max(true.ndim - 2, 0)
    rows = before.shape[axis] if before.ndim > axis else 0
    shape = (*true.shape[:axis], rows, *true.shape[axis + 1 :])
    check_shape(before, "train", shape, ", with the same series and columns as y")
    season = check_count(season, "season", "a period shorter than train", 1, rows - 1)
    if true.ndim == 1:
        true, predicted, before = (array[:, np.newaxis] for array in (true, predicted, before))
    observed_columns = ~np.isnan(true).all(axis=-2)
    scale = _mean_absolute(before[..., season:, :] - before[..., :-season, :])
    if np.any(observed_columns & ~(scale > 0)):
        got = Words(f"a column without a nonzero seasonal difference (season={season})")
        raise bad_argument("train", got, "columns that vary", "Use rmse for constant series.")
    errors = _mean_absolute(true - predicted)
    return float(np.mean(errors[observed_columns] / scale[observed_columns]))


def smape(y: ArrayLike, forecast: ArrayLike) -> float:
    """Compute the symmetric mean absolute percentage error (SMAPE), between 0 and 200.

        100 · mean 2 |y − forecast| / (|y| + |forecast|)

    Rows in which both the observation and the forecast are 0 have an error of 0.

    Parameters
    ----------
    y, forecast : array (T,), (T, D) or (series, T, D)
        Observations and forecasts. NaN in ``y`` is a missing observation.

    Returns
    -------
    float

    See Also
    --------
    eigenecho.metrics.mase : Error relative to a naive forecast.

    Examples
    --------
    >>> from eigenecho import metrics
    >>> metrics.smape([1.0, 2.0], [3.0, 2.0])
    50.0
    """
    true = as_observed("y", y)
    predicted = as_shape("forecast", forecast, true.shape, "y")
    present = ~np.isnan(true)
    true, predicted = true[present], predicted[present]
    # Scale by powers of two, so that no sum overflows.
    _, exponent = np.frexp(np.maximum(np.abs(true), np.abs(predicted)))
    true, predicted = np.ldexp(true, -exponent), np.ldexp(predicted, -exponent)
    total = np.abs(true) + np.abs(predicted)
    return float(200 * np.mean(np.abs(true - predicted) / np.where(total > 0, total, 1.0)))


def pinball(y: ArrayLike, quantile_forecasts: ArrayLike, quantiles: ArrayLike) -> float:
    """Compute the mean pinball loss of quantile forecasts.

        mean max(q e, (q − 1) e),   e = y − forecast of quantile q

    The expected loss is minimal for the true quantiles. For q = 0.5, the loss is half the mean
    absolute error.

    Parameters
    ----------
    y : array (T,), (T, D) or (series, T, D)
        Observations. NaN is a missing observation.
    quantile_forecasts : array (…, Q)
        Forecasts of Q quantiles for each element of ``y``. The last axis is omitted if
        ``quantiles`` is a number.
    quantiles : float or array (Q,)
        Probabilities between 0 and 1 (exclusive), in any order.

    Returns
    -------
    float

    See Also
    --------
    eigenecho.metrics.crps : Score of a whole distribution.
    eigenecho.metrics.coverage : Coverage of an interval.

    Examples
    --------
    >>> from eigenecho import metrics
    >>> metrics.pinball([1.0, 2.0], [[0.0, 2.0], [1.0, 3.0]], quantiles=[0.25, 0.75])
    0.25
    """
    true = as_observed("y", y)
    levels = _check_probabilities(quantiles)
    shape = (*true.shape, *levels.shape)
    predicted = as_shape("quantile_forecasts", quantile_forecasts, shape, "y and the quantiles")
    present = ~np.isnan(true)
    e = true[present][:, np.newaxis] - predicted[present].reshape(-1, levels.size)
    return float(np.mean(np.maximum(levels * e, (levels - 1) * e)))


def crps(y: ArrayLike, quantile_forecasts: ArrayLike, quantiles: ArrayLike) -> float:
    """Compute the continuous ranked probability score (CRPS) from quantile forecasts.

        2 ∫ pinball_q dq  ≈  2 · mean of pinball_q over the quantiles

    The quantiles should be evenly spaced, such as (i − ½)/Q for i = 1 … Q. The score is in the
    units of y. For a forecast whose quantiles are all equal, it is the mean absolute error.

    Parameters
    ----------
    y : array (T,), (T, D) or (series, T, D)
        Observations. NaN is a missing observation.
    quantile_forecasts : array (…, Q)
        Forecasts of Q quantiles for each element of ``y``.
    quantiles : array (Q,)
        Probabilities between 0 and 1 (exclusive), in any order.

    Returns
    -------
    float

    See Also
    --------
    eigenecho.metrics.pinball : Loss of individual quantiles.

    Examples
    --------
    >>> from eigenecho import metrics
    >>> metrics.crps([1.0, 2.0], [[0.0, 2.0], [1.0, 3.0]], quantiles=[0.25, 0.75])
    0.5
    """
    return 2 * pinball(y, quantile_forecasts, quantiles)


def coverage(y: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> float:
    """Compute the fraction of observations that are inside their prediction intervals.

        mean [lower ≤ y ≤ upper]

    Parameters
    ----------
    y : array (T,), (T, D) or (series, T, D)
        Observations. NaN is a missing observation.
    lower, upper : arrays of the same shape
        Bounds of the intervals.

    Returns
    -------
    float

    See Also
    --------
    eigenecho.metrics.pinball : Loss of the bounds as quantiles.

    Examples
    --------
    >>> from eigenecho import metrics
    >>> metrics.coverage([1.0, 2.0, float("nan")], [0.0, 3.0, 0.0], [2.0, 4.0, 1.0])
    0.5
    """
    true = as_observed("y", y)
    low = as_shape("lower", lower, true.shape, "y")
    high = as_shape("upper", upper, true.shape, "y")
    if np.any(low > high):
        raise bad_argument("lower", Words("bounds above upper"), "bounds with lower <= upper")
    present = ~np.isnan(true)
    return float(np.mean((low <= true)[present] & (true <= high)[present]))


def _mean_absolute(errors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean |error| of the observed rows, (…, D), or NaN if there are none."""
    present = ~np.isnan(errors)
    total = np.sum(np.abs(errors), axis=-2, where=present)
    count = np.count_nonzero(present, axis=-2)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _check_probabilities(quantiles: Any) -> NDArray[np.float64]:
    expected = "one or more probabilities strictly between 0 and 1"
    try:
        levels = np.asarray(quantiles, np.float64)
    except (TypeError, ValueError):
        raise bad_argument("quantiles", quantiles, expected) from None
    if levels.ndim > 1 or not levels.size or not np.all((levels > 0) & (levels < 1)):
        raise bad_argument("quantiles", quantiles, expected)
    return levels
