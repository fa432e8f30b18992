"""How good forecasts are: of values, of quantiles, of intervals.

NaN in ``y`` is an observation that is missing: it is left out.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eigenecho.errors import Shown, bad_argument, place
from eigenecho.metrics.arrays import SERIES, check_shape, finite, observed


def mase(y: ArrayLike, forecast: ArrayLike, train: ArrayLike, season: int = 1) -> float:
    """Mean absolute scaled error: in units of a naive forecast's error on the training rows.

        mean |y(t) − forecast(t)| / mean |train(t) − train(t − season)|

    Each column of each series has a scale of its own; the answer is the mean over those of them
    that have observations. Below 1 the forecast is better than the last season repeated, one step
    ahead, was in training.

    Parameters
    ----------
    y, forecast : arrays of one shape
    train : array (T',), (T', D) or (series, T', D)
        What came before, of as many columns and series; NaN is a missing observation here too.
    season : int
        Rows after which a series repeats itself.

    See Also
    --------
    eigenecho.metrics.rmse : in the units of y
    eigenecho.metrics.smape : in per cent

    Examples
    --------
    >>> from eigenecho import metrics
    >>> metrics.mase([5.0, 7.0], [5.0, 6.0], train=[1.0, 2.0, 3.0, 4.0])
    0.5
    """
    true, ahead = _pair(y, forecast)
    before = finite("train", train, gaps=True)
    if isinstance(season, bool) or not isinstance(season, Integral) or season < 1:
        raise bad_argument("season", season, "a number of rows, an int ≥ 1")
    axis = max(true.ndim - 2, 0)
    rows = before.shape[axis] if before.ndim > axis else 0
    check_shape(
        "train",
        before,
        (*true.shape[:axis], rows, *true.shape[axis + 1 :]),
        "with the series and columns of y",
    )
    if rows <= season:
        raise bad_argument("season", season, f"fewer rows than the {rows} of train")
    if true.ndim == 1:
        true, ahead, before = (array[:, np.newaxis] for array in (true, ahead, before))
    has = ~np.isnan(true).all(axis=-2)
    scale = _mean_size(before[..., season:, :] - before[..., :-season, :])
    if np.any(still := has & ~(scale > 0)):
        *series, column = (int(i) for i in np.argwhere(still)[0])
        where = place(column=column, series=series[0] if series else None)
        raise bad_argument(
            "train",
            Shown(f"no change over {season} rows {where}"),
            "observations that differ, in each column",
            "Use rmse for a series that does not change.",
        )
    return float(np.mean(_mean_size(true - ahead)[has] / scale[has]))


def smape(y: ArrayLike, forecast: ArrayLike) -> float:
    """Symmetric mean absolute percentage error, between 0 and 200, over all observations.

        100 · mean 2 |y − forecast| / (|y| + |forecast|)

    Where both are 0 there is no error.

    Parameters
    ----------
    y, forecast : arrays of one shape
        (T,), (T, D) or (series, T, D).

    See Also
    --------
    eigenecho.metrics.mase : in units of a naive forecast's error

    Examples
    --------
    >>> from eigenecho import metrics
    >>> metrics.smape([1.0, 2.0], [3.0, 2.0])
    50.0
    """
    true, ahead = _pair(y, forecast)
    there = ~np.isnan(true)
    true, ahead = true[there], ahead[there]
    # In units of the larger, by powers of two, so that no sum leaves the range.
    _, exponent = np.frexp(np.maximum(np.abs(true), np.abs(ahead)))
    true, ahead = np.ldexp(true, -exponent), np.ldexp(ahead, -exponent)
    total = np.abs(true) + np.abs(ahead)
    return float(200 * np.mean(np.abs(true - ahead) / np.where(total > 0, total, 1.0)))


def pinball(y: ArrayLike, quantile_forecasts: ArrayLike, quantiles: ArrayLike) -> float:
    """Pinball loss of quantile forecasts, over all observations and quantiles.

        mean max(q e, (q − 1) e),   e = y − forecast of quantile q

    The true quantiles have the smallest. At q = 0.5 it is half of the mean absolute error.

    Parameters
    ----------
    y : array
    quantile_forecasts : array, the shape of y with one more axis at the end, of Q quantiles
        Without that axis where ``quantiles`` is a number.
    quantiles : array (Q,), or a number
        Probabilities in ]0, 1[, in any order.

    See Also
    --------
    eigenecho.metrics.crps : of a whole distribution
    eigenecho.metrics.coverage : of an interval

    Examples
    --------
    >>> from eigenecho import metrics
    >>> metrics.pinball([1.0, 2.0], [[0.0, 2.0], [1.0, 3.0]], quantiles=[0.25, 0.75])
    0.25
    """
    true = observed("y", y)
    levels = _probabilities(quantiles)
    wanted = (*true.shape, *levels.shape)
    expected = SERIES + (", with an axis of quantiles at the end" if levels.ndim else "")
    ahead = finite("quantile_forecasts", quantile_forecasts, most=4, expected=expected)
    check_shape("quantile_forecasts", ahead, wanted, "the shape of y and the number of quantiles")
    there = ~np.isnan(true)
    ahead = ahead[there].reshape(-1, levels.size)
    e = true[there][:, np.newaxis] - ahead
    return float(np.mean(np.maximum(levels * e, (levels - 1) * e)))


def crps(y: ArrayLike, quantile_forecasts: ArrayLike, quantiles: ArrayLike) -> float:
    """Continuous ranked probability score, from quantiles: twice their mean pinball loss.

        2 ∫ pinball_q dq  ≈  2 · mean over the quantiles given

    So quantiles should be spread evenly over ]0, 1[, as (i − ½)/Q for i = 1 … Q are. It is in the
    units of y, and for a forecast without spread the mean absolute error.

    Parameters
    ----------
    y, quantile_forecasts, quantiles : arrays
        As for ``pinball``.

    See Also
    --------
    eigenecho.metrics.pinball : quantile by quantile

    Examples
    --------
    >>> from eigenecho import metrics
    >>> metrics.crps([1.0, 2.0], [[0.0, 2.0], [1.0, 3.0]], quantiles=[0.25, 0.75])
    0.5
    """
    return 2 * pinball(y, quantile_forecasts, quantiles)


def coverage(y: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> float:
    """The share of observations that lie within their bounds, the bounds included.

        mean [lower ≤ y ≤ upper]

    Parameters
    ----------
    y, lower, upper : arrays of one shape
        (T,), (T, D) or (series, T, D); each lower bound at most the upper one.

    See Also
    --------
    eigenecho.metrics.pinball : how far bounds are off

    Examples
    --------
    >>> from eigenecho import metrics
    >>> metrics.coverage([1.0, 2.0, float("nan")], [0.0, 3.0, 0.0], [2.0, 4.0, 1.0])
    0.5
    """
    true = observed("y", y)
    low, high = finite("lower", lower), finite("upper", upper)
    check_shape("lower", low, true.shape, "the shape of y")
    check_shape("upper", high, true.shape, "the shape of y")
    if np.any(low > high):
        where = tuple(int(i) for i in np.argwhere(low > high)[0])
        at = f"[{', '.join(map(str, where))}]"
        expected = f"at most upper{at}={float(high[where])}"
        raise bad_argument(f"lower{at}", float(low[where]), expected)
    there = ~np.isnan(true)
    return float(np.mean((low <= true)[there] & (true <= high)[there]))


def _pair(y: Any, forecast: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Observations and forecasts of one shape, checked."""
    true, ahead = observed("y", y), finite("forecast", forecast)
    check_shape("forecast", ahead, true.shape, "the shape of y")
    return true, ahead


def _mean_size(errors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean |error| over the rows that are there, (…, D); NaN where there are none."""
    there = ~np.isnan(errors)
    total = np.sum(np.abs(errors), axis=-2, where=there)
    count = np.count_nonzero(there, axis=-2)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _probabilities(quantiles: Any) -> NDArray[np.float64]:
    expected = "probabilities in ]0, 1[, a list or one number"
    try:
        levels = np.asarray(quantiles, np.float64)
    except (TypeError, ValueError):
        raise bad_argument("quantiles", quantiles, expected) from None
    if levels.ndim > 1 or not levels.size or not np.all((levels > 0) & (levels < 1)):
        raise bad_argument("quantiles", quantiles, expected)
    return levels
