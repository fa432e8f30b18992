"""Forecaster: selection, updates and invariances."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import blas
import eigenecho as ee
from eigenecho.forecasting.candidates import train
from eigenecho.forecasting.effects import learn_effects
from eigenecho.forecasting.signals import Measures
from optional import optional

pd = optional("pandas")

SPECTRUM = ee.Spectrum([0.95, 0.5], [0.3 + 0.8j])


def days():
    return pd.date_range("2024-01-01", periods=80, tz="Europe/Berlin")


def walk(rows=60, seed=0):
    rng = np.random.default_rng(seed)
    return np.sin(np.arange(rows) * 2 * np.pi / 7) + rng.normal(size=rows).cumsum() / 5


def columns(rows=60, width=2, seed=9):
    return np.random.default_rng(seed).normal(size=(rows, width))


def made(**options):
    return ee.Forecaster(3, **{"spectrum": SPECTRUM, "seasons": [7], **options})


# Accuracy -----------------------------------------------------------------------------------------


def test_season_continues():
    t = np.arange(103)
    y = 5 * np.sin(2 * np.pi * t / 12) + 0.05 * np.random.default_rng(0).normal(size=103)
    forecaster = ee.Forecaster(6).fit(y[:97])
    assert forecaster.seasons_ == (12,)
    assert np.abs(forecaster.predict() - y[97:]).max() < 0.5
    assert forecaster.expected_error_ < 0.2


def test_known_promotion_affects_its_own_row():
    rng = np.random.default_rng(0)
    promo = (rng.random(123) < 0.25).astype(float)
    y = rng.normal(size=123).cumsum() / 5 + 10 * promo
    forecaster = ee.Forecaster(3, spectrum=SPECTRUM).fit(y[:120], promo[:120])
    assert any(member["known"] for member in forecaster.members_)
    off = forecaster.predict(X=np.zeros(3))
    for step in range(3):
        on = forecaster.predict(X=np.eye(3)[step])
        assert (on - off)[step] == pytest.approx(10, abs=1)
        assert np.abs(np.delete(on - off, step)).max() < 1.5


def test_recursive_forecaster_extends_its_horizon():
    y = walk()
    forecaster = made(strategy="recursive").fit(y)
    longer = forecaster.predict(9)
    assert_allclose(longer[:3], forecaster.predict(), rtol=1e-10)
    assert longer.shape == (9,)
    assert {member["strategy"] for member in forecaster.members_} <= {"recursive", "drifting"}
    widths = np.subtract(*forecaster.predict(9, interval=0.8)[:0:-1])
    assert np.all(widths > 0)


def test_quantiles_are_ordered_and_agree_with_intervals():
    forecaster = made().fit(walk())
    found = forecaster.predict(quantiles=[0.05, 0.5, 0.95])
    assert found.shape == (3, 3)
    assert np.all(np.diff(found, axis=1) >= 0)
    mean, lower, upper = forecaster.predict(interval=0.9)
    assert_allclose(found, np.stack([lower, mean, upper], axis=1))
    assert np.array_equal(forecaster.predict(quantiles=0.5)[:, 0], mean)


def test_intervals_have_about_the_nominal_coverage():
    inside = {0.5: [], 0.9: []}
    for seed in range(5):
        y = np.random.default_rng(seed).normal(size=300)
        forecaster = made().fit(y[:150])
        errors = np.lib.stride_tricks.sliding_window_view(y, 3)[151:297]
        errors = errors - forecaster.rolling(y, range(150, 296))
        for share, found in inside.items():
            mean, lower, upper = forecaster.predict(interval=share)
            found.append(np.mean((errors >= lower - mean) & (errors <= upper - mean)))
    for share, found in inside.items():
        assert np.mean(found) == pytest.approx(share, abs=0.07)


# Intervals of panels, and updates -----------------------------------------------------------------


def noisy(rows=90, scales=(0.3, 1.0, 3.0, 9.0), seed=0):
    """Return columns with the same season and different noise."""
    noise = np.random.default_rng(seed).normal(size=(rows, len(scales)))
    return 20 * np.sin(2 * np.pi * np.arange(rows) / 4)[:, None] + noise * scales


def test_width_of_intervals_follows_the_errors_of_each_series():
    y = noisy(rows=120)
    forecaster = made(seasons=[4]).fit(y[:90])
    held = []
    for end in range(90, 118):
        _, lower, upper = forecaster.predict(context=y[:end], interval=0.9)
        truth = y[end : end + 3]
        held.append((lower <= truth) & (truth <= upper))
    share = np.concatenate(held).mean(axis=0)
    assert np.all(share > 0.7)
    _, lower, upper = forecaster.predict(interval=0.9)
    widths = (upper - lower).mean(axis=0)
    assert np.all(widths[1:] > 1.5 * widths[:-1])


def test_new_series_have_the_interval_width_of_the_panel():
    frame = pd.DataFrame(noisy(), pd.date_range("2024", periods=90), columns=list("abcd"))
    forecaster = made(seasons=[4]).fit(frame)
    fitted = forecaster.fitted_
    widths = {}
    for name in ("a", "new"):
        context = frame[["a"]].rename(columns={"a": name})
        found = forecaster.predict(context=context, interval=0.9)
        widths[name] = np.subtract(*found[name][["upper", "lower"]].to_numpy().T)
    unit = fitted.measures.units[0]
    off = fitted.bands.quantile(0.95, np.zeros(3), unit)
    assert_allclose(widths["new"], 2 * off)
    assert np.all(widths["a"] < 0.8 * widths["new"])


def test_forecasts_do_not_depend_on_sizes_of_errors(monkeypatch):
    y = noisy()
    plain = made(seasons=[4]).fit(y).predict()
    none = np.zeros(0)
    monkeypatch.setattr("eigenecho.forecasting.intervals.error_scales", lambda *_: (none, none))
    assert np.array_equal(made(seasons=[4]).fit(y).predict(), plain)


def test_single_series_has_no_error_size():
    bands = made(seasons=[4]).fit(noisy()[:, 0]).fitted_.bands
    assert not bands.sizes.size
    assert not bands.scaled.size


def again(forecaster, y, X=None):
    """Return a forecaster trained again with the candidates of another."""
    fitted = forecaster.fitted_
    panel = fitted.panel.read_context(y, X)
    measures = Measures.of(panel, fitted.measures.season, fitted.measures.multivariate)
    batches, candidates = measures.batches(panel, measures.filled), _candidates(fitted)
    stops = [batch.rows for batch in batches]
    logarithms = {candidate.view.logarithm for candidate in candidates}
    known = learn_effects(batches, stops, fitted.config.periods, sorted(logarithms))
    moved = [known.apply(batch, batch.rows, 0) for batch in batches]
    ensemble = train(candidates, moved, stops, fitted.config.horizon, fitted.is_own)
    found = clone(forecaster)
    found.fitted_ = replace(fitted, panel=panel, effects=known, ensemble=ensemble)
    return found


def _candidates(fitted):
    return list(fitted.ensemble.members)


def halves(kind):
    """Return y and X, whole and in two parts."""
    y, X = walk(), None
    if kind == "gaps":
        y[[4, 30, 52, 53]] = np.nan
    if kind == "columns":
        y = np.stack([y, walk(seed=1)], axis=1)
    if kind == "past":
        X = columns()
    if kind in ("series", "long"):
        y = pd.Series(y, days()[:60], name="load")
    if kind == "long":
        other = y * 2 + 1
        y = pd.concat([y, other[:57]], keys=["b", "a"], names=["unique_id", "ds"])
        y = y.rename("y").reset_index()
        late = y["ds"] >= days()[50]
        return (y, X), (y[~late], X), (y[late], X)
    return (y, X), (y[:50], X if X is None else X[:50]), (y[50:], X if X is None else X[50:])


@pytest.mark.parametrize("kind", ["single", "gaps", "columns", "past", "series", "long"])
def test_update_equals_a_fit_to_all_rows_with_the_same_candidates(kind):
    whole, first, second = halves(kind)
    options = {"past": [0, 1]} if kind == "past" else {}
    forecaster = made(sharing="own", **options).fit(*first)
    before = forecaster.predict()
    wanted = again(forecaster, *whole)
    forecaster.update(*second)
    found, expected = forecaster.predict(), wanted.predict()
    if kind == "long":
        pd.testing.assert_frame_equal(found, expected, rtol=1e-8)
    else:
        assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
        assert not np.array_equal(found, before)


def test_update_learns_the_effects_of_known_columns_again():
    y, X = walk(), columns(width=1)
    y = y + 10 * X[:, 0]
    forecaster = made().fit(y[:50], X[:50])
    before = forecaster.fitted_.effects
    after = forecaster.update(y[50:], X[50:]).fitted_.effects
    assert before.removed == after.removed
    for (removed, _, one), (_, _, other) in zip(before.weights, after.weights, strict=True):
        if removed.known:
            assert not np.array_equal(one, other)
            assert_allclose(one, other, atol=0.2 * np.abs(one).max())


def growing(seed=0, rows=84):
    """Return a season that grows with its level, which suits logarithms and the calendar."""
    t = np.arange(rows)
    noise = 0.02 * np.random.default_rng(seed).normal(size=rows)
    return np.exp(1 + 0.02 * t + 0.5 * np.sin(2 * np.pi * t / 7) + noise)


def sees_logarithms(forecaster):
    return any(member["logarithm"] and member["calendar"] for member in forecaster.members_)


def test_new_rows_may_have_no_logarithm():
    forecaster = made().fit(growing())
    members = forecaster.members_
    assert sees_logarithms(forecaster)
    assert np.all(np.isfinite(forecaster.update([-1.0, 0.0]).predict()))
    assert forecaster.members_ == members


def test_series_without_validation_rows_needs_no_logarithm(monkeypatch):
    monkeypatch.setattr("eigenecho.forecasting.selection.SERIES", 2)
    y = [growing(seed) for seed in range(3)]
    y[1][3] = -5.0  # not one of the validation series
    assert sees_logarithms(made().fit(y))


def test_one_update_equals_updates_row_by_row():
    y = walk()
    one, other = made().fit(y[:50]), made().fit(y[:50])
    one.update(y[50:])
    for value in y[50:]:
        other.update([value])
    assert np.array_equal(one.predict(), other.predict())


# Invariances --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("factor", "shift"), [(1e-3, 0.0), (100.0, 5.0), (2.0, -1e4), (-1.0, 0.0)])
@pytest.mark.parametrize("strategy", ["direct", "recursive"])
def test_forecasts_scale_and_shift_with_the_series(factor, shift, strategy):
    y = walk() - walk().mean()  # both signs, so that logarithms are not used
    options = {"strategy": strategy, "seasons": [7]}
    plain = made(**options).fit(y).predict(interval=0.8)
    other = made(**options).fit(factor * y + shift).predict(interval=0.8)
    bounds = other[1:] if factor > 0 else other[:0:-1]
    for one, two in zip(plain, (other[0], *bounds), strict=True):
        assert_allclose(two, factor * one + shift, rtol=1e-9, atol=1e-9 * abs(factor))


def test_scaling_by_a_power_of_two_is_exact():
    y = walk() - walk().mean()
    one, two = made().fit(y).predict(), made().fit(1024 * y).predict()
    assert_allclose(two, 1024 * one, rtol=1e-13)


def test_forecasts_do_not_depend_on_seeds_and_the_order_of_calls():
    y = walk()
    one = made(seed=0).fit(y)
    other = made(seed=np.random.default_rng(7)).fit(y)
    one.predict(), one.rolling(y, 3), one.predict(interval=0.5)
    assert np.array_equal(one.predict(), other.predict())
    assert np.array_equal(one.fit(y).predict(), other.predict())


def test_long_frame_may_have_any_order():
    y = halves("long")[0][0]
    mixed = y.sample(frac=1.0, random_state=0)
    pd.testing.assert_frame_equal(made().fit(y).predict(), made().fit(mixed).predict())


@pytest.mark.parametrize("before", [1, 5, 70])
def test_rows_before_the_first_observation_have_no_effect(before):
    y = 3 * np.sin(np.arange(60) * 2 * np.pi / 7) + walk()
    one, other = made().fit(y), made().fit(np.r_[np.full(before, np.nan), y])
    assert any(member["calendar"] for member in one.members_)
    assert_allclose(other.predict(), one.predict(), rtol=1e-10)


THREADS = """
import json, numpy as np, eigenecho as ee
t = np.arange(60)
rng = np.random.default_rng(0)
y = np.stack([10 + np.sin(2 * np.pi * t / 12), 20 - np.cos(2 * np.pi * t / 12)], axis=1)
forecaster = ee.Forecaster(4, sharing="own", spectrum=ee.spectra.ring(40, sr=0.95))
forecaster.fit(y + 0.1 * rng.normal(size=y.shape))
found = [value.hex() for value in forecaster.predict().ravel()]
"""


def test_forecasts_do_not_depend_on_the_number_of_threads(monkeypatch):
    env = {**os.environ, "EIGENECHO_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", THREADS + "print(json.dumps(found))"],
        env=env, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    monkeypatch.setenv("EIGENECHO_NUM_THREADS", "3")
    here = {}
    with blas.several():
        exec(THREADS, here)
    assert len(here["found"]) == 8
    assert here["found"] == json.loads(done.stdout)


# Estimator interface ------------------------------------------------------------------------------


def test_parameters_are_kept_and_cloned():
    forecaster = made(past=["a"], validation=20, refit=False)
    assert clone(forecaster).get_params() == forecaster.get_params()
    assert "validation=20" in repr(forecaster)
    assert "horizon=3" in repr(forecaster)
    assert not hasattr(clone(made().fit(walk())), "fitted_")


def test_changed_parameter_takes_effect_in_the_next_fit():
    forecaster = made(strategy="direct").fit(walk())
    before = forecaster.predict()
    forecaster.set_params(horizon=9, past=["x"], strategy="recursive")
    assert np.array_equal(forecaster.predict(), before)
    assert forecaster.rolling(walk(), 2).shape == (2, 3)
    with pytest.raises(ValueError, match="at most 3, the horizon of the fit"):
        forecaster.predict(4)


def test_parameters_and_data_are_not_modified():
    y, X, seasons = walk(), columns(), [7]
    copies = y.copy(), X.copy()
    forecaster = made(past=[1], seasons=seasons)
    params = dict(forecaster.get_params())
    forecaster.fit(y, X).update(y[:5], X[:5])
    assert forecaster.get_params() == params
    assert seasons == [7]
    assert np.array_equal(y, copies[0])
    assert np.array_equal(X, copies[1])


def test_failed_fit_does_not_change_the_estimator():
    y = walk()
    forecaster = made().fit(y)
    before, fitted = forecaster.predict(), forecaster.fitted_
    for wrong in ([np.inf], np.r_[y, -np.inf], "no", np.zeros((2, 2, 2))):
        with pytest.raises(ValueError, match=r"y[=:]"):
            forecaster.fit(wrong)
        with pytest.raises(ValueError, match=r"y_new[=:]"):
            forecaster.update(wrong)
    assert forecaster.fitted_ is fitted
    assert np.array_equal(forecaster.predict(), before)


def test_interrupted_fit_does_not_change_the_estimator(monkeypatch):
    forecaster = made().fit(walk())
    fitted = forecaster.fitted_

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("eigenecho.estimators.forecaster.fit", interrupt)
    with pytest.raises(KeyboardInterrupt):
        forecaster.fit(walk())
    assert forecaster.fitted_ is fitted


def test_forecast_does_not_depend_on_other_origins():
    rng = np.random.default_rng(0)
    y = np.tile(5 * rng.normal(size=12), 8) + 0.3 * rng.normal(size=96)
    forecaster = ee.Forecaster(3, spectrum=ee.spectra.ring(6, sr=0.9), seasons=[12]).fit(y)
    alone = forecaster.rolling(y, [95])
    assert np.array_equal(forecaster.rolling(y, [5, 95])[1:], alone)
    assert np.array_equal(alone[0], forecaster.predict())


def test_calendar_effect_adapts_to_new_rows():
    rng = np.random.default_rng(1)
    week = 5 * rng.normal(size=7)
    y = np.tile(week, 8) + 0.1 * rng.normal(size=56)
    later = np.concatenate([y, np.tile(-week, 80) + 0.1 * rng.normal(size=560)])
    forecaster = ee.Forecaster(7, seasons=[7]).fit(y)
    errors = np.abs(forecaster.predict(context=later) + week)
    assert errors.mean() < 0.3 * np.abs(week).mean()


def test_unobserved_phase_follows_the_others():
    y = 3.0 * np.arange(120)
    y[::2] = np.nan
    assert np.abs(ee.Forecaster(4).fit(y).predict() - 3.0 * np.arange(120, 124)).max() < 1


def test_gap_at_the_end_of_a_line_is_extrapolated():
    y = 3.0 * np.arange(110)
    y[-3:] = np.nan
    assert np.abs(ee.Forecaster(6).fit(y).predict() - 3.0 * np.arange(110, 116)).max() < 0.1


def test_constant_known_column_has_no_effect():
    rng = np.random.default_rng(2)
    y = np.sin(np.arange(120)) + 0.1 * rng.normal(size=120)
    forecaster = ee.Forecaster(2).fit(y, np.full(120, 0.1))
    assert np.array_equal(forecaster.predict(X=[0.1, 0.1]), forecaster.predict(X=[0.1, 99.0]))


def test_forecast_of_a_context_without_logarithms():
    rng = np.random.default_rng(3)
    grown = 100 * np.exp(0.03 * np.arange(120) + 0.05 * rng.normal(size=120))
    forecaster = ee.Forecaster(4).fit(grown)
    assert any(member["logarithm"] for member in forecaster.members_)
    found = forecaster.predict(context=-grown, interval=0.9)
    assert np.all((found.lower < found.mean) & (found.mean < found.upper))
    assert np.abs(found.mean / -grown[-1] - 1).max() < 0.3
