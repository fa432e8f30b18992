"""The command line: version, optional packages, and start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import eigenecho as ee

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("matplotlib")

from typer.testing import CliRunner

from eigenecho.cli.app import app
from eigenecho.paper.step_times import seconds_per_step
from eigenecho.reservoir import Recipe, draw


def invoke(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_version():
    answer = invoke("--version")
    assert answer.exit_code == 0
    assert answer.output.strip() == f"eigenecho {ee.__version__}"


def test_time_per_step_is_measured_with_a_scan():
    reservoir = draw(Recipe(units=20), D_in=1, seed=0).reservoir
    seconds = seconds_per_step(reservoir, np.ones((100, 1)), least=3, seconds=0.0)
    assert 0 < seconds < 1e-3


@pytest.mark.parametrize("missing", ["typer", "rich", "matplotlib"])
def test_missing_extra_gives_a_hint_and_exit_code_2(missing):
    code = f"""
import importlib.util, sys
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == {missing!r} else found(name, *rest)
from eigenecho.__main__ import main
main()
"""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1
    assert missing in answer.stderr
    assert "eigenecho[cli]" in answer.stderr


def test_installed_command_runs_without_a_terminal_and_without_utf8():
    command = Path(sys.executable).with_name("eigenecho")
    if not command.exists():
        pytest.skip("the package is not installed with its command")
    answer = subprocess.run(
        [str(command), "reproduce", "--help"],
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PATH": ""},
    )
    assert answer.returncode == 0, answer.stderr
    assert b"--quick" in answer.stdout
