"""The test vector of an exported network: inputs, and the outputs of the reference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eigenecho.export.program import StepProgram
from eigenecho.export.reference import Reference
from eigenecho.types import Array

STEPS, FORECASTS = 20, 10
"""Numbers of steps, and of steps of the closed loop after them. From the second step on, outputs
depend on all weights."""

FREQUENCY = 0.2
"""Angular frequency of the first input; those of the others are multiples."""


def example_run(program: StepProgram) -> dict[str, Array]:
    """Return a run from the initial state, which ends before an overflow, as arrays by name.

    ``test_inputs`` (T, D_in) and ``test_outputs`` (T, D_out) are inputs and outputs of steps, and
    ``test_known`` (H, D_known) and ``test_forecasts`` (H, D_out) of the closed loop after them.
    """
    # Smooth inputs, because noise can make the outputs of a network very large.
    t = np.arange(1, STEPS + FORECASTS + 1)[:, np.newaxis]
    rows = np.sin(FREQUENCY * t * np.arange(1, program.inputs + 1))
    if "input_scale" in program.arrays:
        rows = rows * program.arrays["input_scale"] + program.arrays["input_mean"]
    rows = rows.astype(program.dtype)
    reference = Reference(program)
    inputs, outputs = _run(reference.step, rows[:STEPS])
    run = {"test_inputs": inputs, "test_outputs": outputs}
    if program.known is not None and len(outputs) == STEPS:
        known, forecasts = _run(reference.forecast_step, rows[STEPS:, program.outputs :])
        run |= {"test_known": known, "test_forecasts": forecasts}
    return run


def _run(function: Callable[[Array], Array], rows: Array) -> tuple[Array, Array]:
    """Return rows and outputs before the first output that is not finite."""
    outputs = np.array([function(row) for row in rows])
    finite = np.isfinite(outputs).all(axis=1)
    count = len(finite) if finite.all() else int(np.argmin(finite))
    return rows[:count], outputs[:count]
