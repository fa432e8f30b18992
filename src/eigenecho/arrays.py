"""NumPy arrays and torch tensors behind one interface.

``namespace(x)`` returns the functions for the kind of array that ``x`` is, so that algebra is
written once. It is also the value that says what a backend can do:

- ``is_host``: NumPy. Work is cut into blocks that fit into cache and run on threads, and LAPACK
  works in place. Other backends work on everything at once.
- Types of devices in ``NO_FLOAT64``: double precision becomes single precision wherever an array
  is created or moved.

Public methods are decorated with ``takes_tensors``: they accept tensors and return tensors on the
same device. A tensor in the memory of the host is read as a NumPy array without a copy, so results
are equal to the last bit. A tensor on a device is passed on if the method can compute there
(``stays``), and is copied to the host otherwise.

Nothing here imports torch unless a device is named: where there is a tensor, torch is loaded.
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

from eigenecho.errors import Words, bad_argument
from eigenecho.types import Array

HOST = {"cpu"}
"""Types of devices whose memory NumPy reads."""

NO_FLOAT64 = {"mps"}
"""Types of devices without float64."""

NO_SERIES = {"state", "initial_state", "quantiles", "origins"}
"""Arguments that are not series: they do not determine the kind of array that is returned."""

Method = TypeVar("Method", bound=Callable[..., Any])


def is_tensor(value: Any) -> bool:
    """Return True if a value is a torch tensor."""
    return isinstance(value, getattr(sys.modules.get("torch"), "Tensor", ()))


def on_device(value: Any) -> bool:
    """Return True if a value is a tensor in memory that NumPy cannot read."""
    return is_tensor(value) and is_apart(value.device)


def is_apart(device: Any) -> bool:
    """Return True if NumPy cannot read the memory of a device, given by name or as an object."""
    return device is not None and str(device).partition(":")[0] not in HOST


def to_host(value: Any) -> Any:
    """Return tensors as NumPy arrays, also in lists and tuples; other values are unchanged."""
    if "torch" not in sys.modules:
        return value
    if is_tensor(value):
        return value.detach().resolve_conj().resolve_neg().cpu().numpy()
    # Long lists of numbers have no tensors.
    if isinstance(value, (list, tuple)) and value and not isinstance(value[0], (int, float)):
        items = [to_host(item) for item in value]
        if any(new is not old for new, old in zip(items, value, strict=True)):
            return _rebuild(value, items)
    return value


def to_device(value: Any, device: Any) -> Any:
    """Return NumPy arrays as tensors on a device, also in lists and tuples."""
    if isinstance(value, np.ndarray):
        return _on_device(str(device)).asarray(value)
    if isinstance(value, (list, tuple)):
        return _rebuild(value, [to_device(item, device) for item in value])
    return value


def _rebuild(value: Any, items: list[Any]) -> Any:
    """Return items in the list, tuple or named tuple that they were taken from."""
    return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)


# Arguments of public methods ---------------------------------------------------------------------


def checked_device(device: Any) -> str | None:
    """Return the full name of an available device; None, for NumPy arrays, is unchanged."""
    if device is None:
        return None
    try:
        import torch
    except ImportError as error:
        raise ImportError("devices need torch: pip install 'eigenecho[gpu]'") from error
    try:
        return str(torch.empty(0, device=device).device)
    except (AssertionError, RuntimeError, TypeError) as error:
        # AssertionError: torch was built without support for this type of device.
        expected = 'an available torch device, such as "cuda" or "cpu", or None for NumPy arrays'
        remedy = "Models and files need none: the CPU computes the same answers."
        raise bad_argument("device", str(device), expected, remedy) from error


def device_of(arguments: Mapping[str, Any]) -> Any:
    """Return the device of all tensors among named arguments; None if there are no tensors.

    Raises an error for Dask collections, for tensors on two devices, and for tensors that are not
    supported.
    """
    device = first = None
    for argument, value in arguments.items():
        _check_in_memory(value, argument)
        for name, tensor in _tensors(value, argument):
            _check_tensor(tensor, name)
            if device is None:
                device, first = tensor.device, name
            elif tensor.device != device:
                got, remedy = Words(f"tensor on {tensor.device}"), f"{name}.to({first}.device)."
                raise bad_argument(name, got, f"a tensor on {device}, as {first}", remedy)
    return device


def takes_tensors(method: Method | None = None, *, stays: bool = False) -> Any:
    """Let a method accept tensors and return tensors on their device.

    The method receives NumPy arrays; if it ``stays``, it receives tensors on a device unchanged.
    Dask collections are refused. If the method returns self, later calls without tensors use this
    device.
    """
    if method is None:
        return lambda decorated: takes_tensors(decorated, stays=stays)
    names = [*signature(method).parameters][1:]

    @wraps(method)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        if "torch" not in sys.modules and "dask" not in sys.modules:
            return method(self, *args, **kwargs)
        arguments = dict(zip(names, args, strict=False)) | kwargs
        device = device_of(arguments)
        if device is None and "torch" in sys.modules and not _has_data(arguments):
            device = checked_device(getattr(self, "_device", None))
        if device is None:
            answer = method(self, *args, **kwargs)
            if answer is self and hasattr(self, "_device"):
                self._device = None
            return answer
        if not (stays and is_apart(device)):
            args = tuple(map(to_host, args))
            kwargs = {name: to_host(value) for name, value in kwargs.items()}
        answer = with_memory(device, method, self, *args, **kwargs)
        if answer is self:
            self._device = str(device)
            return answer
        out = arguments.get("out")  # the method has written its answer there
        return to_device(answer, device) if out is None else out

    return cast(Method, wrapped)


def with_memory(device: Any, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a method on tensors of a device; raise MemoryError if it has too little memory."""
    import torch

    try:
        return method(*args, **kwargs)
    except torch.OutOfMemoryError as error:
        message = str(error)
    # Raised outside the handler, whose traceback holds the tensors that filled the memory.
    numbers = ". ".join(message.split(". ")[1:3]).rstrip(".")
    raise MemoryError(
        f"not enough memory on {device}: {numbers}. A fit needs about three arrays of "
        "units × units numbers, states need steps × units: lower units, use dtype='float32', "
        "pass a long series in pieces (initial_state=), or compute on the CPU."
    )


