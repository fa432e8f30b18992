"""Iterative refinement: normal equations that lose no digits.

Any XᵀX holds half of the digits of X. With residuals of the real series, run through the
network, its errors no longer show in the answer, only in how fast that is reached.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

import numpy as np

from eigenecho import kernels
from eigenecho.arrays import namespace
from eigenecho.readout import NormalEquations, against, correlate
from eigenecho.training.gather import Block
from eigenecho.training.structured import lag_count, summed
from eigenecho.types import Array

if TYPE_CHECKING:
    from eigenecho.training.problem import Problem

ROUNDS = 12
"""Refinements until the route is given up."""

SLOWEST = 0.3
"""Factor by which a round must shrink the change of the one before."""

CONVERGED = 1e-11
"""Change of the outputs still to come, relative to their size, at which refinement ends."""

ACCURATE = 1e-10
"""Change that is still good enough where rounding lets it sink no further."""

TURNED = 5e-2
"""Weight of a relative change of the weights beside one of the outputs.

Rows of the warmup, and of other series, may be excited where those of training are not: there
outputs are known to a tenth of the digits of the weights.
"""

SLIGHT = 1e-6
"""Change of the outputs, relative to residuals, of which these follow to first order."""


class LinearSystem(Protocol):
    """A ≈ XᵀX + αM, factorised."""

    def solve(self, rhs: Array, /) -> Array:
        """A⁻¹ rhs, for rhs (N', k)."""

    def pull(self, w: Array, /) -> Array:
        """αM w, the gradient of the penalty."""


class Weighed(Protocol):
    """Weights w (N', k) on rows, kept or made anew."""

    @property
    def w(self) -> Array:
        """The weights."""

    def gradient(self, system: LinearSystem, /) -> Array:
        """Xᵀ(Y − X w) − αM w."""

    def moved(self, step: Array, /) -> Self:
        """The same rows with w + step."""


class Round:
    """Weights w (N', k), and what they leave of the targets over a block."""

    def __init__(self, problem: Problem, block: Block, w: Array) -> None:
        self._rows = problem, block
        self.w = w

    @cached_property
    def left(self) -> list[Array]:
        """E = Y − X w, (rows, k) for each series."""
        return residuals(*self._rows, self.w)

    @cached_property
    def onto(self) -> Array:
        """XᵀE, (N', k)."""
        return project(*self._rows, self.left)

    def gradient(self, system: LinearSystem) -> Array:
        """XᵀE − αM w."""
        return self.onto - system.pull(self.w)

    def moved(self, step: Array) -> Round:
        """The round of w + step."""
        return Round(*self._rows, self.w + step)

    @property
    def scatter(self) -> Array:
        """EᵀE, (k, k)."""
        return namespace(self.w).sum([e.T @ e for e in self.left], axis=0)

    @property
    def squares(self) -> Array:
        """‖e_d‖² of the residuals, (k,)."""
        return sum(namespace(self.w).sum(e**2, axis=0) for e in self.left)

    @property
    def size(self) -> Array:
        """‖X w‖ of each output, (k,)."""
        problem, block = self._rows
        return lengths([y - e for y, e in zip(problem.targets(block), self.left, strict=True)])


Rows = TypeVar("Rows", bound=Weighed)


def rounds(first: Rows, system: LinearSystem) -> Iterator[tuple[Rows, Array, Array]]:
    """Each round, its gradient g and the step A⁻¹ g it takes, as long as they are asked for.

        w ← w + A⁻¹ (Xᵀ(Y − X w) − αM w)

    Any number of outputs goes together, also those of several candidates side by side.
    """
    now = first
    while True:
        gradient = now.gradient(system)
        step = system.solve(gradient)
        yield now, gradient, step
        now = now.moved(step)


@dataclass(frozen=True, eq=False)
class Refined:
    """The last round whose residuals are known, and the step after it, which is the last.

    ``moved`` (k,) is how far that changes each output at most: √(‖Xδ‖² + α‖Lδ‖²).
    """

    last: Round
    step: Array
    moved: Array

    @property
    def w(self) -> Array:
        """The weights that the normal equations mean."""
        return self.last.w + self.step

    @property
    def scatter(self) -> Array:
        """EᵀE of their residuals, (k, k): (E − Xδ)ᵀ(E − Xδ) without another pass, if δ is small."""
        xp, scatter = namespace(self.step), self.last.scatter
        if not xp.all(self.moved <= SLIGHT * xp.sqrt(xp.diagonal(scatter))):
            return self.last.moved(self.step).scatter
        cross = self.last.onto.T @ self.step
        return scatter - cross - cross.T


def refine(first: Round, system: NormalEquations) -> Refined | None:
    """The weights that the normal equations mean, to all digits; None where they are too far.

    ``first`` are those that the equations give as they are.

    How far a step δ = A⁻¹ g changes the outputs tells whether it converges, and is known before it
    is taken: ‖Xδ‖² + α‖Lδ‖² = gᵀδ. So does how far it changes the weights, ‖Lδ‖, since a series
    may not excite what others will.
    """
    xp = namespace(first.w)
    penalty, size = system.penalty, first.size
    weight = lengths([penalty.times_root(first.w)])
    size[size == 0] = weight[weight == 0] = 1.0
    found, last = None, np.inf
    for now, gradient, step in itertools.islice(rounds(first, system), ROUNDS):
        moved = xp.sqrt(xp.maximum((gradient * step).sum(axis=0), 0.0))
        turned = lengths([penalty.times_root(step)]) / weight
        change = float(xp.max(xp.maximum(moved / size, TURNED * turned)))
        if not change < SLOWEST * last:  # rounding, or too far off to begin with
            break
        found = Refined(now, step, moved)
        if change <= CONVERGED or (last < np.inf and change**2 <= CONVERGED * last):
            return found  # the next change will be smaller by the same factor
        last = change
    return found if last <= ACCURATE else None


def lengths(columns: list[Array]) -> Array:
    """The norm of each column over all series, whatever its units."""
    xp = namespace(columns[0])
    largest = xp.max([xp.max(xp.abs(c), axis=0, initial=0.0) for c in columns], axis=0)
    largest[largest == 0] = 1.0
    return largest * xp.sqrt(sum(xp.sum((c / largest) ** 2, axis=0) for c in columns))


def residuals(problem: Problem, block: Block, w: Array) -> list[Array]:
    """Y − X w over a block, (rows, k) for each series; Y repeats where w has more outputs.

    0 where targets are missing.
    """
    copies = w.shape[1] // problem.D_out
    each = zip(problem.targets(block), fitted(problem, block, w), strict=True)
    xp = namespace(w)
    left = [xp.subtract(xp.tile(y, copies) if copies > 1 else y, x, out=x) for y, x in each]
    if problem.observed is not None:
        for e, there, (start, stop) in zip(left, problem.observed, block, strict=True):
            e[xp.asarray(np.tile(~there[start:stop], copies))] = 0.0
    return left


def fitted(problem: Problem, block: Block, w: Array) -> list[Array]:
    """X w over a block, (rows, k) for each series and any number k of weight columns."""
    reservoir, k = problem.reservoir, problem.head
    xp = namespace(w)
    weights = xp.ascontiguousarray(w[k:].T)
    found = []
    for i, (start, stop) in enumerate(block):
        drive, head = problem.columns(i)
        out = xp.empty((stop, w.shape[1]))
        kernels.outputs(reservoir.form, reservoir.B, drive[:stop], weights, problem.start(i), out)
        out = out[start:]
        out += head[start:stop] @ w[:k]
        found.append(out)
    return found


def project(problem: Problem, block: Block, residual: list[Array]) -> Array:
    """Xᵀe over a block, (N', k)."""
    reservoir, k = problem.reservoir, problem.head
    total = namespace(residual[0]).zeros((problem.size, residual[0].shape[1]))
    K = lag_count(problem)
    for i, (start, stop) in enumerate(block):
        drive, head = problem.columns(i)
        e = residual[i]
        total[:k] += head[start:stop].T @ e
        if K is None:
            _, C, _ = summed(problem, i, drive[:stop], e, start)
        else:
            C = against(reservoir, correlate(e, drive[:stop], start, K))
        total[k:] += C.T
    return total
