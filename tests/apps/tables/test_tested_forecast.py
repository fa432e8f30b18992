"""Forecasts of tables: held-out blocks, invalid input, and equivalent Python code."""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

import eigenecho as ee
from eigenecho.apps.tables.predictions import predictions, write
from eigenecho.apps.tables.python_lines import python_lines
from eigenecho.apps.tables.table import TableError
from eigenecho.apps.tables.table_files import read
from eigenecho.apps.tables.tested_forecast import blocks_of, forecast
from eigenecho.apps.tables.time_series import TableColumns, from_table
from eigenecho.apps.tables.verdict import verdicts
from tables import few_candidates, pandas_3, saved


@pytest.fixture(autouse=True, scope="module")
def _quick():
    with few_candidates():
        yield


def seasonal(T=150, seed=0, period=7):
    rng = np.random.default_rng(seed)
    t = np.arange(T)
    return np.round(5 + 0.01 * t + np.sin(2 * np.pi * t / period) + 0.1 * rng.normal(size=T), 4)


def daily(T=150, **columns):
    days = pd.date_range("2021-01-01", periods=T).strftime("%Y-%m-%d")
    return pd.DataFrame({"day": days, "sales": seasonal(T), **columns})


def made(tmp_path, data, columns, horizon=7, *, options=None, gaps="error", last=None, **more):
    """Return the forecast of a table, and the table."""
    table = read(saved(tmp_path, data), **(more.pop("reading", {})))
    series = from_table(table, columns, gaps=gaps, last=last)
    names = series.columns
    given = options or {}
    if names.id is not None:
        given = {"id": names.id, "time": names.time, "target": names.targets[0], **given}
    forecaster = ee.Forecaster(horizon, past=names.past, **given)
    return forecast(series, forecaster, **{"blocks": 2, "interval": 0.8, **more}), table


def ran(lines):
    """Run lines of Python and return their variables."""
    results = {}
    lines = lines.replace("print(forecaster.fit", "made = (forecaster.fit")
    lines = lines.replace("print(forecaster.backtest", "tested = (forecaster.backtest")
    with contextlib.redirect_stdout(io.StringIO()):
        exec(lines, results)
    return results


# Blocks -----------------------------------------------------------------------------------------


@given(st.integers(1, 5000), st.integers(1, 800), st.none() | st.integers(1, 6))
def test_blocks_do_not_overlap_and_the_advice_works(rows, horizon, requested):
    try:
        blocks = blocks_of(rows, horizon, requested)
    except TableError as error:
        words = str(error)
        if "Use --horizon" in words:
            blocks_of(rows, int(words.split("Use --horizon ")[1].split()[0].rstrip(",")))
        elif "Use --blocks" in words:
            blocks_of(rows, horizon, int(words.split("Use --blocks ")[1].split()[0].rstrip(",")))
        return
    assert requested is None or blocks == requested
    assert 1 <= blocks <= 6
    last = rows - 1 - horizon
    assert blocks == 1 or (last - rows // 2) // blocks >= horizon
    assert requested is not None or blocks * horizon <= max(rows / 3, horizon)


def test_too_few_rows():
    with pytest.raises(TableError, match="Use --horizon 96"):
        blocks_of(300, 150)
    with pytest.raises(TableError, match="5 rows are too few"):
        blocks_of(5, 1)
    with pytest.raises(TableError, match="Use --blocks 6"):
        blocks_of(300, 20, 20)
    assert blocks_of(300, 20) == 5
    assert blocks_of(13, 1) == 1  # all 12 rows before it are training rows
    assert blocks_of(20_000, 24) == 3


# Forecasts --------------------------------------------------------------------------------------


def test_forecast_of_a_season_beats_naive_forecasts(tmp_path):
    y = seasonal(160)
    result, _ = made(
        tmp_path, daily().assign(sales=y[:150]), TableColumns(("sales",)), 10, blocks=3
    )
    assert 7 in result.forecaster.seasons_
    assert all(one.change < 0 for one in verdicts(result.backtest))
    assert np.abs(result.future["sales"]["forecast"] - y[150:]).mean() < 0.2
    assert list(result.future["sales"].index) == list(pd.date_range("2021-05-31", periods=10))
    assert result.backtest.origins == 3


def test_held_out_rows_are_not_used(tmp_path):
    y = seasonal()
    first, _ = made(tmp_path, daily(), TableColumns(("sales",)))
    changed = y.copy()
    changed[-7:] = changed[-7:][::-1] * 3
    other, _ = made(tmp_path, daily().assign(sales=changed), TableColumns(("sales",)))
    for column in ("forecast", "lower", "upper", "last value", "drift"):
        np.testing.assert_array_equal(first.backtest.errors[column], other.backtest.errors[column])
    assert np.any(other.future["sales"]["forecast"] != first.future["sales"]["forecast"])


def test_inputs_affect_their_own_row_and_must_be_known(tmp_path):
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=160), 4)
    data = daily(160, x=x)
    data["sales"] = np.round(5 + 2 * x + 0.01 * rng.normal(size=160), 4)
    truth = data["sales"][150:].to_numpy(copy=True)
    data.loc[150:, "sales"] = np.nan
    actual, _ = made(tmp_path, data, TableColumns(("sales",), inputs=("x",)), 10, blocks=1)
    np.testing.assert_allclose(actual.future["sales"]["forecast"], truth, atol=0.2)
    with pytest.raises(TableError, match="11 rows ahead, and the table knows 10"):
        made(tmp_path, data, TableColumns(("sales",), inputs=("x",)), 11)


