"""Compare networks with nonlinear features and delay lines with textbook loops."""

from __future__ import annotations

import itertools
import pickle
import warnings

import numpy as np
import pytest

import crafted
import eigenecho as ee
import naive
from eigenecho import kernels
from eigenecho.errors import StorageError, UnstableError, UnstableWarning
from eigenecho.kernels import compiled, reference
from eigenecho.kernels.compiled import steps

RIDGE = 1e-4
"""A ridge at which readouts hardly depend on rounding."""

TOLERANCE = {"float64": 1e-12, "float32": 1e-5}
"""Error of an output, over the sum of the sizes of its terms."""

SERIES = ee.tasks.lorenz(400, seed=0)


def signs(states):
    return np.sign(states[:, :2])


MAPS = {
    "quadratic": "quadratic",
    "cubic": "cubic",
    "cosines": ee.features.cosines(7, scale=2.0, seed=1),
    "tanh": ee.features.tanh(5, seed=2),
    "joined": ee.features.joined(
        ee.features.tanh(2), ee.features.cosines(3), "quadratic", ee.features.cosines(2)
    ),
    "custom": ee.features.custom(signs, size=2),
}
RESERVOIRS = {
    "modes": {"units": 5},
    "leaky matrix": {"units": 4, "spectrum": "matrix", "lr": 0.6, "rc_connectivity": 0.7},
    "neurons": {"units": 3, "spectrum": "matrix", "basis": "neuron"},
    "no memory": {"spectrum": np.zeros(3)},
    "delay line": {"spectrum": ee.delay_line(2, spacing=3)},
}
OPTIONS = {
    "plain": {},
    "standardised": {"standardize": True},
    "feedback": {"feedback": True, "fb_scaling": 0.01, "standardize": True},
    "output to readout": {"output_to_readout": True, "fit_bias": False},
    "free bias": {"penalize_bias": False, "input_bias": True},
    "scaled": {"input_scaling": [0.1, 0.5, 2.0]},
}
each_map = pytest.mark.parametrize("features", MAPS)
each_dtype = pytest.mark.parametrize("dtype", ["float64", "float32"])


def fitted(features="cosines", dtype="float64", reservoir="modes", option="plain", **others):
    params = {"ridge": RIDGE, "warmup": 20, "seed": 3, "dtype": dtype, "features": MAPS[features]}
    params |= RESERVOIRS[reservoir] | OPTIONS[option] | others
    return ee.LinearESN(**params).fit(SERIES[:300], SERIES[1:301])


def textbook(esn):
    """Return the parts of a network that the textbook loops need, with W in its basis at work."""
    model = esn.model_
    parts = model.matrices("work")
    features = model.reservoir.features
    functions = getattr(features, "functions", ())
    builtin = getattr(features, "builtin", features)
    degree = {"quadratic": 2, "cubic": 3}.get(esn.features, 1)
    if isinstance(esn.features, ee.features.Features):
        sizes = [part.size for part in esn.features.parts if part.kind == "polynomial"]
        degree = max([1, *sizes])

    def observe(r):
        s = (r[:, builtin.columns] - builtin.mean) / builtin.scale
        pairs = (
            (builtin.cos_weights, builtin.cos_offsets),
            (builtin.tanh_weights, builtin.tanh_offsets),
        )
        return naive.features(s, degree, *pairs, functions[0].function if functions else None)

    W = parts.W.toarray() if hasattr(parts.W, "toarray") else parts.W
    weights = dict(bias=parts.bias, W_fb=parts.W_fb)
    return np.asarray(W, float), np.asarray(parts.W_in, float), weights, observe


def rows_of(esn, u, previous):
    """Return textbook rows [1, y(t−1), s, φ(s)] for inputs and previous outputs of the caller."""
    model = esn.model_
    W, W_in, weights, observe = textbook(esn)
    u, previous = (
        model.own_inputs(np.asarray(u, float)),
        model.from_user(np.asarray(previous, float)),
    )
    r = naive.states(W, W_in, u, y_previous=previous, **weights)
    return r, naive.extended(observe(r), previous, esn.fit_bias, esn.output_to_readout)


