"""Views of a series: values or logarithms, removed effects, and side columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenecho.forecasting.base import Base
from eigenecho.forecasting.filter import Filter
from eigenecho.forecasting.rows import Rows
from eigenecho.forecasting.signal import RemovedEffects, Signal
from eigenecho.forecasting.view import View
from eigenecho.spectra import Spectrum
from trails import whole

FILTER, SIDE = Filter(0.0, Spectrum([0.8])), Filter(0.0, Spectrum([0.5, 0.2]))


def signal(rows=6, ahead=2):
    rng = np.random.default_rng(0)
    known, past = rng.normal(size=(rows + ahead, 3)), rng.normal(size=(rows, 2))
    return Signal(np.arange(1.0, rows + 1), np.ones(rows, bool), 0, 5.0, known, past)


def of(values, unit=5.0):
    return Signal(np.array(values), np.ones(len(values), bool), unit=unit)


def test_logarithms_and_back():
    view, y = View("", FILTER, RemovedEffects(True)), np.array([1.0, 20.0, 3e-300])
    assert_allclose(view.seen(of(y)), np.log(y))
    assert_allclose(view.undone(view.seen(of(y))), y, rtol=1e-12)
    assert np.array_equal(View("", FILTER).seen(of(y)), y)


def test_values_without_a_logarithm_use_the_last_valid_one():
    result = View("", FILTER, RemovedEffects(True)).seen(of([-1.0, 0.0, 2.0, 0.0, -5.0, 3.0]))
    assert_allclose(result, np.log([2, 2, 2, 2, 2, 3]))


def test_overflowing_forecasts_are_infinite_without_a_warning():
    result = View("", FILTER, RemovedEffects(True)).undone(np.array([1.0, 701.0, np.nan, -800.0]))
    assert result[0] == pytest.approx(np.e)
    assert np.isinf(result[1])
    assert np.isnan(result[2])
    assert result[3] == 0


def test_known_effects_are_removed_and_restored():
    moved = RemovedEffects(False, known=True)
    shifted = replace(
        signal(), shifts={moved: np.arange(8.0) * 10, RemovedEffects(False, True, True): None}
    )
    rows = Rows.of(View("", FILTER, moved), shifted)
    assert np.array_equal(rows.values, shifted.values - 10 * np.arange(6))
    made = rows.forecast(Base("level"), np.zeros((2, 2)), np.array([2, 5]))
    assert np.array_equal(made, (rows.values[[2, 5], None]) + [[30.0, 40.0], [60.0, 70.0]])
    plain = Rows.of(View("", FILTER), shifted)
    assert np.array_equal(plain.values, shifted.values)


def test_side_columns_follow_the_rows_of_the_series():
    shifted = signal()
    level, rows = whole(View("", FILTER, side=SIDE).run(shifted.values, shifted.past))
    assert rows.shape == (6, 2 + 2 * 2)
    assert np.array_equal(rows[:, :2], whole(FILTER.run(shifted.values))[1])
    assert np.array_equal(rows[:, 2:4], whole(SIDE.run(shifted.past[:, 0]))[1][:, 1:])
    assert np.array_equal(rows[:, 4:], whole(SIDE.run(shifted.past[:, 1]))[1][:, 1:])
    assert np.array_equal(level, shifted.values)
