"""Tables in files: separators, formats of cells, and places of errors."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas as pd

from eigenecho.apps.tables.table import TableError, need_pandas
from eigenecho.apps.tables.table_files import read
from tables import DAYS, VALUES, frame, loaded, one, saved, taken


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
def test_separators_are_detected(tmp_path, sep):
    series = one(taken(saved(tmp_path, frame(), sep=sep)))
    np.testing.assert_array_equal(series.values, VALUES)
    assert series.clock.text(series.clock.times[:1]) == ["2023-01-30"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_byte_order_marks_are_not_part_of_the_header(tmp_path, encoding):
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


def written(sep, dates, cells, header="date"):
    """Return a table of dates and values as text."""
    rows = [f"{date}{sep}{cell}" for date, cell in zip(dates, cells, strict=False)]
    return "\n".join([f"{header}{sep}sales", *rows]).encode()


ISO = [f"2023-01-{day:02d}" for day in range(1, 6)]
DOTTED = [f"{day:02d}.01.2023" for day in range(1, 6)]


@pytest.mark.parametrize(
    ("sep", "dates", "cells"),
    [
        (";", DOTTED, ["987", "1.061", "1.102", "", "1.250"]),
        (";", ISO, ["987", "1.061", "1.102", "999", "1.250"]),
        (";", ISO, ["1.061", "2.102", "-13.250", "+999.125", "1.250"]),
        ("\t", ISO, ["987", "1.061", "1.102", "999", "1.250"]),
        (",", DOTTED, ["987", "1.061", "1.102", "999", "1.250"]),
        (",", [f'{date},"12,5"' for date in ISO], ["987", "1.061", "1.102", "999", "1.250"]),
        (",", [f'{date},"1.061,50"' for date in ISO], ["987", "1.061", "1.102", "999", "1.250"]),
    ],
)
def test_ambiguous_points_are_rejected(tmp_path, sep, dates, cells):
    header = "date,price" if dates[0].endswith('"') else "date"
    data = written(sep, dates, cells, header)
    with pytest.raises(TableError, match=r"'sales' .* thousands: line \d says '1\.061'") as error:
        loaded(tmp_path, data)
    assert "--decimal '.' for a decimal point, --decimal ',' for thousands" in str(error.value)


@pytest.mark.parametrize(
    ("decimal", "cells"),
    [
        (",", ["987", "1.061", "-1.102.500", "999,5", "+1.250,25"]),
        (".", ["987", "1,061", "-1,102,500", "999.5", "+1,250.25"]),
    ],
)
@pytest.mark.parametrize("dates", [ISO, DOTTED])
def test_other_sign_separates_thousands(tmp_path, decimal, cells, dates):
    result = loaded(tmp_path, written(";", dates, cells), reading={"decimal": decimal})
    np.testing.assert_array_equal(result.values, [987, 1061, -1102500, 999.5, 1250.25])


@pytest.mark.parametrize("cell", ["0.123", "1.5", "1234.567", "1.0615", ".125", "1.125e1", "7."])
def test_one_unambiguous_decimal_point_is_enough(tmp_path, cell):
    result = loaded(tmp_path, written(";", DOTTED, ["1.061", cell, "2.062", "3.063", "4.064"]))
    np.testing.assert_array_equal(result.values, [1.061, float(cell), 2.062, 3.063, 4.064])


@pytest.mark.parametrize("reading", [{}, {"decimal": "."}])
def test_points_between_commas_are_decimal(tmp_path, reading):
    cells = ["987", "1.061", "1.102", "999", "1.250"]
    result = loaded(tmp_path, written(",", ISO, cells), reading=reading)
    np.testing.assert_array_equal(result.values, [987, 1.061, 1.102, 999, 1.25])
    result = loaded(tmp_path, written(";", DOTTED, cells), reading={"decimal": "."})
    np.testing.assert_array_equal(result.values, [987, 1.061, 1.102, 999, 1.25])


def test_points_of_a_single_column_are_ambiguous(tmp_path):
    with pytest.raises(TableError, match="separate thousands"):
        loaded(tmp_path, b"sales\n987\n1.061\n1.102\n")
    np.testing.assert_array_equal(
        loaded(tmp_path, b"sales\n987\n1.061\n1.1\n").values, [987, 1.061, 1.1]
    )


@pytest.mark.parametrize("cell", ["0.123", "12.34", "1.06", "1234.567", "1.061.50", "01.061"])
def test_misplaced_thousands_separators_are_rejected(tmp_path, cell):
    data = written(";", ISO, ["1.061", cell, "2.062", "3.063", "4.064"])
    with pytest.raises(TableError, match="cells that are not numbers"):
        loaded(tmp_path, data, reading={"decimal": ","})


LINES = "date,sales\n" + "".join(f"2023-01-{d:02d},{d}.5\n" for d in range(1, 31))


@pytest.mark.parametrize(
    ("text", "reading", "message"),
    [
        ("", {}, ["is empty"]),
        ("date,sales\n", {}, ["header and no rows"]),
        ("1,2\n3,4\n", {}, ["no header", "'1,2'"]),
        (LINES.replace("7.5", "shut", 1), {}, ["line 8 says 'shut'", "--gaps fill"]),
        (LINES.replace("7.5", "inf", 1), {}, ["line 8 says 'inf'"]),
        (LINES.replace("7.5", '"7,5"', 1), {}, ["'7,5'", "--decimal ','"]),
        (LINES.replace("7.5", '"7,500"', 1), {}, ["thousands: --decimal '.'; if decimals:"]),
        (LINES.replace("7.5", '"7,500.5"', 1), {}, ["decimal point: --decimal '.'"]),
        (LINES.replace("7.5", '"7.500,5"', 1), {}, ["decimal comma: --decimal ','"]),
        (LINES.replace("7.5", "7 500", 1), {}, ["Remove the separators of thousands."]),
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
def test_errors_are_reported_with_their_place(tmp_path, text, reading, message):
    with pytest.raises(TableError) as error:
        loaded(tmp_path, text.encode(), reading=reading)
    for words in message:
        assert words in str(error.value)


@pytest.mark.parametrize(
    ("data", "name", "message"),
    [
        (b"date,caf\xe9\n2023,1\n", "a.csv", "line 1 is not UTF-8 (byte 0xe9)"),
        (gzip.compress(b"date,sales\n" * 99, mtime=0)[:20], "a.csv.gz", "damaged gzip"),
        (b"PK\x03\x04", "a.csv", "Save it as CSV"),
        (b"PAR1....", "a.csv", "Name it a.parquet"),
    ],
)
def test_files_of_other_types(tmp_path, data, name, message):
    with pytest.raises(TableError) as error:
        read(saved(tmp_path, data, name))
    assert message in str(error.value)


def test_missing_file_suggests_a_similar_name(tmp_path):
    saved(tmp_path, frame(), "sales.csv")
    with pytest.raises(TableError, match=r"Did you mean .*sales.csv"):
        read(tmp_path / "sale.csv")
    with pytest.raises(TableError, match="is a folder"):
        read(tmp_path)


def test_missing_package_for_parquet_is_named(tmp_path, monkeypatch):
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


def test_error_without_pandas_has_a_hint(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(TableError, match=r"pip install 'eigenecho\[cli\]'"):
        need_pandas()


def test_names_may_contain_separators(tmp_path):
    for name, quoted in (("a;b;c", "a;b;c"), ("a;b;c", '"a;b;c"'), ("a|b|c|d", "a|b|c|d")):
        text = f"date,{quoted},sales\n" + "".join(f"2023-01-{d:02d},1;2,{d}\n" for d in range(1, 9))
        table = read(saved(tmp_path, text.encode()))
        assert table.names == ("date", name, "sales")
        np.testing.assert_array_equal(table.numbers(2), np.arange(1, 9))


@pytest.mark.parametrize("huge", ["1e308", "-1e200"])
def test_numbers_whose_squares_overflow_are_rejected(tmp_path, huge):
    with pytest.raises(TableError, match=f"floating point: line 8 says '{huge}'.*power of ten"):
        loaded(tmp_path, LINES.replace("7.5", huge, 1).encode())


def test_short_rows_and_open_quotes_are_reported(tmp_path):
    wide = LINES.replace("\n", ",x\n")
    with pytest.raises(TableError, match="line 8 has 2 cells where the header has 3"):
        loaded(tmp_path, wide.replace("7.5,x", "7.5", 1).encode())
    with pytest.raises(TableError, match=r"no CSV file|cells where the header"):
        loaded(tmp_path, LINES.replace("7.5", '"7.5', 1).encode())


def test_multiindex_becomes_columns(tmp_path, monkeypatch):
    index = pd.MultiIndex.from_product([["a", "b"], DAYS], names=["shop", "day"])
    made = pd.DataFrame({"sales": np.r_[VALUES, VALUES]}, index=index)
    monkeypatch.setattr(pd, "read_parquet", lambda _: made)
    series = taken(saved(tmp_path, b"PAR1", "data.parquet"), id="shop")
    assert series.names == ["a", "b"]
    assert series.clocks["b"].times.equals(DAYS)
