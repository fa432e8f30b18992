"""Truncation of balanced systems to modes, error bounds, and the search for an order.

Let r̂ be the states of the smaller system, with eigenvalues Λ̂ and B̂ = B P. For any map P of the
states, and E = Λ P − P Λ̂,

    r C − r̂ Ĉ = r (C − P Ĉ) + (r P − r̂) Ĉ,   (r P − r̂)(t) = Σ_j r(t−1−j) E Λ̂^j

Every term is a linear function of one state, and its norm over all rows follows from XᵀX. So the
error is at most the sum of these norms,

    ‖X C − X̂ Ĉ‖ ≤ ‖X (C − P Ĉ)‖ + Σ_j ‖X E Λ̂^j Ĉ‖

for any order of the rows. The bound is rigorous if X includes all states that precede its rows.
States that are missing (from a warmup or from omitted rows) are assumed to be similar to the
others.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from eigenecho.basis import eigendecomposition
from eigenecho.reduction.balancing import BalancedSystem, Rows
from eigenecho.reduction.system import System
from eigenecho.types import Array

LAGS = 4096
"""Maximum number of terms of the sum; a geometric series bounds the remaining terms."""

SETTLED = 1e-6
"""Decay of the slowest mode at which the sum is truncated."""

BELOW = 1
"""Number of smaller orders that are also tried, because errors are not always monotonic."""

PARTS = 32
"""Approximate number of orders that are tried if the search fails."""

TURN = 3
"""Number of trials after which the interval is bisected once, without the expected errors."""


@dataclass(frozen=True, eq=False)
class TruncatedSystem:
    """Reduced system of order k, and the map (N, k) from the original states to its states."""

    system: System
    states: Array


def smaller(balanced: BalancedSystem, order: int) -> TruncatedSystem | None:
    """Truncate a balanced system to its first states, and diagonalise it.

        Λ_r = S Λ T = V Λ̂ V⁻¹,   r̂ = r T V,   Ĉ = V⁻¹ S C

    Return None if Λ_r has no usable eigenvectors, or if rounding has moved an eigenvalue to the
    unit circle. Another order is then required.
    """
    W, _, C = balanced.matrices(order)
    spectrum, basis = eigendecomposition(W)
    if not spectrum.radius < 1:
        return None
    with np.errstate(all="ignore"):
        states = basis.states_to_eigen(balanced.T[:, :order])
        weights = basis.weights_to_eigen(C)
    if not (np.all(np.isfinite(states)) and np.all(np.isfinite(weights))):
        return None
    return TruncatedSystem(System(spectrum, balanced.system.B @ states, weights), states)


def error_bound(system: System, reduced: TruncatedSystem, rows: Rows) -> Array:
    """Return an upper bound (E,) on the norm of the error over all rows, for each output."""
    left = system.C - reduced.states @ reduced.system.C
    leaks = system.advance(reduced.states) - reduced.system.advanced(reduced.states)
    both = np.hstack([left, leaks])
    seen = np.concatenate([np.linalg.qr(piece @ both, mode="r") for piece in rows()])
    outputs = system.C.shape[1]
    return np.linalg.norm(seen[:, :outputs], axis=0) + _carried(reduced, seen[:, outputs:])


def _carried(reduced: TruncatedSystem, R: Array) -> Array:
    """Return Σ_j ‖R Λ̂^j Ĉ‖ of each output, for a factor R (·, k) of the drive of the modes."""
    system = reduced.system
    n, modes, radius = system.spectrum.real.size, system.modes, system.spectrum.radius
    enough = np.log(SETTLED) / np.log(radius) if radius > 0 else 0.0
    lags = int(min(LAGS, max(1.0, np.ceil(enough))))
    powers = modes[:, None] ** np.arange(lags)
    total = np.empty(system.C.shape[1])
    sizes = np.linalg.norm(R, axis=0)
    sizes = np.concatenate([sizes[:n], sizes[n::2] + sizes[n + 1 :: 2]])
    for i, c in enumerate(system.outputs):
        # In the Q layout, the product is Re z Re(λ^j c) − Im z Im(λ^j c).
        weights = powers * c[:, None]
        parts = R[:, :n] @ weights[:n].real
        parts += R[:, n::2] @ weights[n:].real - R[:, n + 1 :: 2] @ weights[n:].imag
        rest = np.abs(weights[:, -1] * modes) * sizes / (1 - np.abs(modes))
        total[i] = np.linalg.norm(parts, axis=0).sum() + rest.sum()
    return total


# Search for the smallest order whose error is small enough, with few trials ----------------------


def smallest(error: Callable[[int], float], tol: float, expected: Array) -> int | None:
    """Return the smallest order from 1 to k with an error of at most ``tol``, or None.

    ``expected`` (k + 1,) are estimated errors of orders 0 … k. They are proportional to the errors,
    with a factor that is similar for neighbouring orders, so the result of each trial determines
    the next order to try.
    """
    expected, error = np.minimum.accumulate(expected), cache(error)
    low, high, most = 0, 0, len(expected) - 1
    order = first = _crossing(expected, tol) or most
    up = down = 1
    for trial in itertools.count(1):
        size = error(order)
        low, high = (low, order) if size <= tol else (order, high)
        if low == most:
            low, high = _between(error, tol, first, most)
            if not high:
                return None
        if high and high - low == 1:
            break
        usable = expected[order] > 0 and np.isfinite(size)
        guess = _crossing(expected * (size / expected[order]), tol) if usable else None
        if not high:
            order, up = max(guess or 0, low + up), 2 * up
        elif not low:
            order, down = min(guess or high, high - down), 2 * down
        elif not guess or trial % TURN == 0:
            order = (low + high) // 2
        else:
            order = guess - (guess == high)
        order = min(max(order, low + 1), high - 1 if high else most)
    for order in range(high - 2, max(high - 2 - BELOW, 0), -1):
        if error(order) <= tol:
            high = order
    return high


def _crossing(errors: Array, tol: float) -> int | None:
    """Return the first order from 1 on with an error of at most ``tol``, or None."""
    enough = errors[1:] <= tol
    return int(np.argmax(enough)) + 1 if enough.any() else None


def _between(error: Callable[[int], float], tol: float, first: int, most: int) -> tuple[int, int]:
    """Return an order that fails and a larger one that succeeds, or (most, 0) if all fail.

    This search is used if the largest orders fail because of rounding.
    """
    step = max(1, (most - first) // PARTS)
    for order in range(first + step, most, step):
        if error(order) <= tol:
            return order - step, order
    return most, 0
