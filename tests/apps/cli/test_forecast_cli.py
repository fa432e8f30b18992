"""``eigenecho forecast``: from a file to a report."""

from __future__ import annotations

import re
import shlex
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

import pandas as pd
from rich.console import Console
from typer.testing import CliRunner

import eigenecho as ee
from eigenecho.apps.cli import forecast as command
from eigenecho.apps.cli.app import app
from eigenecho.apps.cli.terminal import print_warnings
from eigenecho.apps.tables import tested_forecast
from tables import few_candidates

H = 20
EMPTY = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source"}


@pytest.fixture(autouse=True, scope="module")
def _quick():
    with few_candidates():
        yield


def predictions_path(out):
    return out.with_name(f"{out.stem}-predictions.csv")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    rng = np.random.default_rng(0)
    t = np.arange(300)
    frame = pd.DataFrame(
        {
            "day": pd.date_range("2021-01-01", periods=300, freq="D").strftime("%Y-%m-%d"),
            "sales <b>": np.round(
                20 + 4 * np.sin(2 * np.pi * t / 7) + 0.02 * t + 0.3 * rng.normal(size=300), 3
            ),
            "walk": np.cumsum(rng.normal(size=300)),
        }
    )
    path = tmp_path_factory.mktemp("data") / "my data.csv"
    frame.to_csv(path, index=False)
    return path


def invoke(*arguments):
    return CliRunner().invoke(app, ["forecast", *map(str, arguments)])


