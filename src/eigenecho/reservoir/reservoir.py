"""The reservoir: a transition and what drives it, as an immutable value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eigenecho import kernels
from eigenecho.basis import Cascade, matrix_at_work
from eigenecho.errors import bad_argument
from eigenecho.kernels import Form
from eigenecho.reservoir.transition import check_matrix, is_matrix
from eigenecho.spectra import Spectrum, from_matrix
from eigenecho.types import Array

FINITE_CHUNK = 1 << 16
"""States that are looked at in one go, still in cache."""


@dataclass(frozen=True, eq=False)
class Reservoir:
    """r(t) = r(t−1) W + u(t) W_in + bias + y(t−1) W_fb, in the basis at work.

    The leaking rate is already in all of it: W' = lr W + (1 − lr) I, and lr times the rest.

    Parameters
    ----------
    transition : Spectrum, Cascade, array (N, N) or scipy sparse matrix (N, N)
        W: its eigenvalues when the basis is the eigenbasis, a dense block that drives eigenvalues
        where only part of W has one, else the matrix.
    W_in : array (D_in, N)
    bias : array (N,), optional
    W_fb : array (D_out, N), optional
    """

    transition: Any
    W_in: Array
    bias: Array | None = None
    W_fb: Array | None = None

    def __post_init__(self) -> None:
        if is_matrix(self.transition):
            check_matrix(self.transition, "transition")
            if self.transition.dtype not in (np.float32, np.float64):
                object.__setattr__(self, "transition", self.transition.astype(np.float64))
        N = self.units
        for name, shape in (("W_in", (None, N)), ("bias", (N,)), ("W_fb", (None, N))):
            value = getattr(self, name)
            if value is None:
                continue
            if not _fits(np.shape(value), shape):
                wanted = str(shape).replace("None", "D")
                raise bad_argument(name, f"<shape {np.shape(value)}>", f"shape {wanted}")
            value = np.asarray(value)
            if value.dtype.kind not in "fiub":
                raise bad_argument(name, f"<dtype {value.dtype}>", "real numbers")
            # W_in comes first: the others are in its dtype, which is that of states.
            dtype = value.dtype if name == "W_in" else self.W_in.dtype
            if dtype not in (np.float32, np.float64):
                dtype = np.dtype(np.float64)
            if value.dtype != dtype:
                with np.errstate(over="ignore"):  # what leaves the range is not finite below
                    value = value.astype(dtype)
            object.__setattr__(self, name, value)
            if not np.all(np.isfinite(value)):
                raise bad_argument(name, "<NaN or Inf>", "finite numbers")

    @property
    def units(self) -> int:
        """N."""
        if isinstance(self.transition, (Spectrum, Cascade)):
            return self.transition.units
        return int(self.transition.shape[0])

    @property
    def dtype(self) -> np.dtype:
        """The dtype of states: that of the weights."""
        return self.W_in.dtype

    @cached_property
    def form(self) -> Form:
        """The transition as the kernels take it."""
        if isinstance(self.transition, Spectrum):
            return kernels.diagonal(self.transition, self.dtype)
        if isinstance(self.transition, Cascade):
            parts = self.transition
            return kernels.cascade(parts.block, parts.coupling, parts.modes, self.dtype)
        if hasattr(self.transition, "tocsr"):
            return kernels.sparse(self.transition, self.dtype)
        return kernels.dense(self.transition, self.dtype)

    @cached_property
    def B(self) -> Array:
        """Weights of all that drives the reservoir, rows [W_in, bias, W_fb]."""
        rows = [self.W_in]
        if self.bias is not None:
            rows.append(self.bias[None])
        if self.W_fb is not None:
            rows.append(self.W_fb)
        return np.ascontiguousarray(np.concatenate(rows), self.dtype)

    @cached_property
    def spectrum(self) -> Spectrum:
        """The eigenvalues of the transition, the leak included."""
        if isinstance(self.transition, Spectrum):
            return self.transition
        if isinstance(self.transition, Cascade):
            return self.transition.spectrum
        return from_matrix(self.transition)

    @property
    def matrix(self) -> Any:
        """The transition as a matrix in the basis at work; sparse where it is kept sparse."""
        return self.transition if self.in_neuron_basis else matrix_at_work(self.transition)

    @property
    def in_neuron_basis(self) -> bool:
        """Whether the states are those of W's own units."""
        return is_matrix(self.transition)

    def drive(self, u: Array, y_previous: Array | None) -> Array:
        """Columns [u, 1, y(t−1)], the parts that this reservoir has, (T, D)."""
        columns = [u]
        if self.bias is not None:
            columns.append(np.ones((len(u), 1), self.dtype))
        if self.W_fb is not None:
            assert y_previous is not None
            columns.append(y_previous)
        if len(columns) == 1:
            return np.ascontiguousarray(u, self.dtype)
        return np.concatenate(columns, axis=1, dtype=self.dtype)

    def in_double(self) -> Reservoir:
        """The same weights in double precision."""
        return Reservoir(
            self.transition,
            self.W_in.astype(np.float64),
            None if self.bias is None else self.bias.astype(np.float64),
            None if self.W_fb is None else self.W_fb.astype(np.float64),
        )

    def zero_state(self) -> Array:
        """R(0) = 0."""
        return np.zeros(self.units, self.dtype)

    def scan(
        self, drive: Array, state: Array, out: Array | None = None, *, fresh: bool = False
    ) -> Array:
        """The states under a drive, (T, N); ``state`` moves on in place.

        ``fresh`` says that ``out`` was never written to.
        """
        if out is None:
            out, fresh = np.empty((len(drive), self.units), self.dtype), True
        kernels.scan(self.form, self.B, drive, state, out, fresh)
        return out

    def first_overflow(self, states: Array) -> int | None:
        """The first row of a scan's states (T, N) that is not finite, or None.

        Inf times any entry, be it 0, stays Inf or NaN, so that the last row vouches for all. But
        a sparse product leaves zeros out: there an overflow passes through, and every row counts.
        """
        if not isinstance(self.form, kernels.Sparse) and np.all(np.isfinite(states[-1:])):
            return None
        count = max(1, FINITE_CHUNK // max(1, self.units))
        for first in range(0, len(states), count):
            finite = np.isfinite(states[first : first + count]).all(axis=1)
            if not np.all(finite):
                return first + int(np.argmin(finite))
        return None


def _fits(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(shape) == len(wanted) and all(
        w is None or s == w for s, w in zip(shape, wanted, strict=True)
    )
