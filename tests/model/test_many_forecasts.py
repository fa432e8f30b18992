"""Free forecasts of many series by one model, computed as one product."""

import numpy as np
import pytest

import eigenecho as ee
from eigenecho.model import loop

OPTIONS = {
    "plain": {},
    "input bias": dict(input_bias=True),
    "feedback": dict(feedback=True, fb_scaling=0.1),
    "output to readout": dict(output_to_readout=True),
    "standardised": dict(standardize=True),
    "no bias": dict(fit_bias=False),
    "dense": dict(spectrum="matrix", basis="neuron"),
    "sparse": dict(spectrum="matrix", rc_connectivity=0.05),
    "float32": dict(dtype="float32", ridge=1e-2),
}


def waves(T, columns):
    t = np.arange(T)[:, None]
    return np.concatenate([np.sin(0.2 * t) + 0.1 * np.sin(0.311 * t), np.cos(0.2 * t) + 3], axis=1)[
        :, :columns
    ]


def fitted(columns, **options):
    X = waves(800, columns)
    options = dict(units=40, ridge=1e-6, warmup=50, seed=0) | options
    return ee.LinearESN(**options).fit(X[:-1], X[1:]), X


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("name", list(OPTIONS))
def test_many_forecasts_equal_separate_forecasts(name, columns, monkeypatch):
    monkeypatch.setattr(loop, "MAPPED", 1000)  # use maps of a few steps
    esn, X = fitted(columns, **OPTIONS[name])
    contexts = np.stack([X[100:300], X[333:533], X[5:205]])
    alone = np.stack([esn.forecast(60, context=one) for one in contexts])
    digits = 1e-4 if esn.dtype == "float32" else 1e-11
    together = esn.forecast(60, context=contexts)
    assert together.dtype == alone.dtype
    np.testing.assert_allclose(together, alone, atol=digits * np.abs(alone).max())
    ragged = esn.forecast(60, context=[X[100:300], X[7:9]])
    assert isinstance(ragged, list)
    np.testing.assert_allclose(ragged[0], alone[0], atol=digits * np.abs(alone).max())
    np.testing.assert_allclose(
        ragged[1], esn.forecast(60, context=X[7:9]), atol=digits * np.abs(alone).max()
    )


def test_generator_without_input_forecasts_many_series():
    y = waves(600, 1)
    esn = ee.LinearESN(30, feedback=True, ridge=1e-6, warmup=50, seed=0).fit(None, y)
    contexts = np.stack([y[:100], y[50:150]])
    alone = np.stack([esn.forecast(20, context=one) for one in contexts])
    np.testing.assert_allclose(esn.forecast(20, context=contexts), alone, atol=1e-10)


def test_flat_targets_give_flat_forecasts_and_bounds():
    X = waves(800, 1)
    esn = ee.LinearESN(40, ridge=1e-6, seed=0).fit(X[:-1], X[1:, 0])
    contexts = np.stack([X[:100], X[100:200]])
    assert esn.forecast(5, context=contexts).shape == (2, 5)
    bounds, one = esn.forecast(5, context=contexts, interval=0.9), contexts[0]
    assert bounds.lower.shape == (2, 5)
    np.testing.assert_allclose(
        bounds.upper[0], esn.forecast(5, context=one, interval=0.9).upper, atol=1e-10
    )
    several = esn.forecast(5, context=list(contexts), interval=0.9)
    np.testing.assert_allclose(several.upper[1], bounds.upper[1], atol=1e-12)


def test_unsupported_arguments_of_many_forecasts():
    esn, X = fitted(1)
    contexts = np.stack([X[:100], X[100:200]])
    for given in (dict(inputs=np.ones((5, 1))), dict(state=esn.final_state_)):
        with pytest.raises(ValueError, match="a single series"):
            esn.forecast(5, context=contexts, **given)
    with pytest.raises(ValueError, match="at least one row"):
        esn.forecast(5, context=[X[:10], X[:0]])
    with pytest.raises(ValueError, match="series 1"):
        esn.forecast(5, context=[X[:10], X[:10] * np.nan])


@pytest.mark.parametrize(("name", "value"), [("state", None), ("clip", True)])
def test_unsupported_arguments_of_many_intervals(name, value):
    esn, X = fitted(1)
    value = esn.final_state_ if name == "state" else value
    with pytest.raises(ValueError, match=f"Invalid (context|{name})"):
        esn.forecast(5, context=[X[:99], X[50:]], interval=0.9, **{name: value})
