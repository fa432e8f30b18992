"""Compare naive forecasts with loops."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenecho.forecasting.baselines import BASELINES, DAMPING, Baseline

Y = np.random.default_rng(0).normal(size=30).cumsum() + 20


def by_loop(kind, season, t, horizon):
    """Return forecasts after row t from the rows up to t."""
    made = []
    for h in range(1, horizon + 1):
        seasons = int(np.ceil(h / season))
        last = t + h - season * seasons  # the last row at the same position in a season
        if kind == "level":
            made.append(Y[t])
        elif kind == "mean":
            made.append(np.mean(Y[: t + 1]))
        elif kind in ("drift", "damped"):
            steps = [Y[s] - Y[s - 1] for s in range(1, t + 1)]
            count = h if kind == "drift" else sum(DAMPING**j for j in range(1, h + 1))
            made.append(Y[t] + count * (np.mean(steps) if steps else 0.0))
        elif kind == "season":
            made.append(Y[max(last, 0)])
        else:
            growth = 0.0
            if t + 1 >= 2 * season:
                this, before = Y[t + 1 - season : t + 1], Y[t + 1 - 2 * season : t + 1 - season]
                growth = this.mean() - before.mean()
            made.append(Y[max(last, 0)] + growth * seasons)
    return made


@pytest.mark.parametrize("kind", BASELINES)
@pytest.mark.parametrize("season", [1, 4])
def test_every_kind_equals_a_loop(kind, season):
    rows = np.array([0, 1, 3, 7, 8, 29])
    made = Baseline(kind, season).forecast(Y[None], rows, 9)[0]
    assert_allclose(made, [by_loop(kind, season, t, 9) for t in rows], rtol=1e-12)


@pytest.mark.parametrize("kind", BASELINES)
def test_forecast_of_a_constant_is_the_constant(kind):
    y = np.full(20, 7.25)
    made = Baseline(kind, 3).forecast(y[None], np.arange(20), 5)
    assert_allclose(made, 7.25, rtol=1e-15)


@pytest.mark.parametrize(
    ("kind", "needs"), [("level", 1), ("drift", 2), ("season", 6), ("growth", 12)]
)
def test_number_of_required_rows(kind, needs):
    assert Baseline(kind, 6).needs == needs
