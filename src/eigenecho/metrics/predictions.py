"""Errors of predictions, and correlations between predictions and targets.

All functions compare two arrays of the same shape (T,), (T, D) or (series, T, D). Unless stated
otherwise, the rows of all series are pooled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eigenecho.checks import check_known, check_number
from eigenecho.errors import Words, bad_argument
from eigenecho.metrics.arrays import as_finite, as_shape


def rmse(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Compute the root mean square error over all rows and columns.

        √( mean (y_true − y_pred)² )

    Parameters
    ----------
    y_true, y_pred : array (T,), (T, D) or (series, T, D)
        Targets and predictions.

    Returns
    -------
    float

    See Also
    --------
    eigenecho.metrics.nrmse : Error relative to the standard deviation of the target.
    eigenecho.metrics.mase : Error relative to a naive forecast.

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.metrics.rmse([1.0, 2.0, 3.0], [1.0, 2.0, 6.0])
    1.73...
    """
    true, predicted = _check_columns("y_true", y_true, "y_pred", y_pred)
    return float(_root_mean_square(true - predicted, axis=None))


def nrmse(y_true: ArrayLike, y_pred: ArrayLike, *, norm: str = "std") -> float:
    """Compute the normalised root mean square error.

        √( mean_j (rmse_j / size_j)² ),   j over columns

    With ``norm="std"``, predicting the mean of each column gives an error of 1.

    Parameters
    ----------
    y_true, y_pred : array (T,), (T, D) or (series, T, D)
        Targets and predictions.
    norm : {"std", "range", "mean"}
        The size by which the error of a column is divided: the standard deviation, the range, or
        the absolute value of the mean of the column in y_true.

    Returns
    -------
    float

    See Also
    --------
    eigenecho.metrics.rmse : Error in the units of the target.

    Examples
    --------
    >>> import eigenecho as ee
    >>> round(ee.metrics.nrmse([1.0, 2.0, 3.0], [2.0, 2.0, 2.0]), 6)  # predicts the mean
    1.0
    """
    check_known(norm, "norm", ("std", "range", "mean"))
    true, predicted = _check_columns("y_true", y_true, "y_pred", y_pred)
    return float(_root_mean_square(_relative_errors(true, predicted, norm), axis=None))


def valid_time(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    threshold: float = 0.5,
    dt: float = 1.0,
    lyapunov: float | None = None,
) -> float | NDArray[np.float64]:
    """Compute the time until the error of a forecast exceeds a threshold.

        time of the first row with √( mean_j ((y_pred − y_true) / σ_j)² ) > threshold

    The scales σ_j are the standard deviations of the columns of y_true over all series. NaN in
    y_pred, for example after a divergence, counts as an error above the threshold.

    Parameters
    ----------
    y_true, y_pred : array (T,), (T, D) or (series, T, D)
        True series and forecasts.
    threshold : float
        Largest normalised error of a valid forecast.
    dt : float
        Time between rows.
    lyapunov : float, optional
        Largest Lyapunov exponent. If it is given, the result is in units of the Lyapunov time
        1 / ``lyapunov``.

    Returns
    -------
    float or array (series,)
        The valid time. It is T · dt if the error never exceeds the threshold.

    See Also
    --------
    eigenecho.tasks.lorenz : A chaotic system.

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.metrics.valid_time([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.1, 5.0], dt=0.1)
    0.3...
    """
    threshold, dt = check_number(threshold, "threshold", "> 0"), check_number(dt, "dt", "> 0")
    unit = 1.0 if lyapunov is None else check_number(lyapunov, "lyapunov", "> 0")
    true = as_finite("y_true", y_true)
    predicted = as_finite("y_pred", y_pred, gaps=True)
    columns, _ = _check_columns("y_true", true, "y_pred", np.nan_to_num(predicted))
    errors = _relative_errors(columns, predicted.reshape(columns.shape), "std")
    with np.errstate(over="ignore"):
        is_wrong = ~(np.sqrt(np.mean(errors**2, axis=1)) <= threshold)
    is_wrong = is_wrong.reshape(len(true) if true.ndim == 3 else 1, -1)
    steps = np.where(is_wrong.any(axis=1), np.argmax(is_wrong, axis=1), is_wrong.shape[1])
    times = steps * (dt * unit)
    return times if true.ndim == 3 else float(times[0])


