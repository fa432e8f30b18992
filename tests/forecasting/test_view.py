"""Views: logarithms, removed effects and past columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenecho.forecasting.baselines import Baseline
from eigenecho.forecasting.rows import ViewRows
from eigenecho.forecasting.signals import RemovedEffects, Signal
from eigenecho.forecasting.views import Filter, View
from eigenecho.spectra import Spectrum
from filtered_rows import all_rows, whole

FILTER, SIDE = Filter(0.0, Spectrum([0.8])), Filter(0.0, Spectrum([0.5, 0.2]))


def signal(rows=6, ahead=2):
    rng = np.random.default_rng(0)
    known, past = rng.normal(size=(rows + ahead, 3)), rng.normal(size=(rows, 2))
    return Signal(np.arange(1.0, rows + 1), np.ones(rows, bool), 0, 5.0, known, past)


def of(values, unit=5.0):
    return Signal(np.array(values), np.ones(len(values), bool), unit=unit)


def test_logarithms_and_back():
    view, y = View("", FILTER, RemovedEffects(True)), np.array([1.0, 20.0, 3e-300])
    assert_allclose(ViewRows.of(view, of(y)).values, np.log(y))
    assert_allclose(of(y).from_logarithms(np.log(y)), y, rtol=1e-12)
    assert np.array_equal(ViewRows.of(View("", FILTER), of(y)).values, y)


def test_values_without_a_logarithm_use_the_last_valid_one():
    y = [-1.0, 0.0, 2.0, 0.0, -5.0, 3.0]
    found = ViewRows.of(View("", FILTER, RemovedEffects(True)), of(y)).values
    assert_allclose(found, np.log([2, 2, 2, 2, 2, 3]))


def test_overflowing_forecasts_are_infinite_without_a_warning():
    found = of([1.0, 2.0]).from_logarithms(np.array([1.0, 701.0, np.nan, -800.0]))
    assert found[0] == pytest.approx(np.e)
    assert np.isinf(found[1])
    assert np.isnan(found[2])
    assert found[3] == 0


def test_known_effects_are_removed_and_restored():
    moved = RemovedEffects(False, known=True)
    one = replace(
        signal(), shifts={moved: np.arange(8.0) * 10, RemovedEffects(False, True, True): None}
    )
    rows = ViewRows.of(View("", FILTER, moved), one)
    assert np.array_equal(rows.values, one.values - 10 * np.arange(6))
    made = rows.forecast(Baseline("level"), np.zeros((2, 2)), np.array([2, 5]))
    assert np.array_equal(made, (rows.values[[2, 5], None]) + [[30.0, 40.0], [60.0, 70.0]])
    plain = ViewRows.of(View("", FILTER), one)
    assert np.array_equal(plain.values, one.values)


def test_side_columns_follow_the_rows_of_the_series():
    one = signal()
    found = ViewRows.of(View("", FILTER, side=SIDE), one)
    rows, past = all_rows(found.rows), 5.0 * one.past  # in units of the series
    assert rows.shape == (6, 2 + 2 * 2)
    assert np.array_equal(rows[:, :2], whole(FILTER.run(one.values))[1])
    assert np.array_equal(rows[:, 2:4], whole(SIDE.run(past[:, 0]))[1][:, 1:])
    assert np.array_equal(rows[:, 4:], whole(SIDE.run(past[:, 1]))[1][:, 1:])
    assert np.array_equal(found.level, one.values)
