"""Shards: consecutive rows of a series that one worker reads and processes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import dask.array as da
import numpy as np
from dask.core import flatten
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from dask.local import get_sync
from dask.optimization import cull
from distributed import Future

from eigenecho.dask.cluster import Cluster
from eigenecho.errors import Words, bad_argument, not_finite, object_of
from eigenecho.estimators.validation import ROWS
from eigenecho.scaling import Spread
from eigenecho.tables import as_table
from eigenecho.training import check_same_length
from eigenecho.types import Array

SOURCES = "a dask array (T, D) chunked along time, or a list of such arrays or of delayed series"


class BlockRecipe:
    """Graph that loads the blocks of a shard inside the task that uses them.

    If loading were a separate task, Dask could run it on another worker and send the rows over the
    network.
    """

    def __init__(self, graph: Any, keys: Sequence[Any]) -> None:
        self.graph, self.keys = graph, keys

    @property
    def present(self) -> list[Any]:
        """The keys that are not None."""
        return [key for key in self.keys if key is not None]

    def compute(self) -> tuple[Any, ...]:
        """Return the block of each key, or None if the key is None."""
        blocks = iter(get_sync(self.graph, self.present))
        return tuple(None if key is None else next(blocks) for key in self.keys)


@dataclass(frozen=True, eq=False)
class Shard:
    """Rows ``first`` to ``first + count`` of the series with number ``series``.

    ``source`` provides the inputs and targets of these rows: it is a `BlockRecipe`, or a pair of
    delayed blocks, which Dask computes if the shard is passed to a task. A missing block is None.
    The ``count`` of a delayed series is 0 until a worker has read it. ``columns`` are the numbers
    of columns (D_in, D_out) of dask arrays, or None for delayed series. ``name`` is used in error
    messages.
    """

    source: Any
    series: int
    first: int = 0
    count: int = 0
    columns: tuple[int, int] | None = None
    name: str = ""

    @property
    def continues(self) -> bool:
        """True if the shard before this one belongs to the same series."""
        return self.first > 0

    def load(self) -> tuple[Any, Any]:
        """Return inputs and targets, each an array or None."""
        return self.source.compute() if isinstance(self.source, BlockRecipe) else self.source

    def as_tables(self, parts: tuple[Any, Any], dtype: Any, y: str = "y") -> tuple[Any, Any]:
        """Return inputs and targets as contiguous arrays (rows, D); arrays (rows,) have one column.

        Missing inputs have no columns, and missing targets are None. ``y`` is the name of the
        targets in error messages.
        """
        targets = None if parts[1] is None else self._as_table(parts[1], y, dtype)
        if parts[0] is None and targets is not None:
            return targets[:, :0], targets
        return self._as_table(parts[0], "X", dtype), targets

    def _as_table(self, part: Any, name: str, dtype: Any) -> Array:
        rows = np.asanyarray(part)
        rows = as_table(rows[:, None] if rows.ndim == 1 else rows, name).values
        if self.columns is not None:
            expected = self.count, self.columns[name != "X"]
            if rows.shape != expected:
                raise ValueError(
                    f"{name} has a chunk of shape {rows.shape} in {self.name}, but the dask array "
                    f"declares {expected}."
                )
        return np.ascontiguousarray(rows, dtype)

    def check_finite(self, rows: Array, name: str, *, gaps: bool = False) -> None:
        """Raise if a number is infinite, or if it is NaN and ``gaps`` is False."""
        finite = ~np.isinf(rows) if gaps else np.isfinite(rows)
        if not finite.all():
            row, column = (int(i) for i in np.unravel_index(int(np.argmin(finite)), rows.shape))
            where = f"in row {self.first + row} (row {row} of {self.name}), column {column}"
            raise not_finite(name, float(rows[row, column]), where, rows.dtype)


def split_series(X: Any, y: Any, y_name: str = "y") -> list[Shard]:
    """Return the shards of inputs and targets, ordered by series and time; X or y may be None."""
    name, given = ("X", X) if X is not None or y is None else (y_name, y)
    stacked = isinstance(given, da.Array) and given.ndim == 3
    inputs, outputs = (
        list(part) if isinstance(part, (list, tuple)) or (stacked and part is not None) else [part]
        for part in (X, y)
    )
    inputs = inputs if X is not None else inputs * len(outputs)
    outputs = outputs if y is not None else outputs * len(inputs)
    if len(inputs) != len(outputs):
        raise ValueError(f"X has {len(inputs)} series, but {y_name} has {len(outputs)}.")
    if given is None or not inputs:
        raise bad_argument(name, given, SOURCES)
    pairs = list(zip(inputs, outputs, strict=True))
    which = [f" of series {number}" if len(pairs) > 1 else "" for number in range(len(pairs))]
    if all(part is None or isinstance(part, Delayed) for pair in pairs for part in pair):
        shards = [Shard(pair, number) for number, pair in enumerate(pairs)]
    else:
        shards = []
        for number, pair in enumerate(pairs):
            shards += _split_arrays(*pair, y_name, number, which[number])
    return [replace(s, name=f"shard {i}{which[s.series]}") for i, s in enumerate(shards)]


def _split_arrays(u: Any, y: Any, y_name: str, number: int, which: str) -> list[Shard]:
    """Return the shards of a series, one for each chunk of the inputs or targets."""
    for array, name in ((u, "X"), (y, y_name)):
        if array is not None:
            _check_array(array, name, which)
    if u is not None and y is not None:
        check_same_length(len(u), len(y), which, y_name)
        y = y.rechunk({0: u.chunks[0]})
    counts = (y if u is None else u).chunks[0]
    D_in, D_out = (0 if part is None else math.prod(part.shape[1:]) for part in (u, y))
    each = zip(_block_sources(u, y), itertools.accumulate(counts, initial=0), counts, strict=False)
    shards = [Shard(source, number, first, n, (D_in, D_out)) for source, first, n in each if n]
    if not shards:
        name = y_name if u is None else "X"
        raise ValueError(f"{name}{which} has no rows: expected at least one row in each series.")
    return shards


def _check_array(array: Any, name: str, which: str) -> None:
    """Raise unless an array is a dask array of known size that is chunked only along time."""
    if not isinstance(array, da.Array):
        raise bad_argument(name, Words(object_of(array)), SOURCES)
    if array.ndim != 2 and (name == "X" or array.ndim != 1):
        raise bad_argument(f"{name}{which}", Words(f"shape {array.shape}"), "shape (T, D)")
    if any(math.isnan(size) for size in array.shape):
        remedy = f"Use {name}.compute_chunk_sizes()."
        raise ValueError(f"{name}{which} has chunks of unknown size. {remedy}")
    if array.ndim == 2 and array.numblocks[1] > 1:
        remedy = f"Use {name}.rechunk({{1: -1}})."
        raise ValueError(f"{name}{which} is chunked along its columns. {remedy}")


def _block_sources(u: Any, y: Any) -> list[Any]:
    """Return the source of each pair of blocks.

    Blocks that are already in the memory of workers remain separate tasks, so that Dask processes
    them on the workers that hold them.
    """
    arrays = [part for part in (u, y) if part is not None]
    graph = HighLevelGraph.merge(*(array.__dask_graph__() for array in arrays))
    absent = [None] * arrays[0].numblocks[0]

    def pairs(blocks: Callable[[Any], Any]) -> list[Any]:
        each = (absent if part is None else blocks(part) for part in (u, y))
        return list(zip(*each, strict=True))

    if any(isinstance(task, Future) for task in dict(graph).values()):
        # Dask 2024.12 loses the blocks of persisted arrays if it optimizes their graph.
        return pairs(lambda array: np.ravel(array.to_delayed(optimize_graph=False)))
    recipes = [BlockRecipe(graph, pair) for pair in pairs(lambda a: flatten(a.__dask_keys__()))]
    graph = dict(arrays[0].__dask_optimize__(graph, [recipe.present for recipe in recipes]))
    return [BlockRecipe(cull(graph, recipe.present)[0], recipe.keys) for recipe in recipes]


# Validation: a first pass over all shards, which also collects data for later passes ------------


@dataclass(frozen=True, eq=False)
class ShardSummary:
    """Properties of the rows of a shard.

    ``columns`` is (D_in, D_out), and ``flat`` is True for targets of shape (rows,). ``head``
    contains the inputs and targets of the first rows of the first series, and ``tail`` those of the
    last rows of the shard. ``spreads`` are the means and standard deviations of inputs and targets.
    ``observed`` (D_out,) is the number of targets after the warmup that are not NaN, and
    ``same_gaps`` is True if all columns have NaN in the same rows.
    """

    rows: int
    columns: tuple[int, int]
    flat: bool
    head: tuple[Array, Array]
    tail: tuple[Array, Array]
    spreads: tuple[Spread, Spread]
    observed: Array | int
    same_gaps: bool


def validate_shards(
    cluster: Cluster, shards: Sequence[Shard], dtype: Any, gaps: bool, warmup: int, tail: int
) -> list[ShardSummary]:
    """Return a summary of each shard, or raise if numbers or shapes are invalid.

    If ``gaps`` is True, targets may be NaN. ``tail`` is the number of rows at the end of each shard
    to include in the summary.
    """
    options = dtype, gaps, warmup, tail
    tasks = [cluster.task("validate", _summarize, shard, *options) for shard in shards]
    summaries = cluster.compute("validate", cluster.task("summaries", list, tasks), tasks)
    columns = summaries[0].columns
    for shard, summary in zip(shards, summaries, strict=True):
        if summary.columns != columns:
            message = "X and y have {} and {} columns in series {}, but {} and {} in series 0."
            raise ValueError(message.format(*summary.columns, shard.series, *columns))
    if not np.all(sum(summary.observed for summary in summaries)):
        raise ValueError("A column of y contains only NaN after the warmup.")
    if not all(summary.same_gaps for summary in summaries):
        expected = "missing values in the same rows of all columns, as required on a cluster"
        raise bad_argument("y", Words("missing values in different rows"), expected)
    return summaries


def _summarize(shard: Shard, dtype: Any, gaps: bool, warmup: int, tail: int) -> ShardSummary:
    parts = shard.load()
    u, y = shard.as_tables(parts, dtype)
    check_same_length(len(u), len(y), f" of {shard.name}")
    if not len(y):
        raise ValueError(f"X has no rows in {shard.name}: expected at least one row.")
    shard.check_finite(u, "X")
    shard.check_finite(y, "y", gaps=gaps)
    observed: Array | int = 1
    same_gaps = True
    if gaps:
        present = ~np.isnan(y)
        observed = present[max(warmup - shard.first, 0) :].sum(axis=0)
        same_gaps = bool(np.all(present == present[:, :1]))
    head = max(ROWS + 1 - shard.first, 0) if shard.series == 0 else 0
    last = max(len(y) - tail, 0)
    return ShardSummary(
        rows=len(y),
        columns=(u.shape[1], y.shape[1]),
        flat=np.ndim(parts[1]) == 1,
        head=(u[:head].copy(), y[:head].copy()),
        tail=(u[last:].copy(), y[last:].copy()),
        spreads=(Spread.of(u), Spread.of(y)),
        observed=observed,
        same_gaps=same_gaps,
    )
