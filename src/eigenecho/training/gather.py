"""Gathering: what rows add up to, in one run of the reservoir; their states are never stored."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from eigenecho.errors import overflowed
from eigenecho.readout import Accumulated, Triangle
from eigenecho.threads import thread_count
from eigenecho.training.problem import Fold, Problem
from eigenecho.types import Array

CHUNK_BYTES = 1 << 24
"""Rows that are held at a time."""


class Gathered(NamedTuple):
    """Statistics of training rows and of held-out blocks, and a state for each series.

    Statistics merge, whatever part of the rows they are of and wherever that was gathered. Those
    of held-out blocks are orthogonal, so that errors on them are true residuals. ``ends`` are the
    states after the last rows that the fold names.
    """

    statistics: Any
    held_out: list[Triangle]
    ends: list[Array]


def gather(
    problem: Problem, kind: type[Accumulated], fold: Fold, *, less: Array | None = None
) -> Gathered:
    """Statistics of the training rows, and of each held-out block, in one run.

    ``less`` are weights (N', D_out) whose prediction is taken off the training targets. A row
    is left out where a target of it is missing.
    """
    held_out = [Triangle.empty(problem.size, problem.D_out) for _ in fold.held_out]
    ends = []
    with _Lanes(kind.empty(problem.size, problem.D_out)) as lanes:
        for i, y in enumerate(problem.outputs):
            stop = max(fold.train[i][1], *(block[i][1] for block in fold.held_out), 0)
            state = problem.start(i)
            there = None if problem.observed is None else np.all(problem.observed[i], axis=1)
            for first, X in _chunks(problem, i, state, stop):
                Y = y[first : first + len(X)]
                for j, block in enumerate(fold.held_out):
                    rows = _within(block[i], first, len(X), there)
                    some, targets = X[rows], Y[rows]
                    if len(some):
                        held_out[j] = held_out[j].absorb(some, targets)
                rows = _within(fold.train[i], first, len(X), there)
                some, targets = X[rows], Y[rows]
                if len(some):
                    lanes.absorb(some, targets if less is None else targets - some @ less)
            ends.append(state)
        return Gathered(lanes.merged(), held_out, ends)


def _chunks(problem: Problem, series: int, state: Array, stop: int) -> Iterator[tuple[int, Array]]:
    """Pieces of the rows with the number of their first; the array is used again.

    ``state`` moves on in place, to that after the last row.
    """
    reservoir, head = problem.reservoir, problem.head
    drive, before = problem.columns(series)
    wide = max(problem.size, problem.D_out)
    rows = max(1, min(stop, max(64, CHUNK_BYTES // (8 * wide))))
    states = np.empty((rows, reservoir.units), reservoir.dtype)
    X = np.empty((rows, problem.size))
    for first in range(0, stop, rows):
        n = min(rows, stop - first)
        reservoir.scan(drive[first : first + n], state, states[:n])
        if (bad := reservoir.first_overflow(states[:n])) is not None:
            raise overflowed("states", reservoir.spectrum.radius, first + bad)
        X[:n, :head] = before[first : first + n]
        X[:n, head:] = states[:n]
        yield first, X[:n]


def _within(block: tuple[int, int], first: int, count: int, there: Array | None) -> slice | Array:
    """Rows of a block inside a chunk, by the chunk's own numbers; those that are ``there``."""
    start, stop = (min(max(edge - first, 0), count) for edge in block)
    if there is None:
        return slice(start, stop)
    return start + np.flatnonzero(there[first + start : first + stop])


class _Lanes:
    """Statistics that take turns, on a thread each, and are merged at the end.

    Which rows go to which lane is fixed, so that the result does not depend on how many threads
    there are.
    """

    def __init__(self, empty: Any) -> None:
        self._values = [empty] * empty.LANES
        self._pending: list[Future[Any] | None] = [None] * empty.LANES
        self._turn = 0
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> _Lanes:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def absorb(self, X: Array, Y: Array) -> None:
        """Hand rows to the lane whose turn it is; a thread works on a copy of them."""
        lane = self._turn
        self._turn = (lane + 1) % len(self._values)
        self._wait(lane)
        if self._values[lane].rows == 0 or len(self._values) == 1 or thread_count() == 1:
            # The first rows of a lane are done here: a short series never starts a thread.
            self._values[lane] = self._values[lane].absorb(X, Y)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(len(self._values))
        self._pending[lane] = self._pool.submit(self._values[lane].absorb, X.copy(), Y)

    def merged(self) -> Any:
        """The statistics of all rows."""
        for lane in range(len(self._values)):
            self._wait(lane)
        total = self._values[0]
        for other in self._values[1:]:
            total = total.merge(other) if other.rows else total
        return total

    def _wait(self, lane: int) -> None:
        future = self._pending[lane]
        if future is not None:
            self._values[lane], self._pending[lane] = future.result(), None
