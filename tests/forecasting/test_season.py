"""Cycles of a series: found in it, and as waves."""

from __future__ import annotations

import numpy as np
import pytest

from eigenecho.forecasting import season


@pytest.mark.parametrize("period", [4, 7, 12, 31])
def test_a_season_is_found_under_trend_and_noise(period):
    rng = np.random.default_rng(period)
    t = np.arange(600)
    shape = rng.normal(size=period)
    y = 0.05 * t + 2 * shape[t % period] + 0.3 * rng.normal(size=600)
    assert season.cycles(y, ()) == [period]


def test_a_second_season_is_found_beside_the_first():
    t = np.arange(900)
    y = np.sin(2 * np.pi * t / 8) + np.sin(2 * np.pi * t / 45)
    y = y + 0.1 * np.random.default_rng(0).normal(size=900)
    assert season.cycles(y, (8,)) == [8, 45]


def test_no_season_where_there_is_none():
    rng = np.random.default_rng(0)
    assert season.detect(rng.normal(size=2000)) is None
    assert season.cycles(np.arange(100.0), ()) == []


def test_cycles_of_the_calendar_come_first_and_must_be_seen_twice():
    t = np.arange(400)
    y = np.sin(2 * np.pi * t / 7)
    assert season.cycles(y, (7, 365.25)) == [7]
    assert season.cycles(y, (7, 365.25), given=(30,)) == [30]


def test_harmonics_repeat_with_their_period():
    waves = season.harmonics((7, 14), 3, 60)
    np.testing.assert_allclose(waves[14:], waves[:-14], atol=1e-12)
    assert waves.shape[1] == 2 * 6  # k/14 below one half; those of 7 are among them
    np.testing.assert_allclose(season.harmonics((7,), 0, 50)[3:], season.harmonics((7,), 3, 50))
