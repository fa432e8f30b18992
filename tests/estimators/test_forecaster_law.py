"""Forecasts do not depend on later rows.

A row of y, or of a column that is known up to the present only, changes forecasts from its own
row on; a row of a column that is known ahead, those that reach it. All others keep every bit, also
if later rows are removed. Forecasts from other sets of origins agree to rounding error.

A calendar is that of rows up to the origin of a forecast, whatever other origins are asked for.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import eigenecho as ee
from eigenecho.forecasting.effects import Effects
from optional import optional

pd = optional("pandas")

ROWS, HORIZON, FITTED = 24, 3, 50
ORIGINS = [3, 4, 9, 14, 20]
SPECTRUM = ee.Spectrum([0.95, 0.5], [0.3 + 0.8j])


def days():
    return pd.date_range("2024-01-01", periods=FITTED)


EACH_OTHER = {"multivariate": True, "past": [0], "strategy": "direct"}


class Setting(NamedTuple):
    """A fitted forecaster, and containers for series (n, T) and columns (T, c) of X."""

    forecaster: Any
    kind: str
    series: int
    known: int = 0
    past: int = 0

    def rolling(self, y, X):
        """Return forecasts (n, O, H)."""
        X = X if self.known + self.past else None
        made = self.forecaster.rolling(_held(self.kind, y), ORIGINS, _columns(self.kind, X, len(y)))
        if self.kind == "long":
            shape = len(y), len(ORIGINS), HORIZON
            return made["forecast"].to_numpy().reshape(shape)
        if self.kind == "columns":
            return np.moveaxis(made, -1, 0)
        return np.array(made) if self.kind == "list" else made[None]


def _held(kind, y, ids="nop"):
    if kind == "single":
        return y[0]
    if kind == "columns":
        return np.array(y).T
    if kind == "list":
        return [np.array(one) for one in y]
    frames = [
        pd.DataFrame({"unique_id": name, "ds": days()[: len(one)], "y": one})
        for name, one in zip(ids, y, strict=False)
    ]
    return pd.concat(frames)


def _columns(kind, X, series):
    if X is None or kind in ("single", "columns"):
        return X
    if kind == "list":
        return [X] * series
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]).assign(ds=days()[: len(X)])


def drawn(series, rows, seed, positive=False):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(series, rows)).cumsum(axis=1)
    y += np.sin(np.arange(rows) * 2 * np.pi / 7)
    if positive:
        return np.exp(0.1 * y)
    y[0, [5, 6, 17]] = np.nan
    y[-1, :2] = np.nan
    return y


# Container, number of series, of known and of past columns, positive values, options.
DRAWN: dict[str, tuple[str, int, int, int, bool, dict[str, Any]]] = {
    "one": ("single", 1, 0, 0, False, {}),
    "logarithms": ("single", 1, 0, 0, True, {}),
    "known and past": ("single", 1, 1, 1, False, {"past": [1]}),
    "known, logarithms": ("single", 1, 2, 0, True, {}),
    "each other": ("columns", 3, 0, 1, False, EACH_OTHER),
    "others": ("list", 3, 0, 0, True, {"sharing": "own"}),
    "unknown ids": ("long", 2, 1, 1, False, {"past": ["x1"], "sharing": "own"}),
    "loops": ("columns", 2, 1, 0, False, {"strategy": "recursive"}),
}
SETTINGS = list(DRAWN)
COLUMNS = [name for name, (_, _, known, past, *_) in DRAWN.items() if known + past]
PAST = [name for name, (_, _, _, past, *_) in DRAWN.items() if past]


@cache
def setting(name):
    """Return a forecaster, fitted once; together they have all kinds of members."""
    kind, series, known, past, positive, options = DRAWN[name]
    y = drawn(series, FITTED, 0, positive)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(FITTED, known + past)) if known + past else None
    if name == "each other":  # the others follow the first one row later
        y[1:, 1:] = y[0, :-1] + 0.1 * y[1:, 1:]
    if X is not None:
        y[:, 1:] += 2 * X[1:, 0] + 2 * X[:-1, -1]
        y = np.exp(y / 5) if positive else y
    forecaster = ee.Forecaster(HORIZON, spectrum=SPECTRUM, seasons=[7], **options)
    # The tests use ids of long frames that were not fitted.
    forecaster.fit(_held(kind, y, "abc"), _columns(kind, X, series))
    return Setting(forecaster, kind, series, known, past)


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("one", {"calendar"}),
        ("logarithms", {"calendar", "logarithm"}),
        ("known and past", {"calendar", "known", "past"}),
        ("known, logarithms", {"calendar", "known", "logarithm"}),
        ("each other", {"calendar", "past"}),
        ("others", {"calendar", "logarithm"}),
        ("unknown ids", {"calendar", "known", "past"}),
        ("loops", {"calendar", "known"}),
    ],
)
def test_members_use_the_inputs_of_each_setting(name, seen):
    members = setting(name).forecaster.members_
    for what in seen:
        assert any(member[what] for member in members), what


@cache
def said(name):
    """Return the data of a setting and its forecasts, the same in every test."""
    this = setting(name)
    y, X = drawn(this.series, ROWS, 2), np.random.default_rng(3).normal(size=(ROWS, 2))
    X = X[:, : this.known + this.past]
    return y, X, this.rolling(y, X)


def changed(rng, rows, row):
    """Replace some of the rows from ``row`` on."""
    kinds = [np.nan, 0.0, -3.0, 1e6, -1e-9, 1e100]
    found = rows.copy()
    chosen = np.arange(len(rows)) >= row
    chosen[row + 1 :] &= rng.random(len(rows) - row - 1) < 0.5
    found[chosen] = rng.choice([*kinds, *rng.normal(size=6)], size=chosen.sum())
    return found


@pytest.mark.parametrize("name", SETTINGS)
@settings(max_examples=8, deadline=None)
@given(row=st.integers(4, ROWS - 1), seed=st.integers(0, 10**6), one=st.integers(0, 10))
def test_later_values_do_not_change_forecasts(name, row, seed, one):
    this, (y, X, before) = setting(name), said(name)
    rng = np.random.default_rng(seed)
    other = y.copy()
    other[one % this.series] = changed(rng, y[one % this.series], row)
    earlier = np.array(ORIGINS) < row
    assert np.array_equal(this.rolling(other, X)[:, earlier], before[:, earlier])


@pytest.mark.parametrize("name", SETTINGS)
def test_removing_later_rows_does_not_change_forecasts(name):
    this = setting(name)
    rng = np.random.default_rng(4)
    y, X = drawn(this.series, FITTED, 5), rng.normal(size=(FITTED, this.known + this.past))
    whole = this.rolling(y, X)
    for stop in range(max(ORIGINS) + 1 + HORIZON * (this.known > 0), FITTED, 5):
        assert np.array_equal(this.rolling(y[:, :stop], X[:stop]), whole)


def test_effects_are_computed_without_rows_after_the_last_origin(monkeypatch):
    # Products with more rows can round differently, depending on the BLAS kernel.
    this, (y, X, _) = setting("others"), said("others")
    lengths, apply = [], Effects.apply

    def recorded(effects, batch, rows, horizon):
        lengths.append(batch.rows)
        return apply(effects, batch, rows, horizon)

    monkeypatch.setattr(Effects, "apply", recorded)
    this.rolling(y, X)
    assert max(lengths) == max(ORIGINS) + 1 < ROWS


@pytest.mark.parametrize("name", COLUMNS)
@settings(max_examples=8, deadline=None)
@given(row=st.integers(4, ROWS - 1), seed=st.integers(0, 10**6), one=st.integers(0, 10))
def test_later_columns_do_not_change_forecasts(name, row, seed, one):
    this, (y, X, before) = setting(name), said(name)
    column, other = one % (this.known + this.past), X.copy()
    other[:, column] = changed(np.random.default_rng(seed), X[:, column], row)
    if column < this.known:
        other = np.where(np.isnan(other), 7.0, other)
        reached = np.array(ORIGINS) + HORIZON >= row
    else:
        reached = np.array(ORIGINS) >= row
    assert np.array_equal(this.rolling(y, other)[:, ~reached], before[:, ~reached])


@pytest.mark.parametrize("name", PAST)
@pytest.mark.parametrize("first", [5, 10, 15])
def test_first_value_of_a_column_does_not_change_earlier_forecasts(name, first):
    this, (y, X, _) = setting(name), said(name)
    X = X.copy()
    X[:first, -1] = np.nan
    before, other = this.rolling(y, X), X.copy()
    other[first:, -1] = 1e6 - other[first:, -1]
    after = this.rolling(y, other)
    earlier = np.array(ORIGINS) < first
    assert np.array_equal(after[:, earlier], before[:, earlier])
    assert np.all(after[:, -1] != before[:, -1])
    other = X.copy()
    other[first:, -1] += 1e4  # the first value does not matter
    assert_allclose(this.rolling(y, other), before, rtol=1e-6)


def test_context_may_start_with_more_gaps_than_the_fit_had_rows():
    rng = np.random.default_rng(0)
    wave = 3 * np.sin(np.arange(30) * 2 * np.pi / 7)
    forecaster = ee.Forecaster(HORIZON, seasons=[7], spectrum=SPECTRUM)
    forecaster.fit(wave + rng.normal(size=30))
    assert any(member["calendar"] for member in forecaster.members_)
    y = np.r_[np.full(40, np.nan), wave + rng.normal(size=30)]
    other = y.copy()
    other[56:] += 50
    before, after = forecaster.rolling(y, [45, 55]), forecaster.rolling(other, [45, 55])
    assert np.array_equal(before, after)
    assert_allclose(before[0], forecaster.predict(context=y[:46]), rtol=1e-12)


@pytest.mark.parametrize("kind", ["single", "columns"])
def test_backtests_are_causal(kind):
    y = drawn(2, 60, 0)[: 1 if kind == "single" else 2]
    X = np.random.default_rng(1).normal(size=(60, 2))
    y[:, 1:] += 2 * X[1:, 0]
    forecaster = ee.Forecaster(HORIZON, spectrum=SPECTRUM, seasons=[7], past=[1])
    origins, made = [40, 48], []
    for later in (0.0, 1e3):
        other, columns = y.copy(), X.copy()
        other[:, 41:] += later  # after the first origin
        columns[41:, 1] += later
        columns[44:, 0] -= later  # beyond its horizon
        found = forecaster.backtest(_held(kind, other), columns, origins).errors
        made.append(found[found["cutoff"] == 40][["forecast", "lower", "upper"]].to_numpy())
    assert made[0].shape == (HORIZON * len(y), 3)
    assert np.array_equal(*made)


def test_calendar_effect_uses_rows_up_to_the_origin():
    rng = np.random.default_rng(0)
    y = 3 * np.sin(np.arange(60) * 2 * np.pi / 7) + rng.normal(size=60)
    forecaster = ee.Forecaster(HORIZON, seasons=[7], spectrum=SPECTRUM).fit(y[:30])
    assert any(member["calendar"] for member in forecaster.members_)
    origins = [8, 20, 40]  # before and after the end of the fit
    made = forecaster.rolling(y, origins)
    for rows in (41, 42, 47, 55):  # the number of later rows does not matter
        assert np.array_equal(made, forecaster.rolling(y[:rows], origins))
    for number, origin in enumerate(origins):
        other = y.copy()
        other[origin + 1 :] = rng.permutation(50 * y[origin + 1 :])
        kept = forecaster.rolling(other, origins)[: number + 1]
        assert np.array_equal(made[: number + 1], kept)
        alone = forecaster.rolling(other, [origin])
        assert_allclose(made[number : number + 1], alone, rtol=1e-12)


@pytest.mark.parametrize("name", SETTINGS)
def test_earlier_rows_change_forecasts(name):
    # Otherwise a forecaster that ignores its input would pass the tests above.
    this, (y, X, before) = setting(name), said(name)
    other = y.copy()
    other[0, 9] += 1.0
    after = this.rolling(other, X)
    assert np.all(after[0, 2] != before[0, 2])
    if this.kind == "columns" and this.past:  # multivariate
        assert np.all(after[1:, 2, 0] != before[1:, 2, 0])
    for column in range(this.known + this.past):
        other = X.copy()
        other[9, column] += 1.0
        after = this.rolling(y, other)
        assert np.any(after[:, 2] != before[:, 2])


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("number", [0, 2, 4])
def test_rolling_forecast_equals_a_forecast_from_its_origin(name, number):
    this, (y, X, made) = setting(name), said(name)
    made = made[:, number]
    stop = ORIGINS[number] + 1
    ahead = _columns(this.kind, X[stop : stop + HORIZON, : this.known], len(y))
    if this.kind == "long" and this.known:
        ahead["ds"] = days()[stop : stop + HORIZON]
    shown = X[:stop] if X.size else None
    found = this.forecaster.predict(
        context=_held(this.kind, y[:, :stop]),
        context_X=_columns(this.kind, shown, len(y)),
        X=ahead if this.known else None,
    )
    if this.kind == "long":
        found = found["forecast"].to_numpy()
    elif this.kind == "columns":
        found = found.T
    assert_allclose(np.ravel(found), made.ravel(), rtol=1e-12)