def _tensors(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the names and tensors in a value; long lists of numbers are skipped."""
    if is_tensor(value):
        yield name, value
    elif isinstance(value, (list, tuple)) and len(value) and not isinstance(value[0], (int, float)):
        for i, item in enumerate(value):
            yield from _tensors(item, f"{name}[{i}]")


def _check_in_memory(value: Any, name: str) -> None:
    """Raise if an argument, or its first element, is a Dask collection."""
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    if any(kind.__module__.partition(".")[0] == "dask" for kind in type(first).__mro__):
        got = Words(f"dask {type(first).__name__}")
        remedy = "Compute it first, or use eigenecho.dask to fit or predict on a cluster."
        raise bad_argument(name, got, "data in the memory of this process", remedy)


def _check_tensor(tensor: Any, name: str) -> None:
    """Raise if the caller has to convert a tensor first."""
    if tensor.requires_grad:
        got, expected = "tensor that requires grad", "a tensor without gradients"
        raise bad_argument(name, Words(got), expected, f"Use {name}.detach().")
    if tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4:
        got = f"tensor of {tensor.dtype} on {tensor.device}"
        raise bad_argument(name, Words(got), "float32 or float64", f"Use {name}.float().")
    if tensor.layout is not sys.modules["torch"].strided:
        got = f"{tensor.layout} tensor"
        raise bad_argument(name, Words(got), "a dense tensor", f"Use {name}.to_dense().")


def _has_data(arguments: dict[str, Any]) -> bool:
    """Return True if arguments hold series of another kind, which determine that of the result."""
    series = [value for name, value in arguments.items() if name not in NO_SERIES]
    return any(hasattr(value, "__len__") and not isinstance(value, str) for value in series)


# Functions of both kinds of array -----------------------------------------------------------------


def namespace(array: Any) -> Any:
    """Return the functions for this kind of array, on its device."""
    if isinstance(array, np.ndarray) or not is_tensor(array):
        return NUMPY
    return _on_device(str(array.device))


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
    """Return an array on the device of ``like``, as a copy that is kept while the array lives.

    For the constant arrays of a network. Tensors are copied on each call.
    """
    xp = namespace(like)
    if xp.is_host or is_tensor(array):
        return xp.asarray(array)
    dtype = like.dtype if array.dtype.kind == "f" else None
    # A tensor on the host would share the memory of the array, and keep it alive.
    return kept([array], (str(like.device), dtype), lambda: xp.asarray(array.copy(), dtype))


def moved(arrays: Sequence[Any], like: Any) -> list[Any]:
    """Return arrays of either kind on the device of ``like``, copied only if necessary."""
    return [namespace(like).asarray(array) for array in arrays]


def side_by_side(arrays: Sequence[Any]) -> list[Any]:
    """Return all arrays on the device that some of them are on; else unchanged."""
    tensor = next((array for array in arrays if is_tensor(array)), None)
    return list(arrays) if tensor is None else moved(arrays, tensor)


class NumPyNamespace:
    """NumPy's functions, and those that SciPy has for its arrays."""

    is_host = True

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        setattr(self, name, function)  # the next use finds it without this method
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
    """Torch's functions, with the signatures of NumPy where they differ, on a device."""

    is_host = False

    def __init__(self, device: str) -> None:
        import torch

        self._torch, self.device = torch, torch.device(device)
        self._dtypes: dict[Any, Any] = {None: None}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._torch, name)

    def dtype(self, dtype: Any) -> Any:
        """Return the torch dtype for one of NumPy or torch, at most as wide as the device has."""
        if dtype not in self._dtypes:
            if isinstance(dtype, self._torch.dtype):
                name = str(dtype).partition(".")[2]
            else:
                name = np.dtype(dtype).name
            if self.device.type in NO_FLOAT64:
                name = {"float64": "float32", "complex128": "complex64"}.get(name, name)
            self._dtypes[dtype] = getattr(self._torch, name)
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
        joined = self._torch.cat(list(arrays), dim=axis)
        return joined if dtype is None else joined.to(self.dtype(dtype))

    def diagonal(self, x: Any, offset: int = 0, axis1: int = -2, axis2: int = -1) -> Any:
        return x.diagonal(offset, axis1, axis2)

    def conj(self, x: Any, out: Any = None) -> Any:
        return x.conj()

    def all_finite(self, x: Any) -> bool:
        # In most cases one pass is enough: a sum of finite numbers may overflow, but a sum with
        # NaN or Inf is never finite.
        return math.isfinite(float(x.sum())) or bool(x.isfinite().all())

    def maximum(self, x: Any, y: Any) -> Any:
        return x.clamp(min=y) if isinstance(y, (int, float)) else self._torch.maximum(x, y)

    def subtract(self, x: Any, y: Any, out: Any = None) -> Any:
        return x - y

    def divide(self, x: Any, y: Any, out: Any = None) -> Any:
        """Return x / y, and 0 where y is infinite, which complex tensors do not agree on."""
        return self._torch.where(y.isinf(), 0, x / y)

    def max(self, x: Any, axis: Any = None, initial: float | None = None) -> Any:
        if initial is not None and x.numel() == 0:
            shape = () if axis is None else [n for i, n in enumerate(x.shape) if i != axis]
            return self.zeros(shape, x.dtype) + initial
        return x.max() if axis is None else x.amax(axis)

    @property
    def linalg(self) -> Any:
        """The ``norm`` of vectors along an axis, from NumPy's ``linalg``."""
        norm = self._torch.linalg.vector_norm
        return SimpleNamespace(norm=lambda x, axis, ord=2: norm(x, ord, dim=axis))

    def rfft(self, x: Any, n: int | None = None, **_: Any) -> Any:
        return self._torch.fft.rfft(x, n)

    def irfft(self, x: Any, n: int | None = None) -> Any:
        return self._torch.fft.irfft(x, n)

    def triangle(self, x: Any) -> Any:
        """Return R of a QR factorisation, without computing Q."""
        return self._torch.linalg.qr(x, mode="r").R

    def cholesky(self, x: Any) -> tuple[Any, bool]:
        """Return L with L Lᵀ = x for a stack (…, N, N), and whether any of them failed."""
        factor, info = self._torch.linalg.cholesky_ex(x)
        return factor, bool(info.any())

    def upper_cholesky(self, A: Any) -> Any:
        """Return the upper R with RᵀR = A, or raise ``LinAlgError`` as SciPy does."""
        factor, failed = self.cholesky(A)
        if failed:
            raise np.linalg.LinAlgError("not positive definite")
        return factor.mT

    def solve_triangular(self, R: Any, rhs: Any, transposed: bool = False) -> Any:
        """Return R⁻¹ rhs for an upper triangle R, or R⁻ᵀ rhs."""
        upper = R.mT if transposed else R
        return self._torch.linalg.solve_triangular(upper, rhs, upper=not transposed)

    def einsum(self, subscripts: str, *operands: Any, **_: Any) -> Any:
        return self._torch.einsum(subscripts, *operands)


_on_device = cache(TorchNamespace)
