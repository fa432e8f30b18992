"""Rows reflected into a triangle by LAPACK, with other threads running meanwhile.

SciPy's own functions hold the interpreter lock. It hands out the same routines to compiled code,
and called that way they do not: the same library, the same bits.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from eigenecho.types import Array

PANEL = 48
"""Columns that LAPACK reflects together."""


def reflect(R: Array, Z: Array, A: Array, Y: Array) -> tuple[Array, Array, Array]:
    """[R Z; A Y] → [R' Z'; 0 left], for a triangle R (N, N), Z (N, D), A (n, N) and Y (n, D)."""
    R, Z, A, Y = (np.array(part, dtype=np.float64, order="F") for part in (R, Z, A, Y))
    (n, N), D, panel = A.shape, Z.shape[1], min(PANEL, len(R))
    T, work = np.empty((panel, N), order="F"), np.empty(panel * max(N, D, 1))
    _call("dtpqrt", n, N, 0, panel, R, N, A, n, T, panel, work)
    _call("dtpmqrt", b"L", b"T", n, D, N, 0, panel, A, n, T, panel, Z, N, Y, n, work)
    return R, Z, Y


def _call(name: str, *arguments: Any) -> None:
    """Call a routine of LAPACK, all of whose arguments are pointers, the last one to an answer."""
    info = ctypes.c_int(0)
    _routine(name, len(arguments) + 1)(*map(_pointer, arguments), ctypes.byref(info))
    assert info.value == 0


def _pointer(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.__array_interface__["data"][0]
    return ctypes.byref((ctypes.c_char if isinstance(value, bytes) else ctypes.c_int)(value))


@cache
def _routine(name: str, arguments: int) -> Any:
    from numba.extending import get_cython_function_address

    address = get_cython_function_address("scipy.linalg.cython_lapack", name)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)
