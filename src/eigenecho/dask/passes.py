"""Passes over rows in shards: each works on its own, and what they find merges in a fixed tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from eigenecho.dask.carry import carried, halo
from eigenecho.dask.cluster import Cluster
from eigenecho.dask.shards import Network, Pair, Shard, Start, fold_within, series_of, within
from eigenecho.dask.tails import KnownTails, Tails
from eigenecho.readout import Accumulated, Gram, Lags, Moments, Remainder, Triangle
from eigenecho.threads import one_blas_thread
from eigenecho.training import Block, Fold, Gathered, Passes, Problem, gather
from eigenecho.training.passes import squares
from eigenecho.training.refine import Round, lengths, project, residuals
from eigenecho.training.structured import assembled, lag_count, resonating, sums_over
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class ShardedPasses(Passes):
    """Passes over rows that lie on the workers of a cluster.

    ``problem`` has series of the right lengths that hold no numbers. ``lasts`` (D_out,) are the
    last targets of the shards, in the network's own units; ``tails`` the last rows of shards, in
    the caller's, where they are known.
    """

    cluster: Cluster = field(kw_only=True)
    network: Network = field(kw_only=True)
    shards: Sequence[Shard] = field(kw_only=True)
    lasts: Sequence[Array] = field(kw_only=True)
    tails: Sequence[Pair] = field(kw_only=True)

    @cached_property
    def in_double(self) -> ShardedPasses:
        """The same in double precision."""
        if self.problem.reservoir.dtype == np.float64:
            return self
        return ShardedPasses(
            self.problem.in_double,
            cluster=self.cluster,
            network=Network(self.network.template, double=True),
            shards=self.shards,
            lasts=[last.astype(np.float64) for last in self.lasts],
            tails=self.tails,
        )

    def gather(self, kind: type[Accumulated], fold: Fold, *, less: Array | None = None) -> Gathered:
        """Statistics of training rows and held-out blocks."""
        cuts = [fold_within(shard, fold, len_) for shard, len_ in self._each]
        value = None if less is None else self.cluster.value("weights", less)
        found: Part = self._over("statistics", _gather, cuts, kind, value)
        size = self.problem.size, self.problem.D_out
        held_out = [Triangle.empty(*size) if part is None else part for part in found.held_out]
        statistics = kind.empty(*size) if found.statistics is None else found.statistics
        return Gathered(statistics, held_out, [found.end])

    def gather_gram(self, block: Block) -> Gathered:
        """XᵀX and XᵀY over a block from sums over time."""
        cuts = [within(shard, block, len_) for shard, len_ in self._each]
        K = None if self._halo is None else lag_count(self.problem)
        found: Part = self._over("statistics", _sums, cuts, K)
        sums, direct = found.statistics
        return assembled(self.problem, sums.value, direct)

    def round(self, block: Block, w: Array) -> Round:
        """Weights, and what they leave of the targets over a block."""
        return ShardedRound(self, block, w)

    def squares(self, block: Block) -> Array:
        """‖y_d‖² over a block, (D_out,)."""
        cuts = [within(shard, block, len_) for shard, len_ in self._each]
        return self._over("squares", _squares, cuts, merge=np.add)

    def left(self, block: Block, w: Array) -> Left:
        """What weights leave of the targets over a block, and the size of their outputs."""
        cuts = [within(shard, block, len_) for shard, len_ in self._each]
        value = self.cluster.value("weights", w)
        return self._over("residuals", _left, cuts, value, merge=Left.merge)

    @cached_property
    def _halo(self) -> int | None:
        return halo(self.problem.reservoir, self.shards)

    @cached_property
    def _starts(self) -> list[Start | None]:
        """The state that each shard begins in; with halos, zero."""
        if self._halo is not None:
            return [None] * len(self.shards)
        return carried(self.cluster, self.network, self.shards, self.lasts)

    @property
    def _tails(self) -> Tails | KnownTails:
        if self.tails:
            return KnownTails(self.shards, self.tails)
        return Tails(self.cluster, self.shards)

    @property
    def _each(self) -> list[tuple[Shard, int]]:
        """Every shard, and how many rows before it are run through."""
        most = self._halo or 0
        return [
            (shard, min(most, shard.pieces[0].first) if shard.continues else 0)
            for shard in self.shards
        ]

    def _over(
        self,
        stage: str,
        function: Callable[..., Any],
        cuts: Sequence[Any],
        *arguments: Any,
        merge: Callable[[Any, Any], Any] | None = None,
    ) -> Any:
        """What a function finds in all shards that have a part in it, merged."""
        cluster, starts = self.cluster, self._starts
        network, tails = cluster.value("network", self.network), self._tails
        leaves = []
        for number, (shard, rows) in enumerate(self._each):
            if cuts[number] is None:
                continue
            held = tails.before(number, rows), shard.rows
            cut = cuts[number] if merge is not None else (cuts[number], shard.continues)
            given = network, *held, starts[number], cut
            leaves.append(cluster.task(stage, function, *given, *arguments))
        root = cluster.tree(leaves, Part.merge if merge is None else merge)
        return cluster.compute(stage, root, leaves)


@dataclass(frozen=True, eq=False)
class Sums:
    """Lags or moments of shards; those that go on with a series are joined to it."""

    value: Lags | Moments
    continues: bool

    def merge(self, after: Sums) -> Sums:
        """Of both, in the order of time."""
        one, two = self.value, after.value
        found = one.joined(two) if after.continues else one.merge(two)  # type: ignore[arg-type]
        return Sums(found, self.continues)


@dataclass(frozen=True, eq=False)
class Part:
    """What shards gathered: statistics, those of held-out blocks, and the last state.

    None where a shard had no row of a kind, so that nothing travels for it.
    """

    statistics: Any
    held_out: tuple[Triangle | None, ...]
    end: Array

    def merge(self, after: Part) -> Part:
        """Of both, in the order of time."""
        held_out = zip(self.held_out, after.held_out, strict=True)
        return Part(
            _merged(self.statistics, after.statistics),
            tuple(_merged(one, two) for one, two in held_out),
            after.end,
        )


@one_blas_thread()
def _merged(one: Any, two: Any) -> Any:
    if one is None or two is None:
        return two if one is None else one
    if isinstance(one, tuple):
        return tuple(_merged(*pair) for pair in zip(one, two, strict=True))
    return one.merge(two)


@dataclass(frozen=True, eq=False)
class Left:
    """Of residuals E = Y − X w: EᵀE and XᵀE; and ‖X w‖ of each output, (k,)."""

    remainder: Remainder
    size: Array

    def merge(self, after: Left) -> Left:
        """Of both sets of rows."""
        size = np.hypot(self.size, after.size)
        return Left(self.remainder.merge(after.remainder), size)


class ShardedRound(Round):
    """A round whose residuals stay where the rows are."""

    def __init__(self, passes: ShardedPasses, block: Block, w: Array) -> None:
        super().__init__(passes.problem, block, w)
        self._passes, self._block = passes, block

    @cached_property
    def found(self) -> Left:
        """What one pass over the rows says of these weights."""
        return self._passes.left(self._block, self.w)

    @property
    def onto(self) -> Array:
        """XᵀE, (N', k)."""
        return self.found.remainder.XtE

    def moved(self, step: Array) -> ShardedRound:
        """The round of w + step."""
        return ShardedRound(self._passes, self._block, self.w + step)

    @property
    def scatter(self) -> Array:
        """EᵀE, (k, k)."""
        return self.found.remainder.EtE

    @property
    def squares(self) -> Array:
        """‖e_d‖² of the residuals, (k,)."""
        return np.diag(self.scatter)

    @property
    def size(self) -> Array:
        """‖X w‖ of each output, (k,)."""
        return self.found.size.copy()


# On workers --------------------------------------------------------------------------------------


def _posed(network: Network, before: Any, rows: Pair, start: Start | None) -> Problem:
    return network.problem(*series_of(before, rows, network.dtype), start)


@one_blas_thread()
def _gather(
    network: Network,
    before: Any,
    rows: Pair,
    start: Start | None,
    cut: tuple[Fold, bool],
    kind: type[Accumulated],
    less: Array | None,
) -> Part:
    problem, (fold, _) = _posed(network, before, rows, start), cut
    total, held_out, ends = gather(problem, kind, fold, less=less)
    kept = tuple(part if part.rows else None for part in held_out)
    return Part(total if total.rows else None, kept, ends[-1])


@one_blas_thread()
def _sums(
    network: Network,
    before: Any,
    rows: Pair,
    start: Start | None,
    cut: tuple[Block, bool],
    K: int | None,
) -> Part:
    problem, (block, continues) = _posed(network, before, rows, start), cut
    sums, alone = Sums(sums_over(problem, block, K), continues), resonating(problem)
    direct = None if alone is None else gather(alone, Gram, Fold(block)).statistics
    return Part((sums, direct), (), np.empty(0))


@one_blas_thread()
def _squares(network: Network, before: Any, rows: Pair, start: Start | None, block: Block) -> Array:
    return squares(_posed(network, before, rows, start).targets(block))


@one_blas_thread()
def _left(
    network: Network,
    before: Any,
    rows: Pair,
    start: Start | None,
    block: Block,
    w: Array,
) -> Left:
    problem = _posed(network, before, rows, start)
    left = residuals(problem, block, w)
    size = lengths([y - e for y, e in zip(problem.targets(block), left, strict=True)])
    scatter = np.sum([e.T @ e for e in left], axis=0)
    count = sum(map(len, left))
    return Left(Remainder(scatter, project(problem, block, left), count), size)
