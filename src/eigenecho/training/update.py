"""Updates of a readout with further series, and the effect of rounding errors.

Let A + E be the computed value of A = XᵀX + αM. A change of weights Δ computed from A + E has, to
first order, the error A⁻¹ E Δ. The entries of E are rounding errors, |E_ij| ≈ ε d_i d_j with d² the
diagonal of XᵀX, and have random signs. So E Δ is estimated as ε ‖D Δ‖ d with D = diag(d) and random
signs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve

from eigenecho.arrays import namespace, to_host
from eigenecho.errors import IllConditionedWarning, warn
from eigenecho.readout import EPS, Gram, NormalEquations, Remainder, Triangle
from eigenecho.rows import Block, Fold
from eigenecho.threads import one_blas_thread
from eigenecho.training.evidence import Evidence
from eigenecho.training.problem import Problem
from eigenecho.training.refine import fitted_values, lengths
from eigenecho.types import Array, PositiveArray

FIRST = 256
"""Minimum number of rows after a zero state for which the error of an update is estimated."""

LARGEST_ERROR = 1e-8
"""Relative error of outputs above which a warning is issued."""


@one_blas_thread()
def update(evidence: Evidence, problem: Problem, block: Block) -> tuple[Evidence, Array]:
    """Train on a block of further rows; return the evidence of all rows, and the last state.

    Orthogonal statistics are merged and solved. The solution of normal equations loses half of the
    digits, so only the change due to the new rows X₂ is computed, from true residuals:

        w + (G₁ + G₂ + αM)⁻¹ X₂ᵀ (Y₂ − X₂ w)

    where G₁ and G₂ are XᵀX of the old and the new rows.
    """
    # Statistics are moved to the device of the new rows.
    old = evidence.statistics.where(problem.inputs[0])
    if not isinstance(old, Triangle):
        return _corrected(evidence, old, problem, block)
    new, _, ends = problem.gather(Triangle, Fold(block))
    total = old.merge(new)
    problem.check_range(total)
    solution = total.solve(evidence.penalty, evidence.ridge)
    weights, scatter = np.ascontiguousarray(to_host(solution)), to_host(total.scatter(solution))
    count = evidence.count + problem.effective_rows(block, new.rows)
    evidence = replace(
        evidence, statistics=total, weights=weights, scatter=scatter, count=count, XtE=None
    )
    return evidence, to_host(ends[-1])


def _corrected(
    evidence: Evidence, old: Gram, problem: Problem, block: Block
) -> tuple[Evidence, Array]:
    xp = namespace(old.XtX)
    w, ridge = xp.asarray(evidence.weights), evidence.ridge
    left, _, ends = problem.gather(Gram, Fold(block), less=w)
    problem.check_range(left)
    total = old.merge(Gram(left.XtX, left.XtY + left.XtX @ w, left.rows))
    problem.check_range(total)
    system = NormalEquations.of(total.XtX, evidence.penalty, ridge)
    if system is not None and system.is_regular:
        change = system.solve(left.XtY)
        off = weight_error(scale_of(total), change, system.solve)
        warn_if_lost(_error(problem.in_double, block, left, off), ridge, problem.reservoir.dtype)
    else:
        warn(
            f"ridge={ridge:g} is smaller than the rounding error of the stored statistics, so the "
            "update is not exact. Fit with solver='qr' or with a larger ridge.",
            IllConditionedWarning,
        )
        sums = Gram(total.XtX, left.XtY, total.rows).on_host
        change = xp.asarray(sums.factorise(evidence.penalty).weights(ridge))
    new_w = w + change
    new = problem.in_double.gather(Remainder, Fold(block), less=new_w).statistics.on_host
    weights, moved = np.ascontiguousarray(to_host(new_w)), to_host(old.XtX @ (new_w - w))
    evidence = replace(
        evidence,
        statistics=total,
        weights=weights,
        scatter=evidence.scatter_with(weights) + new.EtE,
        count=evidence.count + problem.effective_rows(block, left.rows),
        XtE=evidence.gradient - moved + new.XtE,
    )
    return evidence, to_host(ends[-1])


def _error(problem: Problem, block: Block, statistics: Gram, off: Array) -> float:
    """Return the largest output error due to weight errors ``off``, relative to the targets.

    The error is computed for the rows of the block and for the first rows after a zero state. The
    latter are not in the statistics of the block if the series continues another one or has a
    warmup.
    """
    size = to_host(lengths(problem.targets(block)))
    size[size == 0] = 1.0
    squares = namespace(off).einsum("ie,ij,je->e", off, statistics.XtX, off, optimize=True)
    error = np.sqrt(np.maximum(to_host(squares), 0.0))
    early = [(0, max(a, min(b, FIRST))) for a, b in block]
    for x in fitted_values(replace(problem, starts=None), early, off):
        largest = namespace(x).max(namespace(x).abs(x), axis=0)
        error = np.maximum(error, np.sqrt(statistics.rows) * to_host(largest))
    return float(np.max(error / size))


# Rounding -----------------------------------------------------------------------------------------


def scale_of(statistics: Gram) -> Array:
    """Return the square roots d (N',) of the diagonal of XᵀX."""
    xp = namespace(statistics.XtX)
    return xp.sqrt(xp.maximum(xp.diagonal(statistics.XtX), 0.0))


def weight_error(scale: Array, change: Array, solve: Callable[[Array], Array]) -> Array:
    """Return the weight error A⁻¹ E Δ (N', D_out) due to a change Δ of the weights.

    ``scale`` (N',) is d, ``change`` is Δ, and ``solve`` applies A⁻¹.
    """
    xp = namespace(scale)
    signs = xp.asarray(np.random.default_rng(0).choice([-1.0, 1.0], len(scale)))
    rounding = EPS * xp.linalg.norm(scale[:, None] * change, axis=0)
    return solve((signs * scale)[:, None] * rounding)


def warn_if_lost(error: float, ridge: float, dtype: np.dtype) -> bool:
    """Warn and return True if errors of outputs are larger than the rounding of ``dtype``."""
    if not error > max(LARGEST_ERROR, float(np.finfo(dtype).eps)):
        return False
    warn(
        f"The stored statistics have too few digits for ridge={ridge:g}: after this update, the "
        f"relative error of the outputs is about {error:.0e}. Fit with solver='qr' or with a "
        "larger ridge.",
        IllConditionedWarning,
    )
    return True


class RoundingError(NamedTuple):
    """Estimate of the rounding error of a learner that starts from normal equations.

    ``scale`` (N',) is √diag(XᵀX), ``start`` (N', D_out) are the first weights, and ``size``
    (D_out,) is the root mean square of each output.
    """

    scale: Array
    start: Array
    size: PositiveArray

    @classmethod
    def of(cls, statistics: Gram, weights: Array) -> RoundingError:
        """Return the estimate for a learner that starts from these statistics and weights."""
        # Squares of very large or small weights would overflow or underflow.
        unit = np.abs(weights).max(axis=0)
        unit[unit == 0] = 1.0
        w = weights / unit
        squares = np.einsum("ie,ij,je->e", w, statistics.XtX, w, optimize=True)
        size = unit * np.sqrt(np.maximum(squares, 0.0) / max(statistics.rows, 1))
        size[size == 0] = 1.0
        return cls(scale_of(statistics), weights.copy(), size)

    @one_blas_thread()
    def error(self, x: Array, R: Array, weights: Array, faded: float) -> float:
        """Return the estimated error of the output at a row (N',), relative to the outputs.

        ``R`` is the triangle with RᵀR = A, and ``weights`` (N', D_out) are the current weights.
        Forgetting has multiplied the initial XᵀX by ``faded``.
        """
        solve = partial(cho_solve, (R, False), check_finite=False)
        off = faded * weight_error(self.scale, weights - self.start, solve)
        return float(np.max(np.abs(x @ off) / self.size))
