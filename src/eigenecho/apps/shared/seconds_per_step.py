"""How long a step of a reservoir takes."""

from __future__ import annotations

from statistics import median
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

from eigenecho.kernels.compiled.scans import WORTH_THREADS
from eigenecho.reservoir import Reservoir
from eigenecho.types import Array


def seconds_per_step(
    reservoir: Reservoir, u: Array, *, least: int = 5, seconds: float = 0.2
) -> float:
    """The median over repeated scans to states, on one core, into an array that exists already.

    One core for all forms alike: threads of BLAS that wait for a busy core make a dense step
    look up to a hundred times slower than it is.

    Parameters
    ----------
    reservoir : Reservoir, without feedback
    u : array (T, D_in)
        As many rows as one thread would take at a time are used.
    least : int
        The number of repeats, more where ``seconds`` are not used up by then.
    seconds : float
    """
    u = u[: max(1, (WORTH_THREADS - 1) // reservoir.units)]
    drive = reservoir.drive(np.asarray(u, reservoir.dtype), None)
    out = np.empty((len(drive), reservoir.units), reservoir.dtype)

    def once() -> float:
        state = reservoir.zero_state()
        start = perf_counter()
        reservoir.scan(drive, state, out)
        return perf_counter() - start

    with threadpool_limits(1):
        once()  # compiles the kernel and touches every page of ``out``
        times: list[float] = []
        end = perf_counter() + seconds
        while len(times) < least or perf_counter() < end:
            times.append(once())
    return median(times) / len(drive)
