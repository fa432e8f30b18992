"""Training on shards: workers compute their statistics, which are merged in a fixed order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from eigenecho.dask.carry import carry_states, final_state
from eigenecho.dask.cluster import Cluster
from eigenecho.dask.shards import Shard
from eigenecho.readout import (
    Accumulator,
    Gram,
    Lags,
    Moments,
    Penalty,
    Triangle,
)
from eigenecho.rows import Block, Fold
from eigenecho.scaling import Scaling
from eigenecho.threads import one_blas_thread
from eigenecho.training import AbstractProblem, Problem, fill_missing
from eigenecho.training.passes import PassResult, WeightResiduals
from eigenecho.training.sums import assemble_gram, lag_count, resonant_part, sums_over
from eigenecho.types import Array

Rows = tuple[Array, Array]
"""Inputs (rows, D_in) and targets (rows, D_out)."""

Start = tuple[Any, Array]
"""A state r (N,), or None for zero, and the previous scaled output (D_out,)."""


@dataclass(frozen=True, eq=False)
class ProblemTemplate:
    """A problem without rows, which is sent to workers; ``dtype`` is the dtype of the rows."""

    problem: Problem
    dtype: Any

    def fill(self, shard: Shard, halo: Rows | None, start: Start | None) -> Problem:
        """Return the problem with the rows of a shard, which follow a halo or a start state."""
        u, y = shard.as_tables(shard.load(), self.dtype)
        if halo is not None:
            u, y = (np.concatenate(parts) for parts in zip(halo, (u, y), strict=True))
        u, y = (
            rows if scaling is None else scaling.forward(rows)
            for scaling, rows in zip(self.problem.scalings, (u, y), strict=True)
        )
        u, y = (np.asarray(rows, self.problem.reservoir.dtype) for rows in (u, y))
        outputs, observed = fill_missing([y])
        starts = None if start is None else [start]
        return replace(self.problem, inputs=[u], outputs=outputs, observed=observed, starts=starts)


@dataclass(frozen=True, eq=False, kw_only=True)
class ShardedProblem(AbstractProblem):
    """A problem whose rows are on the workers of a cluster.

    ``dtype`` is the dtype of the rows, and ``gaps`` is True if targets may be missing. ``halos``
    contains the rows to process before each shard, or None for a shard that starts from zero. If
    ``halos`` itself is None, states are carried. ``lasts`` contains the last targets (D_out,) of
    each shard in the original units.
    """

    cluster: Cluster
    shards: Sequence[Shard]
    dtype: Any
    gaps: bool
    halos: Sequence[Rows | None] | None
    lasts: Sequence[Array]

    @property
    def D_out(self) -> int:
        """Number of targets."""
        return self.lasts[0].size

    @cached_property
    def lengths(self) -> list[int]:
        """Number of rows of each series."""
        return [*{shard.series: shard.first + shard.count for shard in self.shards}.values()]

    @property
    def has_gaps(self) -> bool:
        """True if targets may be missing."""
        return self.gaps

    @cached_property
    def in_double(self) -> ShardedProblem:
        """The problem in double precision; the dtype of the rows is unchanged."""
        if self.reservoir.dtype == np.float64:
            return self
        return replace(self, reservoir=self.reservoir.in_double())

    def rescale_outputs(self, scaling: Scaling) -> ShardedProblem:
        """Return the problem with another scaling of the targets."""
        return replace(self, scalings=(self.scalings[0], scaling))

    def counts(self, block: Block) -> Array:
        """Return the number of observed targets of each output in a block, (D_out,)."""
        rows = sum(stop - start for start, stop in block)
        if rows and self.gaps:
            return self.merge_over_shards("counts", _count_targets, Fold(block))
        return np.full(self.D_out, rows)

    def gather(
        self, kind: type[Accumulator], fold: Fold, *, less: Array | None = None
    ) -> PassResult:
        """Return statistics of the training rows and of each held-out block."""
        weights = None if less is None else self.cluster.value("weights", less)
        total, held_out, end = self.merge_over_shards("statistics", _gather, fold, kind, weights)
        size = self.size, self.D_out
        held_out = [Triangle.empty(*size) if part is None else part for part in held_out]
        return PassResult(kind.empty(*size) if total is None else total, held_out, [end.state])

    def gather_gram(self, block: Block) -> PassResult:
        """Return XᵀX and XᵀY over a block, computed from sums over time."""
        K = None if self.halos is None else lag_count(self)
        sums, direct = self.merge_over_shards("statistics", _sum_over_time, Fold(block), K)
        return assemble_gram(self, sums.value, direct)

    def with_weights(self, block: Block, w: Array) -> ShardedResiduals:
        """Return weights (N', k) whose residuals over a block are computed when they are used."""
        return ShardedResiduals(self, block, w)

    def squares(self, block: Block) -> Array:
        """Return ‖y_d‖² over a block, (D_out,)."""
        return self.merge_over_shards("squares", _sum_squares, Fold(block))

    @property
    def _template(self) -> ProblemTemplate:
        """The problem without rows, and without data that only the solver uses."""
        problem = Problem(
            reservoir=self.reservoir,
            penalty=Penalty(self.size),
            fit_bias=self.fit_bias,
            output_to_readout=self.output_to_readout,
            scalings=self.scalings,
            inputs=(),
            outputs=(),
        )
        return ProblemTemplate(problem, self.dtype)

    @cached_property
    def _starts(self) -> list[tuple[Rows | None, Start | None]]:
        """The halo and the start state of each shard."""
        if self.halos is not None:
            return [(halo, None) for halo in self.halos]
        cluster, template = self.cluster, self.cluster.value("network", self._template)
        scaling = self.scalings[1]
        lasts = self.lasts if scaling is None else map(scaling.forward, self.lasts)
        before: list[Any] = [None, *lasts]

        def end_state(i: int, state: Any) -> Any:
            start = (state, before[i]) if self.shards[i].continues else None
            problem = template, self.shards[i], None, start
            return cluster.task("carry", _compute, _final_state, *problem, state)

        tasks = carry_states(cluster, self.reservoir, self.shards, end_state)
        leaves = [task for task in tasks if task is not None]
        states = cluster.compute("carry", cluster.task("carry", list, tasks), leaves)
        return [
            (None, None if state is None else (state, last))
            for state, last in zip(states, before, strict=False)
        ]

    def merge_over_shards(
        self, stage: str, function: Callable[..., Any], fold: Fold, *arguments: Any
    ) -> Any:
        """Apply a function to all shards that contain rows of a fold, and merge the results."""
        cluster, template = self.cluster, self.cluster.value("network", self._template)
        tasks, series = [], None
        for shard, (halo, start) in zip(self.shards, self._starts, strict=True):
            part = _fold_of_shard(shard, fold, 0 if halo is None else len(halo[1]))
            if part is not None:
                problem = function, template, shard, halo, start
                continues = shard.series == series
                tasks.append(cluster.task(stage, _compute, *problem, part, continues, *arguments))
                series = shard.series
        return cluster.compute(stage, cluster.tree(tasks, merge_results), tasks)


def _fold_of_shard(shard: Shard, fold: Fold, skip: int) -> Fold | None:
    """Return the part of a fold in a shard that follows ``skip`` rows; None if it is empty."""

    def part(block: Block) -> Block:
        start, stop = (
            min(max(edge - shard.first, 0), shard.count) + skip for edge in block[shard.series]
        )
        return [(start, max(start, stop))]

    local = Fold(part(fold.train), tuple(map(part, fold.held_out)))
    blocks = local.train, *local.held_out
    return local if any(stop > start for ((start, stop),) in blocks) else None


@dataclass(frozen=True, eq=False)
class ShardedResiduals(WeightResiduals):
    """Weights w (N', k) whose residuals are on the workers."""

    problem: ShardedProblem

    @cached_property
    def _sums(self) -> tuple[Array, Array, Array]:
        """EᵀE, XᵀE and ‖X w‖² of the residuals E = Y − X w."""
        weights = self.problem.cluster.value("weights", self.w)
        fold = Fold(self.block)
        return self.problem.merge_over_shards("residuals", _sum_residuals, fold, weights)

    @property
    def scatter(self) -> Array:
        """EᵀE, (k, k)."""
        return self._sums[0]

    @property
    def onto(self) -> Array:
        """XᵀE, (N', k)."""
        return self._sums[1]

    @property
    def squares(self) -> Array:
        """‖e_d‖² of the residuals, (k,)."""
        return np.diag(self.scatter)

    @property
    def size(self) -> Array:
        """‖X w‖ of each output, (k,)."""
        return np.sqrt(self._sums[2])


# Results of shards -------------------------------------------------------------------------------


@one_blas_thread()
def merge_results(earlier: Any, later: Any) -> Any:
    """Merge the results of two consecutive parts; None is the result of a part without rows."""
    if earlier is None or later is None:
        return later if earlier is None else earlier
    if isinstance(earlier, tuple):
        return tuple(map(merge_results, earlier, later))
    return earlier + later if isinstance(earlier, np.ndarray) else earlier.merge(later)


@dataclass(frozen=True, eq=False)
class LastState:
    """The state (N,) after the last row."""

    state: Array

    def merge(self, after: LastState) -> LastState:
        """Return the later state."""
        return after


@dataclass(frozen=True, eq=False)
class SeriesSums:
    """Lags or moments of consecutive shards.

    ``continues`` is True if the first shard continues the series of the shard before it.
    """

    value: Lags | Moments
    continues: bool

    def merge(self, after: SeriesSums) -> SeriesSums:
        """Return the sums over both parts."""
        merge: Any = self.value.joined if after.continues else self.value.merge
        return SeriesSums(merge(after.value), self.continues)


# On workers --------------------------------------------------------------------------------------


@one_blas_thread()
def _compute(
    function: Callable[..., Any],
    template: ProblemTemplate,
    shard: Shard,
    halo: Rows | None,
    start: Start | None,
    *arguments: Any,
) -> Any:
    return function(template.fill(shard, halo, start), *arguments)


def _final_state(problem: Problem, state: Array | None) -> Array:
    drive, _ = problem.columns(0)
    return final_state(problem.reservoir, drive, state)


def _gather(
    problem: Problem, fold: Fold, _: bool, kind: type[Accumulator], less: Array | None
) -> tuple[Any, tuple[Any, ...], LastState]:
    total, held_out, ends = problem.gather(kind, fold, less=less)
    blocks = tuple(part if part.rows else None for part in held_out)
    return (total if total.rows else None), blocks, LastState(ends[-1])


def _sum_over_time(
    problem: Problem, fold: Fold, continues: bool, K: int | None
) -> tuple[SeriesSums, Gram | None]:
    sums, alone = SeriesSums(sums_over(problem, fold.train, K), continues), resonant_part(problem)
    return sums, None if alone is None else alone.gather(Gram, fold).statistics


def _count_targets(problem: Problem, fold: Fold, _: bool) -> Array:
    return problem.counts(fold.train)


def _sum_squares(problem: Problem, fold: Fold, _: bool) -> Array:
    return problem.squares(fold.train)


def _sum_residuals(problem: Problem, fold: Fold, _: bool, w: Array) -> tuple[Array, Array, Array]:
    residuals = problem.with_weights(fold.train, w)
    return residuals.scatter, residuals.onto, residuals.size**2
