"""Forecaster: invalid and unusual data and arguments."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.exceptions import NotFittedError

import eigenecho as ee
from eigenecho.errors import FewRowsWarning, UnstableWarning

pd = pytest.importorskip("pandas")

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


# Short and constant series --------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["auto", "direct", "recursive"])
@pytest.mark.parametrize("rows", [1, 2, 3, 12])
def test_too_few_rows_are_forecast_by_the_prior(rows, strategy):
    with pytest.warns(FewRowsWarning, match=rf"at least 16 rows, but the longest has {rows}\."):
        forecaster = made(strategy=strategy).fit(NOISE[:rows])
    low, high = NOISE[:rows].min(), NOISE[:rows].max()
    reach = 3 * (high - low)
    assert np.all((forecaster.predict() >= low - reach) & (forecaster.predict() <= high + reach))
    assert forecaster.rolling(NOISE[:rows], [0]).shape == (1, 3)
    _, lower, upper = forecaster.predict(interval=0.9)
    if rows < 5:  # no forecast has an error yet; they are those of a random walk
        step = np.sqrt(np.mean(np.diff(NOISE[:rows]) ** 2)) if rows > 1 else 0.1 * abs(NOISE[0])
        width = 2 * step * stats.t(rows - 1 or 4).ppf(0.95)
        assert_allclose(upper - lower, width * np.sqrt([1, 2, 3]))
    assert np.all(upper > lower)
    assert forecaster.expected_error_ > 0


@pytest.mark.parametrize("strategy", ["auto", "direct", "recursive"])
@pytest.mark.parametrize("value", [7.25, 0.0, -3.0, 1e-308, 1e150])
def test_constant_is_continued(value, strategy):
    forecaster = made(strategy=strategy).fit(np.full(60, value))
    with pytest.warns(FewRowsWarning, match="width 0 for 1 of 1 series, because the series"):
        mean, lower, upper = forecaster.predict(interval=0.9)
    for one in (mean, lower, upper):
        assert np.all(one == value)
    assert forecaster.expected_error_ == 0


@pytest.mark.parametrize("value", [7.25, 0.0])
def test_constant_series_of_a_panel_is_continued_with_a_warning(value):
    # Positive series make the forecaster use logarithms.
    y = np.exp(NOISE.cumsum() / 10)
    for constant in (np.full(60, value), np.full(16, value)):
        forecaster = made().fit([y, constant])
        assert any(member["logarithm"] for member in forecaster.members_)
        with pytest.warns(FewRowsWarning, match="width 0 for 1 of 2 series"):
            found = forecaster.predict(interval=0.9)[1]
        assert np.all(np.array(found) == value)
        with pytest.warns(FewRowsWarning, match="width 0"):
            forecaster.predict(quantiles=[0.1, 0.5])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            forecaster.predict()
            forecaster.predict(quantiles=0.5)


def test_backtest_warns_of_intervals_of_width_zero():
    y = np.c_[NOISE, np.r_[np.zeros(55), NOISE[:5]]]
    with pytest.warns(FewRowsWarning, match="intervals have width 0 for 1 of 4 forecasts"):
        made().backtest(y, origins=[50, 56])


def test_fit_to_a_constant_gives_intervals_of_width_zero_for_other_series():
    forecaster = made().fit(np.full(60, 7.0))
    with pytest.warns(FewRowsWarning, match="width 0"):
        forecaster.predict(context=NOISE, interval=0.9)


@pytest.mark.parametrize("multivariate", [False, True])
def test_update_of_constant_series_that_start_to_change_selects_candidates_again(multivariate):
    y = np.r_[np.full((60, 2), 7.0), 7 + NOISE[:, None].cumsum(axis=0) * [1, 3]]
    forecaster = made(multivariate=multivariate).fit(y[:60]).update(y[60:])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mean, lower, upper = forecaster.predict(interval=0.9)
    assert np.all(lower < mean)
    assert np.all(upper > mean)
    assert np.array_equal(mean, made(multivariate=multivariate).fit(y).predict())
    still = made().fit(np.full(60, 7.0)).update(np.full(5, 7.0))
    with pytest.warns(FewRowsWarning, match="width 0"):
        still.predict(interval=0.9)


def test_constant_series_do_not_count_as_training_rows():
    with pytest.warns(FewRowsWarning, match=r"at least 16 rows, but the longest has 5\."):
        made().fit([NOISE[:5], np.full(60, 7.0)])


def test_series_of_a_panel_may_be_shorter_than_the_horizon():
    whole, short, one = made(8).fit([NOISE, NOISE[:3], NOISE[:1]]).predict()
    for forecast in (whole, short, one):
        assert forecast.shape == (8,)
        assert np.all(np.isfinite(forecast))
    with pytest.warns(FewRowsWarning):
        assert np.all(np.isfinite(made(8).fit([NOISE[:4], NOISE[:3]]).predict()))


def told(call):
    """Return the messages of FewRowsWarning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in caught if one.category is FewRowsWarning]


