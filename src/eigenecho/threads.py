"""Number of threads, parallel execution on threads, and a limit of one BLAS thread.

Threads live for one call, so that nothing conflicts with a fork, a process pool or a thread pool of
the caller.

Rounding errors of BLAS and LAPACK depend on their number of threads, which process pools change.
For matrices of the size of reservoirs, a second BLAS thread gains little, and it stalls on a busy
machine. All computations therefore use one BLAS thread, and results are bit-identical in any pool,
on any worker, and on any machine with the same type of CPU. Other threads work on parts that do not
depend on the number of threads.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any


def thread_count() -> int:
    """Return ``EIGENECHO_NUM_THREADS`` or ``OMP_NUM_THREADS`` if set, or the number of cores."""
    for name in ("EIGENECHO_NUM_THREADS", "OMP_NUM_THREADS"):
        value = os.environ.get(name, "")
        if value.isdigit() and int(value) > 0:
            return int(value)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run(task: Callable[[int, int], None], pieces: Sequence[tuple[int, int]]) -> None:
    """Call ``task(start, stop)`` for every piece, in parallel if there are several."""
    if len(pieces) == 1:
        task(*pieces[0])
        return
    with ThreadPoolExecutor(len(pieces)) as pool:
        for future in [pool.submit(task, *piece) for piece in pieces]:
            future.result()


def mapped(function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
    """Yield the results of a function for each item, in order, on threads if there are several."""
    if len(items) == 1:
        yield function(items[0])
        return
    with ThreadPoolExecutor(thread_count()) as pool:
        yield from pool.map(function, items)


def even_split(count: int, parts: int, start: int = 0) -> list[tuple[int, int]]:
    """Return contiguous pieces of start … start + count whose lengths differ by at most one."""
    parts = max(1, min(parts, count))
    edges = [start + count * k // parts for k in range(parts + 1)]
    return list(itertools.pairwise(edges))


class Lanes:
    """Statistics that absorb chunks of rows in turn, one thread each, and are merged at the end.

    The assignment of rows to lanes is fixed, so that the result does not depend on the number of
    threads. Without a pool, all work is done by the calling thread.
    """

    def __init__(self, empty: Any, count: int, pool: ThreadPoolExecutor | None) -> None:
        self._lanes, self._pool = [empty] * count, pool
        self._turns = itertools.cycle(range(count))
        self._waiting: deque[Future] = deque()

    def absorb(self, X: Any, Y: Any) -> None:
        """Pass rows to the next lane. If it runs on a thread, the rows are copied."""
        lane = next(self._turns)
        total, count = _result(self._lanes[lane]), len(self._lanes)
        # The calling thread absorbs the first rows of two lanes, so short series start no thread.
        if self._pool is None or (total.rows == 0 and count == 2):
            self._lanes[lane] = total.absorb(X, Y)
            return
        while len(self._waiting) > thread_count():  # limit the copies of rows in memory
            self._waiting.popleft().result()
        self._lanes[lane] = self._pool.submit(total.absorb, X.copy(), Y)
        self._waiting.append(self._lanes[lane])

    def merged(self) -> Any:
        """Return the statistics of all rows, merged pairwise in a fixed order."""
        lanes = [lane for lane in map(_result, self._lanes) if lane.rows] or self._lanes[:1]
        while len(lanes) > 1:
            pairs = list(zip(lanes[::2], lanes[1::2], strict=False))
            if len(lanes) == 2 or self._pool is None:
                merged = [left.merge(right) for left, right in pairs]
            else:
                merged = list(self._pool.map(lambda pair: pair[0].merge(pair[1]), pairs))
            lanes = merged + lanes[2 * len(pairs) :]
        return lanes[0]


def _result(lane: Any) -> Any:
    return lane.result() if isinstance(lane, Future) else lane


# BLAS -------------------------------------------------------------------------------------------

_lock = threading.RLock()
_users = 0
_limit: Any = None
_here = threading.local()  # users: number of limits that this thread has set


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread while any thread is in this context; also usable as a decorator."""
    global _limit
    with _lock:
        if _users == 0:
            _take_control()
            _limit = _controller().limit(limits=1, user_api="blas")
        _count(1)
    try:
        yield
    finally:
        with _lock:
            _count(-1)
            if _users == 0:
                _lift()


def _count(more: int) -> None:
    global _users
    _users += more
    _here.users = getattr(_here, "users", 0) + more


def _lift() -> None:
    _take_control()
    _limit.restore_original_limits()
    _take_control()


def _take_control() -> None:
    # threadpoolctl lets only one Python thread at a time set limits. This limit is for all threads:
    # the first thread that enters sets it, and the last one that leaves lifts it.
    from threadpoolctl import OpenBLASController

    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


@cache
def _controller() -> Any:
    # NumPy and SciPy have separate BLAS libraries, which are detected only if they are loaded.
    import numpy.linalg  # noqa: F401
    import scipy.linalg.blas  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _after_fork() -> None:
    global _lock, _users
    # After a fork, only the thread that forked exists.
    left = _users
    _lock, _users = threading.RLock(), getattr(_here, "users", 0)
    if left and not _users:
        _lift()


if hasattr(os, "register_at_fork"):
    # Forks wait while a limit is being set or lifted, because the child could not know its state.
    os.register_at_fork(
        before=lambda: _lock.acquire(),
        after_in_parent=lambda: _lock.release(),
        after_in_child=_after_fork,
    )
