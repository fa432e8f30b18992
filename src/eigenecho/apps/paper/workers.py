"""Worker processes that compute cells, each with its own pipe.

Workers are stopped by killing them. A process pool has threads of its own, which can wait forever
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
"""Environment variables that are 1 in workers."""

CellTask = tuple[Any, ...]
"""Arguments of the function that computes a cell."""

FinishedTasks = Generator[tuple[CellTask, Any, float]]
"""Yields (task, function(*task), seconds) as tasks finish."""


class CellError(RuntimeError):
    """A cell that raised, or whose worker died; the cause has the full traceback."""


def run_in_processes(
    function: Callable[..., Any], tasks: Iterable[CellTask], workers: int
) -> FinishedTasks:
    """Compute tasks in worker processes with one BLAS thread each.

    Closing the generator, or an exception in the caller, kills the workers.
    """
    queue = iter(tasks)
    busy: dict[Connection, CellTask] = {}
    processes = []
    spawn = get_context("spawn")
    try:
        with _single_threaded(), _ignore_interrupts():
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
                value, seconds = _receive(ready, task)
                for following in islice(queue, 1):
                    ready.send(following)
                    busy[ready] = following
                yield task, value, seconds
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.join()


def run_on_cluster(
    client: Any, function: Callable[..., Any], tasks: Iterable[CellTask]
) -> FinishedTasks:
    """Compute tasks on the workers of a Dask client.

    Closing the generator, or an exception in the caller, cancels the remaining tasks.
    """
    from distributed import as_completed

    pending = list(tasks)
    check_client(client)
    futures = submit(client, "cells", partial(_run_timed, function), pending)
    task_of_key = {future.key: task for future, task in zip(futures[1:], pending, strict=True)}
    try:
        for future in as_completed(futures[1:], loop=client.loop):
            task = task_of_key[future.key]
            try:
                with explain_errors("cells"):
                    value, seconds = future.result()
            except Exception as error:
                raise CellError(f"{_describe(task)} failed with {error}") from error
            future.release()
            yield task, value, seconds
    finally:
        release(client, futures)


@one_blas_thread()
def _run_timed(function: Callable[..., Any], task: CellTask) -> tuple[Any, float]:
    start = time.perf_counter()
    value = function(*task)
    return value, time.perf_counter() - start


def _describe(task: CellTask) -> str:
    return " ".join(map(str, task))


def _receive(connection: Connection, task: CellTask) -> tuple[Any, float]:
    try:
        value, seconds = connection.recv()
    except (EOFError, OSError) as error:
        raise CellError(
            f"a worker process died at {_describe(task)}, usually because memory ran out. Run "
            "again with fewer --workers: finished cells are kept."
        ) from error
    if seconds is None:
        last_line = value.strip().splitlines()[-1]
        raise CellError(f"{_describe(task)} failed with {last_line}") from RuntimeError(value)
    return value, seconds


def _work(connection: Connection, function: Callable[..., Any]) -> None:
    """Answer each task with (value, seconds), or (traceback, None) after an error."""
    try:
        while True:
            task = connection.recv()
            try:
                answer: tuple[Any, float | None] = _run_timed(function, task)
            except Exception:
                answer = traceback.format_exc(), None
            connection.send(answer)
    except (EOFError, OSError):
        return  # The parent process has ended.


@contextmanager
def _ignore_interrupts() -> Iterator[None]:
    """Start processes that ignore Ctrl-C, which a terminal sends to the whole group.

    Only the parent handles it. Children inherit the setting, so it also holds during imports.
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
def _single_threaded() -> Iterator[None]:
    """Set the environment in which workers start."""
    before = {name: os.environ[name] for name in ONE_THREAD if name in os.environ}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name in ONE_THREAD:
            del os.environ[name]
        os.environ.update(before)
