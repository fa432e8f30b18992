"""Where shards begin: in which state a series is when a shard goes on with it.

A reservoir that settles within K steps has forgotten all but the K rows before a shard, which are
run through first: a halo. Elsewhere states are carried. A diagonal one is linear in where it
begins, so that shards run side by side from zero and their ends add up,

    r_{i+1} = λ^{T_i} r_i + e_i,   e_i the end of shard i when it begins at zero

and any other is run through in the order of time. Nothing is cut off either way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from eigenecho.basis import interleave, separate
from eigenecho.dask.cluster import Cluster
from eigenecho.dask.shards import Network, Pair, Shard, Start, series_of
from eigenecho.kernels.convolution import settling_steps
from eigenecho.kernels.forms import DiagonalForm
from eigenecho.reservoir import Reservoir
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array


def halo(reservoir: Reservoir, shards: Sequence[Shard]) -> int | None:
    """How many rows before a shard it needs; None where states are carried instead.

    That is where halos would be more rows than there are.
    """
    steps = settling_steps(reservoir.form)
    cuts = sum(shard.continues for shard in shards)
    if not cuts:
        return 0
    if math.isinf(steps) or steps * cuts > sum(shard.count for shard in shards):
        return None
    return int(steps)


def carried(
    cluster: Cluster, network: Network, shards: Sequence[Shard], lasts: Sequence[Array]
) -> list[Start | None]:
    """The state that each shard begins in, None for zero.

    ``lasts`` (D_out,) are the last targets of the shards, in the network's own units.
    """
    reservoir, known = network.reservoir, cluster.value("network", network)
    side_by_side = isinstance(reservoir.form, DiagonalForm)
    ends: list[Any] = []
    for i, shard in enumerate(shards[:-1]):
        needed = shards[i + 1].continues
        before = lasts[i - 1] if shard.continues else None
        start = ends[-1] if shard.continues and not side_by_side else None
        given = known, shard.rows, before, start
        ends.append(cluster.task("carry", end_state, *given) if needed else None)
    tasks = [task for task in ends if task is not None]
    found = iter(cluster.compute("carry", cluster.task("carried", _listed, tasks), tasks))
    starts: list[Start | None] = [None]
    for i, task in enumerate(ends):
        if task is None:
            starts.append(None)
            continue
        state, start = next(found), starts[-1]
        if side_by_side and start is not None:
            state = state + faded(reservoir, start[0], shards[i].count)
        starts.append((state, lasts[i]))
    return starts


def faded(reservoir: Reservoir, state: Array, steps: int) -> Array:
    """λ^steps r: what is left of a state (N,) of a diagonal reservoir when nothing drives it.

    In extended precision, since a power of so many steps multiplies the rounding of its base.
    """
    form = reservoir.form
    assert isinstance(form, DiagonalForm)
    n = form.real.size
    modes = np.concatenate([form.real, form.re.astype(np.clongdouble) + 1j * form.im])
    left = separate(state.astype(np.longdouble), n) * modes**steps
    return interleave(left[:n].real, left[n:]).astype(state.dtype)


@one_blas_thread()
def end_state(network: Network, rows: Pair, before: Array | None, state: Array | None) -> Array:
    """The state at the end of a shard, from zero or a state, the output before it being known."""
    us, ys = series_of((), rows, network.dtype)
    reservoir = network.reservoir
    r = reservoir.zero_state() if state is None else np.array(state)
    start = None if before is None else (r, before)
    drive, _ = network.problem(us, ys, start).columns(0)
    return reservoir.last_state(drive, r)


def _listed(values: list[Array]) -> list[Array]:
    return values
