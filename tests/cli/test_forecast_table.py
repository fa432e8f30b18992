"""Forecasts of tables: what is held out, what is refused, and what is written."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

import eigenecho as ee
from eigenecho.cli.forecast_table import (
    blocks_of,
    forecast_table,
    predictions,
    write_predictions,
)
from eigenecho.cli.verdict import verdicts
from tables import few_candidates, loaded


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


def forecast(tmp_path, data, horizon=7, *, blocks=2, interval=0.8, seasons=None, **options):
    """The forecast of a table."""
    series = loaded(tmp_path, data, **options)
    names = {"id": series.id, "time": series.time, "target": "sales"} if series.id else {}
    forecaster = ee.Forecaster(horizon, past=series.past, seasons=seasons, **names)
    return forecast_table(series, forecaster, blocks=blocks, interval=interval)


# Blocks -----------------------------------------------------------------------------------------


@given(st.integers(1, 5000), st.integers(1, 800), st.none() | st.integers(1, 6))
def test_blocks_do_not_overlap_and_suggestions_work(rows, horizon, requested):
    try:
        blocks = blocks_of(rows, horizon, requested)
    except ValueError as error:
        words = str(error)
        if "Use --horizon" in words:
            longest = int(words.split("Use --horizon ")[1].split()[0])
            blocks_of(rows, longest)
            with pytest.raises(ValueError, match="too few"):
                blocks_of(rows, longest + 1)
        elif "Use --blocks" in words:
            blocks_of(rows, horizon, int(words.split("Use --blocks ")[1].split()[0]))
        return
    assert requested is None or blocks == requested
    assert 1 <= blocks <= 6
    last = rows - 1 - horizon
    assert blocks == 1 or (last - rows // 2) // blocks >= horizon
    assert requested is not None or blocks * horizon <= max(rows / 3, horizon)


def test_rows_that_are_too_few():
    with pytest.raises(ValueError, match="Use --horizon 96"):
        blocks_of(300, 150)
    with pytest.raises(ValueError, match=r"too few rows \(5\)"):
        blocks_of(5, 1)
    with pytest.raises(ValueError, match="Use --blocks 6"):
        blocks_of(300, 20, 20)
    assert blocks_of(300, 20) == 5
    assert blocks_of(13, 1) == 1
    assert blocks_of(20_000, 24) == 3


# Forecasts --------------------------------------------------------------------------------------


def test_a_season_is_beaten_and_the_future_goes_on(tmp_path):
    y = seasonal(160)
    result = forecast(tmp_path, daily().assign(sales=y[:150]), 10, blocks=3)
    assert 7 in result.forecaster.seasons_
    assert all(verdict.change < 0 for verdict in verdicts(result.backtest))
    assert np.abs(result.future["forecast"] - y[150:]).mean() < 0.2
    assert list(result.future["ds"]) == list(pd.date_range("2021-05-31", periods=10))
    assert result.backtest.origins == 3


def test_held_out_rows_decide_nothing(tmp_path):
    y = seasonal()
    first = forecast(tmp_path, daily())
    changed = y.copy()
    changed[-7:] = changed[-7:][::-1] * 3
    other = forecast(tmp_path, daily().assign(sales=changed))
    for column in ("forecast", "lower", "upper", "last value", "drift"):
        np.testing.assert_array_equal(first.backtest.errors[column], other.backtest.errors[column])
    assert np.any(other.future["forecast"] != first.future["forecast"])


def test_inputs_act_at_their_own_row_and_must_be_known(tmp_path):
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=160), 4)
    data = daily(160, x=x)
    data["sales"] = np.round(5 + 2 * x + 0.01 * rng.normal(size=160), 4)
    truth = data["sales"][150:].to_numpy(copy=True)
    data.loc[150:, "sales"] = np.nan
    result = forecast(tmp_path, data, 10, blocks=1, inputs="x")
    np.testing.assert_allclose(result.future["forecast"], truth, atol=0.2)
    with pytest.raises(ValueError, match="11 future rows, but the table has 10"):
        forecast(tmp_path, data, 11, inputs="x")


def test_values_near_the_limits(tmp_path):
    for size in (1e149, 1e-149):
        data = daily().assign(sales=seasonal() * size)
        assert np.isfinite(forecast(tmp_path, data).future["forecast"]).all()
    with pytest.raises(ValueError, match="1e-150"):
        forecast(tmp_path, daily().assign(sales=seasonal() * 1e-200))


# The same as in Python --------------------------------------------------------------------------


def long_data():
    """Two series below each other, of which the second starts later."""
    first, second = daily().assign(shop=3), daily().iloc[30:].assign(shop=12)
    return pd.concat([first, second.assign(sales=lambda f: 2 * f["sales"])], ignore_index=True)


def hollow(*empty, rows=(20, 21)):
    """A table without some rows, and with empty cells: of sales at the end, and elsewhere."""
    data = daily(heat=seasonal(seed=1) * (1 + (np.arange(150) % 5 == 0)))
    data.loc[140:, "sales"] = np.nan
    for column, row in empty:
        data.loc[row, column] = np.nan
    return data.drop(index=list(rows))


def by_hand(data, **options):
    """What a user of pandas writes: y, X and names of columns."""
    data = data.assign(day=pd.to_datetime(data["day"])).sort_values("day")
    data["heat"] = data.get("heat")
    if options.get("id"):
        data = data.astype({"shop": "str"})
        seen = data.groupby("shop")["sales"]
        y = data.loc[seen.ffill().notna() & seen.bfill().notna(), ["shop", "day", "sales"]]
        data["heat"] = data.groupby("shop")["heat"].ffill()
        X = data[["shop", "day", "heat"]]
        return y, X, {"id": "shop", "time": "day", "target": "sales"}
    data = data.set_index("day")
    y = data[["sales"]].loc[data["sales"].first_valid_index() : data["sales"].last_valid_index()]
    return y, data[["heat"]].ffill(), {}


CASES = {
    "plain": (daily(), {}),
    "rows missing": (hollow(), {"inputs": "heat", "gaps": "fill"}),
    "out of order": (
        hollow(("heat", [50, 51]), ("sales", [60, 80])).sample(frac=1, random_state=1),
        {"inputs": "heat", "gaps": "fill"},
    ),
    "every other row": (
        hollow(("sales", range(1, 150, 2)), rows=()), {"past": "heat", "gaps": "fill"},
    ),
    "long": (long_data(), {"id": "shop"}),
    "long, inputs": (
        pd.concat([
            hollow(("heat", 50), ("sales", 70)).assign(shop="b"),
            hollow(("sales", [130, *range(138, 150)]), rows=(3, 90)).assign(shop="a"),
        ]).sample(frac=1, random_state=0),
        {"id": "shop", "inputs": "heat", "gaps": "fill"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_command_forecasts_as_python_does(tmp_path, case):
    data, options = CASES[case]
    result = forecast(tmp_path, data, blocks=1, **options)
    y, X, names = by_hand(data, **options)
    X = X if {"inputs", "past"} & set(options) else None
    forecaster = ee.Forecaster(7, past=("heat",) if "past" in options else (), **names).fit(y, X)
    expected = forecaster.predict(interval=0.8)
    expected = expected if names else expected["sales"]
    for column in ("forecast", "lower", "upper"):
        np.testing.assert_array_equal(result.future[column], expected[column])


# Tables of forecasts ----------------------------------------------------------------------------


def test_all_forecasts_are_in_one_table(tmp_path):
    data = long_data()
    result = forecast(tmp_path, data, id="shop")
    rows = predictions(result)
    assert list(rows.columns) == [
        "shop", "time", "part", "steps_ahead", "actual", "forecast", "lower", "upper",
        "last_value", "mean", "drift", "seasonal_naive", "seasonal_growth",
    ]  # fmt: skip
    assert rows["shop"].unique().tolist() == ["12", "3"]
    for name, some in rows.groupby("shop"):
        assert some["part"].tolist() == ["held-out"] * 14 + ["future"] * 7
        values = data.loc[data["shop"] == int(name), "sales"].to_numpy()
        np.testing.assert_array_equal(some["actual"][:14], values[-14:])
        assert list(some["time"]) == list(pd.date_range("2021-05-17", periods=21))
        np.testing.assert_array_equal(some["seasonal_naive"][-7:], values[-7:])
    path = tmp_path / "all.csv"
    write_predictions(result, path)
    again = pd.read_csv(path, parse_dates=["time"], dtype={"shop": str})
    pd.testing.assert_frame_equal(again, rows, check_dtype=False)
    pytest.importorskip("pyarrow")
    write_predictions(result, tmp_path / "all.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "all.parquet"), rows)


def test_nothing_is_measured_where_nothing_was_observed(tmp_path):
    data = daily()
    data.loc[[140, 149 - 3], "sales"] = np.nan
    result = forecast(tmp_path, data, gaps="fill")
    errors = result.backtest.errors
    assert errors["y"].isna().sum() == 2
    observed = errors[errors["y"].notna()]
    mae = np.abs(observed["forecast"] - observed["y"]).mean()
    assert result.backtest.summary.loc["forecast", "mae"] == pytest.approx(mae)
