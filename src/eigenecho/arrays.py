"""Common interface to NumPy arrays and torch tensors.

``namespace(x)`` returns a namespace with the functions for the type of ``x``, so that the same code
works for both types:

- ``is_host`` is True for NumPy. Work is then split into blocks that fit into the cache and run on
  threads, and LAPACK works in place. Computations on a device are not split.
- On the devices in ``NO_FLOAT64``, arrays are created in single instead of double precision, and
  arrays that are moved there are converted to single precision.

Public methods are decorated with ``takes_tensors``: they accept tensors and return tensors on the
same device. A tensor in the memory of the host is read as a NumPy array without a copy, so results
are bit-identical. A tensor on a device is passed on unchanged if the method supports devices
(``on_device=True``), and is copied to the host otherwise.

This module imports torch only if a device is named, because a caller with tensors has already
imported it.
"""

from __future__ import annotations

import math
import sys
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cache, wraps
from inspect import signature
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import numpy as np

from eigenecho.errors import Words, bad_argument, missing_package
from eigenecho.types import Array

HOST_DEVICES = {"cpu"}
"""Types of devices whose memory NumPy can read."""

NO_FLOAT64 = {"mps"}
"""Types of devices without float64."""

NOT_SERIES = {"state", "initial_state", "quantiles", "origins"}
"""Names of arguments that are not series and do not determine the array type of the result."""

Method = TypeVar("Method", bound=Callable[..., Any])


def is_tensor(value: Any) -> bool:
    """Return True if a value is a torch tensor."""
    return isinstance(value, getattr(sys.modules.get("torch"), "Tensor", ()))


def is_on_device(value: Any) -> bool:
    """Return True if a value is a tensor whose memory NumPy cannot read."""
    return is_tensor(value) and is_off_host(value.device)


def is_off_host(device: Any) -> bool:
    """Return True if NumPy cannot read the memory of a device (a name or a torch device)."""
    return device is not None and str(device).partition(":")[0] not in HOST_DEVICES


def to_host(value: Any) -> Any:
    """Convert tensors to NumPy arrays, also in lists and tuples; return other values unchanged."""
    if "torch" not in sys.modules:
        return value
    if is_tensor(value):
        return value.detach().resolve_conj().resolve_neg().cpu().numpy()
    # A list that begins with a number contains no tensors. It is not searched, as it may be long.
    if isinstance(value, (list, tuple)) and value and not isinstance(value[0], (int, float)):
        items = [to_host(item) for item in value]
        if any(new is not old for new, old in zip(items, value, strict=True)):
            return _rebuild(value, items)
    return value


def to_device(value: Any, device: Any) -> Any:
    """Convert NumPy arrays to tensors on a device, also in lists and tuples."""
    if isinstance(value, np.ndarray):
        return _torch_namespace(str(device)).asarray(value)
    if isinstance(value, (list, tuple)):
        return _rebuild(value, [to_device(item, device) for item in value])
    return value


def _rebuild(value: Any, items: list[Any]) -> Any:
    """Return items as a list, tuple or named tuple of the type of ``value``."""
    return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)


# Arguments of public methods ---------------------------------------------------------------------


def resolve_device(device: Any) -> str | None:
    """Return the full name of an available device, or None for None, which means NumPy arrays."""
    if device is None:
        return None
    try:
        import torch
    except ImportError as error:
        raise missing_package("Computation on a device", "torch", "gpu") from error
    try:
        return str(torch.empty(0, device=device).device)
    except (AssertionError, RuntimeError, TypeError) as error:
        # AssertionError: torch was built without support for this type of device.
        expected = 'an available torch device, such as "cuda" or "cpu", or None for NumPy arrays'
        remedy = 'Without a GPU, use "cpu" or None: results agree up to rounding errors.'
        raise bad_argument("device", str(device), expected, remedy) from error


def find_device(arguments: Mapping[str, Any]) -> Any:
    """Return the device of the tensors among named arguments, or None if there are no tensors.

    Raise an error for Dask collections, for tensors on different devices, and for unsupported
    tensors.
    """
    device = first = None
    for argument, value in arguments.items():
        _check_in_memory(value, argument)
        for name, tensor in _find_tensors(value, argument):
            _check_tensor(tensor, name)
            if device is None and tensor.is_meta:
                raise bad_argument(name, Words("a tensor on meta"), "a tensor with data")
            if device is None:
                device, first = tensor.device, name
            elif tensor.device != device:
                got, remedy = f"a tensor on {tensor.device}", f"Use {name}.to({first}.device)."
                expected = f"a tensor on {device}, like {first}"
                raise bad_argument(name, Words(got), expected, remedy)
    return device


