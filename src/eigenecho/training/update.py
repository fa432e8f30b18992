"""Training that goes on: more series for the same readout."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigenecho.arrays import namespace, to_host
from eigenecho.errors import IllConditionedWarning, warn
from eigenecho.readout import Gram, NormalEquations, Remainder, Triangle
from eigenecho.threads import one_blas_thread
from eigenecho.training.evidence import Evidence, GroupEvidence
from eigenecho.training.gather import Block, Fold, check_range, gather
from eigenecho.training.problem import Problem
from eigenecho.training.refine import fitted, lengths
from eigenecho.training.rounding_error import doubt, scale_of, warn_if_lost
from eigenecho.training.train import Trained
from eigenecho.types import Array

FIRST = 256
"""Rows from a zero state, at least, on which a change of weights is judged."""


@one_blas_thread()
def update(trained: Trained, problem: Problem, block: Block) -> Trained:
    """The readout as if it had been trained on a block of these rows too.

    Orthogonal statistics are merged and solved. Normal equations lose half the digits of what is
    solved for, so that is only the change that the new rows X₂ call for, from true residuals:

        w + (G₁ + G₂ + αM)⁻¹ X₂ᵀ (Y₂ − X₂ w)
    """
    # Statistics go where the new rows are.
    evidence = trained.evidence.groups[0]
    old = evidence.statistics.where(problem.inputs[0])
    if not old.is_exact:
        return _corrected(trained, old.gram(), problem, block)
    new, _, ends = gather(problem, Triangle, Fold(block))
    total = old.merge(new)
    check_range(total, problem.reservoir)
    found = total.solve(evidence.penalty, evidence.ridge)
    weights, scatter = np.ascontiguousarray(to_host(found)), to_host(total.scatter(found))
    evidence = replace(evidence, statistics=total, weights=weights, scatter=scatter, XtE=None)
    return _trained_further(trained, evidence, ends[-1])


def _trained_further(trained: Trained, evidence: GroupEvidence, end: Array) -> Trained:
    return replace(trained, evidence=Evidence.of_one(evidence), end=to_host(end))


def _corrected(trained: Trained, old: Gram, problem: Problem, block: Block) -> Trained:
    evidence, xp = trained.evidence.groups[0], namespace(old.XtX)
    w, ridge = xp.asarray(evidence.weights), evidence.ridge
    left, _, ends = gather(problem, Gram, Fold(block), less=w)
    check_range(left, problem.reservoir)
    total = old.merge(Gram(left.XtX, left.XtY + left.XtX @ w, left.rows))
    check_range(total, problem.reservoir)
    system = NormalEquations.of(total.XtX, evidence.penalty, ridge)
    if system is not None and system.is_regular:
        change = system.solve(left.XtY)
        off = doubt(scale_of(total), change, system.solve)
        warn_if_lost(_error(problem.in_double, block, left, off), ridge, problem.reservoir.dtype)
    else:
        warn(
            f"the ridge of {ridge:g} is below the rounding of the statistics that were kept: what "
            "the new rows change is not exact. Fit with solver='qr' to train further to all "
            "digits, or with a larger ridge.",
            IllConditionedWarning,
        )
        sums = Gram(total.XtX, left.XtY, total.rows).on_host
        change = xp.asarray(sums.factorise(evidence.penalty).weights(ridge))
    found = w + change
    new = gather(problem.in_double, Remainder, Fold(block), less=found).statistics
    weights, moved = np.ascontiguousarray(to_host(found)), to_host(old.XtX @ (found - w))
    evidence = replace(
        evidence,
        statistics=total,
        weights=weights,
        scatter=evidence.scatter_with(weights) + to_host(new.EtE),
        XtE=evidence.gradient - moved + to_host(new.XtE),
    )
    return _trained_further(trained, evidence, ends[-1])


def _error(problem: Problem, block: Block, statistics: Gram, off: Array) -> float:
    """How far outputs are off for weights that are by ``off``, over the size of the targets.

    Over the rows of a block, whose statistics are known, and over the first rows after a zero
    state, which a series that goes on, or its warmup, leaves out of them.
    """
    size = to_host(lengths(problem.targets(block)))
    size[size == 0] = 1.0
    squares = namespace(off).einsum("ie,ij,je->e", off, statistics.XtX, off, optimize=True)
    error = np.sqrt(np.maximum(to_host(squares), 0.0))
    early = [(0, max(a, min(b, FIRST))) for a, b in block]
    for x in fitted(replace(problem, starts=None), early, off):
        largest = namespace(x).max(namespace(x).abs(x), axis=0)
        error = np.maximum(error, np.sqrt(statistics.rows) * to_host(largest))
    return float(np.max(error / size))
