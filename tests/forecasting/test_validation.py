"""Validation rows come after the rows to train on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenecho.forecasting.validation import LEAST, ORIGINS, fewest, plan


@given(st.integers(1, 9000), st.integers(1, 4500), st.one_of(st.none(), st.integers(1, 3000)))
def test_no_origin_uses_later_training_rows(rows, horizon, judged):
    made = plan(rows, horizon, judged)
    if made is None:
        assert rows < 2 * horizon + LEAST or rows < horizon + 2 * LEAST
        return
    folds = made.origins_by_fold
    # Each origin is in exactly one fold, in order.
    assert np.array_equal(np.concatenate(folds), made.origins)
    assert np.all(np.diff(made.origins) > 0)
    assert len(made.origins) <= ORIGINS
    # Training targets of a fold end before its stop, and its origins come after them.
    for stop, origins in zip(made.stops, folds, strict=True):
        assert np.all(origins >= stop - 1)
    # All steps of all origins have targets.
    assert made.origins.max() + horizon == rows - 1
    # There are enough training rows.
    assert made.stops[0] >= horizon + LEAST
    assert made.blocks == (rows - made.stops[0]) / horizon >= 1


@given(st.integers(1, 300), st.one_of(st.none(), st.integers(1, 900)))
def test_minimum_number_of_rows_for_a_plan(horizon, judged):
    rows = fewest(horizon)
    assert plan(rows, horizon, judged) is not None
    assert plan(rows - 1, horizon, judged) is None


def test_validation_split_has_the_requested_size():
    made = plan(200, 5, 40)
    assert made.stops == (160, 160)
    assert made.kept == 160
    assert made.origins[0] == 159
    assert plan(200, 5, 1).kept == 195  # at least one horizon


@pytest.mark.parametrize(("rows", "stop"), [(300, 200), (60, 40), (40, 20)])
def test_validation_split_is_a_third_or_four_horizons(rows, stop):
    assert plan(rows, 5).stops[0] == stop


def test_long_series_use_more_validation_rows_than_requested():
    assert plan(2999, 300, 600).stops == (2399, 2399)
    made = plan(4000, 300, 600)
    assert made.stops == (2000, 3400)  # eight horizons would exceed half of the rows
    assert made.kept == 3400
    assert plan(8000, 300, 600).stops == (5600, 7400)
    assert plan(8000, 300, 3000).stops == (5000, 5000)  # ten horizons are enough
    assert plan(4000, 300).stops[0] == 2000


def test_horizon_of_nearly_half_a_long_series_leaves_training_rows():
    assert plan(3000, 1495).stops[0] == 1495 + LEAST
