"""Forecasts and bounds of a·y + b are a times those of y, plus b."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import eigenecho as ee
from eigenecho.errors import FewRowsWarning
from optional import optional

pd = optional("pandas")

HORIZON, ROWS = 3, 60
SPECTRUM = ee.Spectrum([0.95, 0.5], [0.3 + 0.8j])


def days():
    return pd.date_range("2024-01-01", periods=ROWS + HORIZON)


X = np.random.default_rng(9).normal(size=(ROWS + HORIZON, 2))

FACTORS = st.floats(-9, 9).map(lambda power: 10.0**power)
SHIFTS = st.floats(-100, 0)  # forecasts of contexts without negative values are limited to 0


def made(**options):
    # The prior uses logarithms of contexts that are positive after a shift.
    return ee.Forecaster(HORIZON, spectrum=SPECTRUM, seasons=[7], prior=None, **options)


def drawn(series, seed=0, rows=ROWS):
    """Return series of both signs, to exclude logarithms, with effects of columns."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(series, rows)).cumsum(axis=1) / 5 + np.sin(np.arange(rows) * 2 * np.pi / 7)
    y[:, 1:] += 2 * X[1:rows, 0] + 2 * X[: rows - 1, 1]
    return y - y.mean(axis=1, keepdims=True)


def held(kind, y, ids="ab"):
    """Return series (n, T) and X in a container."""
    beside = X[: y.shape[1]]
    if kind == "single":
        return y[0], beside
    if kind == "columns":
        return y.T, beside
    if kind == "list":
        return list(y), [beside] * len(y)
    frame = pd.DataFrame(y.T, days()[: y.shape[1]], list(ids[: len(y)]))
    beside = pd.DataFrame(beside, frame.index, ["plan", "heat"])
    if kind == "wide":
        return frame, beside
    long = frame.melt(var_name="unique_id", value_name="y", ignore_index=False)
    return long.rename_axis("ds").reset_index(), beside.rename_axis("ds").reset_index()


def known(kind, stop, series):
    """Return the known columns after row ``stop``."""
    rows = X[stop : stop + HORIZON, :1]
    if kind in ("single", "columns"):
        return rows
    if kind == "list":
        return [rows] * series
    frame = pd.DataFrame(rows, days()[stop : stop + HORIZON], ["plan"])
    return frame if kind == "wide" else frame.rename_axis("ds").reset_index()


def answers(kind, result, series):
    """Return mean, lower and upper bound, (n, 3, H)."""
    if kind == "single":
        return np.stack(result)[None]
    if kind == "columns":
        return np.moveaxis(np.stack(result), -1, 0)
    if kind == "list":
        return np.array([np.stack(one) for one in result])
    columns = ["forecast", "lower", "upper"]
    if kind == "wide":
        return result.to_numpy().T.reshape(series, 3, HORIZON)
    return np.stack([one[columns].to_numpy().T for _, one in result.groupby("unique_id")])


def predicted(forecaster, kind, y, ids="ab"):
    context, beside = held(kind, y, ids)
    result = forecaster.predict(
        context=context, context_X=beside, X=known(kind, y.shape[1], len(y)), interval=0.8
    )
    return answers(kind, result, len(y))


def scaled(plain, factors, shifts):
    """Return the expected rescaled forecasts (n, 3, H)."""
    return factors[:, None, None] * (plain + shifts[:, None, None])


def assert_scaled(actual, plain, factors, shifts):
    expected, size = scaled(plain, factors, shifts), factors[:, None, None]
    assert_allclose(actual / size, expected / size, rtol=1e-6, atol=1e-6)


OPTIONS = {
    "single": {"past": [1]}, "columns": {"past": [1], "multivariate": True, "strategy": "direct"},
    "list": {"past": [1], "sharing": "own"}, "wide": {"past": ["heat"]}, "long": {"past": ["heat"]},
}  # fmt: skip


@cache
def fitted(kind):
    return made(**OPTIONS[kind]).fit(*held(kind, drawn(1 if kind == "single" else 2)))


@pytest.mark.parametrize("kind", OPTIONS)
@settings(max_examples=6, deadline=None)
@given(
    factors=st.lists(FACTORS, min_size=2, max_size=2),
    shifts=st.lists(SHIFTS, min_size=2, max_size=2),
    rows=st.integers(12, ROWS),
    ids=st.sampled_from(["ab", "az", "xz"]),
)
def test_contexts_have_their_own_units(kind, factors, shifts, rows, ids):
    series = 1 if kind == "single" else 2
    ids = "ab" if kind == "wide" else ids
    factors, shifts = np.array(factors[:series]), np.array(shifts[:series])
    context = drawn(series, seed=1, rows=rows)
    moved = factors[:, None] * (context + shifts[:, None])
    plain = predicted(fitted(kind), kind, context, ids)
    assert_scaled(predicted(fitted(kind), kind, moved, ids), plain, factors, shifts)


