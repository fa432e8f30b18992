"""Training that goes on: more series for the same readout."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eigenecho.blas import one_blas_thread
from eigenecho.errors import IllConditionedWarning
from eigenecho.model.doubt import doubt, scale_of, warn_if_lost
from eigenecho.model.evidence import Evidence
from eigenecho.model.model import Array, State
from eigenecho.model.refine import fitted, lengths, scatter
from eigenecho.model.rows import Fold, Rows
from eigenecho.model.train import Trained, check_lengths, check_range
from eigenecho.readout import Gram, Normal, Penalty, Remainder, Triangle, factorise, solve

FIRST = 256
"""Rows from a zero state, at least, on which a change of weights is judged."""


@one_blas_thread()
def update(
    trained: Trained,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    starts: Sequence[State | None],
    warmup: int = 0,
) -> Trained:
    """The model as if it had been trained on these series too, in the scaling that it has.

    The first ``warmup`` rows of each series are left out, except where it goes on from a state.
    """
    model, evidence = trained.model, trained.evidence
    skipped = [warmup if start is None else 0 for start in starts]
    check_lengths(inputs, outputs, max(skipped, default=0))
    rows = Rows(
        model.reservoir,
        [model.own_inputs(u) for u in inputs],
        [model.from_user(y) for y in outputs],
        model.readout_bias,
        model.output_to_readout,
        [None if s is None else (s.r, model.from_user(np.asarray(s.y))) for s in starts],
    )
    fold = Fold([(skip, len(u)) for skip, u in zip(skipped, inputs, strict=True)])
    evidence = absorb(evidence, rows, fold)
    W_out = np.ascontiguousarray(evidence.weights, model.reservoir.dtype)
    return replace(
        trained,
        model=replace(model, W_out=W_out),
        final_state=State(rows.last_state, outputs[-1][-1].copy()),
        evidence=evidence,
    )


def absorb(evidence: Evidence, rows: Rows, fold: Fold) -> Evidence:
    """The evidence with the training rows of a fold added.

    Orthogonal statistics are merged and solved. Normal equations lose half the digits of what is
    solved for, so that is only the change that the new rows X₂ call for, from true residuals:

        w + (G₁ + G₂ + αM)⁻¹ X₂ᵀ (Y₂ − X₂ w)
    """
    old, w, penalty = evidence.statistics, evidence.weights, replace(evidence.penalty)
    total: Gram | Triangle
    if isinstance(old, Triangle):
        total = old.merge(rows.statistics(Triangle, fold)[0])
        check_range(total, rows.reservoir)
        weights = np.ascontiguousarray(solve(total, penalty, evidence.ridge))
        both = evidence.scatter_with(weights) + scatter(rows.in_double(), fold.train, weights)
        XtE = None
    else:
        left, _ = rows.statistics(Gram, fold, less=w)
        check_range(left, rows.reservoir)
        total = old.merge(Gram(left.XtX, left.XtY + left.XtX @ w, left.rows))
        check_range(total, rows.reservoir)
        change, system = _correction(Gram(total.XtX, left.XtY, total.rows), penalty, evidence.ridge)
        weights = w + change
        if system is not None:
            off = doubt(scale_of(total), change, system.solve)
            error = _error(rows.in_double(), fold, left, off)
            warn_if_lost(error, evidence.ridge, rows.reservoir.dtype, stacklevel=2)
        new, _ = rows.in_double().statistics(Remainder, fold, less=weights)
        both = evidence.scatter_with(weights) + new.EtE
        XtE = evidence.gradient - old.XtX @ (weights - w) + new.XtE
    return replace(evidence, statistics=total, weights=weights, scatter=both, XtE=XtE)


def _correction(statistics: Gram, penalty: Penalty, ridge: float) -> tuple[Array, Normal | None]:
    """The change of weights, and the system that gave it; a warning where that is singular."""
    system = Normal.of(statistics, penalty, ridge)
    if system is not None and system.is_regular:
        return system.solve(statistics.XtY), system
    warnings.warn(
        f"the ridge of {ridge:g} is below the rounding of the statistics that were kept: what the "
        "new rows change is not exact. Fit with solver='qr' to train further to all digits, or "
        "with a larger ridge.",
        IllConditionedWarning,
        stacklevel=2,
    )
    return factorise(statistics, penalty).weights(ridge), None


def _error(rows: Rows, fold: Fold, statistics: Gram, off: Array) -> float:
    """How far outputs are off for weights that are by ``off``, over the size of the targets.

    Over the rows of a fold, whose statistics are known, and over the first rows after a zero
    state, which a series that goes on, or its warmup, leaves out of them.
    """
    size = lengths([y[a:b] for y, (a, b) in zip(rows.outputs, fold.train, strict=True)])
    size[size == 0] = 1.0
    squares = np.einsum("ie,ij,je->e", off, statistics.XtX, off, optimize=True)
    error = np.sqrt(np.maximum(squares, 0.0))
    early = [max(a, min(b, FIRST)) for a, b in fold.train]
    fresh = Rows(rows.reservoir, rows.inputs, rows.outputs, rows.fit_bias, rows.output_to_readout)
    for x in fitted(fresh, [(0, n) for n in early], off):
        error = np.maximum(error, np.sqrt(statistics.rows) * np.abs(x).max(axis=0))
    return float(np.max(error / size))
