"""Conversion of a model to a linear system, and of a reduced system to a model.

A constant bias drives the reservoir to a steady state r∞ = bias (I − Λ)⁻¹. The deviation
d = r − r∞ does not depend on the bias:

    d(t) = d(t−1) Λ + u(t) W_in + y(t−1) W_fb,   y(t) = [1, y(t−1), d(t)] W_out + r∞ C,   d(0) = −r∞

So a bias is equivalent to an impulse before the first step, through an input column r∞. The offset
r∞ C is not changed, so the gain of the constant is exact for any truncation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from eigenecho.model.network import Network
from eigenecho.reduction import BalancedSystem, System, TruncatedSystem, balance
from eigenecho.reservoir import Reservoir
from eigenecho.transition import Diagonal
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class StateSpace:
    """Linear system of a model in double precision, from [u, y(t−1), impulse] to y / scale.

    ``rest`` is r∞ (N,), or None without a bias. ``scale`` (D_out,) is the unit of each output, and
    ``dtype`` is that of the original model.
    """

    model: Network
    dtype: np.dtype
    system: System
    rest: Array | None
    scale: Array

    @classmethod
    def of(cls, model: Network, scale: Array | None = None) -> StateSpace:
        """Return the system of a diagonal model. ``scale`` is 1 by default."""
        reservoir = model.reservoir.in_double()
        double = replace(model, reservoir=reservoir, W_out=model.W_out.astype(np.float64))
        scale = np.ones(model.D_out) if scale is None else scale
        inputs = [W for W in (reservoir.W_in, reservoir.W_fb) if W is not None]
        C = double.readout.weights.T / scale
        rest = None
        if reservoir.bias is not None:
            rest = System(reservoir.spectrum, reservoir.bias[None], C).steady[0]
            inputs.append(rest[None])
        return cls(
            double,
            model.reservoir.dtype,
            System(reservoir.spectrum, np.concatenate(inputs), C),
            rest,
            scale,
        )

    @property
    def n_inputs(self) -> int:
        """Number of inputs of the system without the impulse of the bias."""
        return len(self.system.B) - (self.rest is not None)

    @cached_property
    def balanced(self) -> BalancedSystem:
        """Balanced system of the states that a white drive reaches and that affect the outputs."""
        return balance(self.system, lambda: [self.system.reachability.T])

    def outputs(self, drive: Array) -> Array:
        """Compute outputs (T, D_out) from a zero state, without the term y(t−1) of the readout."""
        reservoir, readout = self.model.reservoir, self.model.readout
        out = np.empty((len(drive), self.model.D_out))
        reservoir.read_out(readout.weights, drive, None, out)
        return out + readout.offset

    def with_modes(self, reduced: TruncatedSystem) -> Network:
        """Return a model of the smaller system, with the original dtype and gain of constants."""
        model, C = self.model, reduced.system.C * self.scale
        W_in, _, W_fb = model.reservoir.weights(lambda A: A @ reduced.states)
        W_in = W_in.astype(self.dtype)
        bias, head = None, model.W_out[: len(model.W_out) - model.units]
        if self.rest is not None:
            rest = self.rest @ reduced.states
            bias = rest - reduced.system.advanced(rest)
            offset = self.rest @ model.readout.weights.T - rest @ C
            if not model.readout_bias:
                head = np.concatenate([np.zeros((1, model.D_out)), head])
            head = np.concatenate([head[:1] + offset, head[1:]])
        return replace(
            model,
            reservoir=Reservoir(Diagonal(reduced.system.spectrum), W_in, bias, W_fb),
            W_out=np.concatenate([head, C]).astype(self.dtype),
            readout_bias=model.readout_bias or self.rest is not None,
            basis=None,
            certificate=None,
        )
