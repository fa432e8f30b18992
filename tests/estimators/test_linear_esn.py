"""LinearESN with extreme targets, named targets, gaps, and parameters of any numeric type."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import eigenecho as ee
from optional import optional

pd = optional("pandas")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 1))
Y = np.roll(X, 2) + 0.1 * RNG.normal(size=(300, 1))


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e155, 1e300])
def test_score_does_not_depend_on_the_scale_of_targets(scale):
    esn = ee.LinearESN(20, warmup=10, ridge=1e-6, seed=0)
    expected = esn.fit(X, Y).score(X, Y)
    assert esn.fit(X, scale * Y).score(X, scale * Y) == pytest.approx(expected, abs=1e-9)
    gaps = Y.copy()
    gaps[20:40] = np.nan
    esn = ee.LinearESN(20, warmup=10, ridge=1e-6, missing="skip", seed=0)
    expected = esn.fit(X, gaps).score(X, gaps)
    assert esn.fit(X, scale * gaps).score(X, scale * gaps) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e155, 1e300])
@pytest.mark.parametrize("ridge", [1e-6, "auto", [1e-6, 1e-2]])
def test_deviations_scale_with_the_targets(scale, ridge):
    esn = ee.LinearESN(20, warmup=10, ridge=ridge, seed=0).fit(X, Y)
    mean, deviation = esn.predict(X, return_std=True)
    large = ee.LinearESN(20, warmup=10, ridge=ridge, seed=0).fit(X, scale * Y)
    scaled_mean, scaled_deviation = large.predict(X, return_std=True)
    np.testing.assert_allclose(scaled_mean / scale, mean, atol=1e-9)
    np.testing.assert_allclose(scaled_deviation / scale, deviation, rtol=1e-6)


def test_only_extreme_columns_are_rescaled():
    both = np.hstack([Y, 1e-200 * Y])
    esn = ee.LinearESN(20, warmup=10, seed=0).fit(X, both)
    plain = ee.LinearESN(20, warmup=10, seed=0).fit(X, Y)
    assert esn.model_.outputs.scale[0] == 1.0
    np.testing.assert_allclose(esn.predict(X)[:, :1], plain.predict(X), rtol=1e-9)
    assert plain.model_.outputs is None
    esn.partial_fit(X, both)
    assert esn.score(X, both) > 0.9


def test_name_of_a_series_is_checked_in_partial_fit():
    sales = pd.Series(Y[:, 0], name="sales")
    esn = ee.LinearESN(20, seed=0).fit(X, sales)
    esn.partial_fit(X, sales).partial_fit(X, sales.to_frame()).partial_fit(X, Y[:, 0])
    with pytest.raises(ValueError, match=r"y has \['costs'\], but fit had \['sales'\]"):
        esn.partial_fit(X, sales.rename("costs"))


# Types of parameters, and arrays of results -----------------------------------------------------


@pytest.mark.parametrize(
    ("scalar", "plain"),
    [
        ({"units": np.int8(127)}, {"units": 127}),
        ({"sr": np.float16(0.5), "lr": np.float16(0.25)}, {"sr": 0.5, "lr": 0.25}),
        ({"spectrum": "log_ring", "sr": np.float16(0.5)}, {"spectrum": "log_ring", "sr": 0.5}),
        ({"spectrum": "matrix", "sr": np.float16(0.5)}, {"spectrum": "matrix", "sr": 0.5}),
    ],
)
def test_numpy_scalars_equal_python_numbers(scalar, plain):
    X = ee.tasks.mso(3, steps=201)
    first, second = (
        ee.LinearESN(**options, seed=0).fit(X[:-1], X[1:]).predict(X) for options in (scalar, plain)
    )
    np.testing.assert_array_equal(first, second)


def test_loaded_network_with_a_numpy_radius_is_fitted_again_to_the_same_network(tmp_path):
    X = ee.tasks.mso(3, steps=201)
    esn = ee.LinearESN(20, sr=np.float32(0.9), seed=0).fit(X[:-1], X[1:])
    esn.save(tmp_path / "esn.safetensors")
    loaded = ee.load(tmp_path / "esn.safetensors").fit(X[:-1], X[1:])
    np.testing.assert_array_equal(loaded.predict(X), esn.predict(X))


def test_sizes_may_be_numpy_integers():
    X = ee.tasks.mso(3, steps=401)
    for kind in (np.int8, np.uint8):
        line = ee.delay_line(kind(100), kind(2))
        esn = ee.LinearESN(spectrum=line, ridge=1e-3).fit(X[:-1], X[1:])
        expected = ee.LinearESN(spectrum=ee.delay_line(100, 2), ridge=1e-3).fit(X[:-1], X[1:])
        np.testing.assert_array_equal(esn.predict(X), expected.predict(X))
    expected = ee.Forecaster(24, validation=100).fit(X[:, 0]).predict()
    np.testing.assert_array_equal(
        ee.Forecaster(24, validation=np.int8(100)).fit(X[:, 0]).predict(), expected
    )


@pytest.mark.parametrize("spectrum", ["matrix", "sim", "golden", "ring"])
def test_radius_of_zero_removes_the_memory(spectrum):
    X = ee.tasks.mso(3, steps=201)
    esn = ee.LinearESN(20, spectrum=spectrum, sr=0.0, seed=0).fit(X[:-1], X[1:])
    assert esn.effective_radius_ == 0
    np.testing.assert_allclose(esn.predict(X[50:])[1:], esn.predict(X)[51:])


@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize("flat", [False, True])
def test_results_cannot_change_the_network(flat, copied):
    X = ee.tasks.mso(3, steps=201)
    esn = ee.LinearESN(20, seed=0).fit(X[:-1], X[1:, 0] if flat else X[1:])
    esn = pickle.loads(pickle.dumps(esn)) if copied else esn
    arrays = [esn.W_out_, esn.coef_, esn.noise_covariance_, *esn.final_state_]
    arrays += [esn.model_.W_out, esn.model_.reservoir.W_in, esn.matrices("work").W_out]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda esn: esn.forecast(20, interval=0.9), "mean=<ndarray (20, 1)>"),
        (lambda esn: esn.matrices(), "W=<ndarray (20, 20)>"),
        (lambda esn: esn.final_state_, "r=<ndarray (20,)>"),
        (lambda esn: esn.model_.reservoir, "W_in=<ndarray (1, 20)>"),
        (lambda esn: ee.tasks.mso_split(3), "X=<ndarray (1000, 1)>"),
        (lambda esn: ee.tasks.memory_capacity(esn, steps=500, warmup=50, seed=0), "total="),
    ],
)
def test_reprs_of_results_fit_on_a_few_lines(make, words):
    X = ee.tasks.mso(3, steps=201)
    esn = ee.LinearESN(20, ridge=1e-2, seed=0).fit(X[:-1], X[1:])
    text = repr(make(esn))
    assert words in text
    assert len(text) < 250


# Laws and subclasses -----------------------------------------------------------------------------


def test_laws_may_return_arrays():
    X = ee.tasks.mso(3, steps=201)
    values = ee.spectra.ring(20, sr=0.9).values
    expected = ee.LinearESN(20, spectrum=values, seed=0).fit(X[:-1], X[1:]).predict(X)

    def law(n, sr, seed):
        return ee.spectra.ring(n, sr=sr).values

    drawn = ee.LinearESN(20, spectrum=law, seed=0).fit(X[:-1], X[1:])
    np.testing.assert_array_equal(drawn.predict(X), expected)
    joined = ee.spectra.joined(ee.spectra.ring(4, sr=0.5), law)
    assert joined(20, sr=0.9, seed=0).units == 20
    for wrong in (lambda n, sr, seed: None, lambda n, sr, seed: values[:-1]):
        with pytest.raises(ValueError, match=r"(?s)spectrum: got .* from <lambda>\(20\)"):
            ee.LinearESN(20, spectrum=wrong).fit(X[:-1], X[1:])


class Small(ee.LinearESN):
    """Network with few parameters."""

    def __init__(self, units=20, seed=0):
        super().__init__(units, ridge=1e-2, warmup=50, seed=seed)


def test_subclasses_may_have_fewer_parameters(tmp_path):
    X = ee.tasks.mso(3, steps=401)
    small = Small().fit(X[:-1], X[1:])
    plain = ee.LinearESN(20, ridge=1e-2, warmup=50, seed=0).fit(X[:-1], X[1:])
    np.testing.assert_array_equal(small.predict(X), plain.predict(X))
    small.save(tmp_path / "small.safetensors")
    loaded = ee.load(tmp_path / "small.safetensors")
    assert (type(loaded), loaded.ridge) == (ee.LinearESN, 1e-2)
    np.testing.assert_array_equal(loaded.fit(X[:-1], X[1:]).predict(X), plain.predict(X))
    data = X[:-1], X[1:]
    reduced = small.reduce(units=6, data=data)
    np.testing.assert_array_equal(reduced.predict(X), plain.reduce(units=6, data=data).predict(X))
    grid = {"ridge": [1e-6, 1e-2]}
    found, expected = (ee.search(esn, grid, *data) for esn in (small, plain))
    np.testing.assert_array_equal(found.errors, expected.errors)
    np.testing.assert_array_equal(
        found.best_estimator.predict(X), expected.best_estimator.predict(X)
    )


@pytest.mark.parametrize("estimator", [ee.LinearESN(20, seed=0), ee.DiagonalReservoir(20, seed=0)])
def test_dtype_of_a_fitted_network_is_that_of_its_fit(estimator):
    X = ee.tasks.mso(3, steps=201)
    run = estimator.fit(X[:-1], X[1:]).transform
    before = run(X)
    estimator.set_params(dtype="float32")
    np.testing.assert_array_equal(run(X), before)
    if hasattr(estimator, "predict"):
        more = ee.LinearESN(20, seed=0).fit(X[:-1], X[1:]).partial_fit(X[:-1], X[1:])
        np.testing.assert_array_equal(
            estimator.partial_fit(X[:-1], X[1:]).predict(X), more.predict(X)
        )