def takes_tensors(method: Method | None = None, *, on_device: bool = False) -> Any:
    """Decorate a method so that it accepts tensors and returns tensors on their device.

    The method receives NumPy arrays. With ``on_device``, it receives tensors on a device unchanged.
    Dask collections raise an error. If the method returns self, later calls without tensors use
    this device.
    """
    if method is None:
        return lambda decorated: takes_tensors(decorated, on_device=on_device)
    names = [*signature(method).parameters][1:]

    @wraps(method)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        if "torch" not in sys.modules and "dask" not in sys.modules:
            return method(self, *args, **kwargs)
        arguments = dict(zip(names, args, strict=False)) | kwargs
        device = find_device(arguments)
        if device is None and "torch" in sys.modules and not _has_data(arguments):
            device = resolve_device(getattr(self, "_device", None))
        if device is None:
            result = method(self, *args, **kwargs)
            if result is self and hasattr(self, "_device"):
                self._device = None
            return result
        if not (on_device and is_off_host(device)):
            args = tuple(map(to_host, args))
            kwargs = {name: to_host(value) for name, value in kwargs.items()}
        result = call_on_device(device, method, self, *args, **kwargs)
        if result is self:
            self._device = str(device)
            return result
        out = arguments.get("out")  # the method has written its result there
        return to_device(result, device) if out is None else out

    return cast(Method, wrapped)


