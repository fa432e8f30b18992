"""The real Schur form of a matrix, with eigenvalues in a chosen order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eigenecho.types import Array

ROUNDING = 16.0
"""Size of an entry of T, over that of W and the relative precision, that says nothing."""


@dataclass(frozen=True, eq=False)
class Schur:
    """W = Z T Zᵀ, Z orthogonal, T upper triangular but for a 2×2 block on each pair."""

    T: Array
    Z: Array

    @cached_property
    def values(self) -> Array:
        """The eigenvalues in the order of the diagonal."""
        values = np.diag(self.T).astype(np.complex128)
        for i in np.flatnonzero(np.diag(self.T, -1)):
            values[i : i + 2] = np.linalg.eigvals(self.T[i : i + 2, i : i + 2])
        return values

    @property
    def last(self) -> int:
        """Where the last eigenvalue, or the last pair, begins."""
        return len(self.T) - (2 if len(self.T) > 1 and self.T[-1, -2] else 1)

    def with_partners(self, chosen: Array) -> Array:
        """The choice (N,) with both of a pair wherever one of them is in it."""
        first = np.flatnonzero(np.diag(self.T, -1))
        both = chosen.copy()
        both[first] = both[first + 1] = chosen[first] | chosen[first + 1]
        return both


def real_schur(W: Array) -> Schur:
    """The real Schur form, with what is rounding in T set to zero.

    A repeated eigenvalue with independent eigenvectors has zeros above the diagonal there, but
    for rounding; and rounding divided by rounding would make parallel eigenvectors of them.
    """
    from scipy.linalg import schur

    T, Z = schur(W, output="real")
    rounding = ROUNDING * np.finfo(np.float64).eps * np.linalg.norm(W)
    clean = np.where(np.abs(T) <= rounding, 0.0, T)
    pair = np.flatnonzero(np.diag(clean, -1))
    clean[pair, pair + 1] = T[pair, pair + 1]
    return Schur(clean, Z)


def ordered(schur: Schur, chosen: Array) -> Schur | None:
    """The same form with the chosen eigenvalues first; None where rounding forbids a swap."""
    from scipy.linalg.lapack import dtrsen

    T, Z, *_, failed = dtrsen(chosen.astype(np.int32), schur.T, schur.Z, job="N", lwork=len(chosen))
    return None if failed else Schur(np.ascontiguousarray(T), np.ascontiguousarray(Z))
