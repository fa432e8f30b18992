"""``eigenecho reduce``."""

from __future__ import annotations

import numpy as np
import pytest

import eigenecho as ee

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("matplotlib")

from typer.testing import CliRunner

from eigenecho.cli.app import app

U = ee.tasks.mso(3, steps=401)


def run(*arguments):
    return CliRunner().invoke(app, ["reduce", *map(str, arguments)])


@pytest.fixture
def saved(tmp_path):
    esn = ee.LinearESN(40, sr=0.9, warmup=50, seed=0).fit(U[:-1], U[1:])
    path = tmp_path / "model.safetensors"
    esn.save(path, statistics=True)
    return esn, path


def test_file_is_reduced(saved, tmp_path):
    esn, path = saved
    result = run(path, "--tol", "1e-6")
    assert result.exit_code == 0, result.output
    assert "by the training rows" in result.output
    small = ee.load(tmp_path / "model-reduced.safetensors")
    assert small.certificate_.promise <= 1e-6
    np.testing.assert_allclose(small.predict(U)[50:], esn.predict(U)[50:], atol=1e-4)


def test_units_white_weighting_and_a_plot(saved, tmp_path):
    _, path = saved
    out, picture = tmp_path / "small.safetensors", tmp_path / "small.png"
    result = run(path, "--units", 5, "--white", "--out", out, "--plot", picture)
    assert result.exit_code == 0, result.output
    small = ee.load(out)
    assert isinstance(small, ee.LinearModel)
    assert small.units == 5
    assert small.certificate.weighting == "white"
    assert picture.stat().st_size > 1000


def test_files_are_replaced_only_with_force(saved, tmp_path):
    _, path = saved
    assert run(path).exit_code == 0
    result = run(path)
    assert result.exit_code == 2
    assert "--force" in result.output
    assert run(path, "--force").exit_code == 0
    assert run(path, "--out", path, "--force").exit_code == 2
    assert run(path, "--out", tmp_path / "no" / "where").exit_code == 2


def test_irreducible_models_give_a_one_line_error(saved, tmp_path):
    _, path = saved
    result = run(path, "--tol", 2)
    assert result.exit_code == 2
    assert "tol=2.0" in result.output
    other = tmp_path / "reservoir.safetensors"
    ee.DiagonalReservoir(5, seed=0).fit(U).save(other)
    result = run(other)
    assert result.exit_code == 2
    assert "DiagonalReservoir" in result.output
    assert run(tmp_path / "nothing.safetensors").exit_code == 2


def test_networks_in_single_precision_are_reduced_in_python(tmp_path):
    esn = ee.LinearESN(40, warmup=50, dtype="float32", seed=0).fit(U[:-1], U[1:])
    esn.save(tmp_path / "single.safetensors")
    result = run(tmp_path / "single.safetensors")
    assert result.exit_code == 2
    assert "float32" in result.output