def test_too_short_panel_causes_one_warning():
    (said,) = told(lambda: made(2).fit(long("shop", "till", "stall", rows=13)))
    assert said == (
        "Forecasts use only the prior and simple methods, because a horizon of 2 requires a "
        "non-constant series of at least 14 rows, but the longest has 13."
    )
    assert not told(lambda: made(2).fit(long("shop", "till", rows=14)))
    assert not told(lambda: made(1).fit(long("shop", "till", rows=13)))


def test_update_trains_if_there_were_too_few_rows():
    with pytest.warns(FewRowsWarning):
        forecaster = made().fit(NOISE[:5])
    (said,) = told(lambda: forecaster.update(NOISE[5:9]))
    assert "the longest has 9." in said
    assert not told(lambda: forecaster.update(NOISE[9:]))
    assert np.array_equal(forecaster.predict(), made().fit(NOISE).predict())


def test_origins_with_too_few_rows_cause_one_warning():
    (said,) = told(lambda: made(1).backtest(NOISE[:14], origins=4))
    assert said == (
        "Forecasts from 2 of 4 origins use only the prior and simple methods, because a horizon of "
        "1 requires a non-constant series of at least 12 rows, but the longest has 10."
    )
    assert not told(lambda: made(1).backtest(NOISE[:14], origins=2))


def test_single_observation_between_gaps():
    y = np.full(60, np.nan)
    y[30] = 4.0
    with pytest.warns(FewRowsWarning, match="the validation rows contain no observation"):
        assert_allclose(made().fit(y).predict(), 4.0)


def test_gaps_at_both_ends():
    gap = np.full(20, np.nan)
    assert_allclose(made().fit(np.r_[gap, NOISE]).predict(), made().fit(NOISE).predict())
    forecast = made().fit(np.r_[NOISE, gap[:4]]).predict()
    assert np.all(np.isfinite(forecast))


@pytest.mark.parametrize("scale", [1e140, 1e-140])
def test_very_large_and_small_values(scale, plain):
    found = made().fit(scale * NOISE).predict(interval=0.9)
    for one, other in zip(found, plain.predict(interval=0.9), strict=True):
        assert_allclose(one / scale, other, rtol=1e-9)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.r_[NOISE, np.inf], "infinity in row 60"),
        (np.r_[NOISE, 1e308], "1e[+]308 in row 60.* up to 1e[+]150"),
        (np.full(9, np.nan), "only missing values"),
        ([], "at least one row"),
        (None, "y: got an object of type NoneType"),
        ("text", "y[=:]"),
        ([NOISE, NOISE[:0]], "0 rows in series 1"),
        ([NOISE, NOISE * np.nan], "only missing values in series 1"),
        (np.zeros((3, 3, 3)), "shape"),
        (NOISE > 0, "dtype bool"),
    ],
)
def test_invalid_series(y, words):
    with pytest.raises(ValueError, match=words):
        made().fit(y)


def test_duplicate_time():
    y = long("a", "b")
    with pytest.raises(ValueError, match="several rows at 2024-01-01 in series 'a'"):
        made().fit(pd.concat([y, y[:1]]))


# Arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"horizon": 0}, "horizon=0.* ≥ 1"),
        ({"horizon": 1.5}, "horizon=1.5"),
        ({"horizon": True}, "horizon=True"),
        ({"strategy": "dirct"}, "Did you mean 'direct'"),
        ({"sharing": "all"}, "sharing='all'"),
        ({"seasons": [0]}, "seasons[=:]"),
        ({"seasons": "week"}, "seasons='week'"),
        ({"seasons": list(range(2, 23))}, "seasons: got 21 periods.* at most 20"),
        ({"seasons": [[7]]}, "seasons[=:]"),
        ({"validation": 2}, "validation=2.* ≥ 3"),
        ({"spectrum": "golden"}, "spectrum='golden'.* a Spectrum"),
        ({"spectrum": ee.Spectrum([200.0])}, "overflow within 60 rows"),
        ({"refit": "no"}, "refit='no'"),
        ({"multivariate": 1}, "multivariate=1"),
        ({"progress": "yes"}, "progress='yes'"),
        ({"seed": -1}, "seed=-1"),
        ({"past": [0]}, "None, because X is not given"),
    ],
)
def test_invalid_parameters(options, words):
    with pytest.raises(ValueError, match=words):
        made(**options).fit(NOISE)


