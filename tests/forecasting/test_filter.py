"""Filters and their closed loops, against loops over rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import naive
from eigenecho.forecasting.signals import steps_so_far
from eigenecho.forecasting.views import Filter, check_growth
from eigenecho.spectra import Spectrum
from filtered_rows import whole

SPECTRUM = Spectrum([0.9, -0.4, 0.0], [0.3 + 0.8j, -0.5 + 0.2j])
MODES = {"real": SPECTRUM.real, "pairs": SPECTRUM.pairs}


def series(rows=40, seed=0):
    return 50 + np.cumsum(np.random.default_rng(seed).normal(size=rows))


@pytest.mark.parametrize("rows", [1, 2, 40])
def test_rows_equal_those_of_a_loop(rows):
    y = series(rows)
    x, wanted = whole(Filter(SPECTRUM), y), naive.filtered(y, **MODES)
    assert_allclose(x, wanted, rtol=1e-9, atol=1e-11)


def test_modes_on_the_unit_circle_are_driven():
    y = series()
    x = whole(Filter(Spectrum([1.0, -1.0])), y)
    assert_allclose(x, naive.filtered(y, [1.0, -1.0], []), rtol=1e-9, atol=1e-12)
    assert np.all(np.abs(x[5:, 1:]).max(axis=0) > 0)


def test_rows_scale_with_the_series_and_ignore_a_constant():
    filter, y = Filter(SPECTRUM), series()
    assert_allclose(whole(filter, 3 * y - 200), 3 * whole(filter, y), atol=1e-10)


def test_rows_do_not_depend_on_later_values():
    filter, y = Filter(SPECTRUM), series()
    other = y.copy()
    other[25:] *= -1e6
    one, two = whole(filter, y), whole(filter, other)
    assert np.array_equal(one[:25], two[:25])
    assert not np.array_equal(one[25:], two[25:])


def test_closed_loop_uses_its_own_forecasts():
    filter, y = Filter(SPECTRUM), series()
    weights = 0.2 * np.random.default_rng(1).normal(size=filter.size)
    made = y[-1] + whole(filter, y)[-1] @ filter.closed_loop(weights, 12)
    assert_allclose(made, naive.iterate_filter(y, weights, 12, **MODES), rtol=1e-10)


def test_overflowing_loop_is_reported_without_a_warning():
    filter = Filter(Spectrum([0.9]))
    found = filter.closed_loop(np.array([0.0, 50.0]), 300)
    assert np.all(np.isfinite(found[:, :100]))
    assert not np.all(np.isfinite(found[:, -1]))


def test_white_steps_give_every_mode_unit_variance():
    y = np.cumsum(np.random.default_rng(0).normal(size=20_000))
    x = whole(Filter(SPECTRUM), y)[1000:, 1:]
    size = np.square(x).mean(axis=0)
    assert_allclose(size[:3], 1, atol=0.1)
    assert_allclose(size[3::2] + size[4::2], 2, atol=0.2)


def test_mean_step():
    assert_allclose(steps_so_far(np.array([[1.0, 4.0, 4.0, 0.0]])), np.sqrt([[0, 9, 4.5, 25 / 3]]))


def test_growth_is_estimated_from_the_available_rows():
    check_growth(Spectrum([1.1]), 1000)
    check_growth(Spectrum([1.0], [0.6 + 0.8j]), 10**9)
    with pytest.raises(ValueError, match="overflow within 3000 rows"):
        check_growth(Spectrum([1.1]), 3000)
