"""Validation rows come after the rows to train on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenecho.forecasting.validation import LEAST, ORIGINS, fewest, plan


@given(st.integers(1, 9000), st.integers(1, 4500), st.one_of(st.none(), st.integers(1, 3000)))
def test_no_origin_is_trained_on_rows_after_it(rows, horizon, judged):
    made = plan(rows, horizon, judged)
    if made is None:
        assert rows < 2 * horizon + LEAST or rows < horizon + 2 * LEAST
        return
    folds = [made.origins[made.fold(i)] for i in range(len(made.stops))]
    # Each origin in one fold, none lost, in order.
    assert np.array_equal(np.concatenate(folds), made.origins)
    assert np.all(np.diff(made.origins) > 0)
    assert len(made.origins) <= ORIGINS
    # Targets that a fold is trained on end before its stop; its origins have seen all of those.
    for stop, origins in zip(made.stops, folds, strict=True):
        assert np.all(origins >= stop - 1)
    # All steps of all origins are there.
    assert made.origins.max() + horizon == rows - 1
    # Enough is left to train on.
    assert made.stops[0] >= horizon + LEAST
    assert made.blocks == (rows - made.stops[0]) / horizon >= 1


@given(st.integers(1, 300), st.one_of(st.none(), st.integers(1, 900)))
def test_the_fewest_rows_that_there_is_a_plan_for(horizon, judged):
    rows = fewest(horizon)
    assert plan(rows, horizon, judged) is not None
    assert plan(rows - 1, horizon, judged) is None


def test_so_many_rows_judge_as_are_asked_for():
    made = plan(200, 5, 40)
    assert made.stops == (160, 160)
    assert made.kept == 160
    assert made.origins[0] == 159
    assert plan(200, 5, 1).kept == 195  # a horizon at least


@pytest.mark.parametrize(("rows", "stop"), [(300, 200), (60, 40), (40, 20)])
def test_a_third_judges_or_four_horizons(rows, stop):
    assert plan(rows, 5).stops[0] == stop


def test_of_long_series_rows_before_those_asked_for_judge_too():
    assert plan(2999, 300, 600).stops == (2399, 2399)
    made = plan(4000, 300, 600)
    assert made.stops == (2000, 3400)  # eight horizons would be more than half
    assert made.kept == 3400
    assert plan(8000, 300, 600).stops == (5600, 7400)
    assert plan(8000, 300, 3000).stops == (5000, 5000)  # ten horizons are enough
    assert plan(4000, 300).stops[0] == 2000


def test_a_horizon_of_nearly_half_a_long_series_leaves_rows_to_train_on():
    assert plan(3000, 1495).stops[0] == 1495 + LEAST
