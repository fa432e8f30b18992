"""Reference runs of the specification, which exported code must reproduce bit for bit.

The example run is the test vector of an exported network.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from eigenecho.export import step as specification
from eigenecho.export.program import StepProgram
from eigenecho.types import Array

STEPS, FORECASTS = 20, 10
"""Number of steps of the example run, and of closed-loop steps that follow. From the second step
on, outputs depend on all weights."""

FREQUENCY = 0.2
"""Angular frequency of the first input. The other inputs use multiples of it."""


class Reference:
    """Network that runs ``step`` in plain Python, on scalars of its dtype.

    ``state.r`` and ``state.y`` are lists that may be modified.
    """

    def __init__(self, program: StepProgram) -> None:
        self.program = program
        self._constants = _Constants(program)
        room = {"r": program.units, "y": program.outputs, "next": program.scratch}
        self.state = SimpleNamespace(**{name: [0.0] * size for name, size in room.items()})
        specification.init(self._constants, self.state)

    def step(self, u: Any = ()) -> Array:
        """Return the output (D_out,) for an input row (D_in,)."""
        return self._run(specification.step, u)

    def forecast_step(self, known: Any = ()) -> Array:
        """Return the next output of the closed loop, for the ``known`` values of the next step."""
        return self._run(specification.forecast_step, known)

    def _run(self, function: Any, row: Any) -> Array:
        y = [0.0] * self.program.outputs
        with np.errstate(all="ignore"):  # as in C, overflow gives infinity
            function(self._constants, self.state, _scalars(np.asarray(row, self.program.dtype)), y)
        return np.array(y, self.program.dtype)


class _Constants:
    """Constants of a program as numbers and lists, which are converted on first use."""

    def __init__(self, program: StepProgram) -> None:
        self._program = program

    def __getattr__(self, name: str) -> Any:
        value = vars(self)[name] = _scalars(self._program.constant(name))
        return value


def _scalars(value: Any) -> Any:
    """Convert an array to lists of Python floats and ints, or of NumPy float32 scalars."""
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype != np.float32:
        return value.tolist()
    return list(value) if value.ndim == 1 else list(map(list, value))


def example_run(program: StepProgram) -> dict[str, Array]:
    """Run a network from its initial state, and return its inputs and outputs by name.

    The run stops before an overflow.

    ``test_inputs`` (T, D_in) and ``test_outputs`` (T, D_out) are the inputs and outputs of steps,
    and ``test_known`` (H, D_known) and ``test_forecasts`` (H, D_out) are those of the closed loop
    that follows.
    """
    # The inputs are smooth, because noise can make the outputs of a network very large.
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
    """Return the rows and outputs before the first output that is not finite."""
    outputs = np.array([function(row) for row in rows])
    finite = np.isfinite(outputs).all(axis=1)
    count = len(finite) if finite.all() else int(np.argmin(finite))
    return rows[:count], outputs[:count]