@pandas_3
def test_dates_end_with_the_year_9999(tmp_path):
    days = pd.date_range("9999-07-20", periods=150, unit="s").strftime("%Y-%m-%d")
    data = daily().assign(day=days)
    with pytest.raises(TableError, match="--horizon 20 goes from 9999-12-16 beyond the year 9999"):
        made(tmp_path, data, TableColumns(("sales",)), 20)


def test_horizon_beyond_the_last_date_is_reported_by_rows(tmp_path):
    with pytest.raises(TableError, match="--horizon 1000000000 is too long for 150 rows"):
        made(tmp_path, daily(), TableColumns(("sales",)), 10**9)


def test_seasons_longer_than_the_rows(tmp_path):
    with pytest.raises(TableError, match="--season 100 will not do: expected 2 to 75"):
        made(tmp_path, daily(), TableColumns(("sales",)), options={"seasons": [100]})


def test_extreme_values_cause_no_traceback(tmp_path):
    for size in (1e149, 1e-149):
        data = daily().assign(sales=seasonal() * size)
        found, _ = made(tmp_path, data, TableColumns(("sales",)))
        assert np.isfinite(found.future["sales"]).all().all()
    with pytest.raises(ValueError, match=r"a range of at least 1e-150"):
        made(tmp_path, daily().assign(sales=seasonal() * 1e-200), TableColumns(("sales",)))


# Tables of forecasts, and Python code -----------------------------------------------------------


def long_data():
    """Return a long table of two series, of which the second starts later."""
    one, other = daily().assign(shop=3), daily().iloc[30:].assign(shop=12)
    return pd.concat([one, other.assign(sales=lambda f: 2 * f["sales"])], ignore_index=True)


def hollow(*empty, rows=(20, 21), **columns):
    """Return a table with missing rows and empty cells, including sales at the end."""
    heat = seasonal(seed=1) * (1 + (np.arange(150) % 5 == 0))
    data = daily(heat=heat, **columns)
    data.loc[140:, "sales"] = np.nan
    for column, row in empty:
        data.loc[row, column] = np.nan
    return data.drop(index=list(rows))


def long_hollow():
    """Return a long table of such series, which end at different rows, in random order."""
    one = hollow(("heat", 50), ("sales", 70)).assign(shop="b")
    other = hollow(("heat", 60), ("sales", [130, *range(138, 150)]), rows=(3, 90)).assign(shop="a")
    empty = daily(heat=0.0).assign(shop="c", sales=np.nan)
    return pd.concat([one, other.assign(sales=lambda f: 9 * f["sales"]), empty]).sample(
        frac=1, random_state=0
    )


