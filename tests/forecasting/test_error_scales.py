"""Error scales of the series of a panel, against loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenecho.forecasting.intervals import GAUSSIAN, SMALLEST, Bands, error_scales

HORIZON = 5


def errors_of(scales, rows=60, seed=0, lasting=True):
    """Return absolute errors (O, H) of forecasts of white noise, and their origins."""
    rng = np.random.default_rng(seed)
    origins = np.arange(rows - HORIZON + 1)
    found = []
    for scale in scales:
        noise = np.abs(scale * rng.normal(size=rows))
        if not lasting:
            noise[: rows // 2] /= scale**2
        found.append(np.stack([noise[o : o + HORIZON] for o in origins]))
    return found, [origins] * len(found)


def textbook(ratios, origins):
    """Return scales and scaled errors of fully observed series, computed by loops."""
    logs, blocks, parts = [], [], []
    for one, rows in zip(ratios, origins, strict=True):
        targets = rows[:, None] + np.arange(1, HORIZON + 1)
        middle = (targets.min() + targets.max()) / 2
        part = ["late" if min(t) > middle else "early" if max(t) < middle else "" for t in targets]
        some = {name: [e for e, p in zip(one, part, strict=True) if p == name] for name in part}
        logs.append(np.log([one.mean(), np.mean(some["early"]), np.mean(some["late"])]))
        blocks.append((targets.max() - targets.min() + 1) / HORIZON)
        parts.append(part)
    (whole, early, late), blocks = np.transpose(logs), np.array(blocks)
    degrees = len(early) - 1
    a, b, half = early - early.mean(), late - late.mean(), np.mean(2 / blocks)
    chance = (sum((a - b) ** 2) / 2 / half + GAUSSIAN) / (degrees + 1)
    lasting = sum(a * b) / degrees - chance * half / np.sqrt(degrees)

    def shrunk(logs, blocks):
        weights = lasting / (lasting + chance / blocks)
        return np.exp(weights * (logs - sum(weights * logs) / sum(weights)))

    own = shrunk(whole, blocks)
    by = {"": own, "early": shrunk(late, blocks / 2), "late": shrunk(early, blocks / 2)}
    scaled = [
        error / by[part][i]
        for i, (one, names) in enumerate(zip(ratios, parts, strict=True))
        for errors, part in zip(one, names, strict=True)
        for error in errors
    ]
    return own, sorted(scaled)


@pytest.mark.parametrize("seed", range(3))
def test_sizes_equal_the_textbook(seed):
    ratios, origins = errors_of([0.3, 1, 2, 5], seed=seed)
    ratios[1], origins[1] = ratios[1][20:], origins[1][20:]
    pairs = zip(error_scales(ratios, origins), textbook(ratios, origins), strict=True)
    for found, expected in pairs:
        assert_allclose(found, expected)


def test_sizes_equal_the_noise_levels():
    scales = np.geomspace(0.1, 10, 12)
    found, scaled = error_scales(*errors_of(scales, rows=200))
    assert_allclose(found / scales, np.mean(found / scales), rtol=0.3)
    # Scaled errors are Gaussian and equally large for all series.
    usual = np.median(scaled)
    assert 2.0 < np.quantile(scaled, 0.9) / usual < 2.9  # 1.645 / 0.674 = 2.44


@pytest.mark.parametrize("seed", range(5))
def test_sizes_of_similar_series_are_close_to_one(seed):
    found, _ = error_scales(*errors_of(np.ones(20), seed=seed))
    assert not found.size or (found.min() > 0.8 and found.max() < 1.25)


def test_sizes_that_do_not_persist_are_ignored():
    found, scaled = error_scales(*errors_of(np.geomspace(0.2, 5, 10), lasting=False))
    assert not found.size
    assert not scaled.size


def test_sizes_from_few_errors_are_shrunk_more():
    ratios, origins = errors_of([0.2, 0.5, 1, 1, 2, 5, 0.2])
    ratios[6], origins[6] = ratios[0][-1:], origins[0][-1:]  # errors like the first
    ratios[6] = ratios[6] / ratios[6].mean() * ratios[0].mean()
    found, _ = error_scales(ratios, origins)
    assert found[0] < found[6] < 1


@pytest.mark.parametrize("rows", [HORIZON, 2 * HORIZON - 1])
def test_sizes_need_two_halves(rows):
    found, scaled = error_scales(*errors_of([0.1, 1, 10], rows=rows))
    assert not found.size
    assert not scaled.size


def test_single_series_has_no_size():
    assert not error_scales(*errors_of([3.0]))[0].size


def test_unobserved_series_has_no_size():
    ratios, origins = errors_of([0.2, 1, 5, 1])
    expected = error_scales(ratios[:3], origins[:3])
    ratios[3] = np.full_like(ratios[3], np.nan)
    found, scaled = error_scales(ratios, origins)
    assert np.isnan(found[3])
    assert_allclose(found[:3], expected[0])
    assert_allclose(scaled, expected[1])


def test_series_without_errors_have_small_sizes():
    found, scaled = error_scales(*errors_of([0.0, 1.0, 1.1, 0.9]))
    assert SMALLEST / 3 < found[0] / found[1] < 0.1
    assert np.isfinite(scaled).all()
    assert not error_scales(*errors_of([0.0, 0.0]))[0].size


# Use in bands -------------------------------------------------------------------------------------


def panel(scales, rows=80, seed=0):
    rng = np.random.default_rng(seed)
    ratios, origins = errors_of(scales, rows, seed)
    forecasts = [10 + rng.random(ratio.shape) for ratio in ratios]
    signs = [rng.choice([-1.0, 1.0], ratio.shape) for ratio in ratios]
    truths = [f + s * e for f, s, e in zip(forecasts, signs, ratios, strict=True)]
    return forecasts, truths, [1.0] * len(ratios), origins


def test_bounds_have_the_nominal_coverage_of_each_series():
    scales = np.geomspace(0.1, 2, 8)
    *parts, origins = panel(scales)
    bands = Bands.of(*parts, False, 100.0, origins)
    forecasts, truths, *_ = panel(scales, rows=400, seed=1)
    own, pooled = [], []
    for i, (forecast, truth) in enumerate(zip(forecasts, truths, strict=True)):
        for one, held in ((bands.of_series(i), own), (bands, pooled)):
            width = one.quantile(0.95, forecast[0], 1.0) - forecast[0]
            held.append(np.mean(np.abs(truth - forecast) <= width))
    assert min(own) > 0.8
    assert max(own) < 0.98
    assert min(pooled) < 0.75
    assert max(pooled) == 1


def test_bounds_of_a_series_are_multiples_of_scaled_errors():
    *parts, origins = panel([0.1, 1, 2])
    bands = Bands.of(*parts, False, 1e9, origins)
    forecast = np.full(HORIZON, 7.0)
    width = np.quantile(bands.scaled, 0.8) * bands.growth * bands.sizes[2]
    assert bands.blocks == 1e9  # so many that no t distribution is mixed in
    assert_allclose(bands.of_series(2).quantile(0.9, forecast, 3.0), forecast + 3 * width)


def test_series_without_a_size_have_pooled_bounds():
    *parts, origins = panel([0.1, 1, 2])
    bands = Bands.of(*parts, False, 10.0, origins)
    plain = Bands.of(*parts, False, 10.0)
    assert bands.of_series(None) is bands
    assert plain.of_series(1) is plain
    assert np.array_equal(bands.growth, plain.growth)
    assert np.array_equal(bands.ratios, plain.ratios)


@pytest.mark.parametrize("relative", [False, True])
def test_series_that_were_not_validated_are_compared_by_their_training_errors(relative):
    scales = np.geomspace(0.02, 0.4, 12)
    ratios, origins = errors_of(scales)
    forecasts = [np.full(ratio.shape, 9.0) for ratio in ratios]
    truths = [f * np.exp(e) if relative else f + e for f, e in zip(forecasts, ratios, strict=True)]
    units = [1.0] * len(scales)
    bands = Bands.of(forecasts, truths, units, relative, 100.0, origins)
    missing = np.array([2, 7])
    gappy = replace(bands, means=bands.means.copy(), sizes=bands.sizes.copy())
    gappy.means[missing], gappy.sizes[missing] = np.nan, np.nan
    # Training errors are smaller; the last series is too short to have any.
    trained = [f + 0.5 * (t - f) for f, t in zip(forecasts, truths, strict=True)]
    forecasts[-1] = trained[-1] = np.zeros((0, HORIZON))
    complete = gappy.complete(forecasts, trained, units)
    assert_allclose(complete.sizes, bands.sizes, rtol=0.2)
    assert_allclose(complete.means, bands.means, rtol=0.1)
    others = np.delete(np.arange(12), missing)
    assert np.array_equal(complete.sizes[others], bands.sizes[others])


def test_series_without_training_errors_get_the_mean_error():
    *parts, origins = panel([0.1, 1, 2])
    bands = Bands.of(*parts, False, 10.0, origins)
    bands.means[1], bands.sizes[1] = np.nan, np.nan
    none = [np.zeros((0, HORIZON))] * 3
    complete = bands.complete(none, none, [1.0, 0.0, 1.0])
    assert complete.means[1] == np.mean(bands.means[[0, 2]])
    assert np.isnan(complete.sizes[1])
