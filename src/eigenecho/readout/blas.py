"""BLAS on parts of a matrix, in their memory, while other threads of Python run.

SciPy's wrappers copy parts of a matrix, and hold Python's lock while they compute. So its routines
are called where they lie. Matrices are in the order of Fortran, float64.
"""

from __future__ import annotations

from ctypes import CFUNCTYPE, byref, c_char_p, c_double, c_int64, c_void_p
from functools import cache
from typing import Any

from numba.extending import get_cython_function_address

from eigenecho.types import Array


def divide_right(B: Array, L: Array) -> None:
    """B ← B L⁻ᵀ for a lower triangle L."""
    parts = *_int(*B.shape), byref(c_double(1.0)), *_at(L), *_at(B)
    _routine("dtrsm")(b"R", b"L", b"T", b"N", *parts)


def take_off(C: Array, A: Array, B: Array) -> None:
    """C ← C − A Bᵀ."""
    sizes = _int(*C.shape, A.shape[1])
    parts = *sizes, byref(c_double(-1.0)), *_at(A), *_at(B), byref(c_double(1.0)), *_at(C)
    _routine("dgemm")(b"N", b"T", *parts)


@cache
def _routine(name: str) -> Any:
    letters, numbers = {"dtrsm": (4, 7), "dgemm": (2, 11)}[name]
    kind = CFUNCTYPE(None, *letters * [c_char_p], *numbers * [c_void_p])
    return kind(get_cython_function_address("scipy.linalg.cython_blas", name))


def _int(*values: int) -> tuple[Any, ...]:
    # Eight bytes serve routines that read four as well, their low ones.
    return tuple(byref(c_int64(value)) for value in values)


def _at(A: Array) -> tuple[Any, ...]:
    """Where a matrix begins, and how far its columns are apart."""
    assert A.dtype == "float64"
    assert A.strides[0] == A.itemsize
    return c_void_p(A.ctypes.data), *_int(A.strides[1] // A.itemsize)