def test_methods_need_a_fitted_forecaster(tmp_path):
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
        ({"horizon": 4}, "at most 3, the horizon of the fit"),
        ({"X": np.ones((3, 1))}, "expected None, because"),
        ({"context_X": np.ones((3, 1))}, "None, because no context is given"),
        ({"context": np.ones((5, 2))}, "as passed to fit"),
        ({"context": [np.inf]}, "infinity"),
        ({"interval": 0}, "interval=0"),
        ({"interval": 1.0}, "interval=1"),
        ({"interval": "wide"}, "interval='wide'"),
        ({"quantiles": []}, "quantiles[=:]"),
        ({"quantiles": [0.5, 1.0]}, "quantiles[=:]"),
        ({"interval": 0.5, "quantiles": [0.5]}, "None if interval is given"),
    ],
)
def test_invalid_forecast_arguments(options, words, plain):
    with pytest.raises(ValueError, match=words):
        plain.predict(**options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "3 rows of x0 after the end"),
        ({"X": np.ones((2, 1))}, r"shape \(2, 1\).* shape \(3, 1\)"),
        ({"X": np.ones((9, 1))}, r"shape \(9, 1\).* shape \(3, 1\)"),
        ({"X": np.ones((3, 2))}, r"shape \(3, 1\)"),
        ({"X": np.full((3, 1), np.nan)}, "NaN in column 'x0'"),
        ({"X": np.ones(3), "context": NOISE}, "context_X=None"),
    ],
)
def test_known_columns_need_future_values(options, words, known):
    with pytest.raises(ValueError, match=words):
        known.predict(**options)


@pytest.mark.parametrize(
    ("origins", "words"),
    [
        ([-1], "row numbers from 0 to 59"),
        ([60], "row numbers from 0 to 59"),
        ([], "at least one origin"),
        (0, "from 1 to 57"),
        (58, r"from 1 to 57, because 3 rows must follow .* only 60 rows\."),
        ([1.5], "origins=1.5"),
        (["2024-01-05"], "or times of existing rows"),
    ],
)
def test_invalid_origins(origins, words, plain):
    with pytest.raises(ValueError, match=words):
        plain.rolling(NOISE, origins)


def test_origins_need_known_rows_after_them(known):
    X = np.ones((60, 1))
    assert known.rolling(NOISE, [56], X).shape == (1, 3)
    with pytest.raises(ValueError, match=r"origins=57.* precede 3 rows"):
        known.rolling(NOISE, [56, 57], X)


def test_origins_before_the_first_observation(plain):
    with pytest.raises(ValueError, match="row numbers ≥ 2, where observations start"):
        plain.rolling(np.r_[np.nan, np.nan, NOISE], [1, 5])


def test_multivariate_series_must_be_given_together():
    Y = np.stack([NOISE, NOISE[::-1], NOISE**2], axis=1)
    forecaster = made(multivariate=True).fit(Y)
    with pytest.raises(ValueError, match=r"2 series.* the series passed to fit"):
        forecaster.predict(context=Y[:, :2])
    with pytest.raises(ValueError, match="False for series in a list or a long frame"):
        made(multivariate=True).fit(list(Y.T))
    frame = pd.DataFrame(Y, columns=list("abc"))
    by_name = made(multivariate=True).fit(frame)
    with pytest.raises(ValueError, match="in the same order"):
        by_name.rolling(frame[["b", "a", "c"]], 2)


