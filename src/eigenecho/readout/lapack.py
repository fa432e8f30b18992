"""Householder reflections by LAPACK, without the interpreter lock.

SciPy's wrappers hold the lock while they compute. SciPy also exports the addresses of the same
routines for compiled code. They are called directly here, so the results are bit-identical to those
of the wrappers. Matrices are float64 in Fortran order.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from eigenecho.types import Array

PANEL = 48
"""Block size of LAPACK's Householder reflections, in columns."""


def reflect(R: Array, Z: Array, A: Array, Y: Array) -> tuple[Array, Array, Array]:
    """Compute [R Z; A Y] → [R' Z'; 0 rest] by Householder reflections.

    R (N, N) is upper triangular, Z (N, D), A (n, N) and Y (n, D).
    """
    R, Z, A, Y = (np.array(part, dtype=np.float64, order="F") for part in (R, Z, A, Y))
    (n, N), D, panel = A.shape, Z.shape[1], min(PANEL, len(R))
    T, work = np.empty((panel, N), order="F"), np.empty(panel * max(N, D, 1))
    info = np.zeros(1, int)
    _call("dtpqrt", n, N, 0, panel, R, N, A, n, T, panel, work, info)
    sizes = n, D, N, 0, panel
    _call("dtpmqrt", b"L", b"T", *sizes, A, n, T, panel, Z, N, Y, n, work, info)
    assert not info.any()
    return R, Z, Y


def _call(name: str, *arguments: Any) -> None:
    """Call a routine whose arguments are all pointers."""
    _routine(name, len(arguments))(*map(_pointer, arguments))


def _pointer(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.__array_interface__["data"][0]
    # Routines with 32-bit integers read the low four bytes of a 64-bit integer.
    kind: Any = {bytes: ctypes.c_char, int: ctypes.c_int64}[type(value)]
    return ctypes.byref(kind(value))


@cache
def _routine(name: str, arguments: int) -> Any:
    from numba.extending import get_cython_function_address

    address = get_cython_function_address("scipy.linalg.cython_lapack", name)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)
