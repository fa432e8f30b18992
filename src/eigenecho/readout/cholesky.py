"""Cholesky factors of large matrices on all cores, with the same bits on any number of them.

    A = L Lᵀ,   L_ij = (A_ij − Σ_(k<j) L_ik L_jkᵀ) L_jj⁻ᵀ

The matrix is cut into tiles that do not depend on the number of threads, and BLAS works on a tile
at a time, on one. Nearly all operations are those that take tiles off each other: products, which
let other threads run.
"""

from __future__ import annotations

from scipy.linalg import blas, lapack

from eigenecho import threads
from eigenecho.types import Array

TILE = 512
"""Rows and columns of a tile."""

LARGE = 4096
"""Rows from which tiles pay."""


def cholesky(A: Array) -> tuple[Array, bool]:
    """L of a symmetric matrix in the order of Fortran, in its memory, and whether there is one.

    What lies above the diagonal means nothing.
    """
    if len(A) < LARGE:
        factor, info = lapack.dpotrf(A, lower=1, overwrite_a=True)
        return factor, info == 0
    N = len(A)
    for start in range(0, N, TILE):
        here = slice(start, start + TILE)
        L, info = lapack.dpotrf(A[here, here], lower=1)
        if info:
            return A, False
        A[here, here] = L
        if start + TILE < N:
            _divide(A, L, here, start + TILE)
            _take_off(A, here, start + TILE)
    return A, True


def _divide(A: Array, L: Array, panel: slice, start: int) -> None:
    """A_ij L_jj⁻ᵀ in place of the tiles below a diagonal one, from row ``start`` on."""
    edges = range(start, len(A), TILE)

    def task(first: int, last: int) -> None:
        for i in edges[first:last]:
            rows = slice(i, i + TILE)
            A[rows, panel] = blas.dtrsm(1.0, L, A[rows, panel], side=1, lower=1, trans_a=1)

    threads.run(task, threads.even_split(len(edges), threads.thread_count()))


def _take_off(A: Array, panel: slice, start: int) -> None:
    """A_ij −= L_ik L_jkᵀ for all tiles on and below the diagonal, from row ``start`` on."""
    edges = range(start, len(A), TILE)
    tiles = [(i, j) for j in edges for i in range(j, len(A), TILE)]

    def task(first: int, last: int) -> None:
        for i, j in tiles[first:last]:
            rows, columns = slice(i, i + TILE), slice(j, j + TILE)
            A[rows, columns] -= A[rows, panel] @ A[columns, panel].T

    threads.run(task, threads.even_split(len(tiles), threads.thread_count()))
