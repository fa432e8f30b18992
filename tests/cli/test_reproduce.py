"""``eigenecho reproduce`` and its report, tested with trivial experiments."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

from rich.console import Console
from typer.testing import CliRunner

from eigenecho import pages, progress
from eigenecho.cli.app import app
from eigenecho.paper import runner
from eigenecho.paper.claims import VERDICTS
from fake_experiment import HELD, Alone, Dying, Fake, Slow, wait_for

FAKES = Path(__file__).parents[1] / "paper"
FILES = {"cells", "report.html", "report.md", "results.json", "figures"}


@pytest.fixture(autouse=True)
def _fakes(monkeypatch):
    monkeypatch.setattr(runner, "EXPERIMENTS", [Fake(), Alone(), Slow()])


def invoke(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def refused(answer, *words):
    """Assert a single line on the error stream, no traceback, and exit code 2."""
    assert answer.exit_code == 2, answer.output
    assert answer.stderr.count("\n") == 1
    assert answer.stderr.startswith("Error: ")
    for word in words:
        assert word in answer.stderr
    return True


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the folder and the output of a run of all experiments except the slow one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "EXPERIMENTS", [Fake(), Alone()])
        out = tmp_path_factory.mktemp("made") / "deep" / "out"
        answer = invoke("--quick", "--workers", 2, "--out", out)
        assert answer.exit_code == 0, answer.output
        return out, answer.stdout


@pytest.fixture
def copy(made, tmp_path):
    shutil.copytree(made[0] / "cells", tmp_path / "cells")
    return tmp_path


# Command --------------------------------------------------------------------------------------


def test_output_ends_with_a_summary_verdicts_and_the_path(made):
    out, printed = made
    assert {path.name for path in out.iterdir()} == FILES
    figures = {path.name for path in (out / "figures").iterdir()}
    assert figures == {"fake-figure.png", "fake-figure.svg"}
    for word in ("fake", "alone", "runs", "time", "key result", "sum "):
        assert word in printed
    for verdict in ("✓ holds", "◐ holds in part", "✗ does not hold", "? not resolved"):
        assert verdict in printed
    assert "verdicts are not reliable" in printed
    assert str(out / "report.html") in printed.splitlines()[-1]


def test_progress_without_a_terminal_is_plain_lines(made):
    lines = made[1].splitlines()
    assert lines[0] == "fake: 4 runs"
    assert "fake: done" in lines
    assert "alone: done" in lines
    assert "\x1b" not in made[1]


@pytest.mark.usefixtures("sketched")
def test_second_run_reports_stored_cells(copy):
    answer = invoke("fake", "--quick", "--out", copy)
    assert "fake: 4 runs, 4 already stored" in answer.stdout
    # Other finished experiments with the same settings remain in the report.
    assert 'id="alone"' in (copy / "report.html").read_text()


@pytest.mark.usefixtures("sketched")
def test_seeds_change_only_the_number_of_cells(copy):
    answer = invoke("fake", "--quick", "--seeds", 3, "--workers", 1, "--out", copy)
    assert "fake: 6 runs, 4 already stored" in answer.stdout


@pytest.mark.usefixtures("sketched")
def test_fresh_deletes_the_named_experiments(copy):
    answer = invoke("fake", "--quick", "--fresh", "--workers", 1, "--out", copy)
    assert "fake: 4 runs\n" in answer.stdout
    assert "alone: 4 runs, 4 already stored" in invoke("alone", "--quick", "--out", copy).stdout


def test_damaged_cell_is_named_and_not_modified(copy):
    file = next(copy.rglob("a-0.npz"))
    file.write_bytes(b"noise" * 1000)
    refused(invoke("fake", "--quick", "--out", copy), str(file), "Delete the file")
    assert file.read_bytes() == b"noise" * 1000


def test_list_names_every_experiment():
    answer = invoke("--list")
    assert answer.exit_code == 0
    for experiment in runner.EXPERIMENTS:
        assert experiment.name in answer.stdout


@pytest.mark.usefixtures("sketched")
def test_default_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert invoke("fake", "--quick", "--workers", 1).exit_code == 0
    assert (tmp_path / "results" / "quick" / "cells").exists()


@pytest.mark.usefixtures("sketched")
def test_command_that_resumes_a_run(tmp_path):
    folder = tmp_path / "a b"
    invoke("fake", "--quick", "--out", folder, "--workers", 3, "--seeds", 2, "--fresh")
    command = json.loads((folder / "results.json").read_text())["command"]
    assert command == (f"eigenecho reproduce fake --quick --out '{folder}' --workers 3 --seeds 2")


# Bad input ------------------------------------------------------------------------------------


def test_unknown_name_lists_all_names_and_the_closest(tmp_path):
    answer = invoke("fakke", "--out", tmp_path / "new")
    refused(answer, "'fakke'", "alone, fake, slow", "Did you mean 'fake'?")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("option", ["--workers", "--seeds"])
@pytest.mark.parametrize("value", [0, -2])
def test_numbers_below_one(option, value, tmp_path):
    answer = invoke(option, value, "--out", tmp_path)
    assert answer.exit_code == 2
    assert option in answer.stderr


def test_option_that_is_not_a_number(tmp_path):
    assert invoke("--workers", "many", "--out", tmp_path).exit_code == 2


def test_unwritable_output_folder(tmp_path):
    occupied = tmp_path / "file"
    occupied.write_text("not a folder")
    for out in (occupied, occupied / "below"):
        answer = invoke("--out", out)
        refused(answer, "Cannot write", str(out))
        assert "stored" not in answer.stderr


@pytest.mark.usefixtures("sketched")
def test_full_disk_during_a_write(tmp_path, monkeypatch):
    write, written = Path.write_bytes, []

    def small(path, data):
        if len(written) == 3:
            raise OSError(28, "No space left on device")
        written.append(path)
        return write(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", small)
        answer = invoke("fake", "--out", tmp_path)
        refused(answer, "No space left", str(tmp_path), "Finished runs are stored")
    assert "Traceback" not in answer.output
    answer = invoke("fake", "--out", tmp_path)
    assert "fake: 6 runs, 3 already stored" in answer.stdout
    assert answer.exit_code == 0


@pytest.mark.usefixtures("sketched")
def test_full_disk_during_the_report(copy, monkeypatch):
    (copy / "report.html").write_text("the one before")
    write = Path.write_bytes

    def full(path, data):
        if "report.html" in path.name:
            write(path, data[:10])
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    refused(invoke("fake", "--quick", "--out", copy), "No space left", str(copy), "are stored")
    assert (copy / "report.html").read_text() == "the one before"
    assert not list(copy.glob("*.part"))


def test_failed_cell_gives_no_traceback(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "EXPERIMENTS", [Dying()])
    answer = invoke("--out", tmp_path)
    assert answer.exit_code == 1
    assert "worker process died" in answer.stderr
    assert "Traceback" not in answer.output


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another thing there")
def test_ctrl_c_explains_how_to_resume(tmp_path):
    command = [sys.executable, "-c", "import fake_experiment as f; f.main()", "reproduce", "slow"]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path), "--workers", "2"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(FAKES), *sys.path]), HELD: "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Restore SIGINT, because shells ignore it for background processes.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    # The run cannot finish more than three cells, so the signal always comes before its end.
    wait_for(lambda: stored(tmp_path) == 3 or process.poll() is not None)
    os.killpg(process.pid, signal.SIGINT)  # like a terminal, also signal the workers
    _, said = process.communicate(timeout=300)
    assert process.returncode == 130
    assert f"eigenecho reproduce slow --out {tmp_path} --workers 2" in said
    assert "Traceback" not in said
    assert stored(tmp_path) == 3
    answer = invoke("slow", "--out", tmp_path, "--workers", 2)
    assert "slow: 16 runs, 3 already stored" in answer.stdout
    assert answer.exit_code == 0


def stored(path):
    return len(list(path.rglob("*.npz")))


# Progress -------------------------------------------------------------------------------------


def test_bars_in_a_terminal():
    console = Console(force_terminal=True, width=90, record=True, file=io.StringIO())
    with progress.display({"fake": 4, "alone": 2}, "run", console) as heard:
        for done in (1, 2, 3, 4):
            heard("fake", done, 4)
    text = console.export_text()
    assert re.search(r"fake .* 4/4", text)
    assert re.search(r"alone .* 0/2 .*left", text)


def test_lines_are_printed_now_and_then(monkeypatch):
    clock = iter([0.0, 0.0, 100.0, 120.0, 121.0, 140.0])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    console = Console(width=80, record=True, file=io.StringIO())
    with progress.display({}, "run", console) as lines:
        lines("first", 0, 1)
        lines("second", 5, 15)
        lines("first", 1, 1)
        for done in (6, 7, 8):
            lines("second", done, 15)
    assert console.export_text().splitlines() == [
        "first: 1 run",
        "second: 15 runs, 5 already stored",
        "first: done",
        "second: 6 of 15, about 1080 s left",
        "second: 8 of 15, about 327 s left",
    ]


# Report ---------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Parser that collects the references and the text of a page."""

    VOID = ("meta", "link", "img")

    def __init__(self, text):
        super().__init__()
        self.links, self.images, self.tags, self.text, self.open = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        self.links += [given[name] for name in ("href", "src") if name in given]
        if tag == "img":
            self.images.append(given)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def page(made):
    return Page((made[0] / "report.html").read_text(encoding="utf-8"))


