"""The benchmark on public sets: formats, measures, stored forecasts and tables.

Nothing is timed, and statsforecast is not needed.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

import public_panels
from forecasts import panel_methods, panel_page, panel_runs
from forecasts.panel_methods import OURS, SINGLE, QuantileForecast, forecast
from forecasts.panel_runs import ForecastFile, score_set
from forecasts.panel_scores import LEVELS, Score, SetScore, mase, quantile_loss, smape
from forecasts.panel_sets import HALVES, read_sets

SIMPLE = ("naive", "drift", "seasonal naive")


def wave(rows, seed):
    rng = np.random.default_rng(seed)
    return (20 + np.sin(np.arange(rows) * np.pi / 2) + rng.normal(size=rows)).tolist()


@pytest.fixture
def folder(tmp_path):
    sets = {
        "YEARLY": {"train": [wave(20 + i, i) for i in range(5)], "test": [wave(6, 9)] * 5},
        "QUARTERLY": {"train": [wave(30, i) for i in range(4)], "test": [wave(8, 9)] * 4},
    }
    with gzip.open(tmp_path / "some.json.gz", "wt") as file:
        json.dump(sets, file)
    return tmp_path


def test_competitions_are_read_by_period(folder):
    yearly, quarterly = read_sets(folder)
    assert (yearly.name, yearly.horizon, yearly.period.season) == ("some yearly", 6, 1)
    assert (quarterly.name, quarterly.horizon, quarterly.period.scale) == ("some quarterly", 8, 4)
    assert [len(item.train) for item in yearly.items] == [20, 21, 22, 23, 24]
    assert len(quarterly.panels) == 1
    (folder / "other.json").write_text('{"LUNAR": {"train": [], "test": []}}')
    with pytest.raises(ValueError, match="got period 'LUNAR', expected one of"):
        read_sets(folder)


def test_halves_and_samples_of_series(folder):
    yearly, _ = read_sets(folder)
    design, report = ({item.name for item in yearly.sample(half).items} for half in HALVES)
    assert design | report == {item.name for item in yearly.items}
    assert not design & report
    assert len(yearly.sample("report", 1).items) == 1
    assert {item.name for item in yearly.sample("design", 1).items} < design


def test_halves_follow_one_generator_per_file(folder):
    rng = np.random.default_rng(7)
    for s in read_sets(folder):
        order = [str(i) for i in rng.permutation(len(s.items))]
        middle = len(order) // 2
        for half, names in zip(HALVES, (order[:middle], order[middle:]), strict=True):
            assert {item.name for item in s.sample(half).items} == set(names)


def test_tables_end_with_windows(tmp_path):
    pd = pytest.importorskip("pandas")
    dates = pd.date_range("2020-01-01", periods=1000, freq="h")
    table = {"date": dates, "a": np.arange(1000.0), "b": -np.arange(1000.0)}
    pd.DataFrame(table).to_csv(tmp_path / "x.csv", index=False)
    (hourly,) = read_sets(tmp_path)
    assert (hourly.horizon, hourly.period.season, len(hourly.panels)) == (48, 24, 3)
    for number, (a, b) in enumerate(hourly.panels):
        origin = 1000 - 48 * (3 - number)
        assert a.train.tolist() == list(range(origin))
        assert a.test.tolist() == (-b.test).tolist() == list(range(origin, origin + 48))
    assert {item.name for item in hourly.sample(count=1).items} < {"a", "b"}


def test_measures_equal_loops():
    rng = np.random.default_rng(0)
    train, truth, made = rng.normal(size=20), rng.normal(size=5), rng.normal(size=5)
    scale = np.mean([abs(train[t] - train[t - 4]) for t in range(4, 20)])
    assert mase(train, truth, made, 4) == pytest.approx(np.mean(abs(truth - made)) / scale)
    steps = np.mean([abs(train[t] - train[t - 1]) for t in range(1, 4)])
    assert mase(train[:4], truth, made, 4) == pytest.approx(np.mean(abs(truth - made)) / steps)
    assert np.isnan(mase(np.ones(9), truth, made, 4))
    assert np.isnan(mase(np.ones(1), truth, made, 4))
    terms = [200 * abs(y - f) / (abs(y) + abs(f)) for y, f in zip(truth, made, strict=True)]
    assert smape(truth, made) == pytest.approx(np.mean(terms))
    assert smape(np.array([0.0, 1]), np.array([0.0, -1])) == pytest.approx(100)
    quantiles = np.sort(rng.normal(size=(5, 9)), axis=1)
    losses = [
        2 * abs((f - y) * ((y <= f) - q))
        for y, row in zip(truth, quantiles, strict=True)
        for f, q in zip(row, LEVELS, strict=True)
    ]
    assert quantile_loss(truth, quantiles) == pytest.approx(sum(losses) / 9)


def test_quantile_losses_are_added_up_over_series():
    both = [Score(1, 10, 3.0, 4.0, 0.1, False), Score(float("nan"), 20, 1.0, 16.0, 0.3, True)]
    assert SetScore.of(both) == SetScore(1, 15, 0.2, 0.2, 1)


@pytest.mark.parametrize("name", SIMPLE)
def test_naive_quantiles_cover_normal_errors(name):
    rng = np.random.default_rng(1)
    inside = []
    for _ in range(300):
        walk = rng.normal(size=64).cumsum()
        if name == "seasonal naive":
            walk = rng.normal(size=(16, 4)).cumsum(axis=0).ravel()
        made = SINGLE[name](walk[:56], 8, 4)
        assert (np.diff(made.quantiles, axis=1) > 0).all()
        assert made.quantiles[:, 4] == pytest.approx(made.mean)
        inside.append((made.quantiles[:, 0] < walk[56:]) & (walk[56:] < made.quantiles[:, 8]))
    assert np.mean(inside) == pytest.approx(0.8, abs=0.05)


def test_failed_forecast_is_replaced(monkeypatch):
    def fail(values, horizon, season):
        raise ArithmeticError("no model")

    monkeypatch.setitem(SINGLE, "AutoETS", fail)
    (made,) = forecast("AutoETS", [np.array([1.0, 2, 3, 4])], 3, 2)
    assert made.mean.tolist() == [3, 4, 3]
    assert made.failed == "ArithmeticError: no model"


def test_forecaster_alone_and_as_a_panel(folder):
    _, quarterly = read_sets(folder)
    values = [item.train for item in quarterly.items]
    made = forecast("panel", values, 8, 4)
    alone = [forecast("alone", [v], 8, 4)[0] for v in values]
    for one in (*made, *alone):
        assert one.mean.shape == (8,)
        assert one.quantiles.shape == (8, 9)
        assert one.failed is None
    assert not np.allclose(made[0].mean, alone[0].mean)


def test_short_series_without_intervals_is_scored(folder):
    (made,) = forecast("alone", [np.array([1.0, 2])], 3, 1)
    assert made.quantiles.shape == (3, 9)
    assert np.isfinite(made.mean).all()


def test_forecasts_are_stored_by_version_and_rows(folder, monkeypatch):
    calls = []

    def count(method, series, horizon, season):
        calls.append((method, len(series)))
        flat = QuantileForecast(np.full(horizon, 20.0), np.full((horizon, 9), 20.0))
        return [flat] * len(series)

    monkeypatch.setattr(panel_runs, "forecast", count)
    yearly, _ = read_sets(folder)
    results = folder / "results"
    first = score_set(yearly, "alone", "v1", results)
    assert calls == [("alone", 1)] * 5
    stored = next(results.rglob("*.jsonl"))
    text = stored.read_text()
    stored.write_text(text[: text.rindex("\n") + 30])  # an interrupted write
    assert score_set(yearly, "alone", "v1", results, make=False) == [*first[:4], None]
    assert score_set(yearly, "alone", "v1", results) == first
    assert len(calls) == 6
    score_set(yearly, "alone", "v2", results)
    assert len(calls) == 11
    score_set(yearly.sample(count=2), "panel", "v1", results)
    score_set(yearly, "panel", "v1", results)
    score_set(yearly, "panel", "v1", results)
    assert calls[11:] == [("panel", 2), ("panel", 5)]
    assert ForecastFile(stored).get("unknown") is None


def test_command_shows_tables_and_writes_scores(folder, capsys):
    results = folder / "results"
    words = [str(folder), "--results", str(results), "--methods", *SIMPLE, "alone"]
    assert public_panels.main([*words, "--half", "design"]) == 0
    shown = capsys.readouterr().out
    assert "| MASE | some yearly | some quarterly |" in shown
    assert "| **eigenecho, alone** |" in shown
    assert public_panels.main([*words, "--half", "design", "--stored"]) == 0
    assert capsys.readouterr().out == shown
    assert public_panels.main([*words, "--stored", "--only", "yearly"]) == 0
    assert "| naive | – |" in capsys.readouterr().out
    with (results / "scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["method"] for row in rows} == {*SIMPLE, "alone"}
    assert len(rows) == 4 * 2
    assert public_panels.main([str(folder), "--only", "nothing"]) == 2


def test_tables_of_the_page_are_replaced(folder, monkeypatch):
    page = folder / "page.md"
    page.write_text("before\n<!-- sets -->\nold\n<!-- end of sets -->\nafter\n")
    monkeypatch.setattr(panel_page, "PAGE", page)
    monkeypatch.setattr(panel_page, "machine", lambda *packages: "a machine")
    words = [str(folder), "--results", str(folder / "results"), "--methods", "naive"]
    assert public_panels.main(words) == 0
    assert "old" in page.read_text()
    assert public_panels.main([*words, "--write"]) == 0
    text = page.read_text()
    assert text.startswith("before\n<!-- sets -->\n| MASE | some yearly | some quarterly |")
    assert "5 in some yearly and 4 in some quarterly. Measured on a machine." in text
    assert text.endswith("\n<!-- end of sets -->\nafter\n")
    assert "old" not in text


def test_variants_without_an_argument_of_forecaster_are_left_out(monkeypatch):
    assert panel_methods.available("alone")
    monkeypatch.setitem(OURS, "alone", {"unknown": None})
    assert not panel_methods.available("alone")
