"""Tensors that stay where they are, also where there is no device but the host."""

import pytest

from eigenecho import arrays


@pytest.fixture
def device(monkeypatch):
    """A device that tensors stay on: a GPU, or the host as if NumPy could not read its tensors."""
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        return torch.device("cuda", torch.cuda.current_device())

    def refuse(*_, **__):
        raise AssertionError("a tensor was read by NumPy on the way")

    monkeypatch.setattr(arrays, "HOST", set())
    monkeypatch.setattr(torch.Tensor, "__array__", refuse)
    return torch.device("cpu")


@pytest.fixture
def crossings(device, monkeypatch):
    """How many numbers each tensor had that was brought to the host."""
    torch = pytest.importorskip("torch")
    sizes, read = [], torch.Tensor.numpy

    def noted(self, *args, **kwargs):
        sizes.append(self.numel())
        return read(self, *args, **kwargs)

    monkeypatch.setattr(torch.Tensor, "numpy", noted)
    return sizes