def test_page_is_well_formed_and_needs_no_network(made, page):
    assert page.open == []
    assert "script" not in page.tags
    assert all(link.startswith(("#", "data:")) for link in page.links)
    text = (made[0] / "report.html").read_text(encoding="utf-8")
    assert "@import" not in text
    assert not re.search(r"url\((?!data:)", text)
    assert "http" not in re.sub(r"base64,[^\"]*", "", text)
    assert len(text) < 8_000_000


def test_page_shows_every_figure_table_and_claim(page):
    said = re.sub(r"\s+", " ", " ".join(page.text))
    assert len(page.images) == 2  # one per experiment
    for image in page.images:
        assert image["src"].startswith("data:image/svg+xml;base64,")
        assert image["alt"] == "A line & its caption."
    assert said.count("Sums | all") == 2
    assert said.count("A note.") == 2
    for words in ("Draws are <finite>", "Draws are positive", "Draws are equal", "And < another."):
        assert words in said
    # One of each for both experiments; the claim of ours is counted apart.
    for words in ("holds: 2", "holds in part: 2", "does not hold: 2", "not resolved: 2"):
        assert said.count(words) == (2 if words == "holds: 2" else 1)
    for words in ("“ We observe draws ” ( caption )", "Draw is at most 1.00.", "A fact."):
        assert words.replace(" ", "") in said.replace(" ", "")
    assert "This is a quick run." in said
    # The claims come first, and the machine comes last.
    assert (
        said.index("Claims and verdicts")
        < said.index("Experiments")
        < said.index("Drawn <numbers>")
    )
    assert re.search(r"numpy \d", said)


