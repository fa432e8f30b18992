"""Halos: the last rows of shards, for those that come after them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eigenecho.dask.cluster import Cluster
from eigenecho.dask.shards import Pair, Shard, made


class Tails:
    """The last rows of shards, each taken once, on the worker that has them."""

    def __init__(self, cluster: Cluster, shards: Sequence[Shard]) -> None:
        self._cluster, self._shards = cluster, shards
        self._known: dict[tuple[int, int], Any] = {}

    def before(self, number: int, rows: int) -> list[Any]:
        """So many rows before a shard, from as many shards as it takes."""
        found: list[Any] = []
        while rows > 0:
            number -= 1
            some = min(rows, self._shards[number].count)
            found.insert(0, self._last(number, some))
            rows -= some
        return found

    def _last(self, number: int, rows: int) -> Any:
        shard, key = self._shards[number], (number, rows)
        if rows == shard.count:
            return shard.rows
        if key not in self._known:
            self._known[key] = self._cluster.task("halo", last_rows, shard.rows, rows)
        return self._known[key]


class KnownTails:
    """The last rows of shards that somebody has looked at: they are here, and small."""

    def __init__(self, shards: Sequence[Shard], tails: Sequence[Pair]) -> None:
        self._shards, self._tails = shards, tails

    def before(self, number: int, rows: int) -> list[Pair]:
        """So many rows before a shard, from as many shards as it takes."""
        found: list[Pair] = []
        while rows > 0:
            number -= 1
            some = min(rows, self._shards[number].count)
            found.insert(0, last_rows(self._tails[number], some))
            rows -= some
        return found


def last_rows(pair: Pair, count: int) -> Pair:
    """The last rows of a shard."""
    u, y = (None if part is None else np.asarray(part)[-count:].copy() for part in made(pair))
    return u, y
