"""Reports: one HTML file with the numbers of the forecaster, escaped."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

import numpy as np
import pytest

import eigenecho as ee
from eigenecho.data.panel import read
from eigenecho.forecasting.report import constructor_call

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

NAME = "sales <script>&"


def monthly(rows=72, seed=0):
    t = np.arange(rows)
    noise = np.random.default_rng(seed).normal(0, 0.5, rows)
    return 20 + 0.1 * t + 3 * np.sin(2 * np.pi * t / 12) + noise


def dated(values, name=NAME):
    return pd.Series(values, pd.date_range("2015-01-01", periods=len(values), freq="MS"), name=name)


def quick(horizon=4, **settings):
    settings = {"spectrum": ee.spectra.ring(12, sr=0.9), "strategy": "direct", **settings}
    return ee.Forecaster(horizon, **settings)


def written(forecaster, tmp_path, **options):
    path = forecaster.report(tmp_path / "deep" / "page.html", **options)
    assert path == tmp_path / "deep" / "page.html"
    return path.read_text()


def words(page):
    """Return the text of a page with single spaces."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.split("</head>")[1]))


@pytest.fixture(scope="module")
def fitted():
    return quick().fit(dated(monthly()))


@pytest.fixture(scope="module")
def page(fitted, tmp_path_factory):
    return written(fitted, tmp_path_factory.mktemp("report"))


def test_report_contains_the_forecast(fitted, page):
    forecast = fitted.predict(interval=0.9)
    for time, row in forecast.iterrows():
        cells = [f"{row[name]:.2f}" for name in ("forecast", "lower", "upper")]
        assert " ".join([time.strftime("%Y-%m-%d"), *cells]) in words(page)
    assert f"validation split, over 4 steps, is {fitted.expected_error_:.3g} ." in words(page)
    assert "4 steps of 1 month, from 2021-01-01 to 2021-04-01" in words(page)
    assert "72 rows from 2015-01-01 to 2020-12-01" in words(page)
    assert "There is no backtest." in words(page)


def test_report_needs_no_other_file(page):
    addresses = re.findall(r'(?:src|srcset|href)="([^"]*)"', page)
    assert len(addresses) == 3
    assert all(address.startswith("data:") for address in addresses)
    assert page.startswith("<!DOCTYPE html>")


@pytest.mark.usefixtures("sketched")
def test_names_are_escaped(page, tmp_path):
    assert "<script" not in page
    assert "sales &lt;script&gt;&amp;" in page
    frame = pd.DataFrame({"<b>a": monthly(), "$x$": monthly(72, 1)})
    X = pd.DataFrame({"<i>price": np.arange(80.0) % 7}, index=range(80))
    page = written(quick().fit(frame, X), tmp_path)
    assert "<b>" not in page
    assert "<i>" not in page
    assert "&lt;i&gt;price" in page


@pytest.mark.usefixtures("sketched")
def test_backtest_is_shown(fitted, tmp_path):
    tested = fitted.backtest(dated(monthly()), origins=2)
    page = written(fitted, tmp_path, backtest=tested)
    assert re.search("2 origins from .*, 4 steps each", words(page))
    for name, row in tested.summary.iterrows():
        assert re.search(rf"{name} (▸ )?{row['mae']:.3f}", words(page))
    assert "forecaster.backtest(y, origins=2)" in words(page)
    with pytest.raises(ValueError, match="backtest='no'"):
        fitted.report(tmp_path / "x.html", backtest="no")
    assert not (tmp_path / "x.html").exists()


def test_series_of_a_panel_are_sorted_by_expected_errors(tmp_path):
    frame = pd.DataFrame({f"s{i}": (1 + i) * monthly(40, i) for i in range(23)})
    few = ee.Spectrum([0.5])
    forecaster = quick(sharing="shared", spectrum=few, seasons=[1]).fit(frame)
    page = words(written(forecaster, tmp_path))
    order = np.argsort(-forecaster.expected_error_)
    listed = page[page.index("expected error") :]
    places = [listed.index(f" s{i} ") for i in order[:20]]
    assert places == sorted(places)
    assert "The table shows 20 of 23 series" in page
    assert "Forecasts of 23 series" in page


@pytest.mark.usefixtures("sketched")
def test_only_the_ends_of_a_long_forecast_are_shown(tmp_path):
    y = np.sin(np.arange(300) / 5)
    forecaster = quick(40, seasons=[1]).fit(y)
    page = words(written(forecaster, tmp_path))
    assert " 309 " in page
    assert " 310 " not in page.split("Backtest")[0]
    assert " 339 " in page
    assert "40 steps of 1 row, from 300 to 339" in page


