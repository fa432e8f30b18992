"""Our forecaster passes the checks of sktime, and equals ee.Forecaster."""

import doctest
import warnings

import numpy as np
import pytest

pytest.importorskip("sktime")

import pandas as pd
from sktime.forecasting.base import ForecastingHorizon
from sktime.split import SlidingWindowSplitter
from sktime.utils.estimator_checks import check_estimator, parametrize_with_checks

import eigenecho as ee
import eigenecho.interop.sktime as module
from eigenecho.interop.sktime import EigenechoForecaster

pytestmark = pytest.mark.filterwarnings(
    "ignore:The default of config:FutureWarning"  # raised by sktime for every new forecaster
)

SMALL = dict(spectrum=ee.spectra.ring(4, sr=0.9))
MONTHS = pd.period_range("2001-01", periods=72, freq="M")


@pytest.fixture(scope="module")
def y():
    rng = np.random.default_rng(0)
    t = np.arange(60)[:, None]
    values = 50 + 0.1 * t + 3 * np.sin(t / [2, 3]) + rng.normal(size=(60, 2))
    return pd.DataFrame(values, MONTHS[:60], ["a", "b"])


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(1)
    return pd.DataFrame(rng.normal(size=(72, 2)), MONTHS, ["hot", "cold"])


def ours(horizon, **parameters):
    return ee.Forecaster(horizon, **SMALL, **parameters)


def theirs(**parameters):
    return EigenechoForecaster(**SMALL, **parameters)


def same(actual, expected):
    """Assert that values are equal to the last bit and labels are equal."""
    check = pd.testing.assert_series_equal if actual.ndim == 1 else pd.testing.assert_frame_equal
    check(actual, expected, check_exact=True)


# Checks of sktime -----------------------------------------------------------------------------


@parametrize_with_checks(EigenechoForecaster, obj_varname="checked", check_varname="check")
def test_checks_of_sktime(checked, check):
    check_estimator(checked, tests_to_run=check, raise_exceptions=True, verbose=False)


@pytest.mark.parametrize(
    "check", ["test_fit_returns_self", "test_predict_quantiles", "test_hierarchical_with_exogenous"]
)
def test_checks_with_default_parameters(check):
    results = check_estimator(EigenechoForecaster(), tests_to_run=check, verbose=False)
    assert results
    assert set(results.values()) == {"PASSED"}


def test_example_of_the_docstring():
    assert doctest.testmod(module) == doctest.TestResults(failed=0, attempted=6)


# Agreement with ee.Forecaster -----------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["auto", "direct", "recursive"])
def test_forecasts_equal_those_of_our_forecaster(y, strategy):
    actual = theirs(strategy=strategy, multivariate=True).fit(y, fh=[1, 2, 3, 4]).predict()
    expected = ours(4, strategy=strategy, multivariate=True).fit(y).predict()
    same(actual, expected)


def test_series_keeps_its_name(y):
    result = theirs().fit(y["a"], fh=[1, 2]).predict()
    same(result, ours(2).fit(y["a"]).predict())


@pytest.mark.parametrize("is_relative", [True, False])
def test_horizon_may_omit_steps(y, is_relative):
    fh = [2, 5] if is_relative else ForecastingHorizon(MONTHS[[61, 64]], is_relative=False)
    result = theirs().fit(y, fh=fh).predict()
    same(result, ours(5).fit(y).predict().iloc[[1, 4]])


def test_columns_of_X(y, X):
    fitted = theirs().fit(y, X=X[:60], fh=[1, 3])
    expected = ours(3).fit(y, X[:60]).predict(X=X[60:63])
    for given in (X[60:63], X[60:], X):
        same(fitted.predict(X=given), expected.iloc[[0, 2]])
    with pytest.raises(ValueError, match="X: got no row at 2006-02; expected 3 rows"):
        fitted.predict(X=X.iloc[[60, 62]])


