"""Error messages of estimators, searches and models for unsupported tensors."""

import numpy as np
import pytest

import eigenecho as ee
from eigenecho.reservoir import Reservoir

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.tensors

SERIES = ee.tasks.mso(3, steps=201)


def fitted():
    return ee.LinearESN(20, seed=0).fit(SERIES[:-1], SERIES[1:])


def searched(X, y):
    return ee.search(ee.LinearESN(10, seed=0), {"sr": [0.5, 0.9]}, X, y)


CALLS = {
    "LinearESN.fit": ("y", lambda X, y: ee.LinearESN(10, seed=0).fit(X, y)),
    "LinearESN.partial_fit": ("y", lambda X, y: ee.LinearESN(10, seed=0).partial_fit(X, y)),
    "LinearESN.predict": ("y_previous", lambda X, y: fitted().predict(X, y_previous=y)),
    "LinearESN.score": ("y", lambda X, y: fitted().score(X, y)),
    "LinearESN.forecast": ("inputs", lambda X, y: fitted().forecast(3, X, y)),
    "LinearESN.transform": ("out", lambda X, y: fitted().transform(X, out=y)),
    "LinearModel.predict": ("y_previous", lambda X, y: fitted().model_.predict(X, y_previous=y)),
    "LinearModel.forecast": ("inputs", lambda X, y: fitted().model_.forecast(3, X, y)),
    "Stream.run": ("y_previous", lambda X, y: fitted().stream().run(X, y_previous=y)),
    "DiagonalReservoir.fit": ("y", lambda X, y: ee.DiagonalReservoir(10, seed=0).fit(X, y)),
    "DiagonalReservoir.transform": (
        "out",
        lambda X, y: ee.DiagonalReservoir(10, seed=0).fit(SERIES).transform(X, out=y),
    ),
    "Forecaster.fit": ("X", lambda X, y: ee.Forecaster(2).fit(X[:, 0], y)),
    "Forecaster.predict": (
        "context_X",
        lambda X, y: (
            ee.Forecaster(2, seasons=[]).fit(SERIES[:30, 0]).predict(context=X[:, 0], context_X=y)
        ),
    ),
    "LinearESN.reduce": ("data[1]", lambda X, y: fitted().reduce(tol=0.1, data=(X, y))),
    "spectra.from_data": ("y", lambda X, y: ee.spectra.from_data(X, y, units=4)),
    "search": ("y", searched),
}
"""Calls with two series, and the name of the second series in each."""


@pytest.mark.parametrize("call", list(CALLS))
def test_half_precision_gradients_and_two_devices(call):
    name, run = CALLS[call]
    X = torch.from_numpy(SERIES)
    refused = {
        X.half(): ("torch.float16", f"{name}.float()"),
        X.clone().requires_grad_(): ("requires grad", f"{name}.detach()"),
        torch.empty(X.shape, dtype=X.dtype, device="meta"): ("on meta", f"{name}.to("),
    }
    for other, words in refused.items():
        with pytest.raises(ValueError) as caught:
            run(X, other)
        message = str(caught.value)
        assert message.startswith(f"Invalid {name}: got a ")
        for word in words:
            assert word in message


MADE = {
    "LinearESN": fitted,
    "LinearModel": lambda: fitted().model_,
    "Forecaster": lambda: ee.Forecaster(2, seasons=[]).fit(SERIES[:30, 0]),
}


@pytest.mark.parametrize("made", list(MADE))
def test_unavailable_device(made):
    one, count = MADE[made](), torch.cuda.device_count()
    with pytest.raises(ValueError) as caught:
        one.to(f"cuda:{count}")
    for word in (f"device='cuda:{count}'", 'use "cpu" or None'):
        assert word in str(caught.value)


SAID = (
    "CUDA out of memory. Tried to allocate 60.00 GiB. GPU 0 has a total capacity of 139.8 GiB "
    "of which 10.00 GiB is free. Process 1 has 129 GiB memory in use."
)


def out_of_memory(*_, **__):
    raise torch.OutOfMemoryError(SAID)


def refused_for_memory(call):
    with pytest.raises(MemoryError) as caught:
        call()
    for words in ("Tried to allocate 60.00 GiB", "Lower units"):
        assert words in str(caught.value)


def test_too_little_memory_changes_nothing(device, monkeypatch):
    t = torch.tensor(SERIES, device=device)
    esn = ee.LinearESN(20, ridge=1e-3, seed=0).fit(t[:-1], t[1:])
    reservoir = ee.DiagonalReservoir(20, seed=0).fit(t)
    before, new = esn.predict(t), ee.LinearESN(20, seed=0)
    with monkeypatch.context() as full:
        full.setattr(Reservoir, "scan", out_of_memory)
        refused_for_memory(lambda: esn.fit(t[:-1], -t[1:]))
        refused_for_memory(lambda: esn.partial_fit(t[:-1], -t[1:]))
        refused_for_memory(lambda: reservoir.transform(t))
        refused_for_memory(lambda: new.fit(t[:-1], t[1:]))
        refused_for_memory(lambda: searched(t[:-1], t[1:]))
    assert not hasattr(new, "model_")
    assert torch.equal(esn.predict(t), before)


def test_integer_tensors_are_accepted(device):
    t = torch.tensor(np.round(5 * SERIES).astype(np.int32), device=device)
    esn = ee.LinearESN(20, ridge=1e-3, seed=0).fit(t[:-1], t[1:])
    assert esn.predict(t).dtype == torch.float64


@pytest.mark.parametrize("kind", [ee.ReservoirClassifier, ee.ReservoirFeatures])
def test_classifiers_take_no_tensors(kind):
    X, y = np.random.default_rng(0).normal(size=(8, 30)), np.arange(8) % 2
    estimator = kind(seed=0)
    for series in (torch.from_numpy(X), [torch.from_numpy(x) for x in X]):
        with pytest.raises(ValueError, match=r"X: got a tensor.* X.cpu\(\).numpy\(\)"):
            estimator.fit(series, y)
    estimator.fit(X, y)
    method = estimator.predict if kind is ee.ReservoirClassifier else estimator.transform
    with pytest.raises(ValueError, match="X: got a tensor"):
        method(torch.from_numpy(X))
    if kind is ee.ReservoirClassifier:
        with pytest.raises(ValueError, match="y: got a tensor"):
            estimator.fit(X, torch.from_numpy(y))
