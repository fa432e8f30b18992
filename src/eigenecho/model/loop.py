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
from eigenecho.reservoir import Reservoir
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
    """A network with its output fed back, in its own units.

    ``B`` (D, N) weighs what drives it from outside, ``F`` (D_out, N) the last output.
    """

    reservoir: Reservoir
    readout: kernels.Readout
    B: Array
    F: Array

    @classmethod
    def of_output(cls, model: LinearModel) -> ClosedLoop:
        """Closed on y(t−1) where the model has it; the drive is [u, 1], as the reservoir has it."""
        reservoir, D = model.reservoir, model.D_out
        if reservoir.W_fb is None:
            F = np.zeros((D, reservoir.units), reservoir.dtype)
            return cls(reservoir, model.readout, reservoir.B, F)
        return cls(reservoir, model.readout, reservoir.B[:-D], reservoir.W_fb)

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
        return cls(reservoir, model.readout, B, np.ascontiguousarray(F, reservoir.dtype))

    def run(self, drive: Array, r: Array, y: Array, progress: Progress | None = None) -> Array:
        """Outputs (T, D_out) under a drive (T, D); ``r`` and ``y`` move on in place."""
        out = np.empty((len(drive), y.size), r.dtype)
        closed_loop = kernels.backend(drive).closed_loop
        form, readout = self.reservoir.form, self.readout
        for rows in [slice(None)] if progress is None else progress.pieces(len(drive)):
            closed_loop(form, self.B, drive[rows], self.F, readout, r, y, out[rows])
        return out

    def states(self, drive: Array, before: Array, r: Array) -> Array:
        """The states (T, N) on outputs that are known.

        ``drive`` (T, D) and ``before`` (T, D_out), which holds y(t−1); ``r`` moves on in place.
        """
        states = np.empty((len(before), self.reservoir.units), self.reservoir.dtype)
        drive = np.concatenate([drive, before], axis=1, dtype=self.reservoir.dtype)
        kernels.scan(self.reservoir.form, np.concatenate([self.B, self.F]), drive, r, states)
        return states

    def response_states(self, response: Array) -> Array:
        """States (D_out, horizon − 1, N) that the answer to each unit output passes, j = 1 …"""
        loop, before = replace(self, B=self.B[:0]), response[:-1].astype(self.F.dtype)
        none, rest = np.zeros((len(before), 0)), self.reservoir.zero_state
        return np.stack([loop.states(none, before[:, i], rest()) for i in range(len(self.F))])

    def response(self, horizon: int) -> Array:
        """Ψ_0 … Ψ_{h−1}, (horizon, D_out, D_out): row i of Ψ_j answers, j steps on, to output i."""
        readout = self.readout._replace(offset=np.zeros_like(self.readout.offset))
        loop = replace(self, readout=readout, B=self.B[:0])
        unit = np.eye(len(self.F), dtype=self.F.dtype)
        none = np.zeros((horizon - 1, 0), self.F.dtype)
        response = np.empty((horizon, *unit.shape))
        response[0] = unit
        for i, y in enumerate(unit):
            response[1:, i] = loop.run(none, self.reservoir.zero_state(), y)
        return response

    @one_blas_thread()
    def radius(self) -> float:
        """The radius of the network with its output fed back, which decides over growth.

        [r, y] ← [r, y] [[Λ, Λ W_r], [F, F W_r + W_y]]
        """
        W, F, W_r = self.reservoir.transition.dense, self.F, self.readout.weights.T
        loop = np.block([[W, W @ W_r], [F, F @ W_r + self.readout.previous]])
        return float(np.abs(np.linalg.eigvals(loop)).max())
