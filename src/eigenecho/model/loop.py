"""Closed loops: a network driven by its own output.

    r ← r W + a B + y F,   y ← offset + y previous + r weightsᵀ

In ``predict`` the output comes back where the model has it, F = W_fb. In a free run it is the next
input too, F = W_in + W_fb.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from eigenecho import kernels
from eigenecho.scaling import Scaling
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array

if TYPE_CHECKING:
    from eigenecho.model.model import LinearModel
    from eigenecho.progress import Progress


def readout_rows(model: LinearModel, before: Array | None, states: Array) -> Array:
    """[1, y(t−1), r(t)] (T, N') in float64, the parts that the readout has."""
    parts = [states]
    if model.output_to_readout:
        assert before is not None
        parts.insert(0, before)
    if model.readout_bias:
        parts.insert(0, np.ones((len(states), 1)))
    return np.concatenate(parts, axis=1, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class ClosedLoop:
    """A model with its output fed back, in the network's own units.

    ``B`` (D, N) weighs what drives it from outside, ``F`` (D_out, N) the last output.
    """

    model: LinearModel
    B: Array
    F: Array

    @classmethod
    def of_output(cls, model: LinearModel) -> ClosedLoop:
        """Closed on y(t−1) where the model has it; the drive is [u, 1], as the reservoir has it."""
        reservoir = model.reservoir
        if reservoir.W_fb is None:
            return cls(model, reservoir.B, np.zeros((model.D_out, model.units), reservoir.dtype))
        return cls(model, reservoir.B[: -model.D_out], reservoir.W_fb)

    @classmethod
    def of_forecast(cls, model: LinearModel) -> ClosedLoop:
        """Closed on the first D_out inputs as well; the drive is [other inputs, 1] (or no 1).

        Where inputs and outputs are standardised differently, an output has to be carried over:
        u = (y σ_y + μ_y − μ_u) / σ_u.
        """
        reservoir, D, N = model.reservoir, model.D_out, model.units
        F = np.zeros((D, N)) if reservoir.W_fb is None else reservoir.W_fb.astype(np.float64)
        constant = np.zeros(N) if reservoir.bias is None else reservoir.bias.astype(np.float64)
        if model.D_in:
            u = model.inputs or Scaling.identity(model.D_in)
            y = model.outputs or Scaling.identity(D)
            own = reservoir.W_in[:D].astype(np.float64) / u.scale[:D, None]
            F = F + y.scale[:, None] * own
            constant = constant + (y.mean - u.mean[:D]) @ own
        rows = constant[None] if np.any(constant) else constant[:0]
        B = np.concatenate([reservoir.W_in[D:], rows.astype(reservoir.dtype).reshape(-1, N)])
        return cls(model, B, np.ascontiguousarray(F, reservoir.dtype))

    def run(self, drive: Array, r: Array, y: Array, progress: Progress | None = None) -> Array:
        """Outputs (T, D_out) under a drive (T, D); ``r`` and ``y`` move on in place."""
        out = np.empty((len(drive), y.size), r.dtype)
        closed_loop = kernels.backend(drive).closed_loop
        form, readout = self.model.reservoir.form, self.model.readout
        for rows in [slice(None)] if progress is None else progress.pieces(len(drive)):
            closed_loop(form, self.B, drive[rows], self.F, readout, r, y, out[rows])
        return out

    def rows(self, drive: Array, before: Array, r: Array) -> Array:
        """The readout's rows [1, y(t−1), r(t)] (T, N'), in float64, on outputs that are known.

        ``drive`` (T, D) and ``before`` (T, D_out), which holds y(t−1); ``r`` moves on in place.
        """
        reservoir, model = self.model.reservoir, self.model
        states = np.empty((len(before), model.units), reservoir.dtype)
        drive = np.concatenate([drive, before], axis=1, dtype=reservoir.dtype)
        kernels.scan(reservoir.form, np.concatenate([self.B, self.F]), drive, r, states)
        return readout_rows(model, before, states)

    def response_rows(self, response: Array) -> Array:
        """Rows (D_out, horizon − 1, N') that the answer to each unit output passes, j = 1 …

        Without the constant, which is no answer to anything.
        """
        reservoir, before = self.model.reservoir, response[:-1].astype(self.model.reservoir.dtype)
        loop, none = ClosedLoop(self.model, self.B[:0], self.F), np.zeros((len(before), 0))
        each = [loop.rows(none, before[:, i], reservoir.zero_state()) for i in range(len(self.F))]
        rows = np.stack(each)
        rows[:, :, : int(self.model.readout_bias)] = 0.0
        return rows

    def response(self, horizon: int) -> Array:
        """Ψ_0 … Ψ_{h−1}, (horizon, D_out, D_out): row i of Ψ_j answers, j steps on, to output i."""
        D, W_out = self.model.D_out, self.model.W_out.copy()
        W_out[: int(self.model.readout_bias)] = 0.0
        loop = ClosedLoop(replace(self.model, W_out=W_out), self.B[:0], self.F)
        rest = self.model.reservoir.zero_state()
        none, ones = np.zeros((horizon - 1, 0), rest.dtype), np.eye(D, dtype=rest.dtype)
        response = np.empty((horizon, D, D))
        response[0] = np.eye(D)
        for i in range(D):
            response[1:, i] = loop.run(none, rest.copy(), ones[i].copy())
        return response

    @one_blas_thread()
    def radius(self) -> float:
        """The radius of the network with its output fed back, which decides over growth.

        [r, y] ← [r, y] [[Λ, Λ W_r], [F, F W_r + W_y]]
        """
        W, F, readout = self.model.reservoir.transition.dense, self.F, self.model.readout
        W_r = readout.weights.T
        loop = np.block([[W, W @ W_r], [F, F @ W_r + readout.previous]])
        return float(np.abs(np.linalg.eigvals(loop)).max())
