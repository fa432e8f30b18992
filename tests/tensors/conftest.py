"""Fixtures that detect copies from a device to the host, even on machines without a GPU."""

import pytest

from eigenecho import arrays


@pytest.fixture
def device(monkeypatch):
    """Return a GPU, or the CPU with tensors that NumPy cannot read."""
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        return torch.device("cuda", torch.cuda.current_device())

    def refuse(*_, **__):
        raise AssertionError("a tensor was read by NumPy on the way")

    monkeypatch.setattr(arrays, "HOST_DEVICES", set())
    monkeypatch.setattr(torch.Tensor, "__array__", refuse)
    return torch.device("cpu")


@pytest.fixture
def crossings(device, monkeypatch):
    """Record the number of elements of each tensor that is copied to the host."""
    torch = pytest.importorskip("torch")
    sizes, read = [], torch.Tensor.numpy

    def noted(self, *args, **kwargs):
        sizes.append(self.numel())
        return read(self, *args, **kwargs)

    monkeypatch.setattr(torch.Tensor, "numpy", noted)
    return sizes
