"""Forecasts of a column: reading, time, seasons, splits, choices and verdicts."""

from __future__ import annotations

import gzip
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pandas")

import pandas as pd

from eigenecho.apps.tables import backtest, candidates, naive, season, table_forecast
from eigenecho.apps.tables.bands import Bands
from eigenecho.apps.tables.split import LEAST, split
from eigenecho.apps.tables.table import TableError, need_pandas, read
from eigenecho.apps.tables.time_series import TimeSeries, from_table
from eigenecho.apps.tables.verdict import verdicts
from eigenecho.apps.tables.view import View
from eigenecho.forecasting.clock import Clock
from eigenecho.reservoir import Cache

DAYS = pd.date_range("2023-01-30", periods=40, freq="D")
VALUES = np.round(10 + np.sin(np.arange(40.0)) + 0.1 * np.arange(40), 3)


def frame():
    return pd.DataFrame({"date": DAYS.strftime("%Y-%m-%d"), "sales": VALUES, "heat": VALUES[::-1]})


def saved(tmp_path, data, name="data.csv", **options):
    path = tmp_path / name
    if isinstance(data, bytes):
        path.write_bytes(data)
    else:
        data.to_csv(path, index=False, **options)
    return path


def loaded(tmp_path, data, target="sales", *, reading=None, **options):
    return from_table(read(saved(tmp_path, data), **(reading or {})), target, **options)


def plain(values, **more):
    """A series of numbered rows."""
    values = np.asarray(values, float)
    clock = Clock("row", np.arange(len(values)), 1)
    return TimeSeries("y", values, clock, **({"inputs": np.empty((len(values), 0))} | more))


