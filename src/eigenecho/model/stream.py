"""Online runs: a step or some rows at a time, with explicit state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho import kernels, storage
from eigenecho.arrays import is_tensor
from eigenecho.errors import overflowed
from eigenecho.model.state import State, as_state
from eigenecho.model.step_inputs import StepInputs, on_one_thread
from eigenecho.scaling import Scaling
from eigenecho.tensors import takes_tensors
from eigenecho.types import Array

if TYPE_CHECKING:
    from eigenecho.model.model import LinearModel


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
    feature_names : list of str, optional
        The columns of the inputs: rows that come with labels must have these, in this order.

    See Also
    --------
    eigenecho.model.Learner : learns at every step too

    Examples
    --------
    >>> import eigenecho as ee
    >>> series = ee.tasks.mso(3, steps=400)
    >>> esn = ee.LinearESN(50, warmup=50, ridge=1e-10, seed=0).fit(series[:-2], series[1:-1])
    >>> stream = esn.stream(esn.final_state_)
    >>> bool(abs(stream.step(series[-2]) - series[-1]).max() < 1e-3)
    True
    """

    def __init__(
        self,
        model: LinearModel,
        state: State | None = None,
        feature_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
    ) -> None:
        reservoir = model.reservoir
        self.model = model
        self.state = model.zero_state() if state is None else state
        self._inputs = StepInputs(model, feature_names, output_names)
        self._next = np.empty_like(self._r), np.empty_like(self._y)
        self._weights = reservoir.form, reservoir.B, self._inputs.drive, model.readout
        compiled = kernels.backend(self._r)
        self._step = on_one_thread(reservoir, compiled.step_readout)
        self._run = on_one_thread(reservoir, compiled.run_readout)

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

        A row may be a pandas Series, a frame of one row or a dict; labels must be those of the
        columns that the model was fitted on, in their order, as in ``predict``. The last output
        comes back where the model has feedback; ``y_previous`` takes its place.
        After an error the stream stands where it stood.
        """
        if not isinstance(u, np.ndarray) and (is_tensor(u) or is_tensor(y_previous)):
            return self._step_by_tensor(u, y_previous)
        inputs, (r, y) = self._inputs, self._next
        inputs.take(u, y_previous, self._y)
        if not self._step(*self._weights, inputs.before, self._r, r, y):
            inputs.check_finite(u, y_previous)
            raise overflowed("output", None)
        output = self.model.to_user(y)
        if self.model.outputs is not None and not np.all(np.isfinite(output)):
            raise overflowed("output", None)
        self._next = self._r, self._y
        self._r, self._y = r, output
        return output.copy()

    @takes_tensors
    def _step_by_tensor(self, u: Any, y_previous: Any) -> Array:
        return self.step(u, y_previous=y_previous)

    @takes_tensors
    def run(self, rows: Any, *, y_previous: Any = None) -> Array:
        """Take input rows (T, D_in) and return the outputs (T, D_out): T steps, to the last bit.

        Row t of ``y_previous`` (T, D_out) takes the place of the output before it. After an error
        the stream stands where it stood, before the first of the rows.
        """
        model, inputs = self.model, self._inputs
        drive, before = inputs.take_many(rows, y_previous, self._y)
        r, out = self._r.copy(), np.empty_like(before)
        loop = None
        if model.closed and y_previous is None:
            scaling = model.outputs or Scaling.identity(model.D_out)
            loop = kernels.Loop(inputs.start, scaling.mean, scaling.scale)
        form, B = model.reservoir.form, model.reservoir.B
        done = self._run(form, B, drive, model.readout, before, loop, r, out)
        if done < len(out):
            raise overflowed("output", None, done)
        outputs = model.to_user(out)
        if model.outputs is not None and not np.all(np.isfinite(outputs)):
            raise overflowed("output", None, int(np.argmin(np.isfinite(outputs).all(axis=1))))
        if done:
            self._r, self._y = r, outputs[-1].copy()
        return outputs

    @property
    def feature_names(self) -> list[str] | None:
        """The columns of the inputs, where they are known."""
        return self._inputs.feature_names

    @property
    def output_names(self) -> list[str] | None:
        """The columns of the outputs, where they are known."""
        return self._inputs.output_names

    def copy(self) -> Stream:
        """An independent stream that stands where this one does."""
        return Stream(self.model, self.state, self.feature_names, self.output_names)

    def save(self, path: Any) -> None:
        """Write model and state to a safetensors file; ``eigenecho.load`` gives the stream back."""
        storage.save(path, self)

    def __reduce__(self) -> Any:
        return Stream, (self.model, self.state, self.feature_names, self.output_names)

    def __repr__(self) -> str:
        return f"Stream of {self.model!r}"
