"""First pass over all shards: check their rows and collect what later passes need to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.dask.cluster import Cluster
from eigenecho.dask.shards import Shard, check_lengths
from eigenecho.estimators.validation import ROWS
from eigenecho.scaling import Spread
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class RowChecks:
    """Rows are read as ``dtype``; ``gaps`` allows NaN in targets; ``tail`` rows are kept."""

    dtype: Any
    gaps: bool
    standardize: bool
    warmup: int
    tail: int = 0


@dataclass(frozen=True, eq=False)
class ShardSummary:
    """Facts about the rows of one shard.

    ``columns`` is (D_in, D_out); ``flat`` is True for targets of shape (rows,). ``head`` and
    ``tail`` are inputs and targets of some of the first and last rows, ``last`` (D_out,) is the
    last target. ``spreads`` of inputs and targets exist if columns are standardized. ``observed``
    (D_out,) counts targets after the warmup that are not NaN, and ``same_gaps`` is True if all
    columns have NaN in the same rows.
    """

    rows: int
    columns: tuple[int, int]
    flat: bool
    head: tuple[Array, Array]
    tail: tuple[Array, Array]
    last: Array
    spreads: tuple[Spread, Spread] | None
    observed: Array | int
    same_gaps: bool


def validate_shards(
    cluster: Cluster, shards: Sequence[Shard], checks: RowChecks
) -> list[ShardSummary]:
    """Return a summary of each shard; raise if there are invalid numbers or shapes."""
    wanted, tasks = ROWS + 1, []
    for shard in shards:
        tasks.append(cluster.task("validate", _summarize, shard, checks, max(wanted, 0)))
        wanted -= shard.count or ROWS + 1  # of delayed series, only the first is compared
    summaries = cluster.compute("validate", cluster.task("summaries", list, tasks), tasks)
    columns = summaries[0].columns
    for shard, summary in zip(shards, summaries, strict=True):
        if summary.columns != columns:
            where = f"in series {shard.series}, but {columns} in the first"
            raise ValueError(f"X and y have {summary.columns} columns {where}.")
    if not np.all(sum(summary.observed for summary in summaries)):
        raise ValueError("y has a column with nothing but NaN after the warmup.")
    if not all(summary.same_gaps for summary in summaries):
        raise ValueError("y has gaps at different rows: on a cluster, columns need the same gaps.")
    return summaries


def _summarize(shard: Shard, checks: RowChecks, head: int) -> ShardSummary:
    parts = shard.load()
    u, y = shard.as_tables(parts, checks.dtype)
    check_lengths(len(u), len(y), f" of {shard.name}")
    if not len(y):
        raise ValueError(f"X has 0 rows in {shard.name}: expected at least one in each series.")
    shard.check_finite(u, "X")
    shard.check_finite(y, "y", gaps=checks.gaps)
    observed: Array | int = 1
    same_gaps = True
    if checks.gaps:
        present = ~np.isnan(y)
        observed = present[max(checks.warmup - shard.first, 0) :].sum(axis=0)
        same_gaps = bool(np.all(present == present[:, :1]))
    tail = max(len(y) - checks.tail, 0)
    return ShardSummary(
        rows=len(y),
        columns=(u.shape[1], y.shape[1]),
        flat=np.ndim(parts[1]) == 1,
        head=(u[:head].copy(), y[:head].copy()),
        tail=(u[tail:].copy(), y[tail:].copy()),
        last=y[-1].copy(),
        spreads=(Spread.of(u), Spread.of(y)) if checks.standardize else None,
        observed=observed,
        same_gaps=same_gaps,
    )
