"""Forecasts do not depend on units, levels or the order of series.

Scaling a series scales its forecasts, adding a number adds it, and reordering series reorders their
forecasts; nothing else changes. Rounding can only matter where candidates are tied. So the
validation errors of all candidates are compared first, without exception; forecasts are compared
where both fits chose the same candidates from these errors.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest
from hypothesis import Phase, assume, event, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import eigenecho as ee
from eigenecho.forecasting import selection
from eigenecho.forecasting.prior import NO_PRIOR

SPECTRUM = ee.Spectrum([0.95, 0.5], [0.3 + 0.8j])
TRAITS = ("walk", "week", "counts", "gaps", "late", "late zeros", "constant", "zeros", "short")


class Fit(NamedTuple):
    """A forecaster, the validation errors of all candidates, and the selected ones, best first."""

    forecaster: Any
    errors: dict[Any, float]
    chosen: Any

    @property
    def logarithms(self):
        """Return True if logarithms were tried, or used with the readouts of the prior."""
        fit = self.forecaster.fitted_
        batches = fit.measures.batches(fit.panel, fit.measures.filled)
        has_logarithms = any(batch.has_logarithms.any() for batch in batches)
        by_prior = fit.config.prior is not NO_PRIOR and has_logarithms
        return by_prior or any(key[1].logarithm for key in self.errors)


def candidate_key(candidate):
    view = candidate.view
    side = view.side is not None
    return (
        view.name,
        view.removed,
        side,
        candidate.kind,
        candidate.baseline.kind,
    )


def fitted(y, **options):
    judged, best = [], selection.keep_best

    def recorded(judge, result, *rest):
        judged.extend(result)
        return best(judge, result, *rest)

    with mock.patch.object(selection, "keep_best", recorded), warnings.catch_warnings():
        warnings.simplefilter("ignore", ee.errors.FewRowsWarning)
        forecaster = ee.Forecaster(**options).fit(y)
    members = forecaster.fitted_.ensemble.members
    chosen = [(candidate_key(one), one.ridge) for one in members]
    errors = {candidate_key(one.candidate): one.error for one in judged}
    return Fit(forecaster, errors, chosen)


def predicted(forecaster):
    """Return the forecast and its bounds (series, 3, H), or only the forecast without bounds."""
    fit = forecaster.fitted_
    results = []
    for i, mean in enumerate(fit.forecast(fit.panel, forecaster.horizon)):
        bounds = () if fit.bands is None else fit.quantiles(fit.panel, i, mean, [0.05, 0.95]).T
        results.append(np.vstack([mean, *bounds]))
    return np.array(results)


def drawn(trait, rows, rng):
    """Return a series with a trait; only counts and leading zeros restrict its signs."""
    walk = rng.normal(size=rows).cumsum()
    start = int(rng.integers(rows // 3, rows - 1))
    if trait == "week":
        return np.sin(2 * np.pi * np.arange(rows) / 7) + 0.3 * rng.normal(size=rows)
    if trait == "counts":
        return rng.poisson(2.0, size=rows).astype(float)
    if trait == "gaps":
        return np.where(rng.random(rows) < 0.2, np.nan, walk)
    if trait == "late":
        return np.where(np.arange(rows) < start, walk[start], walk)
    if trait == "late zeros":
        return np.where(np.arange(rows) < start, 0.0, np.exp(walk / 5))
    if trait == "short":
        return np.where(np.arange(rows) < rows - rng.integers(1, 8), np.nan, walk)
    return {"walk": walk, "constant": np.full(rows, walk[0]), "zeros": np.zeros(rows)}[trait]


@st.composite
def panels(draw, fewest=1, signed=False):
    """Draw series of equal length (n, T), with NaN before the start of short ones, and options."""
    traits = draw(st.lists(st.sampled_from(TRAITS), min_size=fewest, max_size=4))
    rows, horizon = draw(st.integers(20, 60)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    y = np.array([drawn(trait, rows, rng) for trait in traits])
    y[:, -1] = np.where(np.isnan(y[:, -1]), 0.5, y[:, -1])
    if not signed and draw(st.booleans()):  # positive, so that logarithms are tried
        y = np.where(y == 0, 0.0, np.exp(y / 5))
    options = {"horizon": horizon, "multivariate": draw(st.booleans())}
    options["strategy"] = draw(st.sampled_from(["auto", "direct", "recursive"]))
    options["spectrum"] = draw(st.sampled_from([None, SPECTRUM]))
    return y, options


def check(plain, other, factors, shifts, order):
    """Check that the other fit has the forecasts of the plain one, rescaled and reordered."""
    assert other.forecaster.seasons_ == plain.forecaster.seasons_
    assert other.errors.keys() == plain.errors.keys()
    expected = [plain.errors[key] for key in other.errors]
    assert_allclose(list(other.errors.values()), expected, rtol=1e-6, atol=1e-9)
    if other.chosen != plain.chosen:
        event("tie")
        return
    event("compared")
    fit = plain.forecaster.fitted_
    assert other.forecaster.fitted_.is_own == fit.is_own
    units = fit.measures.units
    levels = np.array([np.nanmax(np.abs(one.values)) for one in fit.panel.histories])
    size = factors * (1e-6 * units + 1e-9 * (levels + np.abs(shifts)))
    before, after = predicted(plain.forecaster), predicted(other.forecaster)[: len(order)]
    expected = factors[:, None, None] * (before + shifts[:, None, None])
    off = np.abs(after - expected[order])
    # Results of non-negative series end at 0, before or after a shift, which moves their intervals.
    clipped = ((before[order] == 0) | (after == 0)) & (shifts[order] != 0)[:, None, None]
    off[clipped | clipped[:, :1]] = 0
    # Intervals of a series that never changed depend on its level, and on the steps of all series
    # relative to their levels.
    off[((units == 0) & (shifts != 0).any())[order], 1:] = 0
    assert np.all(off <= size[order, None, None])


def scale_case(data):
    y, options = data.draw(panels())
    exact = data.draw(st.booleans())
    powers = [data.draw(st.integers(-60, 60) if exact else st.floats(-30, 30)) for _ in y]
    factors = (2.0 if exact else 10.0) ** np.array(powers)
    one, two = fitted(y.T, **options), fitted((factors[:, None] * y).T, **options)
    check(one, two, factors, np.zeros(len(y)), np.arange(len(y)))
    if exact and not one.logarithms:  # then nothing is rounded differently, so there are no ties
        assert two.chosen == one.chosen
        scaled = factors[:, None, None] * predicted(one.forecaster)
        assert np.array_equal(predicted(two.forecaster), scaled)


def shift_case(data):
    y, options = data.draw(panels(signed=True))
    options["prior"] = data.draw(st.sampled_from(["auto", None]))
    shifts = np.array([data.draw(st.floats(-100, 1 if options["prior"] else 100)) for _ in y])
    one, two = fitted(y.T, **options), fitted((y + shifts[:, None]).T, **options)
    assume(not one.logarithms and not two.logarithms)
    check(one, two, np.ones(len(y)), shifts, np.arange(len(y)))


def order_case(data):
    y, options = data.draw(panels(fewest=2))
    order = np.array(data.draw(st.permutations(range(len(y)))))
    one, two = fitted(y.T, **options), fitted(y[order].T, **options)
    check(one, two, np.ones(len(y)), np.zeros(len(y)), order)


def constants_case(data):
    y, options = data.draw(panels())
    assume(np.any(np.nanmax(y, axis=1) > np.nanmin(y, axis=1)))
    values = data.draw(st.lists(st.sampled_from([0.0, 7.0, -1e9]), min_size=1, max_size=4))
    more = np.vstack([y, *(np.full(y.shape[1], value) for value in values)])
    one, two = fitted(y.T, **options), fitted(more.T, **options)
    check(one, two, np.ones(len(y)), np.zeros(len(y)), np.arange(len(y)))
    result = predicted(two.forecaster)[len(y) :]
    assert np.array_equal(result, np.broadcast_to(np.reshape(values, (-1, 1, 1)), result.shape))


CASES = {
    "scale": scale_case, "shift": shift_case, "order": order_case, "constants": constants_case,
}  # fmt: skip


def many(cases):
    """Return settings for a number of cases of all properties, without the slow shrinking."""
    phases = [Phase.explicit, Phase.reuse, Phase.generate]
    return settings(max_examples=-(-cases // len(CASES)), deadline=None, phases=phases)


@pytest.mark.parametrize("case", CASES)
@many(50)
@given(data=st.data())
def test_forecasts_are_equivariant(case, data):
    CASES[case](data)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@many(2000)
@given(data=st.data())
def test_forecasts_are_equivariant_in_many_cases(case, data):
    CASES[case](data)


# Single cases ---------------------------------------------------------------------------------


def walks(count, rows=40, seed=0):
    return np.random.default_rng(seed).normal(size=(count, rows)).cumsum(axis=1)


@pytest.mark.parametrize("before", [0.0, 5.0])
def test_units_of_a_series_that_changes_late_have_no_effect(before):
    late = np.r_[np.full(30, before), before + walks(1, 10)[0]]
    alone, beside = [], []
    for scale in (1.0, 2.0**10, 2.0**-20):
        alone.append(ee.Forecaster(2).fit(scale * late).predict() / scale)
        others = np.vstack([walks(3, seed=1), scale * late])
        beside.append(ee.Forecaster(2).fit(others.T).predict()[:, :3])
    for one in (alone, beside):
        assert_allclose(one[1], one[0], rtol=1e-9)
        assert_allclose(one[2], one[0], rtol=1e-9)


def test_units_of_a_short_series_starting_with_zero_have_no_effect():
    short, positive = np.r_[0.0, 1.0, 2.0, 1.5, 3.0], np.exp(0.1 * walks(3, 60))
    made = []
    for scale in (1.0, 1e3, 1e-6):
        forecaster = ee.Forecaster(3).fit([*positive, scale * short])
        assert any(member["logarithm"] for member in forecaster.members_)
        made.append(np.array(forecaster.predict()[:3]))
    assert_allclose(made[1], made[0], rtol=1e-9)
    assert_allclose(made[2], made[0], rtol=1e-9)


def test_constant_series_do_not_hide_a_season():
    rng = np.random.default_rng(0)
    weeks = np.sin(2 * np.pi * np.arange(84) / 7) + 0.3 * rng.normal(size=(2, 84))
    alone = ee.Forecaster(5).fit(list(weeks))
    beside = ee.Forecaster(5).fit([*weeks, *[np.full(84, 3.0)] * 8])
    assert alone.seasons_ == beside.seasons_ == (7,)
    assert_allclose(beside.predict()[:2], alone.predict(), rtol=1e-9)
    assert_allclose(beside.expected_error_[:2], alone.expected_error_, rtol=1e-9)


def led(rows, seed, signs):
    """Return a leading series, and noisy series that follow it one row later."""
    rng = np.random.default_rng(seed)
    leader = rng.normal(size=rows + 1).cumsum()
    followers = [sign * leader[:-1] + 0.05 * rng.normal(size=rows) for sign in signs]
    return np.array([leader[1:], *followers])


@pytest.mark.parametrize("signs", [(1, 1, 1, 1), (1, -1, 1, -1)])
def test_multivariate_forecasts_do_not_depend_on_the_order_of_series(signs, tmp_path):
    y, orders = led(120, 0, signs), ([0, 1, 2, 3, 4], [3, 1, 0, 4, 2], [4, 3, 2, 1, 0])
    origins, errors = np.arange(99, 119), []
    for order in orders:
        forecaster = ee.Forecaster(1, multivariate=True).fit(y[order, :100].T)
        made = forecaster.rolling(y[order].T, origins)[:, 0].T
        errors.append(np.abs(made - y[order][:, origins + 1]).mean(axis=1)[np.argsort(order)])
    assert_allclose(errors[1], errors[0], rtol=1e-6)
    assert_allclose(errors[2], errors[0], rtol=1e-6)
    assert errors[0][1:].mean() < 0.07  # the unpredictable noise contributes 0.04
    forecaster.save(tmp_path / "led.safetensors")
    again = ee.load(tmp_path / "led.safetensors")
    assert np.array_equal(again.predict(), forecaster.predict())
