"""Functions on arrays of either kind: NumPy's own, or the same names for tensors of torch.

Algebra that runs on a device is written once, with ``xp = namespace(x)``: for NumPy arrays that is
NumPy itself, so that nothing changes for them.
"""

from __future__ import annotations

import math
import sys
import weakref
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from eigenecho.tensors import as_tensor, is_tensor, to_host
from eigenecho.types import Array


def namespace(array: Any) -> Any:
    """NumPy, or its names for tensors on the device of this one."""
    return np if isinstance(array, np.ndarray) else _of_device(str(array.device))


def fft_of(array: Any) -> Any:
    """``rfft`` and ``irfft`` over the last axis."""
    if isinstance(array, np.ndarray):
        import scipy.fft

        return scipy.fft
    torch = sys.modules["torch"]
    return SimpleNamespace(
        rfft=lambda x, n=None, **_: torch.fft.rfft(x, n),
        irfft=lambda x, n=None, **_: torch.fft.irfft(x, n),
    )


def all_finite(array: Any) -> bool:
    """Whether there is neither NaN nor Inf; a device needs one pass for that in most cases."""
    if isinstance(array, np.ndarray):
        return bool(np.isfinite(array).all())
    # A sum of finite numbers may leave the range, but no sum of others comes back to it.
    return math.isfinite(float(array.sum())) or bool(array.isfinite().all())


def upper(A: Any) -> Any:
    """The upper R with RᵀR = A; raises ``LinAlgError`` where A is not positive definite."""
    if isinstance(A, np.ndarray):
        import scipy.linalg

        return scipy.linalg.cholesky(A)
    factor, failed = namespace(A).cholesky(A)
    if failed:
        raise np.linalg.LinAlgError("not positive definite")
    return factor.mT


def solve_triangular(R: Any, rhs: Any, transposed: bool = False) -> Any:
    """R⁻¹ rhs for an upper triangle R, or R⁻ᵀ rhs."""
    if isinstance(rhs, np.ndarray):
        import scipy.linalg

        return scipy.linalg.solve_triangular(R, rhs, trans=int(transposed), check_finite=False)
    return namespace(rhs).solve_triangular(R, rhs, transposed)


_kept: dict[tuple[Any, ...], Any] = {}


def kept(owners: Sequence[Array], key: Hashable, make: Callable[[], Any]) -> Any:
    """Return what ``make`` returns, computed once while all arrays that it depends on live.

    The value must not refer to any of these arrays, which would keep them alive.
    """
    whole = (*map(id, owners), key)
    if whole not in _kept:
        _kept[whole] = make()
        for owner in owners:
            weakref.finalize(owner, _kept.pop, whole, None).atexit = False
    return _kept[whole]


def at(array: Any, like: Any) -> Any:
    """``array`` where ``like`` is: itself, or a copy that is kept as long as the array lives.

    For what a network is made of, which does not change. A tensor from elsewhere is copied anew.
    """
    if isinstance(like, np.ndarray):
        return to_host(array)
    if is_tensor(array):
        return namespace(like).asarray(array)
    dtype = like.dtype if array.dtype.kind == "f" else None

    def make() -> Any:
        # A tensor of the host would share the array's memory, and keep it alive.
        return as_tensor(array.copy(), like.device).to(dtype)

    return kept([array], (str(like.device), dtype), make)


def moved(arrays: Sequence[Any], like: Any) -> list[Any]:
    """Arrays of either kind where ``like`` is, copied unless they are there."""
    if isinstance(like, np.ndarray):
        return [to_host(array) for array in arrays]
    return [namespace(like).asarray(array) for array in arrays]


def side_by_side(arrays: Sequence[Any]) -> list[Any]:
    """Arrays of which some are on a device, all of them there; else as they are."""
    there = next((array for array in arrays if not isinstance(array, np.ndarray)), None)
    return list(arrays) if there is None else moved(arrays, there)


@cache
def _of_device(device: str) -> TorchNamespace:
    return TorchNamespace(device)


