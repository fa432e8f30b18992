"""Parallel execution on threads, and a limit of one BLAS thread.

Threads exist only during a call, so that they cannot conflict with forks, process pools or thread
pools of the caller.

Rounding errors of BLAS and LAPACK depend on their number of threads, which process pools change.
For matrices of the size of reservoirs, a second BLAS thread is hardly faster, and it is slow on a
busy machine. All computations therefore use one BLAS thread, and other parallel work is split
independently of the number of threads. Results are thus bit-identical in all pools and workers, and
on all machines with the same type of CPU.
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

from eigenecho.errors import bad_argument


def thread_count() -> int:
    """Return ``EIGENECHO_NUM_THREADS`` or ``OMP_NUM_THREADS`` if set, or the number of cores."""
    for name in ("EIGENECHO_NUM_THREADS", "OMP_NUM_THREADS"):
        value = os.environ.get(name, "")
        if value.isdecimal() and int(value) > 0:
            return int(value)
        if value and name.startswith("EIGENECHO"):
            raise bad_argument(name, value, "a number of threads (an int ≥ 1)")
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run(task: Callable[[int, int], None], pieces: Sequence[tuple[int, int]]) -> None:
    """Call ``task(start, stop)`` for every piece, on threads if there are several pieces."""
    for _ in mapped(lambda piece: task(*piece), pieces):
        pass


def mapped(function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
    """Yield the result of a function for each item, in order; use threads for several items."""
    if len(items) == 1:
        yield function(items[0])
        return
    with ThreadPoolExecutor(thread_count()) as pool:
        yield from pool.map(function, items)


def even_split(count: int, parts: int, start: int = 0) -> list[tuple[int, int]]:
    """Split ``count`` steps from ``start`` into pieces whose lengths differ by at most one."""
    parts = max(1, min(parts, count))
    edges = [start + count * k // parts for k in range(parts + 1)]
    return list(itertools.pairwise(edges))


class Lanes:
    """Several statistics that absorb chunks of rows in turn, on threads, and are merged at the end.

    The assignment of chunks to statistics is fixed, so that the result does not depend on the
    number of threads. Without a pool, the calling thread does all the work.
    """

    def __init__(self, empty: Any, count: int, pool: ThreadPoolExecutor | None) -> None:
        self._lanes, self._pool = [empty] * count, pool
        self._turns = itertools.cycle(range(count))
        self._waiting: deque[Future] = deque()

    def absorb(self, X: Any, Y: Any) -> None:
        """Pass rows to the next statistic; rows for another thread are copied."""
        lane = next(self._turns)
        total, count = _result(self._lanes[lane]), len(self._lanes)
        # The calling thread absorbs the first rows of two lanes: short series need no thread.
        if self._pool is None or (total.rows == 0 and count == 2):
            self._lanes[lane] = total.absorb(X, Y)
            return
        while len(self._waiting) > thread_count():  # Limit the number of copies in memory.
            self._waiting.popleft().result()
        self._lanes[lane] = self._pool.submit(total.absorb, X.copy(), Y)
        self._waiting.append(self._lanes[lane])

    def merged(self) -> Any:
        """Return the statistic of all rows, merged pairwise in a fixed order."""
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
    # In threadpoolctl, only one Python thread at a time can set limits. This limit is shared: the
    # first thread that enters the context sets it, and the last thread that leaves lifts it.
    from threadpoolctl import OpenBLASController

    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


@cache
def _controller() -> Any:
    # NumPy and SciPy have separate BLAS libraries, which are detected only after they are loaded.
    import numpy.linalg  # noqa: F401
    import scipy.linalg.blas  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _after_fork() -> None:
    global _lock, _users
    # After a fork, only the thread that called fork exists.
    left = _users
    _lock, _users = threading.RLock(), getattr(_here, "users", 0)
    if left and not _users:
        _lift()


if hasattr(os, "register_at_fork"):
    # A fork waits while another thread sets or lifts a limit, because the child process would not
    # know the state of the limit.
    os.register_at_fork(
        before=lambda: _lock.acquire(),
        after_in_parent=lambda: _lock.release(),
        after_in_child=_after_fork,
    )
