"""Tensors that stay where they are, also where there is no device but the host."""

import pytest

from eigenecho import tensors


@pytest.fixture
def device(monkeypatch):
    """A device that tensors stay on: a GPU, or the host as if NumPy could not read its tensors."""
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        return torch.device("cuda", torch.cuda.current_device())

    def refuse(*_, **__):
        raise AssertionError("a tensor was read by NumPy on the way")

    monkeypatch.setattr(tensors, "HOST", set())
    monkeypatch.setattr(torch.Tensor, "__array__", refuse)
    return torch.device("cpu")
