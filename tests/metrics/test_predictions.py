"""Compare metrics with NumPy formulas, and test invalid shapes and values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eigenecho import metrics

PAIRWISE = [metrics.rmse, metrics.nrmse, metrics.squared_correlation, metrics.memory_capacity]


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    true = rng.normal(size=(200, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, -2.0]
    return true, true + 0.3 * rng.normal(size=true.shape)


def test_rmse_equals_a_loop(pair):
    true, predicted = pair
    total = sum((a - b) ** 2 for a, b in zip(true.ravel(), predicted.ravel(), strict=True))
    assert metrics.rmse(true, predicted) == pytest.approx(math.sqrt(total / true.size), rel=1e-13)


def test_rmse_of_equal_arrays_is_zero(pair):
    assert metrics.rmse(pair[0], pair[0]) == 0.0


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_rmse_neither_overflows_nor_underflows(scale):
    assert metrics.rmse([3 * scale, 0], [0, 4 * scale]) == pytest.approx(scale * math.sqrt(12.5))


@pytest.mark.parametrize(
    ("norm", "size"),
    [
        ("std", lambda a: a.std()),
        ("range", lambda a: a.max() - a.min()),
        ("mean", lambda a: abs(a.mean())),
    ],
)
def test_nrmse_is_rmse_in_units_of_the_target(pair, norm, size):
    true, predicted = pair
    ratios = [
        metrics.rmse(true[:, j], predicted[:, j]) / size(true[:, j]) for j in range(true.shape[1])
    ]
    assert metrics.nrmse(true[:, 1], predicted[:, 1], norm=norm) == pytest.approx(ratios[1])
    combined = math.sqrt(np.mean(np.square(ratios)))
    assert metrics.nrmse(true, predicted, norm=norm) == pytest.approx(combined)


@pytest.mark.parametrize("scale", [1e-162, 1e154, 1e307])
def test_scale_of_the_target_does_not_matter(pair, scale):
    true, predicted = (a / np.abs(pair[0]).max() for a in pair)
    for norm in ("std", "range", "mean"):
        scaled = metrics.nrmse(true * scale, predicted * scale, norm=norm)
        assert scaled == pytest.approx(metrics.nrmse(true, predicted, norm=norm))
    for threshold in (0.1, 0.5, 2.0):
        time = metrics.valid_time(true, predicted, threshold)
        assert metrics.valid_time(true * scale, predicted * scale, threshold) == time


def test_error_of_a_diverged_prediction_is_infinite():
    assert metrics.nrmse([1e-300, 2e-300], [1e300, 1e300]) == math.inf


def test_predicting_the_mean_scores_one(pair):
    true, _ = pair
    mean = np.broadcast_to(true.mean(axis=0), true.shape)
    assert metrics.nrmse(true, mean) == pytest.approx(1.0)


@pytest.mark.parametrize("norm", ["std", "range"])
def test_nrmse_rejects_a_constant_target(norm):
    # The standard deviation of this constant column is a rounding error, not 0.
    true = np.full((10_000, 1), 0.1)
    with pytest.raises(ValueError, match="varies"):
        metrics.nrmse(true, true + 1, norm=norm)


def test_nrmse_rejects_a_mean_of_zero():
    true = np.sin(2 * np.pi * np.arange(100) / 100)
    with pytest.raises(ValueError, match="mean"):
        metrics.nrmse(true, true, norm="mean")


def test_error_lists_the_norms_of_nrmse():
    with pytest.raises(ValueError, match="Did you mean 'range'"):
        metrics.nrmse([0.0, 1.0], [0.0, 1.0], norm="rang")


def test_squared_correlation_agrees_with_corrcoef(pair):
    true, predicted = pair
    expected = [np.corrcoef(true[:, j], predicted[:, j])[0, 1] ** 2 for j in range(3)]
    np.testing.assert_allclose(metrics.squared_correlation(true, predicted), expected, rtol=1e-12)
    np.testing.assert_allclose(metrics.memory_capacity(true, predicted), expected, rtol=1e-12)


def test_squared_correlation_ignores_sign_scale_and_offset(pair):
    true, _ = pair
    result = metrics.squared_correlation(true, 1e-180 - 1e-180 * true)
    np.testing.assert_allclose(result, 1.0, rtol=1e-12)


def test_squared_correlation_does_not_exceed_one():
    a = np.random.default_rng(0).normal(size=(10, 1000))
    assert metrics.squared_correlation(a, 3.0 * a).max() == 1.0


def test_squared_correlation_of_constant_columns_is_zero(pair):
    true, _ = pair
    constant = np.full_like(true, 0.1)
    constant[:, 1] = true[:, 1]
    np.testing.assert_array_equal(metrics.squared_correlation(true, constant) > 0, [0, 1, 0])
    np.testing.assert_array_equal(metrics.squared_correlation(constant, true)[[0, 2]], 0.0)


def test_series_are_pooled(pair):
    true, predicted = pair
    stacked = [a.reshape(4, 50, 3) for a in pair]
    assert metrics.rmse(*stacked) == pytest.approx(metrics.rmse(true, predicted))
    np.testing.assert_allclose(
        metrics.squared_correlation(*stacked), metrics.squared_correlation(true, predicted)
    )


def test_a_single_column_gives_one_value():
    assert metrics.squared_correlation([1.0, 2.0, 4.0], [1.0, 2.0, 3.0]).shape == (1,)


@pytest.mark.parametrize("metric", PAIRWISE)
@pytest.mark.parametrize("shapes", [((5,), (5, 1)), ((5, 1), (5,)), ((5, 1), (5, 2)), ((5,), (4,))])
def test_nothing_is_broadcast(metric, shapes):
    a, b = (np.arange(np.prod(shape), dtype=float).reshape(shape) for shape in shapes)
    with pytest.raises(ValueError, match="shape") as caught:
        metric(a, b)
    assert all(str(shape) in str(caught.value) for shape in shapes)


@pytest.mark.parametrize("metric", PAIRWISE)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_must_be_finite(metric, bad):
    good, spoilt = np.arange(6.0).reshape(3, 2), np.arange(6.0).reshape(3, 2)
    spoilt[1, 0] = bad
    with pytest.raises(ValueError, match=r"NaN or infinity.*finite numbers"):
        metric(good, spoilt)
    with pytest.raises(ValueError, match=r"NaN or infinity.*finite numbers"):
        metric(spoilt, good)


@pytest.mark.parametrize("metric", PAIRWISE)
@pytest.mark.parametrize("bad", [[], 1.0, ["a"], [1j], [[1.0], [1.0, 2.0]], np.zeros((1, 1, 1, 1))])
def test_invalid_series_are_rejected(metric, bad):
    with pytest.raises(ValueError, match="expected"):
        metric(bad, bad)