@pytest.mark.parametrize("kind", OPTIONS)
@settings(max_examples=2, deadline=None)
@given(
    factors=st.lists(FACTORS, min_size=2, max_size=2),
    shifts=st.lists(st.floats(-1, 1), min_size=2, max_size=2),  # values keep both signs
)
def test_series_are_fitted_in_their_own_units(kind, factors, shifts):
    series = 1 if kind == "single" else 2
    factors, shifts = np.array(factors[:series]), np.array(shifts[:series])
    y = drawn(series)
    moved = factors[:, None] * (y + shifts[:, None])
    ahead = known(kind, ROWS, series)
    plain = answers(kind, fitted(kind).predict(X=ahead, interval=0.8), series)
    other = made(**OPTIONS[kind]).fit(*held(kind, moved))
    result = answers(kind, other.predict(X=ahead, interval=0.8), series)
    assert_scaled(result, plain, factors, shifts)
    assert_allclose(
        np.ravel(other.expected_error_),
        np.ravel(fitted(kind).expected_error_) * factors,
        rtol=1e-6,
    )


def test_rolling_forecasts_scale():
    forecaster, y = fitted("single"), drawn(1, seed=1)[0]
    one, two = (forecaster.rolling(series, [20, 40], X[:ROWS]) for series in (y, 1e6 * y + 7))
    assert_allclose(two, 1e6 * one + 7, rtol=1e-6, atol=1)


def test_positive_series_scales_by_factors():
    y = np.exp(drawn(1)[0] / 20 + 0.01 * np.arange(ROWS))
    forecaster = made(past=[1]).fit(y, X[:ROWS])
    assert any(member["logarithm"] for member in forecaster.members_)
    one, two = (
        np.stack(
            forecaster.predict(context=series, context_X=X[:ROWS], X=X[ROWS:, :1], interval=0.8)
        )
        for series in (y, 1000 * y)
    )
    assert_allclose(two, 1000 * one, rtol=1e-6)


# Constant series ----------------------------------------------------------------------------------


def test_context_of_one_row_uses_the_unit_of_the_fit():
    forecaster = made().fit(drawn(1)[0])
    _, lower, upper = forecaster.predict(context=[5.0], interval=0.8)
    expected = forecaster.predict(interval=0.8)
    # No step of the context was observed, so its interval is wider.
    ratios = (upper - lower) / (expected.upper - expected.lower)
    assert np.all((ratios > 1) & (ratios < 3))


@pytest.mark.parametrize("value", [0.0, 7.0, -1e9])
def test_constant_series_has_intervals_of_width_zero(value):
    y, beside = drawn(3), [X[:ROWS]] * 4
    alone = made(past=[1]).fit(list(y), beside[:3])
    beside_a_constant = made(past=[1]).fit([*y, np.full(ROWS, value)], beside)
    ahead = [X[ROWS:, :1]] * 4
    with pytest.warns(FewRowsWarning, match="width 0 for 1 of 4 series"):
        result = beside_a_constant.predict(X=ahead, interval=0.8)
    for one in result[3]:
        assert np.all(one == value)
    assert beside_a_constant.expected_error_[3] == 0
    # The constant series does not affect the forecasts and intervals of the others.
    for one, two in zip(alone.predict(X=ahead[:3], interval=0.8), result, strict=False):
        assert_allclose(two, one, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rows", [1, 8, 20])
@pytest.mark.parametrize("scale", [1e-60, 1.0, 9.05e52])
def test_short_constant_series_has_intervals_of_its_level(rows, scale):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewRowsWarning)
        one = ee.Forecaster(9).fit(np.full(rows, -3.0)).predict(interval=0.8)
        two = ee.Forecaster(9).fit(np.full(rows, -3.0 * scale)).predict(interval=0.8)
    assert np.all(one.mean == -3)
    assert np.all(one.upper - one.lower > 0.05)
    assert_allclose(np.array(two) / scale, one, rtol=1e-9)


def test_intervals_of_a_few_rows_have_a_limited_width():
    y = [0.97, 1.15, 0.09, -1.5, 0.3]
    with pytest.warns(FewRowsWarning):
        _, lower, upper = ee.Forecaster(5).fit(y).predict(interval=0.95)
    assert np.all((upper - lower > 2) & (upper - lower < 100))


@pytest.mark.parametrize("prior", ["auto", None])
def test_forecasts_from_zeros_before_a_series_changes(prior):
    y = np.r_[np.zeros(30), np.random.default_rng(0).poisson(20, 30)]
    forecaster = ee.Forecaster(2, prior=prior).fit(y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert np.isfinite(forecaster.rolling(y, [5, 20, 40])).all()
        assert np.isfinite(forecaster.predict(context=np.zeros(6))).all()


def test_update_changes_the_unit():
    y = drawn(1)[0]
    calm = made().fit(y)
    wild = made().fit(y).update(30 * drawn(1, seed=2)[0])
    before, after = (np.subtract(*one.predict(interval=0.8)[:0:-1]) for one in (calm, wild))
    assert np.all(after > 10 * before)
    assert wild.expected_error_ > 10 * calm.expected_error_
