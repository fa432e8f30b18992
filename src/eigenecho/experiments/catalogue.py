"""All experiments, in the order of the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eigenecho.errors import unknown_name
from eigenecho.experiments.experiment import Experiment
from eigenecho.experiments.mc_connectivity import MCConnectivity
from eigenecho.experiments.mc_delay import MCDelay
from eigenecho.experiments.mso import MSO
from eigenecho.experiments.mso_accurate import MSOAccurate
from eigenecho.experiments.mso_signal import MSOSignal
from eigenecho.experiments.runner import Job
from eigenecho.experiments.spectra_figure import Spectra
from eigenecho.experiments.spectral_importance import SpectralImportance
from eigenecho.experiments.timing import Timing
from eigenecho.experiments.win_after import WinAfter

EXPERIMENTS: list[Experiment[Any]] = [
    Spectra(),
    MSOSignal(),
    MSO(),
    MSOAccurate(),
    SpectralImportance(),
    MCDelay(),
    MCConnectivity(),
    Timing(),
    WinAfter(),
]


def find(names: Sequence[str]) -> list[Experiment[Any]]:
    """The experiments of those names, in the order of the report; all where none is given."""
    known = [experiment.name for experiment in EXPERIMENTS]
    for name in names:
        if name not in known:
            raise unknown_name("NAME", name, known)
    return [e for e in EXPERIMENTS if not names or e.name in names]


def job(experiment: Experiment[Any], *, quick: bool = False, seeds: int | None = None) -> Job:
    """An experiment with its configuration: the paper's or the quick one, and so many seeds."""
    config = experiment.quick if quick else experiment.config
    return Job(experiment, config.with_seeds(seeds))
