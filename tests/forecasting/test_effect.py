"""What columns that are known ahead do to a series."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenecho.forecasting.effect import FADES, KnownColumns, effect
from eigenecho.forecasting.filter import Filter
from eigenecho.forecasting.signal import Signal, bridged
from eigenecho.spectra import ring

FILTER = Filter(0.0, ring(8, sr=0.9))


def shop(seed, rows=200, size=10.0, late=0.0):
    """Sales that wander about 100, ``size`` more where there is a promotion; and the promotions."""
    rng = np.random.default_rng(seed)
    promo = (rng.random(rows) < 0.2).astype(float)
    sales = 100 + np.cumsum(0.5 * rng.normal(size=rows)) + size * promo
    sales[1:] += late * promo[:-1]
    return sales, promo[:, None]


def signal_of(columns, sales, known, scale=1.0):
    one = Signal(scale * sales, np.ones(len(sales), bool), known=columns.features(known))
    return one.with_unit()


def answer(columns, weights, unit):
    """What a single promotion does to its own row and those after it."""
    once = np.zeros((12, 1))
    once[3] = 1.0
    never = np.zeros((12, 1))
    return (columns.features(once) - columns.features(never)) @ weights * unit


def test_features_are_columns_and_their_running_means():
    known = np.random.default_rng(0).normal(size=(20, 2)) * [1, 50] + [0, 300]
    columns = KnownColumns.of([known[:12], known[12:]])
    x = (known - known.mean(axis=0)) / known.std(axis=0)
    found, means = columns.features(known), np.zeros((len(FADES), 2))
    for t in range(20):
        for i, fade in enumerate(FADES):
            keep = np.exp(-1 / fade) if fade else 0.0
            means[i] = keep * means[i] + (1 - keep) * x[t]
        assert_allclose(found[t], means.ravel(), atol=1e-12)


def test_a_column_that_never_moves_does_nothing():
    columns = KnownColumns.of([np.full((9, 1), 4.0)])
    assert np.all(columns.features(np.full((9, 1), 4.0)) == 0)


@pytest.mark.parametrize("stop", [200, 120])
def test_a_promotion_is_worth_what_it_is_worth(stop):
    sales, promo = shop(0)
    columns = KnownColumns.of([promo])
    signal = signal_of(columns, sales, promo)
    weights = effect([signal], [stop], FILTER, logarithm=False)
    moved = answer(columns, weights, signal.unit)
    assert np.all(moved[:3] == 0)
    assert moved[3] == pytest.approx(10, abs=0.5)
    assert np.all(np.abs(moved[4:]) < 0.8)


def test_rows_after_the_stop_are_not_looked_at():
    sales, promo = shop(0)
    features, found = KnownColumns.of([promo]).features(promo), []
    for later in (1.0, -1e3):
        sales[120:] *= later
        signal = Signal(sales.copy(), np.ones(200, bool), known=features)
        found.append(effect([signal], [120], FILTER, logarithm=False))
    assert np.array_equal(*found)


def test_series_learn_together_each_in_its_unit():
    shops = [shop(seed, rows=60) for seed in range(4)]
    columns = KnownColumns.of([promo for _, promo in shops])
    scales = [1.0, 10.0, 100.0, 1000.0]
    signals = [signal_of(columns, *one, s) for one, s in zip(shops, scales, strict=True)]
    weights = effect(signals, [60] * 4, FILTER, logarithm=False)
    for signal, scale in zip(signals, scales, strict=True):
        assert answer(columns, weights, signal.unit)[3] == pytest.approx(10 * scale, rel=0.15)


def test_a_factor_is_learnt_from_logarithms():
    rng = np.random.default_rng(3)
    promo = (rng.random(200) < 0.3).astype(float)
    sales = np.exp(4 + np.cumsum(0.02 * rng.normal(size=200))) * 1.5**promo
    columns = KnownColumns.of([promo[:, None]])
    weights = effect([signal_of(columns, sales, promo[:, None])], [200], FILTER, logarithm=True)
    assert np.exp(answer(columns, weights, 1.0)[3]) == pytest.approx(1.5, rel=0.03)


def test_gaps_are_not_learnt_from():
    sales, promo = shop(0)
    missing = np.random.default_rng(1).random(200) < 0.1
    gaps = bridged(np.where(missing, np.nan, sales)).with_unit()
    columns = KnownColumns.of([promo])
    signal = replace(gaps, known=columns.features(promo))
    weights = effect([signal], [200], FILTER, logarithm=False)
    found = answer(columns, weights, signal.unit)[3]
    assert found == pytest.approx(10, abs=0.5)
    learnt = replace(signal, observed=np.ones(200, bool))
    spoilt = effect([learnt], [200], FILTER, logarithm=False)
    assert answer(columns, spoilt, signal.unit)[3] < found - 0.3
