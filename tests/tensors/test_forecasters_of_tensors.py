"""Forecasters accept tensors in any container, and return forecasts on their device."""

import numpy as np
import pytest

import eigenecho as ee

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.tensors

T, H = 160, 4


def series(columns=2):
    t = np.arange(T)[:, None]
    rng = np.random.default_rng(0)
    return np.sin(2 * np.pi * t / 12 + np.arange(columns)) + 0.1 * rng.normal(size=(T, columns))


FORMS = {
    "one": lambda y: y[:, 0],
    "columns": lambda y: y,
    "list": lambda y: [y[:, 0], y[20:, 1]],
}


def moved(held, device):
    """Convert arrays in any container to tensors."""
    if isinstance(held, list):
        return [torch.tensor(one, device=device) for one in held]
    return torch.tensor(held, device=device)


def assert_same(actual, expected, device):
    """Assert that tensors on the device equal arrays exactly, in the same container."""
    if isinstance(expected, (list, tuple)):
        assert type(actual) is type(expected)
        for one, other in zip(actual, expected, strict=True):
            assert_same(one, other, device)
        return
    assert isinstance(actual, torch.Tensor)
    assert actual.device.type == device.type
    np.testing.assert_array_equal(actual.cpu().numpy(), expected)


@pytest.mark.parametrize("form", list(FORMS))
def test_forecasts_have_the_container_of_the_series(form, device):
    y = FORMS[form](series())
    arrays, tensors = ee.Forecaster(H).fit(y), ee.Forecaster(H).fit(moved(y, device))
    context = FORMS[form](series()[:-20])
    given = moved(context, device)
    for options in ({}, {"interval": 0.9}, {"quantiles": [0.1, 0.5]}, {"horizon": 2}):
        assert_same(tensors.predict(**options), arrays.predict(**options), device)
        expected = arrays.predict(context=context, **options)
        assert_same(tensors.predict(context=given, **options), expected, device)
    origins = [T - 30, T - 10] if form != "list" else 2
    assert_same(tensors.rolling(moved(y, device), origins), arrays.rolling(y, origins), device)
    more = y[-5:] if form != "list" else [one[-5:] for one in y]
    arrays.update(more)
    assert_same(tensors.update(moved(more, device)).predict(), arrays.predict(), device)
    np.testing.assert_array_equal(tensors.expected_error_, arrays.expected_error_)


def test_exogenous_columns_can_be_tensors(device):
    y, X = series(1)[:, 0], np.random.default_rng(1).normal(size=(T + H, 2))
    y = y + X[:T, 0]
    made = ee.Forecaster(H, past=[1])
    arrays = ee.Forecaster(H, past=[1]).fit(y, X[:T])
    to = torch.tensor
    tensors = made.fit(to(y, device=device), to(X[:T], device=device))
    ahead = X[T:, :1]
    assert_same(tensors.predict(X=to(ahead, device=device)), arrays.predict(X=ahead), device)
    before = {"context": y[:100], "context_X": X[:100], "X": X[100 : 100 + H, :1]}
    given = {name: to(part, device=device) for name, part in before.items()}
    assert_same(tensors.predict(**given), arrays.predict(**before), device)
    more = y[-3:], X[T - 3 : T]
    tensors.update(*(to(part, device=device) for part in more))
    assert_same(
        tensors.predict(X=to(ahead, device=device)), arrays.update(*more).predict(X=ahead), device
    )


def test_backtest_of_tensors_equals_backtest_of_arrays(device):
    pytest.importorskip("pandas")
    y = series(1)[:, 0]
    actual = ee.Forecaster(H).backtest(torch.tensor(y, device=device), origins=2)
    expected = ee.Forecaster(H).backtest(y, origins=2)
    np.testing.assert_array_equal(actual.errors["forecast"], expected.errors["forecast"])


def test_to_sets_the_device_of_results_without_tensor_input(device, tmp_path):
    y = series(1)[:, 0]
    made = ee.Forecaster(H).fit(y)
    assert isinstance(made.predict(), np.ndarray)
    assert made.to(device) is made
    assert made.predict().device.type == device.type
    assert made.predict(quantiles=[0.1, 0.9]).device.type == device.type
    assert isinstance(made.predict(context=y), np.ndarray)
    made.save(tmp_path / "forecaster")
    assert isinstance(ee.load(tmp_path / "forecaster").predict(), np.ndarray)
    assert isinstance(made.to(None).predict(), np.ndarray)
    with pytest.raises(ValueError, match="device='nowhere'"):
        made.to("nowhere")
