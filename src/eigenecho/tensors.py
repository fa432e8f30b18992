"""Tensors of torch: read as arrays where NumPy reaches them, and answers given back as tensors.

A tensor in the memory of the host is a NumPy array by another name: it is read without a copy,
and everything computes what it computes for arrays, to the last bit. A tensor on a device is
computed with where it is by what can do so (``stays``), and brought to the host for all else.
Answers lie on the device that the tensors came from.

Nothing here imports torch unless a device is asked for by name: where there is a tensor, it is
loaded already.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

import numpy as np

from eigenecho.checks import check_in_memory
from eigenecho.errors import Shown, bad_argument, out_of_memory, two_devices
from eigenecho.keywords import check_keywords

HOST = {"cpu"}
"""Kinds of devices whose memory NumPy reads."""

NO_SERIES = {"state", "initial_state", "quantiles", "origins"}
"""Arguments that are no series, and do not say what kind of arrays a caller has."""

Method = TypeVar("Method", bound=Callable[..., Any])


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor of torch."""
    return isinstance(value, getattr(sys.modules.get("torch"), "Tensor", ()))


def on_device(value: Any) -> bool:
    """Whether a value is a tensor in memory that NumPy does not read."""
    return is_tensor(value) and is_apart(value.device)


def is_apart(device: Any) -> bool:
    """Whether a device, or its name, is one whose memory NumPy does not read; None is not."""
    return device is not None and str(device).partition(":")[0] not in HOST


def to_host(value: Any, copies: dict[int, Any] | None = None) -> Any:
    """Tensors as NumPy arrays, also those in lists and tuples; all else as it is.

    ``copies`` takes note of which array a tensor became, by the id of the array.
    """
    if "torch" not in sys.modules:
        return value
    if is_tensor(value):
        array = value.detach().resolve_conj().resolve_neg().cpu().numpy()
        if copies is not None:
            copies[id(array)] = (array, value)
        return array
    if isinstance(value, (list, tuple)) and any(True for _ in _inside(value, "")):
        return _rebuilt(value, [to_host(one, copies) for one in value])
    return value


def to_device(value: Any, device: Any, copies: dict[int, Any] | None = None) -> Any:
    """NumPy arrays as tensors on a device, also those in lists and tuples; all else as it is.

    An array that a given tensor was read as, by ``copies``, is that tensor.
    """
    if isinstance(value, np.ndarray):
        if copies and id(value) in copies:
            return copies[id(value)][1]
        return as_tensor(value, device)
    if isinstance(value, (list, tuple)):
        return _rebuilt(value, [to_device(one, device, copies) for one in value])
    return value


def as_tensor(array: Any, device: Any) -> Any:
    """An array as a tensor on a device; without a copy on the host, where it may be written to."""
    import torch

    array = array if array.flags.writeable else array.copy()
    return torch.from_numpy(np.ascontiguousarray(array)).to(device)


def checked_device(device: Any) -> str | None:
    """The name of a device that is there; None, for NumPy arrays, as it is."""
    if device is None:
        return None
    try:
        import torch
    except ImportError as error:
        raise ImportError("this needs torch: pip install 'eigenecho[gpu]'") from error
    try:
        wanted = torch.device(device)
    except (RuntimeError, TypeError) as error:
        wanted_is = 'a device of torch, such as "cuda" or "cpu", or None for NumPy arrays'
        raise bad_argument("device", device, wanted_is) from error
    if wanted.type == "cuda":
        count = torch.cuda.device_count()
        if not torch.cuda.is_available() or (wanted.index or 0) >= count:
            remedy = "Models and files need none: the CPU computes the same answers."
            there = f"one of {count} CUDA devices" if count else "a device that is there: no CUDA"
            raise bad_argument("device", str(wanted), there, remedy)
        return f"cuda:{torch.cuda.current_device() if wanted.index is None else wanted.index}"
    return str(wanted)