@pytest.mark.filterwarnings("ignore::eigenecho.errors.FewRowsWarning")
@pytest.mark.usefixtures("sketched")
def test_series_too_short_to_validate(tmp_path):
    page = words(written(quick(3).fit(np.arange(9.0)), tmp_path))
    assert "the prediction intervals are rough estimates" in page
    assert "too few rows for training" in page
    assert "lower" in page


@pytest.mark.usefixtures("sketched")
def test_known_columns(tmp_path):
    x = np.random.default_rng(0).normal(size=(84, 1))
    forecaster = quick().fit(monthly(80) + x[:80, 0], x[:80])
    page = words(written(forecaster, tmp_path, X=x[80:]))
    assert f"{forecaster.predict(X=x[80:])[3]:.2f}" in page
    assert "predict(X=X_ahead, interval=0.9)" in page
    with pytest.raises(ValueError, match="X=None"):
        forecaster.report(tmp_path / "x.html")


@pytest.mark.usefixtures("sketched")
def test_gaps_are_reported(tmp_path):
    y = monthly()
    y[[3, 40]] = np.nan
    assert "2 of these rows have no observed value" in words(written(quick().fit(y), tmp_path))


def test_report_needs_a_fitted_forecaster(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        quick().report(tmp_path / "x.html")
    with pytest.raises(ValueError, match="interval=2"):
        quick().fit(monthly()).report(tmp_path / "x.html", interval=2)


@pytest.mark.usefixtures("sketched")
def test_description_of_the_selected_models(tmp_path):
    forecaster = ee.Forecaster(6, strategy="direct").fit(np.exp(monthly() / 10))
    page = words(written(forecaster, tmp_path))
    fitted, members = forecaster.fitted_, len(forecaster.members_)
    assert f"seasons 12 rows ensemble trimmed mean of {members} out of {fitted.tried} " in page
    kind = "relative" if fitted.bands.relative else "absolute"
    assert f"quantiles of the {kind} errors on the validation split, by step ahead" in page
    assert "weights" not in page
    texts = {"own": "separate for each series, shrunk", "shared": "shared by all series"}
    for sharing, text in texts.items():
        panel = quick(sharing=sharing).fit([monthly(), monthly(60, 1)])
        assert f"weights {text}" in words(written(panel, tmp_path))


def test_python_code_reproduces_the_forecast():
    forecaster = ee.Forecaster(7, strategy="direct", seasons=[12, 4], progress=True)
    text = constructor_call(forecaster)
    assert text == "ee.Forecaster(horizon=7, strategy='direct', seasons=[12, 4])"
    again = eval(text, {"ee": ee})
    assert again.get_params() == {**forecaster.get_params(), "progress": False}
    assert constructor_call(ee.Forecaster(1)) == "ee.Forecaster(horizon=1)"
    assert "spectrum=spectrum" in constructor_call(quick())


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_missing_packages_are_named(fitted, tmp_path, monkeypatch, package):
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=rf"{package}.*pip install 'eigenecho\[cli\]'"):
        fitted.report(tmp_path / "x.html")


def test_earlier_times_are_counted_back():
    for index in (
        pd.date_range("2020-01-31", periods=50, freq="ME"),
        pd.date_range("2020-01-01", periods=50, freq="h", tz="Europe/Paris"),
        pd.date_range("2020-03-01", periods=50, freq="D", tz="Europe/Paris"),
        pd.date_range("2020-01-15", periods=50, freq=pd.DateOffset(months=1)),
        pd.period_range("2020-01", periods=50, freq="Q"),
        pd.RangeIndex(3, 103, 2),
        pd.date_range("2020-01-01", periods=50, freq="B"),
    ):
        clock = read(pd.Series(monthly(50), index)).histories[0].clock
        kept = replace(clock, times=clock.times[-1:])
        assert list(kept.last(50)) == list(index)
        assert list(clock.last(7)) == list(index[-7:])


def test_report_states_the_weight_of_the_prior(tmp_path):
    forecaster = quick().fit(monthly(80))
    weight = 100 * forecaster.fitted_.prior_share
    assert f"the prior for short series has a weight of {weight:.0f}%" in words(
        written(forecaster, tmp_path)
    )