def test_unknown_ids():
    forecaster = made(sharing="own").fit(long("a", "b"))
    found = forecaster.predict(context=long("b", "z"), interval=0.5)
    assert found["unique_id"].unique().tolist() == ["b", "z"]
    assert np.all(found["lower"] < found["upper"])
    with pytest.raises(ValueError, match=r"an unknown series 'z'.* passed to fit"):
        forecaster.update(long("z"))


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="the system does not tell its memory")
@pytest.mark.parametrize("horizon", [10**12, 10**18])
def test_horizon_too_large_for_memory(horizon):
    with pytest.raises(
        MemoryError, match=rf"horizon={horizon} requires at least [\d,]+ GiB.*this mach"
    ):
        made(horizon).fit(NOISE)
    forecaster = made(strategy="recursive").fit(NOISE)
    with pytest.raises(MemoryError, match=rf"horizon={horizon} requires at least"):
        forecaster.predict(horizon)
    assert forecaster.predict(10).shape == (10,)


def test_diverging_loop_is_replaced_by_the_last_value():
    forecaster = made(strategy="recursive", spectrum=ee.Spectrum([1.2])).fit(NOISE)
    assert np.all(np.isfinite(forecaster.predict()))
    with pytest.warns(UnstableWarning, match="last value"):
        forecast = forecaster.predict(5000)
    assert NOISE.min() <= forecast.min()
    assert forecast.max() <= NOISE.max()


# Columns of any type ------------------------------------------------------------------------------


FLAGS = NOISE > 0


@pytest.mark.parametrize(
    "flags",
    [
        FLAGS,
        np.ma.array(FLAGS, mask=np.zeros(60, bool)),
        FLAGS.astype(object),
        FLAGS.tolist(),
        FLAGS.astype(np.uint8),
    ],
)
def test_boolean_columns_are_0_and_1(flags):
    wanted = made().fit(NOISE, FLAGS.astype(float)).predict(X=[1.0, 0.0, 1.0])
    assert np.array_equal(made().fit(NOISE, flags).predict(X=[True, False, True]), wanted)


@pytest.mark.parametrize("dtype", ["bool", "boolean", "Int8", "object", "Sparse[bool]"])
def test_boolean_columns_of_frames_are_0_and_1(dtype):
    y, X = pd.Series(NOISE, DAYS[:60]), pd.DataFrame({"promo": FLAGS}, DAYS[:60])
    ahead = pd.DataFrame({"promo": [True, False, True]}, DAYS[60:63])
    wanted = made().fit(y, X.astype(float)).predict(X=ahead.astype(float))
    pd.testing.assert_series_equal(made().fit(y, X.astype(dtype)).predict(X=ahead), wanted)


def test_missing_flags_are_filled_forward():
    y = pd.Series(NOISE, DAYS[:60])
    flags = pd.array(FLAGS, dtype="boolean")
    flags[:4], flags[20:22] = pd.NA, pd.NA
    X = pd.DataFrame({"open": flags}, y.index)
    found = made(past=["open"]).fit(y, X).predict()
    wanted = made(past=["open"]).fit(y, X.astype("Float64").ffill()).predict()
    pd.testing.assert_series_equal(found, wanted)


@pytest.mark.parametrize("y", [FLAGS, FLAGS.astype(object), pd.Series(FLAGS, DAYS[:60])])
def test_boolean_series_is_rejected(y):
    with pytest.raises(ValueError, match="expected real numbers"):
        made().fit(y)


def test_close_quantiles_are_distinguished():
    levels = [0.1, 0.1000001, 1 / 3, 0.5, 0.99999999]
    found = made().fit(pd.Series(NOISE, DAYS[:60])).predict(quantiles=levels)
    assert [float(name[1:]) for name in found.columns] == levels
    assert list(found.columns[[0, 3]]) == ["q0.1", "q0.5"]
    with pytest.raises(ValueError, match="distinct numbers"):
        made().fit(NOISE).predict(quantiles=[0.1, 0.1])


@pytest.mark.parametrize("scale", [1e-151, 1e-170, 1e-310])
def test_series_whose_squares_underflow_are_rejected(scale):
    for y in (NOISE * scale, pd.DataFrame({"a": NOISE, "b": NOISE * scale}, DAYS[:60])):
        with pytest.raises(ValueError, match="a range of at least 1e-150"):
            made().fit(y)


def test_tiny_series_are_forecast_correctly():
    one, two = (made().fit(scale * NOISE).predict(interval=0.8) for scale in (1.0, 1e-149))
    assert_allclose(np.stack(two) * 1e149, np.stack(one), rtol=1e-9)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_columns_of_a_numpy_matrix_are_series():
    found = made().fit(np.asmatrix(NOISE).T).predict()
    assert np.array_equal(found[:, 0], made().fit(NOISE).predict())


