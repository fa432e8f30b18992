"""Devices without float64: one entry in ``arrays.WIDEST`` is enough to train and predict there."""

import numpy as np
import pytest

import eigenecho as ee
from eigenecho import arrays

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.tensors

MOVES = ("_to_copy", "lift_fresh", "detach", "alias", "resolve", "view")
"""Operations that may see numbers of the host in double precision."""


class NoDouble(torch.utils._python_dispatch.TorchDispatchMode):
    """Refuse operations on float64 tensors, as a device without them does."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        answer = function(*args, **(kwargs or {}))
        if not any(move in function.__name__ for move in MOVES):
            flat = torch.utils._pytree.tree_leaves((args, kwargs, answer))
            for value in flat:
                wide = isinstance(value, torch.Tensor) and value.dtype in (
                    torch.float64,
                    torch.complex128,
                )
                assert not wide, function
        return answer


@pytest.mark.parametrize(
    "options", [{}, {"standardize": True, "warmup": 20}, {"penalty": "identity", "ridge": 1e-3}]
)
def test_a_device_without_float64_trains_and_predicts(device, monkeypatch, options):
    if device.type != "cpu":
        pytest.skip("the host stands in for a device without float64")
    monkeypatch.setattr(arrays, "WIDEST", {"cpu": np.float32})
    arrays._on_device.cache_clear()
    try:
        y = ee.tasks.mso(2, steps=301).astype(np.float32)
        t = torch.from_numpy(y).to(device)
        esn = ee.LinearESN(20, **{"ridge": 1e-4, **options}, dtype="float32", seed=0)
        with NoDouble():
            predicted = esn.fit(t[:-1], t[1:]).predict(t[:-1])
        assert predicted.dtype == torch.float32
    finally:
        monkeypatch.undo()
        arrays._on_device.cache_clear()
    expected = esn.fit(y[:-1], y[1:]).predict(y[:-1])
    np.testing.assert_allclose(predicted.numpy(), expected, atol=5e-3)
