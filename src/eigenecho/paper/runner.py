"""List of all experiments, and the computation of missing cells."""

from __future__ import annotations

import os
import platform
import signal
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from importlib.metadata import version
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import Any

import eigenecho
from eigenecho.checks import check_known
from eigenecho.paper.cell_store import CellStore, StoredCell
from eigenecho.paper.experiment import Experiment, Key
from eigenecho.paper.memory_capacity import MCConnectivity, MCDelay
from eigenecho.paper.mso import MSO, MSOAccurate, MSONormalEquations, MSOSignal
from eigenecho.paper.same_network import SameNetwork
from eigenecho.paper.spectra import SpectraFigure, SpectralImportance
from eigenecho.paper.step_times import StepTimes
from eigenecho.paper.win_after import WinAfter
from eigenecho.threads import one_blas_thread

EXPERIMENTS: list[Experiment] = [
    SpectraFigure(), MSOSignal(), SameNetwork(), MSO(), MSONormalEquations(), MSOAccurate(),
    SpectralImportance(), MCDelay(), MCConnectivity(), StepTimes(), WinAfter(),
]  # fmt: skip
"""Experiments with the paper's parameters, in the order of the report."""

Task = tuple[Experiment, Key]
FinishedTask = tuple[Task, StoredCell]


class CellError(RuntimeError):
    """Error raised when a cell fails, or when its worker dies."""


def find_experiments(
    names: Sequence[str] = (), quick: bool = False, seeds: int | None = None
) -> list[Experiment]:
    """Return experiments by name, by default all experiments, in the order of the report.

    ``quick`` selects the parameters of a quick run, and ``seeds`` overrides the number of seeds.
    """
    available = [experiment.name for experiment in EXPERIMENTS]
    for name in names:
        check_known(name, "NAME", available)
    changes = {} if seeds is None else {"seeds": seeds}
    return [
        replace(experiment, **{**(experiment.quick if quick else {}), **changes})
        for experiment in EXPERIMENTS
        if not names or experiment.name in names
    ]


def run(
    experiments: Sequence[Experiment],
    store: CellStore,
    workers: int,
    progress: Callable[[str, int, int], None],
) -> None:
    """Compute and store all missing cells.

    Every cell runs in a worker process with one BLAS thread, even if there is only one worker, so
    that results do not depend on the number of workers. Experiments that measure time run at the
    end, one cell at a time. ``progress`` is called with the name of an experiment, the number of
    finished cells, and the total number of cells.
    """

    def report(experiment: Experiment) -> None:
        total = len(experiment.cells())
        progress(experiment.name, total - len(store.missing(experiment)), total)

    for exclusive in (False, True):
        chosen = [e for e in experiments if e.exclusive == exclusive]
        for experiment in chosen:
            report(experiment)
        tasks = [(experiment, key) for experiment in chosen for key in store.missing(experiment)]
        with closing(_run_in_processes(tasks, 1 if exclusive else workers)) as finished:
            for (experiment, key), result in finished:
                store.add(experiment, key, result)
                report(experiment)


def _run_in_processes(tasks: Sequence[Task], workers: int) -> Generator[FinishedTask]:
    """Yield tasks as they finish; closing the generator kills the worker processes.

    Each worker has its own pipe. The threads of a process pool could wait forever for the rest of a
    message from a killed worker.
    """
    queue = iter(tasks)
    busy: dict[Any, Task] = {}
    processes = []
    spawn = get_context("spawn")
    # A terminal sends Ctrl-C to all processes, but only the parent process handles it. Workers
    # inherit this setting, so that it is also active during their imports.
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for task in islice(queue, workers):
            connection, end = spawn.Pipe()
            process = spawn.Process(target=_work, args=(end,), daemon=True)
            process.start()
            end.close()
            processes.append(process)
            connection.send(task)
            busy[connection] = task
        signal.signal(signal.SIGINT, handler)
        while busy:
            ready: list[Any] = wait(list(busy))
            for connection in ready:
                finished = busy.pop(connection), _receive(connection)
                for task in islice(queue, 1):
                    connection.send(task)
                    busy[connection] = task
                yield finished
    finally:
        signal.signal(signal.SIGINT, handler)
        for process in processes:
            process.kill()
            process.join()


def _receive(connection: Any) -> StoredCell:
    try:
        answer = connection.recv()
    except (EOFError, OSError) as error:
        raise CellError(
            "A worker process died, probably because it ran out of memory. Finished runs are "
            "stored. Run the command again with a smaller value of --workers."
        ) from error
    if isinstance(answer, CellError):
        raise answer
    return answer


def _work(connection: Any) -> None:
    """Receive tasks, and send back their results or errors."""
    os.environ["EIGENECHO_NUM_THREADS"] = "1"
    with suppress(EOFError, OSError):  # The parent process has ended.
        while True:
            task = connection.recv()
            try:
                answer: Any = _compute_cell(task)
            except CellError as error:
                answer = error
            connection.send(answer)


@one_blas_thread()
def _compute_cell(task: Task) -> StoredCell:
    experiment, key = task
    start = time.perf_counter()
    try:
        cell = experiment.run(key)
    except Exception as error:
        message = f"The run {experiment.name} {key} failed: {type(error).__name__}: {error}"
        raise CellError(message) from error
    return StoredCell(cell, time.perf_counter() - start, describe_machine())


def describe_machine() -> dict[str, str]:
    """Return the properties of the machine, and the versions of Python and packages."""
    try:
        with open("/proc/cpuinfo") as lines:
            processor = next(line.split(":")[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        processor = platform.processor() or "unknown"
    return {
        "processor": processor,
        "machine": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "cores": str(os.cpu_count()),
        "eigenecho": eigenecho.__version__,
        **{package: version(package) for package in ("numpy", "scipy", "numba", "scikit-learn")},
    }
