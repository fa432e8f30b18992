"""A model as the system that is made smaller, and the model of what is left.

A constant drives the reservoir to a state of rest, r∞ = bias (I − Λ)⁻¹, and d = r − r∞ knows of it
no more:

    d(t) = d(t−1) Λ + u(t) W_in + y(t−1) W_fb,   y(t) = [1, y(t−1), d(t)] W_out + r∞ C,   d(0) = −r∞

So a bias is one impulse before the first step, by an input column r∞, and r∞ C is kept as it is:
the gain of the constant is exact, whatever is cut.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from eigenecho import kernels
from eigenecho.reduction import Balanced, Smaller, System, balance
from eigenecho.reservoir import Reservoir
from eigenecho.transition import Diagonal
from eigenecho.types import Array

if TYPE_CHECKING:
    from eigenecho.model.model import LinearModel


@dataclass(frozen=True, eq=False)
class Plant:
    """A model in double precision, between [u, y(t−1)] (and r∞) and its outputs over ``scale``.

    ``rest`` is r∞ (N,), None without a bias.
    """

    model: LinearModel
    system: System
    rest: Array | None
    scale: Array

    @classmethod
    def of(cls, model: LinearModel, scale: Array | None = None) -> Plant:
        """Of any diagonal model; ``scale`` (D_out,) is what each output is measured in."""
        reservoir = model.reservoir.in_double()
        double = replace(model, reservoir=reservoir, W_out=model.W_out.astype(np.float64))
        scale = np.ones(model.D_out) if scale is None else scale
        inputs = [reservoir.W_in]
        if reservoir.W_fb is not None:
            inputs.append(reservoir.W_fb)
        C = double.readout.weights.T / scale
        rest = None
        if reservoir.bias is not None:
            rest = System(reservoir.spectrum, reservoir.bias[None], C).steady[0]
            inputs.append(rest[None])
        system = System(reservoir.spectrum, np.concatenate(inputs), C)
        return cls(double, system, rest, scale)

    @property
    def drives(self) -> int:
        """How many of the system's inputs are columns of a series."""
        return len(self.system.B) - (self.rest is not None)

    @property
    def inputs(self) -> Array:
        """Where they stand in a drive [u, 1, y(t−1)]."""
        columns = np.arange(len(self.model.reservoir.B))
        return columns if self.rest is None else np.delete(columns, self.model.D_in)

    @cached_property
    def minimal(self) -> Balanced:
        """All states that a white drive reaches and outputs tell of, balanced."""
        return balance(self.system, lambda: [self.system.reachability.T])

    def outputs(self, drive: Array) -> Array:
        """Outputs (T, D_out) from zero, but for the part of y(t−1) in the readout."""
        reservoir, readout = self.model.reservoir, self.model.readout
        out = np.empty((len(drive), self.model.D_out))
        state = reservoir.zero_state()
        kernels.outputs(reservoir.form, reservoir.B, drive, readout.weights, state, out)
        return out + readout.offset

    def with_modes(self, found: Smaller) -> LinearModel:
        """The model with the modes that are left, and the offset that keeps a constant's gain."""
        model, spectrum = self.model, found.system.spectrum
        old, C = model.reservoir, found.system.C * self.scale
        W_in, _, W_fb = old.weights(lambda A: A @ found.states)
        bias, head = None, model.W_out[: len(model.W_out) - model.units]
        if self.rest is not None:
            rest = self.rest @ found.states
            bias = rest - found.system.advanced(rest)
            offset = self.rest @ model.readout.weights.T - rest @ C
            if not model.readout_bias:
                head = np.concatenate([np.zeros((1, model.D_out)), head])
            head = np.concatenate([head[:1] + offset, head[1:]])
        return replace(
            model,
            reservoir=Reservoir(Diagonal(spectrum), W_in, bias, W_fb),
            W_out=np.concatenate([head, C]),
            readout_bias=model.readout_bias or self.rest is not None,
            basis=None,
            certificate=None,
        )


def in_dtype(model: LinearModel, dtype: np.dtype) -> LinearModel:
    """A model with weights of a dtype."""
    reservoir = model.reservoir
    weights = reservoir.weights(lambda A: A.astype(dtype))
    cast = Reservoir(reservoir.transition, *weights)
    return replace(model, reservoir=cast, W_out=np.ascontiguousarray(model.W_out, dtype))
