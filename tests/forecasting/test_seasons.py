"""Periods of a series, and waves with these periods."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenecho.forecasting import seasons


@pytest.mark.parametrize("period", [4, 7, 12, 31])
def test_season_is_found_despite_trend_and_noise(period):
    rng = np.random.default_rng(period)
    t = np.arange(600)
    shape = rng.normal(size=period)
    y = 0.05 * t + 2 * shape[t % period] + 0.3 * rng.normal(size=600)
    assert seasons.series_periods(y, ()) == [period]


def test_second_season_is_found():
    t = np.arange(900)
    y = np.sin(2 * np.pi * t / 8) + np.sin(2 * np.pi * t / 45)
    y = y + 0.1 * np.random.default_rng(0).normal(size=900)
    assert seasons.series_periods(y, (8,)) == [8, 45]


def test_noise_has_no_season():
    rng = np.random.default_rng(0)
    assert seasons.detect_period(rng.normal(size=2000)) is None
    assert seasons.series_periods(np.arange(100.0), ()) == []


def test_calendar_cycles_come_first_and_need_two_repetitions():
    t = np.arange(400)
    y = np.sin(2 * np.pi * t / 7)
    assert seasons.series_periods(y, (7, 365.25)) == [7]


def test_harmonics_repeat_with_their_period():
    waves = seasons.harmonics((7, 14), 60)
    np.testing.assert_allclose(waves[14:], waves[:-14], atol=1e-12)
    assert waves.shape[1] == 2 * 6  # k/14 below one half, including those of 7


# Waves --------------------------------------------------------------------------------------


def wanted(frequencies, rows):
    """Return sines and cosines, computed one by one."""
    found = [
        [turn(2 * np.pi * f * t) for f in frequencies for turn in (np.sin, np.cos)]
        for t in range(rows)
    ]
    return np.array(found)


@pytest.mark.parametrize("period", [2.5, 5, 7, 30.4])
def test_waves_of_a_cycle(period):
    frequencies = [k / period for k in range(1, seasons.HARMONICS + 1) if k / period < 0.5]
    assert_allclose(seasons.calendar_columns([period], 40), wanted(frequencies, 40), atol=1e-12)


@pytest.mark.parametrize(("period", "pairs"), [(2, 0), (4, 1), (12, 5), (20, 9)])
def test_even_cycle_has_an_alternating_wave(period, pairs):
    found = seasons.calendar_columns([float(period)], 25)
    assert found.shape == (25, 2 * pairs + 1)
    assert_allclose(found[:, :-1], wanted(np.arange(1, pairs + 1) / period, 25).reshape(25, -1),
                    atol=1e-12)  # fmt: skip
    assert found[:, -1].tolist() == [(-1) ** t for t in range(25)]


@pytest.mark.parametrize("period", [7, 11.5, 22, 24])
def test_invalid_cycles_have_no_waves(period):
    columns = seasons.calendar_columns([period], 30)
    assert np.array_equal(columns, seasons.harmonics([period], 30))


def test_shared_waves_are_listed_once():
    both = seasons.calendar_columns([6.0, 12.0], 50)
    assert both.shape == (50, 2 * 5 + 1)
    assert np.linalg.matrix_rank(both) == 11
    # One column changes its sign at every row.
    assert seasons.calendar_columns([4.0, 6.0], 9).shape == (9, 2 + 4 + 1)


@pytest.mark.parametrize("period", [3, 4, 7, 12, 20])
def test_every_periodic_series_is_a_sum_of_waves(period):
    profile = np.random.default_rng(period).normal(size=period)
    cycle = np.resize(profile - profile.mean(), 5 * period)
    columns = seasons.calendar_columns([float(period)], len(cycle))
    weights = np.linalg.lstsq(columns, cycle, rcond=None)[0]
    assert_allclose(columns @ weights, cycle, atol=1e-9)


def test_no_cycles_give_no_waves():
    assert seasons.calendar_columns((), 5).shape == (5, 0)


@pytest.mark.parametrize("change", ["nothing", "a typing error", "a shift", "both"])
def test_neither_an_outlier_nor_a_shift_hides_a_season(change):
    rng, t = np.random.default_rng(1), np.arange(1000)
    y = 100 + rng.normal(0, 10, 24)[t % 24] + rng.normal(0, 1, t.size)
    if change in ("a typing error", "both"):
        y[500] = 1e6
    if change in ("a shift", "both"):
        y[300:] += 3000
    assert seasons.series_periods(y, ())[0] == 24


def test_rare_spikes_are_a_season():
    t = np.arange(600)
    y = np.where(t % 50 == 0, 30.0, 0.0) + np.random.default_rng(0).normal(size=t.size)
    assert seasons.series_periods(y, ())[0] == 50


def test_only_outliers_are_clipped():
    rng = np.random.default_rng(0)
    walk = rng.normal(size=300).cumsum()
    np.testing.assert_allclose(seasons.clip_steps(walk), walk, rtol=0, atol=1e-12)
    rare = np.zeros(300)
    rare[::30] = 1.0  # most steps are zero
    assert np.array_equal(seasons.clip_steps(rare), rare)
    spoilt = walk.copy()
    spoilt[100] += 1e9
    assert np.abs(seasons.clip_steps(spoilt) - walk).max() < 20
