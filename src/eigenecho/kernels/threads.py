"""How many threads a kernel may use, and running the parts of one on them.

Threads are plain ones and live for one call: nothing is left behind that a fork, a process
pool or a thread pool of the caller's could trip over.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor


def thread_count() -> int:
    """``EIGENECHO_NUM_THREADS``, else ``OMP_NUM_THREADS``, else the cores of this process."""
    for name in ("EIGENECHO_NUM_THREADS", "OMP_NUM_THREADS"):
        value = os.environ.get(name, "")
        if value.isdigit() and int(value) > 0:
            return int(value)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run(task: Callable[[int, int], None], pieces: Sequence[tuple[int, int]]) -> None:
    """Call ``task(start, stop)`` for every piece, side by side where there are several."""
    if len(pieces) == 1:
        task(*pieces[0])
        return
    with ThreadPoolExecutor(len(pieces)) as pool:
        for future in [pool.submit(task, *piece) for piece in pieces]:
            future.result()


def run_each(tasks: Sequence[Callable[[], None]], worth: bool = True) -> None:
    """Call every task, side by side where that is worth it and there is more than one core."""
    if not worth or thread_count() == 1:
        for task in tasks:
            task()
        return
    with ThreadPoolExecutor(len(tasks)) as pool:
        for future in [pool.submit(task) for task in tasks]:
            future.result()


def even_split(count: int, parts: int, start: int = 0) -> list[tuple[int, int]]:
    """Contiguous pieces of start … start + count, of equal length give or take one."""
    parts = max(1, min(parts, count))
    edges = [start + count * k // parts for k in range(parts + 1)]
    return list(itertools.pairwise(edges))
