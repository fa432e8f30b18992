"""Backtests use no row after their origins and score the rows that follow."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import eigenecho as ee
from eigenecho import plots
from eigenecho.data.origins import together
from eigenecho.data.panel import read
from eigenecho.errors import FewRowsWarning
from eigenecho.forecasting import backtest as module
from eigenecho.forecasting.backtest import MEASURES, scores
from eigenecho.forecasting.baselines import naive, naive_error, naive_season, rivals

pd = pytest.importorskip("pandas")
H = 4


def monthly(rows=72, seed=0):
    t = np.arange(rows)
    noise = np.random.default_rng(seed).normal(0, 0.5, rows)
    return 20 + 0.1 * t + 3 * np.sin(2 * np.pi * t / 12) + noise


def dated(values):
    return pd.Series(
        values, pd.date_range("2015-01-01", periods=len(values), freq="MS"), name="sales"
    )


def quick(horizon=H, **settings):
    """Return a forecaster with few candidates, which is fast."""
    settings = {"spectrum": ee.spectra.ring(12, sr=0.9), "strategy": "direct", **settings}
    return ee.Forecaster(horizon, **settings)


@pytest.fixture(scope="module")
def tested():
    return quick().backtest(dated(monthly()), origins=3)


def test_errors_have_one_row_per_origin_and_step(tested):
    y = dated(monthly())
    errors = tested.errors
    assert list(errors.columns) == [
        "unique_id", "cutoff", "step", "ds", "y", "forecast", "last value", "mean", "drift",
        "seasonal naive", "seasonal growth", "lower", "upper",
    ]  # fmt: skip
    assert set(errors["unique_id"]) == {"sales"}
    assert errors["step"].tolist() == [1, 2, 3, 4] * 3
    assert list(errors["cutoff"].unique()) == list(y.index[[-13, -9, -5]])
    np.testing.assert_array_equal(errors["y"], y[errors["ds"]])
    assert list(errors["ds"]) == list(y.index[-12:])
    np.testing.assert_array_equal(errors["last value"], y[errors["cutoff"]])
    assert (errors["lower"] < errors["forecast"]).all()
    assert (errors["forecast"] < errors["upper"]).all()
    assert tested.season == 12
    assert (tested.origins, tested.planned, tested.horizon) == (3, 3, H)


def test_each_forecast_is_fitted_to_the_rows_up_to_its_origin(tested):
    y = dated(monthly())
    for cutoff, rows in tested.errors.groupby("cutoff"):
        forecast = quick().fit(y[:cutoff]).predict(interval=0.9)
        for name in ("forecast", "lower", "upper"):
            np.testing.assert_array_equal(rows[name], forecast[name])


def test_rows_after_an_origin_are_not_used():
    y = monthly()
    other = y.copy()
    other[-H:] = 1e6
    before, after = (quick().backtest(v, origins=[50, 60, 67]).errors for v in (y, other))
    pd.testing.assert_frame_equal(before.drop(columns="y"), after.drop(columns="y"))
    assert after["y"].max() == 1e6


def test_only_known_columns_are_used_after_an_origin():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 2))
    y = 5 * x[:, 0] + 0.1 * rng.normal(size=90)
    forecaster = quick(2, spectrum=None)
    made = forecaster.backtest(y, x, origins=[80]).errors
    far, near = x.copy(), x.copy()
    far[83:], near[82] = 9.0, 9.0
    pd.testing.assert_frame_equal(made, forecaster.backtest(y, far, origins=[80]).errors)
    moved = forecaster.backtest(y, near, origins=[80]).errors["forecast"]
    assert moved[0] == made["forecast"][0]
    assert abs(moved[1] - made["forecast"][1]) > 1
    past = quick(2, past=[0, 1])
    known = past.backtest(y, x, origins=[80]).errors
    pd.testing.assert_frame_equal(known, past.backtest(y, near, origins=[80]).errors)


def test_summary_agrees_with_the_metrics(tested):
    errors, y = tested.errors, monthly()
    summary = tested.summary
    assert list(summary.columns) == list(MEASURES)
    assert list(summary.index) == tested.methods
    for method in tested.methods:
        true, made = errors["y"].to_numpy(), errors[method].to_numpy()
        row = summary.loc[method]
        assert row["mae"] == pytest.approx(np.mean(np.abs(true - made)))
        assert row["rmse"] == pytest.approx(ee.metrics.rmse(true, made))
        assert row["smape"] == pytest.approx(ee.metrics.smape(true, made))
        by_origin = [
            ee.metrics.mase(true[i : i + H], made[i : i + H], y[: 60 + i], season=12)
            for i in (0, 4, 8)
        ]
        assert row["mase"] == pytest.approx(np.mean(by_origin))
    ours = summary.loc["forecast"]
    truth, lower, upper = (errors[name].to_numpy() for name in ("y", "lower", "upper"))
    assert ours["coverage"] == ee.metrics.coverage(truth, lower, upper)
    both = ee.metrics.pinball(truth, np.stack([lower, upper], 1), [0.05, 0.95])
    assert ours["interval_score"] == pytest.approx(both * 4 / 0.1)
    assert summary.drop("forecast")[["coverage", "interval_score"]].isna().all(axis=None)


def test_by_step_and_by_series_summarise_their_rows(tested):
    for table, column in ((tested.by_step, "step"), (tested.by_series, "unique_id")):
        for key, rows in tested.errors.groupby(column):
            part = scores(rows, tested.methods, tested.scale[rows.index], 0.9)
            pd.testing.assert_frame_equal(table.loc[key], part)


def test_missing_truths_are_ignored():
    y = monthly()
    y[[62, 70]] = np.nan
    tested = quick().backtest(y, origins=2)
    assert tested.errors["y"].isna().sum() == 1
    there = tested.errors.dropna(subset="y")
    size = (there["forecast"] - there["y"]).abs()
    assert tested.summary.loc["forecast", "mae"] == pytest.approx(size.mean())
    assert tested.summary.notna().loc["forecast"].all()
    assert "1 of 8 true values are missing" in repr(tested)


def test_panel_is_fitted_once_per_origin():
    values = [monthly(72, 0), monthly(60, 1), monthly(40, 2)]
    tested = quick().backtest(values, origins=2)
    assert tested.ids == [0, 1, 2]
    for cutoffs in ([67, 55, 35], [63, 51, 31]):
        parts = [v[: c + 1] for v, c in zip(values, cutoffs, strict=True)]
        for i, made in enumerate(quick().fit(parts).predict()):
            errors = tested.errors
            rows = errors[(errors["unique_id"] == i) & (errors["cutoff"] == cutoffs[i])]
            np.testing.assert_array_equal(rows["forecast"], made)
    assert tested.measure == "mase"


def test_series_that_start_after_an_origin_are_omitted():
    late = monthly(72, 1)
    late[:64] = np.nan
    frame = pd.DataFrame({"a": monthly(), "b": late})
    tested = quick().backtest(frame, origins=[55, 67])
    assert tested.errors.groupby("unique_id")["cutoff"].unique().map(list).to_dict() == {
        "a": [55, 67],
        "b": [67],
    }
    short = [monthly(), monthly(8)]
    assert quick().backtest(short, origins=3).errors["unique_id"].value_counts().to_dict() == {
        0: 3 * H,
        1: H,
    }


def test_series_without_an_origin_are_named():
    frame = pd.DataFrame({"a": monthly(), "b": monthly(), "c": np.nan})
    frame.loc[frame.index[-2:], "c"] = 1.0
    with pytest.warns(UserWarning, match="'c'"):
        tested = quick().backtest(frame, origins=2)
    assert tested.ids == ["a", "b"]


def test_panel_of_series_with_different_folds():
    lengths = (70, 40, 25)
    forecaster = quick(7).fit([monthly(rows, i) for i, rows in enumerate(lengths)])
    assert np.isfinite(forecaster.predict()).all()


# Origins --------------------------------------------------------------------------------------


def test_origins_by_number_row_and_time():
    y = dated(monthly())
    panel = read(y)
    np.testing.assert_array_equal(together(panel, 3, H)[:, 0], [59, 63, 67])
    np.testing.assert_array_equal(together(panel, [67, 40], H)[:, 0], [40, 67])
    np.testing.assert_array_equal(together(panel, ["2020-01-01", y.index[8]], H)[:, 0], [8, 60])


def test_origins_of_a_panel_are_counted_from_the_end():
    panel = read([np.ones(40), np.arange(30.0), np.ones(5)])
    np.testing.assert_array_equal(together(panel, 2, 4), [[31, 21, -1], [35, 25, 0]])


@pytest.mark.parametrize(
    ("origins", "words"),
    [
        (0, "from 1 to 68"),
        (100, "from 1 to 68"),
        ([68], "from 0 to 67"),
        (["2030"], "or times, of rows"),
    ],
)
def test_invalid_origins(origins, words):
    with pytest.raises(ValueError, match=words):
        quick().backtest(dated(monthly()), origins=origins)


def test_origins_before_the_first_observation():
    y = monthly()
    y[:30] = np.nan
    with pytest.raises(ValueError, match="with an earlier observation"):
        quick().backtest(y, origins=[20, 50])


@pytest.mark.parametrize("wrong", [{"interval": 1.5}, {"progress": "yes"}])
def test_invalid_arguments(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        quick().backtest(monthly(), origins=1, **wrong)


# Naive forecasts ------------------------------------------------------------------------------


def test_naive_forecasts():
    y = np.array([1.0, 2.0, 4.0, np.nan, 3.0, 7.0])
    made = {name: naive(base, y, 3) for name, base in rivals(2).items()}
    np.testing.assert_allclose(made["last value"], [7, 7, 7])
    np.testing.assert_allclose(made["mean"], [17 / 5] * 3)  # of observed values
    np.testing.assert_allclose(made["drift"], 7 + 6 / 5 * np.arange(1, 4))
    np.testing.assert_allclose(made["seasonal naive"], [3, 7, 3])
    # The gap continues with the step one season earlier: 5. Means of the last seasons: 5 and 4.5.
    np.testing.assert_allclose(made["seasonal growth"], [3.5, 7.5, 4])
    assert list(rivals(1)) == ["last value", "mean", "drift"]
    np.testing.assert_array_equal(naive(rivals(9)["seasonal naive"], y, 2), [7, 7])


def test_scale_of_errors():
    y = np.array([1.0, 5.0, 2.0, np.nan, 4.0])
    assert naive_error(y, 2) == np.mean([1, 2])
    assert naive_error(y, 7) == np.mean([4, 3])
    assert np.isnan(naive_error(np.ones(5), 1))


def test_naive_forecasts_use_the_best_season():
    t = np.arange(200)
    week = np.sin(2 * np.pi * t / 7)
    assert naive_season(read(week), (4, 7)) == 7
    assert naive_season(read(week), ()) == 1
    assert naive_season(read(np.ones(50)), (4, 7)) == 4


def test_constant_series_has_no_scaled_error():
    with pytest.warns(FewRowsWarning, match="width 0 for 2 of 2 forecasts"):
        tested = quick().backtest(np.ones(60), origins=2)
    assert tested.summary["mase"].isna().all()
    assert tested.summary.loc["forecast", "mae"] == pytest.approx(0, abs=1e-9)
    assert "last value" in repr(tested)


# Long runs ------------------------------------------------------------------------------------


def test_progress_is_reported_after_each_origin(capsys):
    told = []
    quick().backtest(monthly(), origins=3, progress=lambda *done: told.append(done))
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert capsys.readouterr().err == ""
    quick().backtest(monthly(), origins=2, progress=True)
    assert "origin 2 of 2" in capsys.readouterr().err


def test_interrupted_backtest_keeps_finished_origins():
    def interrupt(done, total):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted after 2 of 3 origins"):
        part = quick().backtest(dated(monthly()), origins=3, progress=interrupt)
    whole = quick().backtest(dated(monthly()), origins=3)
    pd.testing.assert_frame_equal(part.errors, whole.errors.iloc[: 2 * H])
    assert "interrupted: 3 origins were planned" in repr(part)
    assert "interrupted" not in repr(whole)


def test_interrupt_before_the_first_origin_is_finished(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "fit", interrupt)
    with pytest.raises(KeyboardInterrupt):
        quick().backtest(monthly(), origins=2)


def test_forecaster_is_not_modified():
    forecaster = quick().fit(monthly())
    before = forecaster.fitted_
    forecaster.backtest(monthly(60, 3), origins=1)
    assert forecaster.fitted_ is before
    assert not hasattr(quick().backtest(monthly(), origins=1), "fitted_")


# Text -----------------------------------------------------------------------------------------


def test_repr_is_a_table(tested):
    lines = repr(tested).splitlines()
    assert lines[0] == "Backtest: 3 origins from 2019-12-01 to 2020-08-01, 4 steps each"
    assert lines[2].split() == ["mae", "rmse", "mase", "smape"]
    assert max(map(len, lines[:9])) < 80
    order = [line[:16].strip() for line in lines[3:9]]
    assert order == list(tested.summary["mae"].sort_values().index)
    assert f"{tested.summary.loc['forecast', 'mae']:.3f}" in repr(tested)
    assert "90% prediction intervals contain" in repr(tested)


def test_html_is_escaped(tested):
    html = tested._repr_html_()
    assert "<table" in html
    assert "seasonal growth" in html
    names = pd.DataFrame({"<i>a</i>": monthly(), "b": monthly(72, 1)})
    assert "<i>" not in quick().backtest(names, origins=1)._repr_html_()


def test_wins_are_counted():
    y = monthly()
    tested = quick().backtest(y, origins=3)
    sizes = (tested.errors["forecast"] - tested.errors["y"]).abs()
    theirs = (tested.errors[tested.best_naive] - tested.errors["y"]).abs()
    cutoff = tested.errors["cutoff"]
    wins = (sizes.groupby(cutoff).mean() < theirs.groupby(cutoff).mean()).sum()
    assert f"lower in {wins} of 3 forecasts" in repr(tested)


def test_naive_forecast_without_errors_is_reported():
    assert "“drift”, has no error" in repr(quick().backtest(np.arange(60.0), origins=2))


# Plots ----------------------------------------------------------------------------------------


def test_plot_draws_forecasts_and_errors(tested):
    pytest.importorskip("matplotlib")
    over, below = tested.plot().axes
    lines = {line.get_label(): line for line in over.lines}
    np.testing.assert_array_equal(lines["forecast"].get_ydata(), tested.errors["forecast"].iloc[:H])
    data = lines["observed"].get_ydata()
    np.testing.assert_array_equal(data, monthly()[-len(data) :])
    assert len(over.collections) == 3
    by_step = {line.get_label(): line.get_ydata() for line in below.lines}
    assert list(by_step)[:2] == ["forecast", tested.best_naive]
    assert set(by_step) == set(tested.methods)
    np.testing.assert_array_equal(by_step["drift"], tested.by_step["mae"].xs("drift", level=1))


def test_plot_of_a_panel_and_of_one_step():
    pytest.importorskip("matplotlib")
    frame = pd.DataFrame({name: monthly(72, i) for i, name in enumerate("abcde")})
    tested = quick().backtest(frame, origins=2)
    titles = [ax.get_title(loc="left") for ax in tested.plot().axes]
    assert titles == [*"abcd", ""]
    assert [ax.get_title(loc="left") for ax in tested.plot(["e", "a"]).axes] == ["e", "a", ""]
    with pytest.raises(ValueError, match="series='z'"):
        tested.plot(["z"])
    with pytest.raises(ValueError, match="Unknown series='0'"):  # ids are numbers
        quick().backtest([monthly(), monthly(72, 1)], origins=1).plot(["0"])
    one = quick(1).backtest(monthly(), origins=5)
    *_, bars = one.plot().axes
    assert len(bars.patches) == len(one.methods)


def test_plotted_forecasts_do_not_overlap():
    pytest.importorskip("matplotlib")
    tested = quick(6).backtest(monthly(), origins=[50, 52, 54, 56, 60, 65])
    ax = tested.plot().axes[0]
    drawn = [line for line in ax.lines if line.get_label() in ("forecast", "_forecast")]
    assert [line.get_xdata()[0] for line in drawn] == [51, 57, 66]


@pytest.mark.parametrize("index", ["zone", "period"])
def test_times_of_any_kind_are_plotted(index):
    pytest.importorskip("matplotlib")
    y = dated(monthly())
    y = y.tz_localize("Europe/Paris") if index == "zone" else y.to_period("M")
    tested = quick().backtest(y, origins=2)
    assert tested.errors["ds"].iloc[-1] == y.index[-1]
    tested.plot()
    assert plots.backtest(tested, tested.ids).axes


def test_missing_pandas_is_reported_before_fitting(monkeypatch):
    y = np.sin(np.arange(60.0))
    forecaster = ee.Forecaster(2).fit(y)
    monkeypatch.setitem(sys.modules, "pandas", None)
    told = []
    with pytest.raises(ModuleNotFoundError, match="pandas"):
        forecaster.backtest(y, origins=2, progress=lambda done, total: told.append(done))
    assert not told


def test_missing_pandas_is_named_before_the_first_fit(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    forecaster = ee.Forecaster(horizon=3)
    with pytest.raises(ImportError, match=r"backtest requires pandas.*pip install"):
        forecaster.backtest(np.arange(40.0) % 7)
