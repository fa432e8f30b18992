"""A balanced system of some order as modes, and a bound on its error.

With new states s = r T beside the smaller system's own ŝ, and E = (I − T S) Λ T,

    r C − ŝ Ĉ = r (C − T S C) + (s − ŝ) Ĉ,   (s − ŝ)(t) = Σ_j r(t−1−j) E Λ_r^j

Every term is a linear function of one state, whose size over all rows follows from XᵀX. So the
whole is at most the sum of these sizes,

    ‖X C − Ŝ Ĉ‖ ≤ ‖X (C − T S C)‖ + Σ_j ‖X E Λ_r^j Ĉ‖

whatever the order of the rows. That is a proof if X has every state that led to its rows; states
that it lacks (a warmup, rows left out) are assumed to be like the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenecho.basis import eigendecomposition
from eigenecho.reduction.balancing import BalancedSystem, Rows
from eigenecho.reduction.system import System
from eigenecho.types import Array

LAGS = 4096
"""Terms of the sum that are computed; a geometric series bounds the others."""

SETTLED = 1e-6
"""Size of a mode at which its part of the sum ends."""


@dataclass(frozen=True, eq=False)
class TruncatedSystem:
    """A system of order k, and the map (N, k) from the original states to its states."""

    system: System
    states: Array


def smaller(balanced: BalancedSystem, order: int) -> TruncatedSystem | None:
    """Return the first states of a balanced system, diagonalised.

        Λ_r = S Λ T = V Λ̂ V⁻¹,   r̂ = r T V,   Ĉ = V⁻¹ S C

    None if it has no usable eigenvectors, or if rounding has moved an eigenvalue to the unit
    circle: then another order is needed.
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


def error_bound(balanced: BalancedSystem, reduced: TruncatedSystem, rows: Rows) -> Array:
    """Return a bound on the error over all rows, ‖·‖ of each output, (E,)."""
    system, S = balanced.system, balanced.S[: reduced.system.units]
    order = len(S)
    left = system.C - balanced.T[:, :order] @ (S @ system.C)
    ahead = system.advance(reduced.states)
    # (I − T S) Λ T V: what a step brings into the states that are left out.
    leaks = ahead - balanced.T[:, :order] @ (S @ ahead)
    both = np.hstack([left, leaks])
    seen = np.concatenate([np.linalg.qr(piece @ both, mode="r") for piece in rows()])
    outputs = system.C.shape[1]
    return np.linalg.norm(seen[:, :outputs], axis=0) + _carried(reduced, seen[:, outputs:])


def _carried(reduced: TruncatedSystem, R: Array) -> Array:
    """Return Σ_j ‖R Λ̂^j Ĉ‖ of each output, for a triangle R (·, k) of what drives the modes."""
    system = reduced.system
    n, modes, radius = system.spectrum.real.size, system.modes, system.spectrum.radius
    enough = np.log(SETTLED) / np.log(radius) if radius > 0 else 0.0
    lags = int(min(LAGS, max(1.0, np.ceil(enough))))
    powers = modes[:, None] ** np.arange(lags)
    total = np.empty(system.C.shape[1])
    sizes = np.linalg.norm(R, axis=0)
    sizes = np.concatenate([sizes[:n], sizes[n::2] + sizes[n + 1 :: 2]])
    for i, c in enumerate(system.outputs):
        # As in the layout: Re z Re(λ^j c) − Im z Im(λ^j c).
        weights = powers * c[:, None]
        parts = R[:, :n] @ weights[:n].real
        parts += R[:, n::2] @ weights[n:].real - R[:, n + 1 :: 2] @ weights[n:].imag
        rest = np.abs(weights[:, -1] * modes) * sizes / (1 - np.abs(modes))
        total[i] = np.linalg.norm(parts, axis=0).sum() + rest.sum()
    return total