def squared_correlation(a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    """Compute the squared Pearson correlation of each pair of columns.

        cov²(a_j, b_j) / (σ²(a_j) σ²(b_j))

    Parameters
    ----------
    a, b : array (T,), (T, D) or (series, T, D)
        Arrays of the same shape.

    Returns
    -------
    array (D,)
        Values in [0, 1]. The value is 0 if either column is constant. For arrays (T,), D is 1.

    See Also
    --------
    eigenecho.metrics.memory_capacity : Squared correlations with delayed inputs.

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.metrics.squared_correlation([1.0, 2.0, 3.0], [6.0, 4.0, 2.0])
    array([1.])
    """
    return _squared_correlation(*_check_columns("a", a, "b", b))


def memory_capacity(targets: ArrayLike, predictions: ArrayLike) -> NDArray[np.float64]:
    """Compute the memory capacity for each delay.

        MC_k = cov²(u(t − k), y_k(t)) / (σ²(u(t − k)) σ²(y_k(t)))

    Parameters
    ----------
    targets : array (T, K)
        Column k is the delayed input u(t − k).
    predictions : array (T, K)
        Column k is the output y_k(t) of the model.

    Returns
    -------
    array (K,)

    See Also
    --------
    eigenecho.tasks.memory_capacity : Measure the memory capacity of a model.
    eigenecho.metrics.squared_correlation : Squared correlations of arbitrary columns.

    Examples
    --------
    >>> import eigenecho as ee
    >>> u, targets = ee.tasks.delayed_recall(100, delays=2, seed=0)
    >>> ee.metrics.memory_capacity(targets, targets).round(6)
    array([1., 1.])
    """
    return _squared_correlation(*_check_columns("targets", targets, "predictions", predictions))


def _squared_correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    correlation = np.mean(_standardize(a) * _standardize(b), axis=0)
    # Rounding can make a perfect correlation slightly larger than 1.
    return np.minimum(correlation**2, 1.0)


def _standardize(a: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return columns with mean 0 and variance 1, or zeros for constant columns."""
    # Rounding can make the deviation of a constant column nonzero, but its range is always 0.
    varies = np.ptp(a, axis=0) > 0
    a = a - a.mean(axis=0)
    deviation = _root_mean_square(a, axis=0)
    varies &= deviation > 0
    return np.where(varies, a / np.where(varies, deviation, 1.0), 0.0)


def _root_mean_square(a: NDArray[np.float64], *, axis: int | None) -> NDArray[np.float64]:
    """Return √(mean a²) without overflow, even for predictions of a diverged model."""
    largest = np.max(np.abs(a), axis=axis)
    unit = np.where((largest > 0) & (largest < np.inf), largest, 1.0)
    return np.asarray(unit * np.sqrt(np.mean((a / unit) ** 2, axis=axis)))


def _relative_errors(
    true: NDArray[np.float64], predicted: NDArray[np.float64], norm: str
) -> NDArray[np.float64]:
    """Return errors relative to the size of each column."""
    # Scale by powers of two, so that the square of a deviation neither overflows nor underflows.
    exponent = np.frexp(np.abs(true).max(axis=0))[1]
    with np.errstate(over="ignore"):
        true, predicted = np.ldexp(true, -exponent), np.ldexp(predicted, -exponent)
        return (true - predicted) / _sizes(true, norm)


def _sizes(true: NDArray[np.float64], norm: str) -> NDArray[np.float64]:
    if norm == "mean":
        mean = np.mean(true, axis=0)
        # Rounding can make a mean nonzero although it is zero in exact arithmetic.
        empty = np.abs(mean) <= 16 * np.finfo(np.float64).eps * np.max(np.abs(true), axis=0)
        size, expected, remedy = np.abs(mean), "a nonzero mean", 'Use norm="std".'
    else:
        size = np.ptp(true, axis=0)
        empty = size == 0
        if norm == "std":
            size = np.std(true, axis=0)
        expected, remedy = "a column that varies", "Use rmse for a constant target."
    if empty.any():
        column = int(np.argmax(empty))
        raise bad_argument(f"{norm}(y_true[:, {column}])", float(size[column]), expected, remedy)
    return size


def _check_columns(
    name_a: str, a: ArrayLike, name_b: str, b: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Check two arrays, and return them with shape (rows, columns)."""
    first = as_finite(name_a, a)
    if first.ndim > 3:
        got = Words(f"shape {first.shape}")
        raise bad_argument(name_a, got, "an array (T,), (T, D) or (series, T, D)")
    second = as_shape(name_b, b, first.shape, name_a)
    columns = 1 if first.ndim == 1 else first.shape[-1]
    return first.reshape(-1, columns), second.reshape(-1, columns)
