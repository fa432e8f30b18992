"""The prior of short series: compare modes, weights and readouts with loops."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import eigenecho as ee
import make_prior
from eigenecho.errors import FewRowsWarning
from eigenecho.forecasting.baselines import Baseline
from eigenecho.forecasting.prior import (
    NO_PRIOR,
    POWER,
    PULL,
    SIZE,
    TIME_CONSTANTS,
    Mixture,
    Prior,
    default_prior,
    fit_prior,
    seasonal_profile,
    weighted_steps,
)
from filtered_rows import batch_of

pytestmark = pytest.mark.numerics
Y = 50 + np.random.default_rng(0).normal(size=24).cumsum()
SIGNED = Y - 50


def quiet(y, horizon=3, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewRowsWarning)
        return ee.Forecaster(horizon, **options).fit(y)


def signal(y):
    return batch_of(y)


def mixed(prior, y, rows=None, horizon=3, season=1):
    rows = len(y) if rows is None else rows
    return Mixture.of(prior, signal(y), rows, horizon, season, horizon)


def by_loop(y, t, tau):
    """Return the weighted mean of the steps up to row t."""
    total = weights = 0.0
    for j in range(t):
        a = (j == 0) if tau == 0 else np.exp(-j / tau)
        total += a * (y[t - j] - y[t - j - 1])
        weights += a
    return total / weights if weights else 0.0


def test_modes_are_weighted_means_of_steps():
    expected = [[by_loop(Y, t, tau) for tau in TIME_CONSTANTS] for t in range(len(Y))]
    assert_allclose(weighted_steps(Y[None])[0], expected, rtol=1e-9, atol=1e-12)


def test_a_single_row_has_no_steps():
    assert np.array_equal(weighted_steps(Y[None, :1]), np.zeros((1, 1, SIZE)))


def test_simple_methods_are_weighted_by_past_errors():
    mixture = mixed(NO_PRIOR, SIGNED, season=4)
    kinds = ["level", "drift", "damped", "mean", "season", "growth"]
    assert [baseline.kind for baseline, _ in mixture.baselines] == kinds
    losses = []
    for kind in kinds:
        errors = []
        for t in range(5, len(SIGNED) - 1):
            made = Baseline(kind, 4).forecast(SIGNED[None], np.array([t]), 3)[0, 0]
            for h in range(1, min(3, len(SIGNED) - 1 - t) + 1):
                errors.append(abs(made[h - 1] - SIGNED[t + h]) / np.sqrt(h))
        losses.append(np.mean(errors))
    weights = np.array(losses) ** -POWER
    assert_allclose([w[0] for _, w in mixture.baselines], weights / weights.sum(), rtol=1e-9)


@pytest.mark.parametrize("prior", ["auto", None])
@pytest.mark.parametrize("rows", [2, 3, 4, 5])
def test_a_few_rows_are_hardly_extrapolated(rows, prior):
    errors = []
    for seed in range(20):
        y = 50 + 5 * np.random.default_rng(seed).normal(size=rows + 6)
        made = quiet(y[:rows], horizon=6, prior=prior).predict()
        errors.append([np.abs(y[rows:] - made).mean(), np.abs(y[rows:] - y[rows - 1]).mean()])
    error, error_of_last_value = np.mean(errors, axis=0)
    assert error < 1.2 * error_of_last_value
    jump = quiet([1.0, 1000.0], horizon=8, prior=prior).predict()
    assert_allclose(jump, 1000, rtol=1e-6)


def test_readouts_are_corrected_by_the_rows_of_the_series():
    rng = np.random.default_rng(1)
    prior = Prior(rng.normal(size=(SIZE, 2)) / 10, np.zeros((0, 1)))
    ((view, W, _),) = mixed(prior, SIGNED, horizon=2).readouts
    unit = np.sqrt(np.mean(np.diff(SIGNED) ** 2))
    x = weighted_steps(SIGNED[None])[0] / unit
    for h in (1, 2):
        A, b = PULL * np.sqrt(h) * np.eye(SIZE), PULL * np.sqrt(h) * prior.values[:, h - 1]
        for t in range(1, len(SIGNED) - h):
            A += np.outer(x[t], x[t])
            b += x[t] * (SIGNED[t + h] - SIGNED[t]) / unit
        assert_allclose(W[0, :, h - 1], np.linalg.solve(A, b), rtol=1e-7, atol=1e-9)
    assert view.removed.logarithm is False


def test_later_rows_have_no_effect():
    rng = np.random.default_rng(2)
    forecaster = quiet(Y[:15], horizon=4)
    for _ in range(200):
        y, rows = rng.normal(size=30).cumsum(), int(rng.integers(1, 29))
        y = np.exp(y / 10) if rng.random() < 0.5 else y
        other = np.r_[y[:rows], rng.normal(size=30 - rows) * 100]
        made = [forecaster.rolling(values, [rows - 1]) for values in (y, other, y[:rows])]
        assert np.array_equal(made[0], made[1])
        assert np.array_equal(made[0], made[2])


def test_forecasts_scale_with_the_series():
    for y in (Y, SIGNED, np.r_[np.zeros(5), Y[:19]]):
        plain = quiet(y).predict(interval=0.9)
        assert_allclose(quiet(1e6 * y).predict(interval=0.9), 1e6 * np.array(plain), rtol=1e-9)


def test_adding_a_number_adds_it_without_logarithms():
    assert_allclose(quiet(SIGNED - 9).predict(), quiet(SIGNED).predict() - 9, rtol=1e-9)
    made = quiet(SIGNED[:15] + 1e3, prior=None).predict()
    assert_allclose(made, quiet(SIGNED[:15], prior=None).predict() + 1e3, rtol=1e-9)


def test_shorter_horizons_are_a_part_of_longer_ones():
    forecaster = quiet(Y[:20], horizon=6)
    assert_allclose(forecaster.predict(2), forecaster.predict()[:2])


def test_update_equals_a_fit_on_all_rows():
    forecaster = quiet(Y[:15], horizon=6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewRowsWarning)
        forecaster.update(Y[15:20])
    assert_allclose(forecaster.predict(), quiet(Y[:20], horizon=6).predict())


def test_a_panel_can_be_the_prior(tmp_path):
    rng = np.random.default_rng(3)
    # Increments repeat, which simple methods do not know.
    steps = rng.normal(size=(60, 80))
    corpus = [np.repeat(s, 2).cumsum() for s in steps]
    short = np.repeat(rng.normal(size=9), 2).cumsum()[:17]
    panel = quiet(list(corpus), horizon=1)
    borrowed = quiet(short, horizon=1, prior=panel)
    truth = short[-1] + (short[-1] - short[-2])
    assert abs(borrowed.predict()[0] - truth) < abs(quiet(short, horizon=1).predict()[0] - truth)
    borrowed.save(tmp_path / "file")
    again = ee.load(tmp_path / "file")
    assert np.array_equal(again.predict(), borrowed.predict())
    assert isinstance(again.prior, Prior)


def test_readouts_of_a_corpus_recover_its_law():
    """A random walk whose step is half of the last one, plus noise."""
    rng = np.random.default_rng(4)
    corpus = []
    for _ in range(20):
        steps = np.zeros(200)
        for t in range(1, 200):
            steps[t] = 0.5 * steps[t - 1] + rng.normal()
        corpus.append(batch_of(steps.cumsum()))
    prior = fit_prior(corpus, 3)
    assert prior.values.shape == (SIZE, 3)
    x = weighted_steps(corpus[0].values)[0, 100:]
    last = np.diff(corpus[0].values[0])[99:]
    ahead = x @ prior.values
    assert np.corrcoef(ahead[:, 0], 0.5 * last)[0, 1] > 0.98
    assert np.corrcoef(ahead[:, 2], 0.875 * last)[0, 1] > 0.95


def test_a_corpus_may_contain_series_that_repeat_their_season():
    rng = np.random.default_rng(5)
    others = [signal(rng.normal(size=40).cumsum()) for _ in range(3)]
    exact = [signal(np.tile([1.0, 2.0, 3.0, 4.0], 10)), signal(np.tile([1.1, 2.3, 3.7, 0.3], 10))]
    expected, prior = fit_prior(others, 3, 4), fit_prior(others + exact, 3, 4)
    assert np.array_equal(prior.values, expected.values)


@pytest.mark.parametrize("start", [np.zeros(80), np.zeros(1)])
def test_a_corpus_may_contain_series_that_rarely_change(start):
    rng = np.random.default_rng(6)
    ends = [rng.poisson(3, 20) if len(start) > 1 else np.full(20, 1.0 + i) for i in range(5)]
    prior = fit_prior([signal(np.append(start, end)) for end in ends], 3)
    assert np.isfinite(prior.values).all()


def test_default_prior_is_that_of_the_synthetic_series(monkeypatch):
    monkeypatch.setattr(make_prior, "SERIES", 30)
    first, again = make_prior.corpus(), make_prior.corpus()
    assert all(map(np.array_equal, first, again))
    prior = default_prior()
    assert prior.values.shape == prior.logarithms.shape == (8 * SIZE, make_prior.HORIZON)


@pytest.mark.slow
def test_default_prior_can_be_rebuilt():
    prior = make_prior.fitted_prior(make_prior.corpus())
    assert_allclose(prior.values, default_prior().values, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("prior", ["none", 3, ee.LinearESN(), True])
def test_invalid_priors(prior):
    with pytest.raises(
        (ValueError, TypeError), match=r'prior.* "auto", None or a fitted Forecaster'
    ):
        ee.Forecaster(3, prior=prior).fit(Y)


def test_unfitted_prior():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        ee.Forecaster(3, prior=ee.Forecaster(3)).fit(Y)


@pytest.mark.parametrize("season", [4, 5])
def test_seasonal_profile_equals_a_loop(season):
    rng = np.random.default_rng(5)
    z = 0.3 * np.arange(40) + 2 * np.sin(2 * np.pi * np.arange(40) / season) + rng.normal(size=40)
    half, by_place = season // 2, {place: [] for place in range(season)}
    for t in range(half, 40 - half):
        around = list(z[t - half : t + half + 1])
        if season % 2 == 0:  # the ends count half
            around = [around[0] / 2, *around[1:-1], around[-1] / 2]
        by_place[t % season].append(z[t] - sum(around) / season)
    means = np.array([np.mean(by_place[place]) for place in range(season)])
    means -= means.mean()
    left = [d - means[place] for place in range(season) for d in by_place[place]]
    noise = np.sum(np.square(left)) / (len(left) - season)
    count = len(left) / season
    shrunk = means * (1 - noise / count / (np.sum(means**2) / (season - 1)))
    assert_allclose(seasonal_profile(z[None], season)[0], shrunk, rtol=1e-9)


def test_noise_has_no_seasonal_profile():
    profiles = [
        seasonal_profile(np.random.default_rng(i).normal(size=(1, 48)), 12) for i in range(50)
    ]
    assert np.mean([not profile.any() for profile in profiles]) > 0.4
    assert np.array_equal(seasonal_profile(np.full((1, 30), 7.0), 12), np.zeros((1, 12)))
