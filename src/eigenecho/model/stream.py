"""Online runs: one step at a time, with explicit state."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenecho import kernels
from eigenecho.errors import bad_argument, overflowed
from eigenecho.model.model import Array, LinearModel, State
from eigenecho.model.run import as_state


class Stream:
    """A model running online, O(N) a step; streams of one model are independent.

    Parameters
    ----------
    model : LinearModel
    state : State, optional
        Where to start; zero by default.
    """

    def __init__(self, model: LinearModel, state: State | None = None) -> None:
        self.model = model
        self.state = model.zero_state() if state is None else state

    @property
    def state(self) -> State:
        """Where the stream stands, as a copy; assign to it to move the stream."""
        return State(self._r.copy(), self._y.copy())

    @state.setter
    def state(self, state: Any) -> None:
        r, y = as_state(self.model, state, "state")
        self._r, self._y = r.copy(), y.copy()

    def step(self, u: Any = None, *, y_previous: Any = None) -> Array:
        """Take one input row (D_in,) and return the output (D_out,).

        The last output comes back where the model has feedback; ``y_previous`` takes its place.
        """
        model = self.model
        reservoir = model.reservoir
        u = self._row(u, model.D_in, "u")
        before = self._y if y_previous is None else self._row(y_previous, model.D_out, "y_previous")
        before = model.from_user(before)
        drive = reservoir.drive(model.own_inputs(u)[None], before[None])[0]
        r = self._r.copy()
        kernels.step(reservoir.form, reservoir.B, drive, r)
        readout = model.readout
        y = readout.offset + readout.weights @ r
        if model.output_to_readout:
            y = y + before @ readout.previous
        if not np.all(np.isfinite(y)):
            raise overflowed("output", None)
        self._r, self._y = r, model.to_user(y)
        return self._y.copy()

    def _row(self, value: Any, columns: int, name: str) -> Array:
        row = np.asarray([] if value is None else value)
        if row.dtype.kind not in "fiub":
            raise bad_argument(name, value, f"{columns} real numbers")
        row = np.atleast_1d(row).astype(self.model.reservoir.dtype)
        if row.shape != (columns,):
            raise bad_argument(name, f"<shape {row.shape}>", f"one row of {columns} numbers")
        if not np.all(np.isfinite(row)):
            raise bad_argument(name, value, "finite numbers", "The stream has not moved.")
        return row
