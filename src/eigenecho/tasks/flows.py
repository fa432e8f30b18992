"""The chaotic system of Lorenz, integrated to machine precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul

import numpy as np

from eigenecho.checks import (
    as_array,
    check_count,
    check_finite,
    check_number,
    check_real,
    check_shape,
    generator,
)
from eigenecho.errors import bad_argument
from eigenecho.types import Array, Seed

ORDER = 24
"""Order of the Taylor series of each integration step."""

TOLERANCE = 1e-16
"""Size of the last terms of the Taylor series, relative to the state."""

MOST_STEPS = 10_000
"""Maximum number of integration steps between two rows."""

Series = list[float]
"""Taylor coefficients of one variable."""


def lorenz(
    steps: int = 2000,
    *,
    dt: float = 0.02,
    sigma: float = 10.0,
    rho: float = 28.0,
    beta: float = 8.0 / 3.0,
    x0: Sequence[float] | Array = (1.0, 1.0, 1.0),
    washout: int = 1000,
    seed: Seed = None,
) -> Array:
    """Return a trajectory of the Lorenz system of 1963.

        x' = σ (y − x),   y' = x (ρ − z) − y,   z' = x y − β z,   row j at time (washout + j) · dt

    The system is chaotic: with the default parameters, errors grow by a factor of e every 1.1 time
    units. Each integration step uses a Taylor series of order 24, whose truncation error is below
    the rounding error. Starting from any row, the trajectory follows the exact solution for about
    35 time units.

    Parameters
    ----------
    steps : int
        Length of the series.
    dt : float
        Time between rows.
    sigma, rho, beta : float
        Parameters of the system. ``sigma`` and ``beta`` must be positive.
    x0 : array (3,)
        Initial state (x, y, z).
    washout : int
        Number of initial rows that are not returned.
    seed : int, Generator or None
        If it is given, a uniform draw from [−1, 1]³ is added to the initial state.

    Returns
    -------
    array (steps, 3)

    See Also
    --------
    eigenecho.tasks.mackey_glass : A chaotic series with one column.

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.tasks.lorenz(200, washout=100).shape
    (200, 3)
    """
    sigma = check_number(sigma, "sigma", "> 0")
    rho = check_number(rho, "rho")
    beta = check_number(beta, "beta", "> 0")
    steps = check_count(steps, "steps", least=1)
    washout = check_count(washout, "washout")
    dt = check_number(dt, "dt", "> 0")
    start = as_array(x0, "x0", "three numbers (x, y, z)")
    check_real(start, "x0")
    check_shape(start, "x0", (3,))
    check_finite(start, "x0")
    if seed is not None:
        start = start + generator(seed).uniform(-1.0, 1.0, size=3)
    rows = np.empty((washout + steps, 3))
    state = (start + 0.0).tolist()
    for row in rows:
        row[:] = state
        left, count = dt, 0
        while left > 0:
            series = _taylor_series(state, sigma, rho, beta)
            h = min(left, _step(series))
            state, left, count = [_evaluate(c, h) for c in series], left - h, count + 1
            if count > MOST_STEPS or not h > 0 or not all(map(math.isfinite, state)):
                expected = "parameters for which the solution does not diverge"
                raise bad_argument("(sigma, rho, beta)", (sigma, rho, beta), expected)
    return rows[washout:].copy()


def _taylor_series(state: Sequence[float], sigma: float, rho: float, beta: float) -> list[Series]:
    """Return the Taylor coefficients of (x, y, z) as functions of time."""
    x, y, z = ([value] for value in state)
    for k in range(1, ORDER + 1):
        new = (
            sigma * (y[-1] - x[-1]),
            rho * x[-1] - _product(x, z) - y[-1],
            _product(x, y) - beta * z[-1],
        )
        for coefficients, value in zip((x, y, z), new, strict=True):
            coefficients.append(value / k)
    return [x, y, z]


def _product(a: Series, b: Series) -> float:
    """Return the last Taylor coefficient of a product, given the coefficients of its factors."""
    return sum(map(mul, a, reversed(b)))


def _step(series: Sequence[Series]) -> float:
    """Return the step size for which the last Taylor terms are equal to the tolerance."""
    size = max(abs(c[0]) for c in series) or 1.0
    steps = [math.inf]
    for k in (ORDER - 1, ORDER):
        last = max(abs(c[k]) for c in series)
        if last > 0:
            steps.append((TOLERANCE * size / last) ** (1 / k))
    return min(steps)


def _evaluate(coefficients: Series, h: float) -> float:
    total = coefficients[-1]
    for value in reversed(coefficients[:-1]):
        total = total * h + value
    return total
