"""``eigenecho forecast``: from a file to a report."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import shlex
import sys
import warnings
from dataclasses import fields
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
from eigenecho.cli import forecast as command
from eigenecho.cli.app import app
from eigenecho.cli.terminal import command_line, print_warnings
from eigenecho.data.read_table import FileFormat, read_table
from eigenecho.errors import UnstableError
from eigenecho.forecasting import backtest
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
    """Tags that are open, what they link to, and the text."""

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
    assert "'sales <b>': 300 rows, day 2021-01-01 to 2021-10-27" in said
    for word in ("mae", "rmse", "mase", "forecast", "last value", "seasonal naive"):
        assert word in said
    assert re.search("5 origins from .*, 20 steps each", said)
    assert re.search("eats? “seasonal naive”: the mean absolute error is", said)
    assert "✓ Beats “last value”" in said
    assert re.search(r"90% prediction intervals contain [\d.]+% of the true values", said)
    assert "report.html" in said


def test_the_page_needs_nothing_else(made):
    text = made[0].read_text(encoding="utf-8")
    page = Page(text)
    assert page.open == []
    assert all(link.startswith(("#", "data:")) for link in page.links)
    assert "http" not in re.sub(r"base64,[^\"]*", "", text)
    assert "<script" not in text
    assert "<b>" not in text  # names of columns are text, not markup
    assert len(page.images) == 2
    assert all(image["alt"] for image in page.images)
    assert len(text) < 3_000_000


def test_the_page_shows_what_was_found(made):
    said = re.sub(r"\s+", " ", " ".join(Page(made[0].read_text(encoding="utf-8")).text))
    for words in (
        "Forecast of sales <b>",
        "20 steps of 1 day, from 2021-10-28 to 2021-11-16",
        "300 rows of my data.csv",
        "it is lower in 5 of 5 blocks",
        "90% prediction intervals contain",
        "The shaded area is the 90% prediction interval",
        "seasons 7 rows",
        "candidates",
        "direct",
        "series = read_table(",
        "ee.Forecaster(horizon=20)",
        "are in report-predictions.csv",
    ):
        assert words in said


def test_predictions_go_on_in_time(made):
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
    assert f"contain {100 * within.mean():.3g}%" in re.sub(r"\s+", " ", made[1])
    np.testing.assert_array_equal(future.seasonal_naive[:7], held_out.actual[-7:])


def test_the_command_in_the_page_gives_the_same(made, tmp_path):
    text = " ".join(Page(made[0].read_text(encoding="utf-8")).text)
    words = shlex.split(re.search(r"eigenecho forecast .*", text).group())
    again = tmp_path / "elsewhere.html"
    words[words.index("--out") + 1] = str(again)
    assert CliRunner().invoke(app, words[1:]).exit_code == 0
    assert predictions_path(again).read_bytes() == predictions_path(made[0]).read_bytes()

    def lasting(path):
        text = path.read_text(encoding="utf-8").replace(str(path), "").replace(path.stem, "")
        return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d \S+ · .* · deterministic", "", text)

    assert lasting(again) == lasting(made[0])


def test_the_python_code_in_the_page_gives_the_same(made):
    text = " ".join(Page(made[0].read_text(encoding="utf-8")).text)
    code = re.search(
        r"import eigenecho as ee.*?origins=5, interval=0.9\)\)", text, re.DOTALL
    ).group()
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code.replace("print(forecaster.fit", "made = (forecaster.fit"), names)
    table = pd.read_csv(predictions_path(made[0]))
    forecast = names["made"]["sales <b>", "forecast"]
    np.testing.assert_allclose(forecast, table[table.part == "future"].forecast, rtol=1e-9)


def test_every_option_is_in_the_command(data, monkeypatch, tmp_path):
    calls = []
    monkeypatch.setattr(command, "read_table", lambda *given, **options: calls.append(options))
    commands = []

    def stop(*_):
        context = inspect.currentframe().f_back.f_locals["context"]
        commands.append(command_line(context, "force", "quiet"))
        raise ValueError("enough")

    monkeypatch.setattr(command, "_describe", stop)
    words = [
        data, "--target", "walk", "--horizon", 7, "--id", "shop", "--time", "day", "--inputs",
        "a,b", "--past", "c", "--multivariate", "--strategy", "direct", "--season", "12.5,30",
        "--blocks", 2, "--interval", 0.5, "--gaps", "fill", "--last", 500, "--sep", ";",
        "--decimal", ",", "--thousands", " ", "--skip-rows", 2, "--encoding", "cp1252",
        "--date-format", "%d/%m/%y", "--out", tmp_path / "r.html", "--out", tmp_path / "r.csv",
        "--save", tmp_path / "r.safetensors",
    ]  # fmt: skip
    assert invoke(*words).exit_code == 2
    assert shlex.split(commands[0]) == ["eigenecho", "forecast", *map(str, words)]
    options = set(inspect.signature(read_table).parameters) - {"path", "target", "form"}
    assert set(calls[0]) == options | {field.name for field in fields(FileFormat)}
    assert command._read_seasons("12.5,30") == [12.5, 30]


@pytest.mark.usefixtures("sketched")
def test_thousands_are_asked_about(tmp_path):
    days = pd.date_range("2021-01-01", periods=60)
    sales = [f"{900 + 7 * i % 300:,}".replace(",", ".") for i in range(60)]
    path, out = tmp_path / "sales.csv", tmp_path / "r.csv"
    pd.DataFrame({"day": days, "sales": sales}).to_csv(path, index=False, sep=";")
    words = [path, "--target", "sales", "--horizon", 5, "--out", out, "--blocks", 1]
    assert "--sep" in invoke(*words).output
    words += ["--sep", ";"]
    answer = invoke(*words)
    assert answer.exit_code == 2
    assert "--thousands ." in re.sub(r"\s+", " ", answer.output)
    assert invoke(*words, "--thousands", ".").exit_code == 0
    forecast = pd.read_csv(out)["forecast"]
    assert forecast.between(500, 2000).all()


@pytest.mark.usefixtures("sketched")
@pytest.mark.parametrize("words", [("--no-interval",), ("--interval", 0)])
def test_without_intervals(data, tmp_path, words):
    out = tmp_path / "r.html"
    answer = invoke(data, "--target", "walk", "--horizon", H, "--out", out, "--blocks", 1, *words)
    assert answer.exit_code == 0
    assert "lower" not in pd.read_csv(predictions_path(out))
    page = " ".join(Page(out.read_text(encoding="utf-8")).text)
    assert "shaded" not in page
    assert " ".join(map(str, words)) in page


@pytest.mark.usefixtures("sketched")
def test_it_is_said_that_a_walk_cannot_be_forecast(data, tmp_path):
    out = tmp_path / "walk.html"
    answer = invoke(data, "--target", "walk", "--horizon", H, "--out", out)
    assert answer.exit_code == 0
    said = re.sub(r"\s+", " ", answer.output)
    assert re.search(r"[✓◐✗] (.*?)[:“]", said).group(1).startswith("Does not")
    page = re.sub(r"\s+", " ", " ".join(Page(out.read_text(encoding="utf-8")).text))
    assert "There is no evidence that" in page or "are not sufficient evidence" in page


def test_quiet_prints_nothing(data, tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(command, "write_page", lambda *given: written.append(given))
    out = tmp_path / "r.html"
    answer = invoke(data, "--target", "walk", "--horizon", H, "-q", "--out", out, "--blocks", 1)
    assert answer.exit_code == 0
    assert answer.output == ""
    assert written[0][1] == out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--target", "walks"), "Did you mean 'walk'?"),
        (("--target", "day", "--time", "none"), "line 2 contains '2021-01-01'"),
        (("--target", ""), "Invalid --target"),
        (("--target", "walk", "--season", "9" * 20), "Invalid seasons"),
        (("--target", "walk", "--time", "walk"), "'walk' is listed twice"),
        (("--target", "sales <b>", "--time", "walk"), "--time none"),
        (("--target", "walk", "--horizon", "150"), "Use --horizon 96"),
        (("--target", "walk", "--blocks", "20"), "Use --blocks 6"),
        (("--target", "walk", "--gaps", "fil"), "Did you mean 'fill'?"),
        (("--target", "walk", "--strategy", "dirct"), "Did you mean 'direct'?"),
        (("--target", "walk", "--season", "7,x"), "such as '24,168'"),
        (("--target", "walk", "--id", "shop"), "Unknown --id='shop'"),
        (("--target", "walk,sales <b>", "--id", "day"), "--id requires a single --target"),
        (("--target", "walk", "--id", "day", "--time", "none"), "too few rows (1)"),
        (("--target", "walk", "--save", "model.bin"), "ends in .safetensors"),
        (("--target", "walk", "--interval", "90"), "interval=90"),
        (("--target", "walk", "--inputs", "sales <b>"), "the table has 0"),
    ],
)
def test_invalid_options_give_one_line_and_exit_code_2(data, tmp_path, options, said):
    answer = invoke(data, "--horizon", H, "--out", tmp_path / "new" / "r.html", *options)
    assert answer.exit_code == 2
    assert said in answer.output
    assert "Traceback" not in answer.output
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", [("--horizon", "0"), ("--blocks", "x"), ("--last", "-1")])
def test_bad_numbers(data, option):
    assert invoke(data, "--target", "walk", "--horizon", 5, *option).exit_code == 2


def test_places_that_cannot_be_written_are_refused_before_any_work(data, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "read_table", lambda *_, **__: pytest.fail("too late"))
    occupied = tmp_path / "file"
    occupied.write_text("not a folder")
    for out, said in (
        (occupied / "r.html", "Not a directory"),
        (tmp_path, "Invalid output file"),
        (data, "is the input file"),
        (tmp_path / "r.xlsx", "ends in .html or .csv"),
        (tmp_path / "r", "ends in .html or .csv"),
    ):
        answer = invoke(data, "--target", "walk", "--horizon", 5, "--out", out)
        assert answer.exit_code == 2
        assert said in answer.output


def test_nothing_is_replaced_unless_forced_and_the_data_never(data, tmp_path, monkeypatch):
    ran = []

    def read(*_, **__):
        ran.append(True)
        raise ValueError("read")

    monkeypatch.setattr(command, "read_table", read)

    def refused(file, *options):
        answer = invoke(file, "--target", "walk", "--horizon", 5, *options)
        return answer.output if answer.exit_code == 2 else ""

    out = tmp_path / "r.html"
    beside = predictions_path(out)
    for path in (out, beside):
        path.write_text("precious")
        assert f"{path} already exists. Use --force" in refused(data, "--out", out)
        assert path.read_text() == "precious"
        path.unlink()
    beside.write_bytes(data.read_bytes())
    assert "is the input file" in refused(beside, "--out", out, "--force")
    page = tmp_path / "data.html"
    page.write_bytes(data.read_bytes())
    assert "is the input file" in refused(page, "--out", page, "--force")
    assert not ran
    assert refused(data, "--out", out, "--force") == "Error: read\n"
    assert ran


@pytest.mark.usefixtures("sketched")
def test_a_table_beside_the_report_is_left_alone(data, tmp_path):
    table = tmp_path / "walk.csv"
    table.write_text("precious")
    options = ("--target", "walk", "--horizon", H, "--blocks", 1, "--no-interval")
    out = tmp_path / "walk.html"
    assert invoke(data, *options, "--out", out).exit_code == 0
    assert table.read_text() == "precious"
    assert predictions_path(out).exists()


@pytest.mark.parametrize("form", ["csv", pytest.param("row", marks=pytest.mark.slow)])
def test_names_are_no_formulas_and_holes_are_no_truth(data, tmp_path, form):
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
    said = re.sub(r"\s+", " ", answer.output)
    for text in (page, said):
        assert "2 of 100 true values are missing" in text
    table = pd.read_csv(predictions_path(out))
    assert table[table.part == "held-out"].actual.isna().sum() == 2


def test_an_interrupt_leaves_no_report_and_no_traceback(data, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "forecast_table", interrupted)
    answer = invoke(data, "--target", "walk", "--horizon", 5, "--out", tmp_path / "r.html")
    assert answer.exit_code == 130
    assert "Interrupted" in answer.output
    assert list(tmp_path.iterdir()) == []


# Several series, and other files ----------------------------------------------------------------


@pytest.fixture(scope="module")
def shops(data, tmp_path_factory):
    """Two series below each other, with names that are markup."""
    frame = pd.read_csv(data)[["day", "sales <b>"]].rename(columns={"sales <b>": "sales"})
    one, other = frame.assign(shop="<i>a</i>"), frame.iloc[100:].assign(shop="b")
    path = tmp_path_factory.mktemp("shops") / "shops.csv"
    pd.concat([one, other]).to_csv(path, index=False)
    return path


@pytest.mark.usefixtures("sketched")
def test_a_long_table_is_forecast_as_one_panel(shops, tmp_path):
    out, table = tmp_path / "r.html", tmp_path / "all.csv"
    answer = invoke(
        shops, "--id", "shop", "--target", "sales", "--horizon", H, "--blocks", 1,
        "--out", out, "--out", table,
    )  # fmt: skip
    assert answer.exit_code == 0, answer.output
    assert "Read 'sales' of 2 series: up to 300 rows" in answer.output
    rows = pd.read_csv(table)
    assert rows.groupby("shop").size().to_dict() == {"<i>a</i>": 2 * H, "b": 2 * H}
    text = out.read_text(encoding="utf-8")
    assert Page(text).open == []
    assert "<i>" not in text
    page = re.sub(r"\s+", " ", " ".join(Page(text).text))
    assert "Forecasts of 2 series" in page
    assert "<i>a</i>" in page
    assert "id='shop', time='day', target='sales'" in page
    assert "are in all.csv" in page


def test_several_targets_and_no_page(data, tmp_path):
    table = tmp_path / "all.csv"
    answer = invoke(
        data, "--target", "walk,sales <b>", "--horizon", H, "--blocks", 1, "--out", table,
    )  # fmt: skip
    assert answer.exit_code == 0, answer.output
    assert [path.name for path in tmp_path.iterdir()] == ["all.csv"]
    rows = pd.read_csv(table)
    assert rows["series"].unique().tolist() == ["walk", "sales <b>"]
    assert (rows["lower"] < rows["upper"]).all()


def test_parquet_needs_its_package_before_any_work(data, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "find_spec", lambda _: None)
    monkeypatch.setattr(command, "read_table", lambda *_, **__: pytest.fail("too late"))
    answer = invoke(data, "--target", "walk", "--horizon", 5, "--out", tmp_path / "all.parquet")
    assert answer.exit_code == 2
    assert "pip install 'eigenecho[parquet]'" in answer.output


def test_without_pandas_a_hint(data, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    answer = invoke(data, "--target", "walk", "--horizon", 5, "--out", tmp_path / "r.csv")
    assert answer.exit_code == 2
    assert "pip install 'eigenecho[cli]'" in answer.output


def test_two_pages_are_one_too_many(data, tmp_path):
    answer = invoke(
        data, "--target", "walk", "--horizon", 5, "--out", tmp_path / "a.html", "--out",
        tmp_path / "b.html",
    )  # fmt: skip
    assert answer.exit_code == 2
    assert "at most one .html file" in answer.output


def test_a_forecaster_is_saved_and_goes_on(data, tmp_path):
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
    assert f"{model} already exists" in again.output


def test_files_that_are_named_like_temporary_ones_are_left_alone(data, tmp_path):
    out = tmp_path / "all.csv"
    precious = [tmp_path / name for name in ("all.csv.part", ".all.csv.part", "all.part")]
    for path in precious:
        path.write_text("precious")
    options = ("--target", "walk", "--horizon", H, "--blocks", 1, "--no-interval")
    assert invoke(data, *options, "--out", out).exit_code == 0
    assert all(path.read_text() == "precious" for path in precious)
    assert sorted(tmp_path.iterdir()) == sorted([*precious, out])


@pytest.mark.parametrize("size", ["1e308", "-1e300"])
def test_numbers_that_are_too_large_are_one_line(data, tmp_path, size):
    path = tmp_path / "large.csv"
    frame = pd.read_csv(data, dtype=str)
    frame.loc[33, "walk"] = size
    frame.to_csv(path, index=False)
    answer = invoke(path, "--target", "walk", "--horizon", H, "--out", tmp_path / "r.html")
    assert answer.exit_code == 2
    assert f"line 35 contains '{size}'" in answer.output


def test_a_forecast_that_overflows_ends_with_1(data, tmp_path, monkeypatch):
    def overflowed(*_, **__):
        raise UnstableError("the forecast overflowed")

    monkeypatch.setattr(command, "forecast_table", overflowed)
    answer = invoke(data, "--target", "walk", "--horizon", 5, "--out", tmp_path / "r.html")
    assert answer.exit_code == 1
    assert "overflowed" in answer.output


def test_a_test_that_is_cut_short_is_an_interrupt(data, tmp_path, monkeypatch):
    refit, calls = backtest.fit, []

    def interrupted(*given):
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return refit(*given)

    monkeypatch.setattr(backtest, "fit", interrupted)
    answer = invoke(
        data, "--target", "walk", "--horizon", 5, "--blocks", 2, "--out", tmp_path / "r.html"
    )
    assert answer.exit_code == 130
    assert "interrupted after" not in answer.output  # nothing of them is kept
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["ds", "unique_id", "y", "forecast"])
def test_targets_may_be_called_anything(data, tmp_path, name):
    path, table = tmp_path / "data.csv", tmp_path / "all.csv"
    pd.read_csv(data).rename(columns={"walk": name}).to_csv(path, index=False)
    answer = invoke(path, "--target", name, "--horizon", 5, "--blocks", 1, "--out", table)
    assert answer.exit_code == 0, answer.output


RARE = [pytest.param(name, marks=pytest.mark.slow) for name in ("part", "mean")]
"""A column of the answer and a naive forecast, as "time" and "drift" are."""


@pytest.mark.parametrize("name", ["time", "series", "drift", *RARE])
def test_ids_may_be_called_anything(shops, tmp_path, name):
    path, table = tmp_path / "data.csv", tmp_path / "all.csv"
    pd.read_csv(shops).rename(columns={"shop": name}).to_csv(path, index=False)
    answer = invoke(path, "--id", name, "--target", "sales", "--horizon", 5, "--blocks", 1,
                    "--out", table)  # fmt: skip
    assert answer.exit_code == 0, answer.output
    columns = table.read_text().splitlines()[0].split(",")
    assert columns[:2] == ["series", "time"]
    assert len(set(columns)) == len(columns)


def test_blocks_that_nothing_was_learnt_for_are_told_of_in_a_line(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("x\n" + "\n".join(map(str, np.random.default_rng(0).normal(size=14))))
    result = invoke(
        path, "--target", "x", "--horizon", 1, "--blocks", 4, "--out", tmp_path / "o.csv"
    )
    assert result.exit_code == 0, result.output
    said = "Warning: Forecasts from 2 of 4 origins use only the prior"
    assert sum(said in line for line in result.output.splitlines()) == 1
    assert "FewRowsWarning" not in result.output


def test_warnings_are_said_of_what_fails_too(capsys):
    def failing():
        warnings.warn("it grows", stacklevel=1)
        raise ArithmeticError

    with pytest.raises(ArithmeticError), print_warnings(Console()):
        failing()
    assert capsys.readouterr().out == "Warning: it grows\n"
