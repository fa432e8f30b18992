"""``eigenecho export``."""

from __future__ import annotations

import pytest

import eigenecho as ee
from eigenecho.export import selftest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("matplotlib")

from typer.testing import CliRunner

from eigenecho.cli.app import app

U = ee.tasks.mso(3, steps=401)


def run(*arguments):
    return CliRunner().invoke(app, ["export", *map(str, arguments)])


@pytest.fixture
def saved(tmp_path, monkeypatch):
    monkeypatch.setattr(selftest, "C_COMPILERS", ())
    esn = ee.LinearESN(10, sr=0.9, warmup=50, seed=0).fit(U[:-1], U[1:])
    esn.save(tmp_path / "model.safetensors")
    return esn, tmp_path / "model.safetensors"


def test_files_equal_those_of_python(saved, tmp_path):
    esn, source = saved
    result = run(source, tmp_path / "network.c", "--dtype", "float32")
    assert result.exit_code == 0, result.output
    assert "44 bytes of state" in result.output
    assert f"files        {tmp_path / 'network.c'}, {tmp_path / 'network.h'}\n" in result.output
    text = (tmp_path / "network.c").read_text(encoding="utf-8")
    esn.export(tmp_path / "network.c", dtype="float32")
    assert (tmp_path / "network.c").read_text(encoding="utf-8") == text


def test_files_are_replaced_only_with_force(saved, tmp_path):
    _, source = saved
    (tmp_path / "network.h").write_text("mine")
    result = run(source, tmp_path / "network.c")
    assert result.exit_code == 2
    assert "network.h already exists. Use --force" in result.output
    assert not (tmp_path / "network.c").exists()
    assert run(source, tmp_path / "network.c", "--force").exit_code == 0


@pytest.mark.parametrize(
    ("target", "words"),
    [("network.py", "ends with .c or .js"), ("2.c", "C identifier"), ("no/n.js", "does not exist")],
)
def test_errors_are_one_line_and_leave_no_file(saved, tmp_path, target, words):
    _, source = saved
    result = run(source, tmp_path / target)
    assert result.exit_code == 2
    assert words in result.output
    assert result.output.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]


def test_files_of_other_objects_are_refused(saved, tmp_path):
    esn, _ = saved
    others = {
        "Learner": esn.learner(),
        "Stream": esn.stream(),
        "DiagonalReservoir": ee.DiagonalReservoir(5, seed=0).fit(U),
    }
    for kind, value in others.items():
        value.save(tmp_path / "other.safetensors")
        result = run(tmp_path / "other.safetensors", tmp_path / "network.c")
        assert result.exit_code == 2
        assert f"contains a {kind}: expected a LinearESN or LinearModel." in result.output
        assert ("save the model" in result.output) == (kind != "DiagonalReservoir")
        assert not (tmp_path / "network.c").exists()
