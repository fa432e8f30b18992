"""``LinearESN.reduce`` returns a fitted estimator with fewer units."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.base import clone

import eigenecho as ee
from eigenecho.errors import IllConditionedWarning
from optional import optional

pd = optional("pandas")

SERIES = ee.tasks.mso(3, steps=701) + 0.01 * np.random.default_rng(0).normal(size=(701, 1))
X, Y = SERIES[:-1], SERIES[1:]


@pytest.fixture(scope="module")
def esn():
    return ee.LinearESN(80, sr=0.95, lr=0.8, ridge=1e-4, warmup=50, seed=0).fit(X, Y[:, 0])


@pytest.fixture(scope="module")
def small(esn):
    return esn.reduce(tol=1e-5)


def test_predictions_are_close_to_the_original(esn, small):
    assert small.units == small.model_.units == len(small.spectrum_) < esn.units
    assert small.predict(X).shape == (700,)
    np.testing.assert_allclose(small.predict(X)[50:], esn.predict(X)[50:], atol=1e-3)
    np.testing.assert_allclose(small.forecast(40), esn.forecast(40), atol=1e-3)
    np.testing.assert_allclose(small.forecast(40, X), esn.forecast(40, X), atol=1e-3)
    bounds, noise = small.forecast(5, interval=0.9), esn.noise_covariance_
    expected = esn.model_.forecast(5, state=esn.final_state_, interval=0.9, noise=noise)
    width = (expected.upper - expected.lower)[:, 0]
    np.testing.assert_allclose(bounds.upper - bounds.lower, width, rtol=1e-2)
    assert small.score(X, Y[:, 0]) == pytest.approx(esn.score(X, Y[:, 0]), abs=1e-6)
    assert small.closed_loop_radius_ == pytest.approx(small.certificate_.radius_after)


def test_original_is_not_modified(esn, small):
    assert esn.model_.units == 80
    with pytest.raises(AttributeError, match="networks returned by reduce"):
        _ = esn.certificate_
    assert not hasattr(esn, "certificate")
    assert small.model_.certificate is small.certificate_ is small.certificate


def test_parameters_describe_the_remaining_modes(small):
    again = clone(small).fit(X, Y[:, 0])
    assert again.spectrum_ == small.spectrum
    assert again.effective_radius_ == pytest.approx(small.effective_radius_)


def test_partial_fit_is_rejected(small):
    with pytest.raises(ValueError, match="Reduced networks and networks"):
        small.partial_fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="Reduced networks and networks"):
        small.learner()
    with pytest.raises(ValueError, match="Reduced networks and networks"):
        small.save("anywhere", statistics=True)


def test_intervals_warn_of_missing_uncertainty(tmp_path):
    """Intervals contain only the noise if there are many weights per row, also after loading."""
    esn = ee.LinearESN(60, sr=0.95, ridge=1e-6, warmup=10, seed=0).fit(X[:150], Y[:150])
    small = esn.reduce(units=20)
    small.save(tmp_path / "small")
    for one in (small, ee.load(tmp_path / "small")):
        with pytest.warns(IllConditionedWarning, match="Reduced networks"):
            bounds = one.forecast(3, interval=0.9)
        expected = esn.forecast(3, interval=0.9)
        assert np.all(bounds.upper - bounds.lower < expected.upper - expected.lower)


def test_standard_deviations_of_predictions_are_rejected_with_a_reason(esn, small, tmp_path):
    with pytest.raises(ValueError, match="Reduced networks and networks"):
        small.predict(X, return_std=True)
    esn.save(tmp_path / "plain")
    with pytest.raises(ValueError, match=r"statistics=True"):
        ee.load(tmp_path / "plain").predict(X, return_std=True)


def test_reduced_estimator_is_restored(small, tmp_path):
    path = tmp_path / "small.safetensors"
    small.save(path)
    loaded = ee.load(path)
    assert np.array_equal(loaded.predict(X), small.predict(X))
    assert np.array_equal(loaded.forecast(9), small.forecast(9))
    assert str(loaded.certificate_) == str(small.certificate_)


def test_file_without_statistics_uses_white_weighting(esn, tmp_path):
    for statistics, weighting in ((True, "statistics"), (False, "white")):
        path = tmp_path / f"{weighting}.safetensors"
        esn.save(path, statistics=statistics)
        assert ee.load(path).reduce(tol=1e-2).certificate_.weighting == weighting


def test_names_of_columns_are_kept():
    frame = pd.DataFrame({"load": SERIES[:, 0], "time": np.arange(701) / 701})
    esn = ee.LinearESN(30, standardize=True, ridge=1e-2, seed=0).fit(frame[:-1], frame[1:])
    small = esn.reduce(tol=1e-2)
    assert list(small.feature_names_in_) == ["load", "time"]
    with pytest.raises(ValueError, match="feature names"):
        small.predict(frame[["time", "load"]])


def test_outputs_with_different_gaps_use_white_weighting():
    Y2 = np.hstack([Y, Y**2])
    Y2[100:120, 0] = np.nan
    esn = ee.LinearESN(30, ridge=1e-2, missing="skip", seed=0).fit(X, Y2)
    assert esn.reduce(tol=1e-2).certificate_.weighting == "white"


def test_generator_without_input_can_be_reduced():
    esn = ee.LinearESN(40, feedback=True, ridge=1e-6, warmup=50, seed=0).fit(None, Y)
    small = esn.reduce(tol=1e-6)
    assert small.units < 40
    np.testing.assert_allclose(small.forecast(20), esn.forecast(20), atol=1e-2)


def test_bound_of_single_precision_holds():
    rng = np.random.default_rng(0)
    u = rng.normal(size=(1500, 2))
    y = np.roll(u[:, 0], 3) + 0.1 * rng.normal(size=1500)
    esn = ee.LinearESN(120, warmup=100, seed=0, dtype="float32").fit(u, y)
    with pytest.raises(ValueError, match="data"):
        esn.reduce(tol=1e-2)
    small = esn.reduce(tol=1e-2, data=(u, y))
    error = (esn.predict(u) - small.predict(u))[100:]
    assert np.sqrt(np.mean(error**2)) <= 1.01e-2 * y.std()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("options", [{}, {"standardize": True, "output_to_readout": True}])
@pytest.mark.parametrize("seed", range(4))
def test_error_is_that_of_the_returned_network(seed, options, dtype):
    u = ee.tasks.mso(3, steps=61)
    esn = ee.LinearESN(80, spectrum="ring", lr=0.4, dtype=dtype, seed=seed, **options)
    esn.fit(u[:-1], u[1:])
    before = {"y_previous": np.concatenate([u[:1] * 0, u[1:-1]])} if options else {}
    with pytest.raises(ValueError, match="tol") as failure:
        esn.reduce(tol=1e-14, data=(u[:-1], u[1:]))
    for tol in (1e-3, float(re.search(r"at least (\S+),", str(failure.value))[1])):
        small = esn.reduce(tol=tol, data=(u[:-1], u[1:]))
        runs = [one.predict(u[:-1], **before).astype(float) for one in (esn, small)]
        if not options:
            parts = np.split(runs[0] - runs[1], [48])
            error = max(np.sqrt(np.mean(part**2)) for part in parts) / u[1:].std()
            assert error == pytest.approx(small.certificate_.promise, rel=1e-6)
        assert np.sqrt(np.mean((runs[0] - runs[1]) ** 2)) <= 1.05 * tol * u[1:].std()


def test_statistics_without_the_warmup_cause_a_warning(esn):
    with pytest.warns(UserWarning, match="warmup"):
        esn.reduce(tol=1e-5)


def test_bound_without_y_is_relative_to_the_output_of_the_network():
    rng = np.random.default_rng(0)
    u = rng.normal(size=(1500, 2))
    y = np.roll(u[:, 0], 3) + 0.1 * rng.normal(size=1500)
    esn = ee.LinearESN(120, warmup=100, seed=0, input_bias=True).fit(u, y)
    small = esn.reduce(tol=1e-3, data=u)
    error = (esn.predict(u) - small.predict(u))[100:]
    assert np.sqrt(np.mean(error**2)) <= 1.5e-3 * y.std()


@pytest.mark.parametrize("level", [0.0, 1e8, 1e10])
@pytest.mark.parametrize("solver", ["qr", "normal"])
def test_bound_is_relative_to_the_deviation_at_any_level(solver, level):
    """Squares of a level of 1e8 hide a standard deviation of 1."""
    options = dict(ridge=1e-4, penalize_bias=False, solver=solver, seed=0)
    esn = ee.LinearESN(40, **options).fit(X, Y[:, 0] + level)
    small = esn.reduce(tol=1e-2)
    error = np.sqrt(np.mean((small.predict(X) - esn.predict(X)) ** 2)) / Y.std()
    assert error <= small.certificate_.promise <= 1e-2


@pytest.mark.parametrize("ridge", [1e-6, 100.0])
@pytest.mark.parametrize("solver", ["qr", "normal"])
def test_bound_of_constant_targets_is_relative_to_their_level(solver, ridge):
    """The standard deviation of constant targets is rounding, so it is no measure of errors."""
    known = dict(solver=solver, ridge=ridge, seed=0)
    errors = [
        ee.LinearESN(20, **known).fit(X, np.full(700, level)).reduce(units=2).certificate_.promise
        for level in (3.0, 3e8)
    ]
    assert errors[0] == pytest.approx(errors[1], rel=1e-2)
    assert errors[0] < 1


@pytest.mark.parametrize(
    ("options", "size", "scale"),
    [
        ({}, "standard deviation", lambda y: np.std(y)),
        ({"fit_bias": False}, "root mean square", lambda y: np.sqrt(np.mean(y**2))),
        ({"fit_bias": False, "standardize": True}, "standard deviation", lambda y: np.std(y)),
    ],
)
def test_certificate_names_the_unit_of_errors(options, size, scale, tmp_path):
    level = 3.0
    network = ee.LinearESN(60, sr=0.9, ridge=1e-4, seed=0, **options)
    esn = network.fit(X + level, Y[:, 0] + level)
    small = esn.reduce(tol=1e-2)
    said = small.certificate_
    assert said.size == size
    assert f"of the {size} of y, proven" in str(said)
    error = np.sqrt(np.mean((small.predict(X + level) - esn.predict(X + level)) ** 2))
    assert error <= said.promise * scale(Y[:, 0] + level)
    small.save(tmp_path / "file")
    assert str(ee.load(tmp_path / "file").certificate_) == str(said)
    on_rows = esn.reduce(tol=1e-2, data=(X + level, Y + level)).certificate_
    assert on_rows.size == "standard deviation"


def test_columns_of_the_data_must_equal_those_of_the_fit():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 2)), columns=["p", "q"])
    esn = ee.LinearESN(20, seed=0).fit(frame, frame["p"].to_numpy())
    for data in (frame[["q", "p"]], [frame.rename(columns={"q": "z"})], (frame[["q", "p"]], None)):
        with pytest.raises(ValueError, match="feature names"):
            esn.reduce(units=6, data=data)
    assert esn.reduce(units=6, data=frame).model_.units == 6