@pytest.fixture(scope="module")
def made(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("made") / "new" / "report.html"
    options = ("--target", "sales <b>", "--horizon", H, "--out", out)
    answer = invoke(data, *options)
    assert answer.exit_code == 0, answer.output
    return out, answer.output


class Page(HTMLParser):
    """Parser that collects open tags, links and the text of a page."""

    def __init__(self, text):
        super().__init__()
        self.open, self.links, self.images, self.text = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag not in EMPTY:
            self.open.append(tag)
        self.links += [given[name] for name in ("href", "src", "srcset") if name in given]
        if tag == "img":
            self.images.append(given)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_errors_and_verdicts_are_printed(made):
    _, said = made
    said = re.sub(r"\s+", " ", said)
    assert "'sales <b>': 300 rows, 2021-01-01 to 2021-10-27, 'day' in steps of 1 day" in said
    for word in ("mae", "rmse", "mase", "forecast", "last value", "seasonal naive"):
        assert word in said
    assert "Errors on 5 × 20 held-out rows" in said
    assert "eat “seasonal naive”: mean absolute error" in said
    assert "✓ Beats “last value”" in said
    assert re.search(r"[\d.]+% of rows within the 90% interval", said)
    assert "report.html" in said


def test_page_needs_no_other_files(made):
    text = made[0].read_text(encoding="utf-8")
    page = Page(text)
    assert page.open == []
    assert all(link.startswith(("#", "data:")) for link in page.links)
    assert "http" not in re.sub(r"base64,[^\"]*", "", text)
    assert "<script" not in text
    assert "<b>" not in text  # names of columns are escaped
    assert len(page.images) == 2
    assert all(image["alt"] for image in page.images)
    assert len(text) < 3_000_000


def test_page_shows_the_results(made):
    text = re.sub(r"\s+", " ", " ".join(Page(made[0].read_text(encoding="utf-8")).text))
    for words in (
        "Forecast of sales <b>",
        "20 steps of 1 day ahead, from 2021-10-28 to 2021-11-16",
        "300 rows of my data.csv",
        "better in 5 of 5 held-out blocks",
        "of rows within the 90% interval",
        "Shaded: 90 % prediction interval",
        "seasons 7",
        "candidates",
        "direct",
        "pd.read_csv(",
        "ee.Forecaster(horizon=20)",
        "All numbers are in report-predictions.csv",
    ):
        assert words in text


def test_predictions_continue_in_time(made):
    table = pd.read_csv(predictions_path(made[0]), parse_dates=["time"])
    held_out, future = table[table.part == "held-out"], table[table.part == "future"]
    assert len(held_out) == 5 * H
    assert len(future) == H
    assert list(table.time) == list(pd.date_range("2021-07-20", periods=6 * H, freq="D"))
    assert held_out.steps_ahead.tolist() == 5 * list(range(1, H + 1))
    assert future.actual.isna().all()
    assert not table.drop(columns="actual").isna().any().any()
    error = np.abs(held_out.forecast - held_out.actual).mean()
    assert f"{error:.3f}" in made[1]
    t = np.arange(300, 300 + H)
    truth = 20 + 4 * np.sin(2 * np.pi * t / 7) + 0.02 * t
    assert np.abs(future.forecast - truth).mean() < 0.5
    assert (table.lower < table.forecast).all()
    assert (table.forecast < table.upper).all()
    within = (held_out.lower <= held_out.actual) & (held_out.actual <= held_out.upper)
    assert f"{100 * within.mean():.3g}% of rows within" in re.sub(r"\s+", " ", made[1])
    np.testing.assert_array_equal(future.seasonal_naive[:7], held_out.actual[-7:])


def test_command_on_the_page_reproduces_the_report(made, tmp_path):
    text = " ".join(Page(made[0].read_text(encoding="utf-8")).text)
    words = shlex.split(re.search(r"eigenecho forecast .*", text).group())
    again = tmp_path / "elsewhere.html"
    words[words.index("--out") + 1] = str(again)
    assert CliRunner().invoke(app, words[1:]).exit_code == 0
    assert predictions_path(again).read_bytes() == predictions_path(made[0]).read_bytes()

    def lasting(path):
        text = path.read_text(encoding="utf-8").replace(str(path), "").replace(path.stem, "")
        return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d \S+ · .* · nothing is drawn", "", text)

    assert lasting(again) == lasting(made[0])


def test_every_option_is_in_the_command(data, monkeypatch, tmp_path):
    heard = []
    monkeypatch.setattr(command, "run", lambda request, console: heard.append(request))
    words = [
        data, "--target", "walk", "--horizon", 7, "--id", "shop", "--time", "day", "--inputs",
        "a,b", "--past", "c", "--multivariate", "--strategy", "direct", "--season", "12.5,30",
        "--blocks", 2, "--interval", 0.5, "--gaps", "fill", "--last", 500, "--sep", ";",
        "--decimal", ",", "--encoding", "cp1252", "--out", tmp_path / "r.html", "--out",
        tmp_path / "r.csv", "--save", tmp_path / "r.safetensors",
    ]  # fmt: skip
    assert invoke(*words).exit_code == 0
    assert shlex.split(heard[0].command) == ["eigenecho", "forecast", *map(str, words)]
    assert heard[0].seasons == [12.5, 30]
    assert heard[0].written == [tmp_path / name for name in ("r.html", "r.csv", "r.safetensors")]


@pytest.mark.usefixtures("sketched")
def test_ambiguous_thousands_are_reported(tmp_path):
    days = pd.date_range("2021-01-01", periods=60).strftime("%d.%m.%Y")
    sales = [f"{900 + 7 * i % 300:,}".replace(",", ".") for i in range(60)]
    path, out = tmp_path / "sales.csv", tmp_path / "r.csv"
    pd.DataFrame({"day": days, "sales": sales}).to_csv(path, index=False, sep=";")
    words = [path, "--target", "sales", "--horizon", 5, "--out", out, "--blocks", 1]
    answer = invoke(*words)
    assert answer.exit_code == 2
    assert "--decimal ',' for thousands" in re.sub(r"\s+", " ", answer.output)
    assert invoke(*words, "--decimal", ",").exit_code == 0
    forecast = pd.read_csv(out)["forecast"]
    assert forecast.between(500, 2000).all()


@pytest.mark.usefixtures("sketched")
@pytest.mark.parametrize("words", [("--no-interval",), ("--interval", 0)])
def test_without_intervals(data, tmp_path, words):
    out = tmp_path / "r.html"
    answer = invoke(data, "--target", "walk", "--horizon", H, "--out", out, "--blocks", 1, *words)
    assert answer.exit_code == 0
    assert "rows within" not in answer.output
    assert "lower" not in pd.read_csv(predictions_path(out))
    page = " ".join(Page(out.read_text(encoding="utf-8")).text)
    assert "Shaded" not in page
    assert "bounds" not in page
    assert "--interval 0" in page


@pytest.mark.usefixtures("sketched")
def test_random_walk_is_reported_as_unpredictable(data, tmp_path):
    out = tmp_path / "walk.html"
    answer = invoke(data, "--target", "walk", "--horizon", H, "--out", out)
    assert answer.exit_code == 0
    text = re.sub(r"\s+", " ", answer.output)
    assert re.search(r"[✓◐✗] (.*?)[:“]", text).group(1).startswith("Does not")
    page = re.sub(r"\s+", " ", " ".join(Page(out.read_text(encoding="utf-8")).text))
    assert "is better than “" in page or "do not settle that" in page


def test_quiet_prints_nothing(data, tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(command.forecast_page, "write", lambda *given: written.append(given))
    out = tmp_path / "r.html"
    answer = invoke(data, "--target", "walk", "--horizon", H, "-q", "--out", out, "--blocks", 1)
    assert answer.exit_code == 0
    assert answer.output == ""
    assert written[0][1] == out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--target", "walks"), "Did you mean 'walk'?"),
        (("--target", "day"), "line 2 says '2021-01-01'"),
        (("--target", "walk", "--time", "walk"), "regular step"),
        (("--target", "walk", "--horizon", "150"), "Use --horizon 96"),
        (("--target", "walk", "--blocks", "20"), "Use --blocks 6"),
        (("--target", "walk", "--gaps", "fil"), "Did you mean 'fill'?"),
        (("--target", "walk", "--strategy", "dirct"), "Did you mean 'direct'?"),
        (("--target", "walk", "--season", "200"), "--season 200"),
        (("--target", "walk", "--season", "7,x"), "such as 24,168"),
        (("--target", "walk", "--id", "shop"), "--id='shop' is not known"),
        (("--target", "walk,sales <b>", "--id", "day"), "one target at a time"),
        (("--target", "walk", "--id", "day"), "1 rows of"),
        (("--target", "walk", "--save", "model.bin"), "must end in .safetensors"),
        (("--target", "walk", "--interval", "90"), "such as 0.9"),
        (("--target", "walk", "--inputs", "sales <b>"), "the table knows 0"),
    ],
)
def test_invalid_input_gives_one_line_and_exit_code_2(data, tmp_path, options, message):
    answer = invoke(data, "--horizon", H, "--out", tmp_path / "r.html", *options)
    assert answer.exit_code == 2
    assert message in answer.output
    assert "Traceback" not in answer.output
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize("option", [("--horizon", "0"), ("--blocks", "x"), ("--last", "-1")])
def test_bad_numbers(data, option):
    assert invoke(data, "--target", "walk", "--horizon", 5, *option).exit_code == 2


