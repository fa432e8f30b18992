"""Products of rows with later values: a scan over steps ahead equals a loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from eigenecho import spectra
from eigenecho.forecasting.filter import Filter
from eigenecho.forecasting.products import LEAST_FADE, LONG, products, squares
from eigenecho.forecasting.trail import Trail
from eigenecho.spectra import Spectrum


def trail_of(filter, y, column):
    """Return the trail of a series and of a side column."""
    trail, beside = filter.run(y).trail, Filter(0.0, Spectrum([0.5], [0.3 + 0.2j]))
    return Trail(trail.constant, [*trail.runs, (beside.reservoir, column)])


@given(
    st.integers(1, 12), st.integers(0, 20), st.integers(0, 30), st.floats(0.0, 20.0),
    st.integers(1, 9), st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_products_for_all_steps_equal_a_loop(horizon, first, count, memory, units, seed):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=first + count + horizon).cumsum()
    filter = Filter(memory, spectra.golden(units, sr=0.95, seed=seed))
    trail, last = trail_of(filter, y, rng.normal(size=len(y))), first + count
    x = trail.between(0, len(y))
    actual = products(filter, trail, y, first, last, horizon)
    expected = np.zeros((x.shape[1], horizon))
    for t in range(first, last):
        for h in range(horizon):
            expected[:, h] += x[t] * y[t + 1 + h]
    assert_allclose(actual, expected, rtol=0, atol=1e-12 * (1 + np.abs(x).sum() * np.abs(y).max()))


@pytest.mark.parametrize("radius", [0.5, 0.999, 1.0])
def test_products_are_accurate_over_many_steps(radius):
    rng = np.random.default_rng(0)
    y = rng.normal(size=3000).cumsum()
    filter = Filter(0.0, spectra.ring(48, sr=radius))
    trail = filter.run(y).trail
    x = trail.between(0, len(y))
    actual = products(filter, trail, y, 0, 2400, 600)
    windows = np.lib.stride_tricks.sliding_window_view(y, 600)[1:2401]
    expected = x[:2400].T @ windows
    assert_allclose(actual, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("memory", [0.0, 50.0])
@pytest.mark.parametrize("first", [0, 1, 300])
@pytest.mark.parametrize(
    "spectrum",
    [
        spectra.ring(48, sr=0.99),
        spectra.golden(31, sr=0.5, seed=0) + spectra.time_constants(3, sr=float(np.exp(-1 / 5000))),
        spectra.ring(1, sr=0.3),
    ],
)
def test_squares_of_a_long_series_equal_those_of_its_rows(memory, first, spectrum):
    rng = np.random.default_rng(0)
    y = rng.normal(size=4000).cumsum()
    filter = Filter(memory, spectrum)
    trail = trail_of(filter, y, rng.normal(size=len(y)))
    x = trail.between(0, len(y))
    actual = squares(filter, trail, first, 3900)
    expected = x[first:3900].T @ x[first:3900]
    size = np.sqrt(np.diag(expected))
    assert_allclose(
        actual / np.outer(size, size), expected / np.outer(size, size), rtol=0, atol=1e-10
    )


@pytest.mark.parametrize(
    ("radius", "rows"), [(0.9, LONG - 1), (1.0, 2 * LONG), (1 - LEAST_FADE / 4, 2 * LONG)]
)
def test_squares_are_not_computed_for_slow_modes_or_few_rows(radius, rows):
    filter = Filter(0.0, spectra.ring(4, sr=radius))
    assert squares(filter, filter.run(np.arange(float(rows))).trail, 0, rows) is None
