"""Commands in the docs work: the package's own commands are run, and others are checked."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import numpy as np
import pytest

import eigenecho as ee

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks" / "README.md"]
)
BLOCK = re.compile(r"^```(?:\{code-block\} )?console\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:eigenecho|make|pip|python|\.venv/bin/python) [^`\n]+)`")
PLACES = re.compile(r"<\w+>|…")
"""Placeholders for values that the reader supplies."""


def words(line):
    """Split a command as a shell does, without its comment."""
    return tuple(shlex.split(line.removeprefix("$ "), comments=True))


def shown():
    """Yield every command of every page, with the page."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        lines = [line for block in BLOCK.findall(text) for line in block.splitlines()]
        lines += [line for line in INLINE.findall(text) if not PLACES.search(line)]
        yield from ((words(line), str(page.relative_to(ROOT))) for line in lines)


COMMANDS = dict(sorted(shown()))


def of(*programs):
    """Parametrize a test with the commands of some programs."""
    results = [command for command in COMMANDS if command[0] in programs]
    assert results
    return pytest.mark.parametrize("command", results, ids=" ".join)


def test_every_command_is_checked():
    known = {"eigenecho", "make", "pip", "python", ".venv/bin/python", ".venv/bin/pre-commit"}
    of_deploying = {"cc", "./main"}  # export/test_guide.py
    assert {command[0] for command in COMMANDS} <= known | of_deploying


@of("make")
def test_targets_are_in_the_makefile(command):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for word in command[1:]:
        assert "=" in word or re.search(rf"^{re.escape(word)}:", makefile, re.MULTILINE)


@of("pip")
def test_extras_exist(command):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name, extras = re.fullmatch(r"([\w.]+)(?:\[([\w,-]+)\])?", command[-1]).groups()
    assert name in (project["name"], ".")
    assert set((extras or "").split(",")) <= {"", *project["optional-dependencies"]}


@of("python", ".venv/bin/python")
def test_scripts_and_their_options_exist(command):
    if command[1] == "-c":
        exec(compile(command[2], "shown", "exec"), {})
        return
    source = (ROOT / command[1]).read_text(encoding="utf-8")
    for option in (word for word in command[2:] if word.startswith("--")):
        assert f'"{option}"' in source


@pytest.fixture
def folder(tmp_path):
    """Create the input files of the commands, with the names used on the pages."""
    rng = np.random.default_rng(0)
    days = np.datetime64("2020-01-01") + np.arange(700)
    sales = 100 + 10 * np.sin(2 * np.pi * np.arange(700) / 7) + rng.normal(size=700)
    table = "day,sales\n" + "".join(f"{d},{s:.2f}\n" for d, s in zip(days, sales, strict=True))
    for name in ("data.csv", "sales.csv"):
        (tmp_path / name).write_text(table, encoding="utf-8")
    series = ee.tasks.mso(3, steps=601)
    esn = ee.LinearESN(50, sr=0.9, warmup=50, seed=0).fit(series[:-1], series[1:])
    esn.save(tmp_path / "model.safetensors")
    return tmp_path


@of("eigenecho")
def test_commands_of_the_package_run(command, folder, monkeypatch):
    """Commands with an input file are run; the options of other, slow commands are checked."""
    for package in ("typer", "matplotlib", "jinja2", "pandas"):
        pytest.importorskip(package)
    from typer.testing import CliRunner

    from eigenecho.cli.app import app
    from tables import few_candidates

    monkeypatch.chdir(folder)
    whole = any((folder / word).exists() for word in command[2:])
    with few_candidates():
        run = CliRunner().invoke(app, command[1:] if whole else [command[1], "--help"])
    assert run.exit_code == 0, run.output
    if whole and "--out" in command:
        assert Path(command[command.index("--out") + 1]).stat().st_size
    options = [word for word in command[2:] if word.startswith("--")]
    assert whole or all(option in run.output for option in options)


@of("eigenecho")
def test_experiments_exist(command):
    pytest.importorskip("matplotlib")
    from eigenecho.paper import runner

    if command[1] == "reproduce":
        names = [word for word in command[2:] if not re.match(r"--|tcp:", word)]
        assert runner.find_experiments(names)
