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

_lock = threading.RLock()
_users = 0
_limit: Any = None
_here = threading.local()  # .users: those of this thread


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread while anybody is inside, in whatever thread; also a decorator."""
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
    # Other threads, and whatever they were inside of, do not exist here. The one that forked does.
    left = _users
    _lock, _users = threading.RLock(), getattr(_here, "users", 0)
    if left and not _users:
        _lift()


if hasattr(os, "register_at_fork"):
    # No fork while a limit is being set or lifted: the child would not know which of the two.
    os.register_at_fork(
        before=lambda: _lock.acquire(),
        after_in_parent=lambda: _lock.release(),
        after_in_child=_after_fork,
    )
