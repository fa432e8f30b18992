"""Values or logarithms, what is known taken off, and columns beside."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenecho.forecasting.filter import Filter
from eigenecho.forecasting.signal import Signal
from eigenecho.forecasting.view import View
from eigenecho.spectra import Spectrum

FILTER, SIDE = Filter(0.0, Spectrum([0.8])), Filter(0.0, Spectrum([0.5, 0.2]))


def signal(rows=6, ahead=2):
    rng = np.random.default_rng(0)
    known, past = rng.normal(size=(rows + ahead, 3)), rng.normal(size=(rows, 2))
    return Signal(np.arange(1.0, rows + 1), np.ones(rows, bool), 0, 5.0, known, past)


def test_logarithms_and_back():
    view, y = View("", FILTER, logarithm=True), np.array([1.0, 20.0, 3e-300])
    assert_allclose(view.seen(y), np.log(y))
    assert_allclose(view.undone(view.seen(y)), y, rtol=1e-12)
    assert np.array_equal(View("", FILTER).seen(y), y)


def test_what_has_no_logarithm_is_as_the_last_that_has():
    view = View("", FILTER, logarithm=True)
    found = view.seen(np.array([-1.0, 0.0, 2.0, 0.0, -5.0, 3.0]))
    assert_allclose(found, np.log([1, 1, 2, 2, 2, 3]))


def test_forecasts_beyond_all_numbers_are_infinite_without_a_warning():
    found = View("", FILTER, logarithm=True).undone(np.array([1.0, 701.0, np.nan, -800.0]))
    assert found[0] == pytest.approx(np.e)
    assert np.isinf(found[1])
    assert np.isnan(found[2])
    assert found[3] == 0


def test_what_is_known_moves_rows_in_units_of_the_series():
    one, effect = signal(), np.array([1.0, -2.0, 0.5])
    assert_allclose(View("", FILTER, effect=effect).shift(one), 5 * (one.known @ effect))
    assert_allclose(View("", FILTER, True, effect).shift(one), one.known @ effect)
    assert np.array_equal(View("", FILTER).shift(one), np.zeros(6))


def test_columns_beside_stand_after_the_rows_of_the_series():
    one = signal()
    level, rows = View("", FILTER, side=SIDE).run(one.values, one.past)
    assert rows.shape == (6, 2 + 2 * 2)
    assert np.array_equal(rows[:, :2], FILTER.run(one.values).rows)
    assert np.array_equal(rows[:, 2:4], SIDE.run(one.past[:, 0]).rows[:, 1:])
    assert np.array_equal(rows[:, 4:], SIDE.run(one.past[:, 1]).rows[:, 1:])
    assert np.array_equal(level, one.values)