# Files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
def test_separators_are_found(tmp_path, sep):
    series = from_table(read(saved(tmp_path, frame(), sep=sep)), "sales")
    np.testing.assert_array_equal(series.values, VALUES)
    assert series.clock.text(series.clock.times[:1]) == ["2023-01-30"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_marks_of_encodings_are_no_part_of_the_header(tmp_path, encoding):
    table = read(saved(tmp_path, frame(), encoding=encoding))
    assert table.names == ("date", "sales", "heat")


def test_gzip_and_windows_files(tmp_path):
    data = frame().rename(columns={"heat": "été"}).to_csv(index=False).replace("\n", "\r\n")
    path = saved(tmp_path, gzip.compress(data.encode("cp1252")), "data.csv.gz")
    table = read(path, encoding="cp1252")
    assert table.names == ("date", "sales", "été")
    np.testing.assert_array_equal(table.numbers(1), VALUES)


def test_decimal_commas(tmp_path):
    path = saved(tmp_path, frame(), sep=";", decimal=",")
    np.testing.assert_array_equal(read(path, decimal=",").numbers(1), VALUES)


LINES = "date,sales\n" + "".join(f"2023-01-{d:02d},{d}.5\n" for d in range(1, 31))


@pytest.mark.parametrize(
    ("text", "reading", "said"),
    [
        ("", {}, ["is empty"]),
        ("date,sales\n", {}, ["header and no rows"]),
        ("1,2\n3,4\n", {}, ["no header", "'1,2'"]),
        (LINES.replace("7.5", "shut", 1), {}, ["line 8 says 'shut'", "--gaps fill"]),
        (LINES.replace("7.5", "inf", 1), {}, ["line 8 says 'inf'"]),
        (LINES.replace("7.5", '"7,5"', 1), {}, ["'7,5'", "--decimal ','"]),
        (LINES.replace("7.5", '"7,500"', 1), {}, ["separators of thousands"]),
        (LINES, {"decimal": ","}, ["'1.5'", "--decimal '.'"]),
        (LINES, {"decimal": "x"}, ["--decimal 'x'", "expected"]),
        (LINES, {"sep": "::"}, ["--sep", "one character"]),
        (LINES, {"encoding": "latin-99"}, ["--encoding 'latin-99' is not known"]),
        (LINES.replace("7.5", "7,5", 1), {}, ["line 8 has 3 cells", "decimal commas"]),
        (LINES.replace("7.5", "", 1), {}, ["empty at line 8 (date 2023-01-07)", "--gaps fill"]),
        (LINES.replace("date,sales", "sales,sales"), {}, ["2 columns", "columns 1, 2"]),
        (LINES.replace("sales", "sale"), {}, ["'sales' is not known", "Did you mean 'sale'?"]),
        (LINES.replace("2023-01-07", "soon"), {}, ["line 8 says 'soon'", "--time"]),
        (LINES.replace("2023-01-07", ""), {}, ["'date' is empty at line 8"]),
        (LINES + "2023-01-07,1\n", {}, ["2023-01-07 at line 8 and line 32", "sum or average"]),
        (
            LINES.replace("2023-01-07,7.5\n2023-01-08,8.5\n", "").replace("2023-01-20,20.5\n", ""),
            {},
            ["3 rows missing", "2023-01-07 to 2023-01-08 (2 rows, before line 8)",
             "2023-01-20 (1 row, before line 19)", "--gaps fill"],
        ),
        (LINES.replace("2023-01-07", "2023-01-07 01:23"), {}, ["no regular step", "line 8"]),
        (
            LINES.replace("\n", ",says\n", 1).replace(".5\n", '.5,"a\nb"\n').replace("7.5", "x"),
            {}, ["line 14 says 'x'"],
        ),
        (LINES.replace("date", '"da\nte"').replace("7.5", "7,5", 1), {}, ["line 9 has 3 cells"]),
        ("date,sales\n" + "2023-01-01,5\n2023-01-02,5\n2023-01-03,5\n", {}, ["constant", "5"]),
        ("date,sales\n2023-01-01,\n2023-01-02,\n2023-01-03,\n", {}, ["holds no numbers"]),
    ],
)  # fmt: skip
def test_troubles_are_told_with_their_place(tmp_path, text, reading, said):
    with pytest.raises(TableError) as error:
        loaded(tmp_path, text.encode(), reading=reading)
    for words in said:
        assert words in str(error.value)


@pytest.mark.parametrize(
    ("data", "name", "said"),
    [
        (b"date,caf\xe9\n2023,1\n", "a.csv", "line 1 is not UTF-8 (byte 0xe9)"),
        (gzip.compress(b"date,sales\n" * 99, mtime=0)[:20], "a.csv.gz", "damaged gzip"),
        (b"PK\x03\x04", "a.csv", "Save it as CSV"),
        (b"PAR1....", "a.csv", "Name it a.parquet"),
    ],
)
def test_files_that_are_something_else(tmp_path, data, name, said):
    with pytest.raises(TableError) as error:
        read(saved(tmp_path, data, name))
    assert said in str(error.value)


def test_a_missing_file_brings_up_its_neighbour(tmp_path):
    saved(tmp_path, frame(), "sales.csv")
    with pytest.raises(TableError, match=r"Did you mean .*sales.csv"):
        read(tmp_path / "sale.csv")
    with pytest.raises(TableError, match="is a folder"):
        read(tmp_path)


def test_parquet_needs_a_package_and_says_which(tmp_path, monkeypatch):
    path = saved(tmp_path, b"PAR1", "data.parquet")

    def absent(_):
        raise ImportError("no engine")

    monkeypatch.setattr(pd, "read_parquet", absent)
    with pytest.raises(TableError, match=r"pip install 'eigenecho\[parquet\]'"):
        read(path)


def test_parquet_columns_of_all_kinds(tmp_path, monkeypatch):
    data = pd.DataFrame(
        {
            "sales": pd.array([1, None, 3], dtype="Int64"),
            "open": [True, False, True],
            "name": ["a", None, "c"],
        },
        index=pd.DatetimeIndex(DAYS[:3], tz="Europe/Paris", name="day"),
    )
    monkeypatch.setattr(pd, "read_parquet", lambda _: data)
    table = read(saved(tmp_path, b"PAR1", "data.parquet"))
    assert table.names == ("day", "sales", "open", "name")
    np.testing.assert_array_equal(table.numbers(1), [1, np.nan, 3])
    np.testing.assert_array_equal(table.numbers(2), [1, 0, 1])
    with pytest.raises(TableError, match="row 0 says 'a'"):
        table.numbers(3)
    assert table.columns[0][0] == np.datetime64("2023-01-30")
    assert table.utc == ()


def test_without_pandas_a_hint(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(TableError, match=r"pip install 'eigenecho\[cli\]'"):
        need_pandas()


# Time -----------------------------------------------------------------------------------------

STEPS = {
    "D": "1 day", "2D": "2 days", "h": "1 hour", "15min": "15 minutes", "250ms": "0.25 seconds",
    "W-WED": "1 week", "B": "1 business day", "MS": "1 month", "ME": "1 month",
    "QS-FEB": "1 quarter", "QE-MAR": "1 quarter", "YS-JAN": "1 year", "YE-DEC": "1 year",
}  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_times_go_on_at_their_step(tmp_path, step):
    times = pd.date_range("1990-01-01", periods=50, freq=step)
    data = pd.DataFrame({"when": times[:40], "sales": VALUES})
    series = loaded(tmp_path, data)
    assert series.clock.words == STEPS[step]
    assert series.clock.ahead(10).equals(pd.DatetimeIndex(times[40:]))
    text = series.clock.text(series.clock.ahead(10))
    assert len(set(text)) == 10
    assert pd.DatetimeIndex(text).equals(pd.DatetimeIndex(times[40:]))


def test_the_same_day_of_every_month(tmp_path):
    times = pd.date_range("2000-01-15", periods=45, freq=pd.DateOffset(months=1))
    series = loaded(tmp_path, pd.DataFrame({"when": times[:40], "sales": VALUES}))
    assert series.clock.words == "1 month"
    assert list(series.clock.ahead(5)) == list(times[40:])
    assert series.clock.cycles == (12,)


@pytest.mark.parametrize(
    ("step", "cycles"),
    [
        ("h", (24, 168, 8765.82)), ("D", (7, 365.2425)), ("W-SUN", (52.1775,)),
        ("B", (5, 260.8875)),
        ("MS", (12,)), ("QS-JAN", (4,)), ("YS-JAN", ()), ("6h", (4, 28, 1460.97)),
    ],
)  # fmt: skip
def test_calendar_cycles_in_steps(step, cycles):
    times = pd.date_range("2001-01-01", periods=30, freq=step)
    clock = Clock("when", times, pd.tseries.frequencies.to_offset(step))
    assert clock.cycles == pytest.approx(cycles)


@pytest.mark.parametrize("form", ["%d/%m/%Y", "%m/%d/%Y", "%Y-%m-%d", "%Y%m%d", "%d %b %Y"])
def test_forms_of_dates(tmp_path, form):
    data = frame().assign(date=DAYS.strftime(form))
    assert loaded(tmp_path, data).clock.times.equals(DAYS)


def test_day_first_is_told_from_month_first_by_the_regular_step(tmp_path):
    months = pd.date_range("2020-01-01", periods=40, freq="MS")  # either reading is a date
    data = frame().assign(date=months.strftime("%d/%m/%Y"))
    assert loaded(tmp_path, data).clock.times.equals(months)


@pytest.mark.parametrize("gaps", ["error", "fill", "ignore"])
def test_whatever_happens_to_gaps_the_regular_reading_comes_first(tmp_path, gaps):
    months = pd.date_range("2020-01-01", periods=40, freq="MS")
    data = frame().assign(date=months.strftime("%d/%m/%Y"))
    series = loaded(tmp_path, data, gaps=gaps)
    assert series.clock.times.equals(months)
    np.testing.assert_array_equal(series.values, VALUES)
    if gaps != "error":
        holes = loaded(tmp_path, data.drop(index=[7, 20]), gaps=gaps)
        assert holes.clock.words == "1 month"


def test_dates_come_before_numbers_that_are_called_a_time(tmp_path):
    data = frame()
    data.insert(0, "year", DAYS.year)  # the same in all rows
    assert loaded(tmp_path, data).clock.name == "date"
    data["year"] = np.arange(40)
    assert loaded(tmp_path, data).clock.name == "date"
    data.insert(0, "made", "2024-01-01")  # dates as well, and all the same
    data["seen"] = ["2024-01-01"] * 39 + ["never"]  # not looked at once there is a time
    assert loaded(tmp_path, data).clock.name == "date"


def test_numbers_that_cannot_be_a_time_are_passed_over(tmp_path):
    rng = np.random.default_rng(0)
    for index in (np.repeat(np.arange(20), 2), rng.normal(size=40), np.r_[np.nan, np.arange(39)]):
        data = pd.DataFrame({"index": index, "sales": VALUES})
        series = loaded(tmp_path, data, gaps="ignore")
        assert series.clock.name == "row"
        np.testing.assert_array_equal(series.values, VALUES)
    with pytest.raises(TableError, match="the same time twice"):
        loaded(tmp_path, pd.DataFrame({"t": np.arange(40) // 2, "sales": VALUES}), time="t")
    order = rng.permutation(40)
    shuffled = pd.DataFrame({"year": 1900 + order, "sales": VALUES[order]})
    np.testing.assert_array_equal(loaded(tmp_path, shuffled).values, VALUES)
    with pytest.raises(TableError, match="no regular step"):  # in order: told, not passed over
        loaded(tmp_path, pd.DataFrame({"t": np.arange(40) ** 1.5, "sales": VALUES}))


def test_no_time_can_be_asked_for(tmp_path):
    series = loaded(tmp_path, frame().iloc[::-1], time="none")
    assert series.clock.name == "row"
    np.testing.assert_array_equal(series.values, VALUES[::-1])
    named = loaded(tmp_path, frame().rename(columns={"date": "none"}), time="none")
    assert named.clock.times.equals(DAYS)


def test_days_of_a_place_are_days_over_the_change_of_summer_time(tmp_path, monkeypatch):
    days = pd.date_range("2021-03-10", periods=40, freq="D", tz="Europe/Paris")
    plain_days = days.tz_localize(None)
    text = loaded(tmp_path, frame().assign(date=[t.isoformat() for t in days]))
    assert text.clock.times.equals(plain_days)
    assert text.notes == ()
    monkeypatch.setattr(pd, "read_parquet", lambda _: made)
    path = saved(tmp_path, b"PAR1", "data.parquet")
    made = frame().assign(date=days)
    assert from_table(read(path), "sales").clock.times.equals(plain_days)
    hours = pd.date_range("2021-03-27", periods=40, freq="h", tz="Europe/Paris")
    made = frame().assign(date=hours)
    series = from_table(read(path), "sales")
    assert series.clock.times[0] == pd.Timestamp("2021-03-26 23:00")
    assert series.notes == ("times are given in UTC",)


def test_order_does_not_matter_and_is_told(tmp_path):
    for data, said in (
        (frame().iloc[::-1], "turned round"),
        (frame().sample(frac=1, random_state=0), "were sorted"),
    ):
        series = loaded(tmp_path, data)
        np.testing.assert_array_equal(series.values, VALUES)
        assert said in series.notes[0]


def test_offsets_from_utc(tmp_path):
    hours = pd.date_range("2021-03-27", periods=40, freq="h", tz="Europe/Paris")
    data = frame().assign(date=[t.isoformat() for t in hours])  # over the change of summer time
    series = loaded(tmp_path, data)
    assert series.clock.times[0] == pd.Timestamp("2021-03-26 23:00")
    assert "times are given in UTC" in series.notes


def test_years_and_rows_as_time(tmp_path):
    years = loaded(tmp_path, pd.DataFrame({"Year": np.arange(1900, 1940), "sales": VALUES}))
    assert years.clock.text(years.clock.ahead(2)) == ["1940", "1941"]
    rows = loaded(tmp_path, frame()[["sales", "heat"]])
    assert rows.clock.name == "row"
    assert rows.clock.text(rows.clock.ahead(1)) == ["41"]
    named = loaded(tmp_path, frame().assign(k=np.arange(40) / 4), time="k")
    assert named.clock.text(named.clock.ahead(1)) == ["10"]


def test_gaps_can_be_filled_or_ignored(tmp_path):
    data = frame().drop(index=[5, 6, 20])
    data.loc[30, "sales"] = np.nan
    filled = loaded(tmp_path, data, gaps="fill")
    assert filled.clock.times.equals(DAYS)
    expected = VALUES.copy()
    expected[[5, 6, 20, 30]] = VALUES[[4, 4, 19, 29]]
    np.testing.assert_array_equal(filled.values, expected)
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(filled.observed)), [5, 6, 20, 30])
    assert filled.notes == (
        "3 rows missing from the table",
        "4 rows without 'sales', filled with the last value before and left out of all errors",
    )
    passed = loaded(tmp_path, data.drop(index=30), gaps="ignore")
    np.testing.assert_array_equal(passed.values, np.delete(VALUES, [5, 6, 20, 30]))


def test_a_target_that_starts_empty_cannot_be_filled(tmp_path):
    data = frame()
    data.loc[:1, "sales"] = np.nan
    with pytest.raises(TableError, match=r"empty at line 2 .*; line 3 .*no value before"):
        loaded(tmp_path, data, gaps="fill")


def test_inputs_are_filled_only_between_rows_that_are_known(tmp_path):
    data = frame()
    data.loc[35:, "sales"] = np.nan
    data.loc[10, "heat"] = np.nan
    series = loaded(tmp_path, data, inputs=("heat",), gaps="fill")
    heat = VALUES[::-1]
    assert series.inputs[10, 0] == pytest.approx((heat[9] + heat[11]) / 2)
    assert "1 cell of inputs filled by interpolation" in series.notes
    for row in (0, 36, 39):  # before the first, between known cells of the future, at the end
        hollow = data.copy()
        hollow.loc[row, "heat"] = np.nan
        with pytest.raises(TableError, match=f"'heat' is empty at line {row + 2} .*write what"):
            loaded(tmp_path, hollow, inputs=("heat",), gaps="fill")
    with pytest.raises(TableError, match=r"'heat' is empty at date 2023-03-08 \(no such row\)"):
        loaded(tmp_path, data.drop(index=37), inputs=("heat",), gaps="fill")


def test_inputs_reach_beyond_the_target(tmp_path):
    data = frame()
    data.loc[data.index[-4:], "sales"] = np.nan
    series = loaded(tmp_path, data, inputs=("heat",))
    assert len(series) == 36
    assert series.clock.times[-1] == DAYS[35]
    np.testing.assert_array_equal(series.inputs[:, 0], VALUES[::-1])
    with pytest.raises(TableError, match="one column twice"):
        loaded(tmp_path, data, inputs=("sales",))


# Seasons, splits, naive forecasts ---------------------------------------------------------------


@pytest.mark.parametrize("period", [4, 7, 12, 31])
def test_a_season_is_found_under_trend_and_noise(period):
    rng = np.random.default_rng(period)
    t = np.arange(600)
    shape = rng.normal(size=period)
    y = 0.05 * t + 2 * shape[t % period] + 0.3 * rng.normal(size=600)
    assert season.cycles(y, ()) == [period]


def test_a_second_season_is_found_beside_the_first():
    t = np.arange(900)
    y = np.sin(2 * np.pi * t / 8) + np.sin(2 * np.pi * t / 45)
    y = y + 0.1 * np.random.default_rng(0).normal(size=900)
    assert season.cycles(y, (8,)) == [8, 45]


def test_no_season_where_there_is_none():
    rng = np.random.default_rng(0)
    assert season.detect(rng.normal(size=2000)) is None
    assert season.cycles(np.arange(100.0), ()) == []


def test_cycles_of_the_calendar_come_first_and_must_be_seen_twice():
    t = np.arange(400)
    y = np.sin(2 * np.pi * t / 7)
    assert season.cycles(y, (7, 365.25)) == [7]
    assert season.cycles(y, (7, 365.25), given=(30,)) == [30]


def test_harmonics_repeat_with_their_period():
    waves = season.harmonics((7, 14), 3, 60)
    np.testing.assert_allclose(waves[14:], waves[:-14], atol=1e-12)
    assert waves.shape[1] == 2 * 6  # k/14 below one half; those of 7 are among them
    np.testing.assert_allclose(season.harmonics((7,), 0, 50)[3:], season.harmonics((7,), 3, 50))


@given(st.integers(1, 5000), st.integers(1, 800), st.none() | st.integers(1, 6))
def test_splits_keep_the_order_of_time(rows, horizon, blocks):
    try:
        parts = split(rows, horizon, blocks)
    except TableError as error:
        words = str(error)
        if "Use --horizon" in words:  # what it advises works
            split(rows, int(words.split("Use --horizon ")[1].split()[0].rstrip(",")), blocks)
        return
    assert parts.test[-1] + horizon == rows
    assert np.all(np.diff(parts.test) == horizon)
    assert blocks is None or len(parts.test) == blocks
    assert max(parts.validation) + horizon == parts.test[0]
    assert min(parts.validation) >= max(LEAST, horizon)


def test_naive_forecasts():
    past = np.array([5.0, 1, 2, 3])
    np.testing.assert_array_equal(naive.last_value(past, 2), [3, 3])
    np.testing.assert_array_equal(naive.mean_value(past, 2), [2.75, 2.75])
    np.testing.assert_array_equal(naive.seasonal(3)(past, 5), [1, 2, 3, 1, 2])
    y = np.tile([1.0, 2, 3, 9, 5], 20)
    assert naive.best_season(y, y, (3, 5.2, 4), [50, 60], 10) == 5
    assert naive.best_season(y, y, (), [50], 10) is None


# Choosing ---------------------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch):
    """Fewer networks to choose from."""
    monkeypatch.setattr(candidates, "RADII", (0.9,))
    monkeypatch.setattr(candidates, "RIDGES", (1e-6, 1e-2, 1.0))


def seasonal(T=260, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(T)
    return 5 + 0.01 * t + np.sin(2 * np.pi * t / 7) + 0.1 * rng.normal(size=T)


@pytest.mark.parametrize("view", [View(), View(True), View(False, (7,)), View(True, (7, 30.5))])
def test_views_are_undone(view):
    y = seasonal()
    np.testing.assert_allclose(view.undo(y[99], view.series(y)[100 - view.lag :]), y[100:])


@pytest.mark.parametrize("view", [View(), View(True), View(False, (7,)), View(True, (7,))])
@pytest.mark.parametrize("columns", [0, 2])
def test_errors_of_free_runs_are_those_of_the_estimator(monkeypatch, view, columns):
    monkeypatch.setattr(candidates, "RIDGES", (1e-3,))
    y, h = seasonal(), 12
    inputs = np.random.default_rng(1).normal(size=(len(y) + h, columns))
    series = plain(y, inputs=inputs)
    network, origins = candidates.Network(20), (150, 170, 191)
    params = {"sr": 0.9, "lr": 0.5}
    found = candidates.free_run_errors(network, params, view, series, origins, h, Cache())

    params["ridge"] = 1e-3
    fitted = candidates.fit(candidates.Candidate(0.0, view, params), network, series, 150)
    squares = []
    for origin in origins:  # the same network, run on with the true series
        ahead = replace(fitted, stop=origin).forecast(h)
        squares.append((ahead - y[origin : origin + h]) ** 2)
    assert found == pytest.approx([np.sqrt(np.mean(squares))], rel=1e-8)


@pytest.mark.parametrize("view", [View(), View(True, (7,))])
def test_a_forecast_is_that_of_the_public_interface(view):
    # Rows [y(t), x(t + 1)] and what follows, without any of the code under test.
    y, h, stop = seasonal(), 9, 200
    series = plain(y)
    params = {"sr": 0.9, "lr": 1.0, "ridge": 1e-2}
    fitted = candidates.fit(
        candidates.Candidate(0.0, view, params), candidates.Network(15), series, stop
    )
    z = np.diff(y[:stop]) if view.difference else y[:stop]
    t = np.arange(view.lag + 1, stop + h + 1)
    waves = [w(2 * np.pi * k * t / 7) for k in (1, 2, 3) for w in (np.sin, np.cos)]
    known = np.array(waves if view.periods else []).T.reshape(len(t), -1)
    X = np.column_stack([z, known[: len(z)]])
    esn = candidates.Network(15).estimator(len(z), **params).fit(X[:-1], z[1:])
    ahead = esn.forecast(h, X, known[len(z) :][:h] if view.periods else None)
    expected = y[stop - 1] + np.cumsum(ahead) if view.difference else ahead
    np.testing.assert_allclose(fitted.forecast(h), expected, rtol=1e-9)


@pytest.mark.parametrize("view", [View(), View(True), View(True, (7,))])
def test_deviations_are_those_of_the_composed_map(view):
    # What one unforeseen unit does to later values is seen from two forecasts, with and without it.
    y, h, stop = seasonal(), 12, 200
    rng = np.random.default_rng(0)
    given = {"inputs": rng.normal(size=(len(y), 1)), "input_names": ("x",)}
    params = {"sr": 0.9, "lr": 1.0, "ridge": 1e-2}
    candidate, network = candidates.Candidate(0.0, view, params), candidates.Network(15)
    fitted = candidates.fit(candidate, network, plain(y, **given), stop)
    foreseen = np.r_[y[:stop], fitted.forecast(1), y[stop + 1 :]]
    other = foreseen.copy()
    other[stop] += 1.0
    ahead = [
        replace(fitted, series=plain(values, **given), stop=stop + 1).forecast(h - 1)
        for values in (foreseen, other)
    ]
    psi = np.r_[1.0, ahead[1] - ahead[0]]

    z = view.series(y[:stop])
    X = np.column_stack([z, view.known(plain(y, **given), 0)[: len(z)]])
    skip = fitted.esn.warmup
    residuals = (z[1:] - fitted.esn.predict(X[:-1]))[skip:]
    states = fitted.esn.transform(X[:-1])[skip:]
    noise = fitted.esn.noise_covariance_[0, 0]
    assert np.sum(residuals**2) / len(states) < noise  # some rows go into the weights
    assert noise <= np.sum(residuals**2) / (len(states) - states.shape[1] - 1)
    np.testing.assert_allclose(fitted.deviations(h), np.sqrt(noise * np.cumsum(psi**2)), rtol=1e-7)


def test_a_random_walk_is_off_by_the_root_of_time():
    y = np.cumsum(np.random.default_rng(0).normal(size=4000))
    candidate = candidates.Candidate(0.0, View(True), {"sr": 0.9, "lr": 1.0, "ridge": 1e6})
    fitted = candidates.fit(candidate, candidates.Network(5), plain(y), len(y))
    np.testing.assert_allclose(fitted.deviations(50), np.sqrt(np.arange(1, 51)), rtol=0.05)


def test_ranking_is_sorted_finite_first_and_deterministic(quick):
    series, shown = plain(seasonal()), candidates.views((7,))
    heard = []
    found = candidates.rank(
        series, candidates.Network(10), shown, (150, 170), 20, lambda *s: heard.append(s)
    )
    errors = [c.error for c in found]
    assert errors == sorted(errors)
    total = len(shown) * len(candidates.RADII) * len(candidates.LEAKS)
    assert len(found) == total * len(candidates.RIDGES)
    assert heard == [(i, total) for i in range(total + 1)]
    again = candidates.rank(series, candidates.Network(10), shown, (150, 170), 20)
    assert [(c.error, c.params) for c in again] == [(c.error, c.params) for c in found]


def test_growing_loops_are_passed_over(monkeypatch):
    radii = [1.2, 1.05, 0.99, 0.5]
    monkeypatch.setattr(
        candidates, "fit", lambda c, *_: SimpleNamespace(radius=radii[c], candidate=c)
    )
    assert candidates.first_steady(range(4), None, None, 0, 30).candidate == 2
    assert candidates.first_steady(range(4), None, None, 0, 10).candidate == 1  # 1.05^10 < 2
    assert candidates.first_steady([0, 1], None, None, 0, 30).candidate == 1  # the calmest


def test_held_out_rows_decide_nothing(quick):
    y = seasonal()
    first = table_forecast.forecast(plain(y), 20, candidates.Network(10), blocks=2)
    changed = y.copy()
    changed[first.split.test[0] :] = changed[first.split.test[0] :][::-1] * 3
    other = table_forecast.forecast(plain(changed), 20, candidates.Network(10), blocks=2)
    assert other.chosen == first.chosen
    assert other.periods == first.periods
    assert other.season == first.season
    for name, guess in first.backtest.guesses.items():
        np.testing.assert_array_equal(guess[0], other.backtest.guesses[name][0])
    assert np.any(other.future != first.future)


def holed(tmp_path, y, rows):
    """A series whose rows, in places, were not observed."""
    data = pd.DataFrame({"row": np.arange(len(y)), "sales": y})
    data.loc[list(rows), "sales"] = np.nan
    return loaded(tmp_path, data, time="row", gaps="fill")


def test_a_hole_before_an_origin_is_filled_without_what_comes_after(quick, tmp_path):
    y = seasonal()
    first = split(len(y), 20, 2).test[0]
    holes = range(first - 4, first + 2)
    changed = y.copy()
    changed[first:] = 100 + changed[first:][::-1]
    found, other = (
        table_forecast.forecast(
            holed(tmp_path, values, holes), 20, candidates.Network(10), blocks=2
        )
        for values in (y, changed)
    )
    assert found.chosen == other.chosen
    for name, guess in found.backtest.guesses.items():
        np.testing.assert_array_equal(guess[0], other.backtest.guesses[name][0])


def test_nothing_is_measured_where_nothing_was_observed(quick, tmp_path):
    y = seasonal()
    first = split(len(y), 20, 3).test[0]
    holes = [first + 3, *range(first + 20, first + 40)]  # one row, and a whole block
    found = table_forecast.forecast(
        holed(tmp_path, y, holes), 20, candidates.Network(10), blocks=3, interval=0.9
    )
    made, bands = found.backtest, found.bands
    seen = np.ones((3, 20), bool)
    seen[0, 3] = seen[1] = False
    assert made.measured == 39
    truth = np.array([y[o : o + 20] for o in found.split.test])
    for name, guess in made.guesses.items():
        errors = np.abs(guess - truth)
        assert made.mae(name) == pytest.approx(errors[seen].mean())
        assert made.rmse(name) == pytest.approx(np.sqrt(np.mean(errors[seen] ** 2)))
        assert made.block_errors(name)[0] == pytest.approx(errors[0, seen[0]].mean())
    assert all(v.blocks == 2 for v in verdicts(made))
    within = np.abs(made.guesses[backtest.OURS] - truth) <= bands.held_out
    assert bands.coverage == within[seen].mean()
    assert np.isfinite(bands.future).all()
    parts = split(len(y), 20, 1)
    gap = range(parts.validation[0], parts.test[0])
    with pytest.raises(TableError, match="all rows to choose a network by"):
        table_forecast.forecast(holed(tmp_path, y, gap), 20, candidates.Network(5), blocks=1)


def test_networks_are_not_chosen_by_rows_that_were_filled(monkeypatch):
    monkeypatch.setattr(candidates, "RIDGES", (1e-3,))
    y, origins = seasonal(), (150, 170)
    filled = np.zeros(len(y), bool)
    filled[[175, 180]] = True
    network, params = candidates.Network(10), {"sr": 0.9}
    errors = [
        candidates.free_run_errors(network, params, View(), series, (150, 170), 20, Cache())
        for series in (plain(y), replace(plain(y), filled=filled))
    ]
    fitted = candidates.fit(
        candidates.Candidate(0.0, View(), {"sr": 0.9, "ridge": 1e-3}),
        candidates.Network(10),
        plain(y),
        150,
    )
    squares = []
    for o in origins:
        seen = ~filled[o : o + 20]
        ahead = replace(fitted, stop=o).forecast(20)
        squares.append(np.mean((ahead - y[o : o + 20])[seen] ** 2))
    assert errors[1] == pytest.approx([np.sqrt(np.mean(squares))], rel=1e-8)
    assert errors[0] != errors[1]
    alike = np.where(filled, 1e3, y)
    assert naive.best_season(np.where(filled, np.nan, y), alike, (3, 7), origins, 20) == 7


def test_a_season_is_beaten_and_the_future_goes_on(quick):
    y = seasonal(400)
    found = table_forecast.forecast(plain(y[:360]), 40, candidates.Network(30))
    assert found.season == 7
    assert [v.word for v in verdicts(found.backtest)] == ["beats"] * 3
    assert np.abs(found.future - y[360:]).mean() < 0.15
    assert found.steady


def test_intervals_hold_what_they_promise_and_change_no_forecast(quick):
    rng = np.random.default_rng(5)
    y = np.zeros(1500)
    for t in range(2, len(y)):
        y[t] = 1.2 * y[t - 1] - 0.5 * y[t - 2] + rng.normal()
    found = table_forecast.forecast(plain(y), 50, candidates.Network(20), interval=0.8)
    assert found.bands.coverage == pytest.approx(0.8, abs=0.08)
    assert found.bands.held_out.shape == (5, 50)
    assert found.bands.future.shape == (50,)
    without = table_forecast.forecast(plain(y), 50, candidates.Network(20))
    assert without.bands is None
    np.testing.assert_array_equal(without.future, found.future)
    with pytest.raises(ValueError, match=r"interval.*0\.9"):
        table_forecast.forecast(plain(y), 50, candidates.Network(20), interval=90)


def test_inputs_known_ahead_help_and_must_be_there(quick):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = np.convolve(x, [1.0, 0.5], "full")[:300] + 0.01 * rng.normal(size=300)
    series = plain(y[:280], inputs=x[:, None], input_names=("x",))
    found = table_forecast.forecast(series, 20, candidates.Network(20))
    np.testing.assert_allclose(found.future, y[280:], atol=0.1)
    with pytest.raises(TableError, match="21 rows ahead, and the table knows 20"):
        table_forecast.forecast(series, 21, candidates.Network(20))


def test_it_is_told_that_another_network_forecasts_than_was_tested(quick, monkeypatch):
    series = plain(seasonal())
    assert not table_forecast.forecast(series, 20, candidates.Network(10)).replaced
    first_steady = candidates.first_steady

    def grows_at_the_end(ranked, network, series, stop, horizon):
        return first_steady(ranked[stop == len(series) :], network, series, stop, horizon)

    monkeypatch.setattr(candidates, "first_steady", grows_at_the_end)
    assert table_forecast.forecast(series, 20, candidates.Network(10)).replaced


def test_series_that_cannot_be_learnt_from():
    with pytest.raises(TableError, match="constant, 2, over the rows to learn from"):
        table_forecast.forecast(
            plain(np.r_[np.full(150, 2.0), seasonal(50)]), 20, candidates.Network(5)
        )
    with pytest.raises(TableError, match="--season 100 will not do"):
        table_forecast.forecast(plain(seasonal()), 20, candidates.Network(5), season=100)


# Verdicts ---------------------------------------------------------------------------------------


def compared(ours, theirs):
    """Blocks of one row, of which the errors are given."""
    truth = np.zeros((len(ours), 1))
    errors = {backtest.OURS: np.array(ours)[:, None], "last value": np.array(theirs)[:, None]}
    return verdicts(backtest.Backtest(truth, errors, 2.0))[0]


@pytest.mark.parametrize(
    ("ours", "theirs", "word"),
    [
        ([1.0, 1.2, 0.9], [2.0, 2.2, 2.1], "beats"),
        ([1.0, 3.0, 0.9], [2.0, 2.2, 2.1], "not clearly"),
        ([1.0, 1.0], [2.0, 2.0], "not clearly"),  # two blocks can be luck
        ([1.0], [2.0], "not clearly"),
        ([1.99, 2.18, 2.08], [2.0, 2.2, 2.1], "not clearly"),  # regular, and nothing
        ([2.0, 2.0, 2.0], [2.0, 2.0, 2.0], "does not beat"),
        ([2.0, 2.0, 4.0], [2.1, 2.1, 2.1], "does not beat"),
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], "does not beat"),
        ([0.0, 0.0, 0.0], [1.0, 2.0, 1.0], "beats"),
    ],
)
def test_words_of_verdicts(ours, theirs, word):
    verdict = compared(ours, theirs)
    assert verdict.word == word
    assert verdict.wins == sum(a < b for a, b in zip(ours, theirs, strict=True))
    assert verdict.sentence.startswith("Beats" if word == "beats" else "Does not")


def test_a_rival_without_error_is_told_as_such():
    verdict = compared([0.5, 0.5, 0.5], [0.0, 0.0, 0.0])
    assert verdict.word == "does not beat"
    assert "above zero, where that one makes no error at all" in verdict.sentence
    assert "zero, as that one's" in compared([0.0, 0.0], [0.0, 0.0]).sentence
    assert "400 times as high" in compared([40.0, 40.0], [0.1, 0.1]).sentence
    assert "the same within 1%" in compared([1.0, 1.001], [1.0, 1.0]).sentence


def test_an_exactly_periodic_series(quick):
    y = np.tile([1.0, 5.0, 2.0, 8.0, 3.0], 40)
    made = table_forecast.forecast(plain(y), 10, candidates.Network(5)).backtest
    rival = verdicts(made)[0]
    assert rival.rival == "seasonal naive, 5"
    assert "no error at all" in rival.sentence
    assert np.isnan(made.mase(backtest.OURS))


# Bands ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "word", "factor"), [(1.0, "kept", 1), (3.0, "too narrow", 3), (0.3, "too wide", 1)]
)
def test_bands_are_widened_by_what_held_out_rows_needed(size, word, factor):
    errors = size * np.random.default_rng(0).normal(size=(5, 2000)) * [[1], [2], [3], [4], [5]]
    deviations = np.ones((5, 2000)) * [[1], [2], [3], [4], [5]]
    bands = Bands.of(0.9, errors, deviations, np.array([1.0, 2.0]))
    assert bands.word == word
    np.testing.assert_allclose(bands.future, factor * 1.645 * np.array([1, 2]), rtol=0.02)
    assert np.mean(bands.errors <= bands.factor * bands.held_out) >= 0.9
    assert f"{100 * bands.coverage:.3g}% of held-out rows" in bands.sentence
    assert ("times as wide" in bands.sentence) == (bands.factor > 1.005)


def test_bands_of_a_series_without_noise():
    bands = Bands.of(0.9, np.zeros((1, 3)), np.zeros((1, 3)), np.zeros(3))
    assert bands.coverage == 1
    np.testing.assert_array_equal(bands.future, 0)


def test_measures():
    made = backtest.Backtest(np.zeros((1, 2)), {"a": np.array([[3.0, -4.0]])}, 2.0)
    assert made.mae("a") == 3.5
    assert made.rmse("a") == pytest.approx(np.sqrt(12.5))
    assert made.mase("a") == 1.75
    truth = np.array([[0.0, np.nan]])
    assert backtest.Backtest(truth, {"a": np.array([[3.0, np.nan]])}, 2.0).mae("a") == 3
    assert backtest.Backtest(truth, {"a": np.array([[np.nan, 1.0]])}, 2.0).mae("a") == np.inf
