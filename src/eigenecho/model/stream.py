"""Online runs: one step at a time, with explicit state."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenecho import kernels
from eigenecho.errors import overflowed
from eigenecho.model.model import Array, LinearModel, State
from eigenecho.model.ports import Ports, on_one_thread
from eigenecho.model.run import as_state


class Stream:
    """A model running online, O(N) a step; streams of one model are independent.

    The outputs are a function of the model, the state and the inputs, to the last bit: a stream
    that was copied, or saved and loaded in another process, goes on as the original would. They
    agree with ``predict``, which sums in another order, to rounding.

    Parameters
    ----------
    model : LinearModel
    state : State, optional
        Where to start; zero by default.
    """

    def __init__(self, model: LinearModel, state: State | None = None) -> None:
        reservoir = model.reservoir
        self.model = model
        self.state = model.zero_state() if state is None else state
        self._ports = Ports(model)
        self._next = np.empty_like(self._r), np.empty_like(self._y)
        self._weights = reservoir.form, reservoir.B, self._ports.drive, model.readout
        self._step = on_one_thread(reservoir.form, kernels.step_readout)

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
        After an error the stream stands where it stood.
        """
        ports, (r, y) = self._ports, self._next
        ports.take(u, y_previous, self._y)
        if not self._step(*self._weights, ports.before, self._r, r, y):
            ports.check_finite(u, y_previous)
            raise overflowed("output", None)
        self._next = self._r, self._y
        self._r, self._y = r, self.model.to_user(y)
        return self._y.copy()

    def copy(self) -> Stream:
        """An independent stream that stands where this one does."""
        return Stream(self.model, self.state)

    def save(self, path: Any) -> None:
        """Write model and state to a safetensors file; ``eigenecho.load`` gives the stream back."""
        from eigenecho.model.storage import save_stream

        save_stream(path, self)

    def __reduce__(self) -> Any:
        return Stream, (self.model, self.state)

    def __repr__(self) -> str:
        return f"Stream of {self.model!r}"
