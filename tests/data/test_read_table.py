"""Tables from files: separators, numbers, dates, ids, gaps, and columns beside the target."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas as pd

from eigenecho.data.read_table import read_table
from tables import DAYS, VALUES, frame, loaded, saved


def names(series):
    return [history.name for history in series.panel.histories]


def values(series, name="sales"):
    return series.y[name].to_numpy()


# Files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
def test_separators(tmp_path, sep):
    path = saved(tmp_path, frame(), sep=sep)
    series = read_table(path, "sales", sep=sep)
    np.testing.assert_array_equal(values(series), VALUES)
    assert series.y.index.equals(pd.DatetimeIndex(DAYS, name="date"))
    if sep != ",":
        with pytest.raises(ValueError, match="--sep"):
            read_table(path, "sales")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(tmp_path, encoding):
    data = frame().rename(columns={"heat": "été"}).to_csv(index=False).replace("\n", "\r\n")
    path = saved(tmp_path, gzip.compress(data.encode(encoding)), "data.csv.gz")
    if encoding.startswith("utf-8"):
        assert read_table(path, "été").time == "date"
        return
    with pytest.raises(ValueError, match=r"--encoding.*cp1252"):
        read_table(path, "été")
    series = read_table(path, "été", encoding=encoding)
    np.testing.assert_array_equal(values(series, "été"), VALUES[::-1])


def test_lines_before_the_header_are_skipped(tmp_path):
    text = "Report\n\nof, two\n" + frame().to_csv(index=False)
    with pytest.raises(ValueError, match=r"line 3.*--skip-rows"):
        loaded(tmp_path, text.encode())
    np.testing.assert_array_equal(values(loaded(tmp_path, text.encode(), skip_rows=3)), VALUES)


def test_empty_lines_are_skipped_but_are_values_of_a_single_column(tmp_path):
    text = frame().to_csv(index=False).replace("\n2023-02-10", "\n\n  \n2023-02-10") + "\n\n"
    np.testing.assert_array_equal(values(loaded(tmp_path, text.encode())), VALUES)
    with pytest.raises(ValueError, match="empty in line 4 "):
        loaded(tmp_path, b"sales\n1\n2\n\n3.5\n\n")
    np.testing.assert_array_equal(
        values(loaded(tmp_path, b"sales\n1\n2\n\n3.5\n\n", gaps="fill")), [1, 2, np.nan, 3.5]
    )


def test_names_of_columns(tmp_path):
    data = frame().rename(columns={"heat": "heat, C"})
    assert loaded(tmp_path, data, "heat, C").targets == ("heat, C",)
    assert loaded(tmp_path, frame(), "sales, heat").targets == ("sales", "heat")
    assert loaded(tmp_path, frame().rename(columns={"date": ""})).time == "column 1"


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (gzip.compress(b"date,sales\n" * 99, mtime=0)[:20], "a.csv.gz"),
        (b"PK\x03\x04\xff", "a.csv"),
        (b"PAR1", "a.parquet"),
        (None, "a.csv"),
    ],
)
def test_files_that_are_something_else(tmp_path, data, name):
    path = tmp_path / name if data is None else saved(tmp_path, data, name)
    with pytest.raises(ValueError, match=r"Cannot read .*a\."):
        read_table(path, "sales")
    with pytest.raises(ValueError, match="Cannot read"):
        read_table(tmp_path, "sales")


# Numbers ----------------------------------------------------------------------------------------


def written(sep, dates, cells):
    """A table of dates and values, as bytes."""
    rows = [f"{date}{sep}{cell}" for date, cell in zip(dates, cells, strict=False)]
    return "\n".join([f"date{sep}sales", *rows]).encode()


ISO = [f"2023-01-{day:02d}" for day in range(1, 6)]


@pytest.mark.parametrize("sep", [",", ";", "\t"])
@pytest.mark.parametrize(
    "cells", [["987", "1.061", "1.102", "", "1.250"], ["1.061", "2.102", "-13.250", "+999.125"]]
)
def test_points_that_may_separate_thousands_are_refused(tmp_path, sep, cells):
    with pytest.raises(ValueError, match=r"'sales' is ambiguous.*--decimal \. or --thousands \."):
        loaded(tmp_path, written(sep, ISO, cells), sep=sep)


@pytest.mark.parametrize(
    ("options", "cells"),
    [
        ({"decimal": ",", "thousands": "."}, ["987", "1.061", "-1.102.500", "999,5", "+1.250,25"]),
        ({"thousands": "."}, ["987", "1.061", "-1.102.500", "999,5", "1250,25"]),
        ({"thousands": ","}, ["987", "1,061", "-1,102,500", "999.5", "+1,250.25"]),
        (
            {"thousands": "\u202f"},
            ["987", "1\u202f061", "-1\u202f102\u202f500", "999.5", "1250.25"],
        ),
        ({"thousands": "'"}, ["987", "1'061", "-1'102'500", "999.5", "1250.25"]),
        ({"thousands": " ", "decimal": ","}, ["987", "1 061", "-1 102 500", "999,5", "1 250,25"]),
    ],
)
def test_thousands(tmp_path, options, cells):
    series = loaded(tmp_path, written(";", ISO, cells), sep=";", **options)
    np.testing.assert_array_equal(values(series), [987, 1061, -1102500, 999.5, 1250.25])
    if "," in "".join(cells) or "'" in "".join(cells):
        with pytest.raises(ValueError, match="--thousands"):
            loaded(tmp_path, written(";", ISO, cells), sep=";")


@pytest.mark.parametrize(
    "cell", ["0.123", "1.5", "1234.567", "1.0615", ".125", "1.125e1", "7.", "1234"]
)
def test_one_clear_number_is_enough(tmp_path, cell):
    series = loaded(
        tmp_path, written(";", ISO, ["1.061", cell, "2.062", "3.063", "4.064"]), sep=";"
    )
    np.testing.assert_array_equal(values(series), [1.061, float(cell), 2.062, 3.063, 4.064])


@pytest.mark.parametrize(
    "cell",
    ["0.123", "12.34", "1234.567", "1.061.50", "01.061", "5 %", "€5", "(5)", "5-", "-", "?", "inf"],
)
def test_cells_that_are_no_numbers(tmp_path, cell):
    data = written(";", ISO, ["1.061", cell, "2.062", "3.063", "4.064"])
    with pytest.raises(ValueError, match="cells that are not numbers: line 3 contains"):
        loaded(tmp_path, data, sep=";", decimal=",", thousands=".")


@pytest.mark.parametrize("mark", ["NA", "n/a", "NULL", "NaN", "None", ""])
def test_marks_of_missing_values(tmp_path, mark):
    series = loaded(tmp_path, written(";", ISO, ["1", mark, "2", "3.5", "4"]), sep=";", gaps="fill")
    np.testing.assert_array_equal(values(series), [1, np.nan, 2, 3.5, 4])


LINES = "date,sales\n" + "".join(f"2023-01-{d:02d},{d}.5\n" for d in range(1, 31))


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("", {}, ["Cannot read"]),
        ("date,sales\n", {}, ["contains no data"]),
        ("1,2\n3,4\n", {}, ["--target='sales'", "--skip-rows"]),
        (LINES, {"target": ""}, ["--target"]),
        (LINES.replace("7.5", "shut", 1), {}, ["line 8 contains 'shut'"]),
        (LINES.replace("7.5", '"7,5"', 1), {}, ["'7,5'", "--decimal or --thousands"]),
        (LINES, {"decimal": ","}, ["'1.5'", "--decimal"]),
        (LINES, {"decimal": "x"}, ["--decimal 'x'", "expected"]),
        (LINES, {"thousands": "x"}, ["--thousands 'x'", "expected"]),
        (LINES, {"thousands": ".", "decimal": "."}, ["--thousands '.'"]),
        (LINES, {"sep": "::"}, ["--sep", "one character"]),
        (LINES, {"encoding": "latin-99"}, ["latin-99", "--encoding"]),
        (LINES, {"gaps": "fil"}, ["Did you mean 'fill'?"]),
        (LINES.replace("7.5", "7,5", 1), {}, ["Cannot read", "line 8, saw 3", "--sep"]),
        (LINES.replace("7.5", "", 1), {}, ["empty in line 8 (2023-01-07)", "--gaps fill"]),
        (LINES.replace("date,sales", "sales,sales"), {}, ["named 'sales'"]),
        (LINES.replace("sales", "sale"), {}, ["Unknown --target='sales'", "Did you mean 'sale'?"]),
        (LINES.replace("2023-01-07", "soon"), {}, ["line 8 contains 'soon'", "--time"]),
        (LINES.replace("2023-01-07", ""), {}, ["'date' is empty in line 8"]),
        (LINES + "2023-01-07,1\n", {}, ["2023-01-07", "--id"]),
        (LINES + "Total,465\n", {}, ["line 32 contains 'Total'"]),
        (
            LINES.replace("2023-01-07,7.5\n2023-01-08,8.5\n", ""), {},
            ["1 day", "no row at 2023-01-07", "--gaps fill"],
        ),
        (LINES.replace("2023-01-07", "2023-01-07 01:23"), {}, ["2023-01-07", "--time none"]),
        (LINES.replace("7.5", '"7.5', 1), {}, ["Cannot read"]),
        ("date,sales\n" + "2023-01-01,5\n2023-01-02,5\n2023-01-03,5\n", {}, ["constant"]),
        ("date,sales\n2023-01-01,\n2023-01-02,\n2023-01-03,\n", {}, ["no numbers"]),
        (
            LINES.replace("7.5", "1e308", 1), {},
            ["absolute values above 1e+150", "line 8 contains '1e308'"],
        ),
        (LINES, {"inputs": "sales"}, ["'sales' is listed twice"]),
        (LINES, {"id": "shop"}, ["Unknown --id='shop'"]),
    ],
)  # fmt: skip
def test_errors_name_the_place_and_the_option(tmp_path, text, options, words):
    with pytest.raises(ValueError, match=re.escape(words[0])) as error:
        loaded(tmp_path, text.encode(), **options)
    for part in words:
        assert part in str(error.value)


# Parquet ----------------------------------------------------------------------------------------


def parquet(monkeypatch, tmp_path, data, target="sales", **options):
    monkeypatch.setattr(pd, "read_parquet", lambda _: data)
    return read_table(saved(tmp_path, b"PAR1", "data.parquet"), target, **options)


def test_parquet_needs_a_package_and_says_which(tmp_path, monkeypatch):
    def absent(_):
        raise ImportError("no engine")

    monkeypatch.setattr(pd, "read_parquet", absent)
    with pytest.raises(ImportError, match=r"pip install 'eigenecho\[parquet\]'"):
        read_table(saved(tmp_path, b"PAR1", "data.parquet"), "sales")


def test_parquet_columns_of_all_kinds(tmp_path, monkeypatch):
    data = pd.DataFrame(
        {
            "sales": pd.array([1, None, 3], dtype="Int64"),
            "open": [True, False, True],
            "text": ["1.5", None, "2.5"],
            "name": ["a", None, "c"],
        },
        index=pd.DatetimeIndex(DAYS[:3], tz="Europe/Paris", name="day"),
    )
    series = parquet(monkeypatch, tmp_path, data, past="open,text", gaps="fill")
    assert series.y.index.equals(pd.DatetimeIndex(DAYS[:3], name="day"))
    np.testing.assert_array_equal(values(series), [1, np.nan, 3])
    np.testing.assert_array_equal(series.X, [[1, 1.5], [0, np.nan], [1, 2.5]])
    with pytest.raises(ValueError, match="row 0 contains 'a'"):
        parquet(monkeypatch, tmp_path, data, "name")


def test_an_index_of_several_levels_is_columns(tmp_path, monkeypatch):
    index = pd.MultiIndex.from_product([["a", "b"], DAYS], names=["shop", "day"])
    data = pd.DataFrame({"sales": np.r_[VALUES, VALUES]}, index=index)
    series = parquet(monkeypatch, tmp_path, data, id="shop")
    assert names(series) == ["a", "b"]
    assert series.panel.histories[1].times.equals(DAYS)
    periods = pd.DataFrame({"month": pd.period_range("2020-01", periods=40), "sales": VALUES})
    assert parquet(monkeypatch, tmp_path, periods).y.index[1] == pd.Timestamp("2020-01-02")


# Times ------------------------------------------------------------------------------------------

STEPS = (
    "D", "2D", "h", "15min", "250ms", "W-WED", "B", "MS", "ME", "QS-FEB", "QE-MAR", "YS-JAN",
    "YE-DEC", "BME", "us", "ns",
)  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_regular_times_are_accepted_and_gaps_refused(tmp_path, step):
    times = pd.date_range("1990-01-01", periods=40, freq=step)
    data = pd.DataFrame({"when": times.map(str), "sales": VALUES})
    series = loaded(tmp_path, data)
    assert list(series.y.index) == list(times)
    with pytest.raises(ValueError, match="--gaps fill"):
        loaded(tmp_path, data.drop(index=[5, 6]))
    assert len(loaded(tmp_path, data.drop(index=[5, 6]), gaps="fill").y) == 38


def test_the_same_day_of_every_month(tmp_path):
    times = pd.date_range("2000-01-15", periods=40, freq=pd.DateOffset(months=1))
    series = loaded(tmp_path, pd.DataFrame({"when": times, "sales": VALUES}))
    assert list(series.y.index) == list(times)


@pytest.mark.parametrize(
    "form",
    [
        "%d/%m/%Y", "%m/%d/%Y", "%Y%m%d", "%d %b %Y", "%d.%m.%y", "%y%m%d", "%b %d, %Y %I:%M %p",
        "%a %d.%m.%Y", "%Y-%m-%d CET", "%H:%M %d.%m.%Y", "%Y%j",
    ],
)  # fmt: skip
def test_formats_of_dates_must_be_given(tmp_path, form):
    """Otherwise the series of a long table would be joined, and shuffled rows not be sorted."""
    data = frame().assign(date=DAYS.strftime(form)).sample(frac=1, random_state=0)
    for options in ({}, {"gaps": "fill"}, {"time": "date"}):
        with pytest.raises(ValueError, match=r"'date'.*--date-format"):
            loaded(tmp_path, data, **options)
    series = loaded(tmp_path, data, date_format=form)
    assert list(series.y.index) == list(DAYS)
    np.testing.assert_array_equal(values(series), VALUES)


def test_months_and_quarters(tmp_path):
    months = pd.date_range("2020-01-01", periods=40, freq="MS")
    compact = frame().assign(date=months.strftime("%Y%m"))
    for options in ({"time": "date"}, {"time": "date", "gaps": "fill"}):
        with pytest.raises(ValueError, match=r"--date-format.*%Y%m"):
            loaded(tmp_path, compact.iloc[:12], **options)
    assert list(loaded(tmp_path, compact, date_format="%Y%m").y.index) == list(months)
    for form in ("%Y-%m", "%Y-%m-%d", "%Y/%m/%d"):
        data = frame().assign(date=months.strftime(form))
        assert list(loaded(tmp_path, data).y.index) == list(months)
    quarters = pd.date_range("2010-01-01", periods=40, freq="QS")
    data = frame().assign(date=[f"{time.year}Q{time.quarter}" for time in quarters])
    assert list(loaded(tmp_path, data).y.index) == list(quarters)


def test_the_only_column_of_dates_has_the_times(tmp_path):
    data = frame()
    data.insert(0, "year", DAYS.year)
    assert loaded(tmp_path, data).time == "date"
    data.insert(0, "made", "2024-01-01")
    with pytest.raises(ValueError, match=r"'made' and 'date'.*--time"):
        loaded(tmp_path, data)
    assert loaded(tmp_path, data, time="date").time == "date"


def test_numbers_as_times(tmp_path):
    years = pd.DataFrame({"Year": np.arange(1900, 1940), "sales": VALUES})
    with pytest.raises(ValueError, match=r"'Year'.*--time"):
        loaded(tmp_path, years)
    assert list(loaded(tmp_path, years, time="Year").y.index) == list(range(1900, 1940))
    order = np.random.default_rng(0).permutation(40)
    np.testing.assert_array_equal(values(loaded(tmp_path, years.iloc[order], time="Year")), VALUES)
    quarters = loaded(tmp_path, frame().assign(k=np.arange(40) / 4), time="k")
    assert quarters.y.index[-1] == 9.75
    repeated = pd.DataFrame({"index": np.repeat(np.arange(20), 2), "sales": VALUES})
    assert loaded(tmp_path, repeated, time="none").time == "row"
    with pytest.raises(ValueError, match="several rows at 0"):
        loaded(tmp_path, repeated, time="index")
    with pytest.raises(ValueError, match="step"):
        loaded(tmp_path, pd.DataFrame({"t": np.arange(40) ** 1.5, "sales": VALUES}), time="t")


def test_tables_without_times(tmp_path):
    series = loaded(tmp_path, frame().iloc[::-1], time="none")
    assert series.time == "row"
    assert list(series.y.index) == list(range(1, 41))
    np.testing.assert_array_equal(values(series), VALUES[::-1])
    named = loaded(tmp_path, frame().rename(columns={"date": "none"}), time="none")
    assert list(named.y.index) == list(DAYS)
    assert loaded(tmp_path, frame()[["sales"]]).notes == ["no time column: each row is one step"]
    with pytest.raises(ValueError, match=r"'heat'.*--time none"):
        loaded(tmp_path, frame()[["sales", "heat"]])


@pytest.mark.parametrize("cells", [("08:00", "09:00"), ("8:00 am", "9:00 am"), ("5 Jan", "6 Jan")])
def test_times_without_a_year_are_no_dates(tmp_path, cells):
    data = pd.DataFrame({"time": np.resize(cells, 40), "sales": VALUES})
    for options in ({}, {"time": "time"}):
        with pytest.raises(ValueError, match="--time none"):
            loaded(tmp_path, data, **options)


def test_days_of_a_place_are_days_over_the_change_of_summer_time(tmp_path, monkeypatch):
    days = pd.date_range("2021-03-10", periods=40, freq="D", tz="Europe/Paris")
    text = loaded(tmp_path, frame().assign(date=[t.isoformat() for t in days]))
    assert list(text.y.index) == list(days.tz_localize(None))
    assert text.notes == []
    typed = parquet(monkeypatch, tmp_path, frame().assign(date=days))
    assert list(typed.y.index) == list(days.tz_localize(None))
    hours = pd.date_range("2021-03-27", periods=40, freq="h", tz="Europe/Paris")
    for series in (
        parquet(monkeypatch, tmp_path, frame().assign(date=hours)),
        loaded(tmp_path, frame().assign(date=[t.isoformat() for t in hours])),
    ):
        assert series.y.index[0] == pd.Timestamp("2021-03-26 23:00")
        assert series.notes == ["times are in UTC"]
    mixed = [t.isoformat() for t in hours[:20]] + [str(t)[:19] for t in hours[20:]]
    with pytest.raises(ValueError, match="with and without an offset"):
        loaded(tmp_path, frame().assign(date=mixed))


def test_rows_are_sorted_by_time(tmp_path):
    for data in (frame().iloc[::-1], frame().sample(frac=1, random_state=0)):
        series = loaded(tmp_path, data)
        np.testing.assert_array_equal(values(series), VALUES)
        assert series.notes == []


# Gaps and columns beside the target -------------------------------------------------------------


def test_gaps_can_be_filled(tmp_path):
    data = frame().drop(index=[5, 6, 20])
    data.loc[30, "sales"] = np.nan
    filled = loaded(tmp_path, data, gaps="fill")
    assert list(filled.y.index) == list(DAYS.delete([5, 6, 20]))
    assert np.isnan(values(filled)).sum() == 1
    series = loaded(tmp_path, data.drop(index=30), time="none")
    np.testing.assert_array_equal(values(series), np.delete(VALUES, [5, 6, 20, 30]))
    assert list(series.y.index) == list(range(1, 37))


def test_a_target_that_starts_late_starts_there(tmp_path):
    data = frame()
    data.loc[:1, "sales"] = np.nan
    series = loaded(tmp_path, data)
    np.testing.assert_array_equal(values(series), VALUES[2:])
    assert series.y.index[0] == DAYS[2]


@pytest.mark.parametrize("gaps", ["error", "fill"])
@pytest.mark.parametrize("row", [0, 10, 36, 39])
def test_inputs_must_be_known(tmp_path, row, gaps):
    data = frame()
    data.loc[35:, "sales"] = np.nan
    assert len(loaded(tmp_path, data, inputs="heat", gaps=gaps).X) == 40
    data.loc[row, "heat"] = np.nan
    if row == 10 and gaps == "fill":  # a row with a target
        assert (
            loaded(tmp_path, data, inputs="heat", gaps=gaps).X["heat"].iloc[10] == VALUES[::-1][9]
        )
        return
    with pytest.raises(ValueError, match="heat"):
        loaded(tmp_path, data, inputs="heat", gaps=gaps)


def test_inputs_reach_beyond_the_target(tmp_path):
    data = frame()
    data.loc[data.index[-4:], "sales"] = np.nan
    series = loaded(tmp_path, data, inputs="heat")
    assert series.rows == 36
    assert series.ahead == 4
    np.testing.assert_array_equal(series.X["heat"], VALUES[::-1])
    assert list(series.X.index) == list(DAYS)
    assert series.y.index.equals(series.X.index[:36])


def test_columns_known_up_to_the_present_may_have_gaps(tmp_path):
    data = frame()
    data.loc[10, "heat"] = np.nan
    with pytest.raises(ValueError, match=r"'heat' is empty in line 12 .*--gaps fill"):
        loaded(tmp_path, data, past="heat")
    assert loaded(tmp_path, data, past="heat", gaps="fill").X["heat"].isna().sum() == 1


def test_only_the_last_rows_are_used(tmp_path):
    data = frame()
    data.loc[3, "sales"] = np.nan  # beyond the rows that are used
    series = loaded(tmp_path, data, last=30, inputs="heat")
    np.testing.assert_array_equal(values(series), VALUES[10:])
    np.testing.assert_array_equal(series.X["heat"], VALUES[::-1][10:])
    assert series.notes == ["only the last 30 rows are used (change this with --last)"]
    assert loaded(tmp_path, frame(), last=40).notes == []


def test_several_targets_share_their_rows(tmp_path):
    data = frame()
    data.loc[:4, "heat"] = np.nan  # may start later
    series = loaded(tmp_path, data, "sales,heat")
    assert list(series.y.columns) == ["sales", "heat"]
    assert np.isnan(series.y["heat"][:5]).all()
    data.loc[20, "heat"] = np.nan
    with pytest.raises(ValueError, match="'heat' is empty in line 22"):
        loaded(tmp_path, data, "sales,heat")
    with pytest.raises(ValueError, match="--id requires a single --target"):
        loaded(tmp_path, data.assign(shop="a"), "sales,heat", id="shop")


# Several series ---------------------------------------------------------------------------------


def long_frame():
    """Two series, interleaved, of which the second is shorter."""
    first, second = frame().assign(shop="b"), frame().iloc[15:].assign(shop="a")
    return pd.concat([first, second]).sort_values("date", kind="stable")


def test_a_long_table_has_a_series_for_each_id(tmp_path):
    series = loaded(tmp_path, long_frame(), id="shop", past="heat")
    assert names(series) == ["a", "b"]
    assert list(series.y.columns) == ["shop", "date", "sales"]
    assert list(series.X.columns) == ["shop", "date", "heat"]
    parts = dict(list(series.y.groupby("shop")["sales"]))
    np.testing.assert_array_equal(parts["a"], VALUES[15:])
    np.testing.assert_array_equal(parts["b"], VALUES)
    assert series.rows == 40
    assert series.notes == []


def test_ids_are_text(tmp_path, monkeypatch):
    numbered = long_frame().assign(shop=np.where(long_frame()["shop"] == "a", 7, 12))
    assert names(loaded(tmp_path, numbered, id="shop")) == ["12", "7"]
    assert names(parquet(monkeypatch, tmp_path, numbered, id="shop")) == ["12", "7"]
    floats = numbered.assign(shop=numbered["shop"].astype(float))
    assert names(parquet(monkeypatch, tmp_path, floats, id="shop")) == ["12", "7"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.drop(index=20), "2023-03-06 in series 'a'"),
        (lambda f: f.iloc[[0, 4, 8]], "in series 'a'"),
        (lambda f: pd.concat([f, f.iloc[-1:]]), "series 'a'"),
        (
            lambda f: f.assign(sales=f["sales"].mask(f.index == 20)),
            r"is empty in line 62 .* in series 'a'",
        ),
        (lambda f: f.assign(shop=f["shop"].mask(f.index == 3)), "'shop' is empty in line"),
    ],
)
def test_errors_in_one_series_name_it(tmp_path, change, words):
    data = long_frame().reset_index(drop=True)
    second = data[data["shop"] == "a"].reset_index(drop=True)
    data = pd.concat([data[data["shop"] == "b"], change(second)], ignore_index=True)
    with pytest.raises(ValueError, match=words):
        loaded(tmp_path, data, id="shop")


def test_series_without_any_number_are_left_out(tmp_path):
    data = long_frame()
    data.loc[data["shop"] == "a", "sales"] = np.nan
    series = loaded(tmp_path, data, id="shop")
    assert names(series) == ["b"]
    assert series.notes == ["series without values are left out: 'a'"]


def test_columns_without_any_number_are_left_out(tmp_path):
    data = long_frame()
    data = data[data["shop"] == "a"].drop(columns="shop").assign(empty=np.nan)
    series = loaded(tmp_path, data, target="sales,empty")
    assert series.targets == ("sales",)
    assert series.notes == ["series without values are left out: 'empty'"]
