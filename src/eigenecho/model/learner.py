"""Learning while running: a readout that follows the rows as they come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho import kernels, storage
from eigenecho.checks import check_count, check_shape
from eigenecho.errors import bad_argument, overflowed
from eigenecho.model.state import State, as_state
from eigenecho.model.step_inputs import StepInputs, on_one_thread
from eigenecho.readout import Penalty
from eigenecho.tensors import takes_tensors
from eigenecho.training import Learnt, RecursiveLeastSquares
from eigenecho.types import Array

if TYPE_CHECKING:
    from eigenecho.model.model import LinearModel


class Learner:
    """A model that learns while it runs, O(N'²) a step.

    After each row learnt, the readout is the one that a batch would give,

        argmin Σ_t λ^(T−t) ‖y(t) − x(t) w‖² + α ‖L (w − w₀)‖²,   x = [1, y(t−1), r(t)]

    with the forgetting factor λ and w₀ = 0, or the readout of a model that came without the data
    it was trained on. ``training.RecursiveLeastSquares`` does the learning.

    Made by ``LinearESN.learner`` and ``LinearModel.learner``: from what it knows (``learnt``), the
    penalty, α > 0 and λ in ]0, 1], the rows that are not learnt yet (``warmup``), and as a
    ``Stream`` is, from a state and the names of its columns.

    See Also
    --------
    eigenecho.model.Stream : runs without learning

    Examples
    --------
    >>> import eigenecho as ee
    >>> series = ee.tasks.mso(3, steps=400)
    >>> learner = ee.LinearESN(50, ridge=1e-6, seed=0).learner(n_inputs=1, n_outputs=1)
    >>> for u, y in zip(series[:-1], series[1:]):
    ...     predicted = learner.step(u, y)  # predicts, then learns
    >>> bool(abs(predicted - y).max() < 1e-2)
    True
    """

    def __init__(
        self,
        model: LinearModel,
        learnt: Learnt,
        penalty: Penalty,
        ridge: float,
        forgetting: float = 1.0,
        warmup: int = 0,
        state: State | None = None,
        feature_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
    ) -> None:
        check_count(warmup, "warmup")
        check_shape(learnt.centre, "centre", model.W_out.shape, ", as the model's")
        if penalty.free > model.readout_bias:
            raise bad_argument("free", penalty.free, "0: the model has no bias to leave free")
        self._model, self._wait = model, warmup
        self._squares = RecursiveLeastSquares(learnt, penalty, ridge, forgetting)
        self._inputs = StepInputs(model, feature_names, output_names)
        self._x = np.ones(len(model.W_out))
        self._advance = on_one_thread(model.reservoir, kernels.backend(self._x).step)
        self.state = model.zero_state() if state is None else state

    @property
    def state(self) -> State:
        """Where the network stands, as a copy: y is the last target, or output without one."""
        return State(self._r.copy(), self._y.copy())

    @state.setter
    def state(self, state: Any) -> None:
        r, y = as_state(self._model, state, "state")
        self._r, self._y = r.copy(), y.copy()

    @property
    def model(self) -> LinearModel:
        """The model as it is now, a value that later steps do not change."""
        W_out = np.ascontiguousarray(self._squares.weights.T, self._model.reservoir.dtype)
        return replace(self._model, W_out=W_out.copy())

    @property
    def forgetting(self) -> float:
        """λ."""
        return self._squares.forgetting

    @property
    def rows(self) -> int:
        """How many rows have been learnt while running."""
        return self._squares.rows

    @property
    def parts(self) -> tuple[Any, ...]:
        """What a learner is made of, in the order of its arguments."""
        squares = self._squares
        return (
            self._model,
            squares.learnt,
            squares.penalty,
            squares.ridge,
            squares.forgetting,
            self._wait,
            self.state,
            self._inputs.feature_names,
            self._inputs.output_names,
        )

    @takes_tensors
    def step(self, u: Any = None, target: Any = None) -> Array:
        """Take one input row (D_in,), return the output (D_out,), then learn the target.

        The output is that of the readout before it has seen ``target``. A closed loop runs on
        the targets given, on the model's own output where there was none. After an error the
        learner stands where it stood.
        """
        model, inputs, squares = self._model, self._inputs, self._squares
        inputs.take(u, None, self._y)
        r = self._r.copy()
        self._advance(model.reservoir.form, model.reservoir.B, inputs.drive, r)
        x = self._row(r)
        y = np.einsum("ei,i->e", squares.weights, x)
        if not np.all(np.abs(y) < np.finfo(r.dtype).max):
            inputs.check_finite(u, None)
            raise overflowed("output", None)
        output = last = model.to_user(y.astype(r.dtype))
        if target is not None:
            last = inputs.row(target, "target")
        if target is not None and not self._wait:
            squares.judge(x, r.dtype)
            squares.learn(x, model.from_user(last).astype(np.float64))
        else:
            self._wait -= target is not None
        self._r, self._y = r, last
        return output.copy()

    def _row(self, r: Array) -> Array:
        x, head = self._x, self._x.size - r.size
        x[head:] = r
        if self._model.output_to_readout:
            x[head - self._model.D_out : head] = self._inputs.before
        if self._model.readout_bias:
            x[0] = 1.0
        return x

    def copy(self) -> Learner:
        """An independent learner that stands where this one does and knows what it knows."""
        return Learner(*self.parts)

    def save(self, path: Any) -> None:
        """Write all of it to a safetensors file; ``eigenecho.load`` gives the learner back."""
        storage.save(path, self)

    def __reduce__(self) -> Any:
        return Learner, self.parts

    def __repr__(self) -> str:
        rows = self._squares.rows
        return f"Learner of {self._model!r}, forgetting={self.forgetting:g}, {rows} rows"
