"""Standardised columns: statistics of parts of the rows merge to those of all rows."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenecho.scaling import Scaling, Spread

SIZES = [1.0, 1e-300, 1e200, 1e-160]


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=6),
    st.sampled_from(SIZES),
    st.floats(-1e3, 1e3),
    st.integers(0, 99),
)
def test_statistics_of_parts_merge_to_those_of_all_rows(lengths, size, level, seed):
    rows = size * (level + np.random.default_rng(seed).normal(size=(sum(lengths), 2)))
    parts = np.split(rows, np.cumsum(lengths)[:-1])
    actual, expected = reduce(Spread.merge, map(Spread.of, parts)), Spread.of(rows)
    assert actual.rows == expected.rows
    np.testing.assert_array_equal(actual.size, expected.size)
    np.testing.assert_allclose(actual.mean, expected.mean, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(actual.deviation, expected.deviation, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("size", SIZES)
def test_scaled_series_have_mean_0_and_standard_deviation_1(size):
    rng = np.random.default_rng(0)
    series = [size * rng.normal(3.0, 2.0, (T, 2)) for T in (40, 7, 100)]
    scaling = Scaling.of(series)
    whole = scaling.forward(np.concatenate(series))
    np.testing.assert_allclose(whole.mean(axis=0), 0, atol=1e-13)
    np.testing.assert_allclose(whole.std(axis=0), 1, rtol=1e-13)


def test_constant_column_is_only_centred_for_any_split():
    column = np.full((30, 1), 0.1)
    for cut in (1, 10, 29):
        scaling = Scaling.of([column[:cut], column[cut:]])
        np.testing.assert_array_equal(scaling.forward(column), 0.0)
        assert scaling.scale == pytest.approx(1.0)


def test_empty_parts_have_no_effect():
    rows = np.random.default_rng(0).normal(size=(9, 2))
    for parts in ([rows[:0], rows], [rows, rows[:0]], [rows[:0], rows[:0], rows]):
        actual, expected = Scaling.of(parts), Scaling.of([rows])
        np.testing.assert_allclose(actual.mean, expected.mean, rtol=1e-15)
        np.testing.assert_allclose(actual.scale, expected.scale, rtol=1e-15)


def test_column_of_zeros_in_one_part_has_the_scale_of_the_other():
    parts = [np.zeros((5, 1)), np.full((5, 1), 1e-300)]
    scaling = Scaling.of(parts)
    assert scaling.scale == pytest.approx(5e-301)


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=6),
    st.sampled_from(SIZES),
    st.integers(0, 99),
)
def test_missing_values_are_ignored(lengths, size, seed):
    rng = np.random.default_rng(seed)
    rows = size * (3.0 + rng.normal(size=(sum(lengths), 3)))
    rows[rng.random(rows.shape) < 0.4] = np.nan
    rows[:, 2] = size  # without gaps
    parts = np.split(rows, np.cumsum(lengths)[:-1])
    actual = Scaling.of(parts)
    for column in range(3):
        there = rows[~np.isnan(rows[:, column]), column]
        expected = Scaling.of([there[:, None]])
        np.testing.assert_allclose(actual.mean[column], expected.mean[0], rtol=1e-12)
        np.testing.assert_allclose(actual.scale[column], expected.scale[0], rtol=1e-9)
