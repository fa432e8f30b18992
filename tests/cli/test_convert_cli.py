"""``eigenecho convert``."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

import eigenecho as ee

pytest.importorskip("typer")
pytest.importorskip("rich")

from typer.testing import CliRunner

from eigenecho.cli.app import app

N = 20


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    W = rng.normal(size=(N, N))
    W *= 0.9 / np.abs(np.linalg.eigvals(W)).max()
    return {"W": W, "W_in": rng.normal(size=(1, N)), "W_out": rng.normal(size=(1 + N, 2))}


@pytest.fixture
def source(tmp_path, arrays):
    path = tmp_path / "model.npz"
    np.savez(path, **arrays)
    return path


def invoke(*arguments):
    return CliRunner().invoke(app, ["convert", *map(str, arguments)])


def assert_refused(answer, *words):
    assert answer.exit_code == 2, answer.output
    assert answer.stderr.startswith("Error: ")
    assert answer.stderr.count("\n") == 1
    assert answer.stdout == ""
    for word in words:
        assert word in answer.stderr


def test_network_is_converted_to_a_file_with_a_certificate(source, tmp_path):
    out = tmp_path / "converted.safetensors"
    answer = invoke(source, "--out", out)
    assert answer.exit_code == 0, answer.output
    for word in ("Certificate", "diagonal", "cond(Q)", "residual", "difference", "error",
                 "multiplications", "1 input → 20 units", str(out)):  # fmt: skip
        assert word in answer.stdout
    u = np.random.default_rng(1).normal(size=(50, 1))
    model = ee.load(out)
    np.testing.assert_array_equal(model.predict(u), ee.from_npz(source).predict(u))
    assert model.certificate.form == "diagonal"


def test_unchanged_network_reports_no_difference(tmp_path):
    """A small triangular matrix is kept, because no other form is cheaper."""
    source = tmp_path / "kept.npz"
    np.savez(source, W=np.triu(np.full((5, 5), 0.5)), W_in=np.ones((1, 5)))
    answer = invoke(source)
    assert answer.exit_code == 0, answer.output
    assert "W is unchanged" in answer.stdout
    assert "0.00e+00  of the largest" not in answer.stdout
    assert ee.load(source.with_suffix(".safetensors")).certificate.kept


def test_default_output_is_next_to_the_source(source):
    assert invoke(source).exit_code == 0
    assert ee.load(source.with_suffix(".safetensors")).units == N


def test_options_are_applied_to_the_network(source, tmp_path, arrays):
    out = tmp_path / "leaky.safetensors"
    u = np.ones((30, 1))
    assert invoke(source, "--out", out, "--lr", "0.5", "--readout-bias").exit_code == 0
    expected = ee.diagonalize(**arrays, lr=0.5).predict(u)
    np.testing.assert_allclose(ee.load(out).predict(u), expected, rtol=1e-12)
    seen = tmp_path / "seen.npz"
    np.savez(seen, **arrays)
    answer = invoke(seen, "--input-to-readout", "--no-readout-bias")
    assert answer.exit_code == 0, answer.output
    assert not ee.load(seen.with_suffix(".safetensors")).readout_bias


def test_files_are_replaced_only_with_force(source, tmp_path):
    out = tmp_path / "there.safetensors"
    out.write_text("precious")
    assert_refused(invoke(source, "--out", out), str(out), "--force")
    assert out.read_text() == "precious"
    assert invoke(source, "--out", out, "--force").exit_code == 0
    assert ee.load(out).units == N
    assert_refused(invoke(source, "--out", source, "--force"), "is the input file")


def test_errors_are_one_line(source, tmp_path, arrays):
    assert_refused(invoke(tmp_path / "nothing.npz"), "There is no file")
    assert_refused(invoke(source, "--out", tmp_path / "no" / "folder.npz"), "does not exist")
    assert_refused(invoke(source, "--lr", "2"), "lr=2.0")
    assert_refused(invoke(source, "--output-to-readout"), "Invalid W_out", "rows")
    wrong = tmp_path / "wrong.npz"
    np.savez(wrong, W=arrays["W"], Win=arrays["W_in"])
    assert_refused(invoke(wrong), "W_in", "Expected")
    wrong.write_bytes(source.read_bytes()[:-100])
    assert_refused(invoke(wrong), "not a readable .npz file")
    with zipfile.ZipFile(source, "a") as archive:
        archive.writestr("README", "weights of last week")
    assert_refused(invoke(source), "member 'README' is not an array")
    assert not wrong.with_suffix(".safetensors").exists()


def test_help_lists_the_expected_names():
    answer = invoke("--help")
    assert answer.exit_code == 0
    for name in ("W_in", "W_out", "W_fb", "bias", "lr", "W_indptr", "input_to_readout"):
        assert name in answer.stdout
