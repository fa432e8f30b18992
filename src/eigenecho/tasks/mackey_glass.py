"""The Mackey–Glass delay differential equation."""

from __future__ import annotations

import math

import numpy as np

from eigenecho.checks import check_count, check_number, generator
from eigenecho.errors import bad_argument
from eigenecho.types import Array, Seed


def mackey_glass(
    steps: int = 2000,
    *,
    tau: float = 17.0,
    beta: float = 0.2,
    gamma: float = 0.1,
    n: float = 10.0,
    dt: float = 0.1,
    sample: float = 1.0,
    x0: float = 1.2,
    washout: int = 1000,
    seed: Seed = None,
) -> Array:
    """Return a Mackey–Glass series, which is chaotic for the default parameters.

        x'(t) = β x(t−τ) / (1 + x(t−τ)ⁿ) − γ x(t),   row j = x((washout + j) · sample)

    The equation is integrated by the classical Runge–Kutta method of order 4. The integration step
    is the largest one up to ``dt`` that divides τ, so that the discontinuities of the derivatives
    at 0, τ, 2τ, … are at grid points and do not reduce the order. Between grid points, values are
    computed by cubic Hermite interpolation, which has the same order.

    Parameters
    ----------
    steps : int
        Length of the series.
    tau, beta, gamma, n : float
        Parameters of the equation, which must be positive.
    dt : float
        Largest integration step.
    sample : float
        Time between rows.
    x0 : float
        Value of x before time 0, which must be positive.
    washout : int
        Number of initial rows that are not returned.
    seed : int, Generator or None
        If it is given, the values before time 0 are a random smooth curve within 10% of ``x0``,
        which does not depend on ``dt``.

    Returns
    -------
    array (steps, 1)

    See Also
    --------
    eigenecho.tasks.lorenz : A chaotic series with three columns.

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.tasks.mackey_glass(200, washout=100).shape
    (200, 1)
    """
    steps = check_count(steps, "steps", least=1)
    washout = check_count(washout, "washout")
    tau = check_number(tau, "tau", "> 0")
    beta = check_number(beta, "beta", "> 0")
    gamma = check_number(gamma, "gamma", "> 0")
    n = check_number(n, "n", "> 0")
    dt = check_number(dt, "dt", "> 0")
    sample = check_number(sample, "sample", "> 0")
    x0 = check_number(x0, "x0", "> 0")
    largest = min(tau, 1.0 / gamma)
    if dt > largest:
        raise bad_argument("dt", dt, f"a number of at most min(tau, 1/gamma) = {largest:g}")

    lag = math.ceil(tau / dt)
    h = tau / lag
    times = sample * np.arange(washout, washout + steps, dtype=np.float64)
    history, slope = _history(x0, tau, lag, seed)
    # With one additional step, there is a grid point on each side of the last sample.
    try:
        x, slope = _integrate(history, slope, h, int(times[-1] / h) + 1, beta, gamma, n)
    except (OverflowError, ValueError):
        raise bad_argument("dt", dt, "a stable integration step", "Lower dt or n.") from None
    return _hermite(x, h * slope, times / h)[:, np.newaxis]


def _history(x0: float, tau: float, lag: int, seed: Seed) -> tuple[Array, Array]:
    """Return values and slopes (lag + 1,) at the grid points of [−τ, 0]."""
    # The history is a sum of a few cosines, so that it does not depend on the grid.
    modes = np.arange(4)
    draws = np.zeros(4) if seed is None else generator(seed).uniform(-1.0, 1.0, size=4)
    weights = 0.1 * x0 / 4 * draws
    angles = np.outer(np.pi * np.arange(lag + 1) / lag, modes)
    return x0 + np.cos(angles) @ weights, -np.sin(angles) @ (weights * modes) * np.pi / tau


def _integrate(
    history: Array, history_slope: Array, h: float, steps: int, beta: float, gamma: float, n: float
) -> tuple[Array, Array]:
    """Return values and slopes (steps + 1,) at 0, h, ..., steps·h.

    The equation x' = g(t) − γ x is linear in x, and the delayed term g depends on earlier values
    only. Each step uses three values of g, the last of which is reused by the next step.
    """
    lag = len(history) - 1

    def production(delayed: float) -> float:
        return beta * delayed / (1.0 + math.pow(delayed, n))

    # Python floats are used because accessing array elements costs more than the arithmetic.
    x = history.tolist()
    slope = history_slope.tolist()
    current = x[-1]
    g = production(x[0])
    for i in range(steps):
        k1 = g - gamma * current
        # At time 0, the left slope is that of the history, and the right one follows from the
        # equation.
        slope.append(k1)
        j = i if i < lag else i + 1
        middle = 0.5 * (x[i] + x[i + 1]) + 0.125 * h * (slope[j] - slope[j + 1])
        g_middle, g_end = production(middle), production(x[i + 1])
        k2 = g_middle - gamma * (current + 0.5 * h * k1)
        k3 = g_middle - gamma * (current + 0.5 * h * k2)
        k4 = g_end - gamma * (current + h * k3)
        current += h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)
        x.append(current)
        g = g_end
    slope.append(g - gamma * current)
    return np.array(x[lag:]), np.array(slope[lag + 1 :])


def _hermite(x: Array, slope: Array, position: Array) -> Array:
    """Evaluate a cubic Hermite interpolant on a unit grid at the given positions."""
    i = np.minimum(position.astype(np.int64), len(x) - 2)
    s = position - i
    rest = 1.0 - s
    value = x[i] * (1.0 + 2.0 * s) * rest**2 + x[i + 1] * (3.0 - 2.0 * s) * s**2
    return value + slope[i] * s * rest**2 - slope[i + 1] * s**2 * rest