def close_terms(actual, X, w, dtype):
    """Compare outputs with X w, relative to the sum of the sizes of the terms."""
    size = np.abs(X) @ np.abs(w)
    assert np.all(np.abs(actual - X @ w) <= TOLERANCE[dtype] * size)


# Kernels


def test_cosine_is_accurate():
    rng = np.random.default_rng(0)
    near = np.concatenate([[0.0, np.pi / 2, np.pi, -np.pi], np.arange(-40, 40) * np.pi / 2])
    for x in (near, rng.uniform(-1e4, 1e4, 2000), rng.uniform(-1e8, 1e8, 500)):
        actual = np.array([steps.cosine(value) for value in x])
        np.testing.assert_allclose(actual, np.cos(x), rtol=0, atol=4e-16)
    assert all(abs(steps.cosine(x)) <= 1 for x in (1e12, -1e17, 1e100, 1.7e308))
    assert np.isnan(steps.cosine(np.inf)) or abs(steps.cosine(np.inf)) <= 1


@each_map
@each_dtype
@pytest.mark.parametrize("implementation", [compiled, reference], ids=["compiled", "reference"])
def test_kernels_equal_the_textbook(features, dtype, implementation):
    esn = fitted(features, dtype, "leaky matrix")
    if features == "custom" and implementation is compiled:
        implementation = kernels.backend(np.empty(0), esn.model_.reservoir.feature_form)
        assert implementation is reference
    reservoir, readout = esn.model_.reservoir, esn.model_.readout
    rng = np.random.default_rng(0)
    states = rng.normal(size=(9, reservoir.units)).astype(dtype)
    _, _, _, observe = textbook(esn)
    z = implementation.observe(reservoir.feature_form, states)
    assert z.dtype == dtype
    np.testing.assert_allclose(z, observe(states), rtol=0, atol=30 * TOLERANCE[dtype])
    drive = rng.normal(size=(9, 3)).astype(dtype)
    before = np.zeros((9, 3), dtype)
    arguments = (reservoir.form, reservoir.B, drive, readout, before)
    row, y = np.empty_like(states[0]), np.empty(3, dtype)
    out, _ = implementation.run_readout(*arguments, None, states[0])
    assert len(out) == 9
    assert implementation.step_readout(
        reservoir.form, reservoir.B, drive[0], readout, before[0], states[0], row, y
    )
    np.testing.assert_array_equal(y, out[0])


def test_states_are_not_changed_by_bounds_of_other_runs():
    esn = fitted()
    r, readout = esn.model_.reservoir, esn.model_.readout
    bound, zero, one = np.full(3, np.inf), np.zeros(3), np.ones(3)
    results = []
    for low, high, clip in ((-bound, bound, False), (-bound, bound, True), (zero, zero, True)):
        loop = kernels.Feedback(0, zero, one, low, high, clip)
        rows = np.zeros((6, 3))
        out, _ = compiled.run_readout(r.form, r.B, rows, readout, rows, loop, np.zeros(r.units))
        assert len(out) == 6
        results.append(out)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[2], np.zeros((6, 3)))


# Training and prediction


@each_map
@pytest.mark.parametrize(
    ("reservoir", "option"),
    [*itertools.product(RESERVOIRS, ["plain"]), *itertools.product(["modes"], OPTIONS)],
)
def test_fit_and_predict_equal_the_textbook(features, reservoir, option):
    esn = fitted(features, reservoir=reservoir, option=option)
    previous = naive.shifted(SERIES[1:301], esn.model_.zero_state().y)
    r, X = rows_of(esn, SERIES[:300], previous)
    own = esn.model_.from_user(SERIES[1:301])
    penalise = esn.penalize_bias or not esn.fit_bias
    W_out = naive.ridge(X[20:], own[20:], RIDGE, penalise)
    size = np.abs(X[20:]).max() * np.abs(W_out).max()
    np.testing.assert_allclose(X[20:] @ esn.W_out_, X[20:] @ W_out, atol=1e-8 * size, rtol=0)
    columns = esn.model_.reservoir.features.columns
    np.testing.assert_allclose(
        esn.model_.reservoir.features.mean
        if features != "custom"
        else esn.model_.reservoir.features.builtin.mean,
        r[20:, columns].mean(0),
        atol=1e-10,
        rtol=1e-10,
    )
    closed = esn.model_.closed
    predicted = esn.predict(SERIES[:300], **({"y_previous": previous} if closed else {}))
    close_terms(esn.model_.from_user(predicted), X, np.asarray(esn.W_out_, float), "float64")


