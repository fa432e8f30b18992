"""Signals of a panel and their units."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenecho.data.panel import read
from eigenecho.forecasting.signals import KnownColumns, Measures


def steps(values):
    return np.sqrt(np.mean(np.diff(values) ** 2))


def in_units(signal):
    """Return the past columns in units of the series."""
    return signal.past * signal.unit


@pytest.fixture
def y():
    return np.random.default_rng(0).normal(size=(30, 3)).cumsum(axis=0) * [1, 10, 100]


def test_unit_of_a_series_comes_from_its_own_rows(y):
    measures = Measures.of(read(y), 1, multivariate=False)
    for i, signal in enumerate(measures.signals(read(5 * y[:, :2]))):
        assert measures.units[i] == pytest.approx(steps(y[:, i]))
        assert signal.unit == pytest.approx(5 * measures.units[i])


def test_unit_of_a_series_comes_from_known_rows(y):
    measures = Measures.of(read(y[:, :1]), 1, multivariate=False)
    panel = read(y)
    plain = measures.unscaled(panel)
    assert measures.scaled(panel, plain, 2, 15).unit == pytest.approx(steps(y[:15, 2]))
    assert measures.signals(panel)[2].unit == pytest.approx(steps(y[:, 2]))


def test_unit_of_an_unchanged_series_comes_from_the_fit(y):
    y = np.column_stack([y, np.full(30, 7.0)])
    measures = Measures.of(read(y), 1, multivariate=False)
    panel = read(np.full((4, 5), 3.0))
    found = measures.signals(panel)
    assert [one.unit for one in found[:3]] == [measures.units[i] for i in range(3)]
    assert found[4].unit == measures.units[1]  # the median unit of the moving series
    assert found[3].is_constant  # constant in the fit, too
    assert not any(one.is_constant for one in (*found[:3], found[4]))


def test_units_of_other_series_come_from_known_rows(y):
    panel = read(y)
    measures = Measures.of(read(9 * y), 1, multivariate=True)
    signal = measures.scaled(panel, measures.unscaled(panel), 1, 15)
    wanted = (y[:, 2] - y[0, 2]) / steps(y[:15, 2]) * steps(y[:15, 1])
    assert_allclose(in_units(signal)[:, 1], wanted)


def test_known_future_columns_continue_past_columns(y):
    X = np.random.default_rng(1).normal(size=(34, 2))
    y[:4, 0] = np.nan
    panel = read(y[:, 0], X[:30])
    measures = Measures.of(panel, 1, multivariate=False)
    (signal,) = measures.unscaled(panel, ahead=[X[30:]])
    assert signal.start == 4
    assert_allclose(signal.known, KnownColumns.of([X[:30]]).features(X)[4:])
    assert len(signal) == 26


def test_side_columns_are_relative_to_the_first_row_in_units_of_the_series(y):
    X = np.random.default_rng(1).normal(size=(30, 1)) * 50
    panel = read(y, X, past=[0])
    measures = Measures.of(panel, 1, multivariate=True)
    signal = measures.signals(panel)[1]
    unit = steps(y[:, 1])
    assert signal.past.shape == (30, 3)
    assert_allclose(in_units(signal)[:, 0], (X[:, 0] - X[0, 0]) / steps(X[:, 0]) * unit)
    for column, other in ((1, 0), (2, 2)):
        moved = (y[:, other] - y[0, other]) / steps(y[:, other]) * unit
        assert_allclose(in_units(signal)[:, column], moved, atol=1e-9 * unit)


def test_side_columns_of_logarithms_have_their_units(y):
    X = np.random.default_rng(1).normal(size=(30, 1)) * 50
    grown = np.exp(0.1 * y[:, 0])
    for factor in (1.0, 1e6):
        panel = read(factor * grown, X, past=[0])
        (signal,) = Measures.of(panel, 1, multivariate=False).signals(panel)
        wanted = (X - X[0]) / steps(X[:, 0]) * steps(0.1 * y[:, 0])
        assert_allclose(signal.past * signal.growth, wanted)


def test_constant_series_has_no_effect_on_others(y):
    y[:, 0] = 5.0
    measures = Measures.of(read(y), 1, multivariate=True)
    y[25:, 0] = 7.0  # after the known rows
    panel = read(y)
    signal = measures.scaled(panel, measures.unscaled(panel), 1, 20)
    assert np.all(np.abs(signal.past[:, 0]) < 1e-200)


def test_constant_series_do_not_affect_the_scale_of_columns(y):
    X = np.random.default_rng(1).normal(size=(30, 2))
    alone = Measures.of(read([y[:, 0]], [X], past=[1]), 1, multivariate=False)
    both = Measures.of(
        read([y[:, 0], np.full(30, 5.0)], [X, 100 * X], past=[1]), 1, multivariate=False
    )
    assert np.array_equal(both.known.scale, alone.known.scale)
    assert np.array_equal(both.past, alone.past)


def test_single_varying_series_is_not_multivariate(y):
    y[:, 1:] = 5.0
    assert not Measures.of(read(y), 1, multivariate=True).multivariate


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_step_of_logarithms_does_not_depend_on_units(y, scale):
    grown = np.r_[0.0, np.exp(0.1 * y[:, 0])]
    offset = np.log(grown + grown[1:].min())
    for values, step in ((grown, steps(offset)), (-grown, scale * steps(grown))):
        panel = read(scale * values)
        (signal,) = Measures.of(panel, 1, multivariate=False).signals(panel)
        assert signal.growth == pytest.approx(step)


def test_series_is_zero_before_its_first_observation(y):
    y[:7, 0] = np.nan
    panel = read(y)
    signal = Measures.of(panel, 1, multivariate=True).signals(panel)[1]
    assert np.all(in_units(signal)[:8, 0] == 0)
    assert np.all(in_units(signal)[8:, 0] != 0)


def test_constant_columns_cause_no_division_by_zero():
    panel = read(np.ones(9), np.ones((9, 2)), past=[1])
    measures = Measures.of(panel, 1, multivariate=False)
    (signal,) = measures.signals(panel)
    assert signal.unit == 1.0
    assert np.all(signal.known == 0)
    assert np.all(signal.past == 0)


def test_past_columns_are_zero_before_their_first_value(y):
    X = np.random.default_rng(1).normal(size=(30, 2)) + 1e6
    X[:9, 0], X[:2, 1], y[:5, 0] = np.nan, np.nan, np.nan
    panel = read(y[:, 0], X, past=[0, 1])
    measures = Measures.of(panel, 1, multivariate=False)
    assert_allclose(measures.past, [steps(X[9:, 0]), steps(X[2:, 1])])
    (signal,) = measures.signals(panel)
    unit = steps(y[5:, 0])
    assert np.all(in_units(signal)[:5, 0] == 0)  # the series begins at row 5
    assert_allclose(in_units(signal)[4:, 0], (X[9:, 0] - X[9, 0]) / steps(X[9:, 0]) * unit)
    assert_allclose(in_units(signal)[:, 1], (X[5:, 1] - X[5, 1]) / steps(X[2:, 1]) * unit)


def test_gaps_are_filled_by_the_season(y):
    y[20, 0] = np.nan
    panel = read(y[:, 0])
    (signal,) = Measures.of(panel, 7, multivariate=False).signals(panel)
    grown = y[12:14, 0] + 7 * (y[19, 0] - y[0, 0]) / 19
    assert signal.values[20] == pytest.approx(grown[1] + 0.7 * (y[19, 0] - grown[0]))
