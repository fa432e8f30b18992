"""The reservoir: a transition and what drives it, as an immutable value."""

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
"""States that are looked at in one go, still in cache."""

SOON = 1000
"""Units up to which the eigenvalues of a matrix take no time to speak of."""


@dataclass(frozen=True, eq=False)
class Reservoir:
    """r(t) = r(t−1) W + u(t) W_in + bias + y(t−1) W_fb, in the basis at work.

    The leaking rate is already in all of it: W' = lr W + (1 − lr) I, and lr times the rest. W is a
    transition, or eigenvalues or a matrix (N, N) to make one of; W_in (D_in, N), bias (N,), W_fb
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
                wanted = str((*lead, self.units)).replace("'", "")
                raise bad_argument(name, Shown(f"shape {shape}"), f"shape {wanted}")
            value = np.asarray(value)
            check_real(value, name)
            # W_in comes first: the others are in its dtype, which is that of states.
            dtype = value.dtype if name == "W_in" else self.W_in.dtype
            if dtype not in (np.float32, np.float64):
                dtype = np.dtype(np.float64)
            with np.errstate(over="ignore"):  # what leaves the range is not finite below
                value = value.astype(dtype, copy=False)
            object.__setattr__(self, name, value)
            check_finite(value, name)

    @property
    def units(self) -> int:
        """N."""
        return self.transition.units

    @property
    def dtype(self) -> np.dtype:
        """The dtype of states: that of the weights."""
        return self.W_in.dtype

    @cached_property
    def form(self) -> Form:
        """The transition as the kernels take it."""
        return self.transition.form(self.dtype)

    @cached_property
    def B(self) -> Array:
        """Weights of all that drives the reservoir, rows [W_in, bias, W_fb]."""
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
        """Columns [u, 1, y(t−1)], the parts that this reservoir has, (…, T, D)."""
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
        """Raise where numbers of a file are beyond the range of single precision."""
        if self.dtype == np.float32:
            with np.errstate(over="ignore"):
                form = self.form
            for part in form:
                check_range(part, "W", self.dtype)

    def weights(self, change: Callable[[Array], Array]) -> tuple[Any, ...]:
        """W_in, bias and W_fb, whose columns ``change`` maps; None for one that is not there."""
        given = self.W_in, self.bias, self.W_fb
        return tuple(None if A is None else change(A) for A in given)

    def in_double(self) -> Reservoir:
        """The same weights in double precision."""
        return Reservoir(self.transition, *self.weights(lambda A: A.astype(np.float64)))

    def only(self, modes: Array) -> Reservoir:
        """The reservoir of some modes, which (n + m,) flags name, real ones first."""
        columns = self.spectrum.columns(modes)
        kept = Diagonal(self.spectrum.only(modes))
        return Reservoir(kept, *self.weights(lambda A: A[..., columns]))

    def zero_state(self, drive: Array | None = None) -> Array:
        """R(0) = 0, (…, N), for a drive (…, T, D) of either kind; by default an array (N,)."""
        if drive is None:
            return np.zeros(self.units, self.dtype)
        return namespace(drive).zeros((*drive.shape[:-2], self.units), self.dtype)

    def scan(
        self, drive: Array, state: Array, out: Array | None = None, *, fresh: bool = False
    ) -> Array:
        """The states under a drive, (…, T, N); ``state`` moves on in place.

        ``fresh`` says that ``out`` was never written to.
        """
        if out is None:
            out, fresh = self._room(drive), True
        kernels.scan(self.form, self.B, drive, state, out, fresh)
        return out

    def states(self, drive: Array, state: Array, out: Array | None, progress: Progress) -> Array:
        """What ``scan`` gives, finite, in pieces that are reported."""
        fresh = out is None
        states = self._room(drive) if out is None else out
        if progress.report is None:
            self.scan(drive, state, states, fresh=fresh)
        else:
            for rows in progress.pieces(drive.shape[-2]):
                self.scan(drive[..., rows, :], state, states[..., rows, :], fresh=fresh)
        self.check_states(states)
        return states

    def _room(self, drive: Array) -> Array:
        return namespace(drive).empty((*drive.shape[:-1], self.units), self.dtype)

    def last_state(self, drive: Array, state: Array) -> Array:
        """The state after a drive; ``state`` moves on in place, and no other is stored."""
        nothing = namespace(drive).empty((*drive.shape[:-1], 0), self.dtype)
        weights = np.empty((0, self.units), self.dtype)
        kernels.scan_readout(self.form, self.B, drive, weights, state, nothing)
        return state

    def check_states(self, states: Array, first: int = 0) -> None:
        """Raise where states (T, N) of a scan, from step ``first`` on, are not finite.

        Inf times any entry, be it 0, stays Inf or NaN, so that the last row vouches for all. But
        a sparse product leaves zeros out: there an overflow passes through, and every row counts.
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
        """The error of ``what`` left the range; it names the radius where that is soon found."""
        radius = None
        if isinstance(self.transition, Diagonal) or self.units <= SOON:
            with suppress(ValueError):  # eigenvalues that are beyond the range themselves
                radius = self.spectrum.radius
        return overflowed(what, radius, step, closed=closed)
