"""Nonlinear autoregressive moving average systems."""

from __future__ import annotations

import math

import numpy as np

from eigenecho.checks import check_count, generator
from eigenecho.errors import bad_argument
from eigenecho.types import Array

_ATTEMPTS = 100
# Bounded outputs stay below 2. Above this value, the output diverges within a few steps.
_DIVERGED = 10.0


def narma(
    order: int = 10, steps: int = 2000, *, seed: int | np.random.Generator
) -> tuple[Array, Array]:
    """Return the input and output of a NARMA system driven by noise.

        z(t+1) = f( 0.3 z(t) + 0.05 z(t) Σ_{i<order} z(t−i) + 1.5 u(t−order+1) u(t) + c )
        u(t) ~ U(0, 0.5),   f(x) = x, c = 0.1 up to order 10;   f = tanh, c = 0.01 above

    The form with tanh is commonly used for NARMA20, because the plain form diverges. From about
    order 25, its output saturates near 1 and is not useful as a memory task.

    Rows are aligned for causal prediction: ``y[t] = z(t+1)`` depends on ``u[0], ..., u[t]`` only.
    Earlier values are zero: z(t) = 0 for t ≤ 0 and u(t) = 0 for t < 0.

    NARMA10 diverges in about 1 of 75 series of 2000 steps. Divergent series are discarded and drawn
    again from the same random stream, so the result is determined by the seed.

    Parameters
    ----------
    order : int
        Memory of the system in steps.
    steps : int
        Length of the series.
    seed : int or Generator

    Returns
    -------
    u : array (steps, 1)
        The input.
    y : array (steps, 1)
        The output.

    See Also
    --------
    eigenecho.tasks.mackey_glass : A chaotic series without input.
    eigenecho.DiagonalReservoir : Compute states for a nonlinear readout, as required by NARMA.

    Examples
    --------
    >>> import eigenecho as ee
    >>> u, y = ee.tasks.narma(10, steps=500, seed=0)
    >>> u.shape, y.shape
    ((500, 1), (500, 1))
    """
    order = check_count(order, "order", "a number of steps", 1)
    steps = check_count(steps, "steps", least=1)
    rng = generator(seed, needed=True)
    for _ in range(_ATTEMPTS):
        u = rng.uniform(0.0, 0.5, size=steps)
        y = _run(u, order)
        if y is not None:
            return u[:, np.newaxis], y[:, np.newaxis]
    expected = f"a length for which NARMA of order {order} stays bounded"
    remedy = f"All {_ATTEMPTS} draws with seed={seed!r} diverged. Use fewer steps, or order > 10."
    raise bad_argument("steps", steps, expected, remedy)


def _run(u: Array, order: int) -> Array | None:
    """Return the output for an input u (steps,), or None if it diverges."""
    saturated = order > 10
    constant = 0.01 if saturated else 0.1
    # Python floats are used because accessing array elements costs more than the arithmetic.
    inputs = u.tolist()
    delayed = [0.0] * (order - 1) + inputs
    z = [0.0] * order
    for t, current in enumerate(inputs):
        last = z[-1]
        new = 0.3 * last + 0.05 * last * sum(z[t:]) + 1.5 * delayed[t] * current + constant
        if saturated:
            new = math.tanh(new)
        elif new > _DIVERGED:
            return None
        z.append(new)
    return np.array(z[order:])
