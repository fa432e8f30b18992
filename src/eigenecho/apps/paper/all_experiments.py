"""All experiments, in the order of the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eigenecho.apps.paper.experiment import Experiment
from eigenecho.apps.paper.mc_connectivity import MCConnectivity
from eigenecho.apps.paper.mc_delay import MCDelay
from eigenecho.apps.paper.mso import MSO
from eigenecho.apps.paper.mso_accurate import MSOAccurate
from eigenecho.apps.paper.mso_signal import MSOSignal
from eigenecho.apps.paper.spectra_figure import Spectra
from eigenecho.apps.paper.spectral_importance import SpectralImportance
from eigenecho.apps.paper.step_times import StepTimes
from eigenecho.apps.paper.win_after import WinAfter
from eigenecho.errors import unknown_name

EXPERIMENTS: list[Experiment[Any]] = [
    Spectra(),
    MSOSignal(),
    MSO(),
    MSOAccurate(),
    SpectralImportance(),
    MCDelay(),
    MCConnectivity(),
    StepTimes(),
    WinAfter(),
]


def find(names: Sequence[str]) -> list[Experiment[Any]]:
    """The experiments of those names, in the order of the report; all where none is given."""
    known = [experiment.name for experiment in EXPERIMENTS]
    for name in names:
        if name not in known:
            raise unknown_name("NAME", name, known)
    return [e for e in EXPERIMENTS if not names or e.name in names]
