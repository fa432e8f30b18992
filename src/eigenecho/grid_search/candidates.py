"""Many ridges and input scalings of one reservoir: trained side by side, and judged together."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.arrays import namespace, to_host
from eigenecho.readout import EPS, Factorised, Gram, Penalty, factors, solved
from eigenecho.training import Block
from eigenecho.training.refine import SLOWEST, Weighed, rounds
from eigenecho.types import Array

if TYPE_CHECKING:
    from eigenecho.grid_search.scores import Trial

NEGLIGIBLE = 0.01
"""Change of outputs that is still to come, as a share of the error they are scored with."""

ROUNDING = 1e-13
"""Relative change that is rounding."""

ROUNDS = 8
"""Refinements until the route is given up."""

TURNED = 1e-3
"""Weight of a relative change of the weights beside one of the outputs."""

RESOLVED = 10
"""Ridges, in roundings of XᵀX, that its factorisation can tell from no ridge."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """XᵀX + αM for many ridges and scalings at once, in the coordinates of unscaled states.

    Weights and gradients (N', C D_out) hold the candidates side by side.
    """

    statistics: Gram
    penalty: Penalty
    head: int
    ridges: Array
    scales: Array

    def apart(self, W: Array) -> Array:
        """Weights as (N', C, D_out)."""
        return W.reshape(len(W), self.ridges.size, -1)

    def pull(self, w: Array) -> Array:
        """The gradient of the penalty; the head is not scaled with the states."""
        pull = self.apart(self.penalty.apply(w))
        of_head, of_states = self._pulls
        pull[: self.head] *= of_head[:, None]
        pull[self.head :] *= of_states[:, None]
        return pull.reshape(w.shape)

    @cached_property
    def _pulls(self) -> tuple[Array, Array]:
        """Ridges on columns of the head and on states, (C,) each, where the sums are."""
        xp = namespace(self.statistics.XtX)
        return xp.asarray(self.ridges), xp.asarray(self.ridges / self.scales**2)


@dataclass(frozen=True, eq=False)
class Shared(Candidates):
    """By one factorisation of the states that answers for all of them."""

    factorised: Factorised

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

    def solve(self, gradient: Array) -> Array:
        """(XᵀX + αM)⁻¹ gradient."""
        found = self.factorised.corrections(self.apart(gradient), self.ridges, self.scales)
        return found.reshape(gradient.shape)


@dataclass(frozen=True, eq=False)
class Stacked(Candidates):
    """By a Cholesky factor each, of a stack (C, N', N') that a device factorises in one go."""

    @cached_property
    def factors(self) -> tuple[Array, Array] | None:
        """As ``readout.factors`` has them; None where a matrix has none in floating point."""
        xp, k = namespace(self.statistics.XtX), self.head
        of_head, of_states = (ridges[:, None, None] for ridges in self._pulls)
        M = self.penalty.gram(self.statistics.XtX)  # without products of head and states
        pulls = xp.zeros((self.ridges.size, *M.shape))
        pulls[:, :k, :k] = of_head * M[:k, :k]
        pulls[:, k:, k:] = of_states * M[k:, k:]
        pulls += self.statistics.XtX
        return factors(pulls)

    @property
    def weights(self) -> Array:
        """The weights that the normal equations give."""
        return self.solve(
            namespace(self.statistics.XtY).tile(self.statistics.XtY, len(self.ridges))
        )

    def solve(self, gradient: Array) -> Array:
        """(XᵀX + αM)⁻¹ gradient."""
        assert self.factors is not None
        found = solved(*self.factors, self.apart(gradient).swapaxes(0, 1))  # (C, N', D_out)
        return found.swapaxes(0, 1).reshape(gradient.shape)


def judged(
    trial: Trial,
    first: Weighed,
    system: Shared | Stacked,
    squared: Callable[[Block, Array], Array],
    most: float = np.inf,
) -> list[Array] | None:
    """Squared residuals of each held-out block, (scalings, ridges, D_out), of refined weights.

    ``squared`` are those (C, D_out) of a block and weights (N', C, D_out). None where the rounds
    do not converge; else outputs change by less than the error they are scored with tells apart,
    and by less than ``most`` of their size.
    """
    penalty, last = system.penalty, None
    for now, _, step in itertools.islice(rounds(first, system), ROUNDS):
        step, W = system.apart(step), system.apart(now.w + step)
        moved, size = (_rms(A, system.statistics) for A in (step, W))
        turned = _ratio(_weight(step, penalty), _weight(W, penalty))
        change = np.maximum(_ratio(moved, size), TURNED * turned)
        errors = [to_host(squared(block, W)) for block in trial.fold.held_out]
        scores = np.sqrt(np.min([e / n for e, n in zip(errors, trial.counts, strict=True)], axis=0))
        if last is None:
            last = change
            continue
        # A small change can also be a slow one: only what shrinks fast is nearly done.
        rate = _ratio(change, last)
        tolerated = np.minimum(NEGLIGIBLE * _ratio(scores, size), most)
        settled = (rate <= SLOWEST) & (rate * change <= tolerated)
        if np.all(settled | (change <= ROUNDING)):
            return [e.reshape(*trial.shape, -1) for e in errors]
        if not np.all((rate <= SLOWEST) | (change <= ROUNDING)):
            return None
        last = change
    return None


def _rms(W: Array, statistics: Gram) -> Any:
    """RMS of the outputs X w on the training rows, for all candidates, (C, D_out)."""
    xp = namespace(W)
    squares = xp.einsum("icd,ij,jcd->cd", W, statistics.XtX, W, optimize=True)
    return np.sqrt(np.maximum(to_host(squares), 0.0) / statistics.rows)


def _weight(W: Array, penalty: Penalty) -> Any:
    """‖L w‖ of all candidates, (C, D_out)."""
    root = penalty.times_root(W.reshape(len(W), -1)).reshape(W.shape)
    return np.sqrt(to_host((root**2).sum(axis=0)))


def _ratio(a: Array, b: Array) -> Array:
    return a / np.where(b > 0, b, 1.0)
