"""Which seasons a panel has."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from eigenecho.forecasting.containers import read
from eigenecho.forecasting.seasons import seasons_of


def wave(period, rows=120, seed=0, noise=0.2):
    rng = np.random.default_rng(seed)
    return np.sin(2 * np.pi * np.arange(rows) / period) + noise * rng.normal(size=rows)


@pytest.mark.parametrize("period", [5, 12, 24])
def test_a_season_is_found(period):
    assert seasons_of(read(wave(period))) == (period,)


def test_those_given_are_taken_as_rows():
    assert seasons_of(read(wave(12)), [30.4, 7, 7.2]) == (7, 30)


def test_noise_and_constants_have_none():
    assert seasons_of(read(np.random.default_rng(1).normal(size=200))) == ()
    assert seasons_of(read(np.full(50, 3.0))) == ()
    assert seasons_of(read([1.0, 2.0])) == ()


def test_dates_show_the_week():
    days = pd.date_range("2024-01-01", periods=120)
    noise = np.random.default_rng(0).normal(size=120)
    assert 7 in seasons_of(read(pd.Series(noise, days)))


def test_most_series_decide():
    waves = [wave(12, seed=i) for i in range(3)]
    assert seasons_of(read(waves)) == (12,)
    assert seasons_of(read([*waves[:1], wave(7), wave(9), wave(16)])) == ()


def test_gaps_do_not_hide_a_season():
    y = wave(12)
    y[[3, 30, 31, 77]] = np.nan
    assert seasons_of(read(y)) == (12,)