# Unprocessed tables -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "days",
    [
        DAYS[:60],
        DAYS[:60].strftime("%Y-%m-%d"),
        DAYS[:60].strftime("%d/%m/%Y %H:%M"),
        [day.date() for day in DAYS[:60]],
        pd.Categorical(DAYS[:60].strftime("%Y-%m-%d")),
        DAYS[:60].to_period("D"),
        [None, *DAYS[1:60].strftime("%Y-%m-%d")],
    ],
)
def test_dates_in_a_column_are_not_numbers(days):
    table = pd.DataFrame({"date": days, "sales": NOISE})
    for y, X in ((table, None), (pd.Series(NOISE, DAYS[:60]), table)):
        with pytest.raises((ValueError, TypeError), match=r"column.* 'date'.* the index"):
            made().fit(y, X)
    assert len(made().fit(table.assign(date=DAYS[:60]).set_index("date")["sales"]).predict()) == 3


def test_single_series_with_the_names_of_a_long_table():
    table = long("a").drop(columns="unique_id")
    with pytest.raises(ValueError, match="only some of the columns 'unique_id'"):
        made().fit(table)


@pytest.mark.parametrize("text", ["1.5", "shop", "", "?"])
def test_text_that_is_not_a_date_is_reported_as_text(text):
    table = pd.DataFrame({"what": [text] * 60, "sales": NOISE})
    with pytest.raises(ValueError, match=r"'what'.*real numbers"):
        made().fit(table)


@pytest.mark.parametrize(
    "cells",
    [["1.5", "2"], ["1,5", "2"], ["1.5", "n/a"], ["1_000", "2"], ["1.5", "nan"], ["low", "high"]],
)
@pytest.mark.parametrize("dtype", [object, "str", "category"])
def test_text_is_not_a_number(cells, dtype):
    with pytest.raises(ValueError, match=r"column 'a'.*real numbers.* Convert it to numbers"):
        made().fit(pd.DataFrame({"a": pd.Series(cells * 30, DAYS[:60], dtype=dtype)}))
    with pytest.raises(ValueError, match="real numbers"):
        made().fit(pd.Series(cells * 30, DAYS[:60], dtype=dtype))


def test_converted_text_is_forecast():
    text = pd.Series([str(one).replace(".", ",") for one in NOISE], DAYS[:60])
    found = made().fit(pd.to_numeric(text.str.replace(",", "."))).predict()
    assert_allclose(found, made().fit(pd.Series(NOISE, DAYS[:60])).predict())


def test_text_in_one_of_several_series_is_reported_with_its_position():
    text = np.array(["1,5", "2,5"] * 30, object)
    with pytest.raises(ValueError, match=r"y\[1\]: got '1,5' in row 0"):
        made().fit([NOISE, text])
    with pytest.raises(ValueError, match="'1,5' in row 0, column 0 of series 1"):
        ee.LinearESN(5).fit([NOISE[:, None], text[:, None]], [NOISE, NOISE])


@pytest.mark.parametrize(
    "names",
    [
        {"y": "sales"},
        {"ds": "date"},
        {"ds": "d", "y": "s"},
        {"unique_id": "shop"},
        {"unique_id": "shop", "ds": "date"},
    ],
)
def test_long_tables_with_other_names(names):
    table = long("a", "b").rename(columns=names)
    said = r"Forecaster\(id=, time=, target=\)|'date'.* the index|column 'shop'"
    with pytest.raises(ValueError, match=said):
        made().fit(table)
    given = {"unique_id": "id", "ds": "time", "y": "target"}
    made(**{given[one]: name for one, name in names.items()}).fit(table)


@pytest.mark.parametrize("ids", [(1, 2), ("a", "b"), (True, False)])
@pytest.mark.parametrize("index", [None, "store", "date"])
@pytest.mark.parametrize("dates", ["datetime64[ns]", "str"])
def test_long_tables_are_not_read_as_wide_ones(ids, index, dates):
    table = long(*ids).rename(columns={"unique_id": "store", "ds": "date", "y": "sales"})
    table = table.astype({"date": dates})
    named = made(id="store", time="date", target="sales")
    if index is None:
        assert len(named.fit(table).predict()) == 6
    held = table if index is None else table.set_index(index)
    for forecaster in (made(), named) if index else (made(),):
        with pytest.raises(
            ValueError, match=r"expected (real|columns of) numbers|unique times|all of"
        ):
            forecaster.fit(held)


