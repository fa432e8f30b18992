"""Statistics of the rows of all series in one run of the reservoir, without storing states."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eigenecho.arrays import namespace
from eigenecho.readout import Accumulated, Statistic, Triangle
from eigenecho.reservoir import Reservoir
from eigenecho.rows import chunk_rows
from eigenecho.threads import thread_count
from eigenecho.types import Array

if TYPE_CHECKING:
    from eigenecho.training.problem import Problem

Block = Sequence[tuple[int, int]]
"""Rows (start, stop) of each series."""


@dataclass(frozen=True)
class Fold:
    """Rows to train on and blocks of held-out rows; other rows only advance the state."""

    train: Block
    held_out: tuple[Block, ...] = ()


class Gathered(NamedTuple):
    """Statistics of training rows and of held-out blocks, and a state for each series.

    Statistics of held-out blocks are orthogonal, so that errors on them are true residuals.
    ``ends`` are the states after the last rows of the fold.
    """

    statistics: Any
    held_out: list[Triangle]
    ends: list[Array]


def gather(
    problem: Problem, kind: type[Accumulated], fold: Fold, *, less: Array | None = None
) -> Gathered:
    """Return statistics of the training rows and of each held-out block, in one run.

    ``less`` are weights (N', D_out) whose prediction is subtracted from the training targets.
    Rows with a missing target are left out.
    """
    xp = namespace(problem.inputs[0])
    held_out = [Triangle.empty(problem.size, problem.D_out, xp) for _ in fold.held_out]
    ends = []
    count = kind.lanes(sum(stop - start for start, stop in fold.train), problem.size)
    with ThreadPoolExecutor(max(1, min(count, thread_count()))) as pool:
        lanes = _Lanes(kind.empty(problem.size, problem.D_out, xp), count, pool)
        for i, y in enumerate(problem.outputs):
            stop = max(fold.train[i][1], *(block[i][1] for block in fold.held_out), 0)
            observed = None if problem.observed is None else np.all(problem.observed[i], axis=1)
            series, states = problem.rows(i), [problem.start(i)]
            chunk = chunk_rows(y, max(problem.size, problem.D_out), least=64)
            for first, X in series.chunks(0, stop, chunk, states):
                Y = y[first : first + len(X)]
                for j, block in enumerate(fold.held_out):
                    rows = _within(block[i], first, X, observed)
                    some, targets = X[rows], Y[rows]
                    if len(some):
                        held_out[j] = held_out[j].absorb(some, targets)
                rows = _within(fold.train[i], first, X, observed)
                some, targets = X[rows], Y[rows]
                if len(some):
                    lanes.absorb(some, targets if less is None else targets - some @ less)
            ends.append(states[0])
        return Gathered(lanes.merged(), held_out, ends)


def check_range(statistics: Statistic, reservoir: Reservoir) -> None:
    """Raise if squares of the states overflow: the readout would be zero."""
    if statistics.overflows:
        raise reservoir.overflowed("squares of the states")


def _within(block: tuple[int, int], first: int, X: Array, observed: Array | None) -> slice | Array:
    """Return which rows of a chunk X, which starts at row ``first``, are observed in a block."""
    start, stop = (min(max(edge - first, 0), len(X)) for edge in block)
    if observed is None:
        return slice(start, stop)
    return namespace(X).asarray(start + np.flatnonzero(observed[first + start : first + stop]))


class _Lanes:
    """Statistics that absorb chunks of rows in turn, one thread each, and are merged at the end.

    The assignment of rows to lanes is fixed, so that the result does not depend on the number of
    threads.
    """

    def __init__(self, empty: Any, count: int, pool: ThreadPoolExecutor) -> None:
        self._lanes, self._pool = [empty] * count, pool
        self._turns = itertools.cycle(range(count))
        self._waiting: deque[Future] = deque()

    def absorb(self, X: Array, Y: Array) -> None:
        """Pass rows to the next lane; a thread works on a copy of them."""
        lane = next(self._turns)
        known, count = _result(self._lanes[lane]), len(self._lanes)
        alone = min(count, thread_count()) == 1 or not namespace(X).is_host
        # The first rows of two lanes are absorbed here: a short series never starts a thread.
        if alone or (known.rows == 0 and count == 2):
            self._lanes[lane] = known.absorb(X, Y)
            return
        while len(self._waiting) > thread_count():  # limit the copies of rows in memory
            self._waiting.popleft().result()
        self._lanes[lane] = self._pool.submit(known.absorb, X.copy(), Y)
        self._waiting.append(self._lanes[lane])

    def merged(self) -> Any:
        """Return the statistics of all rows, merged pairwise in a fixed order."""
        lanes = [lane for lane in map(_result, self._lanes) if lane.rows] or self._lanes[:1]
        while len(lanes) > 1:
            pairs = list(zip(lanes[::2], lanes[1::2], strict=False))
            if len(lanes) == 2 or thread_count() == 1:
                merged = [left.merge(right) for left, right in pairs]
            else:
                merged = list(self._pool.map(lambda pair: pair[0].merge(pair[1]), pairs))
            lanes = merged + lanes[2 * len(pairs) :]
        return lanes[0]


def _result(lane: Any) -> Any:
    return lane.result() if isinstance(lane, Future) else lane
