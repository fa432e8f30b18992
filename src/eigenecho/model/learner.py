"""Online learning: a readout that is updated at every step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from eigenecho import kernels
from eigenecho.arrays import takes_tensors
from eigenecho.checks import check_range, check_shape
from eigenecho.errors import bad_argument, counted, overflowed
from eigenecho.files import Saved
from eigenecho.model.network import Network, State
from eigenecho.model.online import OnlineRun, on_one_thread
from eigenecho.readout import Penalty
from eigenecho.training import RecursiveLeastSquares, TrainingState
from eigenecho.types import Array, Count


class Learner(OnlineRun):
    """Model whose readout is updated at every step, in O(N'²) operations.

    After each row, the readout is the solution for all rows so far,

        argmin Σ_t λ^(T−t) ‖y(t) − x(t) w‖² + α ‖L (w − w₀)‖²,   x = [1, y(t−1), r(t)]

    where λ is the forgetting factor, and w₀ is 0, or the initial readout if the model has no
    training statistics. ``training.RecursiveLeastSquares`` computes the solution.

    Learners are created by ``LinearESN.learner`` and ``LinearModel.learner``. The parameters are a
    ``training_state``, the penalty, the ridge α > 0, the forgetting factor λ in (0, 1], the number
    of rows to skip before learning (``warmup``), and a state and column names as for a ``Stream``.

    See Also
    --------
    eigenecho.model.Stream : Runs without learning.

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
        model: Annotated[Network, Saved],
        training_state: TrainingState,
        penalty: Penalty,
        ridge: float,
        forgetting: float = 1.0,
        warmup: Count = 0,
        state: State | None = None,
        feature_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
    ) -> None:
        model.need_states("A learner")
        check_range(training_state.weights, "weights", model.reservoir.dtype)
        check_shape(training_state.centre, "centre", model.W_out.shape, ", like W_out of the model")
        if penalty.free > model.readout_bias:
            raise bad_argument("free", penalty.free, "0, because the model has no bias")
        self._warmup = warmup
        self._squares = RecursiveLeastSquares(training_state, penalty, ridge, forgetting)
        super().__init__(model, state, feature_names, output_names)
        self._x = np.ones(len(model.W_out))
        self._advance = on_one_thread(model.reservoir, kernels.backend(self._x).step)

    @property
    def model(self) -> Network:
        """The model with the current weights. Later steps do not change it."""
        W_out = np.ascontiguousarray(self._squares.weights.T, self._model.reservoir.dtype)
        return replace(self._model, W_out=W_out.copy())

    @property
    def forgetting(self) -> float:
        """Forgetting factor λ."""
        return self._squares.forgetting

    @property
    def rows(self) -> int:
        """Number of rows learned online."""
        return self._squares.rows

    def _parts(self) -> dict[str, Any]:
        names = "training_state", "penalty", "ridge", "forgetting"
        training = {name: getattr(self._squares, name) for name in names}
        return super()._parts() | training | {"warmup": self._warmup}

    @takes_tensors
    def step(self, u: Any = None, target: Any = None) -> Array:
        """Compute the output (D_out,) for an input row (D_in,), then learn the target.

        The output is computed before the readout learns ``target``. Feedback uses the last target,
        or the last output if there was no target. If a step fails, the learner is unchanged.
        """
        model, squares = self._model, self._squares
        self._fill(u, None)
        r = self._advance(model.reservoir.form, model.reservoir.B, self._drive, self._r)
        x, head = self._x, self._x.size - r.size
        x[head:] = r
        if model.output_to_readout:
            x[head - model.D_out : head] = self._before
        if model.readout_bias:
            x[0] = 1.0  # learning overwrites the row
        y = np.einsum("ei,i->e", squares.weights, x)
        if not np.all(np.abs(y) < np.finfo(r.dtype).max):
            self._check_inputs(u)
            raise overflowed("output", None)
        output = last = model.to_user(y.astype(r.dtype))
        if target is not None:
            last = self._finite_row(target, "target", model.D_out, self.output_names)
            if self._warmup:
                self._warmup -= 1
            else:
                squares.judge(x, r.dtype)
                squares.learn(x, model.from_user(last).astype(np.float64))
        self._r, self._y = r, last
        return output.copy()

    def __repr__(self) -> str:
        rows = counted(self.rows, "row")
        return f"Learner of {self._model!r}, forgetting={self.forgetting:g}, {rows}"
