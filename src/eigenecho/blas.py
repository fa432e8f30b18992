"""BLAS on one thread: the same bits on any machine, in any pool, on any worker.

BLAS and LAPACK round by the number of their threads, and process pools change that number. At
the sizes of reservoirs a second thread gains little and, on a busy machine, stalls. So whatever
ends in a number of ours runs on one; threads of our own work on parts that do not depend on them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_lock = threading.Lock()
_users = 0
_limit: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread while anybody is inside, in whatever thread; also a decorator."""
    global _users, _limit
    with _lock:
        if _users == 0:
            _take_control()
            _limit = _controller().limit(limits=1, user_api="blas")
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _take_control()
                _limit.restore_original_limits()
                _take_control()


def _take_control() -> None:
    # threadpoolctl lets one Python thread at a time set limits. Ours are for all of them: who
    # comes in first sets the limit and who leaves last lifts it, in whatever thread that is.
    from threadpoolctl import OpenBLASController

    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


@cache
def _controller() -> Any:
    # NumPy and SciPy bring a BLAS each: both must be loaded to be found.
    import numpy.linalg  # noqa: F401
    import scipy.linalg.blas  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _after_fork() -> None:
    global _lock, _users
    # Threads that held the lock or were inside do not exist here.
    _lock, _users = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
