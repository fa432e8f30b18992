"""Forecasts and bounds stay where the series could take them, also after outliers."""

from __future__ import annotations

import numpy as np
import pytest

import eigenecho as ee


def outlier(rng, n, last):
    y = rng.normal(rng.choice([-100, 0, 100, 1e4]), 1, n)
    y[-1 if last else rng.integers(n)] += rng.choice([-1, 1]) * 10 ** rng.uniform(1, 5)
    return y


def level_shift(rng, n):
    y = rng.normal(10, 1, n)
    y[rng.integers(1, n) :] += 10 ** rng.uniform(0, 3)
    return y


def rare_large(rng, n):
    y = rng.exponential(1, n)
    y[rng.random(n) < 0.05] *= 10 ** rng.uniform(1, 3)
    return y


KINDS = {
    "outlier last": lambda rng, n: outlier(rng, n, True),
    "outlier anywhere": lambda rng, n: outlier(rng, n, False),
    "drop to zero": lambda rng, n: np.append(rng.normal(100, 1, n - 1), 0.0),
    "cumulative counts": lambda rng, n: np.cumsum(rng.poisson(rng.choice([0.2, 3, 50]), n)) * 1.0,
    "level shift": level_shift,
    "integer walk": lambda rng, n: np.cumsum(rng.integers(-1, 2, n)) * 1.0,
    "intermittent": lambda rng, n: rng.poisson(2, n) * (rng.random(n) < 0.2) * 1.0,
    "near zero": lambda rng, n: np.abs(rng.normal(0, 1e-3, n)),
    "rare large": rare_large,
}


def assert_within_reach(forecast, y):
    low, high, spread = y.min(), y.max(), np.ptp(y)
    mean, lower, upper = forecast
    assert low - 3 * spread <= mean.min()
    assert mean.max() <= high + 3 * spread
    assert low - 10 * spread <= lower.min()
    assert upper.max() <= high + 10 * spread


@pytest.mark.filterwarnings("ignore::eigenecho.errors.FewRowsWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 230), marks=pytest.mark.slow)])
def test_forecasts_stay_within_reach(kind, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        rows = int(rng.integers(40, 150))
        horizon = int(rng.integers(1, rows // 5 + 1))
        y = KINDS[kind](rng, rows)
        forecaster = ee.Forecaster(horizon=horizon).fit(y)
        assert_within_reach(forecaster.predict(interval=0.9), y)


@pytest.mark.parametrize("seed", range(20))
def test_forecasts_stay_within_reach_after_a_last_outlier(seed):
    y = np.random.default_rng(seed).normal(100, 1, 60)
    y[-1] = 0
    forecaster = ee.Forecaster(horizon=12).fit(y)
    assert_within_reach(forecaster.predict(interval=0.9), y)
    usual = ee.Forecaster(horizon=12).fit(y[:-1])
    assert_within_reach(usual.predict(context=y, interval=0.9), y)


@pytest.mark.parametrize(
    "law",
    [
        lambda t: 3 + 2.0 * t,
        lambda t: np.exp(0.1 * t),
        lambda t: np.exp(0.3 * t),
        lambda t: np.exp(-0.1 * t),
        lambda t: t**2 + 5.0,
    ],
)
def test_exact_laws_are_continued(law):
    rows, horizon = 100, 20
    forecast = ee.Forecaster(horizon=horizon).fit(law(np.arange(rows))).predict()
    expected = law(np.arange(rows, rows + horizon))
    np.testing.assert_allclose(forecast, expected, rtol=0.02)


def test_fit_warns_if_few_members_use_known_columns():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(96, 4)).cumsum(axis=0)
    y = 10 + 2 * np.sin(2 * np.pi * np.arange(90) / 12) + rng.normal(0, 0.3, 90)
    with pytest.warns(UserWarning, match="known columns"):
        forecaster = ee.Forecaster(horizon=6).fit(y, X[:90])
    used = [member["known"] for member in forecaster.members_]
    assert sum(used) < len(used) / 2