@each_map
def test_single_precision(features):
    esn = fitted(features, "float32", "no memory")
    _, X = rows_of(esn, SERIES[:300], naive.shifted(SERIES[1:301]))
    predicted = esn.predict(SERIES[:300])
    assert predicted.dtype == np.float32
    close_terms(predicted, X, np.asarray(esn.W_out_, float), "float32")


def test_rows_of_several_series_and_warmup():
    parts = [SERIES[:150], SERIES[100:260], SERIES[50:90]]
    esn = ee.LinearESN(4, features="quadratic", ridge=RIDGE, warmup=10, seed=0)
    esn.fit([part[:-1] for part in parts], [part[1:] for part in parts])
    rows = [rows_of(esn, part[:-1], naive.shifted(part[1:])) for part in parts]
    states = np.concatenate([r[10:] for r, _ in rows])
    features = esn.model_.reservoir.features
    np.testing.assert_allclose(features.mean, states.mean(0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(features.scale, states.std(0), rtol=1e-12)
    X, Y = (np.concatenate(part) for part in ([x[10:] for _, x in rows], [p[11:] for p in parts]))
    np.testing.assert_allclose(X @ esn.W_out_, X @ naive.ridge(X, Y, RIDGE), atol=1e-7)
    one, two = esn.predict([parts[0], parts[2]])
    np.testing.assert_array_equal(one, esn.predict(parts[0]))
    np.testing.assert_array_equal(two, esn.predict(parts[2]))


def test_partial_fit_equals_fit():
    whole = ee.LinearESN(4, features=MAPS["cosines"], ridge=RIDGE, seed=0)
    half = ee.LinearESN(4, features=MAPS["cosines"], ridge=RIDGE, seed=0)
    half.fit(SERIES[:200], SERIES[1:201])
    half.partial_fit(SERIES[200:300], SERIES[201:301], initial_state=half.final_state_)
    # The standardisation of the states is that of the first rows.
    whole.fit(SERIES[:200], SERIES[1:201])
    X = rows_of(whole, SERIES[:300], np.zeros((300, 3)))[1]
    expected = X @ naive.ridge(X, SERIES[1:301], RIDGE)
    np.testing.assert_allclose(X @ half.W_out_, expected, atol=1e-7)


def test_solvers():
    params = {"ridge": 1e-2, "features": "quadratic", "units": 4, "seed": 0}
    direct = ee.LinearESN(**params).fit(SERIES[:-1], SERIES[1:])
    assert direct.solver_ == "qr"
    sums = ee.LinearESN(**params, solver="normal").fit(SERIES[:-1], SERIES[1:])
    assert sums.solver_ == "normal"
    np.testing.assert_allclose(sums.predict(SERIES), direct.predict(SERIES), rtol=1e-9)
    automatic = ee.LinearESN(**params | {"ridge": "auto"}).fit(SERIES[:-1], SERIES[1:])
    assert automatic.ridge_ > 0
    assert np.isfinite(automatic.log_evidence_)
    several = ee.LinearESN(**params | {"ridge": [1e-8, 1e3]}).fit(SERIES[:-1], SERIES[1:])
    assert several.ridge_ == 1e-8


def test_deviations_of_predictions():
    noisy = SERIES + np.random.default_rng(0).normal(0, 0.5, SERIES.shape)
    esn = ee.LinearESN(4, features="quadratic", ridge="auto", warmup=20, seed=0)
    esn.fit(noisy[:-1], noisy[1:])
    mean, deviation = esn.predict(noisy[:-1], return_std=True)
    error = np.sqrt(np.mean((mean - noisy[1:])[20:] ** 2, axis=0))
    np.testing.assert_allclose(deviation[20:].mean(axis=0), error, rtol=0.15)


def test_nothing_changes_without_features():
    plain = ee.LinearESN(10, seed=0).fit(SERIES[:-1], SERIES[1:])
    assert plain.model_.reservoir.features is None
    assert plain.model_.output_range is None
    # Features have a random stream of their own.
    quadratic = ee.LinearESN(10, seed=0, features="quadratic").fit(SERIES[:-1], SERIES[1:])
    np.testing.assert_array_equal(plain.model_.reservoir.W_in, quadratic.model_.reservoir.W_in)
    np.testing.assert_array_equal(plain.transform(SERIES), quadratic.transform(SERIES))


def test_seeds_of_features():
    def weights(seed, own):
        esn = ee.LinearESN(3, features=ee.features.cosines(4, seed=own), seed=seed)
        return esn.fit(SERIES[:-1], SERIES[1:]).model_.reservoir.features.cos_weights

    np.testing.assert_array_equal(weights(0, None), weights(0, None))
    assert not np.array_equal(weights(0, None), weights(1, None))
    np.testing.assert_array_equal(weights(0, 5), weights(1, 5))


# Closed loops and streams


@each_map
@pytest.mark.parametrize(
    ("reservoir", "option"),
    [*itertools.product(RESERVOIRS, ["plain"]), *itertools.product(["modes"], OPTIONS)],
)
def test_forecast_equals_the_textbook_step_by_step(features, reservoir, option):
    esn = fitted(features, reservoir=reservoir, option=option)
    model = esn.model_
    context = SERIES[300:340]
    forecast = esn.forecast(12, context, clip=True)
    # Each step is compared from the forecasts before it, so that errors do not grow.
    series = np.concatenate([context, forecast])
    _, X = rows_of(esn, series[:-1], series[:-1])
    w, low, high = np.asarray(esn.W_out_, float), *model.output_range[2:]
    expected = np.clip(X[39:] @ w, low, high)
    size = np.abs(X[39:]) @ np.abs(w)
    assert np.all(np.abs(model.from_user(forecast) - expected) <= 1e-11 * size)
    many = esn.forecast(12, np.stack([context, SERIES[200:240]]), clip=True)
    np.testing.assert_array_equal(many[0], forecast)
    np.testing.assert_array_equal(many[1], esn.forecast(12, SERIES[200:240], clip=True))
    before = {"y_previous": context[:-1]} if model.closed else {}
    _, state = esn.predict(context[:-1], **before, return_state=True)
    state = ee.State(state.r, context[-1])
    again = esn.forecast(12, state=state, clip=True)
    np.testing.assert_allclose(again, forecast, rtol=1e-6, atol=1e-6)


def test_forecast_with_known_inputs():
    rng = np.random.default_rng(0)
    known = rng.normal(size=(301, 1))
    series = np.zeros((301, 1))
    for t in range(300):
        series[t + 1] = 0.5 * series[t] + 0.4 * series[t] * known[t] + known[t] ** 2
    X = np.concatenate([series, known], axis=1)
    esn = ee.LinearESN(spectrum=ee.delay_line(1), features="quadratic", ridge=1e-10, seed=0)
    esn.fit(X[:250], series[1:251])
    forecast = esn.forecast(20, X[:251], known[251:271])
    np.testing.assert_allclose(forecast, series[251:271], atol=1e-6)
    looped = ee.LinearESN(
        spectrum=ee.delay_line(1), features="quadratic", ridge="loop", seed=0
    ).fit(X[:250], series[1:251])
    np.testing.assert_allclose(
        looped.forecast(20, X[:251], known[251:271]), series[251:271], atol=1e-6
    )


@each_map
@each_dtype
@pytest.mark.parametrize("option", OPTIONS)
def test_streams_equal_predictions(features, dtype, option):
    esn = fitted(features, dtype, option=option)
    rows = SERIES[300:330]
    previous = naive.shifted(rows, esn.model_.zero_state().y)
    given = {"y_previous": previous} if esn.model_.closed else {}
    expected = esn.predict(rows, **given)
    stream, whole = esn.stream(), esn.stream()
    stepped = np.array(
        [
            stream.step(u, **({"y_previous": p} if given else {}))
            for u, p in zip(rows, previous, strict=True)
        ]
    )
    np.testing.assert_array_equal(whole.run(rows, **given), stepped)
    np.testing.assert_array_equal(whole.state.r, stream.state.r)
    size = np.abs(expected).max() * (1 + np.abs(esn.W_out_).max())
    np.testing.assert_allclose(stepped, expected, atol=100 * TOLERANCE[dtype] * size)
    # On its own outputs, too.
    if esn.model_.closed:
        free, stepwise = esn.stream(), esn.stream()
        np.testing.assert_array_equal(free.run(rows), [stepwise.step(u) for u in rows])


def test_generator_without_input():
    esn = ee.LinearESN(6, features=MAPS["cosines"], feedback=True, ridge=1e-8, warmup=20, seed=0)
    esn.fit(None, SERIES[:300])
    assert np.isfinite(esn.forecast(20)).all()


# Divergence


def diverging():
    # The square of the state is its only use, and 1.1² > 1 grows without bound.
    rows = 0.5 * np.ones((200, 1)) + 0.1 * np.random.default_rng(0).normal(size=(200, 1))
    targets = rows**2 * 4 + rows
    esn = ee.LinearESN(spectrum=ee.delay_line(1), features="quadratic", ridge=1e-12, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return esn.fit(rows, targets), rows


@pytest.mark.filterwarnings("ignore:forecast uses each output")
def test_divergence_is_reported_and_nothing_but_nan_follows():
    esn, rows = diverging()
    with pytest.warns(
        UnstableWarning, match=r"diverged at step (\d+): it was more than 10 standard deviations"
    ):
        forecast = esn.forecast(50, rows)
    (first,) = np.flatnonzero(np.isnan(forecast[:, 0]))[:1]
    assert 0 < first < 10
    assert np.isnan(forecast[first:]).all()
    targets = rows**2 * 4 + rows
    assert np.all(np.abs(forecast[:first] - targets.mean()) <= 10 * targets.std())
    value = rows[-1, 0]
    for row in forecast[:first, 0]:
        value = value**2 * 4 + value
        assert row == pytest.approx(value, rel=1e-6)
    assert abs(value**2 * 4 + value - targets.mean()) > 10 * targets.std()


@pytest.mark.filterwarnings("ignore:forecast uses each output")
def test_clipped_forecasts_stay_within_the_range():
    esn, rows = diverging()
    targets = rows**2 * 4 + rows
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnstableWarning)
        forecast = esn.forecast(50, rows, clip=True)
        many = esn.forecast(50, [rows, rows[:100]], clip=True)
    limit = targets.max() + 0.25 * np.ptp(targets)
    assert forecast.max() == pytest.approx(limit)
    np.testing.assert_array_equal(many[0], forecast)
    with pytest.raises(ValueError, match="Invalid clip=1: expected True or False"):
        esn.forecast(5, rows, clip=1)
    linear = ee.LinearESN(5, seed=0).fit(SERIES[:-1], SERIES[1:])
    with pytest.raises(ValueError, match=r"clip=True.*False, because"):
        linear.forecast(5, clip=True)


def test_range_without_missing_targets():
    targets = SERIES[1:].copy()
    targets[::7, 0] = np.nan
    esn = ee.LinearESN(4, features="quadratic", missing="skip", seed=0).fit(SERIES[:-1], targets)
    low, high, clip_low, clip_high = esn.model_.output_range
    spread = np.nanmax(targets, axis=0) - np.nanmin(targets, axis=0)
    np.testing.assert_allclose(clip_high, np.nanmax(targets, axis=0) + 0.25 * spread)
    np.testing.assert_allclose(clip_low, np.nanmin(targets, axis=0) - 0.25 * spread)
    np.testing.assert_allclose((low + high) / 2, np.nanmean(targets, axis=0))
    np.testing.assert_allclose((high - low) / 20, np.nanstd(targets, axis=0))


# Delay lines


@pytest.mark.parametrize(("taps", "spacing"), [(1, 1), (4, 1), (3, 5)])
def test_delay_line_holds_earlier_inputs(taps, spacing):
    esn = ee.LinearESN(spectrum=ee.delay_line(taps, spacing), seed=0).fit(SERIES[:-1], SERIES[1:])
    states = esn.transform(SERIES)
    for column, tap in itertools.product(range(3), range(taps)):
        delay = tap * spacing
        expected = np.concatenate([np.zeros(delay), SERIES[: len(SERIES) - delay, column]])
        np.testing.assert_array_equal(states[:, column * taps + tap], expected)
    out = np.empty((len(SERIES), 3 * taps))
    assert esn.transform(SERIES, out=out) is out
    np.testing.assert_array_equal(out, states)
    assert len(esn.get_feature_names_out()) == 3 * taps
    assert esn.effective_radius_ == 0
    assert len(esn.W_out_) == 1 + 3 * taps
    X = naive.extended(states)[:-1]
    np.testing.assert_allclose(X @ esn.W_out_, X @ naive.ridge(X, SERIES[1:], 1e-8), atol=1e-6)
    reservoir = ee.DiagonalReservoir(spectrum=ee.delay_line(taps, spacing)).fit(SERIES)
    np.testing.assert_array_equal(reservoir.transform(SERIES), states)
    assert len(reservoir.get_feature_names_out()) == 3 * taps


def test_long_delay_line():
    # An N×N matrix would not fit into memory.
    esn = ee.LinearESN(spectrum=ee.delay_line(2, spacing=100_000), seed=0)
    esn.fit(SERIES[:20], SERIES[1:21])
    assert esn.model_.units == 3 * 100_001
    np.testing.assert_array_equal(esn.transform(SERIES[:20])[:, ::2], SERIES[:20])


def test_delay_line_of_outputs():
    series = ee.tasks.mso(3, steps=300)
    esn = ee.LinearESN(spectrum=ee.delay_line(6), feedback=True, ridge=1e-12, warmup=6, seed=0)
    esn.fit(None, series[:250])
    np.testing.assert_allclose(esn.forecast(50), series[250:], atol=1e-3)


def test_delay_line_refuses_what_it_does_not_have():
    line = ee.delay_line(3)
    for params, match in (
        ({"lr": 0.5}, "Invalid lr=0.5: expected 1, because a delay line"),
        ({"input_bias": True}, "Invalid input_bias=True: expected False, because a delay line"),
    ):
        with pytest.raises(ValueError, match=match):
            ee.LinearESN(spectrum=line, **params).fit(SERIES[:-1], SERIES[1:])
    esn = ee.LinearESN(spectrum=line, seed=0).fit(SERIES[:-1], SERIES[1:])
    with pytest.raises(ValueError, match="Reduction is not supported with features or a delay"):
        esn.reduce(units=2)
    for arguments in ((0,), (2.5,), (2, 0), (True,)):
        with pytest.raises(ValueError, match=r"taps|spacing"):
            ee.delay_line(*arguments)


# Search, and the ridge of closed loops


def naive_loop_errors(esn, windows, true_series, scale):
    """Return the mean error of textbook forecasts of windows (start, stop)."""
    errors = []
    for start, stop in windows:
        series = np.asarray(true_series[: start + 1])
        guess = esn.forecast(stop - start, series)
        error = np.sqrt(np.mean(((guess - true_series[start + 1 : stop + 1]) / scale) ** 2, axis=1))
        errors.append(np.mean(np.where(error < 1, error, 1)))
    return np.mean(errors)


@pytest.mark.filterwarnings("ignore::eigenecho.errors.UnstableWarning")
def test_scores_of_closed_loops_equal_forecasts():
    X, y = SERIES[:-1], SERIES[1:]
    base = ee.LinearESN(3, spectrum=np.zeros(3), warmup=10, seed=0)
    grid = {"features": ["quadratic", ee.features.cosines(20)], "ridge": [1e-8, 1e-2]}
    result = ee.search(base, grid, X, y, validation=[(300, 399)], score="loop")
    for params, (score,) in zip(result.params, result.errors[:, 0], strict=True):
        esn = ee.LinearESN(3, spectrum=np.zeros(3), warmup=10, seed=0, **params)
        esn.fit(X[:300], y[:300])
        starts = np.unique(np.linspace(300, 399 - 49, 15).astype(int))
        expected = naive_loop_errors(esn, [(s, s + 49) for s in starts], SERIES, y.std(axis=0))
        assert score == pytest.approx(expected, rel=1e-3)
    assert result.best_estimator.features == result.best_params["features"]


def test_search_over_features_and_scalings():
    X, y = SERIES[:-1], SERIES[1:]
    grid = {
        "features": [None, "quadratic", ee.features.cosines(10, scale=0.5)],
        "input_scaling": [0.5, 2.0],
        "ridge": [1e-6, 1e-3],
    }
    base = ee.LinearESN(4, warmup=10, seed=0)
    result = ee.search(base, grid, X, y)
    for params, (error,) in zip(result.params, result.errors[:, 0], strict=True):
        esn = ee.LinearESN(4, warmup=10, seed=0, **params).fit(X[:321], y[:321])
        expected = ee.metrics.rmse(esn.predict(X)[321:], y[321:])
        assert error == pytest.approx(expected, rel=1e-6)
    with pytest.raises(ValueError, match="Unknown score='fast'"):
        ee.search(base, grid, X, y, score="fast")


def test_ridge_of_closed_loops():
    esn = ee.LinearESN(
        3, spectrum=np.zeros(3), features=ee.features.cosines(100), ridge="loop", warmup=10, seed=0
    ).fit(SERIES[:-1], SERIES[1:])
    assert esn.ridge_ < 1e-8
    assert esn.ridge_ == float(f"{esn.ridge_:.0e}")
    same = ee.LinearESN(
        3,
        spectrum=np.zeros(3),
        features=ee.features.cosines(100),
        ridge=esn.ridge_,
        warmup=10,
        seed=0,
    ).fit(SERIES[:-1], SERIES[1:])
    np.testing.assert_array_equal(same.W_out_, esn.W_out_)
    several = ee.LinearESN(4, features="quadratic", ridge="loop", warmup=10, seed=0)
    several.fit([SERIES[:150], SERIES[150:300]], [SERIES[1:151], SERIES[151:301]])
    assert several.ridge_ > 0
    searched = ee.search(
        ee.LinearESN(3, spectrum=np.zeros(3), features="quadratic", warmup=10, seed=0),
        {"ridge": ["loop", 1e3]}, SERIES[:-1], SERIES[1:], score="loop",
    )  # fmt: skip
    assert searched.best_params == {"ridge": "loop"}


def test_ridge_of_closed_loops_needs_rows_and_a_loop():
    short = ee.LinearESN(2, features="quadratic", ridge="loop")
    with pytest.raises(ValueError, match=r"ridge='loop'.*at least 20 rows"):
        short.fit(SERIES[:15], SERIES[1:16])
    with pytest.raises(
        ValueError, match="Forecasting requires a model that predicts its own input"
    ):
        ee.LinearESN(2, ridge="loop").fit(SERIES[:-1, :1], SERIES[1:])


# Files


@each_dtype
@pytest.mark.parametrize("features", [name for name in MAPS if name != "custom"])
@pytest.mark.parametrize("reservoir", ["modes", "delay line"])
def test_files_round_trip_to_the_bit(tmp_path, features, dtype, reservoir):
    path = tmp_path / "network.safetensors"
    esn = fitted(features, dtype, reservoir)
    esn.save(path, statistics=True)
    loaded = ee.load(path)
    assert repr(loaded.features) == repr(esn.features)
    assert repr(loaded.spectrum) == repr(esn.spectrum)
    np.testing.assert_array_equal(loaded.forecast(10), esn.forecast(10))
    np.testing.assert_array_equal(loaded.predict(SERIES), esn.predict(SERIES))
    refitted = loaded.fit(SERIES[:300], SERIES[1:301])
    np.testing.assert_array_equal(refitted.W_out_, esn.W_out_)
    esn.model_.save(path)
    np.testing.assert_array_equal(ee.load(path).predict(SERIES), esn.predict(SERIES))
    stream = esn.stream()
    stream.run(SERIES[:7])
    stream.save(path)
    np.testing.assert_array_equal(ee.load(path).run(SERIES[7:20]), stream.run(SERIES[7:20]))


def test_custom_features_cannot_be_saved(tmp_path):
    esn = fitted("custom")
    for thing in (esn, esn.model_, esn.stream()):
        with pytest.raises(ValueError, match=r"^Custom features"):
            thing.save(tmp_path / "network.safetensors")
    assert not list(tmp_path.iterdir())
    copy = pickle.loads(pickle.dumps(esn))
    np.testing.assert_array_equal(copy.forecast(5), esn.forecast(5))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("columns", lambda a: a + 1),
        ("columns", lambda a: a - 1),
        ("products", lambda a: a + 100),
        ("products", lambda a: np.maximum(a, 0)[:-1]),
        ("scale", lambda a: 0 * a),
        ("mean", lambda a: a * np.nan),
        ("cos_weights", lambda a: a[:, :-1]),
        ("tanh_offsets", lambda a: np.append(a, 1.0)),
    ],
)
def test_damaged_files_are_refused(tmp_path, name, change):
    path = tmp_path / "network.safetensors"
    fitted("joined").model_.save(path)

    def damage(values, arrays):
        (key,) = [key for key in arrays if key.endswith(f"features.{name}")]
        arrays[key] = np.ascontiguousarray(change(arrays[key]))

    crafted.change_file(path, damage)
    with pytest.raises(StorageError):
        ee.load(path)


