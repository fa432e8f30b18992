"""Prediction intervals of forecasts."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

import eigenecho as ee
from eigenecho.errors import IllConditionedWarning, UnstableWarning


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


OPTIONS = [
    {},
    {"standardize": True},
    {"feedback": True, "fb_scaling": 0.2},
    {"output_to_readout": True},
    {"basis": "neuron"},
    {"dtype": "float32"},
    {"spectrum": ee.delay_line(3)},
]
each_option = pytest.mark.parametrize("params", OPTIONS, ids=lambda p: "-".join(p) or "plain")


def gaussian(model, state, horizon, noise):
    """Return the standard deviations (horizon, D_out) of forecasts with fixed weights.

    The response of the loop to an output error is measured by disturbing the last output.
    """
    scale = np.ones(model.D_out) if model.outputs is None else model.outputs.scale
    unit = noise / np.outer(scale, scale)
    response = [np.eye(model.D_out)]
    double = replace(model, reservoir=model.reservoir.in_double(), W_out=np.float64(model.W_out))
    r, y = (np.float64(part) for part in state)
    first = double.forecast(horizon - 1, state=(r, y))
    moved = [double.forecast(horizon - 1, state=(r, y + e)) for e in np.diag(scale)]
    response += list(np.stack([(m - first) / scale for m in moved], axis=1))
    variance = np.cumsum([np.einsum("id,ik,kd->d", P, unit, P) for P in response], axis=0)
    return scale * np.sqrt(variance)


@each_option
@pytest.mark.parametrize("D", [1, 2])
def test_paths_with_fixed_weights_are_gaussian(params, D):
    x = 3 + autoregression(600, np.random.default_rng(0), D)
    esn = fit(x, **params)
    model, h = esn.model_, 12
    noise, state = esn.noise_covariance_, esn.final_state_
    paths = model.forecast(h, state=state, paths=4000, noise=noise)
    assert paths.shape == (4000, h, D)
    expected = gaussian(model, state, h, noise)
    np.testing.assert_allclose(paths.std(axis=0), expected, rtol=0.06)
    mean = model.forecast(h, state=state)
    np.testing.assert_allclose(paths.mean(axis=0), mean, rtol=0, atol=1e-4 * expected.max())
    first = (paths - mean)[:, 0]
    np.testing.assert_allclose(np.cov(first.T), noise.squeeze(), rtol=0.1, atol=0.05 * noise.max())


@pytest.mark.slow
def test_quantiles_of_many_paths_over_many_steps():
    esn = fit(autoregression(4000, np.random.default_rng(1), 2), standardize=True)
    h, state, noise = 150, esn.final_state_, esn.noise_covariance_
    paths = esn.model_.forecast(h, state=state, paths=20_000, noise=noise)
    mean, deviation = esn.model_.forecast(h, state=state), gaussian(esn.model_, state, h, noise)
    for coverage in (0.8, 0.9, 0.95):
        width = scipy.stats.norm.ppf(0.5 + coverage / 2) * deviation
        error = (np.quantile(paths, 0.5 + coverage / 2, axis=0) - mean) / width - 1
        assert np.sqrt(np.mean(error**2)) < 0.015
        assert np.abs(error).max() < 0.05


def test_shapes_and_seeds_of_paths():
    x = autoregression(400, np.random.default_rng(0))
    flat = ee.LinearESN(20, seed=0, ridge=1e-3).fit(x[:-1], x[1:, 0])
    paths = flat.forecast(7, paths=6)
    assert paths.shape == (6, 7)
    np.testing.assert_array_equal(paths, flat.forecast(7, paths=6, seed=0))
    assert np.all(paths != flat.forecast(7, paths=6, seed=1))
    np.testing.assert_array_equal(flat.forecast(12, paths=6)[:, :7], paths)
    assert flat.forecast(3, paths=1).shape == (1, 3)
    many = flat.forecast(7, [x, x[:100]], paths=5)
    assert [part.shape for part in many] == [(5, 7), (5, 7)]
    assert flat.forecast(7, np.stack([x, x]), paths=5).shape == (2, 5, 7)
    for params in ({"paths": 0}, {"paths": 2.5}, {"paths": 3, "interval": 0.9}, {"paths": 10**12}):
        with pytest.raises((ValueError, MemoryError), match="paths"):
            flat.forecast(7, **params)


def test_paths_continue_from_a_context_with_known_inputs():
    rng = np.random.default_rng(0)
    known = rng.normal(size=(500, 1))
    x = np.zeros((500, 1))
    for t in range(1, 500):
        x[t] = 0.8 * x[t - 1] + known[t - 1] + 0.1 * rng.normal()
    X = np.hstack([x, known])
    esn = ee.LinearESN(20, ridge=1e-3, warmup=20, seed=0).fit(X[:399], x[1:400])
    options = {"context": X[:400], "inputs": known[400:420]}
    paths, mean = esn.forecast(20, paths=2000, **options), esn.forecast(20, **options)
    np.testing.assert_allclose(paths.mean(axis=0), mean, atol=0.02)
    np.testing.assert_allclose(paths[:, 0].std(), 0.1, rtol=0.1)


def test_coverage_of_a_chaotic_map_with_noise():
    """Paths of networks with features follow the dynamics, which the noise disturbs."""
    rng = np.random.default_rng(0)
    x = np.zeros((4000, 1))
    for t in range(2, len(x)):
        x[t] = 1 - 1.3 * x[t - 1] ** 2 + 0.3 * x[t - 2] + 0.003 * rng.normal()
    line = ee.delay_line(2)
    esn = ee.LinearESN(spectrum=line, features="quadratic", ridge=1e-6, warmup=20, seed=0)
    esn.fit(x[:1999], x[1:2000])
    levels, hits = np.array([0.8, 0.9, 0.95]), []
    for start in range(2000, 3980, 20):
        paths = esn.forecast(15, x[start - 30 : start], paths=300)
        lower, upper = (np.quantile(paths, 0.5 + side * levels / 2, axis=0) for side in (-1, 1))
        hits.append((lower <= x[start : start + 15]) & (x[start : start + 15] <= upper))
    np.testing.assert_allclose(np.mean(hits, axis=(0, 2, 3)), levels, atol=0.04)


def test_paths_of_features_stay_within_their_range():
    rng = np.random.default_rng(0)
    x = np.sin(0.3 * np.arange(400.0))[:, None] + 0.3 * rng.normal(size=(400, 1))
    esn = ee.LinearESN(6, features="cubic", ridge=1e-4, warmup=20, seed=0).fit(x[:-1], x[1:])
    low, high = esn.model_.output_range[:2]
    paths = esn.forecast(200, paths=50)
    assert np.isfinite(paths).all()
    assert paths.min() >= low[0]
    assert paths.max() <= high[0]
    result = esn.forecast(5, interval=0.9)
    assert np.all(result.lower < result.mean)
    assert np.all(result.mean < result.upper)


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
    noise = 0.6744897501960817 * gaussian(esn.model_, esn.final_state_, 5, esn.noise_covariance_)
    np.testing.assert_allclose(actual.upper - actual.mean, noise, rtol=0.12)


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
    with pytest.raises(ValueError, match=r"variance.*Scale"):
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
    assert result.upper[0, 0] - result.mean[0, 0] == pytest.approx(0.2 * 1.6448536, rel=0.08)


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
    paths = esn.forecast(h, paths=8000)
    fixed = gaussian(esn.model_, esn.final_state_, h, esn.noise_covariance_)
    np.testing.assert_allclose(paths.std(axis=0), np.hypot(fixed, moved), rtol=0.05)


def test_intervals_are_wider_for_few_rows():
    rng = np.random.default_rng(8)
    hits = []
    for seed in range(40):
        x = autoregression(112, rng)
        esn = fit(x[:100], units=50, ridge=1e-8, warmup=10, seed=seed, standardize=True)
        result = esn.forecast(12, interval=0.9)
        alone = esn.model_.forecast(
            12, state=esn.final_state_, interval=0.9, noise=esn.noise_covariance_
        )
        hits.append([(b.lower <= x[100:]) & (x[100:] <= b.upper) for b in (alone, result)])
    before, after = np.mean(hits, axis=(0, 2, 3))
    assert before < after - 0.04
    assert 0.84 < after < 0.94


def test_intervals_from_a_file_without_statistics_cause_a_warning(tmp_path):
    x = autoregression(100, np.random.default_rng(0))
    esn = fit(x, units=50, ridge=1e-6, warmup=10)
    esn.save(tmp_path / "esn")
    with pytest.warns(IllConditionedWarning, match="do not include the uncertainty of the weights"):
        ee.load(tmp_path / "esn").forecast(3, interval=0.9)


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
    assert not np.isnan(long.upper - long.lower).any()
    np.testing.assert_allclose((long.upper - long.lower)[:20], short.upper - short.lower, rtol=1e-9)


def test_intervals_of_overflowing_paths_are_infinite():
    growing = 1.2 ** np.arange(60)[:, None]
    growing *= 1 + 0.01 * np.random.default_rng(0).normal(size=(60, 1))
    esn = ee.LinearESN(5, spectrum="uniform", ridge=1e-8, seed=0).fit(growing[:-1], growing[1:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = esn.forecast(3000, interval=0.9)
    assert not np.isnan(result.lower).any()
    assert not np.isnan(result.upper).any()


def test_paths_of_several_contexts_are_independent():
    esn = fit(autoregression(400, np.random.default_rng(0)))
    x = autoregression(200, np.random.default_rng(1))
    one, other = esn.forecast(4, [x[:100], x], paths=500, seed=3)
    assert abs(np.corrcoef(one[:, 0, 0], other[:, 0, 0])[0, 1]) < 0.2
    again = esn.forecast(4, [x[:100], x], paths=500, seed=3)
    np.testing.assert_array_equal(again[1], other)
    with pytest.raises(ValueError, match="context"):
        esn.forecast(4, [x, x], interval=0.9, state=esn.final_state_)
