"""Training on rows in shards: workers compute statistics of shards, which merge in a fixed tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
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
    PassResult,
    Penalty,
    Triangle,
)
from eigenecho.rows import Block, Fold
from eigenecho.threads import one_blas_thread
from eigenecho.training import Problem, fill_missing
from eigenecho.training.refine import Round
from eigenecho.training.structured import assemble_gram, lag_count, resonant_part, sums_over
from eigenecho.types import Array

Rows = tuple[Array, Array]
"""Inputs (rows, D_in) and targets (rows, D_out)."""

Start = tuple[Any, Array]
"""A state r (N,), None for zero, and the output before it, (D_out,), in the network's units."""


@dataclass(frozen=True, eq=False)
class ProblemTemplate:
    """A problem without rows, as workers get it; ``double`` asks for double precision."""

    problem: Problem
    double: bool = False

    @classmethod
    def of(cls, problem: Problem) -> ProblemTemplate:
        """Remove from a problem its rows and what only the solver needs."""
        bare = Penalty(problem.size)
        return cls(replace(problem, inputs=(), outputs=(), observed=None, basis=None, penalty=bare))

    def fill(self, shard: Shard, halo: Rows | None, start: Start | None) -> Problem:
        """Return the problem of the rows of a shard, after a halo or from a given start."""
        u, y = shard.as_tables(shard.load(), self.problem.reservoir.dtype)
        if halo is not None:
            u, y = (np.concatenate(parts) for parts in zip(halo, (u, y), strict=True))
        u, y = (
            rows if scaling is None else scaling.forward(rows)
            for scaling, rows in zip(self.problem.scalings, (u, y), strict=True)
        )
        outputs, observed = fill_missing([y])
        starts = None if start is None else [start]
        problem = replace(
            self.problem, inputs=[u], outputs=outputs, observed=observed, starts=starts
        )
        return problem.in_double if self.double else problem


@dataclass(frozen=True, eq=False)
class ShardedProblem(Problem):
    """A problem whose rows are on the workers of a cluster.

    Its own series have the right lengths, but no values. ``halos`` are the rows to run
    through before each shard, None for a shard that starts from zero; if ``halos`` itself is None,
    states are carried. ``lasts`` (D_out,) are the last targets of the shards, in the network's
    units.
    """

    cluster: Cluster = field(kw_only=True)
    template: ProblemTemplate = field(kw_only=True)
    shards: Sequence[Shard] = field(kw_only=True)
    lasts: Sequence[Array] = field(kw_only=True)
    halos: Sequence[Rows | None] | None = field(kw_only=True)

    @classmethod
    def of(cls, problem: Problem, **more: Any) -> ShardedProblem:
        """Return a problem with the parts of another, which has no values, and its shards."""
        return cls(**{part.name: getattr(problem, part.name) for part in fields(problem)}, **more)

    @cached_property
    def in_double(self) -> ShardedProblem:
        """The same rows in double precision."""
        if self.reservoir.dtype == np.float64:
            return self
        template = replace(self.template, double=True)
        return replace(self, reservoir=self.reservoir.in_double(), template=template)

    @property
    def parts(self) -> list[tuple[Array, Problem]]:
        """All outputs: on a cluster, a row is left out if any target is missing."""
        return [(np.arange(self.D_out), self)]

    def gather(
        self, kind: type[Accumulator], fold: Fold, *, less: Array | None = None
    ) -> PassResult:
        """Return statistics of training rows and held-out blocks."""
        weights = None if less is None else self.cluster.value("weights", less)
        total, held_out, end = self._merge_over_shards("statistics", _gather, fold, kind, weights)
        size = self.size, self.D_out
        held_out = [Triangle.empty(*size) if part is None else part for part in held_out]
        return PassResult(kind.empty(*size) if total is None else total, held_out, [end.state])

    def gather_gram(self, block: Block, known: Lags | None = None) -> PassResult:
        """Return XᵀX and XᵀY over a block from sums over time."""
        K = None if self.halos is None else lag_count(self)
        sums, direct = self._merge_over_shards("statistics", _sum_over_time, Fold(block), K)
        return assemble_gram(self, sums.value, direct)

    def round(self, block: Block, w: Array) -> Round:
        """Return weights and their residuals over a block."""
        return ShardedRound(self, block, w)

    def squares(self, block: Block) -> Array:
        """Return ‖y_d‖² over a block, (D_out,)."""
        return self._merge_over_shards("squares", _sum_squares, Fold(block))

    def residual_sums(self, block: Block, w: Array) -> tuple[Array, Array, Array]:
        """Return EᵀE, XᵀE and ‖X w‖² over a block, of the residuals E = Y − X w."""
        weights = self.cluster.value("weights", w)
        return self._merge_over_shards("residuals", _sum_residuals, Fold(block), weights)

    @cached_property
    def _starts(self) -> list[tuple[Rows | None, Start | None]]:
        """The halo of each shard and the state that it starts from."""
        if self.halos is not None:
            return [(halo, None) for halo in self.halos]
        cluster, template = self.cluster, self.cluster.value("network", self.template)
        before: list[Any] = [None, *self.lasts]

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

    def _merge_over_shards(
        self, stage: str, function: Callable[..., Any], fold: Fold, *arguments: Any
    ) -> Any:
        """Return the merged results of a function for all shards that have rows of a fold."""
        cluster, template = self.cluster, self.cluster.value("network", self.template)
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
    """Return the rows of a fold in a shard that has ``skip`` rows before its own, None if none."""

    def part(block: Block) -> Block:
        start, stop = (
            min(max(edge - shard.first, 0), shard.count) + skip for edge in block[shard.series]
        )
        return [(start, max(start, stop))]

    local = Fold(part(fold.train), tuple(map(part, fold.held_out)))
    blocks = local.train, *local.held_out
    return local if any(stop > start for ((start, stop),) in blocks) else None


@dataclass(frozen=True, eq=False)
class ShardedRound(Round):
    """Weights w (N', k) whose residuals stay on the workers."""

    problem: ShardedProblem

    @cached_property
    def _sums(self) -> tuple[Array, Array, Array]:
        return self.problem.residual_sums(self.block, self.w)

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
    """Merge the results of two neighbours in time; None is the result of no rows."""
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
    """Lags or moments of shards; ``continues`` is True if the first continues a series."""

    value: Lags | Moments
    continues: bool

    def merge(self, after: SeriesSums) -> SeriesSums:
        """Return the sums over the rows of both."""
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


def _sum_squares(problem: Problem, fold: Fold, _: bool) -> Array:
    return problem.squares(fold.train)


def _sum_residuals(problem: Problem, fold: Fold, _: bool, w: Array) -> tuple[Array, Array, Array]:
    weighted = problem.round(fold.train, w)
    return weighted.scatter, weighted.onto, weighted.size**2
