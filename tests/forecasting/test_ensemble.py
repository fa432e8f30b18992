"""The trimmed mean of members, their selection and their training."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenecho import spectra
from eigenecho.forecasting.base import Base
from eigenecho.forecasting.candidates import Candidate, ScoredCandidate, ValidationData
from eigenecho.forecasting.ensemble import FEWEST, MOST, WORK, Ensemble, Member, best, middle, train
from eigenecho.forecasting.filter import Filter
from eigenecho.forecasting.multi_step_readout import direct
from eigenecho.forecasting.plan import plan
from eigenecho.forecasting.rows import Rows
from eigenecho.forecasting.signal import bridged
from eigenecho.forecasting.view import View
from eigenecho.spectra import Spectrum

VIEW, LEVEL, H = View("", Filter(0.0, Spectrum([0.8], [0.3 + 0.6j]))), Base("level"), 3
DIRECT, LOOP = Candidate(VIEW, LEVEL, "direct", 1.0), Candidate(VIEW, LEVEL, "recursive")


def signals(count=1, rows=50):
    rng = np.random.default_rng(0)
    return [bridged(rng.normal(size=rows).cumsum()).with_unit() for _ in range(count)]


def test_outer_members_are_trimmed():
    made = [np.full((1, 1), value) for value in (1.0, 2.0, 4.0, 5.0, 1e9)]
    assert middle(made) == pytest.approx((2 + 4 + 5) / 3)
    assert middle(made[:4]) == 3.0  # four members are not trimmed
    assert middle(made[:1]) == 1.0


@pytest.mark.parametrize(("count", "left_out"), [(4, 0), (5, 1), (9, 1), (10, 2), (60, 12)])
def test_a_fifth_is_trimmed_on_each_side(count, left_out):
    made = np.random.default_rng(count).normal(size=(count, 4, 3))
    result = middle(list(made))
    for place in np.ndindex(4, 3):
        inner = sorted(made[(slice(None), *place)])[left_out : count - left_out]
        assert result[place] == pytest.approx(sum(inner) / len(inner), abs=1e-12)


def test_non_finite_forecasts_are_trimmed_first():
    made = np.array(
        [[1.0, np.nan, np.nan, 5.0], [2.0, 7.0, np.inf, np.inf], [6.0, 3.0, np.nan, -np.inf]]
    )
    assert np.array_equal(middle(list(made[:, None])), [[3.0, 5.0, np.nan, 5.0]], equal_nan=True)


def test_non_finite_values_do_not_affect_other_forecasts():
    rng = np.random.default_rng(0)
    made = [rng.normal(size=(5, 3)) for _ in range(4)]
    spoilt = [one.copy() for one in made]
    spoilt[2][3] = np.inf
    assert np.array_equal(np.delete(middle(made), 3, 0), np.delete(middle(spoilt), 3, 0))


def test_candidates_close_to_the_best_are_kept():
    judge = ValidationData.of(signals(), [plan(50, H, 30)], [0])
    errors = [1.0, 1.2, 1.25, 1.29, 1.3, 1.31, 2.0, np.inf]
    results = [ScoredCandidate(DIRECT, [], error) for error in errors]
    kept = [one.error for one in best(judge, results[::-1], 50)]
    assert judge.blocks == 10
    assert kept == errors[:6]  # within 40 % of the best
    assert [one.error for one in best(judge, results[6:], 50)] == [2.0]
    assert best(judge, results[7:], 50) == []
    few = [ScoredCandidate(DIRECT, [], 1.5 + i / 100) for i in range(9)]
    assert best(judge, [results[0], *few], 50) == [results[0]]
    far = [ScoredCandidate(DIRECT, [], 10.0**i) for i in range(9)]
    assert [one.error for one in best(judge, far, 50)] == [1.0]  # the other errors are far larger
    assert len(best(judge, 99 * far[:1], 50)) == MOST


def test_many_blocks_allow_only_a_small_tolerance():
    judge = ValidationData.of(signals(200), [plan(50, H, 30)] * 200, list(range(200)))
    results = [ScoredCandidate(DIRECT, [], error) for error in (1.0, 1.04, 1.049, 1.06)]
    assert [one.error for one in best(judge, results, 50)] == [1.0, 1.04, 1.049]


def test_tolerance_is_at_most_three_quarters():
    judge = ValidationData.of(signals(), [plan(50, H, 6)], [0])
    results = [ScoredCandidate(DIRECT, [], error) for error in (1.0, 1.7, 1.74, 1.76)]
    assert judge.blocks == 2
    assert [one.error for one in best(judge, results, 50)] == [1.0, 1.7, 1.74]


def test_number_of_members_is_limited_by_the_training_cost():
    filter = Filter(0.0, spectra.ring(299, sr=0.9))
    alike = []
    for _ in range(20):  # two candidates per view share its sums
        view = View("", filter)
        alike += [
            ScoredCandidate(Candidate(view, LEVEL, kind), [], 1.0)
            for kind in ("direct", "recursive")
        ]
    judge = ValidationData.of(signals(), [plan(50, H, 12)], [0])
    for rows, views in ((100_000, 10), (300_000, FEWEST)):
        assert max(int(WORK / (rows * 300)), FEWEST) == views
        assert best(judge, alike, rows) == alike[: 2 * views]


def test_training_merges_all_series_in_their_own_units():
    two = signals(2)
    result = train([DIRECT, LOOP], two, [50, 40], H)
    each = []
    for signal, stop in zip(two, [50, 40], strict=True):
        rows = Rows.of(VIEW, signal)
        each.append(rows.sums([LEVEL], H, 0, stop, rows.unit(stop)))
    assert_allclose(result.members[0].weights, direct(each[0].merge(each[1]), (1.0,))[0])
    assert result.members[0].own == ()
    assert result.horizon == H


def test_members_of_a_view_share_its_sums():
    season = Base("season", 4)
    other = View("", Filter(2.0, Spectrum([0.7])))
    seasonal = Candidate(VIEW, season, "direct", 3.0)
    candidates = [DIRECT, Candidate(other, LEVEL, "direct", 2.0), seasonal, LOOP]
    (signal,) = signals()
    result = train(candidates, [signal], [50], H)
    assert [member.candidate for member in result.members] == candidates
    rows = Rows.of(VIEW, signal)
    sums = rows.sums([LEVEL, season], H, 0, 50, rows.unit(50))
    assert_allclose(result.members[0].weights, direct(sums, (1.0,))[0][:, :H])
    assert_allclose(result.members[2].weights, direct(sums, (3.0,))[0][:, H:])
    made = result.forecast(signal, np.array([30]))
    each = [Ensemble((member,)).forecast(signal, np.array([30])) for member in result.members]
    assert_allclose(made, middle(each))


def test_series_use_their_own_weights():
    two = signals(2)
    result = train([DIRECT], two, [50, 50], H, pull=30.0)
    origins = np.array([20, 49])
    made = [result.forecast(two[0], origins, series) for series in (0, 1, None)]
    assert not np.allclose(made[0], made[1])
    assert not np.allclose(made[0], made[2])
    own = result.members[0].own[1]
    assert_allclose(made[1], Rows.of(VIEW, two[0]).forecast(LEVEL, own, origins))


def test_diverging_loops_are_omitted():
    growing = [bridged(2.0 ** np.arange(40))]
    result = train([LOOP, DIRECT], growing, [40], 2000)
    assert [member.candidate for member in result.members] == [DIRECT]


def test_longer_horizon_continues_the_loop():
    (signal,) = signals()
    actual = train([LOOP], [signal], [50], H).lasting(9)
    one = actual.members[0].weights[:, 0]
    expected = VIEW.filter.closed_loop(one, 9)
    assert_allclose(actual.members[0].weights, expected)
    assert actual.horizon == 9
    short = Ensemble((Member(DIRECT, expected),)).lasting(2)
    assert np.array_equal(short.members[0].weights, expected[:, :2])
