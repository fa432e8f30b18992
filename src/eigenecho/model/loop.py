"""Closed loops: a network driven by its own output.

    r ← r W + a B + y F,   y ← offset + y previous + r weightsᵀ

In ``predict``, the output is fed back only by the model's feedback, F = W_fb. In a forecast, it is
also the next input, F = W_in + W_fb.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from eigenecho import kernels
from eigenecho.model.network import Network
from eigenecho.progress import Progress
from eigenecho.reservoir import Reservoir
from eigenecho.rows import assemble
from eigenecho.scaling import Scaling
from eigenecho.threads import one_blas_thread
from eigenecho.training.training_series import readout_head
from eigenecho.types import Array

MAPPED = 1 << 22
"""Maximum number of entries of a map in memory at a time."""


def readout_rows(model: Network, before: Array | None, states: Array) -> Array:
    """Return the rows [1, y(t−1), r(t)] (T, N') of the readout, in float64."""
    previous = before if model.output_to_readout else None
    head = readout_head(states, model.readout_bias, previous)
    return assemble(head, [model.reservoir.observe(states)])


@dataclass(frozen=True, eq=False)
class ClosedLoop:
    """A network with its output fed back, in its own units.

    ``B`` (D, N) are the weights of external drives, and ``F`` (D_out, N) those of the last output.
    """

    reservoir: Reservoir
    readout: kernels.Readout
    B: Array
    F: Array

    @classmethod
    def of_output(cls, model: Network) -> ClosedLoop:
        """Return the loop through the model's feedback; the drive is [u, 1] or [u]."""
        reservoir, D = model.reservoir, model.D_out
        if reservoir.W_fb is None:
            F = np.zeros((D, reservoir.units), reservoir.dtype)
            return cls(reservoir, model.readout, reservoir.B, F)
        return cls(reservoir, model.readout, reservoir.B[:-D], reservoir.W_fb)

    @classmethod
    def of_forecast(cls, model: Network) -> ClosedLoop:
        """Return the loop through the first D_out inputs as well; the drive is [other inputs, 1].

        The constant is omitted if its weights are 0. If inputs and outputs are standardised
        differently, outputs are converted: u = (y σ_y + μ_y − μ_u) / σ_u.
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

    def constant_drive(self, known: Array) -> Array:
        """Return the drive of a forecast: known inputs (T, D_known), and 1 if the loop uses it."""
        drive = known.astype(self.reservoir.dtype)
        if len(self.B) == drive.shape[1]:
            return drive
        return np.concatenate([drive, np.ones((len(drive), 1), drive.dtype)], axis=1)

    def run(
        self,
        drive: Array,
        r: Array,
        y: Array,
        progress: Progress | None = None,
        bounds: tuple[Array, Array] | None = None,
        clip: bool = False,
        noise: Array | None = None,
    ) -> tuple[Array, Array]:
        """Return outputs (T, D_out) for a drive (T, D), and the last state.

        A readout of features may have ``bounds``. From the first output outside the bounds on,
        outputs are NaN, unless they are clipped. ``noise`` (T, D_out) is added to the outputs.
        """
        out = np.empty((len(drive), y.size), r.dtype)
        closed_loop = kernels.backend(drive).run_closed_loop
        form, readout = self.reservoir.form, self.readout
        is_plain = isinstance(form, kernels.DiagonalForm) and readout.features is None
        for rows in (progress or Progress()).pieces(len(drive)):
            added = None if noise is None else noise[rows]
            if is_plain:
                out[rows], r = closed_loop(form, self.B, drive[rows], self.F, readout, r, y, added)
            else:
                out[rows], r = self._run_steps(drive[rows], r, y, bounds, clip, added)
            y = out[rows.stop - 1] if len(out) else y
        return out, r

    def _run_steps(
        self,
        drive: Array,
        r: Array,
        y: Array,
        bounds: tuple[Array, Array] | None,
        clip: bool,
        noise: Array | None,
    ) -> tuple[Array, Array]:
        """Return outputs, with NaN after the last valid one, and the last state."""
        low, high = bounds or (np.full(y.size, -np.inf), np.full(y.size, np.inf))
        loop = kernels.Feedback(drive.shape[1], np.zeros(y.size), np.ones(y.size), low, high, clip)
        before = np.tile(y, (len(drive), 1))
        columns = np.concatenate([drive, before], axis=1, dtype=r.dtype)
        B = np.concatenate([self.B, self.F])
        run = kernels.backend(drive, self.readout.features).run_readout
        with np.errstate(over="ignore", invalid="ignore"):  # the run ends there
            arguments = self.reservoir.form, B, columns, self.readout, before, loop, r
            valid, r = run(*arguments, noise)
        out = np.full((len(drive), y.size), np.nan, r.dtype)
        out[: len(valid)] = valid
        return out, r

    def states(self, drive: Array, before: Array, r: Array | None = None) -> Array:
        """Return states (T, N) for known outputs, from the state ``r``, by default zero.

        ``drive`` is (T, D), and ``before`` (T, D_out) contains y(t−1).
        """
        reservoir = self.reservoir
        drive = np.concatenate([drive, before], axis=1, dtype=reservoir.dtype)
        r = reservoir.zero_state() if r is None else r
        return kernels.scan(reservoir.form, np.concatenate([self.B, self.F]), drive, r)[0]

    def maps(self, horizon: int) -> Iterator[tuple[Array, Array, Array]]:
        """Yield the maps O_h of y(h+1) = [1, z, r(1)] O_h for h < horizon, several at a time.

        W must be diagonal. A loop with a constant drive k is affine in its initial state: with the
        first state r(1) = r(0) W + y(0) F + k and z = offset + y(0) previous,

            y(h+1) = c_h + z P_h + r(1) g_h,   c_h+1 = c_h + offset P_h + k g_h
            P_h+1 = previous P_h + F g_h,      g_h+1 = W g_h + weightsᵀ P_h+1

        starting with P_0 = I, g_0 = weightsᵀ and c_0 = 0. So P are the outputs and g the states of
        the transposed loop, in which weights and F are swapped. The arrays for n steps have shapes
        (n D,), (D, n D) and (N, n D).
        """
        D, N = self.F.shape
        offset, previous, w = (np.asarray(part, np.float64) for part in self.readout[:3])
        form, F = self.reservoir.transition.form(), np.asarray(self.F, np.float64)
        assert isinstance(form, kernels.DiagonalForm)
        form = form._replace(im=-form.im)  # Wᵀ
        turned = kernels.Readout(np.zeros(D), np.ascontiguousarray(previous.T), F)
        constant, none = self.B.sum(axis=0, dtype=np.float64), np.zeros((0, N))
        y, total = np.eye(D), np.zeros((D, 1))
        r, g = np.zeros((D, N)), np.zeros((D, N))
        most = max(1, MAPPED // (N * D))
        closed_loop = kernels.backend(y).run_closed_loop
        for first in range(0, horizon, most):
            n = min(most, horizon - first)
            P, G = np.empty((D, n + 1, D)), np.empty((D, n, N))
            P[:, 0] = y
            for e in range(D):
                drive = np.zeros((n, 0))
                P[e, 1:], r[e] = closed_loop(form, none, drive, w, turned, r[e], P[e, 0])
                G[e], g[e] = kernels.scan(form, w, P[e, :n], g[e])
            y = P[:, n]
            sums = total + np.cumsum(P[:, :n] @ offset + G @ constant, axis=1)
            c = np.concatenate([total, sums[:, :-1]], axis=1)
            total = sums[:, -1:]
            columns = (c.T.reshape(-1), *(A.transpose(2, 1, 0) for A in (P[:, :n], G)))
            yield columns[0], columns[1].reshape(D, -1), columns[2].reshape(N, -1)

    @one_blas_thread()
    def radius(self) -> float:
        """Compute the spectral radius of the closed loop; outputs grow if it exceeds 1.

        [r, y] ← [r, y] [[Λ, Λ W_r], [F, F W_r + W_y]],   W_r = weightsᵀ,   W_y = previous
        """
        W, F, W_r = self.reservoir.transition.dense, self.F, self.readout.weights.T
        loop = np.block([[W, W @ W_r], [F, F @ W_r + self.readout.previous]])
        return float(np.abs(np.linalg.eigvals(loop)).max())
