"""Online runs: one step or several rows at a time, with explicit state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from eigenecho import kernels
from eigenecho.arrays import is_tensor, takes_tensors
from eigenecho.errors import overflowed
from eigenecho.files import Saved
from eigenecho.model.network import Network, State
from eigenecho.model.online import OnlineRun, check_labels, on_one_thread
from eigenecho.model.predict import check_finite, previous_outputs
from eigenecho.scaling import Scaling
from eigenecho.series import Container, as_rows
from eigenecho.tables import column_labels
from eigenecho.types import Array


class Stream(OnlineRun):
    """Model that processes one row at a time, in O(N) operations.

    Streams of the same model are independent of each other. The outputs are bit-identical for the
    same model, state and inputs: a stream that was copied, or saved and loaded in another process,
    continues like the original. They agree with ``predict`` up to rounding errors, because the
    order of summation differs.

    Parameters
    ----------
    model : LinearModel
        Network that computes the outputs.
    state : State, optional
        Initial state, zero by default.
    feature_names, output_names : list of str, optional
        Names of the columns. If rows have labels, these must equal the names, in this order.

    See Also
    --------
    eigenecho.model.Learner : Also learns at every step.

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
        model: Annotated[Network, Saved],
        state: State | None = None,
        feature_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(model, state, feature_names, output_names)
        reservoir = model.reservoir
        self._next = np.empty_like(self._r), np.empty_like(self._y)
        self._weights = reservoir.form, reservoir.B, self._drive, model.readout
        # The readout of a sparse network may not see states that overflow.
        self._hides_states = reservoir.transition.leaves_zeros_out
        compiled = kernels.backend(self._r, reservoir.feature_form)
        self._step = on_one_thread(reservoir, compiled.step_readout)
        self._run = on_one_thread(reservoir, compiled.run_readout)

    @property
    def model(self) -> Network:
        """The network of the stream."""
        return self._model

    def step(self, u: Any = None, *, y_previous: Any = None) -> Array:
        """Return the output (D_out,) for an input row (D_in,).

        A row may also be a pandas Series, a frame of one row or a dict. Its labels must equal the
        columns that the model was fitted on, in the same order, as in ``predict``. A model with
        feedback uses ``y_previous`` if it is given, and its last output otherwise. If a step fails,
        the stream is unchanged.
        """
        if not isinstance(u, np.ndarray) and (is_tensor(u) or is_tensor(y_previous)):
            return self._step_with_tensors(u, y_previous)
        r, y = self._next
        self._fill(u, y_previous)
        if not self._step(*self._weights, self._before, self._r, r, y):
            self._check_inputs(u, y_previous)
            raise overflowed("output", None)
        if self._hides_states and not np.all(np.isfinite(r)):
            raise overflowed("states", None)
        output = self._model.to_user(y)
        if self._model.outputs is not None and not np.all(np.isfinite(output)):
            raise overflowed("output", None)
        self._next = self._r, self._y
        self._r, self._y = r, output
        return output.copy()

    @takes_tensors
    def _step_with_tensors(self, u: Any, y_previous: Any) -> Array:
        return self.step(u, y_previous=y_previous)

    @takes_tensors
    def run(self, rows: Any, *, y_previous: Any = None) -> Array:
        """Return the outputs (T, D_out) for input rows (T, D_in), bit-identical to T steps.

        Row t of ``y_previous`` (T, D_out) replaces the output of step t−1. If a step fails, the
        stream is unchanged.
        """
        model, reservoir = self._model, self._model.reservoir
        check_labels("rows", column_labels(rows), self.feature_names)
        check_labels("y_previous", column_labels(y_previous), self.output_names)
        u = as_rows(rows, "rows", model.D_in, reservoir.dtype)
        (previous,) = previous_outputs(model, y_previous, [u], Container())
        before = np.zeros((len(u), model.D_out), reservoir.dtype)
        loop = None
        if previous is not None:
            before[:] = model.from_user(previous)
        elif self._closed and len(u):
            before[0] = model.from_user(self._y)
            scaling = model.outputs or Scaling.identity(model.D_out)
            bound = np.full(model.D_out, np.inf)
            loop = kernels.Feedback(self._start, scaling.mean, scaling.scale, -bound, bound)
        drive = reservoir.drive(model.own_inputs(u), before)
        out, r = self._run(reservoir.form, reservoir.B, drive, model.readout, before, loop, self._r)
        if len(out) < len(u):
            raise overflowed("output", None, len(out))
        if self._hides_states and not np.all(np.isfinite(r)):
            raise overflowed("states", None)
        outputs = model.to_user(out)
        check_finite(model, outputs)
        if len(out):
            self._r, self._y = r, outputs[-1].copy()
        return outputs

    def __repr__(self) -> str:
        return f"Stream of {self._model!r}"