def device_of(given: dict[str, Any]) -> Any:
    """The device that all tensors among named arguments are on; None where there is no tensor.

    Raises for tensors on two devices, and for those that cannot be computed with.
    """
    device = first = None
    for argument, value in given.items():
        for name, tensor in _inside(value, argument):
            _check(tensor, name)
            if device is None:
                device, first = tensor.device, name
            elif tensor.device != device:
                raise two_devices(first, device, name, tensor.device)
    return device


def takes_tensors(method: Method | None = None, *, stays: bool = False) -> Any:
    """Let a method take tensors, and answer with tensors on their device.

    What it gets are NumPy arrays; if it ``stays``, tensors on a device reach it as they are, and
    collections of Dask in no case. A method that returns its object makes their device that of
    later answers to no tensor at all. Keywords that it does not take are told where they belong.
    """
    if method is None:
        return lambda one: takes_tensors(one, stays=stays)
    names = [*signature(method).parameters][1:]

    @wraps(method)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_keywords(self, method.__name__, kwargs, names)
        if "torch" not in sys.modules and "dask" not in sys.modules:
            return method(self, *args, **kwargs)
        given = dict(zip(names, args, strict=False)) | kwargs
        check_in_memory(given)
        if "torch" not in sys.modules:
            return method(self, *args, **kwargs)
        device = device_of(given)
        if device is None:
            if getattr(self, "_device", None) is None or _has_data(given):
                found = method(self, *args, **kwargs)
                if found is self and hasattr(self, "_device"):
                    self._device = None
                return found
            device = checked_device(self._device)
        copies: dict[int, Any] = {}
        if not (stays and is_apart(device)):
            args = tuple(to_host(one, copies) for one in args)
            kwargs = {name: to_host(one, copies) for name, one in kwargs.items()}
        found = with_memory(device, method, self, *args, **kwargs)
        if found is self:
            self._device = str(device)
            return found
        return to_device(found, device, copies)

    return cast(Method, wrapped)


def with_memory(device: Any, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a method on tensors of a device, and say in our words that it has too little memory."""
    import torch

    try:
        return method(*args, **kwargs)
    except torch.OutOfMemoryError as error:
        said = str(error)
    # Outside of the handler: its traceback holds the tensors that filled the memory.
    raise out_of_memory(device, said)


def _inside(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The tensors in a value, and what to call them; not looked for among plain numbers."""
    if is_tensor(value):
        yield name, value
    elif isinstance(value, (list, tuple)) and len(value) and not isinstance(value[0], (int, float)):
        for i, one in enumerate(value):
            yield from _inside(one, f"{name}[{i}]")


def _check(tensor: Any, name: str) -> None:
    """Raise for tensors that are computed with only after a decision of the caller's."""
    if tensor.requires_grad:
        raise bad_argument(
            name, Shown("tensor that requires grad"), "a tensor without gradients",
            f"Nothing here is differentiated: {name}.detach().",
        )  # fmt: skip
    if tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4:
        wanted = "float32 or float64: half precision has too few digits for a recurrence"
        got = Shown(f"tensor of {tensor.dtype} on {tensor.device}")
        raise bad_argument(name, got, wanted, f"{name}.float().")
    if tensor.layout is not sys.modules["torch"].strided:
        raise bad_argument(name, Shown(f"{tensor.layout} tensor"), "a dense tensor",
                           f"{name}.to_dense().")  # fmt: skip


def _has_data(given: dict[str, Any]) -> bool:
    """Whether arguments hold series of another kind, which then are answered in their own."""
    series = [value for name, value in given.items() if name not in NO_SERIES]
    return any(hasattr(value, "__len__") and not isinstance(value, str) for value in series)


def _rebuilt(value: Any, parts: list[Any]) -> Any:
    """Parts as the list, tuple or named tuple that they were taken from."""
    if hasattr(value, "_fields"):
        return type(value)(*parts)
    return type(value)(parts)
