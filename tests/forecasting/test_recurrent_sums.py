"""Sums of products by the recurrence of the rows, against loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from eigenecho import spectra
from eigenecho.forecasting.rows import LEAST_FADE, LONG, recurrent_products, recurrent_squares
from eigenecho.forecasting.views import Filter
from eigenecho.spectra import Spectrum
from filtered_rows import all_rows


def rows_of(filter, y, column):
    """Return the rows of a series and of a side column."""
    rows, side = filter.run(y[None]), Filter(Spectrum([0.5], [0.3 + 0.2j]))
    return replace(rows, runs=[*rows.runs, (side.reservoir, column[None])])


@given(
    st.integers(1, 12), st.integers(0, 20), st.integers(1, 30),
    st.integers(1, 9), st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_products_for_all_steps_equal_a_loop(horizon, first, count, units, seed):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=first + count + horizon).cumsum()
    filter = Filter(spectra.golden(units, sr=0.95, seed=seed))
    rows, last = rows_of(filter, y, rng.normal(size=len(y))), first + count
    x = all_rows(rows)
    found = recurrent_products(filter, rows, y[None], first, last, horizon)[0]
    wanted = np.zeros((x.shape[1], horizon))
    for t in range(first, last):
        for h in range(horizon):
            wanted[:, h] += x[t] * y[t + 1 + h]
    assert_allclose(found, wanted, rtol=0, atol=1e-12 * (1 + np.abs(x).sum() * np.abs(y).max()))


@pytest.mark.parametrize("radius", [0.5, 0.999, 1.0])
def test_products_are_accurate_over_many_steps(radius):
    rng = np.random.default_rng(0)
    y = rng.normal(size=3000).cumsum()
    filter = Filter(spectra.ring(48, sr=radius))
    rows = filter.run(y[None])
    x = all_rows(rows)
    found = recurrent_products(filter, rows, y[None], 0, 2400, 600)[0]
    windows = np.lib.stride_tricks.sliding_window_view(y, 600)[1:2401]
    wanted = x[:2400].T @ windows
    assert_allclose(found, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize("first", [0, 1, 300])
@pytest.mark.parametrize(
    "spectrum",
    [
        spectra.ring(48, sr=0.99),
        spectra.golden(31, sr=0.5, seed=0) + spectra.time_constants(3, sr=float(np.exp(-1 / 5000))),
        spectra.ring(1, sr=0.3),
    ],
)
def test_squares_of_a_long_series_equal_those_of_its_rows(first, spectrum):
    rng = np.random.default_rng(0)
    y = rng.normal(size=4000).cumsum()
    filter = Filter(spectrum)
    rows = rows_of(filter, y, rng.normal(size=len(y)))
    x = all_rows(rows)
    found = recurrent_squares(filter, rows, first, 3900)[0]
    wanted = x[first:3900].T @ x[first:3900]
    size = np.sqrt(np.diag(wanted))
    # The quotient 1 / (1 − λ_i λ_j) loses two digits, and NumPy's baseline loops one more.
    assert_allclose(found / np.outer(size, size), wanted / np.outer(size, size), rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("radius", "rows"), [(0.9, LONG - 1), (1.0, 2 * LONG), (1 - LEAST_FADE / 4, 2 * LONG)]
)
def test_squares_are_not_computed_for_slow_modes_or_few_rows(radius, rows):
    filter = Filter(spectra.ring(4, sr=radius))
    assert recurrent_squares(filter, filter.run(np.arange(float(rows))[None]), 0, rows) is None
