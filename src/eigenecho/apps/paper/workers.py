"""Worker processes that compute cells, one pipe each.

Stopping them is killing them: there is no pool with threads of its own that could be left waiting
for half a message.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from eigenecho.clients import check_client, explain_errors, release, submit
from eigenecho.threads import one_blas_thread

ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "EIGENECHO_NUM_THREADS",
)


class CellError(RuntimeError):
    """A cell that raised or whose worker died; the cause has the whole traceback."""


def computed(
    function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], workers: int
) -> Generator[tuple[tuple[Any, ...], Any, float]]:
    """(task, function(*task), seconds) for every task, as they finish.

    Workers run with one BLAS thread each. Closing the generator, or an exception in the caller,
    kills them.
    """
    queue = iter(tasks)
    busy: dict[Connection, tuple[Any, ...]] = {}
    processes = []
    spawn = get_context("spawn")
    try:
        with _one_thread(), _deaf_to_interrupts():
            for task in islice(queue, workers):
                here, there = spawn.Pipe()
                process = spawn.Process(target=_work, args=(there, function), daemon=True)
                process.start()
                there.close()
                processes.append(process)
                here.send(task)
                busy[here] = task
        while busy:
            for ready in wait(list(busy)):
                assert isinstance(ready, Connection)
                task = busy.pop(ready)
                outcome = _received(ready, task)
                for following in islice(queue, 1):
                    ready.send(following)
                    busy[ready] = following
                yield task, *outcome
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.join()


def computed_by(
    client: Any, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]
) -> Generator[tuple[tuple[Any, ...], Any, float]]:
    """The same by the workers of a Dask client, as they finish.

    Closing the generator, or an exception in the caller, cancels what is left.
    """
    from distributed import as_completed

    listed = list(tasks)
    check_client(client)
    futures = submit(client, "cells", partial(_timed, function), listed)
    which = {future.key: task for future, task in zip(futures[1:], listed, strict=True)}
    try:
        for future in as_completed(futures[1:], loop=client.loop):
            task = which[future.key]
            try:
                with explain_errors("cells"):
                    value, seconds = future.result()
            except Exception as error:
                shown = " ".join(map(str, task))
                raise CellError(f"{shown} failed with {error}") from error
            future.release()
            yield task, value, seconds
    finally:
        release(client, futures)


@one_blas_thread()
def _timed(function: Callable[..., Any], task: tuple[Any, ...]) -> tuple[Any, float]:
    start = time.perf_counter()
    value = function(*task)
    return value, time.perf_counter() - start


def _received(connection: Connection, task: tuple[Any, ...]) -> tuple[Any, float]:
    shown = " ".join(map(str, task))
    try:
        done, value, seconds = connection.recv()
    except (EOFError, OSError) as error:
        raise CellError(
            f"a worker process died at {shown}, which happens when memory runs out. Start again "
            "with fewer --workers: what is finished is kept."
        ) from error
    if not done:
        last = value.strip().splitlines()[-1]
        raise CellError(f"{shown} failed with {last}") from RuntimeError(value)
    return value, seconds


def _work(connection: Connection, function: Callable[..., Any]) -> None:
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):  # the parent is gone
            return
        start = time.perf_counter()
        try:
            answer = (True, function(*task), time.perf_counter() - start)
        except Exception:
            answer = (False, traceback.format_exc(), time.perf_counter() - start)
        try:
            connection.send(answer)
        except OSError:
            return


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes started here never hear of Ctrl-C: it reaches the whole group, and is ours.

    They inherit it, so that one which is still importing keeps quiet too.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _one_thread() -> Iterator[None]:
    """The environment that workers are started in."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
