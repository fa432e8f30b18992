"""Scores without states: reservoirs trained from lagged correlations of the data.

The correlations are computed once; every radius, leak, law and seed then costs O(N³) however
long the series is, and the held-out rows are predicted for real.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eigenecho import kernels
from eigenecho.kernels.convolution import settling_steps
from eigenecho.readout import EPS, Factorised, Gram, Penalty, factorise
from eigenecho.training import Block, Problem, check_range
from eigenecho.training.refine import ROUNDS, SLOWEST, TURNED, Round, rounds
from eigenecho.training.structured import gather_gram
from eigenecho.types import Array

if TYPE_CHECKING:
    from eigenecho.grid_search.scores import Trial

NEGLIGIBLE = 0.01
"""Change of outputs that is still to come, as a share of the error they are scored with."""

ROUNDING = 1e-13
"""Relative change that is rounding."""

RESOLVED = 10
"""Ridges, in roundings of XᵀX, that its factorisation can tell from no ridge."""

HEAD = 1e-12
"""Smallest eigenvalue of the head's HᵀH, columns of length 1, that refinement can hold on to."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """XᵀX + αM for many ridges and scalings at once, by one factorisation of the states.

    Weights and gradients (N', C D_out) hold the candidates side by side.
    """

    factorised: Factorised
    penalty: Penalty
    head: int
    ridges: Array
    scales: Array

    @property
    def weights(self) -> Array:
        """The weights that the factorisation gives."""
        each = zip(self.ridges, self.scales, strict=True)
        return np.concatenate([self.factorised.weights(a, s) for a, s in each], axis=1)

    @property
    def are_resolved(self) -> bool:
        """Whether the ridges lie above the rounding of XᵀX, which refinement must hold on to."""
        rounding = EPS * self.factorised.S.max(initial=0.0) ** 2
        return not np.min(self.ridges / self.scales**2) < RESOLVED * rounding

    def apart(self, W: Array) -> Array:
        """Weights as (N', C, D_out)."""
        return W.reshape(len(W), self.ridges.size, -1)

    def solve(self, gradient: Array) -> Array:
        """(XᵀX + αM)⁻¹ gradient."""
        found = self.factorised.corrections(self.apart(gradient), self.ridges, self.scales)
        return found.reshape(gradient.shape)

    def pull(self, w: Array) -> Array:
        """The gradient of the penalty; the head is not scaled with the states."""
        pull = self.apart(self.penalty.apply(w))
        pull[: self.head] *= self.ridges[:, None]
        pull[self.head :] *= (self.ridges / self.scales**2)[:, None]
        return pull.reshape(w.shape)


def squared_errors(trial: Trial) -> list[Array] | None:
    """Squared residuals of each held-out block, (scalings, ridges, D_out).

    None where states are the cheaper way, or the only one that is accurate enough to choose by.
    """
    problem, fold = trial.problem, trial.fold
    settling = settling_steps(problem.reservoir.form)
    if settling >= min(map(len, problem.inputs)) or trial.head_eigenvalue < HEAD:
        return None
    K, problem = int(settling), problem.in_double
    with np.errstate(over="ignore", invalid="ignore"):  # it shows in the result, checked next
        statistics = gather_gram(problem, fold.train, trial.lags(K)).statistics
    check_range(statistics, problem.reservoir)
    penalty = problem.penalty
    factorised = factorise(statistics, penalty, problem.head)
    system = Candidates(factorised, penalty, problem.head, trial.ridges, trial.scales)
    if not system.are_resolved:
        return None
    last: Array | None = None
    first = Round(problem, fold.train, system.weights)
    for _, step, now in itertools.islice(rounds(first, system), ROUNDS):
        step, W = system.apart(step), system.apart(now.w)
        moved, size = (_rms(A, statistics) for A in (step, W))
        turned = _ratio(_weight(step, penalty), _weight(W, penalty))
        change = np.maximum(_ratio(moved, size), TURNED * turned)
        errors = [_squared(problem, block, W, K) for block in fold.held_out]
        scores = np.sqrt(np.min([e / n for e, n in zip(errors, trial.counts, strict=True)], axis=0))
        if last is None:
            last = change
            continue
        # A small change can also be a slow one: only what shrinks fast is nearly done.
        rate = _ratio(change, last)
        settled = (rate <= SLOWEST) & (rate * change <= NEGLIGIBLE * _ratio(scores, size))
        if np.all(settled | (change <= ROUNDING)):
            return [e.reshape(*trial.shape, -1) for e in errors]
        if np.any((rate > SLOWEST) & (change > ROUNDING)):
            return None
        last = change
    return None


def _rms(W: Array, statistics: Gram) -> Array:
    """RMS of the outputs X w on the training rows, for all candidates, (C, D_out)."""
    squares = np.einsum("icd,ij,jcd->cd", W, statistics.XtX, W, optimize=True)
    return np.sqrt(np.maximum(squares, 0.0) / statistics.rows)


def _weight(W: Array, penalty: Penalty) -> Array:
    """‖L w‖ of all candidates, (C, D_out)."""
    root = penalty.times_root(W.reshape(len(W), -1)).reshape(W.shape)
    return np.linalg.norm(root, axis=0)


def _ratio(a: Array, b: Array) -> Array:
    return a / np.where(b > 0, b, 1.0)


def _squared(problem: Problem, block: Block, W: Array, K: int) -> Array:
    """Squared residuals (C, D_out) of candidates W (N', C, D_out) over a block.

    The reservoir starts K steps before the block: what came earlier it has forgotten.
    """
    _, C, D = W.shape
    reservoir, k = problem.reservoir, problem.head
    weights = np.ascontiguousarray(W[k:].reshape(-1, C * D).T)
    squared = np.zeros((C, D))
    for i, (start, stop) in enumerate(block):
        drive, head = problem.columns(i)
        first = max(start - K, 0)
        out = np.empty((stop - first, C * D))
        kernels.scan_readout(
            reservoir.form, reservoir.B, drive[first:stop], weights, reservoir.zero_state(), out
        )
        found = out[start - first :].reshape(-1, C, D) + np.tensordot(head[start:stop], W[:k], 1)
        squared += np.sum((problem.outputs[i][start:stop, None] - found) ** 2, axis=0)
    return squared
