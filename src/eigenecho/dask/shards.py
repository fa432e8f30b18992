"""Shards: consecutive rows of one series, which one worker reads and computes on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from dask.core import flatten
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from dask.local import get_sync
from dask.optimization import cull
from distributed import Future

from eigenecho.errors import Shown, bad_argument, not_finite
from eigenecho.types import Array

SOURCES = "a dask array (T, D) chunked along time, a list of them, or a list of delayed series"

Place = tuple[int, int, int | None]
"""Number of a shard, its first row, and its series, or None if there is only one."""


class Recipe:
    """Graph that computes the blocks of a shard, run inside the task that needs them.

    If reading were a task of its own, Dask could run it on one worker and use the result on
    another, and rows would be sent over the network.
    """

    def __init__(self, graph: Any, keys: Sequence[Any]) -> None:
        self.graph, self.keys = graph, keys

    @property
    def present(self) -> list[Any]:
        """The keys that are not None."""
        return [key for key in self.keys if key is not None]

    def compute(self) -> tuple[Any, ...]:
        """Return one block for each key, None for a key that is None."""
        blocks = iter(get_sync(self.graph, self.present))
        return tuple(None if key is None else next(blocks) for key in self.keys)


@dataclass(frozen=True, eq=False)
class Shard:
    """Rows ``first`` to ``first + count`` of the series with number ``series``.

    ``source`` holds the inputs and targets of these rows: a `Recipe`, or a pair of delayed blocks,
    None for a block that does not exist. The ``count`` of a delayed series is 0 until a worker has
    read it.
    """

    source: Any
    series: int
    first: int = 0
    count: int = 0

    @property
    def continues(self) -> bool:
        """True if the shard before this one belongs to the same series."""
        return self.first > 0


def split_series(X: Any, y: Any) -> list[Shard]:
    """Return the shards of inputs and targets, ordered by series and time; one may be None."""
    name, given = ("y", y) if X is None else ("X", X)
    stacked = getattr(given, "ndim", 0) == 3
    inputs, outputs = (
        list(part) if isinstance(part, (list, tuple)) or (stacked and part is not None) else [part]
        for part in (X, y)
    )
    inputs = inputs if X is not None else inputs * len(outputs)
    outputs = outputs if y is not None else outputs * len(inputs)
    if len(inputs) != len(outputs):
        raise bad_argument("y", Shown(f"{len(outputs)} series"), f"{len(inputs)} series, as in X")
    if not inputs:
        raise bad_argument(name, given, SOURCES)
    pairs = list(zip(inputs, outputs, strict=True))
    if all(part is None or isinstance(part, Delayed) for pair in pairs for part in pair):
        return [Shard(pair, number) for number, pair in enumerate(pairs)]
    each = (_split_arrays(*pair, number, len(pairs) > 1) for number, pair in enumerate(pairs))
    return list(itertools.chain(*each))


def places(shards: Sequence[Shard]) -> list[Place]:
    """Return the place of each shard, for error messages."""
    several = shards[-1].series > 0
    return [(i, s.first, s.series if several else None) for i, s in enumerate(shards)]


def _split_arrays(u: Any, y: Any, number: int, several: bool) -> list[Shard]:
    """Return the shards of one series, one for each chunk of the inputs, or else of the targets."""
    which = f" of series {number}" if several else ""
    for array, name in ((u, "X"), (y, "y")):
        if array is not None:
            _check_array(array, name, which)
    if u is not None and y is not None:
        check_lengths(len(u), len(y), which)
        y = y.rechunk({0: u.chunks[0]})
    counts = (y if u is None else u).chunks[0]
    firsts = itertools.accumulate(counts, initial=0)
    each = zip(_block_sources(u, y), firsts, counts, strict=False)
    shards = [Shard(source, number, first, count) for source, first, count in each if count]
    if not shards:
        raise bad_argument("X", Shown(f"0 rows{which}"), "at least one row in each series")
    return shards


def _check_array(array: Any, name: str, which: str) -> None:
    """Raise unless this is a dask array of known size that is chunked along time only."""
    if not isinstance(array, da.Array):
        raise bad_argument(
            name, Shown(type(array).__name__), SOURCES,
            "dask.array.from_array converts an array, frame.to_dask_array(lengths=True) a frame.",
        )  # fmt: skip
    if array.ndim != 2 and (name == "X" or array.ndim != 1):
        got, remedy = Shown(f"shape {array.shape}{which}"), f"{name}[:, None] makes one column."
        raise bad_argument(name, got, "a 2-D series (T, D)", remedy)
    if any(math.isnan(size) for size in array.shape):
        remedy = f"{name}.compute_chunk_sizes() counts the rows."
        raise bad_argument(
            name, Shown(f"chunks of unknown sizes{which}"), "known chunk sizes", remedy
        )
    if array.ndim == 2 and array.numblocks[1] > 1:
        got, remedy = Shown(f"{array.numblocks[1]} chunks of columns{which}"), "joins them."
        raise bad_argument(name, got, "chunks of whole rows", f"{name}.rechunk({{1: -1}}) {remedy}")


def check_lengths(rows: int, targets: int, which: str = "") -> None:
    """Raise if inputs and targets differ in length."""
    if rows != targets:
        raise ValueError(
            f"X and y have inconsistent lengths{which}: X has {rows} rows and y has {targets}. "
            "Each row of y is the target at the same row of X."
        )


def _block_sources(u: Any, y: Any) -> list[Any]:
    """Return the source of each pair of blocks.

    Blocks that workers hold in memory stay tasks, which Dask runs where the blocks are.
    """
    arrays = [part for part in (u, y) if part is not None]
    graph = HighLevelGraph.merge(*(array.__dask_graph__() for array in arrays))
    absent = [None] * arrays[0].numblocks[0]

    def pairs(blocks: Callable[[Any], Any]) -> list[Any]:
        each = (absent if part is None else blocks(part) for part in (u, y))
        return list(zip(*each, strict=True))

    if any(isinstance(task, Future) for task in dict(graph).values()):
        return pairs(lambda array: np.ravel(array.to_delayed()))
    recipes = [Recipe(graph, pair) for pair in pairs(lambda a: flatten(a.__dask_keys__()))]
    graph = dict(arrays[0].__dask_optimize__(graph, [recipe.present for recipe in recipes]))
    return [Recipe(cull(graph, recipe.present)[0], recipe.keys) for recipe in recipes]


# On workers --------------------------------------------------------------------------------------


def load(source: Any) -> tuple[Any, Any]:
    """Return the inputs and targets of a shard as they come, each an array or None."""
    return source.compute() if isinstance(source, Recipe) else source


def as_tables(parts: tuple[Any, Any], dtype: Any) -> tuple[Any, Any]:
    """Return inputs and targets as contiguous arrays (rows, D), where (rows,) is one column.

    Missing inputs have no columns; missing targets are None.
    """
    arrays = [None if part is None else np.asarray(part) for part in parts]
    u, y = (
        None if a is None else np.ascontiguousarray(a[:, None] if a.ndim == 1 else a, dtype)
        for a in arrays
    )
    return (y[:, :0] if u is None and y is not None else u), y


def check_finite(rows: Array, name: str, place: Place, *, gaps: bool = False) -> None:
    """Raise if a number is infinite, or NaN unless ``gaps`` are allowed, and say where it is."""
    finite = ~np.isinf(rows) if gaps else np.isfinite(rows)
    if not finite.all():
        row, column = (int(i) for i in np.unravel_index(int(np.argmin(finite)), rows.shape))
        number, first, series = place
        where = f"in row {first + row} (row {row} of shard {number}), column {column}"
        which = "" if series is None else f" of series {series}"
        raise not_finite(name, float(rows[row, column]), where + which, rows.dtype)
