"""Devices without float64 need only an entry in ``arrays.NO_FLOAT64`` to train and predict."""

import numpy as np
import pytest

import eigenecho as ee
from eigenecho import arrays

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.tensors

MOVES = ("_to_copy", "lift_fresh", "detach", "alias", "resolve", "view")
"""Operations that may receive double-precision values of the host."""


class NoDouble(torch.utils._python_dispatch.TorchDispatchMode):
    """Dispatch mode that rejects operations on float64 tensors."""

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
def test_training_and_prediction_on_a_device_without_float64(device, monkeypatch, options):
    if device.type != "cpu":
        pytest.skip("the host stands in for a device without float64")
    monkeypatch.setattr(arrays, "NO_FLOAT64", {"cpu"})
    arrays._torch_namespace.cache_clear()
    try:
        y = ee.tasks.mso(2, steps=301).astype(np.float32)
        t = torch.from_numpy(y).to(device)
        esn = ee.LinearESN(20, **{"ridge": 1e-4, **options}, dtype="float32", seed=0)
        with NoDouble():
            predicted = esn.fit(t[:-1], t[1:]).predict(t[:-1])
        assert predicted.dtype == torch.float32
    finally:
        monkeypatch.undo()
        arrays._torch_namespace.cache_clear()
    expected = esn.fit(y[:-1], y[1:]).predict(y[:-1])
    np.testing.assert_allclose(predicted.numpy(), expected, atol=5e-3)
