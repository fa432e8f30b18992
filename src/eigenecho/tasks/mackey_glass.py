"""The Mackey-Glass delay equation."""

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
    """Return a Mackey-Glass series, chaotic for the default parameters.

        x'(t) = β x(t−τ) / (1 + x(t−τ)ⁿ) − γ x(t),   row j = x((washout + j) · sample)

    The integrator is the classical Runge-Kutta method of order 4, with the largest step up to `dt`
    that divides τ. The jumps of x' at 0, of x'' at τ and so on then fall on grid points, which
    keeps the order. Values between grid points are cubic Hermite interpolants of the same order.

    Parameters
    ----------
    steps : length of the series
    tau, beta, gamma, n : parameters of the equation, all above 0
    dt : largest integration step
    sample : time between rows
    x0 : constant history before time 0, above 0
    washout : number of rows dropped at the start
    seed : int, Generator or None
        None uses the constant history; a seed draws a smooth history within 10% of x0, which does
        not depend on ``dt``.

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
    tau = check_number(tau, "tau", above=0)
    beta = check_number(beta, "beta", above=0)
    gamma = check_number(gamma, "gamma", above=0)
    n = check_number(n, "n", above=0)
    dt = check_number(dt, "dt", above=0)
    sample = check_number(sample, "sample", above=0)
    x0 = check_number(x0, "x0", above=0)
    largest = min(tau, 1.0 / gamma)
    if dt > largest:
        raise bad_argument("dt", dt, f"a step of at most min(tau, 1/gamma) = {largest:g}")

    lag = math.ceil(tau / dt)
    h = tau / lag
    times = sample * np.arange(washout, washout + steps, dtype=np.float64)
    history, slope = _history(x0, tau, lag, seed)
    # One additional step gives the last sample a grid point on each side.
    try:
        x, slope = _integrate(history, slope, h, int(times[-1] / h) + 1, beta, gamma, n)
    except (OverflowError, ValueError):
        raise bad_argument(
            "dt", dt, "a step small enough to integrate the equation", "Lower dt or n."
        ) from None
    return _hermite(x, h * slope, times / h)[:, np.newaxis]


def _history(x0: float, tau: float, lag: int, seed: Seed) -> tuple[Array, Array]:
    """Return values and slopes (lag + 1,) at the grid points of [−τ, 0]."""
    # A few low modes, not one draw per point, make the history independent of the grid.
    modes = np.arange(4)
    draws = np.zeros(4) if seed is None else generator(seed).uniform(-1.0, 1.0, size=4)
    weights = 0.1 * x0 / 4 * draws
    angles = np.outer(np.pi * np.arange(lag + 1) / lag, modes)
    return x0 + np.cos(angles) @ weights, -np.sin(angles) @ (weights * modes) * np.pi / tau


def _integrate(
    history: Array, history_slope: Array, h: float, steps: int, beta: float, gamma: float, n: float
) -> tuple[Array, Array]:
    """Return values and slopes (steps + 1,) at 0, h, ..., steps·h.

    The delayed term g drives a linear equation, x' = g(t) − γ x. A step needs three values of g,
    which are already known; the last one is also the first one of the next step.
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
        # The slope at time 0 differs on its two sides: the history gives the left one, and the
        # equation the right one.
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
    """Evaluate the cubic through values and slopes on a unit grid, at positions within it."""
    i = np.minimum(position.astype(np.int64), len(x) - 2)
    s = position - i
    rest = 1.0 - s
    value = x[i] * (1.0 + 2.0 * s) * rest**2 + x[i + 1] * (3.0 - 2.0 * s) * s**2
    return value + slope[i] * s * rest**2 - slope[i + 1] * s**2 * rest