def test_unwritable_paths_are_rejected_before_the_run(data, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "run", lambda *_: pytest.fail("worked before looking"))
    occupied = tmp_path / "file"
    occupied.write_text("not a folder")
    for out, said in (
        (occupied / "r.html", "cannot write"),
        (tmp_path, "is a folder"),
        (data, "over the data"),
        (tmp_path / "r.xlsx", "must end in .html"),
        (tmp_path / "r", "must end in .html"),
    ):
        answer = invoke(data, "--target", "walk", "--horizon", 5, "--out", out)
        assert answer.exit_code == 2
        assert said in answer.output


def test_files_are_replaced_only_with_force_and_data_never(data, tmp_path, monkeypatch):
    ran = []
    monkeypatch.setattr(command, "run", lambda *_: ran.append(True))

    def refused(file, *options):
        answer = invoke(file, "--target", "walk", "--horizon", 5, *options)
        return answer.output if answer.exit_code == 2 else ""

    out = tmp_path / "r.html"
    beside = predictions_path(out)
    for path in (out, beside):
        path.write_text("precious")
        assert f"{path} exists; --force" in refused(data, "--out", out)
        assert path.read_text() == "precious"
        path.unlink()
    beside.write_bytes(data.read_bytes())
    assert "over the data" in refused(beside, "--out", out, "--force")
    link = tmp_path / "link.csv"
    link.hardlink_to(beside)
    assert "over the data" in refused(link, "--out", out, "--force")
    page = tmp_path / "data.html"
    page.write_bytes(data.read_bytes())
    assert "over the data" in refused(page, "--out", page, "--force")
    assert not ran
    assert not refused(data, "--out", out, "--force")
    assert ran


@pytest.mark.usefixtures("sketched")
def test_table_next_to_the_report_is_kept(data, tmp_path):
    table = tmp_path / "walk.csv"
    table.write_text("precious")
    options = ("--target", "walk", "--horizon", H, "--blocks", 1, "--no-interval")
    out = tmp_path / "walk.html"
    assert invoke(data, *options, "--out", out).exit_code == 0
    assert table.read_text() == "precious"
    assert predictions_path(out).exists()


