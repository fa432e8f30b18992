"""Quadratic penalties on readout weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenecho import threads
from eigenecho.arrays import namespace, to_like
from eigenecho.basis import Basis, DrawnBasis
from eigenecho.errors import bad_argument
from eigenecho.types import Array

LARGE = 400
"""Number of units above which a second thread saves time."""


@dataclass(frozen=True, eq=False)
class Penalty:
    """Penalty α ‖L w‖² on the readout weights of [1, y(t−1), r].

        L = blkdiag(0 or 1, I, Q)   or   blkdiag(0 or 1, I, I)

    With the Q of a ``basis``, the penalty is a plain ridge in the neuron basis, although the states
    are in the eigenbasis. ``size`` is N'. If ``free`` is 1, the first row (the bias) is not
    penalised.
    """

    size: int
    free: int = 0
    basis: Basis | DrawnBasis | None = None

    def __post_init__(self) -> None:
        if type(self.free) is not int or self.free not in (0, 1):
            raise bad_argument("free", self.free, "0, or 1 for an unpenalised bias")
        units = 0 if self.basis is None else self.basis.units
        if self.size < self.free + units:
            raise bad_argument("size", self.size, f"at least {self.free + units}")

    def root(self, like: Array | None = None) -> Array:
        """Return the matrix L (N', N'), by default as a NumPy array."""
        L = namespace(like).eye(self.size)
        L[: self.free] = 0.0
        if self.basis is not None:
            L[-self.basis.units :, -self.basis.units :] = to_like(self.basis.Q, L)
        return L

    def diagonal(self, like: Array) -> Array:
        """Return the diagonal (N',) of M for a penalty without a basis."""
        ones = namespace(like).ones(self.size)
        ones[: self.free] = 0.0
        return ones

    def gram(self, like: Array | None = None) -> Array:
        """Return the matrix M = Lᵀ L (N', N'), by default as a NumPy array."""
        xp = namespace(like)
        M = xp.eye(self.size)
        M[: self.free] = 0.0
        if self.basis is not None and not xp.is_host:
            Q = to_like(self.basis.Q, M)
            M[-len(Q) :, -len(Q) :] = Q.T @ Q
        elif self.basis is not None:
            _products(self.basis.Q, M[-self.basis.units :, -self.basis.units :])
        return M

    def times_root(self, w: Array) -> Array:
        """Return L w for weights (N', D_out)."""
        out = namespace(w).array(w)
        out[: self.free] = 0.0
        if self.basis is not None:
            out[-self.basis.units :] = to_like(self.basis.Q, w) @ w[-self.basis.units :]
        return out

    def apply(self, w: Array) -> Array:
        """Return M w for weights (N', D_out), without computing M."""
        out = self.times_root(w)
        if self.basis is not None:
            out[-self.basis.units :] = to_like(self.basis.Q, w).T @ out[-self.basis.units :]
        return out

    def unroot(self, A: Array) -> Array:
        """Return L⁻¹ A over the penalised rows, for A (N' − free, k)."""
        if self.basis is None:
            return A
        head = len(A) - self.basis.units
        return np.concatenate([A[:head], self.basis.solve(A[head:])])

    def unroot_right(self, A: Array) -> Array:
        """Return A L⁻¹ over the penalised rows, for A (k, N' − free)."""
        if self.basis is None:
            return A
        head = A.shape[1] - self.basis.units
        return np.concatenate([A[:, :head], self.basis.states_to_neuron(A[:, head:])], axis=1)


def _products(Q: Array, M: Array) -> None:
    """Write QᵀQ into M on up to two threads; the parts do not depend on the number of threads."""
    half = len(Q) // 2
    left, right = Q[:, :half], Q[:, half:]

    def task(first: int, last: int) -> None:
        if first == 0:
            # NumPy detects that both factors are one array and computes half of the product.
            M[:half, :half] = left.T @ left
            M[half:, half:] = right.T @ right
        if last == 2:
            M[:half, half:] = left.T @ right
            M[half:, :half] = M[:half, half:].T

    threads.run(task, threads.even_split(2, threads.thread_count() if len(Q) >= LARGE else 1))
