"""States at the start of shards that are not the first shard of their series.

If a reservoir settles within K steps, its state depends only on the last K rows. In ``fit``, each
shard first processes these rows, its halo, unless all halos together have more rows than the data.
In that case, and in ``predict``, states are carried from shard to shard. The states of a diagonal
reservoir depend linearly on the initial state, so its shards run in parallel from zero, and

    r_{i+1} = λ^{T_i} r_i + e_i,   where e_i is the final state of shard i after a start from zero.

Other reservoirs process the shards in temporal order. Both methods are exact up to rounding.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eigenecho.basis import interleave, separate
from eigenecho.dask.cluster import Cluster
from eigenecho.dask.shards import Shard
from eigenecho.kernels.convolution import settling_steps
from eigenecho.kernels.forms import DiagonalForm
from eigenecho.reservoir import Reservoir
from eigenecho.types import Array


def halo_length(reservoir: Reservoir, shards: Sequence[Shard]) -> int | None:
    """Return the number of rows of a halo, or None if states are carried instead of using halos.

    States are carried if all halos together would have more rows than the data.
    """
    steps = settling_steps(reservoir.form)
    cuts = sum(shard.continues for shard in shards)
    if not cuts:
        return 0
    if math.isinf(steps) or steps * cuts > sum(shard.count for shard in shards):
        return None
    return int(steps)


def carry_states(
    cluster: Cluster,
    reservoir: Reservoir,
    shards: Sequence[Shard],
    end_state: Callable[[int, Any], Any],
) -> list[Any]:
    """Return a task for the state at the start of each shard, or None for a state of zero.

    ``end_state(i, start)`` returns a task for the state after shard i, where ``start`` is the task
    for the state before this shard, or None for a state of zero.
    """
    form, steps = reservoir.form, settling_steps(reservoir.form)
    diagonal = isinstance(form, DiagonalForm)
    shared = cluster.value("form", form)
    starts: list[Any] = [None]
    for i, (shard, following) in enumerate(itertools.pairwise(shards)):
        start, end = starts[-1], None
        if following.continues:
            end = end_state(i, None if diagonal else start)
            if diagonal and start is not None and shard.count < steps:
                end = cluster.task("carry", add_decayed, shared, end, start, shard.count)
        starts.append(end)
    return starts


def final_state(reservoir: Reservoir, drive: Array, start: Array | None) -> Array:
    """Return the state (N,) after a drive (T, D); the default start is zero."""
    if start is not None:
        return reservoir.last_state(drive, start)
    steps = settling_steps(reservoir.form)
    recent = drive if steps >= len(drive) else drive[-int(steps) :]
    return reservoir.last_state(recent)


def add_decayed(form: DiagonalForm, end: Array, start: Array, steps: int) -> Array:
    """Return λ^steps start + end as real numbers (N,).

    The power is computed in extended precision because it multiplies the rounding error of λ.
    """
    n = form.real.size
    modes = np.concatenate([form.real, form.re.astype(np.clongdouble) + 1j * form.im])
    decayed = separate(start.astype(np.longdouble), n) * modes**steps
    return end + interleave(decayed[:n].real, decayed[n:]).astype(end.dtype)
