"""Balancing: new states, ordered by reachability and observability.

With rows X (M, N) of states and an observability factor F Fᵀ = Q, the thin SVD

    X F = U Σ Vᵀ,   T = F V Σ^{−1/2} (N, k),   S = Σ^{−1/2} Uᵀ X (k, N),   S T = I

gives new states r T, and S maps them back. State i is equally reachable and observable, to the
degree σ_i, with σ_1 ≥ σ_2 ≥ …. For a white drive, XᵀX is the reachability Gramian P, and the σ_i
are the Hankel singular values. For the rows of a network, XᵀX is the Gramian of its actual drive.

The first k states form a system of order k. For any X, ΛQΛᵀ + CCᵀ = Q implies that no eigenvalue of
this system is outside the unit circle: in the new states, Q is Σ, and the leading block of the
equation gives Λ_1 Σ_1 Λ_1ᵀ ≤ Σ_1. For a white drive, the error of the gain is at most
2 (σ_{k+1} + σ_{k+2} + …) at any frequency.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import lapack, qr, solve_triangular

from eigenecho.readout import EPS, Triangle
from eigenecho.reduction.system import System
from eigenecho.types import Array

JACOBI = 700
"""Largest number of columns for which Jacobi rotations compute all digits of singular values."""

PANEL = 64
"""Block size of LAPACK's Householder reflections, in columns."""

NOTHING = EPS / 16
"""Fraction of the largest column below which remainders of the elimination are ignored."""

Rows = Callable[[], Iterable[Array]]
"""Function that yields states (rows, N) in pieces, which it recomputes at every call."""


@dataclass(frozen=True, eq=False)
class BalancedSystem:
    """Balanced form of a system: singular values and maps T (N, k), S (k, N) with S T = I.

    Singular values below ``floor`` times the largest one are treated as rounding errors.
    """

    system: System
    values: Array
    T: Array
    S: Array
    floor: float

    @property
    def order(self) -> int:
        """Largest possible order k of a reduced system."""
        return self.T.shape[1]

    @property
    def tails(self) -> Array:
        """Error bounds for white drives, for orders 0 … k: twice the sum of truncated values."""
        return 2 * np.concatenate([np.cumsum(self.values[::-1])[::-1], [0.0]])

    @property
    def cut_off(self) -> Array:
        """Square root of the sum of squared truncated values, for orders 0 … k."""
        squares = self.values[: self.order][::-1] ** 2
        return np.sqrt(np.concatenate([np.cumsum(squares)[::-1], [0.0]]))

    @cached_property
    def left_out(self) -> Array:
        """Projection errors for orders 0 … k: the largest ‖X (C − T S C)‖ of any output."""
        parts = (np.sqrt(self.values[: self.order, None]) * (self.S @ self.system.C)) ** 2
        sums = np.cumsum(parts[::-1], axis=0)[::-1]
        return np.sqrt(np.concatenate([sums, np.zeros_like(sums[:1])]).max(axis=1))

    @cached_property
    def _step(self) -> Array:
        """Matrix S Λ T. A system of lower order uses a leading block."""
        return np.asarray(self.S @ self.system.advance(self.T))

    def matrices(self, order: int) -> tuple[Array, Array, Array]:
        """Return Λ_r (k, k), B_r (D, k) and C_r (k, E) of the system of order k."""
        T, S = self.T[:, :order], self.S[:order]
        return self._step[:order, :order], self.system.B @ T, S @ self.system.C


def balance(system: System, rows: Rows, floor: float = EPS) -> BalancedSystem:
    """Return the balanced form of a system, for rows of states in pieces (rows, N).

    A single piece is used directly; several pieces are replaced by the triangular factor of their
    observable part.
    """
    F = system.observability
    pieces = iter(rows())
    first, second = next(pieces), next(pieces, None)
    left: Array | None = None
    if second is None:
        left, values, Vt = singular_values(first @ F)
    else:
        seen = Triangle.empty(F.shape[1], 1)
        for piece in itertools.chain([first, second], pieces):
            # LAPACK needs Fortran order.
            seen = seen.absorb((F.T @ piece.T).T, np.zeros((len(piece), 1)))
        _, values, Vt = singular_values(seen.R)
    kept = values > floor * values.max(initial=0.0)
    root = np.sqrt(values[kept])
    T = (F @ Vt[kept].T) / root
    if left is not None:
        S = (left[:, kept].T @ first) / root[:, None]
    else:
        S = sum((piece @ T).T @ piece for piece in rows()) / values[kept, None]
        S = np.linalg.solve(S @ T, S)  # removes rounding errors, which small values magnify
    return BalancedSystem(system, values, T, S, floor)


def essential(system: System, floor: float) -> tuple[Array, Array]:
    """Return maps T (N, k) and S (k, N) to the reachable and observable states, with S T = I.

    The size of these states exceeds a fraction ``floor`` of the largest. They are in no particular
    order, so pivoted elimination is sufficient.
    """
    reached, observed = system.reachability, system.observability
    Q, R, pivots = _eliminated(reached.T @ observed, floor)
    root = np.sqrt(np.abs(np.diag(R)))
    k = len(R)
    seen = observed[:, pivots[:k]].T
    T = solve_triangular(R[:, :k], seen, trans="T", check_finite=False).T * root
    return T, (reached @ (Q / root)).T


def singular_values(A: Array) -> tuple[Array, Array, Array]:
    """Return the thin SVD U, σ, Vᵀ, with full relative accuracy for up to ``JACOBI`` columns.

    One-sided rotations with pivoting are accurate even if rows and columns differ greatly in size.
    With other methods, the errors of small values are relative to the largest value.
    """
    rows, columns = A.shape
    if min(rows, columns) == 0:
        return np.zeros((rows, 0)), np.zeros(0), np.zeros((0, columns))
    if columns > rows:
        V, values, Ut = singular_values(A.T)
        return Ut.T, values, V.T
    if columns <= JACOBI:
        sva, U, V, work, _, info = lapack.dgejsv(A, joba=2, jobu=0, jobv=0)
        if info == 0:
            return U, sva * (work[0] / work[1]), V.T
    # Values below the rounding error of the largest value are left out.
    Q, R, pivots = _eliminated(A, NOTHING)
    U, values, Wt = np.linalg.svd(R, full_matrices=False)
    Vt = np.empty_like(Wt)
    Vt[:, pivots] = Wt
    return Q @ U, values, Vt


def _eliminated(A: Array, floor: float) -> tuple[Array, Array, Array]:
    """Return Q (M, k), R (k, n) and pivots with A[:, pivots] ≈ Q R.

    Rows of R that are smaller than a fraction ``floor`` of the largest row are omitted.
    """
    (packed, tau), R, pivots = qr(A, mode="raw", pivoting=True, check_finite=False)
    sizes = np.abs(np.diag(R))
    k = int(np.count_nonzero(sizes > floor * sizes.max(initial=0.0)))
    if not k:
        return np.zeros((len(A), 0)), R[:0], pivots
    Q, _, _ = lapack.dorgqr(packed[:, :k], tau[:k], lwork=PANEL * k)
    return Q, R[:k], pivots
