"""Forecast origins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenecho.data.origins import origins, together
from eigenecho.data.panel import read

pd = pytest.importorskip("pandas")

DAYS = pd.date_range("2024-03-01", periods=30, tz="Europe/Berlin")
ARRAY = read(np.arange(30.0))
FRAME = read(pd.Series(np.arange(30.0), DAYS))
RAGGED = read([np.arange(30.0), np.arange(12.0)])


@given(T=st.integers(2, 300), horizon=st.integers(1, 50), count=st.integers(1, 20))
def test_origins_are_evenly_spaced_at_the_end(T, horizon, count):
    panel = read(np.arange(float(T)))
    if horizon + count > T:
        with pytest.raises(ValueError, match=r"origins[=:]"):
            origins(panel, count, horizon)
        return
    (rows,) = origins(panel, count, horizon)
    assert len(rows) == count
    assert rows[-1] == T - 1 - horizon
    assert rows[0] >= 0
    apart = np.unique(np.diff(rows))
    assert len(apart) <= 1
    assert all(1 <= step <= horizon for step in apart)
    # The first half is used for training if possible.
    assert rows[0] >= T // 2 or (apart == 1).all()


def test_series_of_a_list_have_their_own_origins():
    one, other = origins(RAGGED, 2, 3)
    assert (one.tolist(), other.tolist()) == ([23, 26], [7, 8])


def test_rows_and_times():
    assert origins(ARRAY, [3, 7, 29], 5)[0].tolist() == [3, 7, 29]
    assert origins(ARRAY, np.array([3]), 5)[0].tolist() == [3]
    times = ["2024-03-04", pd.Timestamp("2024-03-05", tz="Europe/Berlin"), 7]
    assert origins(FRAME, times, 5)[0].tolist() == [3, 4, 7]
    assert origins(FRAME, DAYS[[2, 9]], 5)[0].tolist() == [2, 9]
    assert origins(FRAME, pd.Timestamp("2024-03-04"), 5)[0].tolist() == [3]
    periods = read(pd.Series(np.arange(9.0), pd.period_range("2024-01", periods=9, freq="M")))
    assert origins(periods, ["2024-03", pd.Period("2024-09", "M")], 5)[0].tolist() == [2, 8]


@pytest.mark.parametrize(
    ("panel", "given", "words"),
    [
        (ARRAY, 0, "from 1 to 26"),
        (ARRAY, 27, r"from 1 to 26, because 4 rows .* only 30 rows\."),
        (RAGGED, 10, r"from 1 to 8, because 4 rows .* only 12 rows in series 1\."),
        (ARRAY, [], "at least one"),
        (ARRAY, [30], "row numbers from 0 to 29"),
        (ARRAY, [-1], "row numbers from 0 to 29"),
        (RAGGED, [12], "row numbers from 0 to 11, or times of existing rows in series 1"),
        (ARRAY, [1.5], "row numbers"),
        (ARRAY, [True], "row numbers"),
        (ARRAY, ["2024-03-01"], "row numbers"),
        (ARRAY, True, "row numbers"),
        (FRAME, ["2024-02-01"], "times of existing rows"),
        (FRAME, ["2024-03-04 12:00"], "times of existing rows"),
        (FRAME, ["nonsense"], "times of existing rows"),
        (FRAME, [None], "times of existing rows"),
        (FRAME, [np.nan], "times of existing rows"),
        (read(pd.Series(np.ones(5))), ["2024-01-01"], "times of existing rows"),
    ],
)
def test_invalid_origins(panel, given, words):
    with pytest.raises(ValueError, match=f"Invalid origins.*{words}"):
        origins(panel, given, 4)


def test_number_of_rows_after_an_origin():
    assert together(ARRAY, [25], 4).tolist() == [[25]]
    with pytest.raises(ValueError, match=r"origins=26.* from 0 to 25.* 4 later rows"):
        together(ARRAY, [26], 4)
