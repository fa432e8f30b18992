"""BLAS and LAPACK on parts of matrices, in place and without the interpreter lock.

SciPy's wrappers copy parts of a matrix and hold the lock while they compute. SciPy also exports the
addresses of the same routines for compiled code. They are called directly here, so the results are
bit-identical to those of the wrappers. Matrices are float64 in Fortran order.
"""

from __future__ import annotations

import ctypes
import itertools
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import lapack

from eigenecho import threads
from eigenecho.types import Array

PANEL = 48
"""Block size of LAPACK's Householder reflections, in columns."""

LARGE, HUGE = 1536, 4096
"""Number of rows above which a Cholesky factorisation uses tiles, and large tiles."""

TILE = 256
"""Number of rows and columns of a tile. Large tiles have twice as many."""


def reflect(R: Array, Z: Array, A: Array, Y: Array) -> tuple[Array, Array, Array]:
    """Compute [R Z; A Y] → [R' Z'; 0 rest] by Householder reflections.

    R (N, N) is upper triangular, Z (N, D), A (n, N) and Y (n, D).
    """
    R, Z, A, Y = (np.array(part, dtype=np.float64, order="F") for part in (R, Z, A, Y))
    (n, N), D, panel = A.shape, Z.shape[1], min(PANEL, len(R))
    T, work = np.empty((panel, N), order="F"), np.empty(panel * max(N, D, 1))
    info = np.zeros(1, int)
    _call("lapack", "dtpqrt", n, N, 0, panel, R, N, A, n, T, panel, work, info)
    sizes = n, D, N, 0, panel
    _call("lapack", "dtpmqrt", b"L", b"T", *sizes, A, n, T, panel, Z, N, Y, n, work, info)
    assert not info.any()
    return R, Z, Y


def cholesky(A: Array) -> tuple[Array, bool]:
    """Return L with A = L Lᵀ, and True if A is positive definite. A is overwritten.

        L_ij = (A_ij − Σ_(k<j) L_ik L_jkᵀ) L_jj⁻ᵀ

    Large matrices are factorised in tiles on all cores. The tiles do not depend on the number of
    threads, so the result does not either. Entries above the diagonal are undefined.
    """
    N = len(A)
    if N < LARGE:
        factor, info = lapack.dpotrf(A, lower=1, overwrite_a=True)
        return factor, info == 0
    side = TILE if N < HUGE else 2 * TILE
    parts = [slice(start, start + side) for start in range(0, N, side)]
    with ThreadPoolExecutor(threads.thread_count()) as pool:
        for k, own in enumerate(parts):
            L, info = lapack.dpotrf(A[own, own], lower=1)
            if info:
                return A, False
            A[own, own] = L
            below = parts[k + 1 :]
            list(pool.map(divide_right, [A[i, own] for i in below], itertools.repeat(L)))
            tiles = [(i, j) for column, j in enumerate(below) for i in below[column:]]
            products = [(A[i, j], A[i, own], A[j, own]) for i, j in tiles]
            list(pool.map(lambda part: subtract_product(*part), products))
    return A, True


def divide_right(B: Array, L: Array) -> None:
    """Compute B ← B L⁻ᵀ for a lower triangle L."""
    _call("blas", "dtrsm", b"R", b"L", b"T", b"N", *B.shape, 1.0, L, _lead(L), B, _lead(B))


def subtract_product(C: Array, A: Array, B: Array) -> None:
    """Compute C ← C − A Bᵀ."""
    parts = A, _lead(A), B, _lead(B), 1.0, C, _lead(C)
    _call("blas", "dgemm", b"N", b"T", *C.shape, A.shape[1], -1.0, *parts)


def _call(library: str, name: str, *arguments: Any) -> None:
    """Call a routine whose arguments are all pointers."""
    _routine(library, name, len(arguments))(*map(_pointer, arguments))


def _pointer(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.__array_interface__["data"][0]
    # Routines with 32-bit integers read the low four bytes of a 64-bit integer.
    kind: Any = {bytes: ctypes.c_char, int: ctypes.c_int64, float: ctypes.c_double}[type(value)]
    return ctypes.byref(kind(value))


def _lead(A: Array) -> int:
    """Return the leading dimension: the distance between columns in memory."""
    assert A.dtype == "float64"
    assert A.strides[0] == A.itemsize
    return A.strides[1] // A.itemsize


@cache
def _routine(library: str, name: str, arguments: int) -> Any:
    from numba.extending import get_cython_function_address

    address = get_cython_function_address(f"scipy.linalg.cython_{library}", name)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)
