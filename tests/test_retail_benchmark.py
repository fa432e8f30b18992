"""The benchmark on a simulated retail panel: its tables, filled gaps, scores and the page.

Nothing is timed, and none of the compared packages is needed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

import pandas as pd

import retail


@pytest.fixture(scope="module")
def panel():
    return retail.load_simulator()(0, series=20)


def test_panel_has_discounts_late_starts_and_gaps(panel):
    sales, plan = panel
    assert len(plan) == 20 * 500
    assert 0.1 < (plan["discount"] > 0).mean() < 0.3
    starts = sales.groupby("shop")["day"].min()
    assert 0 < (starts > plan["day"].min()).sum() < 20
    assert 0 < sales["sales"].isna().mean() < 0.1
    assert (sales["sales"].dropna() >= 0).all()
    again, _ = retail.load_simulator()(0, series=20)
    pd.testing.assert_frame_equal(sales, again)
    assert not retail.load_simulator()(1, series=20)[0].equals(sales)


def test_sales_after_an_origin_are_not_shown(panel):
    sales, plan = panel
    parts = retail.splits(sales, plan)
    assert len(parts) == retail.ORIGINS
    for number, (past, known, future) in enumerate(parts):
        left = (retail.ORIGINS - number) * retail.HORIZON
        assert past["day"].max() == plan["day"].max() - pd.Timedelta(days=left)
        assert future["day"].nunique() == retail.HORIZON
        assert future["day"].min() > past["day"].max()
        assert known["day"].max() == future["day"].max()
    assert parts[-1][2]["day"].max() == plan["day"].max()


def test_gaps_are_filled_by_the_last_value_on_the_same_day_of_the_week():
    values = np.arange(15.0)
    values[[2, 10, 11]] = np.nan
    days = pd.date_range("2024-01-01", periods=15)
    filled = retail.filled(pd.DataFrame({"shop": "a", "day": days, "sales": values}))
    expected = [0, 1, 3, 3, 4, 5, 6, 7, 8, 9, 3, 4, 12, 13, 14]
    assert filled["sales"].tolist() == expected
    assert filled["weight"].tolist() == np.isfinite(values).tolist()


def test_scores_equal_loops():
    rng = np.random.default_rng(0)
    days = pd.date_range("2024-01-01", periods=20)
    shops = {"a": rng.normal(size=20), "b": rng.normal(size=20)}
    shops["b"][17] = np.nan
    sales = pd.concat(pd.DataFrame({"shop": s, "day": days, "sales": v}) for s, v in shops.items())
    past, future = sales[sales["day"] < days[16]], sales[sales["day"] >= days[16]]
    forecasts = future[["shop", "day"]].assign(forecast=0.1, lower=-0.5, upper=0.7)
    score = retail.evaluate(forecasts, past, past, future)
    mase, inside, widths = [], [], []
    for values in shops.values():
        step = np.mean([abs(values[t] - values[t - 7]) for t in range(7, 16)])
        truth = [y for y in values[16:] if np.isfinite(y)]
        mase.append(np.mean([abs(y - 0.1) for y in truth]) / step)
        widths.append(1.2 / step)
        inside += [-0.5 <= y <= 0.7 for y in truth]
    assert score["MASE"] == pytest.approx(np.mean(mase))
    assert score["width"] == pytest.approx(np.mean(widths))
    assert score["coverage"] == pytest.approx(np.mean(inside))
    with pytest.raises(ValueError, match="some days have no forecast"):
        retail.evaluate(forecasts[1:], past, past, future)


def test_command_stores_forecasts_and_writes_the_page(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    page.write_text("<!-- retail -->\nold\n<!-- end of retail -->\n")
    monkeypatch.setattr(retail, "PAGE", page)
    words = ["--methods", "eigenecho", "--series", "4", "--results", str(tmp_path / "stored")]
    assert retail.main(words) == 0
    shown = capsys.readouterr().out
    assert "| **eigenecho** | 0." in shown
    assert len(list((tmp_path / "stored").iterdir())) == retail.ORIGINS
    monkeypatch.setitem(retail.METHODS, "eigenecho", None)  # stored forecasts are used
    assert retail.main([*words, "--write"]) == 0
    assert capsys.readouterr().out == shown
    assert shown in page.read_text()


def test_settings_of_the_table_are_among_those_compared():
    assert {retail.BEST, retail.PLAIN} <= set(retail.SETTINGS)
