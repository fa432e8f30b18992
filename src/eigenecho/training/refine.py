"""Iterative refinement of solutions of the normal equations to full accuracy.

XᵀX has half of the digits of X. If the weights are corrected with true residuals, computed by
running the network on the series, errors of XᵀX affect only the speed of convergence, not the
result.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Protocol, Self, TypeVar

import numpy as np

from eigenecho.arrays import namespace
from eigenecho.readout import NormalEquations, against, correlate
from eigenecho.rows import Block, SeriesRows, chunk_rows
from eigenecho.training.passes import LinearSystem, WeightResiduals
from eigenecho.training.sums import lag_count, sum_states
from eigenecho.training.training_series import TrainingSeries
from eigenecho.types import Array

ROUNDS = 12
"""Maximum number of refinement steps."""

SLOWEST = 0.3
"""Largest ratio of successive changes. Refinement stops if it is exceeded."""

CONVERGED = 1e-11
"""Relative tolerance: the expected further change of the outputs at which refinement ends."""

ACCURATE = 1e-10
"""Largest relative change that is accepted if rounding prevents a smaller one."""

WEIGHT_SHARE = 5e-2
"""Importance of relative changes of the weights, compared with those of the outputs.

Rows of the warmup and of other series may excite directions that training rows do not. In these
directions, errors of the weights become errors of the outputs.
"""

SLIGHT = 1e-6
"""Largest change of outputs, relative to residuals, for a first-order update of EᵀE."""


class WeightedRows(Protocol):
    """Weights w (N', k), with rows that are stored or recomputed."""

    @property
    def w(self) -> Array:
        """Weights w (N', k)."""

    def gradient(self, system: LinearSystem, /) -> Array:
        """Return the gradient Xᵀ(Y − X w) − αM w."""

    def moved(self, step: Array, /) -> Self:
        """Return the weights w + step with their rows."""


@dataclass(frozen=True, eq=False)
class SeriesResiduals(WeightResiduals):
    """Residuals of series in memory, computed by running the network."""

    problem: TrainingSeries

    @cached_property
    def left(self) -> list[Array]:
        """Residuals E = Y − X w, (rows, k) for each series."""
        return residuals(self.problem, self.block, self.w)

    @cached_property
    def _weighted(self) -> list[Array]:
        """Residuals times the weights of the rows."""
        return self.problem.weighted(self.left, self.block)

    @cached_property
    def onto(self) -> Array:
        """Products XᵀE of rows and residuals, (N', k)."""
        return project(self.problem, self.block, self._weighted)

    @property
    def scatter(self) -> Array:
        """Products EᵀE of the residuals, (k, k)."""
        pairs = zip(self.left, self._weighted, strict=True)
        return namespace(self.w).stack([e.T @ f for e, f in pairs]).sum(0)

    @property
    def squares(self) -> Array:
        """Sums of squares ‖e_d‖² of the residuals, (k,)."""
        pairs = zip(self.left, self._weighted, strict=True)
        return sum(namespace(self.w).sum(e * f, axis=0) for e, f in pairs)

    @property
    def size(self) -> Array:
        """Norms ‖X w‖ of the outputs, (k,)."""
        targets = self.problem.targets(self.block)
        outputs = [y - e for y, e in zip(targets, self.left, strict=True)]
        return lengths(self.problem.weighted(outputs, self.block, 0.5))


Rows = TypeVar("Rows", bound=WeightedRows)


def rounds(first: Rows, system: LinearSystem) -> Iterator[tuple[Rows, Array, Array]]:
    """Yield rounds of refinement, each with its gradient g and its step A⁻¹ g.

        w ← w + A⁻¹ (Xᵀ(Y − X w) − αM w)

    The columns of w may belong to several candidates.
    """
    current = first
    while True:
        gradient = current.gradient(system)
        step = system.solve(gradient)
        yield current, gradient, step
        current = current.moved(step)


@dataclass(frozen=True, eq=False)
class RefinedWeights:
    """Result of a refinement: the last round with known residuals, and the step δ after it.

    ``moved`` (k,) bounds the change of each output by this step: √(‖Xδ‖² + α‖Lδ‖²).
    """

    last: WeightResiduals
    step: Array
    moved: Array

    @property
    def w(self) -> Array:
        """The refined weights."""
        return self.last.w + self.step

    @property
    def scatter(self) -> Array:
        """Products EᵀE of the residuals, (k, k), computed without another pass if δ is small."""
        xp, scatter = namespace(self.step), self.last.scatter
        if not xp.all(self.moved <= SLIGHT * xp.sqrt(xp.diagonal(scatter))):
            return self.last.moved(self.step).scatter
        cross = self.last.onto.T @ self.step
        return scatter - cross - cross.T


def refine(first: WeightResiduals, system: NormalEquations) -> RefinedWeights | None:
    """Refine weights until all digits are correct; return None without convergence.

    ``first`` contains the unrefined solution of the normal equations.

    The change of the outputs by a step δ = A⁻¹ g is known before the step is taken:
    ‖Xδ‖² + α‖Lδ‖² = gᵀδ. The convergence test uses this and the change of the weights, ‖Lδ‖,
    because other series may excite directions that these series do not.
    """
    xp = namespace(first.w)
    penalty, size = system.penalty, first.size
    weight = lengths([penalty.times_root(first.w)])
    size[size == 0] = weight[weight == 0] = 1.0
    refined, last = None, np.inf
    for current, gradient, step in itertools.islice(rounds(first, system), ROUNDS):
        moved = xp.sqrt(xp.maximum((gradient * step).sum(axis=0), 0.0))
        turned = lengths([penalty.times_root(step)]) / weight
        change = float(xp.max(xp.maximum(moved / size, WEIGHT_SHARE * turned)))
        if not change < SLOWEST * last:  # rounding, or an inaccurate XᵀX
            break
        refined = RefinedWeights(current, step, moved)
        if change <= CONVERGED or (last < np.inf and change**2 <= CONVERGED * last):
            return refined  # the next change will be smaller by the same factor
        last = change
    return refined if last <= ACCURATE else None


def lengths(columns: list[Array]) -> Array:
    """Return the norm of each column over all series, without overflow of squares."""
    xp = namespace(columns[0])
    largest = reduce(xp.maximum, (xp.max(xp.abs(c), axis=0, initial=0.0) for c in columns))
    largest[largest == 0] = 1.0
    return largest * xp.sqrt(sum(xp.sum((c / largest) ** 2, axis=0) for c in columns))


def residuals(problem: TrainingSeries, block: Block, w: Array) -> list[Array]:
    """Return the residuals Y − X w over a block, with 0 for missing targets.

    Y is repeated if w has more columns.
    """
    copies = w.shape[1] // problem.D_out
    pairs = zip(problem.targets(block), fitted_values(problem, block, w), strict=True)
    xp = namespace(w)
    left = [xp.subtract(xp.tile(y, (copies,)) if copies > 1 else y, x, out=x) for y, x in pairs]
    if problem.observed is not None:
        for e, there, (start, stop) in zip(left, problem.observed, block, strict=True):
            e[xp.asarray(np.tile(~there[start:stop], copies))] = 0.0
    return left


def fitted_values(problem: TrainingSeries, block: Block, w: Array) -> list[Array]:
    """Return the outputs X w over a block, (rows, k) for each series."""
    reservoir, k = problem.reservoir, problem.head
    if reservoir.features is not None:
        return [_fitted_rows(problem.rows(i), *rows, w) for i, rows in enumerate(block)]
    xp = namespace(w)
    weights = xp.ascontiguousarray(w[k:].T)
    products = []
    for i, (start, stop) in enumerate(block):
        drive, head = problem.columns(i)
        out = xp.empty((stop, w.shape[1]))
        reservoir.read_out(weights, drive[:stop], problem.start(i), out)
        out = out[start:]
        out += head[start:stop] @ w[:k]
        products.append(out)
    return products


def _fitted_rows(rows: SeriesRows, start: int, stop: int, w: Array) -> Array:
    """Return the outputs X w for rows of one series, computed in chunks."""
    chunks = rows.chunks(start, stop, chunk_rows(rows.head, rows.size))
    return np.concatenate([X @ w for _, X in chunks] or [np.empty((0, w.shape[1]))])


def project(problem: TrainingSeries, block: Block, residual: list[Array]) -> Array:
    """Return the products Xᵀe of rows and residuals over a block, (N', k)."""
    reservoir, k = problem.reservoir, problem.head
    total = namespace(residual[0]).zeros((problem.size, residual[0].shape[1]))
    K = lag_count(problem)
    for i, (start, stop) in enumerate(block):
        drive, head = problem.columns(i)
        e = residual[i]
        total[:k] += head[start:stop].T @ e
        if K is None:
            _, C, _ = sum_states(problem, i, drive[:stop], e, start)
        else:
            C = against(reservoir, correlate(e, drive[:stop], start, K))
        total[k:] += C.T
    return total
