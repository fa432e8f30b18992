"""Verdicts, skipped peers and pages of the benchmark suite; nothing is timed here."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("rich")

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

from rich.console import Console

import chaos
import run
from common import WrongAnswer, at_least, at_most, check, output_of, read_verdict, verdict
from suite import catalogue, page, peers, results
from suite.catalogue import claims, jobs
from suite.job import Job, faster, within
from suite.record import Case, Record

ROOT = Path(__file__).resolve().parent.parent
FAST, SMALL = faster("fast", "a job", "reservoirpy", 10), within("small", "another", "itself", 2)


def quiet(text):
    """Ignore progress messages."""


def stored(folder, body, *, quick=False):
    """Run a job with the given body, and return the job and its stored results."""
    job = Job("work", "Work", body, (FAST, SMALL))
    results.measure(job, quick, folder / "work.json", quiet)
    return job, results.load(folder, [job])


def words(job, result):
    return [verdict.word for verdict in results.verdicts(job, result.get(job.name))]


def test_verdicts_for_met_and_missed_bounds(tmp_path):
    def body(record):
        record.faster("fast", {"reservoirpy": [3.0, 5.0, 4.0], "ours": [0.3, 0.5, 0.4]},
                      "reservoirpy", "ours")  # fmt: skip
        record.measured("small", 2.5)

    job, result = stored(tmp_path, body)
    assert words(job, result) == ["holds", "MISSED"]
    assert result["work"]["lines"]["fast"]["measured"] == pytest.approx(10)
    assert run.report(Console(quiet=True), [job], tmp_path) == 0  # a missed goal is not an error
    assert not FAST.holds(float("nan"))
    assert not SMALL.holds(float("nan"))


def test_missing_peer_is_reported_without_failure(tmp_path, monkeypatch):
    monkeypatch.setitem(peers.PEERS, "reservoirpy", "a-package-that-nobody-has")

    def body(record):
        assert not record.has("reservoirpy")
        record.faster("fast", {"ours": [0.3]}, "reservoirpy", "ours")
        record.measured("small", 1.0)

    job, result = stored(tmp_path, body)
    assert words(job, result) == ["skipped", "holds"]
    assert "not installed" in results.judge(FAST, result["work"]).remark
    assert run.report(Console(quiet=True), [job], tmp_path) == 0
    page.write(tmp_path / "page.md", [job], result, {"one thread": 10.0})
    assert "skipped: reservoirpy is not installed" in (tmp_path / "page.md").read_text()


def test_different_results_fail_every_line(tmp_path):
    def body(record):
        record.measured("small", 1.0)
        record.same("two ways", np.ones(3), np.array([1.0, 1.0, 1.1]), 1e-3)

    job, result = stored(tmp_path, body)
    assert words(job, result) == ["FAILED", "FAILED"]
    assert "two ways" in results.judge(SMALL, result["work"]).remark
    assert run.report(Console(quiet=True), [job], tmp_path) == 1


@pytest.mark.parametrize("found", [np.array([1.0, np.nan]), np.ones(3)], ids=["nan", "shape"])
def test_incomparable_results_are_unequal(found):
    with pytest.raises(WrongAnswer):
        Record(False, quiet).same("two ways", found, np.ones(2), 1e-3)


def test_job_that_crashes_or_records_nothing_fails(tmp_path, capsys):
    def broken(record):
        raise RuntimeError("no memory")

    job, result = stored(tmp_path, broken)
    assert words(job, result) == ["FAILED", "FAILED"]
    assert "no memory" in results.judge(FAST, result["work"]).remark
    job, result = stored(tmp_path, quiet)
    assert words(job, result) == ["FAILED", "FAILED"]
    assert run.report(Console(quiet=True), [job], tmp_path) == 1
    assert words(job, {}) == ["not measured", "not measured"]


def test_quick_sizes_are_not_judged(tmp_path):
    def body(record):
        record.measured("fast", record.pick(1.0, 2.0))
        record.measured("small", 100.0)

    job, result = stored(tmp_path, body, quick=True)
    assert result["work"]["lines"]["fast"]["measured"] == 2.0
    assert {word.split(":")[0] for word in words(job, result)} == {"not judged"}


def test_page_is_rendered_from_files_only(tmp_path):
    def body(record):
        cases = {"ours": Case(lambda: None), "theirs": Case(lambda: None, times=3)}
        record.time("one | two", cases, 2)
        record.measured("fast", 12.0, [11.0, 13.0])
        record.measured("small", 3.0)
        record.curve("fit", "eigenecho", {10: 1.0, 100: 10.0})

    job, result = stored(tmp_path, body)
    page.write(tmp_path / "page.md", [job], result, {"one thread": 10.0})
    text = (tmp_path / "page.md").read_text()
    assert "| at least 10 times faster | **12** (11 to 13) | holds |" in text
    assert "| at most 2 times as long | **3** | MISSED |" in text
    assert "slope 1.00" in (tmp_path / "figures" / "benchmark-steps.svg").read_text()
    page.write(tmp_path / "again.md", [job], results.load(tmp_path, [job]), {"one thread": 10.0})
    assert (tmp_path / "again.md").read_text() == text


def test_page_rejects_results_of_different_code(tmp_path):
    job, result = stored(tmp_path, quiet)
    other = result["work"] | {"environment": result["work"]["environment"] | {"source": "other"}}
    with pytest.raises(page.MixedResults, match="different code"):
        page.write(tmp_path / "page.md", [job], result | {"second": other}, {})


def test_names_and_keys_are_unique():
    everything = jobs()
    names = [job.name for job in everything]
    keys = [r.key for job in everything for r in job.requirements]
    assert len(set(names)) == len(names)
    assert len(set(keys)) == len(keys)
    assert "search_collapses" in {job.name for job in claims()}
    assert run.parse(["--only", "fit"]).only == ["fit"]


# Scripts that each test one claim


def test_verdict_reports_the_measurement_without_an_error(capsys):
    slow, small = at_least("naive search", 20), at_most("memory", 1024, "MiB")
    assert verdict({slow: 14.44, small: 300.0}) == 0
    line = capsys.readouterr().out.strip()
    found = "naive search: 14.4 times (goal: at least 20); memory: 300 MiB (goal: at most 1024)"
    assert read_verdict(line) == (False, found)
    assert at_least("error", 1.5e-8, "").report(0.0) == "error: 0 (goal: at least 1.5e-08)"
    assert verdict({slow: 20.0}) == 0
    assert read_verdict(capsys.readouterr().out)[0]
    assert verdict({slow: float("nan")}) == 0
    assert not read_verdict(capsys.readouterr().out)[0]
    assert read_verdict("Traceback") is None


def test_wrong_results_are_errors():
    check("two ways", 1e-9, 1e-9)
    for error in (2e-9, float("nan")):
        with pytest.raises(WrongAnswer, match="two ways: differs by"):
            check("two ways", error, 1e-9)


def test_failing_command_ends_the_script_with_its_output():
    assert output_of([sys.executable, "-c", "import os; print(os.environ['A'])"], A="b") == "b\n"
    with pytest.raises(SystemExit, match="broken"):
        output_of([sys.executable, "-c", "raise RuntimeError('broken')"])


SCRIPT = f"""
import sys
sys.path.insert(0, {str(ROOT / "benchmarks")!r})
from common import at_least, check, verdict
"""


@pytest.mark.parametrize(
    ("end", "word", "remark", "code"),
    [
        ("sys.exit(verdict({at_least('ours', 2): 3}))", "holds", "ours: 3 times", 0),
        ("sys.exit(verdict({at_least('ours', 2): 1}))", "MISSED", "times (goal: at least 2)", 0),
        ("verdict({at_least('ours', 2): 3}); print('closed')", "holds", "ours: 3 times", 0),
        ("check('outputs', 0.1, 1e-9)", "FAILED", "WrongAnswer: outputs: differs by 0.1", 1),
        ("raise KeyError('lost')", "FAILED", "KeyError: 'lost'", 1),
        ("sys.exit('lost')", "FAILED", "exit code 1: lost", 1),
        ("print('done')", "FAILED", "without a verdict: done", 1),
    ],
)  # fmt: skip
def test_script_fails_only_on_wrong_results_and_crashes(tmp_path, end, word, remark, code):
    script = tmp_path / "one_claim.py"
    script.write_text(SCRIPT + end, encoding="utf-8")
    job = Job("one_claim", "One", lambda record: catalogue.run_claim(script, record))
    results.measure(job, False, tmp_path / "one_claim.json", quiet)
    [result] = results.verdicts(job, results.load(tmp_path, [job])["one_claim"])
    assert result.word == word
    assert remark in result.remark
    assert run.report(Console(quiet=True), [job], tmp_path) == code


def test_every_script_ends_with_the_shared_verdict():
    for job in claims():
        source = (ROOT / "benchmarks" / f"{job.name}.py").read_text(encoding="utf-8")
        assert "return verdict(" in source, job.name
        assert "sys.exit(main())" in source, job.name


def test_make_bench_installs_what_the_benchmarks_import():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [command] = re.findall(r"^bench: (\S+)/stamp\n", makefile, re.MULTILINE)
    [extras] = re.findall(rf'^\t{re.escape(command)}/.* "\.\[(.*)\]"$', makefile, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    lines = [
        *project["dependencies"],
        *(line for one in extras.split(",") for line in optional[one]),
    ]
    installed = {re.match(r"[\w-]+", line).group() for line in lines} | {"eigenecho"}
    own = {path.stem for path in ROOT.glob("benchmarks/*")} | {"clusters", "matrices"}
    files = [ROOT / "benchmarks" / f"{job.name}.py" for job in claims()]
    files += [ROOT / "benchmarks" / "run.py", *ROOT.glob("benchmarks/suite/**/*.py")]
    for file in files:
        imported = catalogue.packages(file) - own - sys.stdlib_module_names
        named = {"scikit-learn" if name == "sklearn" else name for name in imported}
        assert named <= installed, file.name


@pytest.mark.filterwarnings("ignore::eigenecho.errors.IllConditionedWarning")
def test_methods_for_chaotic_systems():
    pytest.importorskip("reservoirpy")
    params = {"sr": 0.9, "lr": 0.7, "scaling": 0.2, "bias": 0.5}
    rows = chaos.lorenz(301, 0.025, 7)
    methods = [*map(chaos.eigenecho, chaos.FEATURES.values()), chaos.ng_rc]
    for fit in (*methods, chaos.reservoirpy(60, params)):
        forecast = fit(rows[:-1], 0)(rows[:-1], 1)
        np.testing.assert_allclose(forecast, rows[-1:], atol=1.0)
