"""How far a smaller system can be off on rows of which the products alone are known.

With new states s = r T beside the smaller system's own ŝ, and E = (I − T S) Λ T,

    r C − ŝ Ĉ = r (C − T S C) + (s − ŝ) Ĉ,   (s − ŝ)(t) = Σ_j r(t−1−j) E Λ_r^j

Every term of it is a linear function of one state, whose size over all rows XᵀX tells. So the
whole is at most the sum of these sizes,

    ‖X C − Ŝ Ĉ‖ ≤ ‖X (C − T S C)‖ + Σ_j ‖X E Λ_r^j Ĉ‖

whatever the order of the rows. That is a proof where X has every state that led to its rows; those
that it lacks (a warmup, rows left out) are taken to be like the others.
"""

from __future__ import annotations

import numpy as np

from eigenecho.reduction.balancing import Balanced, Rows
from eigenecho.reduction.modal import Smaller
from eigenecho.types import Array

LAGS = 4096
"""Terms of the sum that are computed; the others are bounded by a geometric series."""

SETTLED = 1e-6
"""Size of a mode at which its part of the sum has ended."""


def promised(balanced: Balanced, found: Smaller, rows: Rows) -> Array:
    """A bound on the error over all rows, ‖·‖ of each output, (E,)."""
    system, S = balanced.system, balanced.S[: found.system.units]
    order = len(S)
    left = system.C - balanced.T[:, :order] @ (S @ system.C)
    ahead = system.advance(found.states)
    # (I − T S) Λ T V: what a step brings into the states that are left out.
    leaks = ahead - balanced.T[:, :order] @ (S @ ahead)
    both = np.hstack([left, leaks])
    seen = np.concatenate([np.linalg.qr(piece @ both, mode="r") for piece in rows()])
    outputs = system.C.shape[1]
    return np.linalg.norm(seen[:, :outputs], axis=0) + _carried(found, seen[:, outputs:])


def _carried(found: Smaller, R: Array) -> Array:
    """Σ_j ‖R Λ̂^j Ĉ‖ of each output, for R (·, k) of what drives the modes."""
    system = found.system
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
