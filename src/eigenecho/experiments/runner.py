"""Computing what is missing: cells of experiments, on several processes, into the store."""

from __future__ import annotations

import os
import platform
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context, parent_process
from typing import Any

from eigenecho.experiments.experiment import Config, Experiment, Key, encode
from eigenecho.experiments.store import Result, Store

ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "EIGENECHO_NUM_THREADS",
)
PACKAGES = ("eigenecho", "numpy", "scipy", "numba", "scikit-learn")


class CellError(RuntimeError):
    """A cell that failed; what is finished is kept."""


@dataclass(frozen=True)
class Job:
    """An experiment with the configuration it is run with."""

    experiment: Experiment[Any]
    config: Config

    @property
    def identity(self) -> str:
        """Under which its finished cells are stored."""
        return self.experiment.identity(self.config)


Progress = Callable[[str, int, int], None]
"""Called with an experiment's name, its finished cells and all of them."""


def run(jobs: Sequence[Job], store: Store, workers: int, progress: Progress) -> None:
    """Compute and store every cell that is missing.

    Every cell runs in a worker process with one BLAS thread, also when there is only one worker, so
    that numbers do not depend on how many there are. Experiments that time things run alone, last.
    """
    machine = describe_machine()
    shared = [job for job in jobs if not job.experiment.exclusive]
    alone = [job for job in jobs if job.experiment.exclusive]
    for group, processes in ((shared, workers), (alone, 1)):
        pending = []
        done = {}
        for job in group:
            keys = job.experiment.cells(job.config)
            finished = store.keys(job.experiment.name, job.identity)
            missing = [key for key in keys if encode(key) not in finished]
            pending += [(job, key) for key in missing]
            done[job.experiment.name] = [len(keys) - len(missing), len(keys)]
            progress(job.experiment.name, *done[job.experiment.name])
        if not pending:
            continue
        with closing(_computed(pending, processes)) as computed:
            for job, key, result, seconds in computed:
                name = job.experiment.name
                store.add(name, job.identity, encode(key), result, seconds, machine)
                done[name][0] += 1
                progress(name, *done[name])


def describe_machine() -> dict[str, str]:
    """Machine and versions that a result was computed with."""
    found = {"processor": _processor(), "machine": platform.machine()}
    found["system"] = platform.system()
    found["python"] = platform.python_version()
    found["cores"] = str(os.cpu_count())
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":")[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def _computed(
    pending: list[tuple[Job, Key]], workers: int
) -> Generator[tuple[Job, Key, Result, float]]:
    spawn = get_context("spawn")
    with _one_thread(), ProcessPoolExecutor(workers, spawn, _start_worker) as pool:
        waiting: dict[Future[Any], tuple[Job, Key]] = {}
        try:
            # A few more than there are workers: enough to keep them busy, quick to give up.
            queue = iter(pending)
            for _ in range(2 * workers):
                _submit(pool, queue, waiting)
            while waiting:
                finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in finished:
                    job, key = waiting.pop(future)
                    result, seconds = _outcome(future, job, key)
                    _submit(pool, queue, waiting)
                    yield job, key, result, seconds
        except BaseException:
            for process in list(pool._processes.values()):
                process.terminate()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _outcome(future: Future[Any], job: Job, key: Key) -> tuple[Result, float]:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise CellError(
            f"a worker process died at {job.experiment.name} {encode(key)}, which happens when "
            "memory runs out. Start again with fewer --workers: what is finished is kept."
        ) from error
    except Exception as error:
        raise CellError(
            f"{job.experiment.name} {encode(key)} failed with {type(error).__name__}: {error}"
        ) from error


def _start_worker() -> None:
    # Ctrl-C reaches the whole process group; workers leave it to the parent.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    # A parent that is killed cannot tell its workers, and they would wait for ever.
    threading.Thread(target=follow, daemon=True).start()


def _submit(pool: ProcessPoolExecutor, queue: Iterator[Any], waiting: dict[Any, Any]) -> None:
    for job, key in queue:
        waiting[pool.submit(_cell, job.experiment, job.config, key)] = (job, key)
        return


def _cell(experiment: Experiment[Any], config: Config, key: Key) -> tuple[Result, float]:
    start = time.perf_counter()
    result = experiment.run(config, key)
    return result, time.perf_counter() - start


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
