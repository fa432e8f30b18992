"""Gaps are filled from earlier rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from eigenecho.forecasting.signals import fill_gaps, logarithms
from filtered_rows import batch_of

NUMBERS = st.one_of(st.just(np.nan), st.floats(-5, 5))


@given(st.lists(NUMBERS, min_size=1, max_size=20), st.floats(-5, 5), st.integers(1, 7))
def test_filled_gaps_equal_a_loop(values, one, season):
    values = np.array([*values, one])
    signal = fill_gaps(values, season)
    wanted, start = naive.filled(values, season)
    assert np.array_equal(signal.values, wanted)
    assert signal.start == start
    assert np.array_equal(signal.observed, ~np.isnan(values[start:]))
    assert np.array_equal(signal.values[signal.observed], values[start:][~np.isnan(values[start:])])


def test_series_without_observations_is_empty():
    assert not len(fill_gaps(np.full(5, np.nan)).values)


@pytest.mark.parametrize(
    ("values", "rows", "unit"),
    [([1, 4, 0], None, np.sqrt(12.5)), ([1, 4, 0], 2, 3.0), ([1], None, 5.0), ([2, 2], None, 5.0)],
)
def test_unit_is_the_typical_step(values, rows, unit):
    assert batch_of(values, rows=rows, default=5.0).unit == pytest.approx(unit)


@pytest.mark.parametrize("value", [3.0, -1e-9, 0.0])
def test_constant_series_is_still_and_has_unit_one(value):
    batch = batch_of(np.full(4, value))
    assert batch.is_constant
    assert batch.unit == 1.0


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_logarithms_of_a_series_starting_with_zeros_follow_its_scale(scale):
    values = scale * np.array([0.0, -1.0, 2.0, 0.0, 3.0])
    found = logarithms(values[None])[0]
    np.testing.assert_allclose(found - np.log(scale), np.log([2, 2, 2, 2, 3]), rtol=1e-12)
    assert np.all(logarithms(-values[None, 4:]) == 0)