HEATED, FILLED = TableColumns(("sales",), inputs=("heat",)), {"gaps": "fill"}
MONTHS = pd.date_range("2001-01-01", periods=150, freq="MS")
CASES = {
    "inputs, rows missing": (hollow(), HEATED, FILLED),
    "inputs, cells empty": (hollow(("heat", [0, 50, 51]), rows=[0]), HEATED, FILLED),
    "inputs, target late": (
        hollow(("sales", [0, 1, 2]), ("heat", [1, 4]), rows=()), HEATED, FILLED,
    ),
    "inputs, out of order": (
        hollow(("heat", [50, 51])).sample(frac=1, random_state=1), HEATED, FILLED,
    ),
    "long, inputs": (
        long_hollow(), TableColumns(("sales",), inputs=("heat",), id="shop"), FILLED,
    ),
    "long, past": (long_hollow(), TableColumns(("sales",), past=("heat",), id="shop"), FILLED),
    "every other row": (
        hollow(("sales", range(1, 150, 2)), rows=()),
        TableColumns(("sales",), past=("heat",)),
        FILLED,
    ),
    "last rows": (hollow(("sales", [60, 80]), rows=(70, 75)), HEATED, {**FILLED, "last": 90}),
    "long, last rows": (long_hollow(), TableColumns(("sales",), id="shop"), {**FILLED, "last": 90}),
    "ends with nothing": (hollow(rows=()), TableColumns(("sales",)), {}),
    "two end apart": (
        hollow(("heat", range(145, 150))), TableColumns(("sales", "heat")), FILLED,
    ),
    "one": (daily(), TableColumns(("sales",)), {}),
    "several": (daily(heat=seasonal(seed=1)), TableColumns(("sales", "heat")), {}),
    "multivariate": (
        daily(heat=seasonal(seed=1)), TableColumns(("sales", "heat")),
        {"options": {"multivariate": True}},
    ),
    "long": (long_data(), TableColumns(("sales",), id="shop"), {}),
    "past": (daily(heat=seasonal(seed=1)), TableColumns(("sales",), past=("heat",)), {}),
    "season": (daily(), TableColumns(("sales",)), {"options": {"seasons": [14]}, "interval": None}),
    "holes": (
        daily().assign(sales=lambda f: f["sales"].mask(f.index == 60).astype(object).fillna("?"))
        .drop(index=[20, 21]),
        TableColumns(("sales",)), {"gaps": "fill"},
    ),
    "ignored": (daily().drop(index=[20, 21]), TableColumns(("sales",)), {"gaps": "ignore"}),
    "long, ignored": (
        long_data().drop(index=[20, 21]), TableColumns(("sales",), id="shop"), {"gaps": "ignore"},
    ),
    "rows": (daily()[["sales"]], TableColumns(("sales",)), {}),
    "day first": (
        daily().assign(day=MONTHS.strftime("%d/%m/%Y")),
        TableColumns(("sales",)), {},
    ),
    "utc": (
        daily().assign(
            day=[t.isoformat() for t in
                 pd.date_range("2021-03-27", periods=150, freq="h", tz="Europe/Paris")]),
        TableColumns(("sales",)), {},
    ),
    "compact": (
        daily().assign(day=pd.date_range("2021-01-01", periods=150).strftime("%Y%m%d")),
        TableColumns(("sales",)), {},
    ),
}  # fmt: skip


ALWAYS_RUN = ("long, inputs", "last rows", "multivariate", "holes", "utc")
"""Cases that are always run; each of the others resembles one of them."""


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=() if c in ALWAYS_RUN else pytest.mark.slow) for c in CASES]
)
def test_python_code_reproduces_the_forecast(tmp_path, case):
    data, columns, more = CASES[case]
    actual, table = made(tmp_path, data, columns, **{"blocks": 1, **more})
    again = ran(python_lines(actual, table))
    ours = np.concatenate([actual.future[name]["forecast"] for name in actual.series.names])
    theirs = again["made"]
    if columns.id is not None:
        theirs = theirs["forecast"].to_numpy()
    elif theirs.columns.nlevels > 1:
        theirs = theirs.xs("forecast", axis=1, level=-1).to_numpy().T.ravel()
    else:
        theirs = theirs.to_numpy().T.ravel()
    np.testing.assert_allclose(theirs, ours, rtol=1e-9)
    expected = actual.backtest.errors["forecast"]
    np.testing.assert_allclose(again["tested"].errors["forecast"], expected, rtol=1e-9)


