"""Computing what is missing: cells of experiments, on several processes, into the store."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from eigenecho.apps.paper.cell_store import Cell, CellStore
from eigenecho.apps.paper.experiment import Config, Experiment, Key, encode
from eigenecho.apps.paper.workers import computed, computed_by
from eigenecho.apps.shared.bars import OnProgress

PACKAGES = ("eigenecho", "numpy", "scipy", "numba", "scikit-learn")


@dataclass(frozen=True)
class Job:
    """An experiment with the configuration it is run with."""

    experiment: Experiment[Any]
    config: Config

    @property
    def identity(self) -> str:
        """Under which its finished cells are stored."""
        return self.experiment.identity(self.config)

    def __str__(self) -> str:
        return self.experiment.name


def run(
    jobs: Sequence[Job],
    store: CellStore,
    workers: int,
    progress: OnProgress,
    client: Any = None,
) -> None:
    """Compute and store every cell that is missing.

    Every cell runs in a worker process with one BLAS thread, also when there is only one worker, so
    that numbers do not depend on how many there are. Experiments that time things run alone, last.
    With the client of a Dask cluster the others run there.
    """
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
        if client is None or group is alone:
            cells = computed(_cell, pending, processes)
        else:
            cells = computed_by(client, _cell, pending)
        with closing(cells) as results:
            for (job, key), (result, machine), seconds in results:
                name = job.experiment.name
                store.add(name, job.identity, encode(key), result, seconds, machine)
                done[name][0] += 1
                progress(name, *done[name])


def _cell(job: Job, key: Key) -> tuple[Cell, dict[str, str]]:
    """A cell, and where it was computed."""
    return job.experiment.run(job.config, key), describe_machine()


def describe_machine() -> dict[str, str]:
    """Machine and versions that a result was computed with."""
    return {
        "processor": _processor(),
        "machine": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "cores": str(os.cpu_count()),
        **{package: _version(package) for package in PACKAGES},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":")[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or "unknown"
