"""Halos: the last rows of shards, for those that come after them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eigenecho.dask.cluster import Cluster
from eigenecho.dask.shards import Shard
from eigenecho.types import Array


class Tails:
    """The last rows of shards, each taken once, on the worker that has them."""

    def __init__(self, cluster: Cluster, shards: Sequence[Shard]) -> None:
        self._cluster, self._shards = cluster, shards
        self._known: dict[tuple[int, int], Any] = {}

    def before(self, number: int, rows: int) -> list[tuple[Any, Any]]:
        """So many rows before a shard, from as many shards as it takes: (inputs, outputs) each."""
        found: list[tuple[Any, Any]] = []
        while rows > 0:
            number -= 1
            some = min(rows, self._shards[number].rows)
            found.insert(0, self._last(number, some))
            rows -= some
        return found

    def _last(self, number: int, rows: int) -> tuple[Any, Any]:
        shard, key = self._shards[number], (number, rows)
        if rows == shard.rows:
            return shard.inputs, shard.outputs
        if key not in self._known:
            self._known[key] = tuple(
                None if part is None else self._cluster.task("halo", last_rows, part, rows)
                for part in (shard.inputs, shard.outputs)
            )
        return self._known[key]


def last_rows(part: Any, count: int) -> Array:
    """The last rows of a block."""
    return np.asarray(part)[-count:].copy()
