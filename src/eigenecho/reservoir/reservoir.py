"""The reservoir: a transition and its input weights, as an immutable value."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eigenecho import kernels
from eigenecho.arrays import namespace
from eigenecho.checks import check_finite, check_range, check_real
from eigenecho.errors import Shown, bad_argument, overflowed
from eigenecho.kernels import Form
from eigenecho.progress import Progress
from eigenecho.spectra import Spectrum
from eigenecho.transition import Diagonal, Transition, as_transition
from eigenecho.types import Array

FINITE_CHUNK = 1 << 16
"""States that are checked at a time, while they are in cache."""

SOON = 1000
"""Units up to which the eigenvalues of a matrix are computed for a message."""


@dataclass(frozen=True, eq=False)
class Reservoir:
    """r(t) = r(t−1) W + u(t) W_in + bias + y(t−1) W_fb, in the basis at work.

    The leaking rate is included: W' = lr W + (1 − lr) I, and lr times the other weights.
    ``transition`` may also be eigenvalues or a matrix (N, N); W_in (D_in, N), bias (N,), W_fb
    (D_out, N).
    """

    transition: Transition
    W_in: Array
    bias: Array | None = None
    W_fb: Array | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.transition, Transition):
            object.__setattr__(self, "transition", as_transition(self.transition))
        for name, lead in (("W_in", ("D",)), ("bias", ()), ("W_fb", ("D",))):
            value = getattr(self, name)
            if value is None:
                continue
            shape = np.shape(value)
            if len(shape) != len(lead) + 1 or shape[-1] != self.units:
                expected = str((*lead, self.units)).replace("'", "")
                raise bad_argument(name, Shown(f"shape {shape}"), f"shape {expected}")
            value = np.asarray(value)
            check_real(value, name)
            # W_in comes first: its dtype is that of the states and of the other weights.
            dtype = value.dtype if name == "W_in" else self.W_in.dtype
            if dtype not in (np.float32, np.float64):
                dtype = np.dtype(np.float64)
            with np.errstate(over="ignore"):  # check_finite below reports it
                value = value.astype(dtype, copy=False)
            object.__setattr__(self, name, value)
            check_finite(value, name)

    @property
    def units(self) -> int:
        """Number of units N."""
        return self.transition.units

    @property
    def dtype(self) -> np.dtype:
        """The dtype of weights and states."""
        return self.W_in.dtype

    @cached_property
    def form(self) -> Form:
        """The transition as the kernels take it."""
        return self.transition.form(self.dtype)

    @cached_property
    def B(self) -> Array:
        """All input weights, rows [W_in, bias, W_fb]."""
        rows = [self.W_in]
        if self.bias is not None:
            rows.append(self.bias[None])
        if self.W_fb is not None:
            rows.append(self.W_fb)
        return np.ascontiguousarray(np.concatenate(rows), self.dtype)

    @property
    def spectrum(self) -> Spectrum:
        """The eigenvalues of the transition, the leak included."""
        return self.transition.spectrum

    def drive(self, u: Array, y_previous: Array | None) -> Array:
        """Return the columns [u, 1, y(t−1)] that drive this reservoir, (…, T, D)."""
        columns, xp = [u], namespace(u)
        if self.bias is not None:
            columns.append(xp.ones((*u.shape[:-1], 1), self.dtype))
        if self.W_fb is not None:
            assert y_previous is not None
            columns.append(y_previous)
        if len(columns) == 1:
            return xp.ascontiguousarray(u, self.dtype)
        return xp.concatenate(columns, axis=-1, dtype=self.dtype)

    def check(self) -> None:
        """Raise if numbers of a file are beyond the range of single precision."""
        if self.dtype == np.float32:
            with np.errstate(over="ignore"):
                form = self.form
            for part in form:
                check_range(part, "W", self.dtype)

    def weights(self, change: Callable[[Array], Array]) -> tuple[Any, ...]:
        """Return W_in, bias and W_fb with ``change`` applied to each; None for missing ones."""
        given = self.W_in, self.bias, self.W_fb
        return tuple(None if A is None else change(A) for A in given)

    def in_double(self) -> Reservoir:
        """Return the reservoir with weights in double precision."""
        return Reservoir(self.transition, *self.weights(lambda A: A.astype(np.float64)))

    def only(self, modes: Array) -> Reservoir:
        """Return the reservoir of the modes with a true flag (n + m,), real ones first."""
        columns = self.spectrum.columns(modes)
        kept = Diagonal(self.spectrum.only(modes))
        return Reservoir(kept, *self.weights(lambda A: A[..., columns]))

    def zero_state(self, drive: Array | None = None) -> Array:
        """Return r(0) = 0, (…, N), for a drive (…, T, D); by default an array (N,)."""
        if drive is None:
            return np.zeros(self.units, self.dtype)
        return namespace(drive).zeros((*drive.shape[:-2], self.units), self.dtype)

    def scan(
        self, drive: Array, state: Array, out: Array | None = None, *, fresh: bool = False
    ) -> Array:
        """Return the states under a drive, (…, T, N); ``state`` is updated in place.

        ``fresh`` says that the memory of ``out`` is new.
        """
        if out is None:
            out, fresh = self._room(drive), True
        kernels.scan(self.form, self.B, drive, state, out, fresh)
        return out

    def states(self, drive: Array, state: Array, out: Array | None, progress: Progress) -> Array:
        """Return the states as ``scan`` does, in reported pieces; raise if they overflow."""
        states = self._room(drive) if out is None else out
        for rows in progress.pieces(drive.shape[-2]):
            self.scan(drive[..., rows, :], state, states[..., rows, :], fresh=out is None)
        self.check_states(states)
        return states

    def _room(self, drive: Array) -> Array:
        return namespace(drive).empty((*drive.shape[:-1], self.units), self.dtype)

    def last_state(self, drive: Array, state: Array) -> Array:
        """Return the state after a drive, updated in place, without storing others."""
        nothing = namespace(drive).empty((*drive.shape[:-1], 0), self.dtype)
        weights = np.empty((0, self.units), self.dtype)
        kernels.scan_readout(self.form, self.B, drive, weights, state, nothing)
        return state

    def check_states(self, states: Array, first: int = 0) -> None:
        """Raise if states (T, N) of a scan, from step ``first`` on, are not finite.

        Inf times any number, even 0, is Inf or NaN, so that the last row shows any overflow. But
        sparse products leave zeros out, so that an overflow may vanish: there every row is checked.
        """
        xp = namespace(states)
        if not self.transition.leaves_zeros_out and xp.all_finite(states[..., -1:, :]):
            return
        if not xp.is_host:
            finite = xp.isfinite(states).all(-1).reshape(-1, states.shape[-2]).all(0)
            if not bool(finite.all()):
                raise self.overflowed("states", first + int(finite.int().argmin()))
            return
        count = max(1, FINITE_CHUNK // max(1, self.units))
        for start in range(0, len(states), count):
            finite = np.isfinite(states[start : start + count]).all(axis=1)
            if not np.all(finite):
                raise self.overflowed("states", first + start + int(np.argmin(finite)))

    def overflowed(self, what: str, step: int | None = None, *, closed: bool = False) -> Exception:
        """Return the error for an overflow; it names the radius if that is quick to compute."""
        radius = None
        if isinstance(self.transition, Diagonal) or self.units <= SOON:
            with suppress(ValueError):  # the eigenvalues overflow as well
                radius = self.spectrum.radius
        return overflowed(what, radius, step, closed=closed)