def test_columns_without_known_future_values(y, X):
    fitted = theirs(past=["hot", "cold"]).fit(y, X=X[:60], fh=[1, 2])
    expected = ours(2, past=["hot", "cold"]).fit(y, X[:60]).predict()
    same(fitted.predict(), expected)
    same(fitted.predict(X=X[60:]), expected)
    fitted = theirs(past="hot").fit(y, X=X[:60], fh=[1, 2])
    expected = ours(2, past="hot").fit(y, X[:60]).predict(X=X[60:62][["cold"]])
    same(fitted.predict(X=X[60:]), expected)


def test_column_names_may_be_numbers(y, X):
    fitted = theirs(past=[0, 1]).fit(y.to_numpy(), X=X[:60].to_numpy(), fh=[1, 2])
    expected = ours(2, past=[0, 1]).fit(y.to_numpy(), X[:60].to_numpy()).predict()
    np.testing.assert_array_equal(fitted.predict(X=X[60:].to_numpy()), expected)


def test_quantiles_and_intervals(y):
    fitted = theirs().fit(y, fh=[1, 3])
    quantiles = fitted.predict_quantiles(alpha=[0.9, 0.25])
    expected = ours(3).fit(y).predict(quantiles=[0.9, 0.25]).iloc[[0, 2]]
    np.testing.assert_array_equal(quantiles, expected)
    assert list(quantiles.columns) == [("a", 0.9), ("a", 0.25), ("b", 0.9), ("b", 0.25)]
    band = ours(3).fit(y).predict(interval=0.5).iloc[[0, 2]]
    interval = fitted.predict_interval(coverage=0.5)
    np.testing.assert_allclose(interval["b"][0.5]["lower"], band["b"]["lower"], rtol=1e-12)
    np.testing.assert_allclose(interval["b"][0.5]["upper"], band["b"]["upper"], rtol=1e-12)


# Times ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(5, 65),
        pd.Index(np.arange(-3, 57)),
        *(pd.date_range("2001-01-31", periods=60, freq=f) for f in ("ME", "QS-FEB", "B", "2h")),
        pd.date_range("2024-03-01", periods=60, freq="D", tz="Europe/Berlin"),
        pd.period_range("2001", periods=60, freq="W"),
    ],
    ids=lambda index: f"{type(index).__name__}-{getattr(index, 'freqstr', index.dtype)}",
)
def test_times_equal_those_of_our_forecaster(y, index):
    series = pd.Series(y["a"].to_numpy(), index)
    actual = theirs().fit(series, fh=[1, 3]).predict()
    expected = ours(3).fit(series).predict().iloc[[0, 2]]
    np.testing.assert_array_equal(actual.to_numpy(), expected.to_numpy())
    assert list(actual.index) == list(expected.index)


def test_dates_with_gaps_and_missing_observations(y):
    days = pd.Series(y["a"].to_numpy(), pd.date_range("2024-01-01", periods=60))
    expected = theirs().fit(days.where(days.index != "2024-02-10"), fh=[1, 3]).predict()
    fitted = theirs().fit(days.drop(pd.Timestamp("2024-02-10")), fh=[1, 3])
    actual = fitted.predict()
    assert list(actual.index) == [pd.Timestamp("2024-03-01"), pd.Timestamp("2024-03-03")]
    np.testing.assert_array_equal(actual, expected)
    assert np.isfinite(fitted.predict_interval()).all(axis=None)


def test_integer_index_with_a_step_of_two(y):
    even = pd.Series(y["a"].to_numpy(), pd.RangeIndex(0, 120, 2))
    with pytest.raises(ValueError, match="fh: got the time 119; expected times that"):
        theirs().fit(even, fh=[1, 2]).predict()
    result = theirs().fit(even, fh=ForecastingHorizon(pd.Index([120, 122]), False)).predict()
    np.testing.assert_array_equal(result, ours(4).fit(even).predict()[:2])


