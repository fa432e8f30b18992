"""Training of readouts: groups of outputs that share a ridge, each with a solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigenecho.arrays import to_host
from eigenecho.threads import one_blas_thread
from eigenecho.training.evidence import Evidence, TrainedReadout
from eigenecho.training.problem import AbstractProblem
from eigenecho.training.selection import select_ridge, training_fold
from eigenecho.training.settings import Settings
from eigenecho.training.solvers import solve


@one_blas_thread()
def train(problem: AbstractProblem, settings: Settings) -> TrainedReadout:
    """Train a readout, using for each output the rows in which it is observed.

        w_d = argmin Σ_{t: y_d(t) is observed} (y_d(t) − x(t) w)² + α ‖L w‖²

    One ridge is selected for all outputs. Outputs with the same missing rows are trained together.
    """
    columns, parts = zip(*problem.parts, strict=True)
    if len(parts) == 1:
        return solve(problem, settings, training_fold(problem, settings))
    selected = select_ridge(parts, settings, training_fold(problem, settings))
    settings = replace(settings, ridge=(selected.ridge,))
    trained = [solve(part, settings, training_fold(part, settings)) for part in parts]
    groups = tuple(result.evidence.groups[0] for result in trained)
    evidence = Evidence(groups, columns, np.empty(0))
    left = problem.in_double.with_weights(problem.everything(settings.warmup), evidence.weights)
    # A solver that failed and fell back to QR would do so again.
    solver = next((result.solver for result in trained if result.solver != "qr"), "qr")
    return TrainedReadout(replace(evidence, scatter=to_host(left.scatter)), solver, trained[-1].end)
