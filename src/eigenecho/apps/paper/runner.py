"""All experiments, and a run of their missing cells into the store."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from eigenecho.apps.paper.cell_store import CellStore
from eigenecho.apps.paper.experiment import Cell, Config, Experiment, Key, encode
from eigenecho.apps.paper.mc_connectivity import MCConnectivity
from eigenecho.apps.paper.mc_delay import MCDelay
from eigenecho.apps.paper.mso import MSO
from eigenecho.apps.paper.mso_accurate import MSOAccurate
from eigenecho.apps.paper.mso_signal import MSOSignal
from eigenecho.apps.paper.spectra_figure import SpectraFigure
from eigenecho.apps.paper.spectral_importance import SpectralImportance
from eigenecho.apps.paper.step_times import StepTimes
from eigenecho.apps.paper.win_after import WinAfter
from eigenecho.apps.paper.workers import run_in_processes, run_on_cluster
from eigenecho.apps.shared.terminal import OnProgress
from eigenecho.errors import unknown_name

EXPERIMENTS: list[Experiment[Any]] = [
    SpectraFigure(),
    MSOSignal(),
    MSO(),
    MSOAccurate(),
    SpectralImportance(),
    MCDelay(),
    MCConnectivity(),
    StepTimes(),
    WinAfter(),
]
"""Experiments in the order of the report."""

PACKAGES = ("eigenecho", "numpy", "scipy", "numba", "scikit-learn")


def find_experiments(names: Sequence[str]) -> list[Experiment[Any]]:
    """Return the named experiments in the order of the report; all of them without names."""
    known = [experiment.name for experiment in EXPERIMENTS]
    for name in names:
        if name not in known:
            raise unknown_name("NAME", name, known)
    return [e for e in EXPERIMENTS if not names or e.name in names]


@dataclass(frozen=True)
class Job:
    """An experiment and its configuration."""

    experiment: Experiment[Any]
    config: Config

    @property
    def identity(self) -> str:
        """Name under which the store keeps the cells."""
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
    """Compute and store all missing cells.

    Every cell runs in a worker process with one BLAS thread, even with a single worker, so that
    results do not depend on the number of workers. Experiments that measure time run last and
    alone. With the client of a Dask cluster, the other experiments run there.
    """
    shared = [job for job in jobs if not job.experiment.exclusive]
    exclusive = [job for job in jobs if job.experiment.exclusive]
    for group, processes in ((shared, workers), (exclusive, 1)):
        pending = []
        done = {}
        for job in group:
            keys = job.experiment.cells(job.config)
            finished = store.keys(job.experiment.name, job.identity)
            missing = [key for key in keys if encode(key) not in finished]
            pending += [(job, key) for key in missing]
            done[job.experiment.name] = [len(keys) - len(missing), len(keys)]
            progress(job.experiment.name, *done[job.experiment.name])
        if client is None or group is exclusive:
            cells = run_in_processes(_compute_cell, pending, processes)
        else:
            cells = run_on_cluster(client, _compute_cell, pending)
        with closing(cells) as results:
            for (job, key), (result, machine), seconds in results:
                name = job.experiment.name
                store.add(name, job.identity, encode(key), result, seconds, machine)
                done[name][0] += 1
                progress(name, *done[name])


def _compute_cell(job: Job, key: Key) -> tuple[Cell, dict[str, str]]:
    """Return a cell and the machine that computed it."""
    return job.experiment.run(job.config, key), describe_machine()


def describe_machine() -> dict[str, str]:
    """Return the machine and the versions of this process."""
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
