"""Series in pandas objects: round trips of every kind of index, gaps, columns of X, errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigenecho.data.panel import read
from held import DAYS, INDEXES, RNG, H, as_long, dates, drivers, long, naive, series, wide

pd = pytest.importorskip("pandas")


@pytest.fixture(params=INDEXES, ids=str)
def index(request):
    return INDEXES[request.param]


def check_index(actual, expected):
    pd.testing.assert_index_equal(actual, expected)
    assert getattr(actual, "freq", None) == getattr(expected, "freq", None)


# Dates --------------------------------------------------------------------------------------------


def test_every_second_business_day_has_no_gaps():
    index = pd.DatetimeIndex(pd.date_range("2024-01-01", periods=40, freq="2B"), freq=None)
    panel = read(series(index[:-H]))
    assert len(panel.histories[0]) == 40 - H
    assert panel.step == "2 business days"
    result = panel.forecast(H, {"forecast": [np.zeros(H)]})
    assert result.index.equals(index[-H:])
    gaps = read(series(index.delete([7, 20])))
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(gaps.histories[0].values)), [7, 20])


@pytest.mark.parametrize("zone", [None, "Asia/Tokyo", "America/New_York"])
@pytest.mark.parametrize("freq", ["h", "D", "B", "W-WED", "MS", "YE"])
def test_dates_continue_after_the_last_nanosecond(freq, zone):
    """Nanosecond timestamps end on 2262-04-11, between the rows and the forecast."""
    last = pd.Timestamp("2262-04-11 12:00" if freq == "h" else "2262-04-11").as_unit("us")
    until = pd.date_range(end=last, periods=35, freq=freq, unit="us")
    after = pd.date_range(until[-1], periods=40 + 1, freq=freq, unit="us")[1:]
    until, after = (part.tz_localize(zone) for part in (until, after))
    given = pd.DatetimeIndex(until, freq=None).as_unit("ns")
    panel = read(series(given))
    result = panel.forecast(40, {"forecast": [np.zeros(40)]})
    assert result.index.equals(after)
    rolled = panel.rolling([np.array([30, 34])], [np.zeros((2, 40))])
    assert list(rolled["ds"][-40:]) == list(after)
    panel = read(long(given))
    result = panel.forecast(40, {"forecast": [np.zeros(40)] * 3})
    assert list(result["ds"][:40]) == list(after)


def test_maximum_date_is_reported_as_an_irregular_step():
    index = pd.date_range("2024-01-01", periods=39, freq="MS", unit="ns")
    index = index.append(pd.DatetimeIndex([pd.Timestamp.max]))
    with pytest.raises(ValueError, match="expected equal steps"):
        read(series(index))


def test_differences_of_centuries_are_reported_correctly():
    index = pd.DatetimeIndex(["1700-01-01", "1800-01-01", "2100-01-01", "2262-04-01"])
    with pytest.raises(ValueError, match="most are 36524 days"):
        read(series(index.as_unit("ns")))


# Round trips ----------------------------------------------------------------------------------


def test_series(index):
    y = series(index)
    panel = read(y.iloc[:-H])
    np.testing.assert_array_equal(panel.histories[0].values, y.iloc[:-H])
    assert panel.histories[0].name == "load"
    result = panel.forecast(H, {"forecast": [y.iloc[-H:].to_numpy()]})
    pd.testing.assert_series_equal(result, y.iloc[-H:], check_freq=True)


def test_wide_frame(index):
    y = wide(index)
    panel = read(y.iloc[:-H])
    assert [h.name for h in panel.histories] == ["a", "b", "c"]
    result = panel.forecast(H, {"forecast": list(y.iloc[-H:].to_numpy().T)})
    pd.testing.assert_frame_equal(result, y.iloc[-H:], check_freq=True)
    assert result.columns.name == "shop"


def test_long_frame(index):
    whole = long(index)
    cut = index[-H]
    panel = read(whole[whole.ds < cut].sample(frac=1, random_state=0))
    after = whole[whole.ds >= cut].rename(columns={"y": "forecast"})
    after = after[["unique_id", "ds", "forecast"]].reset_index(drop=True)
    answers = [after.forecast.to_numpy()[i * H : i * H + H] for i in range(3)]
    result = panel.forecast(H, {"forecast": answers})
    pd.testing.assert_frame_equal(result, after)


def test_rows_in_any_order(index):
    y = series(index)
    panel = read(y.sample(frac=1, random_state=0))
    np.testing.assert_array_equal(panel.histories[0].values, y)
    turned = read(wide(index)[::-1])
    first = turned.forecast(1, {"forecast": naive(turned, 1)}).index[0]
    assert first > index.max()


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(INDEXES)), st.integers(0, 10**6), st.floats(0.05, 0.35))
def test_missing_rows_are_missing_observations(kind, seed, share):
    check_missing_rows(INDEXES[kind], seed, share)


def test_gaps_in_every_second_business_day():
    # Two steps in a row are missing more often than none.
    check_missing_rows(INDEXES["every second business day"], 139, 0.3125)


def check_missing_rows(index, seed, share):
    y = series(index, seed)
    gone = np.random.default_rng(seed).random(len(y)) < share
    gone[[0, 1, 2, -1]] = False
    for frame in (y[~gone], y[~gone].to_frame("a")):
        values = read(frame).histories[0].values
        np.testing.assert_array_equal(values, np.where(gone, np.nan, y))


def test_each_series_has_its_own_gaps():
    frame = long(INDEXES["days"])
    frame = frame.drop(index=[2, 3, 40 + 7])  # two rows of a and one of b
    frame = frame[(frame.unique_id != "c") | (frame.ds >= "2024-03-05")]
    a, b, c = read(frame).histories
    assert [len(h) for h in (a, b, c)] == [40, 40, 36]
    assert np.flatnonzero(np.isnan(a.values)).tolist() == [2, 3]
    assert np.flatnonzero(np.isnan(b.values)).tolist() == [7]
    assert not np.isnan(c.values).any()


def test_forecast_of_a_series_with_gaps_starts_after_its_last_row():
    y = series(INDEXES["range"]).drop(index=[3, 4])
    panel = read(y)
    assert panel.forecast(2, {"forecast": naive(panel, 2)}).index.tolist() == [40, 41]


def test_series_of_a_long_frame_may_end_at_different_times():
    frame = long(INDEXES["days"])
    frame = frame[(frame.unique_id != "b") | (frame.ds < "2024-03-20")]
    panel = read(frame)
    result = panel.forecast(2, {"forecast": naive(panel, 2)})
    assert result.ds.astype(str).tolist()[2:4] == ["2024-03-20", "2024-03-21"]
    assert result.ds.astype(str).tolist()[4:] == ["2024-04-10", "2024-04-11"]


def test_quarters_that_start_in_different_months():
    frames = [
        pd.DataFrame({"unique_id": i, "ds": dates(f"QS-{month}"), "y": 1.0})
        for i, month in enumerate(["JAN", "FEB", "MAR"])
    ]
    panel = read(pd.concat(frames))
    assert all(len(h) == 40 for h in panel.histories)
    result = panel.forecast(1, {"forecast": naive(panel, 1)})
    assert result.unique_id.tolist() == [0, 1, 2]
    for frame, time in zip(frames, result.ds, strict=True):
        assert time == frame.ds.iloc[-1] + pd.DateOffset(months=3)


def test_cycles_of_the_calendar():
    assert read(series(INDEXES["hours"])).cycles == (24, 168, 8765.82)
    assert read(long(INDEXES["month ends"])).cycles == (12,)
    assert read(wide(INDEXES["periods of quarters"])).cycles == (4,)
    assert read(series(INDEXES["range"])).cycles == ()
    assert read(series(INDEXES["business days"])).cycles[0] == 5


def test_type_of_ids_is_kept():
    for ids in (pd.Categorical(list("ba")), [3, 1], pd.array(["x", "y"], "string")):
        y = pd.DataFrame({"unique_id": ids, "y": [1.0, 2.0]})
        y = pd.concat([y.assign(ds=day) for day in INDEXES["days"][:4]])
        y["unique_id"] = y["unique_id"].astype(pd.Series(ids).dtype)
        panel = read(y)
        result = panel.forecast(2, {"forecast": naive(panel, 2)})
        assert result.unique_id.dtype == y.unique_id.dtype
        assert [h.name for h in panel.histories] == sorted(set(ids))


def test_columns_with_levels():
    columns = pd.MultiIndex.from_product([["north", "south"], [1, 2]], names=["side", "no"])
    y = pd.DataFrame(RNG.normal(size=(40, 4)), INDEXES["days"], columns)
    panel = read(y)
    assert panel.histories[1].name == ("north", 2)
    result = panel.forecast(H, {"forecast": naive(panel)})
    pd.testing.assert_index_equal(result.columns, columns)
    result = panel.forecast(
        H, {"forecast": naive(panel), "lower": naive(panel), "upper": naive(panel)}
    )
    assert result.columns.names == ["side", "no", None]
    np.testing.assert_array_equal(result["south", 1, "upper"], naive(panel)[2])


def test_several_results():
    mean = [np.arange(2.0)]
    bounds = {"lower": [mean[0] - 1], "upper": [mean[0] + 1]}
    quantiles = {"q0.1": mean, "q0.95": [mean[0] + 2]}
    panel = read(series(INDEXES["days"]))
    result = panel.forecast(2, {"forecast": mean, **bounds})
    assert list(result.columns) == ["forecast", "lower", "upper"]
    assert result.index.name == "when"
    np.testing.assert_array_equal(result.upper, mean[0] + 1)
    result = panel.forecast(2, {"forecast": mean, **quantiles})
    assert list(result.columns) == ["forecast", "q0.1", "q0.95"]
    np.testing.assert_array_equal(result["q0.95"], mean[0] + 2)
    assert list(panel.forecast(2, quantiles)) == ["q0.1", "q0.95"]

    panel = read(series(INDEXES["days"]).to_frame("a"))
    result = panel.forecast(2, {"forecast": mean, **bounds})
    assert result.columns.tolist() == [("a", "forecast"), ("a", "lower"), ("a", "upper")]
    result = panel.forecast(2, {"forecast": mean, **quantiles})
    np.testing.assert_array_equal(result["a", "q0.95"], mean[0] + 2)

    panel = read(long(INDEXES["days"]).query("unique_id == 'a'"))
    result = panel.forecast(2, {"forecast": mean, **bounds})
    assert list(result.columns) == ["unique_id", "ds", "forecast", "lower", "upper"]
    result = panel.forecast(2, {"forecast": mean, **quantiles})
    assert list(result.columns) == ["unique_id", "ds", "forecast", "q0.1", "q0.95"]


def test_other_names_of_a_long_frame():
    y = long(INDEXES["days"]).rename(columns={"unique_id": "shop", "ds": "day", "y": "sales"})
    panel = read(y, id="shop", time="day", target="sales")
    result = panel.forecast(1, {"forecast": naive(panel, 1)})
    assert list(result.columns) == ["shop", "day", "forecast"]
    rolled = panel.rolling([np.array([3])] * 3, [np.ones((1, 2))] * 3)
    assert list(rolled.columns) == ["shop", "cutoff", "day", "forecast"]


@pytest.mark.parametrize("hold", [series, wide, long])
def test_rolling_forecasts(index, hold):
    panel = read(hold(index[:-H]))
    n, T = len(panel), len(index) - H
    rows = np.array([0, 7, T - 2, T - 1])
    values = [RNG.normal(size=(4, 3)) for _ in range(n)]
    actual = panel.rolling([rows] * n, values)
    assert list(actual.columns) == ["unique_id", "cutoff", "ds", "forecast"]
    assert len(actual) == n * 12
    expected = [
        (name, index[row], index[row + 1 + step], values[i][k, step])
        for i, name in enumerate(["load"] if n == 1 else ["a", "b", "c"])
        for k, row in enumerate(rows)
        for step in range(3)
    ]
    for result, want in zip(actual.itertuples(index=False), expected, strict=True):
        assert tuple(result) == want


def test_series_without_a_name():
    panel = read(series(INDEXES["days"], name=None))
    assert panel.histories[0].name is None
    assert panel.forecast(2, {"forecast": naive(panel, 2)}).name is None
    rolled = panel.rolling([np.array([3])], [np.ones((1, 2))])
    assert rolled.unique_id.tolist() == ["y", "y"]


@pytest.mark.parametrize(
    "dtype", ["Int64", "Float64", "object", "float32", "int16", "Sparse[float]"]
)
def test_columns_of_numbers(dtype):
    y = pd.Series(np.arange(5.0), INDEXES["days"][:5]).astype(dtype)
    np.testing.assert_array_equal(read(y).histories[0].values, np.arange(5))
    if dtype in ("Int64", "Float64", "object"):
        y.iloc[2] = pd.NA
        np.testing.assert_array_equal(read(y).histories[0].values, [0, 1, np.nan, 3, 4])


def test_dates_as_text():
    y = long(INDEXES["days"])
    y["ds"] = y["ds"].astype(str)
    panel = read(y)
    result = panel.forecast(1, {"forecast": naive(panel, 1)})
    assert result.ds.iloc[0] == pd.Timestamp("2024-04-10")


@pytest.mark.parametrize("hold", [series, wide, long])
def test_input_is_neither_modified_nor_shared(hold):
    y, X = hold(DAYS), drivers(DAYS)
    X = as_long(X) if hold is long else X
    before = y.copy(), X.copy()
    panel = read(y, X)
    histories = [(h.values.copy(), h.known.copy()) for h in panel.histories]
    assert y.equals(before[0])
    assert X.equals(before[1])
    for frame in (y, X):
        numbers = frame if frame.ndim == 1 else frame.select_dtypes(float)
        frame[numbers.index if frame.ndim == 1 else numbers.columns] = 7.0
    for history, (values, known) in zip(panel.histories, histories, strict=True):
        np.testing.assert_array_equal(history.values, values)
        np.testing.assert_array_equal(history.known, known)


# Invalid series -------------------------------------------------------------------------------


def changed(frame, row, column, value):
    frame = frame.copy()
    frame[column] = frame[column].astype(object) if isinstance(value, str) else frame[column]
    frame.loc[row, column] = value
    return frame


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (series(DAYS)[:0], "y: got 0 rows"),
        (wide(DAYS)[:0], "y: got 0 rows"),
        (wide(DAYS)[[]], "y: got 0 columns"),
        (wide(DAYS)[["a", "a"]], "two columns named 'a'"),
        (long(DAYS)[:0], "y: got 0 rows"),
        (series(DAYS) > 0, "dtype bool"),
        (series(DAYS).astype(complex), "dtype complex128"),
        (series(DAYS).astype(object).astype("string"), "dtype string"),
        (series(DAYS).astype("category"), "dtype category"),
        (wide(DAYS).assign(b="x"), "column 'b'"),
        (wide(DAYS).assign(b=DAYS), f"dtype {DAYS.dtype} in column 'b'"),
        (wide(DAYS).assign(b=np.inf), "infinity in row 0, column 'b'"),
        (wide(DAYS).assign(b=np.nan), "only missing values in series 'b'"),
        (changed(long(DAYS), 50, "y", np.inf), "infinity in row 50, column 'y'"),
        (changed(long(DAYS), 50, "ds", pd.NaT), "no time in row 50"),
        (changed(long(DAYS), 50, "unique_id", None), "no 'unique_id' in row 50"),
        (long(DAYS).drop(columns="unique_id"), "only some of the columns 'unique_id'"),
        (long(DAYS).drop(columns="y"), "only some of the columns"),
        (long(DAYS).assign(t=1.0), "an unexpected column 't'"),
        (long(DAYS).assign(ds="x"), "got 'x' as the time of row 0"),
        (long(DAYS).set_index(["unique_id", "ds"]).y, "MultiIndex"),
        (series(DAYS[[0, 1, 1, 2]]), "several rows at 2024-03-02"),
        (long(DAYS[[0, 1, 1, 2]]), "several rows at 2024-03-02 in series 'a'"),
        (series(pd.Index([1, 2, 2, 3])), "several rows at 2;"),
        (series(pd.Index([1, 2, 3, 4.4])), "3 followed by 4.4"),
        (series(DAYS[:1]._with_freq(None)), "one date, 2024-03-01"),
        (series(DAYS[:3]._with_freq(None).insert(3, pd.Timestamp("2024-03-04 07:00"))),
         "2024-03-03 followed by 2024-03-04 07:00"),
        (series(pd.DatetimeIndex(["1800-01-01", "1800-01-02", "2050-01-01"])), "1800-01-02 f"),
        (series(pd.Index([True, False])), "dtype bool"),
        (series(pd.to_timedelta([1, 2], "D")), "timedelta"),
        (series(pd.Index([1.0, np.nan])), "no time in row 1"),
        (series(pd.CategoricalIndex(["a", "b"])), "times"),
    ],
)  # fmt: skip
def test_invalid_series(y, words):
    with pytest.raises((ValueError, TypeError)) as caught:
        read(y)
    assert words in str(caught.value)
    assert "Invalid y" in str(caught.value)


def test_series_with_another_frequency():
    frame = pd.concat(
        [long(DAYS), pd.DataFrame({"unique_id": "h", "ds": INDEXES["hours"][:9], "y": 1.0})]
    )
    with pytest.raises(ValueError, match=r"01:00:00 in series 'h'.* a step of 1 day"):
        read(frame)


def test_dates_with_too_many_steps_between_them():
    far = pd.to_datetime(["1800-01-01", "2024-03-01"])
    frame = pd.concat([long(DAYS), pd.DataFrame({"unique_id": "z", "ds": far, "y": 1.0})])
    with pytest.raises(ValueError, match=f"2 rows for {np.ptp(far).days + 1} steps in series 'z'"):
        read(frame)
    two = read(series(pd.DatetimeIndex(["1800-01-01", "2050-01-01"])))
    assert len(two.histories[0]) == 2
    assert two.cycles == ()


def test_single_row_with_a_freq_or_with_other_series():
    panel = read(series(DAYS[:1]))
    assert panel.forecast(1, {"forecast": naive(panel, 1)}).index[0] == DAYS[1]
    frame = pd.concat([long(DAYS), pd.DataFrame({"unique_id": ["z"], "ds": DAYS[:1], "y": 1.0})])
    assert [len(h) for h in read(frame).histories] == [40, 40, 40, 1]


# Columns of X ---------------------------------------------------------------------------------


@pytest.mark.parametrize("hold", [series, wide])
def test_known_and_future_columns(index, hold):
    X = drivers(index)
    panel = read(hold(index[:-H]), X.sample(frac=1, random_state=1), past=["u"])
    assert (panel.known_names, panel.past_names) == (("v",), ("u",))
    for history in panel.histories:
        np.testing.assert_array_equal(history.known, X[["v"]])
        np.testing.assert_array_equal(history.past, X[["u"]].iloc[:-H])
    expected = X[["v"]].iloc[-H:].to_numpy()
    for rows in panel.future(None, H):
        np.testing.assert_array_equal(rows, expected)
    for given_X in (X.iloc[-H:], X[["v"]].iloc[-H:], X, X["v"]):
        for rows in panel.future(given_X, H):
            np.testing.assert_array_equal(rows, expected)


@pytest.mark.parametrize("has_ids", [True, False])
def test_columns_of_a_long_frame(index, has_ids):
    X = as_long(drivers(index)) if has_ids else drivers(index).rename_axis("ds").reset_index()
    if has_ids:
        X["v"] += X["unique_id"].map({"a": 0, "b": 1000, "c": 2000})
    panel = read(long(index[:-H]), X.sample(frac=1, random_state=1), past=["u"])
    actual = panel.future(None, H)
    for i, history in enumerate(panel.histories):
        expected = drivers(index)[["v"]].to_numpy() + 1000 * i * has_ids
        np.testing.assert_array_equal(history.known, expected)
        np.testing.assert_array_equal(actual[i], expected[-H:])
    again = panel.future(X[X.ds > index[-H - 1]], H)
    np.testing.assert_array_equal(again, actual)


def test_rows_missing_in_y_and_X_repeat_the_last_row():
    y, X = series(DAYS).drop(DAYS[5]), drivers(DAYS)
    panel = read(y, X, past=["u"])
    np.testing.assert_array_equal(panel.histories[0].known, X[["v"]])
    X = X.drop(DAYS[5])
    panel = read(y, X, past=["u"])
    np.testing.assert_array_equal(panel.histories[0].known[5], X.loc[DAYS[4], ["v"]])
    np.testing.assert_array_equal(panel.histories[0].past[5], X.loc[DAYS[4], ["u"]])


def test_gaps_of_past_columns_are_filled_forward():
    X = drivers(DAYS)
    X.loc[DAYS[[0, 1, 4]], "u"] = np.nan
    past = read(series(DAYS), X, past=["u"]).histories[0].past[:, 0]
    np.testing.assert_array_equal(past[:6], [np.nan, np.nan, 4, 6, 6, 10])


def test_rows_of_X_before_the_series_are_ignored():
    panel = read(series(DAYS[10:]), drivers(DAYS))
    np.testing.assert_array_equal(panel.histories[0].known, drivers(DAYS)[10:])


@pytest.mark.parametrize(
    ("X", "past", "words"),
    [
        (drivers(DAYS).to_numpy(), (), "X: got an object of type ndarray"),
        (drivers(DAYS[:-1]), (), "no row at 2024-04-09"),
        (drivers(DAYS).drop(DAYS[7]), (), "no row at 2024-03-08"),
        (drivers(DAYS)[[]], (), "only times"),
        (drivers(DAYS)[:0], (), "0 rows"),
        (drivers(DAYS)[["u", "u"]], (), "two columns named 'u'"),
        (drivers(DAYS).where(drivers(DAYS) != 7), (), "NaN in column 'v' at 2024-03-04"),
        (drivers(DAYS).replace(7, np.inf), (), "infinity in row 3, column 'v'"),
        (drivers(DAYS).assign(v=1j), (), "column 'v'"),
        (drivers(DAYS[[0, 0, *range(40)]]), (), "several rows at 2024-03-01"),
        (drivers(dates("12h", periods=90)), (), "a row at 2024-03-01 12:00"),
        (drivers(dates("D", "UTC")), (), "dates in time zone UTC"),
        (drivers(pd.RangeIndex(40)), (), "numbers as times"),
        (drivers(dates("D", periods=45)).drop(DAYS[-1] + pd.Timedelta(days=2)), (),
         "no row at 2024-04-11"),
        (drivers(DAYS), ["w"], "Unknown past='w'"),
        (drivers(DAYS), "uv", "Unknown past='uv'"),
        (None, ["u"], "X is not given"),
    ],
)  # fmt: skip
def test_inconsistent_columns(X, past, words):
    with pytest.raises(ValueError) as caught:
        read(series(DAYS), X, past=past)
    assert words in str(caught.value)


def test_inconsistent_columns_of_a_long_frame():
    y, X = long(DAYS), as_long(drivers(DAYS))
    with pytest.raises(ValueError, match="no rows for series 'c'"):
        read(y, X[X.unique_id != "c"])
    with pytest.raises(ValueError, match=r"no row at 2024-03-03 in series 'b'"):
        read(y, X.drop(index=42))
    with pytest.raises(ValueError, match=r"NaN in column 'v' in series 'b' at 2024-03-03"):
        read(y, changed(X, 42, "v", np.nan))
    with pytest.raises(ValueError, match="no column 'ds'"):
        read(y, X.drop(columns="ds"))
    with pytest.raises(ValueError, match="X: got 0 rows"):
        read(y, X[:0])


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (drivers(DAYS), "expected 5 rows from 2024-04-10 to"),
        (drivers(dates("D", periods=44)), "no row at 2024-04-14"),
        (drivers(dates("D", periods=45))[["u"]], "no column 'v'"),
        (drivers(dates("D", periods=45), "uvw"), "an unexpected column 'w'"),
        (drivers(dates("D", periods=45)).replace(83, np.nan), "NaN in column 'v' at 2024-04-11"),
        (np.ones((5, 2)), "X: got an object of type ndarray"),
        (None, "5 rows of u, v after the end (2024-04-09)"),
    ],
)
def test_inconsistent_future_columns(X, words):
    panel = read(series(DAYS), drivers(DAYS))
    with pytest.raises(ValueError) as caught:
        panel.future(X, 5)
    assert words in str(caught.value)


def test_future_columns_without_columns_in_the_fit():
    panel = read(series(DAYS))
    assert panel.future(None, 3)[0].shape == (3, 0)
    with pytest.raises(ValueError, match="expected None, because"):
        panel.future(drivers(dates("D", periods=45)), 3)


def test_future_columns_with_missing_rows_of_a_series():
    panel = read(long(DAYS), as_long(drivers(DAYS)))
    ahead = as_long(drivers(dates("D", periods=45)[40:]))
    assert len(panel.future(ahead, 5)) == 3
    with pytest.raises(ValueError, match="no rows for series 'a'"):
        panel.future(ahead[5:], 5)
    with pytest.raises(ValueError, match=r"no row at 2024-04-14 in series 'c'.* 5 rows from"):
        panel.future(ahead[:-1], 5)


# Contexts and new rows ------------------------------------------------------------------------


def test_context_may_be_one_row_of_another_series(index):
    fitted = read(series(index[:-H]))
    panel = fitted.read_context(series(index[-H - 1 : -H], name="other"))
    assert (panel.histories[0].name, len(panel.histories[0])) == ("other", 1)
    result = panel.forecast(H, {"forecast": naive(panel)})
    check_index(result.index, index[-H:])
    assert result.name == "other"


def test_context_with_other_columns_and_ids():
    fitted = read(wide(DAYS))
    panel = fitted.read_context(wide(DAYS[5:9]).rename(columns={"b": "z"})[["z", "a"]])
    assert [h.name for h in panel.histories] == ["z", "a"]
    assert list(panel.forecast(1, {"forecast": naive(panel, 1)})) == ["z", "a"]
    fitted = read(long(DAYS))
    panel = fitted.read_context(long(DAYS[5:9]).replace({"a": "z"}))
    assert [h.name for h in panel.histories] == ["b", "c", "z"]
    result = panel.forecast(1, {"forecast": naive(panel, 1)})
    assert result.unique_id.tolist() == ["b", "c", "z"]


def test_columns_of_a_context_are_matched_by_name():
    fitted = read(series(DAYS), drivers(DAYS), past=["u"])
    X = drivers(DAYS)[["v", "u"]]
    panel = fitted.read_context(series(DAYS[:9]), X)
    np.testing.assert_array_equal(panel.histories[0].known, X[["v"]])
    np.testing.assert_array_equal(panel.future(None, 3)[0], X[["v"]][9:12])


@pytest.mark.parametrize(
    ("y", "X", "words"),
    [
        (np.ones(5), drivers(DAYS), "context: got an array (T,)"),
        (wide(DAYS), drivers(DAYS), "context: got a wide DataFrame"),
        (series(DAYS), None, "context_X=None"),
        (series(DAYS), drivers(DAYS)[["u"]], "context_X: got no column 'v'"),
        (series(DAYS), drivers(DAYS, "uvw"), "context_X: got an unexpected column 'w'"),
        (series(DAYS), drivers(DAYS[1:]), "context_X: got no row at 2024-03-01"),
        (series(INDEXES["days in Berlin"]), drivers(DAYS), "dates in time zone Europe/Berlin"),
        (series(INDEXES["range"]), drivers(DAYS), "context: got numbers as times"),
        (series(INDEXES["hours"]), drivers(DAYS), "a step of 1 day"),
        (series(DAYS) * np.nan, drivers(DAYS), "context: got only missing values"),
    ],
)
def test_inconsistent_context(y, X, words):
    fitted = read(series(DAYS), drivers(DAYS))
    with pytest.raises(ValueError) as caught:
        fitted.read_context(y, X)
    assert words in str(caught.value)


@pytest.mark.parametrize("hold", [series, wide, long])
def test_new_rows_are_appended(index, hold):
    whole = hold(index)
    times = whole["ds"] if hold is long else whole.index
    X = drivers(index)
    X = as_long(X) if hold is long else X
    x_times = X["ds"] if hold is long else X.index
    cut = index[20]
    start = read(whole[times < cut], X[x_times < cut], past=["u"])
    joined = start.follow(whole[times >= cut], X[x_times >= cut])
    expected = read(whole, X, past=["u"])
    for one, other in zip(joined.histories, expected.histories, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
        np.testing.assert_array_equal(one.known, other.known)
        np.testing.assert_array_equal(one.past, other.past)
    actual = joined.forecast(2, {"forecast": naive(joined, 2)})
    expected_forecast = expected.forecast(2, {"forecast": naive(expected, 2)})
    compare = pd.testing.assert_series_equal if hold is series else pd.testing.assert_frame_equal
    compare(actual, expected_forecast)


def test_new_rows_use_known_future_columns():
    panel = read(series(DAYS[:30]), drivers(DAYS))
    joined = panel.follow(series(DAYS[30:34]))
    np.testing.assert_array_equal(joined.histories[0].known, drivers(DAYS))
    np.testing.assert_array_equal(joined.future(None, 6)[0], drivers(DAYS)[34:])
    with pytest.raises(ValueError, match="6 rows after the end"):
        joined.future(None, 7)
    with pytest.raises(ValueError, match="X_new=None"):
        joined.follow(series(dates("D", periods=50)[34:]))


def test_only_some_series_of_a_long_frame_have_new_rows():
    whole = long(DAYS)
    panel = read(whole[whole.ds < "2024-03-20"])
    new = whole[(whole.ds >= "2024-03-20") & (whole.unique_id != "b")]
    joined = panel.follow(new)
    assert [len(h) for h in joined.histories] == [40, 19, 40]
    result = joined.forecast(1, {"forecast": naive(joined, 1)})
    assert result.ds.astype(str).tolist() == ["2024-04-10", "2024-03-20", "2024-04-10"]


def test_new_columns_may_have_any_order():
    y = wide(DAYS)
    panel = read(y[:20])
    joined = panel.follow(y[["c", "a", "b"]][20:])
    np.testing.assert_array_equal(np.stack([h.values for h in joined.histories], 1), y)


def test_new_rows_may_be_missing():
    panel = read(series(DAYS[:20]))
    new = pd.Series([np.nan, 1.0], DAYS[[20, 22]])
    joined = panel.follow(new)
    np.testing.assert_array_equal(joined.histories[0].values[20:], [np.nan, np.nan, 1.0])


@pytest.mark.parametrize(
    ("hold", "rows", "words"),
    [
        (series, DAYS[19:25], ["2024-03-20", "2024-03-21", "directly after"]),
        (series, DAYS[22:25], ["2024-03-23", "2024-03-21", "NaN"]),
        (wide, DAYS[22:25], ["2024-03-23", "2024-03-21"]),
        (long, DAYS[19:25], ["in series 'a'", "2024-03-20", "2024-03-21"]),
        (series, pd.date_range("2024-03-21 06:00", periods=3), ["2024-03-21 06:00"]),
        (series, pd.RangeIndex(3), ["numbers as times"]),
    ],
)
def test_new_rows_that_do_not_follow(hold, rows, words):
    panel = read(hold(DAYS[:20]))
    with pytest.raises(ValueError) as caught:
        panel.follow(hold(rows))
    assert "Invalid y_new" in str(caught.value)
    assert all(word in str(caught.value) for word in words)


def test_series_that_were_not_fitted():
    panel = read(long(DAYS[:20]))
    with pytest.raises(ValueError, match="y_new: got an unknown series 'z'"):
        panel.follow(long(DAYS[20:]).replace({"b": "z"}))
    panel = read(wide(DAYS[:20]))
    with pytest.raises(ValueError, match="y_new: got an unknown series 'z'"):
        panel.follow(wide(DAYS[20:]).rename(columns={"b": "z"}))
    with pytest.raises(ValueError, match="no column 'b'"):
        panel.follow(wide(DAYS[20:])[["a", "c"]])


def test_repeated_columns_beside_listed_columns_are_rejected():
    frame = pd.DataFrame(np.ones((5, 3)), dates("D", periods=5), columns=["y", "y", "h"])
    with pytest.raises(ValueError, match="two columns named 'y'"):
        read(frame, past=["h"])
