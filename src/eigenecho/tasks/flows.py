"""Chaotic systems of Lorenz and Rössler, integrated to machine precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import mul
from typing import Any

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

MOST_STEPS = 10_000
"""Maximum number of integration steps between two rows."""


def lorenz(
    steps: int = 2000,
    *,
    dt: float = 0.02,
    sigma: float = 10.0,
    rho: float = 28.0,
    beta: float = 8.0 / 3.0,
    x0: Sequence[float] | Array = (1.0, 1.0, 1.0),
    washout: int = 1000,
    tolerance: float = 1e-16,
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
    tolerance : float
        Relative size of the last terms of the Taylor series.
    seed : int, Generator or None
        If it is given, a uniform draw from [−1, 1]³ is added to the initial state.

    Returns
    -------
    array (steps, 3)

    See Also
    --------
    eigenecho.tasks.rossler : A slower system.
    eigenecho.tasks.mackey_glass : A chaotic series with one column.

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.tasks.lorenz(200, washout=100).shape
    (200, 3)
    """
    sigma = check_number(sigma, "sigma", above=0)
    rho = check_number(rho, "rho")
    beta = check_number(beta, "beta", above=0)

    def flow(x: Any, y: Any, z: Any) -> tuple[float, ...]:
        return (
            sigma * (y[-1] - x[-1]),
            rho * x[-1] - _product(x, z) - y[-1],
            _product(x, y) - beta * z[-1],
        )

    start = _start(x0, "three numbers (x, y, z)", 3, seed)
    rows = _integrate(flow, start.tolist(), steps, washout, dt, tolerance)
    return _checked(rows, "(sigma, rho, beta)", (sigma, rho, beta))


def lorenz96(
    steps: int = 2000,
    *,
    columns: int = 40,
    dt: float = 0.05,
    forcing: float = 8.0,
    x0: Sequence[float] | Array | None = None,
    washout: int = 1000,
    tolerance: float = 1e-16,
    seed: Seed = None,
) -> Array:
    """Return a trajectory of the Lorenz system of 1996.

        x_i' = (x_{i+1} − x_{i−2}) x_{i−1} − x_i + F,   row j at time (washout + j) · dt

    The indices i are cyclic. The system is integrated as in ``lorenz``. With 40 columns and F = 8,
    errors grow by a factor of e every 0.6 time units.

    Parameters
    ----------
    steps : int
        Length of the series.
    columns : int
        Number of columns, at least 4.
    dt : float
        Time between rows.
    forcing : float
        The constant F.
    x0 : array (columns,), optional
        Initial state. The default is F in all columns, plus 0.01 in the first column.
    washout : int
        Number of initial rows that are not returned.
    tolerance : float
        Relative size of the last terms of the Taylor series.
    seed : int, Generator or None
        If it is given, a uniform draw from [−1, 1] is added to each column of the initial state.

    Returns
    -------
    array (steps, columns)

    See Also
    --------
    eigenecho.tasks.lorenz : The system of 1963, with three columns.

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.tasks.lorenz96(50, columns=8, washout=100).shape
    (50, 8)
    """
    columns = check_count(columns, "columns", "a number of columns", 4)
    forcing = check_number(forcing, "forcing")
    if x0 is None:
        x0 = forcing + 0.01 * (np.arange(columns) == 0)
    places = np.arange(columns)
    after, before, second = (np.roll(places, shift) for shift in (-1, 1, 2))

    def flow(x: Any) -> tuple[Array]:
        c = np.array(x)
        products = (c[:, after] - c[:, second]) * c[::-1, before]
        return (products.sum(axis=0) - c[-1] + (forcing if len(x) == 1 else 0.0),)

    start = _start(x0, f"{columns} numbers", columns, seed)
    rows = _integrate(flow, [start], steps, washout, dt, tolerance)[:, 0]
    return _checked(rows, "forcing", forcing)