def call_on_device(device: Any, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a method on tensors of a device; raise MemoryError if the device lacks memory."""
    import torch

    try:
        return method(*args, **kwargs)
    except torch.OutOfMemoryError as error:
        message = str(error)
    # Raise outside the handler, because its traceback holds the tensors that filled the memory.
    numbers = ". ".join(message.split(". ")[1:3]).rstrip(".")
    raise MemoryError(
        f"There is not enough memory on {device}: {numbers}. A fit needs about three arrays of "
        "units × units numbers, and states need steps × units numbers. Lower units, use "
        "dtype='float32', split a long series (initial_state=), or compute on the CPU."
    )


def _find_tensors(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the name and value of each tensor; skip lists that begin with a number."""
    if is_tensor(value):
        yield name, value
    elif isinstance(value, (list, tuple)) and len(value) and not isinstance(value[0], (int, float)):
        for i, item in enumerate(value):
            yield from _find_tensors(item, f"{name}[{i}]")


def _check_in_memory(value: Any, name: str) -> None:
    """Raise if an argument, or its first element, is a Dask collection."""
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    if any(kind.__module__.partition(".")[0] == "dask" for kind in type(first).__mro__):
        got = Words(f"a dask {type(first).__name__}")
        remedy = "Compute it first, or use eigenecho.dask to fit or predict on a cluster."
        raise bad_argument(name, got, "data in the memory of this process", remedy)


def _check_tensor(tensor: Any, name: str) -> None:
    """Raise if a tensor requires gradients, has low precision, or is not dense."""
    if tensor.requires_grad:
        got, expected = "a tensor that requires grad", "a tensor without gradients"
        raise bad_argument(name, Words(got), expected, f"Use {name}.detach().")
    if tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4:
        got = f"a {tensor.dtype} tensor on {tensor.device}"
        raise bad_argument(name, Words(got), "float32 or float64 numbers", f"Use {name}.float().")
    if tensor.is_nested:
        expected, remedy = "dense tensors", f"Use list({name}.unbind()) for several series."
        raise bad_argument(name, Words("a nested tensor"), expected, remedy)
    if tensor.layout is not sys.modules["torch"].strided:
        got = f"a {tensor.layout} tensor"
        raise bad_argument(name, Words(got), "a dense tensor", f"Use {name}.to_dense().")


def _has_data(arguments: dict[str, Any]) -> bool:
    """Return True if arguments contain series, which determine the array type of the result."""
    series = [value for name, value in arguments.items() if name not in NOT_SERIES]
    return any(hasattr(value, "__len__") and not isinstance(value, str) for value in series)


# Functions for arrays and tensors -----------------------------------------------------------------


def read_only(array: Array) -> Array:
    """Return a view of an array that cannot be used to change it."""
    view = array.view()
    view.flags.writeable = False
    return view


def namespace(array: Any) -> Any:
    """Return the functions for the type of an array, on the device of the array."""
    if isinstance(array, np.ndarray) or not is_tensor(array):
        return NUMPY
    return _torch_namespace(str(array.device))


_computed: dict[tuple[Any, ...], Any] = {}
"""Cached results of ``compute_once``, indexed by the ids of the owners and a key."""


def compute_once(owners: Sequence[Array], key: Hashable, compute: Callable[[], Any]) -> Any:
    """Return the result of ``compute``, which is cached as long as all ``owners`` exist.

    The owners are the arrays on which the result depends. The result must not refer to any of
    them, because a reference would keep them alive.
    """
    full_key = (*map(id, owners), key)
    if full_key not in _computed:
        _computed[full_key] = compute()
        for owner in owners:
            weakref.finalize(owner, _computed.pop, full_key, None).atexit = False
    return _computed[full_key]


def to_like(array: Any, like: Any) -> Any:
    """Return a constant array of a network as an array on the device of ``like``.

    A copy of a NumPy array on a device is cached as long as the NumPy array exists. Tensors are
    copied in each call.
    """
    xp = namespace(like)
    if xp.is_host or is_tensor(array):
        return xp.asarray(array)
    dtype = like.dtype if array.dtype.kind == "f" else None
    # Copy first: a tensor on the host would share the memory of the array and keep it alive.
    return compute_once([array], (str(like.device), dtype), lambda: xp.asarray(array.copy(), dtype))


def to_common_device(arrays: Sequence[Any]) -> list[Any]:
    """Return arrays on the device of the first tensor, or unchanged if there are no tensors."""
    tensor = next((array for array in arrays if is_tensor(array)), None)
    return list(arrays) if tensor is None else [*map(namespace(tensor).asarray, arrays)]


class NumPyNamespace:
    """Functions of NumPy and SciPy."""

    is_host = True

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        setattr(self, name, function)  # the next access does not call this method
        return function

    def asarray(self, x: Any, dtype: Any = None) -> Array:
        return np.asarray(to_host(x), dtype)

    def all_finite(self, x: Array) -> bool:
        return bool(np.isfinite(x).all())

    def rfft(self, x: Array, n: int | None = None, **options: Any) -> Array:
        from scipy import fft

        return fft.rfft(x, n, **options)

    def irfft(self, x: Array, n: int | None = None) -> Array:
        from scipy import fft

        return fft.irfft(x, n)

    def upper_cholesky(self, A: Array) -> Array:
        from scipy.linalg import cholesky

        return cholesky(A)

    def solve_triangular(self, R: Array, rhs: Array, transposed: bool = False) -> Array:
        from scipy.linalg import solve_triangular

        return solve_triangular(R, rhs, trans=int(transposed), check_finite=False)


NUMPY = NumPyNamespace()


class TorchNamespace:
    """Functions of torch on a device, with the signatures of NumPy."""

    is_host = False

    def __init__(self, device: str) -> None:
        import torch

        self._torch, self.device = torch, torch.device(device)
        self._dtypes: dict[Any, Any] = {None: None}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._torch, name)

    def dtype(self, dtype: Any) -> Any:
        """Return the torch dtype for a NumPy or torch dtype; use single precision if necessary."""
        if dtype not in self._dtypes:
            if isinstance(dtype, self._torch.dtype):
                name = str(dtype).partition(".")[2]
            else:
                name = np.dtype(dtype).name
            if self.device.type in NO_FLOAT64:
                name = {"float64": "float32", "complex128": "complex64"}.get(name, name)
            self._dtypes[dtype] = getattr(self._torch, name)
        return self._dtypes[dtype]

    def _create(self, make: Any, shape: Any, dtype: Any) -> Any:
        shape = shape if isinstance(shape, (tuple, list)) else (shape,)
        return make(tuple(shape), dtype=self.dtype(dtype), device=self.device)

    def empty(self, shape: Any, dtype: Any = np.float64) -> Any:
        return self._create(self._torch.empty, shape, dtype)

    def zeros(self, shape: Any, dtype: Any = np.float64) -> Any:
        return self._create(self._torch.zeros, shape, dtype)

    def ones(self, shape: Any, dtype: Any = np.float64) -> Any:
        return self._create(self._torch.ones, shape, dtype)

    def eye(self, n: int, dtype: Any = np.float64) -> Any:
        return self._torch.eye(n, dtype=self.dtype(dtype), device=self.device)

    def asarray(self, x: Any, dtype: Any = None) -> Any:
        if is_tensor(x):
            return x.to(self.device, self.dtype(x.dtype if dtype is None else dtype))
        x = np.asarray(x, order="C")
        x = self._torch.from_numpy(x if x.flags.writeable else x.copy())
        return x.to(self.dtype(x.dtype)).to(self.device, self.dtype(dtype))

    def ascontiguousarray(self, x: Any, dtype: Any = None) -> Any:
        return self.asarray(x, dtype).contiguous()

    def array(self, x: Any, dtype: Any = None, **_: Any) -> Any:
        return self.asarray(x, dtype).clone()

    def concatenate(self, arrays: Sequence[Any], axis: int = 0, dtype: Any = None) -> Any:
        whole = self._torch.cat(list(arrays), dim=axis)
        return whole if dtype is None else whole.to(self.dtype(dtype))

    def diagonal(self, x: Any, offset: int = 0, axis1: int = -2, axis2: int = -1) -> Any:
        return x.diagonal(offset, axis1, axis2)

    def conj(self, x: Any, out: Any = None) -> Any:
        return x.conj()

    def all_finite(self, x: Any) -> bool:
        # One pass is usually enough: a sum of finite numbers may overflow, but a sum with NaN or
        # Inf is never finite.
        return math.isfinite(float(x.sum())) or bool(x.isfinite().all())

    def maximum(self, x: Any, y: Any) -> Any:
        return x.clamp(min=y) if isinstance(y, (int, float)) else self._torch.maximum(x, y)

    def subtract(self, x: Any, y: Any, out: Any = None) -> Any:
        return x - y

    def divide(self, x: Any, y: Any, out: Any = None) -> Any:
        """Return x / y, and 0 for infinite y, where the results of devices can differ."""
        return self._torch.where(y.isinf(), 0, x / y)

    def max(self, x: Any, axis: Any = None, initial: float | None = None) -> Any:
        if initial is not None and x.numel() == 0:
            shape = () if axis is None else [n for i, n in enumerate(x.shape) if i != axis]
            return self.zeros(shape, x.dtype) + initial
        return x.max() if axis is None else x.amax(axis)

    @property
    def linalg(self) -> Any:
        """Namespace with the ``norm`` of vectors along an axis, as in ``numpy.linalg``."""
        norm = self._torch.linalg.vector_norm
        return SimpleNamespace(norm=lambda x, axis, ord=2: norm(x, ord, dim=axis))

    def rfft(self, x: Any, n: int | None = None, **_: Any) -> Any:
        return self._torch.fft.rfft(x, n)

    def irfft(self, x: Any, n: int | None = None) -> Any:
        return self._torch.fft.irfft(x, n)

    def sliding_windows(self, x: Any, size: int, step: int) -> Any:
        """Return windows (…, W, size) of the last axis, which start at multiples of ``step``."""
        return x.unfold(-1, size, step)

    def triangle(self, x: Any) -> Any:
        """Return the factor R of a QR factorisation, without computing Q."""
        return self._torch.linalg.qr(x, mode="r").R

    def cholesky(self, x: Any) -> tuple[Any, bool]:
        """Return L with L Lᵀ = x for a stack (…, N, N), and True if any factorisation failed."""
        factor, info = self._torch.linalg.cholesky_ex(x)
        return factor, bool(info.any())

    def upper_cholesky(self, A: Any) -> Any:
        """Return the upper triangular R with RᵀR = A, or raise ``LinAlgError`` as SciPy does."""
        factor, failed = self.cholesky(A)
        if failed:
            raise np.linalg.LinAlgError("not positive definite")
        return factor.mT

    def solve_triangular(self, R: Any, rhs: Any, transposed: bool = False) -> Any:
        """Return R⁻¹ rhs, or R⁻ᵀ rhs if ``transposed`` is True, for an upper triangular R."""
        upper = R.mT if transposed else R
        return self._torch.linalg.solve_triangular(upper, rhs, upper=not transposed)

    def einsum(self, subscripts: str, *operands: Any, **_: Any) -> Any:
        return self._torch.einsum(subscripts, *operands)


_torch_namespace = cache(TorchNamespace)
