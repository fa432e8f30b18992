"""Cholesky factors of large matrices on all cores, with the same bits on any number of them.

    A = L Lᵀ,   L_ij = (A_ij − Σ_(k<j) L_ik L_jkᵀ) L_jj⁻ᵀ

The matrix is cut into tiles that do not depend on the number of threads, and BLAS works on a tile
at a time, on one.
"""

from __future__ import annotations

from scipy.linalg import lapack

from eigenecho import threads
from eigenecho.readout import blas
from eigenecho.types import Array

LARGE, HUGE = 1536, 4096
"""Rows from which tiles pay, and from which there are enough of large ones."""

TILE = 256
"""Rows and columns of a tile; of a huge matrix twice as many."""


def cholesky(A: Array) -> tuple[Array, bool]:
    """L of a symmetric matrix in the order of Fortran, in its memory, and whether there is one.

    What lies above the diagonal means nothing.
    """
    N = len(A)
    if N < LARGE:
        factor, info = lapack.dpotrf(A, lower=1, overwrite_a=True)
        return factor, info == 0
    side = TILE if N < HUGE else 2 * TILE
    parts = [slice(start, start + side) for start in range(0, N, side)]
    with threads.team() as each:
        for k, own in enumerate(parts):
            L, info = lapack.dpotrf(A[own, own], lower=1)
            if info:
                return A, False
            A[own, own] = L
            below = parts[k + 1 :]
            each(blas.divide_right, [(A[i, own], L) for i in below])
            tiles = [(i, j) for column, j in enumerate(below) for i in below[column:]]
            each(blas.take_off, [(A[i, j], A[i, own], A[j, own]) for i, j in tiles])
    return A, True