@pytest.mark.parametrize("form", ["csv", pytest.param("row", marks=pytest.mark.slow)])
def test_names_are_not_formulas_and_gaps_are_not_values(data, tmp_path, form):
    name = r"US$ \frac in A$"
    frame = pd.read_csv(data).rename(columns={"walk": name})
    time = "day" if form == "csv" else r"$\x$"
    frame = frame.rename(columns={"day": time})
    if form == "row":
        frame[time] = np.arange(len(frame))
    frame.loc[[250, 290], name] = np.nan
    path = tmp_path / "names.csv"
    frame.to_csv(path, index=False)
    out = tmp_path / "r.html"
    answer = invoke(path, "--target", name, "--time", time, "--horizon", H,
                    "--gaps", "fill", "--out", out)  # fmt: skip
    assert answer.exit_code == 0, answer.output
    page = re.sub(r"\s+", " ", " ".join(Page(out.read_text(encoding="utf-8")).text))
    output = re.sub(r"\s+", " ", answer.output)
    for text in (page, output):
        assert "2 of these 100 rows were not observed and count in no error." in text
    table = pd.read_csv(predictions_path(out))
    assert table[table.part == "held-out"].actual.isna().sum() == 2


def test_interrupt_leaves_no_report_and_no_traceback(data, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(tested_forecast, "forecast", interrupted)
    answer = invoke(data, "--target", "walk", "--horizon", 5, "--out", tmp_path / "r.html")
    assert answer.exit_code == 130
    assert "interrupted" in answer.output
    assert list(tmp_path.iterdir()) == []


# Several series, and other files ----------------------------------------------------------------


@pytest.fixture(scope="module")
def shops(data, tmp_path_factory):
    """Return a long table of two series, with names that contain markup."""
    frame = pd.read_csv(data)[["day", "sales <b>"]].rename(columns={"sales <b>": "sales"})
    one, other = frame.assign(shop="<i>a</i>"), frame.iloc[100:].assign(shop="b")
    path = tmp_path_factory.mktemp("shops") / "shops.csv"
    pd.concat([one, other]).to_csv(path, index=False)
    return path


@pytest.mark.usefixtures("sketched")
def test_long_table_is_forecast_as_one_panel(shops, tmp_path):
    out, table = tmp_path / "r.html", tmp_path / "all.csv"
    answer = invoke(
        shops, "--id", "shop", "--target", "sales", "--horizon", H, "--blocks", 1,
        "--out", out, "--out", table,
    )  # fmt: skip
    assert answer.exit_code == 0, answer.output
    assert "'sales' of 2 series: at most 300 rows" in answer.output
    rows = pd.read_csv(table)
    assert rows.groupby("shop").size().to_dict() == {"<i>a</i>": 2 * H, "b": 2 * H}
    text = out.read_text(encoding="utf-8")
    assert Page(text).open == []
    assert "<i>" not in text
    page = re.sub(r"\s+", " ", " ".join(Page(text).text))
    assert "Forecasts of 2 series" in page
    assert "<i>a</i>" in page
    assert "id='shop', time='day', target='sales'" in page
    assert "All numbers are in all.csv" in page


def test_several_targets_without_a_page(data, tmp_path):
    table = tmp_path / "all.csv"
    answer = invoke(
        data, "--target", "walk,sales <b>", "--horizon", H, "--blocks", 1, "--out", table,
    )  # fmt: skip
    assert answer.exit_code == 0, answer.output
    assert [path.name for path in tmp_path.iterdir()] == ["all.csv"]
    rows = pd.read_csv(table)
    assert rows["series"].unique().tolist() == ["walk", "sales <b>"]
    assert (rows["lower"] < rows["upper"]).all()


def test_missing_package_for_parquet_is_reported_before_the_run(data, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "find_spec", lambda _: None)
    monkeypatch.setattr(command, "run", lambda *_: pytest.fail("worked before looking"))
    answer = invoke(data, "--target", "walk", "--horizon", 5, "--out", tmp_path / "all.parquet")
    assert answer.exit_code == 2
    assert "pip install 'eigenecho[parquet]'" in answer.output


def test_two_pages_are_rejected(data, tmp_path):
    answer = invoke(
        data, "--target", "walk", "--horizon", 5, "--out", tmp_path / "a.html", "--out",
        tmp_path / "b.html",
    )  # fmt: skip
    assert answer.exit_code == 2
    assert "more than one page" in answer.output


def test_saved_forecaster_can_be_used(data, tmp_path):
    model, table = tmp_path / "model.safetensors", tmp_path / "all.csv"
    answer = invoke(
        data, "--target", "walk", "--horizon", H, "--blocks", 1, "--out", table, "--save", model,
    )  # fmt: skip
    assert answer.exit_code == 0, answer.output
    rows = pd.read_csv(table)
    made = ee.load(model).predict()["walk"]
    np.testing.assert_allclose(made, rows[rows.part == "future"].forecast, rtol=1e-8)
    assert made.index[0] == pd.Timestamp("2021-10-28")
    again = invoke(data, "--target", "walk", "--horizon", H, "--out", tmp_path / "b.csv",
                   "--save", model)  # fmt: skip
    assert again.exit_code == 2
    assert f"{model} exists" in again.output


def test_files_named_like_temporary_files_are_kept(data, tmp_path):
    out = tmp_path / "all.csv"
    precious = [tmp_path / name for name in ("all.csv.part", ".all.csv.part", "all.part")]
    for path in precious:
        path.write_text("precious")
    options = ("--target", "walk", "--horizon", H, "--blocks", 1, "--no-interval")
    assert invoke(data, *options, "--out", out).exit_code == 0
    assert all(path.read_text() == "precious" for path in precious)
    assert sorted(tmp_path.iterdir()) == sorted([*precious, out])


@pytest.mark.parametrize("size", ["1e308", "-1e300"])
def test_too_large_numbers_give_a_one_line_error(data, tmp_path, size):
    path = tmp_path / "large.csv"
    frame = pd.read_csv(data, dtype=str)
    frame.loc[33, "walk"] = size
    frame.to_csv(path, index=False)
    answer = invoke(path, "--target", "walk", "--horizon", H, "--out", tmp_path / "r.html")
    assert answer.exit_code == 2
    assert f"line 35 says '{size}'" in answer.output


def test_overflowing_forecast_gives_exit_code_1(data, tmp_path, monkeypatch):
    def overflowed(*_, **__):
        raise ArithmeticError("the forecast overflowed")

    monkeypatch.setattr(tested_forecast, "forecast", overflowed)
    answer = invoke(data, "--target", "walk", "--horizon", 5, "--out", tmp_path / "r.html")
    assert answer.exit_code == 1
    assert "overflowed" in answer.output


def test_interrupted_backtest_ends_the_command(data, tmp_path, monkeypatch):
    refit, calls = ee.Forecaster._fit_on, []

    def interrupted(*given):
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return refit(*given)

    monkeypatch.setattr(ee.Forecaster, "_fit_on", interrupted)
    answer = invoke(
        data, "--target", "walk", "--horizon", 5, "--blocks", 2, "--out", tmp_path / "r.html"
    )
    assert answer.exit_code == 130
    assert "origins are finished" not in answer.output  # finished origins are discarded
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["ds", "unique_id", "y", "forecast"])
def test_targets_may_have_any_name(data, tmp_path, name):
    path, table = tmp_path / "data.csv", tmp_path / "all.csv"
    pd.read_csv(data).rename(columns={"walk": name}).to_csv(path, index=False)
    answer = invoke(path, "--target", name, "--horizon", 5, "--blocks", 1, "--out", table)
    assert answer.exit_code == 0, answer.output