def rossler(
    steps: int = 2000,
    *,
    dt: float = 0.1,
    a: float = 0.2,
    b: float = 0.2,
    c: float = 5.7,
    x0: Sequence[float] | Array = (1.0, 1.0, 1.0),
    washout: int = 1000,
    tolerance: float = 1e-16,
    seed: Seed = None,
) -> Array:
    """Return a trajectory of the Rössler system.

        x' = −y − z,   y' = x + a y,   z' = b + z (x − c),   row j at time (washout + j) · dt

    The system is integrated as in ``lorenz``. With the default parameters, errors grow by a factor
    of e every 14 time units.

    Parameters
    ----------
    steps : int
        Length of the series.
    dt : float
        Time between rows.
    a, b, c : float
        Parameters of the system.
    x0 : array (3,)
        Initial state (x, y, z).
    washout : int
        Number of initial rows that are not returned.
    tolerance : float
        Relative size of the last terms of the Taylor series.
    seed : int, Generator or None
        If it is given, a uniform draw from [−1, 1]³ is added to the initial state.

    Returns
    -------
    array (steps, 3)

    See Also
    --------
    eigenecho.tasks.lorenz : A faster system.

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.tasks.rossler(200, washout=100).shape
    (200, 3)
    """
    a, b, c = check_number(a, "a"), check_number(b, "b"), check_number(c, "c")

    def flow(x: Any, y: Any, z: Any) -> tuple[float, ...]:
        constant = b if len(z) == 1 else 0.0
        return -y[-1] - z[-1], x[-1] + a * y[-1], constant + _product(x, z) - c * z[-1]

    start = _start(x0, "three numbers (x, y, z)", 3, seed)
    rows = _integrate(flow, start.tolist(), steps, washout, dt, tolerance)
    return _checked(rows, "(a, b, c)", (a, b, c))


def _start(x0: Any, expected: str, columns: int, seed: Seed) -> Array:
    """Return the initial state, with a random shift if a seed is given."""
    start = as_array(x0, "x0", expected)
    check_real(start, "x0")
    check_shape(start, "x0", (columns,))
    check_finite(start, "x0")
    return start + (0.0 if seed is None else generator(seed).uniform(-1.0, 1.0, size=columns))


def _product(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the last Taylor coefficient of a product, given the coefficients of its factors."""
    return sum(map(mul, a, reversed(b)))


def _integrate(
    flow: Callable[..., tuple[Any, ...]],
    start: Sequence[Any],
    steps: int,
    washout: int,
    dt: float,
    tolerance: float,
) -> Array:
    """Return a trajectory (steps, variables, …), without the first ``washout`` rows.

    ``flow`` takes the first Taylor coefficients of each variable as lists, and returns the next
    coefficient of each derivative. If the integration fails, the result is a row of NaN.
    """
    steps = check_count(steps, "steps", least=1)
    washout = check_count(washout, "washout")
    dt = check_number(dt, "dt", above=0)
    tolerance = check_number(tolerance, "tolerance", above=0)
    state, rows = list(start), []
    with np.errstate(all="ignore"):  # overflow is detected in the result
        for row in range(washout + steps):
            if row >= washout:
                rows.append(state)
            left, count = dt, 0
            while left > 0:
                series = [[value] for value in state]
                for k in range(1, ORDER + 1):
                    new = flow(*series)
                    for coefficients, value in zip(series, new, strict=True):
                        coefficients.append(value / k)
                h = min(left, _step(series, tolerance))
                state, left, count = [_evaluate(c, h) for c in series], left - h, count + 1
                if count > MOST_STEPS or not h > 0:
                    return np.full((1, len(state)), np.nan)
    return np.array(rows)


def _step(series: Sequence[Sequence[Any]], tolerance: float) -> float:
    """Return the step size for which the last Taylor terms are equal to the tolerance."""
    size = max(float(np.max(np.abs(c[0]))) for c in series) or 1.0
    steps = []
    for k in (ORDER - 1, ORDER):
        last = max(float(np.max(np.abs(c[k]))) for c in series)
        steps.append((tolerance * size / last) ** (1 / k) if last > 0 else np.inf)
    return min(steps)


def _evaluate(coefficients: Sequence[Any], h: float) -> Any:
    total = coefficients[-1]
    for value in reversed(coefficients[:-1]):
        total = total * h + value
    return total


def _checked(rows: Array, name: str, value: Any) -> Array:
    """Return a trajectory, or raise an error if the integration failed."""
    if not np.isfinite(rows).all():
        expected = "parameters for which the solution does not diverge"
        raise bad_argument(name, value, expected)
    return np.ascontiguousarray(rows)