def test_best_numbers_are_bold(page, made):
    ((_, total),) = results(made)["experiments"]["fake"]["numbers"]["Sums | all"]["rows"]
    text = (made[0] / "report.html").read_text(encoding="utf-8")
    assert f"<strong>{total:.3f}</strong>" in text
    assert f"**{total:.3f}**" in (made[0] / "report.md").read_text(encoding="utf-8")


def test_markdown_has_tables_and_figures_that_exist(made):
    text = (made[0] / "report.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (made[0] / target).exists()
    assert "| a\\|b | " in text
    assert text.count("| Claim |") == 2
    assert "– here: 0.00 [−1.00, 1.00] ✓" not in text
    assert (
        "*Rule:* Draw is at most 1.00. *Measured:* Here: 0.00 [−1.00, 1.00] ✓; here: 3.00" in text
    )
    tables = re.findall(r"(?:^\|.*\|$\n?)+", text.replace(" \n", "\n"), re.MULTILINE)
    assert len(tables) == 5
    for table in tables:
        rows = table.strip().splitlines()
        assert len({row.replace("\\|", "").count("|") for row in rows}) == 1
    assert "&lt;" not in text


def results(made):
    return json.loads((made[0] / "results.json").read_text())


def test_results_json_has_numbers_claims_and_versions(made):
    result = results(made)
    assert result["quick"] is True
    assert result["machines"][0]["numpy"]
    assert [c["verdict"] for c in result["claims"]] == 2 * [*VERDICTS, "holds"]
    first, second, *_ = result["claims"]
    assert (first["quote"], first["place"]) == ("We observe draws", "caption")
    assert [(c["low"], c["high"], c["met"]) for c in second["cases"]] == [
        (-1, 1, True),
        (2, 4, False),
    ]
    fake = result["experiments"]["fake"]
    assert fake["configuration"] == {"seeds": 2, "size": 2, "pause": 0.0}
    assert fake["cells"] == 4
    assert fake["numbers"]["nothing"] is None
    assert fake["numbers"]["array"] == [0, 1]


def test_equal_results_give_equal_figures(made, copy):
    invoke("fake", "--quick", "--out", copy)
    for name in ("fake-figure.svg", "fake-figure.png"):
        assert (copy / "figures" / name).read_bytes() == (
            made[0] / "figures" / name
        ).read_bytes()  # fmt: skip


def test_large_figures_are_embedded_as_pixels(copy, monkeypatch):
    monkeypatch.setattr(pages, "LARGEST_SVG", 10)
    invoke("fake", "--quick", "--out", copy)
    assert "data:image/png;base64," in (copy / "report.html").read_text()


@pytest.mark.usefixtures("sketched")
def test_unfinished_experiment_is_not_in_the_report(copy):
    invoke("fake", "--quick", "--seeds", 3, "--workers", 1, "--out", copy)
    assert 'id="alone"' not in (copy / "report.html").read_text()