RARE = [pytest.param(name, marks=pytest.mark.slow) for name in ("part", "mean")]
"""Slow cases, which resemble "time" and "drift": a column of the result and a naive forecast."""


@pytest.mark.parametrize("name", ["time", "series", "drift", *RARE])
def test_ids_may_have_any_name(shops, tmp_path, name):
    path, table = tmp_path / "data.csv", tmp_path / "all.csv"
    pd.read_csv(shops).rename(columns={"shop": name}).to_csv(path, index=False)
    answer = invoke(path, "--id", name, "--target", "sales", "--horizon", 5, "--blocks", 1,
                    "--out", table)  # fmt: skip
    assert answer.exit_code == 0, answer.output
    columns = table.read_text().splitlines()[0].split(",")
    assert columns[:2] == ["series", "time"]
    assert len(set(columns)) == len(columns)


def test_blocks_with_too_few_rows_cause_a_one_line_warning(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("x\n" + "\n".join(map(str, np.random.default_rng(0).normal(size=14))))
    result = invoke(
        path, "--target", "x", "--horizon", 1, "--blocks", 4, "--out", tmp_path / "o.csv"
    )
    assert result.exit_code == 0, result.output
    said = "Warning: Forecasts from 2 of 4 origins are the last value"
    assert sum(said in line for line in result.output.splitlines()) == 1
    assert "FewRowsWarning" not in result.output


def test_warnings_are_printed_before_a_failure(capsys):
    def failing():
        warnings.warn("it grows", stacklevel=1)
        raise ArithmeticError

    with pytest.raises(ArithmeticError), print_warnings(Console()):
        failing()
    assert capsys.readouterr().out == "Warning: it grows\n"
