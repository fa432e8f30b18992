"""Runs of the specification: what exported code must compute, bit for bit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from eigenecho.export import step as specification
from eigenecho.export.program import StepProgram
from eigenecho.types import Array


class Reference:
    """A network that runs ``step`` in plain Python, on scalars of its dtype.

    ``state.r`` and ``state.y`` are lists, which may be assigned to.
    """

    def __init__(self, program: StepProgram) -> None:
        self.program = program
        self._constants = _Constants(program)
        room = {"r": program.units, "y": program.outputs, "next": program.block}
        self.state = SimpleNamespace(**{name: [0.0] * size for name, size in room.items()})
        specification.init(self._constants, self.state)

    def step(self, u: Any = ()) -> Array:
        """Take one input row (D_in,) and return the output (D_out,)."""
        return self._run(specification.step, u)

    def forecast_step(self, known: Any = ()) -> Array:
        """Take the last output as the input, with further known inputs, and return the next."""
        return self._run(specification.forecast_step, known)

    def _run(self, function: Any, row: Any) -> Array:
        y = [0.0] * self.program.outputs
        with np.errstate(all="ignore"):  # as in C, overflow is infinite
            function(self._constants, self.state, _scalars(np.asarray(row, self.program.dtype)), y)
        return np.array(y, self.program.dtype)


class _Constants:
    """The constants of a program as numbers and lists, converted on first use."""

    def __init__(self, program: StepProgram) -> None:
        self._program = program

    def __getattr__(self, name: str) -> Any:
        value = vars(self)[name] = _scalars(self._program.constant(name))
        return value


def _scalars(value: Any) -> Any:
    """Return an array as lists of Python's floats and ints, or of NumPy's float32."""
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype != np.float32:
        return value.tolist()
    return list(value) if value.ndim == 1 else list(map(list, value))
