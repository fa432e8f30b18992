"""Scores of reservoirs that are trained from lagged correlations of the data.

The correlations are computed once. Every radius, leak, law and seed then costs O(N³), whatever
the length of the series; only held-out rows are run through the reservoir.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from eigenecho import kernels
from eigenecho.arrays import namespace
from eigenecho.grid_search.candidates import SharedCandidates, refined_errors
from eigenecho.kernels.convolution import settling_steps
from eigenecho.rows import Block
from eigenecho.training import Problem
from eigenecho.training.refine import Round
from eigenecho.training.structured import gather_gram
from eigenecho.types import Array

if TYPE_CHECKING:
    from eigenecho.grid_search.scores import Trial

HEAD = 1e-12
"""Smallest eigenvalue of HᵀH of the normalised head for which refinement converges."""


def squared_errors(trial: Trial) -> list[Array] | None:
    """Return squared residuals of each held-out block, (scalings, ridges, D_out).

    Return None if states are cheaper, or if correlations are not accurate enough.
    """
    problem, fold = trial.problem, trial.fold
    settling = settling_steps(problem.reservoir.form)
    if settling >= min(map(len, problem.inputs)) or trial.head_eigenvalue < HEAD:
        return None
    K, problem = int(settling), problem.in_double
    with np.errstate(over="ignore", invalid="ignore"):  # checked next
        statistics = gather_gram(problem, fold.train, trial.lags(K)).statistics
    problem.check_range(statistics)
    penalty, head = problem.penalty, problem.head
    factorised = statistics.factorise(penalty, head)
    system = SharedCandidates(statistics, penalty, head, trial.ridges, trial.scales, factorised)
    if not system.are_resolved:
        return None
    first = Round(problem, fold.train, system.weights)
    return refined_errors(trial, first, system, partial(squared_on, problem, K))


def squared_on(problem: Problem, K: int, block: Block, W: Array) -> Array:
    """Return squared residuals (C, D_out) of candidates W (N', C, D_out) over a block.

    The reservoir starts K steps before the block, since it has forgotten earlier rows.
    """
    _, C, D = W.shape
    reservoir, k, xp = problem.reservoir, problem.head, namespace(W)
    weights = xp.ascontiguousarray(W[k:].reshape(-1, C * D).T)
    squared = xp.zeros((C, D))
    for i, (start, stop) in enumerate(block):
        drive, head = problem.columns(i)
        first = max(start - K, 0)
        piece = drive[first:stop]
        out = xp.empty((stop - first, C * D))
        kernels.scan_readout(
            reservoir.form, reservoir.B, piece, weights, reservoir.zero_state(piece), out
        )
        outputs = out[start - first :].reshape(-1, C, D) + xp.tensordot(head[start:stop], W[:k], 1)
        squared += ((problem.outputs[i][start:stop, None] - outputs) ** 2).sum(axis=0)
    return squared
