"""What a forecaster says to data and arguments that will not do, or that nearly will not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

import eigenecho as ee
from eigenecho.errors import UnstableError

SPECTRUM = ee.spectra.ring(6, sr=0.9)
NOISE = np.random.default_rng(0).normal(size=60)
DAYS = pd.date_range("2024-01-01", periods=70)


def made(horizon=3, **options):
    return ee.Forecaster(horizon, **{"spectrum": SPECTRUM, **options})


def long(*names, rows=60):
    parts = [pd.DataFrame({"unique_id": n, "ds": DAYS[:rows], "y": NOISE[:rows]}) for n in names]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def plain():
    return made().fit(NOISE)


@pytest.fixture(scope="module")
def known():
    return made().fit(NOISE, np.sin(np.arange(60.0)))


# Series that say little -----------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["auto", "direct", "recursive"])
@pytest.mark.parametrize("rows", [1, 2, 3, 12])
def test_too_few_rows_to_learn_from_go_on_as_the_last(rows, strategy):
    forecaster = made(strategy=strategy).fit(NOISE[:rows])
    assert_allclose(forecaster.predict(), NOISE[rows - 1])
    assert forecaster.rolling(NOISE[:rows], [0]).shape == (1, 3)
    with pytest.raises(ValueError, match=r"too few rows to hold some back.* no intervals"):
        forecaster.predict(interval=0.9)
    assert not hasattr(forecaster, "expected_error_")


@pytest.mark.parametrize("strategy", ["auto", "direct", "recursive"])
@pytest.mark.parametrize("value", [7.25, 0.0, -3.0, 1e-308, 1e150])
def test_a_constant_goes_on(value, strategy):
    forecaster = made(strategy=strategy).fit(np.full(60, value))
    mean, lower, upper = forecaster.predict(interval=0.9)
    for one in (mean, lower, upper):
        assert_allclose(one, value, rtol=1e-12)
    assert forecaster.expected_error_ == pytest.approx(0, abs=abs(value) * 1e-12)


def test_a_series_in_a_panel_may_be_shorter_than_the_horizon():
    whole, short, one = made(8).fit([NOISE, NOISE[:3], NOISE[:1]]).predict()
    for forecast in (whole, short, one):
        assert forecast.shape == (8,)
        assert np.all(np.isfinite(forecast))
    assert_allclose(made(8).fit([NOISE[:4], NOISE[:3]]).predict()[1], NOISE[2])


def test_one_observation_among_gaps():
    y = np.full(60, np.nan)
    y[30] = 4.0
    assert_allclose(made().fit(y).predict(), 4.0)


def test_gaps_at_both_ends():
    gap = np.full(20, np.nan)
    assert_allclose(made().fit(np.r_[gap, NOISE]).predict(), made().fit(NOISE).predict())
    forecast = made().fit(np.r_[NOISE, gap[:4]]).predict()
    assert np.all(np.isfinite(forecast))


@pytest.mark.parametrize("scale", [1e140, 1e-140])
def test_numbers_near_the_ends_of_the_range(scale, plain):
    found = made().fit(scale * NOISE).predict(interval=0.9)
    for one, other in zip(found, plain.predict(interval=0.9), strict=True):
        assert_allclose(one / scale, other, rtol=1e-9)


def test_steps_whose_squares_are_none_are_taken_for_none():
    tiny = 1e-308 * NOISE
    assert_allclose(made().fit(tiny).predict(), tiny[-1], rtol=1e-12)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.r_[NOISE, np.inf], "infinity in row 60"),
        (np.r_[NOISE, 1e308], "1e[+]308 in row 60.* up to 1e[+]150.* Scale the data"),
        (np.full(9, np.nan), "nothing but NaN"),
        ([], "at least one row"),
        (None, "y=<NoneType>"),
        ("text", "y="),
        ([NOISE, NOISE[:0]], "0 rows in series 1"),
        ([NOISE, NOISE * np.nan], "nothing but NaN in series 1"),
        (np.zeros((3, 3, 3)), "shape"),
        (NOISE > 0, "dtype bool"),
    ],
)
def test_series_that_will_not_do(y, words):
    with pytest.raises(ValueError, match=words):
        made().fit(y)


def test_a_time_that_occurs_twice():
    y = long("a", "b")
    with pytest.raises(ValueError, match="2024-01-01 twice in series 'a'"):
        made().fit(pd.concat([y, y[:1]]))


# Arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"horizon": 0}, "horizon=0 .* ≥ 1"),
        ({"horizon": 1.5}, "horizon=1.5"),
        ({"horizon": True}, "horizon=True"),
        ({"strategy": "dirct"}, "Did you mean 'direct'"),
        ({"sharing": "all"}, "sharing='all'"),
        ({"seasons": [0]}, "seasons="),
        ({"seasons": "week"}, "seasons='week'"),
        ({"seasons": [[7]]}, "seasons="),
        ({"validation": 2}, "validation=2 .* ≥ 3"),
        ({"spectrum": "golden"}, "spectrum='golden' .* a Spectrum"),
        ({"spectrum": ee.Spectrum([200.0])}, "run out of the range of numbers in 60 rows"),
        ({"refit": "no"}, "refit='no'"),
        ({"multivariate": 1}, "multivariate=1"),
        ({"progress": "yes"}, "progress='yes'"),
        ({"seed": -1}, "seed=-1"),
        ({"past": [0]}, "no columns where there is no X"),
    ],
)
def test_parameters_that_will_not_do(options, words):
    with pytest.raises(ValueError, match=words):
        made(**options).fit(NOISE)


def test_nothing_is_asked_of_what_was_not_fitted(tmp_path):
    for ask in (
        lambda f: f.predict(),
        lambda f: f.rolling(NOISE, 2),
        lambda f: f.update(NOISE),
        lambda f: f.save(tmp_path / "file"),
        lambda f: f.members_,
    ):
        with pytest.raises(NotFittedError):
            ask(made())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"horizon": 0}, "horizon=0"),
        ({"horizon": 4}, "at most 3, as fitted"),
        ({"X": np.ones((3, 1))}, "fit had no X"),
        ({"context_X": np.ones((3, 1))}, "a context beside them"),
        ({"context": np.ones((5, 2))}, "as in fit"),
        ({"context": [np.inf]}, "infinity"),
        ({"interval": 0}, "interval=0"),
        ({"interval": 1.0}, "interval=1"),
        ({"interval": "wide"}, "interval='wide'"),
        ({"quantiles": []}, "quantiles="),
        ({"quantiles": [0.5, 1.0]}, "quantiles="),
        ({"interval": 0.5, "quantiles": [0.5]}, "ask for one of them"),
    ],
)
def test_forecasts_that_cannot_be_made(options, words, plain):
    with pytest.raises(ValueError, match=words):
        plain.predict(**options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "3 rows of 1 column .x0.* say what they will be"),
        ({"X": np.ones((2, 1))}, "shape .2, 1.* 3 rows"),
        ({"X": np.ones((9, 1))}, "shape .9, 1.* 3 rows"),
        ({"X": np.ones((3, 2))}, "shape .3, 2"),
        ({"X": np.full((3, 1), np.nan)}, "NaN in column 0"),
        ({"X": np.ones(3), "context": NOISE}, "context_X=None"),
    ],
)
def test_columns_that_are_known_ahead_have_to_be_known(options, words, known):
    with pytest.raises(ValueError, match=words):
        known.predict(**options)


@pytest.mark.parametrize(
    ("origins", "words"),
    [
        ([-1], "rows from 0 to 59"),
        ([60], "rows from 0 to 59"),
        ([], "at least one origin"),
        (0, "1 or more"),
        (58, "at most 57 of the 60 rows"),
        ([1.5], "origins=1.5"),
        (["2024-01-05"], "row numbers, or times at which there is a row"),
    ],
)
def test_origins_that_are_none(origins, words, plain):
    with pytest.raises(ValueError, match=words):
        plain.rolling(NOISE, origins)


def test_origins_need_rows_that_are_known_after_them(known):
    X = np.ones((60, 1))
    assert known.rolling(NOISE, [56], X).shape == (1, 3)
    with pytest.raises(ValueError, match=r"origins=57 .* 3 rows after them"):
        known.rolling(NOISE, [56, 57], X)


def test_origins_before_the_first_observation(plain):
    with pytest.raises(ValueError, match="rows from 2 on, the first observation"):
        plain.rolling(np.r_[np.nan, np.nan, NOISE], [1, 5])


def test_series_that_see_each_other_come_together():
    Y = np.stack([NOISE, NOISE[::-1], NOISE**2], axis=1)
    forecaster = made(multivariate=True).fit(Y)
    with pytest.raises(ValueError, match=r"2 series.* the 3 series of the fit"):
        forecaster.predict(context=Y[:, :2])
    with pytest.raises(ValueError, match="False for series that do not share their rows"):
        made(multivariate=True).fit(list(Y.T))
    frame = pd.DataFrame(Y, columns=list("abc"))
    by_name = made(multivariate=True).fit(frame)
    with pytest.raises(ValueError, match="in the same order"):
        by_name.rolling(frame[["b", "a", "c"]], 2)


def test_ids_that_the_fit_did_not_have():
    forecaster = made(sharing="own").fit(long("a", "b"))
    found = forecaster.predict(context=long("b", "z"), interval=0.5)
    assert found["unique_id"].unique().tolist() == ["b", "z"]
    assert np.all(found["lower"] < found["upper"])
    with pytest.raises(ValueError, match=r"a series 'z'.* series that the fit had"):
        forecaster.update(long("z"))


def test_a_loop_that_runs_away_says_at_which_step():
    forecaster = made(strategy="recursive", spectrum=ee.Spectrum([1.2])).fit(NOISE)
    assert np.all(np.isfinite(forecaster.predict()))
    with pytest.raises(UnstableError, match=r"leave the range of numbers .* steps ahead"):
        forecaster.predict(5000)
