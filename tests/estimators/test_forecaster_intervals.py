"""Prediction intervals of several levels, in every format of y."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import eigenecho as ee
from eigenecho.types import Forecast
from optional import optional

pd = optional("pandas")
pl = optional("polars")
pa = optional("pyarrow")

SPECTRUM = ee.Spectrum([0.95, 0.5], [0.3 + 0.8j])
BOUNDS = ["lower_80", "upper_80", "lower_95", "upper_95"]


def walks(rows=60, width=2, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, width)).cumsum(axis=0)


def wide():
    days = pd.date_range("2024-01-01", periods=60, name="ds")
    return pd.DataFrame(walks(), days, columns=["a", "b"])


def long():
    frame = wide().reset_index().melt("ds", var_name="unique_id", value_name="y")
    return frame[["unique_id", "ds", "y"]]


def fitted(y):
    return ee.Forecaster(3, spectrum=SPECTRUM, seasons=[7]).fit(y)


# Horizon ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [{}, {"horizon": None}, {"strategy": "direct"}])
def test_horizon_is_required(arguments):
    with pytest.raises(
        TypeError, match=r"horizon: expected a number of steps, as in Forecaster\(12\)"
    ):
        ee.Forecaster(**arguments)


def test_clones_keep_the_horizon():
    forecaster = ee.Forecaster(4, seasons=[7])
    assert clone(forecaster).get_params() == forecaster.get_params()
    assert forecaster.set_params(horizon=5).horizon == 5


# Levels -------------------------------------------------------------------------------------------


def test_arrays_give_one_forecast_per_level():
    forecaster = fitted(walks()[:, 0])
    levels = forecaster.predict(interval=[0.8, 0.95])
    assert all(isinstance(level, Forecast) for level in levels)
    for level, share in zip(levels, [0.8, 0.95], strict=True):
        for got, expected in zip(level, forecaster.predict(interval=share), strict=True):
            assert np.array_equal(got, expected)
    narrow, broad = levels
    assert np.all(broad.lower < narrow.lower)
    assert np.all(narrow.upper < broad.upper)


def test_columns_and_lists_of_arrays():
    y = walks()
    (columns,) = fitted(y).predict(interval=[0.9])
    assert columns.lower.shape == (3, 2)
    ((first, second),) = fitted(list(y.T)).predict(interval=(0.9,))
    assert first.upper.shape == second.upper.shape == (3,)


@pytest.mark.parametrize("make", [lambda: wide()["a"], long])
def test_columns_are_named_by_level(make):
    forecaster = fitted(make())
    got = forecaster.predict(interval=[0.8, 0.95])
    assert [*got.columns][-5:] == ["forecast", *BOUNDS]
    for share in (80, 95):
        one = forecaster.predict(interval=share / 100)
        for side in ("lower", "upper"):
            assert np.array_equal(got[f"{side}_{share}"], one[side])


def test_wide_frames_name_series_and_level():
    got = fitted(wide()).predict(interval=[0.8, 0.975])
    names = ["forecast", "lower_80", "upper_80", "lower_97.5", "upper_97.5"]
    assert [*got.columns] == [(series, name) for series in "ab" for name in names]


def test_levels_of_polars_and_arrow_frames():
    rows = fitted(pl.from_pandas(long())).predict(interval=[0.8, 0.95])
    assert rows.columns == ["unique_id", "ds", "forecast", *BOUNDS]
    rows = fitted(pa.Table.from_pandas(wide().reset_index())).predict(interval=[0.8])
    assert rows.column_names[1:4] == ["a_forecast", "a_lower_80", "a_upper_80"]


@pytest.mark.parametrize("interval", [[], [0.8, 0.8], [0.8, 1.0], [0.8, "0.9"], 1.2, "0.9", [80]])
def test_invalid_levels(interval):
    with pytest.raises(ValueError, match="interval"):
        fitted(walks()[:, 0]).predict(interval=interval)


# Expected errors ----------------------------------------------------------------------------------


def test_expected_errors_are_labelled_by_id():
    arrays = fitted(walks()).expected_error_
    assert type(arrays) is np.ndarray
    for frame in (wide(), long()):
        errors = fitted(frame).expected_error_
        assert errors.index.tolist() == ["a", "b"]
        np.testing.assert_array_equal(errors, arrays)
    assert fitted(long()).expected_error_.index.name == "unique_id"
    assert type(fitted(wide()["a"]).expected_error_) is float


# Plots --------------------------------------------------------------------------------------------


def test_plot_has_one_panel_per_series():
    pytest.importorskip("matplotlib")
    forecaster = ee.Forecaster(3, spectrum=SPECTRUM).fit(walks(width=6))
    assert len(forecaster.plot().axes) == 4
    figure = forecaster.plot([5, 0], interval=[0.95, 0.5])
    expected = forecaster.predict(interval=[0.95, 0.5])
    for ax, series in zip(figure.axes, [5, 0], strict=True):
        lines = {line.get_label(): line.get_ydata() for line in ax.lines}
        np.testing.assert_array_equal(lines["forecast"], expected[0].mean[:, series])
        np.testing.assert_array_equal(lines["observed"], walks(width=6)[:, series])
        for area, (_, lower, upper) in zip(ax.collections, expected, strict=True):
            edges = area.get_paths()[0].vertices[:, 1]
            assert edges.min() == lower[:, series].min()
            assert edges.max() == upper[:, series].max()
        assert [area.get_label() for area in ax.collections] == ["95% interval", "50% interval"]


def test_plot_of_a_series_with_known_columns():
    pytest.importorskip("matplotlib")
    y, X = walks()[:57].T
    forecaster = ee.Forecaster(3, spectrum=SPECTRUM).fit(y, X)
    (ax,) = forecaster.plot(X=[1.0, 0.0, 0.0], interval=None).axes
    line = next(line for line in ax.lines if line.get_label() == "forecast")
    assert np.array_equal(line.get_ydata(), forecaster.predict(X=[1.0, 0.0, 0.0]))
    assert not ax.collections


def test_plot_of_one_row_shows_the_whole_interval():
    pytest.importorskip("matplotlib")
    with pytest.warns(ee.errors.FewRowsWarning):
        forecaster = ee.Forecaster(4).fit([52.0])
    (ax,) = forecaster.plot(interval=0.9).axes
    _, lower, upper = forecaster.predict(interval=0.9)
    bottom, top = ax.get_ylim()
    assert bottom <= lower.min()
    assert top >= upper.max()


def test_plot_of_a_single_name():
    pytest.importorskip("matplotlib")
    (ax,) = fitted(wide().rename(columns={"b": "shop b"})).plot("shop b").axes
    assert ax.get_ylabel() == "shop b"


def test_plot_of_unknown_series():
    with pytest.raises(ValueError, match=r"Unknown series='c': expected one of a, b"):
        fitted(wide()).plot(["c"])


# Series that are never negative -------------------------------------------------------------------


def falling(rows=60):
    """Return a series that falls to about 1, and noise that a forecast extrapolates below 0."""
    return np.linspace(30, 1, rows) + np.random.default_rng(0).uniform(-1, 1, rows)


def test_results_of_non_negative_series_are_not_negative():
    y = falling()
    forecaster = ee.Forecaster(12).fit(y)
    below = ee.Forecaster(12).fit(y - 100)  # the same forecasts, without clipping
    assert min(below.predict()) < -100
    levels = forecaster.predict(interval=[0.5, 0.99])
    for result in (*levels[0], *levels[1], forecaster.predict(quantiles=[0.01, 0.5])):
        assert np.min(result) >= 0
    assert levels[1].lower.max() == 0
    assert forecaster.backtest(y, origins=2).errors[["forecast", "lower"]].min().min() >= 0


def test_later_negative_values_do_not_change_earlier_forecasts():
    y = np.concatenate([falling(), [-5.0, -5.0, -5.0]])
    forecaster = ee.Forecaster(3, spectrum=SPECTRUM, strategy="recursive").fit(falling())
    before, after = forecaster.rolling(y, [59, 62])
    assert np.min(before) >= 0
    assert np.max(after) < 0


# Short series and large panels --------------------------------------------------------------------


def test_short_series_of_a_panel_have_intervals_by_their_own_steps():
    rng = np.random.default_rng(0)
    y = [50 + rng.normal(size=60).cumsum() for _ in range(4)]
    y += [np.array([7.0, 7.5, 6.8]), np.array([200.0]), np.array([0.0, 0.0])]
    forecaster = ee.Forecaster(3, spectrum=SPECTRUM).fit(y)
    results = forecaster.predict(interval=0.9)
    bands = forecaster.fitted_.bands
    steps = [np.sqrt(np.mean(np.diff(series) ** 2)) for series in y[:5]]
    changes = [step / np.mean(series) for step, series in zip(steps, y[:5], strict=True)]
    units = [steps[4], 200 * np.median(changes), np.median(steps) / np.sqrt(2)]
    for unit, steps, values, result in zip(units, [2, 4, 4], y[4:], results[4:], strict=True):
        width = bands.quantile(0.95, result.mean, unit, steps) - result.mean
        np.testing.assert_allclose(result.upper - result.mean, width)
        assert np.all(result.lower >= 0)
        assert np.all(result.upper > values[-1])


def test_every_series_of_a_large_panel_has_its_own_width():
    rng = np.random.default_rng(0)
    noise = np.tile([1.0, 8.0], 50)  # 100 series, of which 64 are validated
    t = np.arange(60)[:, None]
    y = 30 * np.sin(2 * np.pi * t / 6) + noise * rng.normal(size=(60, 100))
    forecaster = ee.Forecaster(3, seasons=[6]).fit(y[:57])
    sizes = forecaster.fitted_.bands.sizes
    assert np.isfinite(sizes).all()
    _, lower, upper = forecaster.predict(interval=0.9)
    inside = (lower <= y[57:]) & (y[57:] <= upper)
    for scale in (1.0, 8.0):
        assert 0.8 < inside[:, noise == scale].mean() <= 1
    ratio = np.median((upper - lower)[:, noise == 8]) / np.median((upper - lower)[:, noise == 1])
    assert ratio > 4
    errors = forecaster.expected_error_
    assert np.median(errors[noise == 8]) > 4 * np.median(errors[noise == 1])