# Errors


def test_what_is_not_available_with_features():
    esn = fitted()
    calls = {
        "Reduction": [lambda: esn.reduce(units=2), lambda: esn.model_.reduce(tol=0.1)],
        "A learner": [lambda: esn.learner(), lambda: esn.model_.learner(1e-3)],
        "W_out in the neuron basis": [esn.matrices],
        "weights=True": [lambda: ee.plots.spectrum(esn, weights=True)],
    }
    for what, attempts in calls.items():
        for attempt in attempts:
            with pytest.raises(ValueError, match=f"^{what}.*not supported with features"):
                attempt()
    assert not hasattr(esn, "closed_loop_radius_")
    with pytest.raises(ValueError, match="not supported with features"):
        ee.LinearESN(3, features="quadratic", ridge=1e-3).learner(n_inputs=1, n_outputs=1)
    assert esn.model_.inference(100) == "scan"
    assert (
        repr(esn.model_) == "LinearModel(3 inputs → 5 units (diagonal) → 12 features → 3 outputs)"
    )


@pytest.mark.parametrize(
    ("features", "match"),
    [
        ("quintic", "Unknown features='quintic': expected one of cubic, quadratic"),
        (3, "Invalid features=3: expected None, 'quadratic'"),
        (np.tanh, "Wrap a function with eigenecho.features.custom"),
    ],
)
def test_unknown_features(features, match):
    with pytest.raises(ValueError, match=match):
        ee.LinearESN(features=features).fit(SERIES[:-1], SERIES[1:])


