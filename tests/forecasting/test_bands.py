"""Quantiles from validation errors."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from eigenecho.forecasting.intervals import DEGREES, FEW, MIXED, ROWS, SHAPE, UNKNOWN, Bands

LEVELS = [0.001, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.999]
BLOCKS = 70.0


def drawn(relative=False, origins=400, horizon=6, seed=0):
    """Return forecasts and true values whose errors grow with the square root of the step."""
    rng = np.random.default_rng(seed)
    errors = 0.1 * rng.normal(size=(origins, horizon)) * np.sqrt(np.arange(1, horizon + 1))
    forecasts = 10 + rng.random((origins, horizon))
    truths = forecasts * np.exp(errors) if relative else forecasts + 3 * errors
    return forecasts, truths, Bands.of([forecasts], [truths], [3.0], relative, BLOCKS)


def smoothed(squares, blocks):
    """Return the growth for mean squares by step, computed by loops."""
    usual = sum(square / np.sqrt(h) for h, square in enumerate(squares, 1)) / len(squares)
    sizes, growth = [], []
    for h, square in enumerate(squares, 1):
        mixed = (blocks * square + SHAPE * usual * np.sqrt(h)) / (blocks + SHAPE)
        sizes.append(np.sqrt(mixed))
        growth.append((sizes[-1] + max(sizes)) / 2)
    return growth


@pytest.mark.parametrize("relative", [False, True])
def test_quantiles_are_ordered_and_symmetric_about_the_forecast(relative):
    forecasts, _, bands = drawn(relative)
    found = np.stack([bands.quantile(level, forecasts[0], 3.0) for level in LEVELS])
    assert np.all(np.diff(found, axis=0) >= 0)
    assert np.array_equal(found[4], forecasts[0])
    if relative:
        assert_allclose(found * found[::-1], np.tile(forecasts[0] ** 2, (9, 1)))
    else:
        assert_allclose(found + found[::-1], np.tile(2 * forecasts[0], (9, 1)))


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
def test_intervals_have_the_nominal_coverage_of_new_rows(relative, share):
    bands = drawn(relative)[2]
    forecasts, truths, _ = drawn(relative, origins=500, seed=1)
    lower, upper = (
        np.stack([bands.quantile(0.5 + side * share / 2, forecast, 3.0) for forecast in forecasts])
        for side in (-1, 1)
    )
    inside = (lower <= truths) & (truths <= upper)
    assert abs(inside.mean() - share) < 0.03
    assert np.all(np.abs(inside.mean(axis=0) - share) < 0.08)  # coverage at every step


def test_only_observed_errors_are_counted():
    forecasts, truths, whole = drawn()
    holes = truths.copy()
    holes[::3, 2], holes[:, 5] = np.nan, np.nan
    bands = Bands.of([forecasts], [holes], [3.0], False, BLOCKS)
    seen = np.abs(forecasts - holes)[~np.isnan(holes)] / 3
    assert bands.means == pytest.approx([seen.mean()])
    assert len(bands.ratios) == seen.size
    squares = [np.nanmean(column**2) / 9 for column in np.abs(forecasts - holes).T[:5]]
    squares.append(squares[4])  # same as the previous step
    assert_allclose(bands.growth, smoothed(squares, BLOCKS))
    assert_allclose(bands.growth[:2], whole.growth[:2], rtol=0.01)


def test_errors_of_series_are_relative_to_their_units():
    forecasts, truths, bands = drawn()
    parts = [forecasts[:200], 100 * forecasts[200:]], [truths[:200], 100 * truths[200:]]
    both = Bands.of(*parts, [3.0, 300.0], False, BLOCKS)
    assert_allclose(both.growth, bands.growth)
    assert_allclose(both.ratios, bands.ratios)
    assert both.means.mean() == pytest.approx(bands.means[0])


def test_intervals_of_few_blocks_are_wider():
    forecasts, truths, bands = drawn()
    few = Bands.of([forecasts], [truths], [3.0], False, 2.0)
    assert np.all(few.quantile(0.9, forecasts[0], 3.0) > bands.quantile(0.9, forecasts[0], 3.0))


@pytest.mark.parametrize("blocks", [1, 4, 25])
@pytest.mark.parametrize("share", [0.5, 0.8, 0.99])
@pytest.mark.parametrize("steps", [np.inf, 3])
def test_few_blocks_mix_a_higher_quantile_of_errors_with_a_t_distribution(blocks, share, steps):
    forecasts, truths, _ = drawn()
    bands = Bands.of([forecasts], [truths], [3.0], False, blocks)
    width = bands.quantile(0.5 + share / 2, forecasts[0], 3.0, steps) - forecasts[0]
    errors = np.abs(forecasts - truths) / 3
    assert_allclose(bands.growth, smoothed(np.mean(errors**2, axis=0), blocks))
    ordered = sorted(np.ravel(errors / bands.growth))
    place = min(share * (1 + FEW / blocks), 1.0) * (len(ordered) - 1)
    low, part = int(place), place - int(place)
    own = (1 - part) * ordered[low] + part * ordered[min(low + 1, len(ordered) - 1)]
    size = np.sqrt(np.mean(np.square(ordered[:: len(ordered) // 2000 + 1][: len(ordered)])))
    drawn_from = stats.t(DEGREES * blocks).ppf(0.5 + share / 2) * size
    expected = (blocks * own + MIXED * drawn_from) / (blocks + MIXED)
    if steps == 3:
        expected *= stats.t(3).ppf(0.5 + share / 2) / stats.norm.ppf(0.5 + share / 2)
    assert_allclose(width, 3 * bands.growth * expected, rtol=1e-3)


def test_blocks_of_short_horizons_have_several_rows():
    forecasts, truths, _ = drawn(horizon=1)
    assert Bands.of([forecasts], [truths], [1.0], False, 30.0).blocks == 30 / ROWS


def test_unknown_errors_grow_like_those_of_a_random_walk():
    bands = Bands.unknown(2, 3)
    width = bands.quantile(0.95, np.zeros(3), 2.0)
    assert_allclose(width, 2 * stats.t(UNKNOWN).ppf(0.95) * np.sqrt([1, 2, 3]))
    normal = np.abs(np.random.default_rng(0).normal(size=100_000))
    assert_allclose(bands.means, np.mean(np.sqrt([1, 2, 3])) * normal.mean(), rtol=0.01)


def test_unobserved_series_has_no_mean():
    forecasts, truths, bands = drawn()
    none = np.full_like(truths, np.nan)
    both = Bands.of([forecasts, forecasts], [truths, none], [3.0, 3.0], False, BLOCKS)
    assert np.isnan(both.means[1])
    assert np.array_equal(both.ratios, bands.ratios)


def test_relative_bands_need_positive_values():
    bands = Bands.of([np.array([[1.0]])], [np.array([[-1.0]])], [1.0], True, 1.0)
    assert not bands.relative


def test_zero_errors():
    same = np.full((5, 3), 7.0)
    bands = Bands.of([same], [same], [1.0], False, 1.0)
    assert np.array_equal(bands.quantile(0.9, same[0], 1.0), same[0])


def test_longer_horizon_than_validated():
    bands = drawn()[2]
    assert np.array_equal(bands.with_horizon(4).growth, bands.growth[:4])
    longer = bands.with_horizon(9).growth
    assert np.array_equal(longer[:6], bands.growth)
    assert np.all(longer[6:] == bands.growth[-1])