# Updates --------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [50, 45], ids=["rows that follow", "some again"])
def test_update_trains_on_all_rows(y, start):
    actual = theirs().fit(y[:50], fh=[1, 2]).update(y[start:]).predict()
    expected = ours(2).fit(y[:50]).update(y[50:]).predict()
    same(actual, expected)


def test_update_without_parameters_only_moves_the_origin(y, X):
    fitted = theirs().fit(y[:50], X=X[:50], fh=[1, 2])
    actual = fitted.update(y[50:], X=X[50:60], update_params=False).predict(X=X[60:])
    forecaster = ours(2).fit(y[:50], X[:50])
    expected = forecaster.predict(X=X[60:62], context=y, context_X=X[:60])
    same(actual, expected)
    trained = fitted.update(y[59:], X=X[59:60]).predict(X=X[60:])
    same(trained, forecaster.update(y[50:], X[50:60]).predict(X=X[60:62]))


def test_rows_omitted_in_an_update_are_missing(y):
    fitted = theirs().fit(y[:50], fh=[1, 2])
    result = fitted.update(y[53:]).predict()
    gap = y[50:].copy()
    gap.iloc[:3] = np.nan
    same(result, ours(2).fit(y[:50]).update(gap).predict())


@pytest.mark.parametrize("update_params", [True, False])
def test_forecasts_do_not_use_rows_after_the_cutoff(y, update_params):
    answers = []
    for factor in (1, 10):
        later = y.copy()
        later.iloc[55:] *= factor
        fitted = theirs().fit(y[:50], fh=[1, 2]).update(later[50:], update_params=False)
        fitted.update(y[50:55], update_params=update_params)
        answers.append(fitted.predict())
    same(*answers)
    assert list(answers[0].index) == list(MONTHS[55:57])


def test_failed_update_changes_nothing(y):
    fitted = theirs().fit(y[:50], fh=[1, 2])
    wrong, missing = y[50:].copy(), y[50:].copy()
    wrong.iloc[0], missing.iloc[0] = np.inf, np.nan
    with pytest.raises(ValueError, match="y: got infinity in row 50, column 'a';"):
        fitted.update(wrong[:5])
    result = fitted.update(y[51:]).predict()
    same(result, ours(2).fit(y[:50]).update(missing).predict())


def test_update_needs_the_columns_of_X(y, X):
    fitted = theirs().fit(y[:50], X=X[:50], fh=[1, 2])
    with pytest.raises(ValueError, match="X: got no row at 2005-03;"):
        fitted.update(y[50:55])


def test_moving_windows(y):
    windows = SlidingWindowSplitter(fh=[1, 2], window_length=3, step_length=3)
    fitted = theirs().fit(y[["a"]][:50], fh=[1, 2])
    actual = fitted.update_predict(y[["a"]][50:], windows, update_params=False)
    forecaster = ours(2).fit(y[["a"]][:50])
    expected = [forecaster.predict(context=y[["a"]][:end]) for end in (53, 56)]
    np.testing.assert_array_equal(
        actual.to_numpy()[~np.isnan(actual.to_numpy())], np.concatenate(expected).ravel()
    )


# Unsupported uses -----------------------------------------------------------------------------


def test_in_sample_forecasts_are_not_supported(y):
    with pytest.raises(NotImplementedError, match="in-sample"):
        theirs().fit(y, fh=[-1, 1])


def test_fit_needs_the_horizon(y):
    with pytest.raises(ValueError, match="must be passed to `fit`"):
        theirs().fit(y)


def test_parameters_are_checked_by_our_forecaster(y):
    with pytest.raises(ValueError, match="Unknown strategy='dirct'"):
        theirs(strategy="dirct").fit(y, fh=1)


def test_forecaster_causes_no_warnings(y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "The default of config", FutureWarning)
        EigenechoForecaster().fit(y, fh=[1, 6]).predict_interval()