def test_long_table_with_extra_columns():
    table = long("a", "b").assign(price=1.0)
    with pytest.raises(ValueError, match=r"column 'price'.*only the columns 'unique_id'.*as X"):
        made().fit(table)


@pytest.mark.parametrize("is_index", [True, False])
@pytest.mark.parametrize(
    ("days", "row"),
    [
        (DAYS[:60].strftime("%d/%m/%Y"), 12),
        ([*DAYS[:59].strftime("%Y-%m-%d"), "soon"], 59),
        (pd.date_range("2024-03-01", periods=60, tz="CET").astype(str), 0),
    ],
)
def test_dates_that_pandas_cannot_parse(days, row, is_index):
    table = pd.DataFrame({"unique_id": "a", "ds": days, "y": NOISE})
    y = table.set_index("ds")["y"] if is_index else table
    with pytest.raises(ValueError, match=r"dayfirst=") as caught:
        made().fit(y)
    assert f"{days[row]!r} as the time of row {row};" in str(caught.value)


@pytest.mark.parametrize(
    ("frequency", "gaps"),
    [("D", (1, 1, 8, 11)), ("h", (1, 1, 8, 11)), ("MS", (1, 1, 8, 11)), ("D", (5, 6, 7, 9))],
)
@pytest.mark.parametrize("kind", [pd.Series, pd.DataFrame])
def test_rows_that_are_mostly_missing(frequency, gaps, kind):
    some = np.cumsum(np.random.default_rng(3).choice(gaps, 60))
    whole = pd.date_range("2024-01-01", periods=some[-1] + 1, freq=frequency)
    y = kind(NOISE, whole[some])
    with pytest.raises(ValueError, match="a regular step"):
        made().fit(y)
    found = made().fit(y.asfreq(frequency)).predict()
    assert found.index[0] == whole[-1] + whole.freq


def test_error_of_irregular_dates_suggests_resampling():
    odd = DAYS[:60] + pd.to_timedelta(np.random.default_rng(0).integers(0, 10**9, 60), "us")
    with pytest.raises(ValueError, match=r"seconds\)\. Resample the data"):
        made().fit(pd.Series(NOISE, odd))


@pytest.mark.parametrize("seasons", ["weekly", "7", ["7"], [7, "year"], 0, 1.5, 10**20])
def test_error_of_seasons_explains_their_unit(seasons):
    with pytest.raises(ValueError, match=r"seasons.*A week has 7 daily rows.*Use None to detect"):
        made(seasons=seasons).fit(NOISE)


def test_long_table_with_a_multiindex():
    with pytest.raises(ValueError, match="only some of the columns"):
        made().fit(long("a", "b").set_index(["unique_id", "ds"]))


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({"id": "forecast"}, "id='forecast'.*a column name"),
        ({"time": "lower"}, "time='lower'.*a column name"),
        ({"id": "ds"}, "different names for id, time and target"),
        ({"time": "y"}, "different names for id, time and target"),
        ({"id": ["a"]}, r"id=\['a'\].*a column name"),
    ],
)
def test_invalid_names_of_a_long_table(names, said):
    table = long("a").rename(columns={"unique_id": "forecast", "ds": "lower"})
    for one in (table, long("a")):
        with pytest.raises(ValueError, match=said):
            made(**names).fit(one)


@pytest.mark.parametrize("past", [True, [True], [["a"]], [{}], np.True_])
def test_invalid_names_of_past_columns(past):
    with pytest.raises(ValueError, match="column names of X, or column numbers"):
        made(past=past).fit(NOISE, np.stack([NOISE, NOISE], axis=1))


def test_forecaster_of_arrays_rejects_pandas_contexts(plain):
    # Rows of a Series may be in any order, which would go unnoticed.
    with pytest.raises(ValueError, match=r"context: got a Series.*as passed to fit"):
        plain.predict(context=pd.Series(NOISE, DAYS[:60]))
    with pytest.raises(ValueError, match=r"y: got a wide DataFrame.*as passed to fit"):
        plain.rolling(pd.DataFrame({"a": NOISE}), 2)


@pytest.mark.parametrize(
    "index", [np.arange(60) + (2**63 - 61), np.uint64(2**63) + np.arange(60, dtype=np.uint64)]
)
def test_integer_times_that_cannot_be_continued(index):
    with pytest.raises(ValueError, match=r"times up to 9\.22337e\+18.*times up to"):
        made().fit(pd.Series(NOISE, index))
