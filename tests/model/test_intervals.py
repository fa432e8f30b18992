"""Prediction intervals of forecasts."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import eigenecho as ee
from eigenecho.errors import IllConditionedWarning, UnstableWarning
from eigenecho.model import intervals
from eigenecho.model.forecast import forecast
from eigenecho.model.intervals import Posterior, deviations, weight_deviations
from eigenecho.model.loop import ClosedLoop


def autoregression(T, rng, D=1, noise=0.3):
    """Return a damped oscillation driven by noise, (T, D)."""
    x = np.zeros((T, D))
    mix = np.eye(D) + 0.2 * np.ones((D, D))
    for t in range(2, T):
        x[t] = 1.6 * x[t - 1] - 0.81 * x[t - 2] + noise * rng.normal(size=D) @ mix
    return x


def fit(x, **params):
    given = {"units": 20, "sr": 0.7, "ridge": 1e-3, "warmup": 50, "seed": 0} | params
    return ee.LinearESN(**given).fit(x[:-1], x[1:])


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"standardize": True},
        {"feedback": True, "fb_scaling": 0.2},
        {"output_to_readout": True},
        {"basis": "neuron"},
        {"dtype": "float32"},
    ],
    ids=lambda p: "-".join(p) or "plain",
)
@pytest.mark.parametrize("D", [1, 2])
def test_response_equals_the_effect_of_a_disturbance(params, D):
    """An output error of δ changes the following outputs by δ Ψ."""
    x = 3 + autoregression(600, np.random.default_rng(0), D)
    esn = fit(x, **params)
    model, h = esn.model_, 12
    unit = np.ones(D) if model.outputs is None else model.outputs.scale
    first = model.forecast(h, state=esn.final_state_)
    for i in range(D):
        moved = np.array(esn.final_state_.y)
        moved[i] += unit[i]
        second = model.forecast(h, state=ee.State(esn.final_state_.r, moved))
        expected = (second - first) / unit
        tol = 1e-3 if params.get("dtype") else 1e-9
        response = ClosedLoop.of_forecast(model).response(h + 1)
        np.testing.assert_allclose(response[1:, i], expected, rtol=0, atol=tol)


def test_deviations_equal_those_of_simulated_series():
    rng = np.random.default_rng(1)
    x = autoregression(4000, rng, 2)
    esn = fit(x, standardize=True)
    noise, h, runs = esn.noise_covariance_, 15, 4000
    root = np.linalg.cholesky(noise)
    ends = np.empty((runs, h, 2))
    for k in range(runs):
        stream = esn.stream(esn.final_state_)
        y = esn.final_state_.y
        for t in range(h):
            y = stream.step(y) + root @ rng.normal(size=2)
            ends[k, t] = y
    expected = deviations(esn.model_, h, noise)
    np.testing.assert_allclose(ends.std(axis=0), expected, rtol=0.06)


def test_noise_equals_that_of_the_series():
    rng = np.random.default_rng(2)
    x = autoregression(20_000, rng, noise=0.3)
    for ridge in (1e-6, 1e-2, 1.0):
        esn = fit(x, ridge=ridge)
        assert np.sqrt(esn.noise_covariance_[0, 0]) == pytest.approx(0.3 * 1.2, rel=0.03)


@pytest.mark.parametrize("solver", ["qr", "normal"])
def test_noise_is_not_underestimated_for_few_rows(solver):
    """The noise estimate corrects for the small residuals of 60 weights on 150 rows."""
    rng = np.random.default_rng(3)
    results = []
    for _ in range(30):
        u, y = rng.uniform(-1, 1, (150, 1)), rng.normal(size=(150, 1))
        esn = ee.LinearESN(60, sr=0.9, ridge=1e-3, solver=solver, seed=0).fit(u, y)
        results.append(esn.noise_covariance_[0, 0])
    assert np.mean(results) == pytest.approx(1.0, abs=0.1)


def test_intervals_have_the_nominal_coverage():
    rng = np.random.default_rng(4)
    x = autoregression(5000, rng)
    esn = fit(x[:3000])
    hits = []
    for start in range(3100, 4900, 25):
        actual = esn.forecast(10, context=x[:start], interval=0.8)
        truth = x[start : start + 10]
        hits.append((actual.lower <= truth) & (truth <= actual.upper))
    assert np.mean(hits) == pytest.approx(0.8, abs=0.05)


def test_shapes_follow_the_targets():
    x = autoregression(400, np.random.default_rng(0))
    flat = ee.LinearESN(20, seed=0, ridge=1e-3).fit(x[:-1], x[1:, 0])
    result = flat.forecast(7, interval=0.9)
    assert [a.shape for a in result] == [(7,)] * 3
    np.testing.assert_array_equal(result.mean, flat.forecast(7))
    assert np.all(result.lower < result.mean)
    assert np.all(result.mean < result.upper)
    wide = flat.forecast(7, interval=0.99)
    assert np.all(wide.upper > result.upper)


def test_intervals_of_a_loaded_network(tmp_path):
    """A file with statistics keeps all intervals, and one without keeps only the noise."""
    esn = fit(autoregression(400, np.random.default_rng(0)))
    expected = esn.forecast(5, interval=0.5)
    esn.save(tmp_path / "whole.safetensors", statistics=True)
    for a, b in zip(
        expected, ee.load(tmp_path / "whole.safetensors").forecast(5, interval=0.5), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    esn.save(tmp_path / "esn.safetensors")
    actual = ee.load(tmp_path / "esn.safetensors").forecast(5, interval=0.5)
    np.testing.assert_array_equal(actual.mean, expected.mean)
    noise = 0.6744897501960817 * deviations(esn.model_, 5, esn.noise_covariance_)
    np.testing.assert_allclose(actual.upper - actual.mean, noise, rtol=1e-12)
    assert np.all(actual.upper < expected.upper)


@pytest.mark.parametrize("solver", ["qr", "normal"])
def test_partial_fit_gives_the_noise_of_all_data(solver):
    rng = np.random.default_rng(5)
    quiet, loud = autoregression(600, rng, 2, noise=0.1), autoregression(900, rng, 2, noise=2.0)
    esn = fit(quiet, solver=solver)
    esn.partial_fit(loud[:-1], loud[1:])
    params = esn.get_params()
    both = ee.LinearESN(**params).fit([quiet[:-1], loud[:-1]], [quiet[1:], loud[1:]])
    np.testing.assert_allclose(esn.noise_covariance_, both.noise_covariance_, rtol=1e-6)


@pytest.mark.parametrize("solver", ["qr", "normal"])
@pytest.mark.parametrize("count", [3, 5])
def test_small_residuals_are_accurate(solver, count):
    """After two calls of ``partial_fit``, the noise equals that of the current residuals."""
    pieces = [ee.tasks.mso(k, steps=n + 1) for k, n in ((3, 1000), (count, 400), (count, 300))]
    esn = ee.LinearESN(100, solver=solver, ridge=1e-8, warmup=100, seed=0)
    for x in pieces:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IllConditionedWarning)
            esn.partial_fit(x[:-1], x[1:])
    left = np.concatenate([(x[1:] - esn.predict(x[:-1]))[100:] for x in pieces])
    expected = left.T @ left / (len(left) - esn._fitted.evidence.freedom)
    np.testing.assert_allclose(esn.noise_covariance_, expected, rtol=0.05)


def test_noise_is_never_negative():
    """Residuals below the rounding of XᵀX cannot be resolved, because it has half the digits."""
    x, x2 = ee.tasks.mso(3, steps=1001), ee.tasks.mso(5, steps=201)
    esn = ee.LinearESN(30, solver="normal", ridge=1e-10, warmup=100, seed=0).fit(x[:-1], x[1:])
    evidence = esn._fitted.evidence
    esn.partial_fit(x2[:-1], x2[1:])
    assert evidence.scatter_with(esn._fitted.evidence.weights)[0, 0] >= 0


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_overflowing_variances_are_rejected(scale):
    x = scale * autoregression(300, np.random.default_rng(0))
    esn = fit(x, standardize=True)
    assert np.all(np.isfinite(esn.forecast(5)))
    with pytest.raises(ValueError, match=r"interval=0.9.*variance.*Scale"):
        esn.forecast(5, interval=0.9)


@pytest.mark.parametrize("interval", [0, 1, 1.5, -0.1, True, "wide", [0.9]])
def test_bad_intervals(interval):
    esn = fit(autoregression(300, np.random.default_rng(0)))
    with pytest.raises(ValueError, match="interval="):
        esn.forecast(5, interval=interval)


def test_converted_network_needs_the_noise():
    rng = np.random.default_rng(0)
    model = ee.diagonalize(
        0.1 * rng.normal(size=(5, 5)), rng.normal(size=(1, 5)), rng.normal(size=5)
    )
    with pytest.raises(ValueError, match="covariance of one-step errors"):
        model.forecast(3, context=np.ones((4, 1)), interval=0.9)
    with pytest.raises(ValueError, match="noise='loud'"):
        model.forecast(3, context=np.ones((4, 1)), interval=0.9, noise="loud")
    result = model.forecast(3, context=np.ones((4, 1)), interval=0.9, noise=0.04)
    assert result.upper[0, 0] - result.mean[0, 0] == pytest.approx(0.2 * 1.6448536, rel=1e-6)


def test_too_many_weights_for_the_rows_cause_a_warning():
    x = autoregression(60, np.random.default_rng(0))
    esn = ee.LinearESN(100, ridge=1e-14, seed=0).fit(x[:-1], x[1:])
    with pytest.warns(IllConditionedWarning, match="degrees of freedom per training row"):
        esn.forecast(3, interval=0.9)


def test_noise_without_a_ridge_equals_that_of_the_residuals():
    rng = np.random.default_rng(0)
    y = np.sin(0.3 * np.arange(25))[:, None] + 0.01 * rng.normal(size=(25, 1))
    X = rng.normal(size=(25, 1))
    options = {"lr": 0.1, "ridge": 0.0, "solver": "qr", "warmup": 2}
    with pytest.warns(IllConditionedWarning):
        esn = ee.LinearESN(30, seed=1, **options).fit(X, y)
    residuals = (esn.predict(X) - y)[2:]
    # With more weights than rows there are no degrees of freedom left, which counts as one.
    assert esn.noise_covariance_[0, 0] == pytest.approx(float(np.sum(residuals**2)), rel=1e-9)


# Uncertainty of the weights


def readout_rows(esn, states, before):
    """Return the rows [1, y(t−1), r] for known states and outputs."""
    parts = [np.ones((len(states), 1)), before] if esn.output_to_readout else [
        np.ones((len(states), 1))]  # fmt: skip
    return np.concatenate([*parts, states], axis=1)


@pytest.mark.parametrize("ridge", [1e-6, 1.0, "auto"])
@pytest.mark.parametrize("solver", ["qr", "normal"])
@pytest.mark.parametrize("standardize", [False, True])
def test_deviations_of_predictions_equal_those_of_the_posterior(ridge, solver, standardize):
    rng = np.random.default_rng(0)
    u, y = rng.normal(size=(80, 1)), rng.normal(size=(80, 2)) * [1.0, 10.0]
    options = {"ridge": ridge, "solver": solver, "standardize": standardize, "warmup": 5}
    esn = ee.LinearESN(15, seed=0, penalty="identity", **options).fit(u, y)
    X = readout_rows(esn, esn.transform(u), None)
    A = X[5:].T @ X[5:] + esn.ridge_ * np.eye(16)
    new = rng.normal(size=(30, 1))
    x = readout_rows(esn, esn.transform(new), None)
    leverage = np.einsum("ti,ij,tj->t", x, np.linalg.inv(A), x)
    outputs, result = esn.predict(new, return_std=True)
    np.testing.assert_array_equal(outputs, esn.predict(new))
    np.testing.assert_allclose(result, np.sqrt(np.outer(1 + leverage, esn.noise_)), rtol=1e-6)


def test_deviations_have_the_shapes_of_predictions():
    rng = np.random.default_rng(0)
    u, y = rng.normal(size=(60, 1)), rng.normal(size=60)
    esn = ee.LinearESN(10, seed=0, ridge="auto").fit(u, y)
    outputs, deviation, state = esn.predict(u, return_std=True, return_state=True)
    assert outputs.shape == deviation.shape == (60,)
    later = esn.predict(u, return_std=True, initial_state=state)[1]
    both = esn.predict(np.concatenate([u, u]), return_std=True)[1]
    np.testing.assert_allclose(np.concatenate([deviation, later]), both, rtol=1e-12)
    ragged = esn.predict([u, u[:20]], return_std=True)[1]
    np.testing.assert_allclose(ragged[1], deviation[:20], rtol=1e-12)


def test_deviations_need_statistics(tmp_path):
    rng = np.random.default_rng(0)
    u, y = rng.normal(size=(60, 1)), rng.normal(size=(60, 1))
    esn = ee.LinearESN(10, seed=0, ridge=1e-3).fit(u, y)
    esn.save(tmp_path / "esn")
    with pytest.raises(ValueError, match="statistics=True"):
        ee.load(tmp_path / "esn").predict(u, return_std=True)
    loop = ee.LinearESN(10, seed=0, ridge=1e-3, output_to_readout=True).fit(u, y)
    with pytest.raises(ValueError, match=r"return_std=True.*y_previous"):
        loop.predict(u, return_std=True)
    before = np.concatenate([np.zeros((1, 1)), y[:-1]])
    assert loop.predict(u, y_previous=before, return_std=True)[1].shape == (60, 1)
    with pytest.warns(IllConditionedWarning):
        open_ = ee.LinearESN(80, seed=0, ridge=0.0, solver="qr").fit(u, y)
    with pytest.raises(ValueError, match="ridge=0 do not determine the weights"):
        open_.predict(u, return_std=True)


@pytest.mark.parametrize(
    "params",
    [{}, {"standardize": True}, {"output_to_readout": True}, {"feedback": True, "fb_scaling": 0.2}],
    ids=lambda p: "-".join(p) or "plain",
)
def test_effect_of_uncertain_weights_equals_simulations(params):
    """Each simulated network has weights drawn from the posterior, and its own noise."""
    rng = np.random.default_rng(7)
    x = 2 + autoregression(700, rng, 2)
    esn = fit(x, ridge=1.0, **params)
    h, runs, evidence = 8, 1500, esn._fitted.evidence
    # Use a tenth of the uncertainty, for which first-order effects dominate.
    small = 0.1
    scale = np.ones(2) if esn.model_.outputs is None else esn.model_.outputs.scale
    R, C = evidence.triangle[0], small * np.linalg.cholesky(evidence.noise)
    ends = np.empty((2, runs, h, 2))
    for k in range(runs):
        delta = np.linalg.solve(R, rng.normal(size=evidence.weights.shape)) @ C.T
        noise = scale * (rng.normal(size=(h, 2)) @ C.T) / small
        for i, weights in enumerate((evidence.weights + delta, evidence.weights)):
            stream = replace(esn.model_, W_out=weights).stream(esn.final_state_)
            y = esn.final_state_.y
            for t in range(h):
                y = stream.step(y, y_previous=y) if esn.model_.closed else stream.step(y)
                y = y + noise[t]
                ends[i, k, t] = y
    moved = (ends[0] - ends[1]).std(axis=0) / small
    run = forecast(esn.model_, h, None, None, esn.final_state_)
    result = weight_deviations(
        esn.model_, esn._fitted.posterior, esn.noise_covariance_, run.rows(esn.model_)
    )
    np.testing.assert_allclose(result, moved, rtol=0.12)


def test_intervals_are_wider_for_few_rows():
    rng = np.random.default_rng(8)
    hits = []
    for seed in range(60):
        x = autoregression(112, rng)
        esn = fit(x[:100], units=50, ridge=1e-8, warmup=10, seed=seed, standardize=True)
        result = esn.forecast(12, interval=0.9)
        alone = esn.model_.forecast(
            12, state=esn.final_state_, interval=0.9, noise=esn.noise_covariance_
        )
        assert np.all(result.upper > alone.upper)
        hits.append([(b.lower <= x[100:]) & (x[100:] <= b.upper) for b in (alone, result)])
    before, after = np.mean(hits, axis=(0, 2, 3))
    assert before < 0.82
    assert 0.84 < after < 0.94


def test_intervals_from_a_file_without_statistics_cause_a_warning(tmp_path):
    x = autoregression(100, np.random.default_rng(0))
    esn = fit(x, units=50, ridge=1e-6, warmup=10)
    esn.save(tmp_path / "esn")
    with pytest.warns(IllConditionedWarning, match="do not include the uncertainty of the weights"):
        ee.load(tmp_path / "esn").forecast(3, interval=0.9)


def test_growing_loop_has_intervals_at_all_steps():
    rng = np.random.default_rng(0)
    x = np.cumsum(rng.normal(size=(300, 1)), axis=0)
    esn = fit(x, ridge=1e-2)
    W_out = esn.model_.W_out * 3
    model = replace(esn.model_, W_out=W_out)
    rows = np.zeros((400, len(W_out)))
    rows[:, 0] = 1.0
    with np.errstate(over="ignore"):
        result = weight_deviations(model, esn._fitted.posterior, esn.noise_covariance_, rows)
    assert np.all(result[:5] > 0)
    assert not np.any(np.isnan(result))


def test_growing_loop_does_not_widen_the_first_steps():
    """The bounds of a step do not depend on the horizon."""
    rng = np.random.default_rng(0)
    x = np.zeros((300, 1))
    for t in range(1, len(x)):
        x[t] = 1.03 * x[t - 1] + rng.normal()
    esn = fit(x, sr=0.9, ridge=1e-8, warmup=20)
    short = esn.forecast(20, interval=0.9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstableWarning)
        long = esn.forecast(3000, interval=0.9)
    assert np.abs(long.mean[-1]) > 1e30
    np.testing.assert_allclose((long.upper - long.lower)[:20], short.upper - short.lower, rtol=1e-9)


def test_rows_in_few_directions_are_condensed():
    rng = np.random.default_rng(0)
    root = np.triu(rng.normal(size=(500, 500))) + 30 * np.eye(500)
    part = Posterior(root, np.eye(1), 100.0)
    few = rng.normal(size=(600, 40)) @ rng.normal(size=(40, 500))
    many = rng.normal(size=(600, 500))
    for rows, size in ((few, 96), (many, 500)):
        whole, result = part.whitened(rows), part.condensed(rows)
        assert result.shape == (600, size)
        scale = np.abs(whole @ whole.T).max()
        np.testing.assert_allclose(result @ result.T, whole @ whole.T, atol=1e-9 * scale)


def test_long_and_short_sums_over_time_are_equal(monkeypatch):
    x = autoregression(400, np.random.default_rng(0), 2)
    esn = fit(x)
    expected = esn.forecast(40, interval=0.9)
    monkeypatch.setattr(intervals, "SHORT", 0)
    actual = esn.forecast(40, interval=0.9)
    np.testing.assert_allclose(actual.upper, expected.upper, rtol=1e-9)
