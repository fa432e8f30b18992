"""Ridges and input scalings of a reservoir that are trained and scored together."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from eigenecho import kernels
from eigenecho.arrays import namespace, to_host
from eigenecho.grid_search.trial import Trial
from eigenecho.kernels.convolution import settling_steps
from eigenecho.readout import EPS, Factorisation, Gram, Penalty, factors, solved
from eigenecho.rows import Block
from eigenecho.training import Problem
from eigenecho.training.refine import SLOWEST, WeightedRows, rounds
from eigenecho.training.sums import sums_pay
from eigenecho.types import Array

NEGLIGIBLE = 0.01
"""Refinement ends if the expected change of the outputs is at most this fraction of their error."""

ROUNDING = 1e-13
"""Largest relative change of the outputs that counts as rounding error."""

ROUNDS = 8
"""Largest number of refinement rounds."""

TURNED = 1e-3
"""Factor by which relative changes of the readout weights count as changes of the outputs."""

LARGE = 1 << 25
"""Largest number of outputs (rows times candidates) in memory at the same time."""

HEAD_REFINED = 1e-12
"""Smallest ``head_eigenvalue`` for which refinement converges."""

RESOLVED = 10
"""Smallest ridge that a factorisation of XᵀX resolves, relative to its rounding error."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Linear systems XᵀX + αM for C pairs of ridge and scaling, in coordinates of unscaled states.

    Weights and gradients have the shape (N', C D_out), with the candidates side by side.
    """

    statistics: Gram
    penalty: Penalty
    head: int
    ridges: Array
    scales: Array

    def split(self, W: Array) -> Array:
        """Return weights as (N', C, D_out)."""
        return W.reshape(len(W), self.ridges.size, -1)

    def pull(self, w: Array) -> Array:
        """Return the gradient of the penalty; only the states are scaled, not the head."""
        pull = self.split(self.penalty.apply(w))
        of_head, of_states = self._ridges
        pull[: self.head] *= of_head[:, None]
        pull[self.head :] *= of_states[:, None]
        return pull.reshape(w.shape)

    @cached_property
    def _ridges(self) -> tuple[Array, Array]:
        """Ridges of the head and of the states, (C,) each, on the device of the statistics."""
        xp = namespace(self.statistics.XtX)
        return xp.asarray(self.ridges), xp.asarray(self.ridges / self.scales**2)


@dataclass(frozen=True, eq=False)
class SharedCandidates(Candidates):
    """Candidates that share one factorisation of the states."""

    factorised: Factorisation

    @property
    def weights(self) -> Array:
        """Weights computed from the factorisation."""
        pairs = zip(self.ridges, self.scales, strict=True)
        return np.concatenate([self.factorised.weights(a, s) for a, s in pairs], axis=1)

    def solve(self, gradient: Array) -> Array:
        """Return (XᵀX + αM)⁻¹ gradient."""
        steps = self.factorised.corrections(self.split(gradient), self.ridges, self.scales)
        return steps.reshape(gradient.shape)


@dataclass(frozen=True, eq=False)
class StackedCandidates(Candidates):
    """Candidates whose Cholesky factors are computed on a device as a stack (C, N', N')."""

    @cached_property
    def factors(self) -> tuple[Array, Array] | None:
        """Cholesky factors as in ``readout.factors``; None if a matrix is not positive definite."""
        xp, k = namespace(self.statistics.XtX), self.head
        of_head, of_states = (ridges[:, None, None] for ridges in self._ridges)
        M = self.penalty.gram(self.statistics.XtX)  # It is zero between head and states.
        systems = xp.zeros((self.ridges.size, *M.shape))
        systems[:, :k, :k] = of_head * M[:k, :k]
        systems[:, k:, k:] = of_states * M[k:, k:]
        systems += self.statistics.XtX
        return factors(systems)

    @property
    def weights(self) -> Array:
        """Weights computed from the normal equations."""
        XtY = self.statistics.XtY
        return self.solve(namespace(XtY).tile(XtY, (len(self.ridges),)))

    def solve(self, gradient: Array) -> Array:
        """Return (XᵀX + αM)⁻¹ gradient."""
        assert self.factors is not None
        steps = solved(*self.factors, self.split(gradient).swapaxes(0, 1))  # (C, N', D_out)
        return steps.swapaxes(0, 1).reshape(gradient.shape)


def refined_errors(
    trial: Trial,
    first: WeightedRows,
    system: SharedCandidates | StackedCandidates,
    squared: Callable[[Block, Array], Array],
    most: float = np.inf,
) -> list[Array] | None:
    """Return squared residuals of each held-out block, (C, D_out).

    Weights are refined until the changes of the outputs are negligible compared with the errors,
    and smaller than ``most`` times the outputs. ``squared`` returns squared residuals (C, D_out)
    for a block and weights (N', C, D_out). The result is None if the refinement does not converge.
    """
    penalty, last = system.penalty, None
    for now, _, step in itertools.islice(rounds(first, system), ROUNDS):
        step, W = system.split(step), system.split(now.w + step)
        moved, size = (_rms(A, system.statistics) for A in (step, W))
        turned = _ratio(_norm(step, penalty), _norm(W, penalty))
        change = np.maximum(_ratio(moved, size), TURNED * turned)
        if last is None:
            last = change
            continue
        errors = [to_host(squared(block, W)) for block in trial.fold.held_out]
        scores = np.sqrt(np.min([e / n for e, n in zip(errors, trial.counts, strict=True)], axis=0))
        # A small change can also be a sign of slow convergence, so the rate is also checked.
        rate = _ratio(change, last)
        tolerated = np.minimum(NEGLIGIBLE * _ratio(scores, size), most)
        settled = (rate <= SLOWEST) & (rate * change <= tolerated)
        if np.all(settled | (change <= ROUNDING)):
            return errors
        if not np.all((rate <= SLOWEST) | (change <= ROUNDING)):
            return None
        last = change
    return None


def errors_from_lags(trial: Trial) -> list[Array] | None:
    """Return squared residuals of each held-out block, (C, D_out), from lagged correlations.

    The correlations are computed once for all trials. Each combination of radius, leak, law and
    seed then costs O(N³), for series of any length, because states are computed only for held-out
    rows. The result is None if computing states is cheaper, or if the correlations are not accurate
    enough.
    """
    problem, fold, ridges = trial.problem, trial.fold, trial.ridges
    steps = sum(stop for _, stop in fold.train)
    settling = settling_steps(problem.reservoir.form)
    if (
        not sums_pay(problem)
        or steps * ridges.size * problem.D_out > LARGE
        or np.any(ridges <= 0)
        or settling >= min(map(len, problem.inputs))
    ):
        return None
    K, problem = int(settling), problem.in_double
    with np.errstate(over="ignore", invalid="ignore"):  # The result is checked below.
        statistics = problem.gather_gram(fold.train, trial.lags(K)).statistics
    problem.check_range(statistics)
    penalty, head = problem.penalty, problem.head
    if head_eigenvalue(statistics, head) < HEAD_REFINED:
        return None
    factorised = statistics.factorise(penalty, head)
    rounding = EPS * factorised.S.max(initial=0.0) ** 2
    if np.min(ridges / trial.scales**2) < RESOLVED * rounding:  # Refinement would not converge.
        return None
    system = SharedCandidates(statistics, penalty, head, ridges, trial.scales, factorised)
    first = problem.with_weights(fold.train, system.weights)
    return refined_errors(trial, first, system, partial(_squared_on, problem, K))


def _squared_on(problem: Problem, K: int, block: Block, W: Array) -> Array:
    """Return squared residuals (C, D_out) of candidates W (N', C, D_out) over a block.

    The reservoir starts K steps before the block, because the effect of earlier rows is negligible.
    """
    _, C, D = W.shape
    reservoir, k = problem.reservoir, problem.head
    weights = np.ascontiguousarray(W[k:].reshape(-1, C * D).T)
    squared = np.zeros((C, D))
    for i, (start, stop) in enumerate(block):
        drive, head = problem.columns(i)
        first = max(start - K, 0)
        piece = drive[first:stop]
        state = reservoir.zero_state(piece)
        out, _ = kernels.scan_readout(reservoir.form, reservoir.B, piece, weights, state)
        outputs = out[start - first :].reshape(-1, C, D) + np.tensordot(head[start:stop], W[:k], 1)
        squared += ((problem.outputs[i][start:stop, None] - outputs) ** 2).sum(axis=0)
    return squared


def head_eigenvalue(statistics: Gram, head: int) -> float:
    """Return the smallest eigenvalue of HᵀH, where H contains the normalised columns of the head.

    It is 1 for a single column. For the columns 1 and y(t−1), it is about (σ/m)², where m and σ are
    the mean and standard deviation of y, and must exceed the rounding error of the sums.
    """
    HtH = to_host(statistics.XtX[:head, :head])
    size = np.sqrt(np.diagonal(HtH))
    size = np.where(size > 0, size, 1.0)
    return float(np.linalg.eigvalsh(HtH / size / size[:, None]).min(initial=1.0))


def _rms(W: Array, statistics: Gram) -> Any:
    """Return the RMS of the outputs X w on the training rows, (C, D_out)."""
    xp = namespace(W)
    squares = xp.einsum("icd,ij,jcd->cd", W, statistics.XtX, W, optimize=True)
    return np.sqrt(np.maximum(to_host(squares), 0.0) / statistics.rows)


def _norm(W: Array, penalty: Penalty) -> Any:
    """Return ‖L w‖ of each candidate and output, (C, D_out)."""
    root = penalty.times_root(W.reshape(len(W), -1)).reshape(W.shape)
    return np.sqrt(to_host((root**2).sum(axis=0)))


def _ratio(a: Array, b: Array) -> Array:
    return a / np.where(b > 0, b, 1.0)
