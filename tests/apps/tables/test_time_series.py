"""Series of a table: times, gaps, ids and exogenous columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas as pd

from eigenecho.apps.tables.named_clock import NamedClock
from eigenecho.apps.tables.table import Table, TableError
from eigenecho.apps.tables.table_files import read
from eigenecho.apps.tables.time_series import TableColumns, from_table
from tables import DAYS, VALUES, frame, loaded, one, pandas_3, saved, taken

STEPS = {
    "D": "1 day", "2D": "2 days", "h": "1 hour", "15min": "15 minutes", "250ms": "0.25 seconds",
    "W-WED": "1 week", "B": "1 business day", "2B": "2 business days", "MS": "1 month",
    "ME": "1 month", "QS-FEB": "1 quarter", "QE-MAR": "1 quarter", "YS-JAN": "1 year",
    "YE-DEC": "1 year",
}  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_times_continue_at_their_step(tmp_path, step):
    times = pd.date_range("1990-01-01", periods=50, freq=step)
    data = pd.DataFrame({"when": times[:40], "sales": VALUES})
    series = loaded(tmp_path, data)
    assert series.clock.words == STEPS[step]
    assert series.clock.ahead(10).equals(pd.DatetimeIndex(times[40:]))
    text = series.clock.text(series.clock.ahead(10))
    assert len(set(text)) == 10
    assert pd.DatetimeIndex(text).equals(pd.DatetimeIndex(times[40:]))


def test_dates_continue_after_the_last_nanosecond():
    times = pd.date_range("2262-03-03", periods=45, unit="us")  # up to and beyond 2262-04-11
    columns, sales = (times[:40].as_unit("ns").to_numpy(), VALUES), TableColumns(("sales",))
    series = one(from_table(Table(Path("a.parquet"), ("when", "sales"), columns), sales))
    assert series.clock.ahead(5).equals(times[40:])


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
        ("B", (5, 260.8875)), ("2B", (130.44375,)),
        ("MS", (12,)), ("QS-JAN", (4,)), ("YS-JAN", ()), ("6h", (4, 28, 1460.97)),
    ],
)  # fmt: skip
def test_calendar_cycles_in_steps(step, cycles):
    times = pd.date_range("2001-01-01", periods=30, freq=step)
    clock = NamedClock(times, pd.tseries.frequencies.to_offset(step), "when")
    assert clock.cycles == pytest.approx(cycles)


@pytest.mark.parametrize("form", ["%d/%m/%Y", "%m/%d/%Y", "%Y-%m-%d", "%Y%m%d", "%d %b %Y"])
def test_formats_of_dates(tmp_path, form):
    data = frame().assign(date=DAYS.strftime(form))
    assert loaded(tmp_path, data).clock.times.equals(DAYS)


def test_day_first_is_recognised_by_the_regular_step(tmp_path):
    months = pd.date_range("2020-01-01", periods=40, freq="MS")  # both orders give valid dates
    data = frame().assign(date=months.strftime("%d/%m/%Y"))
    assert loaded(tmp_path, data).clock.times.equals(months)


@pytest.mark.parametrize("gaps", ["error", "fill", "ignore"])
def test_regular_reading_is_preferred_for_any_treatment_of_gaps(tmp_path, gaps):
    months = pd.date_range("2020-01-01", periods=40, freq="MS")
    data = frame().assign(date=months.strftime("%d/%m/%Y"))
    series = loaded(tmp_path, data, gaps=gaps)
    assert series.clock.times.equals(months)
    np.testing.assert_array_equal(series.values, VALUES)
    if gaps != "error":
        holes = loaded(tmp_path, data.drop(index=[7, 20]), gaps=gaps)
        assert holes.clock.words == "1 month"


def test_dates_are_preferred_to_numbers_named_like_times(tmp_path):
    data = frame()
    data.insert(0, "year", DAYS.year)  # constant
    assert loaded(tmp_path, data).clock.name == "date"
    data["year"] = np.arange(40)
    assert loaded(tmp_path, data).clock.name == "date"
    data.insert(0, "made", "2024-01-01")  # constant dates
    data["seen"] = ["2024-01-01"] * 39 + ["never"]  # ignored, because another column is the time
    assert loaded(tmp_path, data).clock.name == "date"


def test_numbers_that_cannot_be_times_are_skipped(tmp_path):
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
    with pytest.raises(TableError, match="no regular step"):  # sorted, so reported
        loaded(tmp_path, pd.DataFrame({"t": np.arange(40) ** 1.5, "sales": VALUES}))


def test_time_column_can_be_disabled(tmp_path):
    series = loaded(tmp_path, frame().iloc[::-1], time="none")
    assert series.clock.name == "row"
    np.testing.assert_array_equal(series.values, VALUES[::-1])
    named = loaded(tmp_path, frame().rename(columns={"date": "none"}), time="none")
    assert named.clock.times.equals(DAYS)


def test_local_days_are_regular_across_the_change_of_summer_time(tmp_path, monkeypatch):
    days = pd.date_range("2021-03-10", periods=40, freq="D", tz="Europe/Paris")
    plain_days = days.tz_localize(None)
    text = loaded(tmp_path, frame().assign(date=[t.isoformat() for t in days]))
    assert text.clock.times.equals(plain_days)
    assert text.notes == ()
    monkeypatch.setattr(pd, "read_parquet", lambda _: made)
    path = saved(tmp_path, b"PAR1", "data.parquet")
    made = frame().assign(date=days)
    assert one(taken(path)).clock.times.equals(plain_days)
    hours = pd.date_range("2021-03-27", periods=40, freq="h", tz="Europe/Paris")
    made = frame().assign(date=hours)
    series = one(taken(path))
    assert series.clock.times[0] == pd.Timestamp("2021-03-26 23:00")
    assert series.notes == ("times are given in UTC",)


def test_unsorted_rows_are_sorted_and_reported(tmp_path):
    for data, said in (
        (frame().iloc[::-1], "turned round"),
        (frame().sample(frac=1, random_state=0), "were sorted"),
    ):
        series = loaded(tmp_path, data)
        np.testing.assert_array_equal(series.values, VALUES)
        assert said in series.notes[0]


def test_offsets_from_utc(tmp_path):
    hours = pd.date_range("2021-03-27", periods=40, freq="h", tz="Europe/Paris")
    data = frame().assign(date=[t.isoformat() for t in hours])  # with a change of DST
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


def test_gaps_can_be_passed_on_or_ignored(tmp_path):
    data = frame().drop(index=[5, 6, 20])
    data.loc[30, "sales"] = np.nan
    filled = loaded(tmp_path, data, gaps="fill")
    assert filled.clock.times.equals(DAYS)
    expected = VALUES.copy()
    expected[[5, 6, 20, 30]] = np.nan
    np.testing.assert_array_equal(filled.values, expected)
    assert filled.notes == (
        "3 rows missing from the table",
        "4 cells of 'sales' empty: bridged, and left out of all errors",
    )
    passed = loaded(tmp_path, data.drop(index=30), gaps="ignore")
    np.testing.assert_array_equal(passed.values, np.delete(VALUES, [5, 6, 20, 30]))
    assert passed.by_rows
    assert list(passed.y.index) == list(range(1, 37))
    assert passed.notes == ("4 rows missing from the table: rows are steps",)
    assert passed.clock.text(passed.clock.ahead(1)) == ["2023-03-11"]


def test_target_may_start_late(tmp_path):
    data = frame()
    data.loc[:1, "sales"] = np.nan
    series = loaded(tmp_path, data)
    np.testing.assert_array_equal(series.values, VALUES[2:])
    assert series.clock.times[0] == DAYS[2]
    assert series.notes == ("2 rows before the first 'sales' left out",)


def test_inputs_must_be_known_in_all_rows(tmp_path):
    data = frame()
    data.loc[35:, "sales"] = np.nan
    data.loc[10, "heat"] = np.nan
    series = loaded(tmp_path, data, inputs=("heat",), gaps="fill")
    heat = VALUES[::-1]
    assert series.X["heat"].iloc[10] == heat[9]
    assert "1 cell of inputs empty: what was before goes on" in series.notes
    for row in (0, 36, 39):  # at the start, between future cells, at the end
        hollow = data.copy()
        hollow.loc[row, "heat"] = np.nan
        with pytest.raises(TableError, match=f"'heat' is empty at line {row + 2} .*write what"):
            loaded(tmp_path, hollow, inputs=("heat",), gaps="fill")
    with pytest.raises(TableError, match=r"'heat' is empty at date 2023-03-08 \(no such row\)"):
        loaded(tmp_path, data.drop(index=37), inputs=("heat",), gaps="fill")
    with pytest.raises(
        TableError, match=r"'heat' is empty at line 12 .*what was before by --gaps fill"
    ):
        loaded(tmp_path, data, inputs=("heat",))


def test_rows_missing_in_the_table_are_filled_by_the_forecaster(tmp_path):
    data = frame().drop(index=[5, 6])
    series = loaded(tmp_path, data, inputs=("heat",), gaps="fill")
    assert series.y.index.equals(pd.DatetimeIndex(DAYS.delete([5, 6]), name="date"))
    assert series.X.index.equals(series.y.index)
    assert np.isnan(series.values[[5, 6]]).all()


def test_inputs_extend_beyond_the_target(tmp_path):
    data = frame()
    data.loc[data.index[-4:], "sales"] = np.nan
    series = taken(saved(tmp_path, data), inputs=("heat",))
    assert series.rows == 36
    assert series.ahead == 4
    assert one(series).clock.times[-1] == DAYS[35]
    np.testing.assert_array_equal(series.X["heat"], VALUES[::-1])
    assert series.X.index.equals(pd.DatetimeIndex(DAYS, name="date"))
    assert series.y.index.equals(series.X.index[:36])
    with pytest.raises(TableError, match="'sales' twice"):
        taken(saved(tmp_path, data), inputs=("sales",))


def test_past_columns_may_have_gaps(tmp_path):
    data = frame()
    data.loc[10, "heat"] = np.nan
    with pytest.raises(TableError, match=r"'heat' is empty at line 12 .*--gaps fill"):
        loaded(tmp_path, data, past=("heat",))
    assert loaded(tmp_path, data, past=("heat",), gaps="fill").X["heat"].isna().sum() == 1


def test_only_the_last_of_many_rows_are_used(tmp_path):
    data = frame()
    data.loc[3, "sales"] = np.nan  # before the rows that are used
    series = taken(saved(tmp_path, data), last=30, inputs=("heat",))
    np.testing.assert_array_equal(one(series).values, VALUES[10:])
    np.testing.assert_array_equal(series.X["heat"], VALUES[::-1][10:])
    assert series.notes == ("only the last 30 rows are learnt from; --last takes more",)
    assert taken(saved(tmp_path, frame()), last=40).last is None


# Difficult times -------------------------------------------------------------------------------


def test_invalid_date_is_found_without_parsing_each_separately(tmp_path, monkeypatch):
    hours = pd.date_range("1990-01-01", periods=100_000, freq="h").strftime("%d/%m/%Y %H:%M")
    data = pd.DataFrame({"when": hours, "sales": np.arange(100_000)})
    data.loc[70_000, "when"] = "soon"
    path, calls, real = saved(tmp_path, data), [], pd.to_datetime
    monkeypatch.setattr(pd, "to_datetime", lambda *a, **k: calls.append(1) or real(*a, **k))
    with pytest.raises(TableError, match="line 70002 says 'soon'"):
        taken(path, time="when")
    assert len(calls) < 100


@pytest.mark.parametrize(
    "cells",
    [
        ("08:00", "09:00"),
        ("8:00 am", "9:00 am"),
        pytest.param(("10am", "11am"), marks=pandas_3),
        pytest.param(("5 Jan", "6 Jan"), marks=pandas_3),
    ],
)
def test_times_without_a_year_are_not_dates(tmp_path, cells):
    data = pd.DataFrame({"time": np.resize(cells, 40), "sales": VALUES})
    assert loaded(tmp_path, data).clock.name == "row"
    with pytest.raises(TableError, match=f"without a year, such as '{cells[0]}'.*--time none"):
        loaded(tmp_path, data, time="time")


@pytest.mark.parametrize("form", ["%d.%m.%y", "%d %b %y", "%b %d, %Y %I:%M %p", "%Y/%m/%d %H:%M"])
def test_dates_with_two_digit_years_or_hours_are_recognised(tmp_path, form):
    series = loaded(tmp_path, frame().assign(date=DAYS.strftime(form)))
    assert series.clock.times.equals(DAYS)


@pytest.mark.parametrize("step", ["us", "250us", "ns"])
def test_short_steps_are_distinguished(tmp_path, step):
    times = pd.date_range("2020-01-01", periods=40, freq=step)
    clock = loaded(tmp_path, pd.DataFrame({"when": times.map(str), "sales": VALUES})).clock
    text = clock.text(clock.ahead(20))
    assert len(set(text)) == 20
    expected = pd.date_range("2020-01-01", periods=60, freq=step)[40:]
    assert (pd.DatetimeIndex(text) == expected).all()


# Several series --------------------------------------------------------------------------------


def long_frame():
    """Return two interleaved series, of which the second is shorter."""
    one_, other = frame().assign(shop="b"), frame().iloc[15:].assign(shop="a")
    return pd.concat([one_, other]).sort_values("date", kind="stable")


def test_long_table_has_a_series_for_each_id(tmp_path):
    series = taken(saved(tmp_path, long_frame()), id="shop", past=("heat",))
    assert series.names == ["a", "b"]
    np.testing.assert_array_equal(series.values["a"], VALUES[15:])
    np.testing.assert_array_equal(series.values["b"], VALUES)
    assert series.clocks["a"].times[0] == DAYS[15]
    assert list(series.y.columns) == ["shop", "date", "sales"]
    assert list(series.X.columns) == ["shop", "date", "heat"]
    assert len(series.y) == 65
    assert series.notes == ()


def test_ids_are_text(tmp_path, monkeypatch):
    numbered = long_frame().assign(shop=np.where(long_frame()["shop"] == "a", 7, 12))
    path = saved(tmp_path, numbered)
    assert taken(path, id="shop").names == ["12", "7"]
    monkeypatch.setattr(pd, "read_parquet", lambda _: numbered)
    assert taken(saved(tmp_path, b"PAR1", "a.parquet"), id="shop").names == ["12", "7"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(index=20), "of series 'a' goes in steps of 1 day, with 1 row missing"),
        (lambda f: pd.concat([f, f.iloc[-1:]]), "of series 'a' holds the same time twice"),
        (lambda f: f.assign(sales=f["sales"].mask(f.index == 20)), "of series 'a' is empty at"),
        (lambda f: f.assign(shop=f["shop"].mask(f.index == 3)), "'shop' is empty at line 5"),
    ],
)  # fmt: skip
def test_errors_of_one_series_contain_its_name(tmp_path, change, message):
    data = long_frame().reset_index(drop=True)
    other = data[data["shop"] == "a"].reset_index(drop=True)
    data = pd.concat([data[data["shop"] == "b"], change(other)], ignore_index=True)
    if "'shop'" in message:
        data = change(data)
    with pytest.raises(TableError, match=message):
        taken(saved(tmp_path, data), id="shop")


def test_series_without_numbers_are_omitted(tmp_path):
    data = long_frame()
    data.loc[data["shop"] == "a", "sales"] = np.nan
    series = taken(saved(tmp_path, data), id="shop")
    assert series.names == ["b"]
    assert "1 series without numbers were left out" in series.notes


def test_several_targets_share_their_rows(tmp_path):
    data = frame()
    data.loc[:4, "heat"] = np.nan  # a target may start later
    table = read(saved(tmp_path, data))
    series = from_table(table, TableColumns(table.chosen("sales,heat", "--target")))
    assert series.names == ["sales", "heat"]
    assert list(series.y.columns) == ["sales", "heat"]
    assert np.isnan(series.values["heat"][:5]).all()
    data.loc[20, "heat"] = np.nan
    with pytest.raises(TableError, match="'heat' is empty at line 22"):
        from_table(read(saved(tmp_path, data)), TableColumns(("sales", "heat")))
    with pytest.raises(TableError, match="one target at a time"):
        TableColumns(("sales", "heat"), id="shop")


def test_name_may_contain_a_comma(tmp_path):
    table = read(saved(tmp_path, frame().rename(columns={"heat": "heat, C"})))
    assert table.chosen("heat, C", "--target") == ("heat, C",)
    assert table.chosen("sales, date", "--target") == ("sales", "date")
    with pytest.raises(TableError, match="'heat' is not known"):
        table.chosen("heat,C", "--target")
