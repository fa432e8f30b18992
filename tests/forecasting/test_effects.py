"""Effects of known columns and of the calendar, against loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import naive
from eigenecho.forecasting.candidates import RIDGES
from eigenecho.forecasting.effects import learn_effects
from eigenecho.forecasting.signals import FADES, KnownColumns, RemovedEffects
from filtered_rows import batch_of

KNOWN, FACTOR = RemovedEffects(False, known=True), RemovedEffects(True, known=True)
CALENDAR, BOTH = (
    RemovedEffects(False, calendar=True),
    RemovedEffects(False, known=True, calendar=True),
)


def shop(seed, rows=200, size=10.0):
    """Return a random walk near 100 plus ``size`` at promotions, and the promotions."""
    rng = np.random.default_rng(seed)
    promo = (rng.random(rows) < 0.2).astype(float)
    sales = 100 + np.cumsum(0.5 * rng.normal(size=rows)) + size * promo
    return sales, promo[:, None]


def signal_of(columns, sales, known, scale=1.0):
    return batch_of(scale * sales, known=columns.features(known)[None])


def learnt(signals, stops, logarithm=False, periods=()):
    return learn_effects(signals, stops, periods, (logarithm,))


def answer(columns, effects, unit, moved=KNOWN):
    """Return the effect of a single promotion on its own row and the rows after it."""
    once, never = np.zeros((12, 1)), np.zeros((12, 1))
    once[3] = 1.0
    found = []
    for known in (once, never):
        nothing = {"unit": unit, "is_constant": np.zeros(1, bool)}
        signal = batch_of(np.ones(9), known=columns.features(known)[None], **nothing)
        found.append(effects.apply(signal, 9, 3).shifts[moved][0])
    return found[0] - found[1]


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


def test_constant_column_has_no_effect():
    columns = KnownColumns.of([np.full((9, 1), 4.0)])
    assert np.all(columns.features(np.full((9, 1), 4.0)) == 0)


@pytest.mark.parametrize("stop", [200, 120])
def test_effect_of_a_promotion_is_estimated_correctly(stop):
    sales, promo = shop(0)
    columns = KnownColumns.of([promo])
    signal = signal_of(columns, sales, promo)
    moved = answer(columns, learnt([signal], [stop]), signal.unit)
    assert np.all(moved[:3] == 0)
    assert moved[3] == pytest.approx(10, abs=0.5)
    assert np.all(np.abs(moved[4:]) < 0.8)


def test_filter_weights_are_learned_without_the_promotions():
    # Weights learned with promotions would treat a promotion as a fluctuation that reverts.
    errors = []
    for seed in range(4):
        sales, promo = shop(seed, size=100.0)
        columns = KnownColumns.of([promo])
        signal = signal_of(columns, sales, promo)
        moved = answer(columns, learnt([signal], [200]), signal.unit)
        errors.append(np.abs(moved - 100 * (np.arange(12) == 3)).max())
    assert np.mean(errors) < 0.25


def test_rows_after_the_stop_are_not_used():
    sales, promo = shop(0)
    features, found = KnownColumns.of([promo]).features(promo), []
    for later in (1.0, -1e3):
        sales[120:] *= later
        signal = batch_of(sales.copy(), known=features[None], unit=np.ones(1))
        effects = learnt([signal], [120], periods=(7.0,))
        shifts = effects.apply(signal, 120, 0).shifts
        found.append([*effects.weights, *shifts.values()])
    for one, other in zip(*found, strict=True):
        assert all(map(np.array_equal, one, other))


def test_series_share_effects_in_their_own_units():
    shops = [shop(seed, rows=60) for seed in range(4)]
    columns = KnownColumns.of([promo for _, promo in shops])
    scales = [1.0, 10.0, 100.0, 1000.0]
    signals = [signal_of(columns, *one, s) for one, s in zip(shops, scales, strict=True)]
    effects = learnt(signals, [60] * 4)
    for signal, scale in zip(signals, scales, strict=True):
        assert answer(columns, effects, signal.unit)[3] == pytest.approx(10 * scale, rel=0.15)


def test_factor_is_learned_from_logarithms():
    rng = np.random.default_rng(3)
    promo = (rng.random(200) < 0.3).astype(float)
    sales = np.exp(4 + np.cumsum(0.02 * rng.normal(size=200))) * 1.5**promo
    columns = KnownColumns.of([promo[:, None]])
    effects = learnt([signal_of(columns, sales, promo[:, None])], [200], logarithm=True)
    moved = answer(columns, effects, unit=np.full(1, 77.0), moved=FACTOR)
    assert np.exp(moved[3]) == pytest.approx(1.5, rel=0.03)


def test_gaps_are_not_used_for_learning():
    sales, promo = shop(0)
    missing = np.random.default_rng(1).random(200) < 0.1
    columns = KnownColumns.of([promo])
    signal = batch_of(np.where(missing, np.nan, sales), known=columns.features(promo)[None])
    found = answer(columns, learnt([signal], [200]), signal.unit)[3]
    assert found == pytest.approx(10, abs=0.5)
    whole = replace(signal, observed=np.ones((1, 200), bool))
    assert answer(columns, learnt([whole], [200]), signal.unit)[3] < found - 0.3


# The calendar ---------------------------------------------------------------------------------


def week(rows=84, seed=0, noise=0.1):
    """Return a random walk plus a weekly profile."""
    rng = np.random.default_rng(seed)
    profile = np.array([0.0, 3.0, -1.0, 2.0, -4.0, 1.0, -1.0])
    return profile[np.arange(rows) % 7], np.cumsum(noise * rng.normal(size=rows))


def test_weekly_profile_is_estimated_and_continued():
    profile, walk = week()
    signal = batch_of((profile + walk)[:77])
    effects = learnt([signal], [77], periods=(7.0,))
    shift = effects.apply(signal, 77, 7).shifts[CALENDAR][0]
    assert shift.shape == (84,)
    assert_allclose(shift - shift.mean(), profile - profile.mean(), atol=0.25)
    assert_allclose(shift[:7], shift[77:], atol=1e-8)


def test_each_series_has_its_own_calendar_effect():
    profile, walk = week()
    signals = [batch_of(sign * profile + walk) for sign in (1, -1)]
    effects = learnt(signals, [84, 84], periods=(7.0,))
    one, other = (effects.apply(signal, 84, 0).shifts[CALENDAR][0] for signal in signals)
    assert np.corrcoef(one, other)[0, 1] < -0.95


def test_effects_of_columns_and_of_the_calendar_are_separated():
    profile, walk = week()
    promo = (np.random.default_rng(5).random((84, 1)) < 0.3).astype(float)
    columns = KnownColumns.of([promo])
    signal = signal_of(columns, profile + walk + 10 * promo[:, 0], promo)
    effects = learnt([signal], [84], periods=(7.0,))
    assert set(effects.removed) == {KNOWN, CALENDAR, BOTH}
    shift = effects.apply(signal, 84, 0).shifts[BOTH][0]
    wanted = profile + 10 * promo[:, 0]
    assert_allclose(shift - shift.mean(), wanted - wanted.mean(), atol=0.5)


def test_too_few_rows_give_no_calendar_effect():
    signal = batch_of(week()[0])
    effects = learnt([signal], [84], periods=(7.0,))
    assert np.all(effects.apply(signal, 1, 5).shifts[CALENDAR][0] == 0)


def test_alternating_rows_are_a_cycle_of_two():
    _, walk = week()
    turns = 4.0 * (-1) ** np.arange(84)
    signal = batch_of((turns + walk)[:80])
    effects = learnt([signal], [80], periods=(2.0,))
    assert_allclose(effects.apply(signal, 80, 4).shifts[CALENDAR][0], turns, atol=0.2)


def test_calendar_effect_uses_only_the_first_rows():
    profile, walk = week()
    signal = batch_of(profile + walk, unit=np.ones(1))
    effects = learnt([signal], [42], periods=(7.0,))
    before = effects.apply(signal, 42, 5).shifts[CALENDAR][0]
    for later in (np.arange(42), -1e9):
        values = signal.values.copy()
        values[:, 42:] += later
        other = effects.apply(replace(signal, values=values), 42, 5).shifts[CALENDAR][0]
        assert np.array_equal(other, before)
    fewer = effects.apply(signal, 28, 5).shifts[CALENDAR][0]
    assert not np.allclose(fewer, before, atol=1e-6)


def test_gaps_do_not_affect_the_calendar_effect():
    profile, walk = week(rows=140)
    missing = np.random.default_rng(1).random(140) < 0.15
    missing[0] = False
    gaps = batch_of(np.where(missing, np.nan, profile + walk))
    off = []
    for signal in (gaps, replace(gaps, observed=np.ones((1, 140), bool))):
        effects = learnt([signal], [140], periods=(7.0,))
        off.append(np.abs(effects.apply(signal, 140, 0).shifts[CALENDAR][0] - profile).max())
    assert off[0] < 0.16 * np.ptp(profile)
    assert off[1] > 1.5 * off[0]


def test_effect_ends_with_the_known_columns():
    sales, promo = shop(0)
    columns = KnownColumns.of([promo])
    signal = signal_of(columns, sales, promo)
    shift = learnt([signal], [200]).apply(signal, 200, 4).shifts[KNOWN][0]
    assert np.any(shift[190:200] != 0)
    assert np.array_equal(shift[200:], np.zeros(4))


def test_no_columns_have_no_effect():
    signal = batch_of(np.arange(9.0))
    assert learnt([signal], [9]).apply(signal, 9, 2).shifts == {}


# Reference implementation ---------------------------------------------------------------------


def unforeseen(z, weights, spectrum):
    """Return the one-step errors of a filter without its constant, computed by a loop."""
    rows = naive.filtered(z, spectrum.real, spectrum.pairs)
    return np.array([z[t + 1] - z[t] - rows[t, 1:] @ weights for t in range(len(z) - 1)])


def least_squares(X, y):
    """Return the ridge regression with the likeliest ridge."""
    alpha = max(RIDGES, key=lambda alpha: naive.evidence(X, y, alpha))
    return np.linalg.solve(X.T @ X + alpha * np.eye(X.shape[1]), X.T @ y)


def explained(z, columns, weights, spectrum):
    """Return the weights of columns from one-step errors of the columns and the series."""
    X = np.stack([unforeseen(column, weights, spectrum) for column in columns.T], axis=1)
    return least_squares(X, unforeseen(z, weights, spectrum))


def learnt_by_hand(z, columns, wave, spectrum, rounds=2):
    """Return one-step weights and weights of columns and waves, estimated in turn."""
    v, p = np.zeros(columns.shape[1]), np.zeros(wave.shape[1])
    for _ in range(rounds):
        rest = z - columns @ v - wave @ p
        rows = naive.filtered(rest, spectrum.real, spectrum.pairs)
        one_step = least_squares(rows[:-1, 1:], np.diff(rest))
        v = explained(z - wave @ p, columns, one_step, spectrum) if v.size else v
        p = explained(z - columns @ v, wave, one_step, spectrum) if p.size else p
    return one_step, v, p


def waves_of(period, rows):
    """Return all waves of an even period."""
    t, half = np.arange(rows), period // 2
    pairs = [turn(2 * np.pi * k * t / period) for k in range(1, half) for turn in (np.sin, np.cos)]
    return np.stack([*pairs, np.cos(np.pi * t)], axis=1)


@pytest.mark.parametrize("logarithm", [False, True])
@pytest.mark.parametrize("parts", [(True, False), (False, True), (True, True)])
def test_effects_equal_the_reference(logarithm, parts):
    moved, rows, horizon = RemovedEffects(logarithm, *parts), 60, 5
    sales, promo = shop(4, rows + horizon)
    sales += 3 * np.sin(np.pi * np.arange(rows + horizon) / 2) + 2 * (-1) ** np.arange(65)
    columns = KnownColumns.of([promo])
    signal = replace(signal_of(columns, sales[:rows], promo), unit=np.full(1, 2.5))
    effects = learn_effects([signal], [rows], [4.0], [logarithm])
    none = np.zeros((rows + horizon, 0))
    known = signal.known[0] if moved.known else none
    wave = waves_of(4, rows + horizon) if moved.calendar else none
    z = (np.log(signal.values) if logarithm else signal.values / signal.unit)[0]
    spectrum = effects.filter.spectrum
    one_step, weights, profile = learnt_by_hand(z, known[:rows], wave[:rows], spectrum)
    learned = effects.weights[effects.removed.index(moved)]
    assert_allclose(learned.one_step, one_step, rtol=1e-6, atol=1e-8)
    assert_allclose(learned.columns, weights, rtol=1e-6, atol=1e-8)
    shift = effects.apply(signal, rows, horizon).shifts[moved][0]
    size = 1.0 if logarithm else 2.5
    assert_allclose(shift, (known @ weights + wave @ profile) * size, rtol=1e-6, atol=1e-7)
