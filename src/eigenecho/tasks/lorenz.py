"""The Lorenz 1963 system."""

from __future__ import annotations

from collections.abc import Sequence

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


def lorenz(
    steps: int = 2000,
    *,
    dt: float = 0.02,
    sigma: float = 10.0,
    rho: float = 28.0,
    beta: float = 8.0 / 3.0,
    x0: Sequence[float] | Array = (1.0, 1.0, 1.0),
    washout: int = 1000,
    tolerance: float = 1e-10,
    seed: Seed = None,
) -> Array:
    """Return a trajectory of the Lorenz system.

        x' = σ (y − x),   y' = x (ρ − z) − y,   z' = x y − β z,   row j at time (washout + j) · dt

    The integrator is DOP853 (order 8, adaptive), so `dt` is the time between rows, not a step
    size. The system is chaotic: errors grow by a factor of e every 1.1 time units. Rows more than
    about 25 time units after the start lie on the attractor, but differ from the exact solution.

    Parameters
    ----------
    steps : length of the series
    dt : time between rows
    sigma, rho, beta : parameters of the system; sigma and beta above 0
    x0 : initial state (x, y, z)
    washout : number of rows dropped at the start
    tolerance : relative and absolute tolerance of the integrator
    seed : int, Generator or None
        None starts at x0; a seed adds a uniform draw from [−1, 1]³.

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
    from scipy.integrate import solve_ivp

    steps = check_count(steps, "steps", least=1)
    washout = check_count(washout, "washout")
    dt = check_number(dt, "dt", above=0)
    tolerance = check_number(tolerance, "tolerance", above=0)
    sigma = check_number(sigma, "sigma", above=0)
    rho = check_number(rho, "rho")
    beta = check_number(beta, "beta", above=0)
    start = as_array(x0, "x0", "three numbers (x, y, z)")
    check_real(start, "x0")
    check_shape(start, "x0", (3,))
    check_finite(start, "x0")
    start = start + (0.0 if seed is None else generator(seed).uniform(-1.0, 1.0, size=3))

    def flow(_: float, state: Array) -> tuple[float, float, float]:
        x, y, z = state.tolist()
        return sigma * (y - x), x * (rho - z) - y, x * y - beta * z

    times = dt * np.arange(washout, washout + steps, dtype=np.float64)
    # Overflow is detected in the solution below.
    with np.errstate(all="ignore"):
        options = {"method": "DOP853", "rtol": tolerance, "atol": tolerance}
        solution = solve_ivp(flow, (0.0, max(times[-1], dt)), start, t_eval=times, **options)
    if not solution.success or not np.isfinite(solution.y).all():
        raise bad_argument(
            "(sigma, rho, beta)",
            (sigma, rho, beta),
            "parameters for which the system can be integrated",
            f"The integrator failed from x0={start.tolist()}: {solution.message}",
        )
    return np.ascontiguousarray(solution.y.T)
