"""Results of a forecaster in every container."""

import numpy as np
import pytest

import eigenecho as ee

pandas = pytest.importorskip("pandas")

LEVELS = [0.9, 0.1, 0.5]


@pytest.fixture(scope="module")
def values():
    rng = np.random.default_rng(0)
    return np.cumsum(rng.normal(size=(60, 2)), axis=0)


def fitted(y):
    return ee.Forecaster(3, spectrum=ee.spectra.ring(4, sr=0.9)).fit(y)


def test_quantiles_of_a_series_are_columns_in_the_order_asked_for(values):
    expected = fitted(values[:, 0]).predict(quantiles=LEVELS)
    found = fitted(pandas.Series(values[:, 0])).predict(quantiles=LEVELS)
    assert list(found.columns) == ["q0.9", "q0.1", "q0.5"]
    np.testing.assert_array_equal(found.to_numpy(), expected)


def test_quantiles_of_a_wide_frame_lie_below_its_columns(values):
    expected = fitted(values).predict(quantiles=LEVELS)
    found = fitted(pandas.DataFrame(values, columns=["a", "b"])).predict(quantiles=LEVELS)
    assert list(found.columns) == [(c, f"q{q}") for c in "ab" for q in LEVELS]
    np.testing.assert_array_equal(found.to_numpy(), expected.reshape(3, -1))


def test_one_quantile_need_not_be_a_list(values):
    forecaster = fitted(pandas.Series(values[:, 0]))
    pandas.testing.assert_frame_equal(
        forecaster.predict(quantiles=0.5), forecaster.predict(quantiles=[0.5])
    )