def test_arguments_of_features():
    features = ee.features
    for call, name in (
        (lambda: features.polynomial(1), "degree"),
        (lambda: features.polynomial(2.0), "degree"),
        (lambda: features.cosines(0), "count"),
        (lambda: features.cosines(5, scale=0), "scale"),
        (lambda: features.tanh(5, seed=-1), "seed"),
        (lambda: features.custom(3, 2), "function"),
        (lambda: features.custom(np.abs, 0), "size"),
        (lambda: features.joined(), "features"),
        (lambda: features.joined("quadratic", "cubic"), "features"),
    ):
        with pytest.raises(ValueError, match=f"^Invalid {name}=.*"):
            call()
    with pytest.raises(ValueError, match="degree 3 of 100 states, which gives 176750 products"):
        ee.LinearESN(100, features="cubic").fit(SERIES[:-1], SERIES[1:])


def test_functions_with_a_size():
    def absolute(states):
        return np.abs(states)

    absolute.size = 4
    esn = ee.LinearESN(4, features=absolute, seed=0).fit(SERIES[:-1], SERIES[1:])
    assert len(esn.W_out_) == 1 + 4 + 4
    wrong = ee.LinearESN(4, features=ee.features.custom(np.abs, size=3), seed=0)
    with pytest.raises(ValueError, match=r"custom\(absolute, size=3\), which returned float64 of"):
        wrong.fit(SERIES[:-1], SERIES[1:])
    infinite = ee.features.custom(lambda states: np.full((len(states), 1), np.inf), size=1)
    with pytest.raises(UnstableError, match="squares of the features overflowed"):
        ee.LinearESN(4, features=infinite, seed=0).fit(SERIES[:-1], SERIES[1:])


def test_failed_fit_leaves_the_network_unchanged():
    esn = fitted()
    before = esn.forecast(5)
    with pytest.raises(ValueError, match="features"):
        esn.set_params(features="none").fit(SERIES[:-1], SERIES[1:])
    np.testing.assert_array_equal(esn.forecast(5), before)
