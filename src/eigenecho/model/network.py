"""Trained networks as values: a reservoir, its readout, and the units of inputs and outputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from eigenecho import kernels
from eigenecho.arrays import read_only
from eigenecho.basis import Basis, DrawnBasis
from eigenecho.checks import check_flag, check_range, check_real, check_shape
from eigenecho.errors import Words, bad_argument
from eigenecho.files import NOT_STORED
from eigenecho.model.certificate import Certificate, Reduction
from eigenecho.readout import Penalty
from eigenecho.reservoir import Reservoir
from eigenecho.scaling import OutputRange, Scaling
from eigenecho.spectra import Spectrum
from eigenecho.training import AbstractProblem, Problem, drop_unweighted, fill_missing
from eigenecho.transition import Diagonal
from eigenecho.types import Array, brief_repr, rebuilt


class State(NamedTuple):
    """State of a network: reservoir state ``r`` (N,) and last output ``y`` (D_out,).

    See Also
    --------
    eigenecho.LinearESN : ``final_state_`` is the state at the end of training.

    Examples
    --------
    >>> import eigenecho as ee
    >>> series = ee.tasks.mso(3, steps=400)
    >>> esn = ee.LinearESN(50, warmup=50, ridge=1e-10, seed=0).fit(series[:-1], series[1:])
    >>> state = esn.final_state_
    >>> state.r.shape, state.y.shape
    ((50,), (1,))
    """

    r: Array
    y: Array

    def __repr__(self) -> str:
        return brief_repr(self)


@dataclass(frozen=True, eq=False, repr=False)
class Network:
    """Value of a trained network, with its shapes and units; the functions of this package use it.

    ``LinearModel`` documents the fields.
    """

    reservoir: Reservoir
    W_out: Array
    readout_bias: bool = True
    output_to_readout: bool = False
    basis: Basis | DrawnBasis | None = None
    inputs: Scaling | None = None
    outputs: Scaling | None = None
    certificate: Certificate | Reduction | None = None
    output_range: OutputRange | None = None
    device: str | None = field(default=None, metadata=NOT_STORED)

    __reduce__ = rebuilt

    def __post_init__(self) -> None:
        flags = self.readout_bias, self.output_to_readout
        object.__setattr__(self, "readout_bias", check_flag(flags[0], "readout_bias"))
        object.__setattr__(self, "output_to_readout", check_flag(flags[1], "output_to_readout"))
        if np.ndim(self.W_out) != 2 or np.shape(self.W_out)[1] < 1:
            raise bad_argument("W_out", Words(f"shape {np.shape(self.W_out)}"), "shape (N', D_out)")
        check_real(self.W_out, "W_out")
        if self.W_out.dtype not in (np.float32, np.float64):
            object.__setattr__(self, "W_out", self.W_out.astype(np.float64))
        object.__setattr__(self, "W_out", read_only(self.W_out))
        size = self.readout_bias + self.output_to_readout * self.D_out + self.reservoir.columns
        check_shape(self.W_out, "W_out", (size, self.D_out))
        if self.reservoir.W_fb is not None:
            shape = self.D_out, self.units
            check_shape(self.reservoir.W_fb, "W_fb", shape, ", one row for each output")
        transition, basis = self.reservoir.transition, self.basis
        if basis is not None:
            n_real = transition.modes.real.size if isinstance(transition, Diagonal) else None
            if (basis.units, basis.n_real) != (self.units, n_real):
                raise bad_argument("basis", basis, f"a basis of {transition!r}")
        for name, columns in (("inputs", self.D_in), ("outputs", self.D_out)):
            scaling = getattr(self, name)
            if scaling is not None:
                check_shape(scaling.mean, name, (columns,), ", one number for each column")
        if self.output_range is not None:
            for name, bound in self.output_range._asdict().items():
                check_shape(bound, name, (self.D_out,), ", one number for each output")

    def check(self) -> None:
        """Raise if numbers from a file are outside the range of the model's dtype."""
        check_range(self.W_out, "W_out", self.reservoir.dtype)
        for name, scaling in (("inputs", self.inputs), ("outputs", self.outputs)):
            if scaling is not None:
                check_range(scaling.mean, name, self.reservoir.dtype)
                check_range(scaling.scale, name, self.reservoir.dtype)

    @classmethod
    def of(cls, problem: AbstractProblem, weights: Array) -> Self:
        """Return the network of a training problem with trained weights (N', D_out)."""
        return cls(
            problem.reservoir,
            np.ascontiguousarray(weights, problem.reservoir.dtype),
            problem.fit_bias,
            problem.output_to_readout,
            problem.basis,
            *problem.scalings,
            output_range=problem.output_range,
        )

    def problem(
        self,
        inputs: list[Array],
        outputs: list[Array],
        penalty: Penalty,
        starts: list[Any],
        row_weights: list[Array] | None = None,
    ) -> Problem:
        """Return a problem that trains this network on further series, in the caller's units."""
        targets, observed = fill_missing([self.from_user(y) for y in outputs])
        return Problem(
            reservoir=self.reservoir,
            penalty=penalty,
            fit_bias=self.readout_bias,
            output_to_readout=self.output_to_readout,
            basis=self.basis,
            scalings=(self.inputs, self.outputs),
            inputs=[self.own_inputs(u) for u in inputs],
            outputs=targets,
            starts=[None if s is None else (s.r, self.from_user(np.asarray(s.y))) for s in starts],
            observed=drop_unweighted(targets, observed, row_weights),
            row_weights=row_weights,
        )

    @property
    def units(self) -> int:
        """Number of units, N."""
        return self.reservoir.units

    @property
    def D_in(self) -> int:
        """Number of input columns."""
        return len(self.reservoir.W_in)

    @property
    def D_out(self) -> int:
        """Number of output columns."""
        return int(np.shape(self.W_out)[1])

    @property
    def is_diagonal(self) -> bool:
        """True if the transition is diagonal, so that a step costs O(N)."""
        return isinstance(self.reservoir.transition, Diagonal)

    @property
    def closed(self) -> bool:
        """True if the output is fed back to the reservoir or the readout."""
        return self.reservoir.W_fb is not None or self.output_to_readout

    @property
    def can_forecast(self) -> bool:
        """True if outputs can be used as the first inputs, or if feedback is the only input."""
        return self.D_in >= self.D_out or (self.D_in == 0 and self.closed)

    def need_states(self, what: str) -> None:
        """Raise if the readout uses features, which do not support ``what``."""
        if self.reservoir.features is not None:
            raise ValueError(f"{what} is not supported with features or a delay line.")

    @cached_property
    def readout(self) -> kernels.Readout:
        """Parts of W_out, as the kernels use them."""
        W_out = np.asarray(self.W_out, self.reservoir.dtype)
        D = self.D_out
        head = int(self.readout_bias)
        tail = head + D * self.output_to_readout
        return kernels.Readout(
            W_out[0].copy() if head else np.zeros(D, W_out.dtype),
            W_out[head:tail].copy() if tail > head else np.zeros((D, D), W_out.dtype),
            W_out[tail:].T.copy(order="C"),
            self.reservoir.feature_form,
        )

    @property
    def spectrum(self) -> Spectrum:
        """Eigenvalues, including the leak."""
        return self.reservoir.spectrum

    @property
    def effective_radius(self) -> float:
        """Spectral radius, including the leak."""
        return self.reservoir.spectrum.radius

    def zero_state(self) -> State:
        """Return the initial state, r(0) = 0 and y(0) = 0 in the units of the network."""
        y = np.zeros(self.D_out, self.reservoir.dtype)
        return State(self.reservoir.zero_state(), self.to_user(y))

    def from_user(self, y: Array) -> Array:
        """Convert outputs from the caller's units to those of the network."""
        return y if self.outputs is None else self.outputs.forward(y)

    def to_user(self, y: Array) -> Array:
        """Convert outputs from the units of the network to those of the caller."""
        return y if self.outputs is None else self.outputs.backward(y)

    def covariance_to_user(self, covariance: Array) -> Array:
        """Convert a covariance of outputs to the caller's units."""
        if self.outputs is None:
            return covariance
        scale = self.outputs.scale
        with np.errstate(over="ignore"):
            squares = np.outer(scale, scale)
            if np.all(np.isfinite(squares)):
                return covariance * squares
            return covariance * scale[:, None] * scale

    def own_inputs(self, u: Array) -> Array:
        """Convert inputs from the caller's units to those of the network."""
        return u if self.inputs is None else self.inputs.forward(u)

    def need_basis(self) -> Basis:
        """Return the eigenbasis, or raise an error if there is none."""
        if self.basis is None:
            raise ValueError(
                "The neuron basis is unknown: a named spectrum requires penalty='neuron', and "
                "reduced networks have no neuron basis. Use basis='work'."
            )
        return self.basis
