"""Scores on a device, where the rows are stored and all candidates are trained together.

On a device, computing XᵀX, a stack of Cholesky factors and rounds of refinement for all candidates
takes less time than starting a computation for each candidate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from eigenecho.arrays import namespace
from eigenecho.grid_search.candidates import StackedCandidates, refined_errors
from eigenecho.grid_search.trial import Trial
from eigenecho.readout import Gram
from eigenecho.rows import Block, Fold
from eigenecho.training import Problem
from eigenecho.training.passes import LinearSystem
from eigenecho.training.refine import CONVERGED
from eigenecho.types import Array

ROOM = 1 << 32
"""Largest size of the rows of a reservoir, and of a stack of factors, in bytes."""


def errors_from_rows(trial: Trial) -> list[Array] | None:
    """Return squared residuals of each held-out block, (C, D_out).

    The result is None if targets are missing, if a ridge is 0, if the rows need too much memory, or
    if the refinement does not converge.
    """
    problem, fold = trial.problem, trial.fold
    if problem.observed is not None or np.any(trial.ridges <= 0):
        return None
    longest = max(stop for block in (fold.train, *fold.held_out) for _, stop in block)
    wide = problem.size + 4 * trial.ridges.size * problem.D_out
    if 8.0 * len(fold.train) * longest * wide > ROOM:
        return None
    rows = StoredRows.of(problem, fold)
    problem.check_range(rows.statistics)
    batches, count = [], max(1, ROOM // (3 * 8 * problem.size**2))
    for first in range(0, trial.ridges.size, count):
        ridges, scales = (part[first : first + count] for part in (trial.ridges, trial.scales))
        stack = StackedCandidates(rows.statistics, problem.penalty, problem.head, ridges, scales)
        if stack.factors is None:
            return None
        start = rows.with_weights(stack.weights)
        errors = refined_errors(trial, start, stack, rows.squared_errors, CONVERGED)
        if errors is None:
            return None
        batches.append(errors)
    return [np.concatenate(parts) for parts in zip(*batches, strict=True)]


@dataclass(frozen=True, eq=False)
class StoredRows:
    """Rows x(t) (T_i, N') of all series of a problem, with weights w (N', k).

    ``training`` contains the inputs X and targets Y of the training rows.
    """

    problem: Problem
    rows: list[Array]
    training: tuple[Array, Array]
    w: Any = None

    @classmethod
    def of(cls, problem: Problem, fold: Fold) -> StoredRows:
        """Compute the rows of a problem up to the last row of a fold."""
        blocks = (fold.train, *fold.held_out)
        stops = [max(block[i][1] for block in blocks) for i in range(len(problem.inputs))]
        rows = [next(problem.rows(i).chunks(0, n, n))[1] for i, n in enumerate(stops)]
        xp = namespace(rows[0])
        X = [x[start:stop] for x, (start, stop) in zip(rows, fold.train, strict=True)]
        Y = [xp.asarray(y, np.float64) for y in problem.targets(fold.train)]
        joined = (X[0], Y[0]) if len(X) == 1 else (xp.concatenate(X), xp.concatenate(Y))
        return cls(problem, rows, joined)

    @cached_property
    def statistics(self) -> Gram:
        """XᵀX and XᵀY of the training rows."""
        X, Y = self.training
        return Gram(X.T @ X, X.T @ Y, len(X))

    def with_weights(self, w: Array) -> StoredRows:
        """Return the rows with weights (N', k)."""
        return replace(self, w=w)

    def gradient(self, system: LinearSystem) -> Array:
        """Return Xᵀ(Y − X w) − αM w; Y is repeated for each candidate."""
        X, Y = self.training
        Y = namespace(Y).tile(Y, (self.w.shape[1] // Y.shape[1],))
        return X.T @ (Y - X @ self.w) - system.pull(self.w)

    def moved(self, step: Array) -> StoredRows:
        """Return the rows with weights w + step."""
        return self.with_weights(self.w + step)

    def squared_errors(self, block: Block, W: Array) -> Array:
        """Return squared residuals (C, D_out) of candidates W (N', C, D_out) over a block."""
        total = namespace(W).zeros(W.shape[1:])
        for X, y, (start, stop) in zip(self.rows, self.problem.outputs, block, strict=True):
            outputs = (X[start:stop] @ W.reshape(len(W), -1)).reshape(-1, *W.shape[1:])
            total += ((y[start:stop, None] - outputs) ** 2).sum(axis=0)
        return total
