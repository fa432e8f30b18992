"""Periods of the series of a panel."""

from __future__ import annotations

import numpy as np
import pytest

from eigenecho.data.panel import read
from eigenecho.forecasting.seasons import SAMPLED, find_periods, whole_periods

pd = pytest.importorskip("pandas")

DAYS = pd.date_range("2024-01-01", periods=120)


def wave(period, rows=120, seed=0, noise=0.2):
    rng = np.random.default_rng(seed)
    return np.sin(2 * np.pi * np.arange(rows) / period) + noise * rng.normal(size=rows)


@pytest.mark.parametrize("period", [5, 12, 24])
def test_season_is_found(period):
    assert find_periods(read(wave(period))) == (period,)


def test_given_periods_are_used():
    assert find_periods(read(wave(12)), [30.4, 7, 7.2, 1]) == (7.0, 7.2, 30.4)


def test_seasons_are_rounded_to_rows():
    assert whole_periods((1.2, 7.0, 7.2, 30.4)) == (7, 30)


def test_noise_and_constants_have_no_season():
    assert find_periods(read(np.random.default_rng(1).normal(size=200))) == ()
    assert find_periods(read(np.full(50, 3.0))) == ()
    assert find_periods(read([1.0, 2.0])) == ()


def test_daily_dates_include_the_week():
    noise = np.random.default_rng(0).normal(size=120)
    assert 7 in find_periods(read(pd.Series(noise, DAYS)))


def test_season_needs_a_third_of_the_series():
    waves = [wave(12, seed=i) for i in range(3)]
    assert find_periods(read(waves)) == (12,)
    assert find_periods(read([*waves[:1], wave(7), wave(9), wave(16)])) == ()


@pytest.mark.parametrize("constant", [np.full(120, 3.0), np.zeros(10), np.full(1, 5.0)])
def test_constant_series_are_ignored(constant):
    weeks = [wave(7), wave(7, seed=1)]
    assert find_periods(read([*weeks, *[constant] * 30])) == (7,)
    short = [wave(7, rows=18), wave(7, rows=18, seed=1)]  # shorter than three seasons
    assert find_periods(read([*short, *[np.full(900, 3.0)] * 3])) == find_periods(read(short))


def dated(*lengths):
    """Return daily white noise."""
    rng = np.random.default_rng(0)
    parts = [
        pd.DataFrame({"unique_id": i, "ds": DAYS[:rows], "y": rng.normal(size=rows)})
        for i, rows in enumerate(lengths)
    ]
    return read(pd.concat(parts))


@pytest.mark.parametrize(
    ("lengths", "found"), [([20], False), ([21], True), ([20, 20, 90], False), ([20, 21, 90], True)]
)
def test_median_series_must_contain_a_cycle_three_times(lengths, found):
    assert (7 in find_periods(dated(*lengths))) is found


def test_only_some_of_many_series_are_examined():
    shown = np.linspace(0, 99, SAMPLED).astype(int)
    panel = [wave(12) if i in shown else wave(7) for i in range(100)]
    assert find_periods(read(panel)) == (12,)


def test_gaps_do_not_hide_a_season():
    y = wave(12)
    y[[3, 30, 31, 77]] = np.nan
    assert find_periods(read(y)) == (12,)
