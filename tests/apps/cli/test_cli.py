"""The command line, on small reservoirs."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import eigenecho as ee

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("matplotlib")

from typer.testing import CliRunner

from eigenecho.apps.cli import demo
from eigenecho.apps.cli.app import app
from eigenecho.apps.shared.seconds_per_step import seconds_per_step
from eigenecho.reservoir import Recipe, draw

FIGURES = {"prediction.png", "prediction.svg", "spectrum.png", "spectrum.svg"}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(demo, "TIMED_UNITS", 30)
    monkeypatch.setattr(demo, "TIMED_STEPS", 50)


@pytest.fixture(scope="module")
def results():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "TIMED_UNITS", 30)
        stages = []
        results = demo.run(20, seed=3, announce=stages.append)
    assert len(stages) == demo.STAGES
    return results


def invoke(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_version():
    answer = invoke("--version")
    assert answer.exit_code == 0
    assert answer.output.strip() == f"eigenecho {ee.__version__}"


def test_demo_prints_a_table_and_writes_figures(small, tmp_path):
    out = tmp_path / "new" / "folder"
    answer = invoke("demo", "--out", str(out), "--units", "12", "--seed", "1")
    assert answer.exit_code == 0, answer.output
    for word in ("MSO5", "Mackey-Glass", *demo.METHODS, "RMSE", "NRMSE", "µs/step", "speed-up"):
        assert word in answer.output
    assert "N = 30" in answer.output
    assert {path.name for path in out.iterdir()} == FIGURES
    for path in out.iterdir():
        assert str(path) in answer.output
        assert path.stat().st_size > 10_000
    assert (out / "spectrum.png").read_bytes().startswith(b"\x89PNG")
    assert "</svg>" in (out / "prediction.svg").read_text(encoding="utf-8")


@pytest.mark.slow
def test_demo_with_a_single_unit(small, tmp_path):
    assert invoke("demo", "--out", str(tmp_path), "--units", "1").exit_code == 0


def test_out_that_cannot_be_written_is_refused_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "run", lambda *_: pytest.fail("worked before looking"))
    occupied = tmp_path / "file"
    occupied.write_text("not a folder")
    for out in (occupied, occupied / "below"):
        answer = invoke("demo", "--out", str(out))
        assert answer.exit_code == 2
        assert "cannot write" in answer.output
        assert "Traceback" not in answer.output


def test_a_disk_that_fills_up_is_an_error_without_traceback(small, tmp_path, monkeypatch):
    def full(results, out):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(demo, "draw", full)
    answer = invoke("demo", "--out", str(tmp_path), "--units", "3")
    assert answer.exit_code == 2
    assert "No space left" in answer.output


@pytest.mark.parametrize("arguments", [("--units", "0"), ("--units", "x"), ("--seed", "-1")])
def test_bad_numbers(arguments, tmp_path):
    assert invoke("demo", "--out", str(tmp_path), *arguments).exit_code == 2


def test_interrupt_is_no_traceback(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run", interrupted)
    answer = invoke("demo", "--out", str(tmp_path))
    assert answer.exit_code != 0
    assert "Traceback" not in answer.output


def test_normal_and_eet_are_one_network(results):
    by_name = {(r.task.name, r.method): r for r in results}
    assert len(by_name) == 2 * len(demo.METHODS)
    normal, eet = by_name["MSO5", demo.NORMAL], by_name["MSO5", demo.EET]
    matrices = [r.esn.matrices("neuron") for r in (normal, eet)]
    np.testing.assert_allclose(matrices[0].W, matrices[1].W, atol=1e-10)
    np.testing.assert_allclose(matrices[0].W_in, matrices[1].W_in, atol=1e-10)


def test_errors_are_those_of_the_test_rows(results):
    mso, glass = results[0], results[-1]
    split = ee.tasks.mso_split(5)
    y_pred = mso.esn.predict(split.X)[700:]
    assert mso.error == pytest.approx(ee.metrics.rmse(split.y[700:], y_pred))
    y_true = ee.tasks.mackey_glass(4001)[3001:]
    assert glass.error == pytest.approx(ee.metrics.nrmse(y_true, glass.y_pred[3000:]))
    assert glass.error < 0.01


@pytest.mark.parametrize("index", [0, 1])
def test_training_never_sees_the_test_rows(index):
    task = demo.load_tasks()[index]
    X, y = task.X.copy(), task.y.copy()
    X[task.train.stop :] = y[task.train.stop :] = 0.123
    other = replace(task, X=X, y=y)
    readouts = []
    for given in (task, other):
        esn, _ = demo._trained(demo.DPG, given, units=10, seed=0)
        readouts.append(esn.W_out_)
    np.testing.assert_array_equal(*readouts)


def test_speed_up_is_relative_to_normal_of_the_same_task(results):
    cells = list(demo.table(results, 20).columns[-1].cells)
    assert cells[0] == cells[3] == "1 ×"
    expected = results[0].seconds / results[1].seconds
    assert cells[1] == f"{expected:.0f} ×"


def test_time_per_step_is_that_of_a_scan():
    reservoir = draw(Recipe(units=20), D_in=1, seed=0).reservoir
    seconds = seconds_per_step(reservoir, np.ones((100, 1)), least=3, seconds=0.0)
    assert 0 < seconds < 1e-3


@pytest.mark.parametrize("missing", ["typer", "rich", "matplotlib"])
def test_without_the_extra_a_hint_and_exit_code_2(missing):
    code = f"""
import importlib.util, sys
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == {missing!r} else found(name, *rest)
from eigenecho.apps.cli import main
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
        [str(command), "demo", "--help"],
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PATH": ""},
    )
    assert answer.returncode == 0, answer.stderr
    assert b"--units" in answer.stdout
