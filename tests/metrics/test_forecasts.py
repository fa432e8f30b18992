"""Compare metrics of forecasts with loops over single observations, and test invalid input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from eigenecho import metrics
from optional import optional

pd = optional("pandas")

SHAPES = [(40,), (40, 3), (2, 40, 3)]
LEVELS = [0.9, 0.1, 0.5]


def observations(shape, gaps=0.3, seed=0):
    rng = np.random.default_rng(seed)
    y = 5 + rng.normal(size=shape)
    return np.where(rng.random(shape) < gaps, np.nan, y), y + rng.normal(size=shape)


def columns(array):
    """Return each column of each series, as a list."""
    array = np.asarray(array)
    table = array.reshape(-1, 1) if array.ndim == 1 else array.reshape(-1, *array.shape[-2:])
    if table.ndim == 2:
        return [table[:, 0].tolist()]
    return [series[:, j].tolist() for series in table for j in range(series.shape[1])]


def mase_by_a_loop(y, forecast, train, season):
    scores = []
    for true, guess, before in zip(*map(columns, (y, forecast, train)), strict=True):
        errors = [abs(a - b) for a, b in zip(true, guess, strict=True) if not math.isnan(a)]
        steps = [abs(before[t] - before[t - season]) for t in range(season, len(before))]
        steps = [step for step in steps if not math.isnan(step)]
        if errors:
            scores.append(sum(errors) / len(errors) / (sum(steps) / len(steps)))
    return sum(scores) / len(scores)


def pinball_by_a_loop(y, forecasts, quantiles):
    total, count = 0.0, 0
    for place, true in np.ndenumerate(y):
        for q, guess in zip(quantiles, forecasts[place], strict=True):
            if not math.isnan(true):
                total += q * (true - guess) if true >= guess else (1 - q) * (guess - true)
                count += 1
    return total / count


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("season", [1, 7])
def test_mase_equals_a_loop(shape, season):
    y, forecast = observations(shape)
    train = observations((*shape[:-2], 90, *shape[-1:]) if len(shape) > 1 else (90,), seed=1)[0]
    expected = mase_by_a_loop(y, forecast, train, season)
    assert metrics.mase(y, forecast, train, season) == pytest.approx(expected, rel=1e-12)


def test_mase_of_a_naive_forecast_is_one():
    series = np.cumsum(np.random.default_rng(0).normal(size=(300, 2)), axis=0)
    assert metrics.mase(series[12:], series[:-12], series, season=12) == pytest.approx(1.0)
    # The units of each column do not matter.
    y, forecast, train = (a * [1e150, 1e-150] for a in (series[200:], series[190:290], series))
    plain = metrics.mase(series[200:], series[190:290], series)
    assert metrics.mase(y, forecast, train) == pytest.approx(plain)


def test_mase_ignores_columns_without_observations():
    y = np.array([[1.0, np.nan], [2.0, np.nan]])
    train = np.array([[1.0, 3.0], [2.0, 3.0], [4.0, 3.0]])
    assert metrics.mase(y, y[:, [0, 0]] + 3, train) == pytest.approx(2.0)


@pytest.mark.parametrize("shape", SHAPES)
def test_smape_equals_a_loop(shape):
    y, forecast = observations(shape)
    y[..., :3] = 0.0
    forecast[..., :2] = 0.0
    errors = [
        0.0 if a == b == 0 else 2 * abs(a - b) / (abs(a) + abs(b))
        for a, b in zip(y.ravel(), forecast.ravel(), strict=True)
        if not math.isnan(a)
    ]
    assert metrics.smape(y, forecast) == pytest.approx(100 * sum(errors) / len(errors), rel=1e-12)
    assert metrics.smape(-1e300 * y, -1e300 * forecast) == pytest.approx(metrics.smape(y, forecast))


def test_smape_is_between_0_and_200():
    assert metrics.smape([1.0, -2.0], [1.0, -2.0]) == 0.0
    assert metrics.smape([1e308, -1e308], [-1e308, 1e308]) == 200.0
    assert metrics.smape([0.0], [5e-324]) == 200.0


@pytest.mark.parametrize("shape", SHAPES)
def test_pinball_and_crps_equal_a_loop(shape):
    y, centre = observations(shape)
    forecasts = centre[..., None] + np.array([1.3, -1.3, 0.0])
    expected = pinball_by_a_loop(y, forecasts, LEVELS)
    assert metrics.pinball(y, forecasts, LEVELS) == pytest.approx(expected, rel=1e-12)
    assert metrics.crps(y, forecasts, LEVELS) == pytest.approx(2 * expected, rel=1e-12)


def test_pinball_of_the_median_is_half_the_absolute_error():
    y, forecast = observations((40, 2), gaps=0)
    half = np.abs(y - forecast).mean() / 2
    assert metrics.pinball(y, forecast, 0.5) == pytest.approx(half)
    assert metrics.pinball(y, forecast[..., None], [0.5]) == pytest.approx(half)
    assert metrics.crps(y, np.stack([forecast] * 9, axis=-1), np.arange(1, 10) / 10) == (
        pytest.approx(2 * half)
    )


def test_true_quantile_minimises_the_pinball_loss():
    y = np.random.default_rng(0).normal(size=20_000)
    losses = [
        metrics.pinball(y, np.full(y.shape, bound), 0.9)
        for bound in stats.norm.ppf([0.87, 0.9, 0.93])
    ]
    assert np.argmin(losses) == 1


def test_crps_of_many_quantiles_equals_that_of_the_distribution():
    y = np.random.default_rng(0).normal(size=50)
    levels = (np.arange(2000) + 0.5) / 2000
    forecasts = np.broadcast_to(stats.norm.ppf(levels), (50, 2000))
    exact = y * (2 * stats.norm.cdf(y) - 1) + 2 * stats.norm.pdf(y) - 1 / math.sqrt(math.pi)
    assert metrics.crps(y, forecasts, levels) == pytest.approx(exact.mean(), rel=1e-3)


@pytest.mark.parametrize("shape", SHAPES)
def test_coverage_equals_a_loop(shape):
    y, forecast = observations(shape)
    lower, upper = forecast - 1.0, forecast + 0.5
    bounds = zip(y.ravel(), lower.ravel(), upper.ravel(), strict=True)
    within = [low <= a <= high for a, low, high in bounds if not math.isnan(a)]
    assert metrics.coverage(y, lower, upper) == pytest.approx(sum(within) / len(within))


def test_bounds_count_as_covered():
    assert metrics.coverage([1.0, 2.0], [1.0, 1.0], [3.0, 2.0]) == 1.0
    assert metrics.coverage([1.0, 2.0], [2.0, 2.0], [2.0, 2.0]) == 0.5


def call(metric, y, forecast):
    """Evaluate any of the metrics for one forecast."""
    if metric is metrics.mase:
        return metric(y, forecast, np.arange(20.0).reshape((-1,) + (1,) * (np.ndim(y) - 1)))
    if metric is metrics.coverage:
        return metric(y, forecast, forecast)
    return metric(y, forecast) if metric is metrics.smape else metric(y, forecast, 0.3)


EACH = pytest.mark.parametrize(
    "metric", [metrics.mase, metrics.smape, metrics.pinball, metrics.crps, metrics.coverage]
)


@EACH
def test_frames_and_masks_are_accepted(metric):
    y, forecast = observations((30, 1))
    expected = call(metric, y, forecast)
    assert call(metric, pd.DataFrame(y), pd.DataFrame(forecast)) == expected
    masked = np.ma.masked_array(np.where(np.isnan(y), 99.0, y), np.isnan(y))
    assert call(metric, masked, forecast) == expected


@EACH
def test_missing_values_are_ignored(metric):
    y, forecast = observations((30,))
    there = ~np.isnan(y)
    assert call(metric, y, forecast) == pytest.approx(call(metric, y[there], forecast[there]))
    assert isinstance(call(metric, y, forecast), float)


@EACH
@pytest.mark.parametrize(
    ("y", "forecast", "message"),
    [
        (np.full(5, np.nan), np.zeros(5), r"y.*at least one observation"),
        ([1.0, np.inf], [1.0, 1.0], r"y: got infinity.*finite numbers"),
        ([1.0, np.nan], [1.0, np.nan], r"NaN or infinity.*finite numbers"),
        ([1.0, 2.0], [[1.0], [2.0]], r"shape \(2, 1\).*\(2,\), as in y"),
        ([1.0, 2.0], [1.0], r"shape \(1,\).*\(2,\), as in y"),
        ([], [], r"y: got shape \(0,\).*at least one row"),
        (["a"], [1.0], r"y[=:].*real numbers"),
        ([1j], [1.0], r"y[=:].*real numbers"),
        ([1.0], ["a"], "real numbers"),
        (np.zeros((1, 1, 1, 1)), np.zeros((1, 1, 1, 1)), r"y.*at least one observation"),
    ],
)
def test_invalid_input(metric, y, forecast, message):
    with pytest.raises(ValueError, match=message):
        call(metric, y, forecast)


@pytest.mark.parametrize("quantiles", [0, 1, [0.5, 1.0], [np.nan], [], "half", [[0.5]], None])
def test_quantiles_are_probabilities(quantiles):
    for metric in (metrics.pinball, metrics.crps):
        with pytest.raises(ValueError, match=r"quantiles.*probabilities strictly between 0 and 1"):
            metric([1.0], [[1.0]], quantiles)


@pytest.mark.parametrize("shape", [(5,), (5, 2), (2, 5), (1, 5, 3), (5, 3, 1)])
def test_quantile_forecasts_have_a_quantile_axis(shape):
    with pytest.raises(ValueError, match=r"quantile_forecasts: got shape.*\(5, 3\), as in y"):
        metrics.pinball(np.zeros(5), np.zeros(shape), LEVELS)


def test_crossed_bounds():
    with pytest.raises(ValueError, match="lower: got bounds above upper"):
        metrics.coverage([1.0, 2.0], [0.0, 3.0], [1.0, 2.0])


@pytest.mark.parametrize(
    ("train", "season", "message"),
    [
        (
            [1.0, 1.0, 1.0],
            1,
            r"train: got a column without a nonzero seasonal difference .season=1.*rmse",
        ),
        (
            [1.0, 2.0, 1.0, 2.0],
            2,
            r"train: got a column without a nonzero seasonal difference .season=2",
        ),
        (
            [1.0, np.nan, 2.0],
            1,
            r"train: got a column without a nonzero seasonal difference .season=1",
        ),
        ([1.0, 2.0], 2, r"season=2.*a period shorter than train \(an int from 1 to 1\)"),
        ([1.0, 2.0], 0, r"season=0.*int from 1 to 1"),
        ([1.0, 2.0], 1.5, r"season=1.5.*int from 1 to 1"),
        ([1.0, 2.0], True, r"season=True.*int from 1 to 1"),
        ([[1.0], [2.0]], 1, r"train: got shape \(2, 1\).*\(2,\), with the same series and columns"),
        ([1.0, -np.inf], 1, "train: got infinity"),
    ],
)
def test_invalid_training_series_and_seasons_of_mase(train, season, message):
    with pytest.raises(ValueError, match=message):
        metrics.mase([1.0, 2.0], [1.0, 2.0], train, season)


def test_constant_training_series_are_rejected():
    train = np.random.default_rng(0).normal(size=(3, 9, 2))
    train[2, :, 1] = 0.5
    y = np.zeros((3, 4, 2))
    with pytest.raises(ValueError, match="a column without a nonzero seasonal"):
        metrics.mase(y, y, train)
    with pytest.raises(ValueError, match=r"train: got shape \(2, 9, 2\).*\(3, 9, 2\)"):
        metrics.mase(y, y, train[:2])
