"""The trimmed mean of an ensemble, and the selection and training of its members."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenecho import spectra
from eigenecho.forecasting.baselines import Baseline
from eigenecho.forecasting.candidates import Candidate, Ensemble, direct, train, trimmed_mean
from eigenecho.forecasting.rows import ViewRows
from eigenecho.forecasting.selection import FEWEST, MOST, WORK, keep_best
from eigenecho.forecasting.validation import ScoredCandidate, ValidationData, plan
from eigenecho.forecasting.views import Filter, View
from eigenecho.spectra import Spectrum
from filtered_rows import batch_of

VIEW, LEVEL, H = View("", Filter(Spectrum([0.8], [0.3 + 0.6j]))), Baseline("level"), 3
DIRECT, LOOP = Candidate(VIEW, LEVEL, "direct", 1.0), Candidate(VIEW, LEVEL, "recursive")


def described(candidate):
    return candidate.view, candidate.baseline, candidate.kind, candidate.ridge


def signals(count=1, rows=50):
    rng = np.random.default_rng(0)
    walks = [rng.normal(size=rows).cumsum() for _ in range(count)]
    return [batch_of(y, numbers=np.array([i])) for i, y in enumerate(walks)]


def test_outer_members_are_trimmed():
    made = [np.full((1, 1), value) for value in (1.0, 2.0, 4.0, 5.0, 1e9)]
    assert trimmed_mean(made) == pytest.approx((2 + 4 + 5) / 3)
    assert trimmed_mean(made[:4]) == 3.0  # four members are not trimmed
    assert trimmed_mean(made[:1]) == 1.0


@pytest.mark.parametrize(("count", "left_out"), [(4, 0), (5, 1), (9, 1), (10, 2), (60, 12)])
def test_a_fifth_is_trimmed_on_each_side(count, left_out):
    made = np.random.default_rng(count).normal(size=(count, 4, 3))
    found = trimmed_mean(list(made))
    for place in np.ndindex(4, 3):
        inner = sorted(made[(slice(None), *place)])[left_out : count - left_out]
        assert found[place] == pytest.approx(sum(inner) / len(inner), abs=1e-12)


def test_non_finite_forecasts_are_trimmed_first():
    made = np.array(
        [[1.0, np.nan, np.nan, 5.0], [2.0, 7.0, np.inf, np.inf], [6.0, 3.0, np.nan, -np.inf]]
    )
    assert np.array_equal(
        trimmed_mean(list(made[:, None])), [[3.0, 5.0, np.nan, 5.0]], equal_nan=True
    )


def test_non_finite_values_do_not_affect_other_forecasts():
    rng = np.random.default_rng(0)
    made = [rng.normal(size=(5, 3)) for _ in range(4)]
    spoilt = [one.copy() for one in made]
    spoilt[2][3] = np.inf
    others = np.arange(5) != 3
    assert np.array_equal(trimmed_mean(made)[others], trimmed_mean(spoilt)[others])


def test_candidates_close_to_the_best_are_kept():
    data = ValidationData(signals(), [plan(50, H, 30)])
    errors = [1.0, 1.2, 1.25, 1.29, 1.3, 1.31, 2.0, np.inf]
    found = [ScoredCandidate(DIRECT, [], error) for error in errors]
    kept = [one.error for one in keep_best(data, found[::-1], 50)]
    assert data.blocks == 10
    assert kept == errors[:6]  # within 40% of the best
    assert [one.error for one in keep_best(data, found[6:], 50)] == [2.0]
    assert keep_best(data, found[7:], 50) == []
    few = [ScoredCandidate(DIRECT, [], 1.5 + i / 100) for i in range(9)]
    assert keep_best(data, [found[0], *few], 50) == [found[0]]
    far = [ScoredCandidate(DIRECT, [], 10.0**i) for i in range(9)]
    assert [one.error for one in keep_best(data, far, 50)] == [1.0]  # others are far larger
    assert len(keep_best(data, 99 * far[:1], 50)) == MOST


def test_many_blocks_allow_only_a_small_tolerance():
    data = ValidationData(signals(200), [plan(50, H, 30)] * 200)
    found = [ScoredCandidate(DIRECT, [], error) for error in (1.0, 1.04, 1.049, 1.06)]
    assert [one.error for one in keep_best(data, found, 50)] == [1.0, 1.04, 1.049]


def test_tolerance_is_at_most_three_quarters():
    data = ValidationData(signals(), [plan(50, H, 6)])
    found = [ScoredCandidate(DIRECT, [], error) for error in (1.0, 1.7, 1.74, 1.76)]
    assert data.blocks == 2
    assert [one.error for one in keep_best(data, found, 50)] == [1.0, 1.7, 1.74]


def test_number_of_members_is_limited_by_the_training_cost():
    filter = Filter(spectra.ring(299, sr=0.9))
    alike = []
    for number in range(20):  # two candidates per view share its sums
        view = View(f"view {number}", filter)
        alike += [
            ScoredCandidate(Candidate(view, LEVEL, kind), [], 1.0)
            for kind in ("direct", "recursive")
        ]
    data = ValidationData(signals(), [plan(50, H, 12)])
    for rows, views in ((100_000, 10), (300_000, FEWEST)):
        assert max(int(WORK / (rows * 300)), FEWEST) == views
        assert keep_best(data, alike, rows) == alike[: 2 * views]


def test_training_merges_all_series_in_their_own_units():
    two = signals(2)
    found = train([DIRECT, LOOP], two, [50, 40], H)
    each = []
    for signal, stop in zip(two, [50, 40], strict=True):
        rows = ViewRows.of(VIEW, signal)
        each.append(rows.sums([LEVEL], H, 0, stop, rows.unit(stop)))
    assert_allclose(found.members[0].weights, direct(each[0] + each[1], (1.0,))[0, 0])
    assert found.members[0].own == ()


def test_members_of_a_view_share_its_sums():
    season = Baseline("season", 4)
    other = View("", Filter(Spectrum([0.7])))
    seasonal = Candidate(VIEW, season, "direct", 3.0)
    candidates = [DIRECT, Candidate(other, LEVEL, "direct", 2.0), seasonal, LOOP]
    (signal,) = signals()
    found = train(candidates, [signal], [50], H)
    assert [described(member) for member in found.members] == list(map(described, candidates))
    rows = ViewRows.of(VIEW, signal)
    sums = rows.sums([LEVEL, season], H, 0, 50, rows.unit(50))
    assert_allclose(found.members[0].weights, direct(sums, (1.0,))[0, 0, :, :H])
    assert_allclose(found.members[2].weights, direct(sums, (3.0,))[0, 0, :, H:])
    made = found.forecast(signal, np.array([30]), H, [0])
    each = [
        Ensemble((member,)).forecast(signal, np.array([30]), H, [0]) for member in found.members
    ]
    assert_allclose(made, trimmed_mean(each))


def test_series_use_their_own_weights():
    two = signals(2)
    found = train([DIRECT], two, [50, 50], H, is_own=True)
    origins = np.array([20, 49])
    made = [found.forecast(two[0], origins, H, [series]) for series in (0, 1, None)]
    assert not np.allclose(made[0], made[1])
    assert not np.allclose(made[0], made[2])
    own = found.members[0].own[1]
    assert_allclose(made[1], ViewRows.of(VIEW, two[0]).forecast(LEVEL, own, origins))


def test_diverging_loops_are_omitted():
    growing = [batch_of(2.0 ** np.arange(40))]
    found = train([LOOP, DIRECT], growing, [40], 2000)
    assert [described(member) for member in found.members] == [described(DIRECT)]


def test_longer_horizon_continues_the_loop():
    (signal,) = signals()
    found = train([LOOP], [signal], [50], H).with_horizon(9)
    one = found.members[0].weights[:, 0]
    wanted = VIEW.filter.closed_loop(one, 9)
    assert_allclose(found.members[0].weights, wanted)
    short = Ensemble((replace(DIRECT, weights=wanted),)).with_horizon(2)
    assert np.array_equal(short.members[0].weights, wanted[:, :2])
