"""Convolution gives the same outputs as the scan, and is used where it is faster."""

import numpy as np
import pytest

import eigenecho as ee
from eigenecho import kernels
from eigenecho.kernels import compiled, convolution, dispatch
from eigenecho.transition import Diagonal


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("D", "E"), [(1, 1), (3, 2)])
@pytest.mark.parametrize("spectrum", ["golden", "ring", "time_constants"])
@pytest.mark.parametrize("start", [False, True])
def test_convolution_equals_scan(dtype, D, E, spectrum, start):
    rng = np.random.default_rng(D)
    N, T = 40, 3000
    form = Diagonal(ee.spectra.LAWS[spectrum](N, sr=0.9, seed=0)).form(dtype)
    B, weights, drive, state = (
        rng.normal(size=shape).astype(dtype) for shape in ((D, N), (E, N), (T, D), N)
    )
    state *= start
    outputs, last = kernels.scan_readout(form, B, drive, weights, state)
    out = np.empty_like(outputs)
    end = convolution.convolve_readout(compiled, form, B, drive, weights, state, out)
    digits = 1e-13 if dtype == "float64" else 1e-5
    for a, b in ((last, end), (outputs, out)):
        np.testing.assert_allclose(b, a, rtol=0, atol=digits * np.abs(a).max())


def test_results_do_not_depend_on_blocks_and_threads(monkeypatch):
    rng = np.random.default_rng(0)
    N, T = 40, 3 * convolution.MIN_TRANSFORM_STEPS
    form = Diagonal(ee.spectra.golden(N, sr=0.95, seed=0)).form()
    B, weights, drive = (rng.normal(size=shape) for shape in ((2, N), (2, N), (T, 2)))
    results = []
    for count in (1, 2, 3, 4):
        monkeypatch.setenv("EIGENECHO_NUM_THREADS", str(count))
        out = np.empty((T, 2))
        last = convolution.convolve_readout(compiled, form, B, drive, weights, np.ones(N), out)
        results.append(out.tobytes() + last.tobytes())
    assert len(set(results)) == 1
    scanned, _ = kernels.scan_readout(form, B, drive, weights, np.ones(N))
    np.testing.assert_allclose(out, scanned, rtol=0, atol=1e-13 * np.abs(scanned).max())


@pytest.mark.parametrize("T", [1, 5, 400, 401])
def test_series_shorter_than_the_response(T):
    rng = np.random.default_rng(T)
    form = Diagonal(ee.spectra.golden(10, sr=0.9, seed=0)).form()
    B, weights, drive = (rng.normal(size=shape) for shape in ((1, 10), (1, 10), (T, 1)))
    scanned, last = kernels.scan_readout(form, B, drive, weights, np.zeros(10))
    out = np.empty((T, 1))
    end = convolution.convolve_readout(compiled, form, B, drive, weights, np.zeros(10), out)
    np.testing.assert_allclose(out, scanned, atol=1e-13)
    np.testing.assert_allclose(end, last, atol=1e-13)


def test_short_response():
    # The response of zero eigenvalues ends after one step.
    form = Diagonal(ee.Spectrum([0.0, 0.0])).form()
    drive = np.random.default_rng(0).normal(size=(50, 1))
    out, ones = np.empty((50, 1)), np.ones((1, 2))
    last = convolution.convolve_readout(compiled, form, ones, drive, ones, np.zeros(2), out)
    np.testing.assert_allclose(out, 2 * drive, atol=1e-15)
    np.testing.assert_allclose(last, drive[-1].repeat(2))


def test_inference_method_is_chosen_by_cost_and_applicability():
    X = np.random.default_rng(0).normal(size=(20_000, 1))
    y = np.roll(X, 2)
    large = ee.LinearESN(500, sr=0.9, penalty="identity", seed=0).fit(X[:3000], y[:3000]).model_
    assert large.inference(20_000) == "convolution"
    assert large.inference(100) == "scan"
    small = ee.LinearESN(20, sr=0.9, seed=0).fit(X[:500], y[:500]).model_
    assert small.inference(20_000) == "scan"
    slow = ee.LinearESN(500, sr=1.0, penalty="identity", seed=0).fit(X[:3000], y[:3000]).model_
    assert slow.inference(20_000) == "scan"  # the response does not decay
    closed = ee.LinearESN(500, feedback=True, penalty="identity", seed=0, ridge=1.0)
    assert closed.fit(X[:3000], y[:3000]).model_.inference(20_000) == "closed loop"
    neuron = ee.LinearESN(30, spectrum="matrix", basis="neuron", seed=0).fit(X[:500], y[:500])
    assert neuron.model_.inference(10**6) == "scan"


def test_predictions_continue_from_a_returned_state(monkeypatch):
    X = np.random.default_rng(1).normal(size=(9000, 2))
    y = X @ [[1.0], [2.0]]
    esn = ee.LinearESN(500, sr=0.8, input_bias=True, standardize=True, penalty="identity", seed=0)
    esn.fit(X[:3000], y[:3000])
    assert esn.model_.inference(9000) == "convolution"
    whole, end = esn.predict(X, return_state=True)
    first, state = esn.predict(X[:4000], return_state=True)
    rest = esn.predict(X[4000:], initial_state=state)
    np.testing.assert_allclose(np.concatenate([first, rest]), whole, atol=1e-11)
    monkeypatch.setattr(dispatch, "should_convolve", lambda *_: False)
    scanned, same_end = esn.predict(X, return_state=True)
    np.testing.assert_allclose(whole, scanned, atol=1e-11)
    np.testing.assert_allclose(end.r, same_end.r, atol=1e-11)


def test_quiet_rows_are_as_exact_as_loud_rows():
    X = np.random.default_rng(2).normal(size=(20_000, 1))
    esn = ee.LinearESN(500, sr=0.8, penalty="identity", seed=0).fit(X[:3000], np.roll(X[:3000], 1))
    X[8000:12_000] *= 1e-13
    assert esn.model_.inference(X) == "scan"
    state = esn.predict(X[:9000], return_state=True)[1]
    alone = esn.predict(X[9000:12_000], initial_state=state)
    result = esn.predict(X)[9000:12_000]
    np.testing.assert_allclose(result, alone, rtol=0, atol=1e-10 * np.abs(alone).max())


def test_spike_does_not_change_earlier_predictions():
    X = np.random.default_rng(2).normal(size=(9000, 1))
    esn = ee.LinearESN(500, sr=0.8, penalty="identity", seed=0).fit(X[:3000], np.roll(X[:3000], 1))
    calm = esn.predict(X)
    assert esn.model_.inference(X) == esn.model_.inference(9000) == "convolution"
    X[5000] = 1e12
    assert esn.model_.inference(X) == "scan"
    np.testing.assert_allclose(esn.predict(X)[:5000], calm[:5000], atol=1e-10)
