"""Models of users are scored, trained and averaged like the candidates."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import eigenecho as ee
from damped_trend import DampedTrend


class Oracle:
    """Model that knows the law of the series, y(t) = t³ mod 1009."""

    def fit(self, batches, stops):
        assert all(stop <= batch.rows for batch, stop in zip(batches, stops, strict=True))
        return self

    def forecast(self, batch, origins, horizon):
        t = origins[:, None] + np.arange(1, horizon + 1)
        return np.repeat(law(t)[None], len(batch.values), axis=0)


class Bad(Oracle):
    def forecast(self, batch, origins, horizon):
        return super().forecast(batch, origins, horizon) + 1e6


def law(t):
    return (np.asarray(t) ** 3 % 1009).astype(float)


def damped(rng, rows):
    t, damping = np.arange(rows), 0.92
    return 50 + 6 * (1 - damping**t) / (1 - damping) + 0.3 * rng.normal(size=rows).cumsum()


def test_a_model_that_is_much_better_replaces_the_candidates():
    y = law(np.arange(150))
    forecaster = ee.Forecaster(5, models=[Oracle()]).fit(y)
    assert [member["strategy"] for member in forecaster.members_] == ["Oracle"]
    assert_allclose(forecaster.predict(), law(np.arange(150, 155)), atol=30)
    plain = ee.Forecaster(5).fit(y)
    assert forecaster.expected_error_ < 0.2 * plain.expected_error_
    truth = law(np.arange(101, 106))
    assert_allclose(forecaster.rolling(y, [100])[0], truth, atol=30)


def test_a_bad_model_is_left_out():
    y = np.random.default_rng(0).normal(size=(90, 3)).cumsum(axis=0)
    forecaster, plain = ee.Forecaster(4, models=[Bad()]).fit(y), ee.Forecaster(4).fit(y)
    assert forecaster.members_ == plain.members_
    assert np.array_equal(forecaster.predict(), plain.predict())


def test_damped_trend_of_a_newcomer_is_a_member():
    rng = np.random.default_rng(0)
    y = [damped(rng, 60) for _ in range(6)]
    forecaster = ee.Forecaster(6, models=[DampedTrend()]).fit(y)
    assert "DampedTrend" in [member["strategy"] for member in forecaster.members_]
    made = forecaster.predict(interval=0.9)
    assert all(np.all(low <= mean) and np.all(mean <= high) for mean, low, high in made)
    updated = forecaster.update([values[-1:] + 1.0 for values in y])
    assert all(np.isfinite(forecast).all() for forecast in updated.predict())
    other = forecaster.predict(context=[y[0][:40], y[1]])
    assert len(other) == 2


def test_later_rows_do_not_change_forecasts_of_models():
    rng = np.random.default_rng(1)
    y = damped(rng, 60)
    forecaster = ee.Forecaster(4, models=[DampedTrend()]).fit(y)
    changed = np.r_[y[:50], 1e3 * rng.normal(size=10)]
    assert np.array_equal(forecaster.rolling(y, [49]), forecaster.rolling(changed, [49]))


def test_invalid_models(tmp_path):
    y = np.random.default_rng(0).normal(size=60).cumsum()
    with pytest.raises(ValueError, match=r"models.*fit and forecast"):
        ee.Forecaster(3, models=[object()]).fit(y)

    class Flat(Oracle):
        def forecast(self, batch, origins, horizon):
            return np.zeros(horizon)

    with pytest.raises(ValueError, match=r"models.*Flat.*shape \(3,\)"):
        ee.Forecaster(3, models=[Flat()]).fit(y)
    with pytest.raises(ValueError, match="models"):
        ee.Forecaster(3, models=[DampedTrend()]).fit(y).save(tmp_path / "file")