def test_inputs_and_decimal_commas_in_python(tmp_path):
    data = daily(heat=seasonal(seed=1))
    data.loc[140:, "sales"] = np.nan
    path = tmp_path / "data.csv"
    data.to_csv(path, index=False, sep=";", decimal=",", encoding="utf-16")
    table = read(path, decimal=",")
    series = from_table(table, TableColumns(("sales",), inputs=("heat",)))
    result = forecast(series, ee.Forecaster(7), blocks=1)
    again = ran(python_lines(result, table, "utf-16"))
    np.testing.assert_allclose(
        again["made"]["sales"], result.future["sales"]["forecast"], rtol=1e-9
    )


@pytest.mark.parametrize("decimal", [",", "."])
def test_thousands_in_python(tmp_path, decimal):
    path, other = tmp_path / "data.csv", "." if decimal == "," else ","
    signs = str.maketrans({",": other, ".": decimal})
    data = daily().assign(day=lambda rows: pd.to_datetime(rows["day"]).dt.strftime("%d.%m.%Y"))
    data["sales"] = [f"{1000 * value:,.1f}".translate(signs) for value in data["sales"]]
    data.to_csv(path, index=False, sep=";")
    table = read(path, decimal=decimal)
    result = forecast(from_table(table, TableColumns(("sales",))), ee.Forecaster(7), blocks=1)
    again = ran(python_lines(result, table))
    np.testing.assert_allclose(
        again["made"]["sales"], result.future["sales"]["forecast"], rtol=1e-9
    )


def test_all_forecasts_are_in_one_table(tmp_path):
    result, _ = made(tmp_path, long_data(), TableColumns(("sales",), id="shop"))
    rows = predictions(result)
    assert list(rows.columns) == [
        "shop", "time", "part", "steps_ahead", "actual", "forecast", "lower", "upper",
        "last_value", "mean", "drift", "seasonal_naive", "seasonal_growth",
    ]  # fmt: skip
    assert rows["shop"].unique().tolist() == ["12", "3"]
    for name, some in rows.groupby("shop"):
        assert some["part"].tolist() == ["held-out"] * 14 + ["future"] * 7
        values = result.series.values[name]
        np.testing.assert_array_equal(some["actual"][:14], values[-14:])
        assert list(some["time"]) == list(pd.date_range("2021-05-17", periods=21))
        np.testing.assert_array_equal(some["seasonal_naive"][-7:], values[-7:])
    path = tmp_path / "all.csv"
    write(result, path)
    again = pd.read_csv(path, parse_dates=["time"], dtype={"shop": str})
    pd.testing.assert_frame_equal(again, rows, check_dtype=False)
    pytest.importorskip("pyarrow")
    write(result, tmp_path / "all.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "all.parquet"), rows)


def test_ignored_gaps_keep_the_times_of_rows(tmp_path):
    result, _ = made(
        tmp_path, daily().drop(index=[20, 21]), TableColumns(("sales",)), gaps="ignore"
    )
    rows = predictions(result)
    assert list(rows["time"]) == list(pd.date_range("2021-05-17", periods=21))
    np.testing.assert_array_equal(rows["actual"][:14], seasonal()[-14:])


def test_missing_values_are_not_scored(tmp_path):
    data = daily()
    data.loc[[140, 149 - 3], "sales"] = np.nan
    result, _ = made(tmp_path, data, TableColumns(("sales",)), gaps="fill")
    errors = result.backtest.errors
    assert errors["y"].isna().sum() == 2
    observed = errors[errors["y"].notna()]
    mae = np.abs(observed["forecast"] - observed["y"]).mean()
    assert result.backtest.summary.loc["forecast", "mae"] == pytest.approx(mae)
