"""Forecast benchmarks: the list of series, the peers, the stored forecasts and the scores.

Nothing is timed, and none of the compared packages is needed.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rich")

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

import accuracy
import eigenecho as ee
import intervals
import long_horizon
import panel
from forecasts import command, comparison, lag_ridge, methods, shared_ridge
from forecasts.catalogue import CATALOGUE, FEWEST_ROWS, LEFT_OUT
from forecasts.comparison import make, tasks
from forecasts.drawn import panel as drawn_panel
from forecasts.frequencies import FREQUENCIES, season_of
from forecasts.long_tables import Table, cuts, read, seasonal_naive_errors, standardise
from forecasts.methods import OURS, PEERS, TOLD, Prediction, drift, naive, seasonal_naive
from forecasts.page import page
from forecasts.protocol import ORIGINS, TRAINING_ROWS, Series, fill_gaps, origins, scale
from forecasts.scores import Score, all_scores, complete, paired_ratio, score, summary
from forecasts.store import Store, StoredForecast
from suite.catalogue import claims


def wave(rows, seed=0):
    rng = np.random.default_rng(seed)
    return 10 + np.sin(np.arange(rows) / 3) + 0.1 * rng.standard_normal(rows).cumsum()


# List of series and protocol.


def test_list_of_series_is_complete():
    names = [entry.name for entry in CATALOGUE]
    assert len(set(names)) == len(names) == 31
    assert not {entry.dataset for entry in CATALOGUE} & set(LEFT_OUT)
    for entry in CATALOGUE:
        assert entry.package in ("statsmodels", "sktime")
        assert entry.rows >= FEWEST_ROWS
        assert entry.horizon == FREQUENCIES[entry.frequency].horizon
        assert entry.season in (1, FREQUENCIES[entry.frequency].season)
        history = Series(entry.name, np.zeros(entry.rows), entry.frequency)
        assert (history.horizon, history.season) == (entry.horizon, entry.season)


@pytest.mark.parametrize(
    ("name", "horizon", "season"),
    [
        ("co2/co2", 13, 52),
        ("macrodata/realgdp", 8, 4),
        ("Airline/Passengers", 12, 12),
        ("Lynx/0", 6, 1),
        ("solar/solar_gen", 48, 48),
        ("yahoo/data", 48, 24),
        ("mitdb/data", 10, 1),
    ],
)
def test_horizons_and_seasons_follow_the_frequency(name, horizon, season):
    (entry,) = (entry for entry in CATALOGUE if entry.name == name)
    assert (entry.horizon, entry.season) == (horizon, season)


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_origins_are_late_and_followed_by_a_full_horizon(entry):
    result = origins(entry.rows, entry.horizon)
    assert len(result) == ORIGINS
    assert result[0] >= 0.6 * entry.rows
    assert result[-1] == entry.rows - entry.horizon
    assert np.ptp(np.diff(result)) <= 1


def test_season_is_used_if_three_are_observed():
    assert season_of("weekly", 156) == 52
    assert season_of("weekly", 155) == 1
    assert season_of("yearly", 3) == 1


def test_short_series_has_one_origin():
    assert origins(20, 12) == [8]


def test_training_rows_do_not_use_later_values():
    values = np.array([np.nan, 1, np.nan, 3, np.nan, 5, 6, 7])
    assert fill_gaps(values[:5]).tolist() == [1, 1, 3, 3]
    history = Series("x", np.arange(8000.0), "hourly")
    assert len(history.training(7000)) == TRAINING_ROWS
    assert history.training(7000)[-1] == 6999
    assert history.truth(7000).tolist() == list(range(7000, 7048))
    with pytest.raises(ValueError, match="nothing was observed"):
        fill_gaps(np.full(3, np.nan))


def test_scale_of_mase_equals_a_loop():
    values = wave(50)
    total = [abs(values[t] - values[t - 4]) for t in range(4, 50)]
    assert scale(values, 4) == pytest.approx(sum(total) / len(total))


# Peers.


def test_simple_methods():
    values = np.array([1.0, 5, 2, 6, 3, 7])
    assert naive(values, 3, 2).mean.tolist() == [7, 7, 7]
    assert drift(values, 2, 2).mean == pytest.approx([8.2, 9.4])
    assert seasonal_naive(values, 5, 2).mean.tolist() == [3, 7, 3, 7, 3]


def lag_ridge_by_loops(values, lags, horizon, ridge):
    """Collect rows one by one, and solve stacked least squares with a free intercept."""
    X, Y = [], []
    for t in range(lags, len(values) - horizon):
        X.append([values[t - lags + k] - values[t] for k in range(lags)])
        Y.append([values[t + h] - values[t] for h in range(1, horizon + 1)])
    X, Y = np.array(X), np.array(Y)
    spread = ((X - X.mean(axis=0)) ** 2).sum() / lags
    penalty = np.hstack([np.zeros((lags, 1)), np.sqrt(ridge * spread) * np.eye(lags)])
    stacked = np.vstack([np.hstack([np.ones((len(X), 1)), X]), penalty])
    w = np.linalg.lstsq(stacked, np.vstack([Y, np.zeros((lags, horizon))]), rcond=None)[0]
    last = np.array([values[len(values) - 1 - lags + k] - values[-1] for k in range(lags)])
    return values[-1] + w[0] + last @ w[1:]


def test_lag_ridge_equals_a_loop():
    values = wave(120)
    fitted = lag_ridge.fit(values, 5, 4)
    assert fitted.ridge in lag_ridge.RIDGES
    expected = lag_ridge_by_loops(values, lag_ridge.lags_of(120, 5, 4), 5, fitted.ridge)
    assert fitted.forecast(values) == pytest.approx(expected, rel=1e-8)


def test_lag_ridge_validates_on_targets_not_used_for_training():
    lags, horizon = 10, 6
    X, Y = lag_ridge.windows(np.arange(100.0) ** 2, lags, horizon)
    train, judge = lag_ridge.parts(len(X), horizon)
    last_target = lags + train - 1 + horizon
    first_judged = lags + judge + 1
    assert last_target == first_judged - 1
    assert len(X) - judge == round(0.2 * len(X))
    assert Y[train - 1, -1] == last_target**2 - (last_target - horizon) ** 2


def test_lag_ridge_continues_a_season_and_a_level():
    clean = 100 + np.tile([0.0, 3.0, -1.0, 5.0], 30)
    assert lag_ridge.fit(clean, 8, 4).forecast(clean) == pytest.approx(clean[:8], abs=0.01)
    assert lag_ridge.fit(np.full(80, 7.0), 6, 1).forecast(np.full(80, 7.0)) == pytest.approx(7)


def test_lag_ridge_uses_fewer_lags_for_short_series():
    assert lag_ridge.lags_of(1000, 13, 52) == 104
    assert lag_ridge.lags_of(1000, 6, 1) == 24
    assert lag_ridge.lags_of(60, 6, 1) == 18


# Stored forecasts and interrupted runs.


SERIES = [Series("one", wave(90), "yearly"), Series("two", wave(100, 1), "quarterly")]


@pytest.fixture
def plain(monkeypatch):
    """Replace the methods by peers without dependencies and a stand-in that reports an error."""
    calls = []

    def counted(name, method):
        def call(values, horizon, season):
            calls.append(name)
            return method(values, horizon, season)

        return call

    def ours(values, horizon, season):
        mean = naive(values, horizon, season).mean
        return Prediction(mean, mean - 1, mean + 1, claimed=0.5)

    stand_ins = dict.fromkeys(PEERS, naive) | {
        "drift": drift, "seasonal naive": seasonal_naive, OURS: ours, TOLD: ours,
    }  # fmt: skip
    for name, method in stand_ins.items():
        monkeypatch.setitem(methods.METHODS, name, counted(name, method))
    return calls


def test_stored_forecast_is_identified_by_its_rows(tmp_path):
    store, rows = Store(tmp_path), wave(50)
    bounds = Prediction(np.array([1.0, 2]), np.array([0.0, 1]), np.array([2.0, 3]), 0.25)
    store.put("a/b", "x y", 50, rows, StoredForecast(bounds, 1.5, "why"))
    result = store.get("a/b", "x y", 50, rows)
    assert (result.seconds, result.failed, result.prediction.claimed) == (1.5, "why", 0.25)
    assert result.prediction.upper.tolist() == [2, 3]
    assert store.get("a/b", "x y", 51, rows) is None
    assert store.get("a/b", "x y", 50, rows + 1e-9) is None
    assert store.path("a/b", "x") != store.path("a-b", "x")


def test_interrupted_run_is_resumed(tmp_path, plain):
    expected, store = tasks(SERIES, ["naive", OURS]), Store(tmp_path)

    def interrupt(task):
        if len(plain) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(expected, store, interrupt)
    assert len(plain) == 5
    make(expected, store)
    assert len(plain) == len(expected) == 24
    make(expected, store)
    assert len(plain) == 24


def test_own_forecasts_are_recomputed_when_the_source_changes(tmp_path, plain, monkeypatch):
    expected, store = tasks(SERIES[:1], ["naive", OURS]), Store(tmp_path)
    make(expected, store)
    monkeypatch.setattr(comparison, "_source", lambda: "another")
    plain.clear()
    make(expected, store)
    assert plain == [OURS] * ORIGINS


def test_failed_peer_is_replaced_and_counted(tmp_path, monkeypatch):
    def broken(values, horizon, season):
        raise RuntimeError("singular")

    monkeypatch.setitem(methods.METHODS, "AutoETS", broken)
    store = Store(tmp_path)
    make(tasks(SERIES, ["AutoETS", "seasonal naive"]), store)
    failed, simple = (score(SERIES[1], name, store) for name in ("AutoETS", "seasonal naive"))
    assert failed.failed == ORIGINS
    assert failed.mase == simple.mase
    monkeypatch.setitem(methods.METHODS, OURS, broken)
    with pytest.raises(RuntimeError, match=r"one, origin \d+: singular"):
        make(tasks(SERIES, [OURS]), store)


def test_missing_peer_does_not_count_as_failed(tmp_path, monkeypatch):
    def missing(values, horizon, season):
        raise ModuleNotFoundError("statsforecast")

    monkeypatch.setitem(methods.METHODS, "AutoETS", missing)
    with pytest.raises(ModuleNotFoundError):
        make(tasks(SERIES, ["AutoETS"]), Store(tmp_path))


# Scores.


def test_score_equals_a_loop(tmp_path, plain):
    values = wave(100)
    values[[70, 95]] = np.nan
    history, store = Series("gaps", values, "quarterly"), Store(tmp_path)
    assert score(history, OURS, store) is None
    make(tasks([history], [OURS]), store)
    result = score(history, OURS, store)
    mases, reals, inside, bounded = [], [], 0, 0
    for origin in history.origins:
        known = history.training(origin)
        errors = [abs(v - known[-1]) for v in values[origin : origin + 8] if v == v]
        reals.append(np.mean(errors))
        mases.append(np.mean(errors) / np.mean(np.abs(known[4:] - known[:-4])))
        inside += sum(error <= 1 for error in errors)
        bounded += len(errors)
    assert result.mase == pytest.approx(np.mean(mases))
    assert result.real == pytest.approx(np.mean(reals))
    assert (result.inside, result.bounded, result.claimed) == (inside, bounded, 0.5)
    assert bounded < 8 * ORIGINS


def test_origin_without_later_observations_is_not_scored(tmp_path, plain):
    values = wave(100)
    last = Series("gap", values, "yearly").origins[-1]
    values[last:] = np.nan
    history, store = Series("gap", values, "yearly"), Store(tmp_path)
    make(tasks([history], [OURS]), store)
    result = score(history, OURS, store)
    assert np.isfinite([result.mase, result.real]).all()
    assert result.bounded == 6 * (ORIGINS - 1)


def scored(mase, **known):
    return Score(**{"mase": mase, "inside": 9, "bounded": 10, "claimed": None, "real": 2.0,
                    "seconds": 1.0, "failed": 0} | known)  # fmt: skip


def test_summary_of_scores():
    scores = {
        "naive": {"a": scored(1.0), "b": scored(5.0)},
        "AutoETS": {"a": scored(0.9), "b": scored(2.0)},
        OURS: {
            "a": scored(0.5, claimed=2.2, inside=7),
            "b": scored(8.0, claimed=1.0),
        },
        "AutoTheta": {"a": scored(0.1)},
        "AutoARIMA": {},
    }
    assert list(complete(scores)) == ["naive", "AutoETS", OURS]
    result = summary(scores)
    lines = {line.method: line for line in result.lines}
    assert [line.method for line in result.lines] == ["AutoETS", OURS, "naive"]
    assert lines[OURS].mase == pytest.approx(2.0)
    assert lines[OURS].much_worse == 1
    assert lines["naive"].much_worse == lines["AutoETS"].much_worse == 0
    assert lines[OURS].coverage == pytest.approx(16 / 20)
    assert lines[OURS].claim_off == pytest.approx(np.median([0.1, 0.5]))
    assert lines["naive"].claim_off is None
    assert result.best_peer == "AutoETS"
    assert result.ratio.value == pytest.approx(np.sqrt(0.5 / 0.9 * 4))


def test_bootstrap_is_paired():
    theirs = np.exp(np.random.default_rng(0).normal(0, 3, 40))
    result = paired_ratio(0.9 * theirs, theirs)
    assert (result.value, result.low, result.high) == pytest.approx((0.9, 0.9, 0.9))
    assert result.better == 1
    mixed = paired_ratio(theirs * np.tile([0.5, 2.0], 20), theirs)
    assert mixed.low < 0.9 < 1.1 < mixed.high


def test_command_writes_scores_and_a_page(tmp_path, plain, monkeypatch, capsys):
    document, folder = tmp_path / "page.md", tmp_path / "results"

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["real_series.py", *words])
        return command.main("Real series", lambda: list(SERIES), folder, document)

    assert run("--peers-only", "--write") == 0
    assert OURS not in plain
    assert OURS not in document.read_text()
    assert run("--ours-only", "--only", "two", "--write") == 0
    assert set(plain[len(PEERS) * 2 * ORIGINS :]) == {OURS, TOLD}
    assert run("--ours-only", "--write") == 0
    assert plain.count(OURS) == 2 * ORIGINS
    text = document.read_text()
    assert f"| **{OURS}** |" in text
    assert "| two | 100 | quarterly | 8 |" in text
    assert (folder / "scores.json").exists()
    assert run("--list", "--only", "nothing") == 2

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "make", interrupted)
    assert run() == 130


def test_page_is_not_written_if_forecasts_are_missing(tmp_path, plain):
    store = Store(tmp_path)
    make(tasks(SERIES[:1], ["naive"]), store)
    scores = all_scores(SERIES, ["naive"], store)
    text = page("title", SERIES, scores, summary(scores))
    console = command.Console(quiet=True)
    assert command.write(console, tmp_path / "page.md", text, scores, SERIES) == 1
    assert not (tmp_path / "page.md").exists()


def test_measurements_are_not_claims():
    measure = {"drawn_tables", "long_horizon", "on_a_gpu", "public_panels", "real_series"}
    assert not measure & {job.name for job in claims()}


# Long horizons.


def windows_by_loops(table, first, last, horizon, lags):
    X, Y = [], []
    for column in table.T:
        for origin in range(max(first, lags), last - horizon + 1):
            known = column[origin - lags : origin]
            X.append(known - known.mean())
            Y.append(column[origin : origin + horizon] - known.mean())
    return np.array(X), np.array(Y)


@pytest.mark.parametrize("block", [7, 2048])
def test_sums_of_windows_equal_a_loop(monkeypatch, block):
    monkeypatch.setattr(shared_ridge, "BLOCK", block)
    table = np.column_stack([wave(80), wave(80, 1)])
    X, Y = windows_by_loops(table, 30, 80, 4, 10)
    sums = shared_ridge.gather(table, 30, 80, 4, lags=10)
    assert sums.windows == len(X)
    assert sums.gram == pytest.approx(X.T @ X)
    weights = shared_ridge.solution(sums, 0.3)
    stacked = np.vstack([X, np.sqrt(0.3) * np.eye(10)])
    expected = np.linalg.lstsq(stacked, np.vstack([Y, np.zeros((10, 4))]), rcond=None)[0]
    assert weights == pytest.approx(expected, abs=1e-9)
    assert sums.error(weights) == pytest.approx(((Y - X @ weights) ** 2).mean())
    mse, mae = shared_ridge.errors_within(table, 30, 80, weights)
    assert mse == pytest.approx(((Y - X @ weights) ** 2).mean())
    assert mae == pytest.approx(np.abs(Y - X @ weights).mean())


def test_sums_of_parts_add_up():
    table = np.column_stack([wave(80), wave(80, 1)])
    train = shared_ridge.gather(table, 0, 50, 4, lags=10)
    rest = shared_ridge.gather(table, 50 - 4 + 1, 80, 4, lags=10)
    both = shared_ridge.gather(table, 0, 80, 4, lags=10)
    assert (train + rest).windows == both.windows
    assert (train + rest).cross == pytest.approx(both.cross)
    best = shared_ridge.chosen_ridge(train, shared_ridge.gather(table, 50, 80, 4, lags=10))
    assert best in shared_ridge.RIDGES


def test_splits_of_tables_are_as_published():
    assert cuts("ETTh1", 17420) == (8640, 11520, 14400)
    assert cuts("ETTm2", 69680) == (34560, 46080, 57600)
    assert cuts("weather", 1000) == (700, 800, 1000)
    values = np.column_stack([wave(100), np.ones(100)])
    known = standardise(values, 60)[:60]
    assert known.mean(axis=0) == pytest.approx([0, 0])
    assert known.std(axis=0) == pytest.approx([1, 0])


@pytest.mark.parametrize("name", ["some.csv", "some.csv.gz"])
def test_table_is_read(tmp_path, name):
    pd = pytest.importorskip("pandas")
    dates = pd.date_range("2020-01-01", periods=200, freq="h")
    pd.DataFrame({"date": dates, "a": wave(200)}).to_csv(tmp_path / name, index=False)
    result = read(tmp_path / name)
    assert (result.name, result.day, result.train, result.test) == ("some", 24, 140, 200)
    with pytest.raises(ValueError, match="200 rows, expected at least 14400"):
        read((tmp_path / name).rename(tmp_path / name.replace("some", "ETTh1")))


def long_table(rows=160):
    return Table("x", np.column_stack([wave(rows), wave(rows, 1)]), 90, 120, rows, 6)


def test_seasonal_naive_of_tables_equals_a_loop():
    data = long_table()
    errors = [
        data.values[origin : origin + 10] - np.resize(data.values[origin - 6 : origin], (10, 2))
        for origin in range(120, 160 - 10 + 1)
    ]
    mse, mae = seasonal_naive_errors(data, 10)
    assert mse == pytest.approx(np.square(errors).mean())
    assert mae == pytest.approx(np.abs(errors).mean())


def test_rolling_errors_use_every_origin_and_no_later_row():
    data, seen = long_table(), []

    class Last:
        def rolling(self, y, rows, X=None):
            seen.extend(rows)
            assert len(y) == rows[-1] + 1
            return np.stack([np.tile(y[row], (10, 1)) for row in rows])

    mse, _ = long_horizon.rolling_errors(Last(), data, 10)
    assert seen == list(range(119, 150))
    expected = [
        (data.values[row + 1 : row + 11] - data.values[row]) ** 2 for row in range(119, 150)
    ]
    assert mse == pytest.approx(np.mean(expected))


# Panels and accuracy.


def test_panel_has_the_documented_content():
    values = drawn_panel(20, 300)
    assert values.shape == (300, 20)
    assert np.isfinite(values).all()
    assert (drawn_panel(20, 300) == values).all()
    known, truth = values[:252], values[252:]
    repeated = np.vstack([known[-24:], known[-24:]])
    assert panel.relative_error(known, truth, repeated) == pytest.approx(1)
    assert panel.relative_error(known, truth, truth + (repeated - truth) / 2) == pytest.approx(0.5)


def write_folder(folder, series=30):
    waves = {f"s{i}": wave(40, i).tolist() for i in range(series)}
    entries = {k: {"kind": "Q", "y": y, "seasons": [4], "horizon": 4} for k, y in waves.items()}
    (folder / "some.json").write_text(json.dumps(entries))
    halves = {"train": [y[:-6] for y in waves.values()], "test": [y[-6:] for y in waves.values()]}
    (folder / "sets.json").write_text(json.dumps({"YEARLY": halves}))
    rows = [f"2020/1/{day + 1},{day},{-day}" for day in range(31)]
    (folder / "table.csv").write_text("\n".join(["date,a,b", *rows]))


def test_a_third_of_the_series_is_held_back(tmp_path):
    write_folder(tmp_path)
    parts = [
        {(p.name, tuple(y)) for p in accuracy.read_panels(tmp_path, held) for y in p.y}
        for held in (False, True)
    ]
    assert len(parts[0] | parts[1]) == 62 == len(parts[0]) + len(parts[1])
    assert 10 < len(parts[1]) < 30


def known_truth(panel, cuts):
    """Forecast the true values, with a promotion whose effect is half as large as in truth."""
    rows = [slice(n, n + panel.horizon) for n in cuts]
    truth = [y[r] for y, r in zip(panel.y, rows, strict=True)]
    plain = [y - effect[r] / 2 for y, effect, r in zip(truth, panel.effect, rows, strict=True)]
    return accuracy.Forecasts(truth, truth, [y + 1 for y in truth], plain)


def test_scores_of_known_forecasts_and_stored_results(tmp_path):
    drawn = accuracy.SIMULATIONS[0](0)
    path = tmp_path / "label" / "panel.npz"
    accuracy.run(drawn, known_truth, path)
    accuracy.run(drawn, None, path)  # stored, so the method is not called again
    scores = accuracy.score(drawn, path)
    assert len(scores) == len(drawn.y)
    assert all(s["mase"] == s["on events"] == 0 and s["coverage"] == 1 for s in scores)
    estimated = accuracy.combine(scores, "effect")
    assert estimated == pytest.approx(0.5)
    naive = accuracy.of_one_series(seasonal_naive)
    accuracy.run(drawn, naive, tmp_path / "naive.npz")
    scores = accuracy.score(drawn, tmp_path / "naive.npz")
    assert accuracy.combine(scores, "mase") == pytest.approx(1)


def test_no_method_sees_rows_after_the_origin():
    drawn = accuracy.SIMULATIONS[-1](0)
    cuts = accuracy.cuts_of(drawn)[-1]
    hidden = [np.where(np.arange(len(y)) < n, y, 1e9) for y, n in zip(drawn.y, cuts, strict=True)]
    for method in (accuracy.ridge_on_inputs, accuracy.of_one_series(seasonal_naive)):
        a, b = (method(replace(drawn, y=y), cuts).mean for y in (drawn.y, hidden))
        assert np.array_equal(a, b)


class Wide:
    """Forecaster whose interval width equals its level."""

    def __init__(self, horizon):
        self.horizon = horizon

    def fit(self, y):
        self.series = len(y)
        return self

    def predict(self, interval):
        mean, width = np.zeros(self.horizon), 1e9
        return [
            [(mean, mean - width * (level > 0.85), mean + width * (level > 0.85))] * self.series
            for level in interval
        ]


def test_coverage_is_the_share_of_values_inside_the_interval(monkeypatch):
    monkeypatch.setattr(ee, "Forecaster", Wide, raising=False)
    for kind, (rows, draw) in intervals.ALONE.items():
        shares = intervals.coverage(draw, rows, 3)
        at_zero = shares[0]  # counts are exactly 0 now and then
        assert at_zero == 0 or kind in ("counts around 3", "intermittent demand")
        assert shares[1:].tolist() == [1.0, 1.0]
    for kind in intervals.PANELS:
        assert intervals.in_panel(kind, 0) == [0.0, 1.0, 1.0]
    assert len(intervals.ALONE) + len(intervals.PANELS) == 20
