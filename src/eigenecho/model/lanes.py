"""Statistics gathered on two cores."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from eigenecho.kernels.threads import thread_count
from eigenecho.types import Array


class Lanes:
    """Statistics that take turns, on a thread each, and are merged at the end.

    Which rows go to which lane is fixed, so that the result does not depend on how many threads
    there are.
    """

    def __init__(self, empty: Any) -> None:
        self._values = [empty] * empty.LANES
        self._pending: list[Future[Any] | None] = [None] * empty.LANES
        self._turn = 0
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Lanes:
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
