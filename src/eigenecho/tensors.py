"""Methods that accept torch tensors and return tensors on the same device.

A tensor in the memory of the host is read as a NumPy array without a copy, so results are equal to
the last bit. A tensor on a device is passed on if the method can compute there (``stays``), and
is copied to the host otherwise.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

from eigenecho.arrays import is_apart, is_tensor, to_device, to_host
from eigenecho.checks import check_in_memory
from eigenecho.errors import Words, bad_argument

NO_SERIES = {"state", "initial_state", "quantiles", "origins"}
"""Arguments that are not series: they do not determine the kind of array that is returned."""

Method = TypeVar("Method", bound=Callable[..., Any])


def checked_device(device: Any) -> str | None:
    """Return the name of an available device; None, for NumPy arrays, is unchanged."""
    if device is None:
        return None
    try:
        import torch
    except ImportError as error:
        raise ImportError("devices need torch: pip install 'eigenecho[gpu]'") from error
    try:
        requested = torch.device(device)
    except (RuntimeError, TypeError) as error:
        expected = 'a torch device, such as "cuda" or "cpu", or None for NumPy arrays'
        raise bad_argument("device", device, expected) from error
    if requested.type == "cuda":
        count = torch.cuda.device_count()
        if not torch.cuda.is_available() or (requested.index or 0) >= count:
            remedy = "Models and files need none: the CPU computes the same answers."
            expected = f"one of {count} CUDA devices" if count else "another device: no CUDA"
            raise bad_argument("device", str(requested), expected, remedy)
        return f"cuda:{torch.cuda.current_device() if requested.index is None else requested.index}"
    return str(requested)


def device_of(arguments: dict[str, Any]) -> Any:
    """Return the device of all tensors among named arguments; None if there are no tensors.

    Raises an error for tensors on two devices and for tensors that are not supported.
    """
    device = first = None
    for argument, value in arguments.items():
        for name, tensor in _tensors(value, argument):
            _check(tensor, name)
            if device is None:
                device, first = tensor.device, name
            elif tensor.device != device:
                raise bad_argument(
                    name, Words(f"tensor on {tensor.device}"),
                    f"a tensor on {device}, as {first}", f"{name}.to({first}.device).",
                )  # fmt: skip
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
        check_in_memory(arguments)
        if "torch" not in sys.modules:
            return method(self, *args, **kwargs)
        device = device_of(arguments)
        if device is None:
            if getattr(self, "_device", None) is None or _has_data(arguments):
                answer = method(self, *args, **kwargs)
                if answer is self and hasattr(self, "_device"):
                    self._device = None
                return answer
            device = checked_device(self._device)
        copies: dict[int, Any] = {}
        if not (stays and is_apart(device)):
            args = tuple(to_host(value, copies) for value in args)
            kwargs = {name: to_host(value, copies) for name, value in kwargs.items()}
        answer = with_memory(device, method, self, *args, **kwargs)
        if answer is self:
            self._device = str(device)
            return answer
        return to_device(answer, device, copies)

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


def _check(tensor: Any, name: str) -> None:
    """Raise if the caller has to convert a tensor first."""
    if tensor.requires_grad:
        raise bad_argument(
            name, Words("tensor that requires grad"), "a tensor without gradients",
            f"Use {name}.detach().",
        )  # fmt: skip
    if tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4:
        got = Words(f"tensor of {tensor.dtype} on {tensor.device}")
        raise bad_argument(name, got, "float32 or float64", f"Use {name}.float().")
    if tensor.layout is not sys.modules["torch"].strided:
        got = Words(f"{tensor.layout} tensor")
        raise bad_argument(name, got, "a dense tensor", f"Use {name}.to_dense().")


def _has_data(arguments: dict[str, Any]) -> bool:
    """Return True if arguments hold series of another kind, which determine that of the result."""
    series = [value for name, value in arguments.items() if name not in NO_SERIES]
    return any(hasattr(value, "__len__") and not isinstance(value, str) for value in series)