class TorchNamespace:
    """NumPy's functions, as many as are needed, for tensors on a device; float64 by default."""

    def __init__(self, device: str) -> None:
        import torch

        self._torch, self.device = torch, torch.device(device)
        self._dtypes: dict[Any, Any] = {None: None}

    def dtype(self, dtype: Any) -> Any:
        """A dtype of NumPy's as one of torch's."""
        if dtype not in self._dtypes:
            of_torch = isinstance(dtype, self._torch.dtype)
            self._dtypes[dtype] = dtype if of_torch else getattr(self._torch, np.dtype(dtype).name)
        return self._dtypes[dtype]

    def _made(self, make: Any, shape: Any, dtype: Any) -> Any:
        shape = shape if isinstance(shape, (tuple, list)) else (shape,)
        return make(tuple(shape), dtype=self.dtype(dtype), device=self.device)

    def empty(self, shape: Any, dtype: Any = np.float64) -> Any:
        return self._made(self._torch.empty, shape, dtype)

    def zeros(self, shape: Any, dtype: Any = np.float64) -> Any:
        return self._made(self._torch.zeros, shape, dtype)

    def ones(self, shape: Any, dtype: Any = np.float64) -> Any:
        return self._made(self._torch.ones, shape, dtype)

    def eye(self, n: int, dtype: Any = np.float64) -> Any:
        return self._torch.eye(n, dtype=self.dtype(dtype), device=self.device)

    def empty_like(self, x: Any) -> Any:
        return self._torch.empty_like(x)

    def zeros_like(self, x: Any) -> Any:
        return self._torch.zeros_like(x)

    def asarray(self, x: Any, dtype: Any = None) -> Any:
        dtype = self.dtype(dtype)
        if is_tensor(x) and dtype in (None, x.dtype) and x.device == self.device:
            return x
        if isinstance(x, np.ndarray) and x.ndim:
            x = as_tensor(x, self.device)
        return self._torch.as_tensor(x, dtype=dtype, device=self.device)

    def ascontiguousarray(self, x: Any, dtype: Any = None) -> Any:
        return self.asarray(x, dtype).contiguous()

    def array(self, x: Any, dtype: Any = None, **_: Any) -> Any:
        return self.asarray(x, dtype).clone()

    def concatenate(self, arrays: Sequence[Any], axis: int = 0, dtype: Any = None) -> Any:
        joined = self._torch.cat(list(arrays), dim=axis)
        return joined if dtype is None else joined.to(self.dtype(dtype))

    def stack(self, arrays: Sequence[Any], axis: int = 0) -> Any:
        return self._torch.stack(list(arrays), dim=axis)

    def tile(self, x: Any, count: int) -> Any:
        return self._torch.tile(x, (count,))

    def tensordot(self, x: Any, y: Any, axes: int) -> Any:
        return self._torch.tensordot(x, y, axes)

    def diagonal(self, x: Any, offset: int = 0, axis1: int = -2, axis2: int = -1) -> Any:
        return x.diagonal(offset, axis1, axis2)

    def abs(self, x: Any) -> Any:
        return x.abs()

    def sqrt(self, x: Any) -> Any:
        return x.sqrt()

    def conj(self, x: Any, out: Any = None) -> Any:
        return x.conj()

    def isfinite(self, x: Any) -> Any:
        return x.isfinite()

    def all(self, x: Any) -> bool:
        return bool(x.all())

    def isnan(self, x: Any) -> Any:
        return x.isnan()

    def maximum(self, x: Any, y: Any) -> Any:
        return x.clamp(min=y) if isinstance(y, (int, float)) else self._torch.maximum(x, y)

    def subtract(self, x: Any, y: Any, out: Any = None) -> Any:
        return x - y

    def divide(self, x: Any, y: Any, out: Any = None) -> Any:
        """X / y, and 0 where y is infinite, which complex tensors do not agree on."""
        return self._torch.where(y.isinf(), 0, x / y)

    def sum(self, x: Any, axis: Any = None) -> Any:
        x = self.stack(x) if isinstance(x, list) else x
        return x.sum() if axis is None else x.sum(axis)

    def max(self, x: Any, axis: Any = None, initial: float | None = None) -> Any:
        x = self.stack(x) if isinstance(x, list) else x
        if initial is not None and x.numel() == 0:
            shape = () if axis is None else [n for i, n in enumerate(x.shape) if i != axis]
            return self.zeros(shape, x.dtype) + initial
        return x.max() if axis is None else x.amax(axis)

    @property
    def linalg(self) -> Any:
        """Of NumPy's ``linalg``, the ``norm`` of vectors along an axis."""
        norm = self._torch.linalg.vector_norm
        return SimpleNamespace(norm=lambda x, axis, ord=2: norm(x, ord, dim=axis))

    def triangle(self, x: Any) -> Any:
        """R of a QR factorisation, whose Q is not computed."""
        return self._torch.linalg.qr(x, mode="r").R

    def cholesky(self, x: Any) -> tuple[Any, bool]:
        """L with L Lᵀ = x, of a stack (…, N, N) all of them, and whether one has none."""
        factor, info = self._torch.linalg.cholesky_ex(x)
        return factor, bool(info.any())

    def cholesky_solve(self, rhs: Any, factor: Any) -> Any:
        return self._torch.cholesky_solve(rhs, factor)

    def solve_triangular(self, x: Any, rhs: Any, transposed: bool = False) -> Any:
        """x⁻¹ rhs for an upper triangle x, or x⁻ᵀ rhs."""
        upper = x.mT if transposed else x
        return self._torch.linalg.solve_triangular(upper, rhs, upper=not transposed)

    def einsum(self, subscripts: str, *operands: Any, **_: Any) -> Any:
        return self._torch.einsum(subscripts, *operands)
