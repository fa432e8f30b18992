"""The interface of exports: files, reports, states, names, and errors that leave no file."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import eigenecho as ee
from eigenecho.errors import UnstableError
from eigenecho.export import Reference, example_run, selftest
from eigenecho.model.export import step_program
from eigenecho.reservoir import Reservoir
from eigenecho.scaling import Scaling
from exported import STRICT, compile_c, need_program, run_program
from optional import optional

pd = optional("pandas")

SERIES = ee.tasks.mso(3, steps=401)


def trained(units=20, **options):
    return ee.LinearESN(units, warmup=50, ridge=1e-6, seed=0, **options).fit(
        SERIES[:-1], SERIES[1:]
    )


@pytest.fixture(scope="module")
def esn():
    return trained()


@pytest.fixture
def no_compiler(monkeypatch):
    """Hide the compilers, for tests in which the code is not run."""
    monkeypatch.setattr(selftest, "shutil", SimpleNamespace(which=lambda name: None))


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


# Files and reports ----------------------------------------------------------------------------


def test_network_without_real_modes(tmp_path):
    esn = trained(spectrum=[0.5 + 0.4j, 0.5 - 0.4j])
    assert esn.export(tmp_path / "network.js").state_bytes == 3 * 8


def test_c_has_a_header_and_javascript_is_one_file(esn, tmp_path, no_compiler):
    report = esn.export(tmp_path / "network.c")
    assert report.paths == (tmp_path / "network.c", tmp_path / "network.h")
    report = esn.export(str(tmp_path / "my-network.js"))
    assert report.paths == (tmp_path / "my-network.js",)
    assert names_in(tmp_path) == ["my-network.js", "network.c", "network.h"]


def test_exports_of_a_model_and_of_its_estimator_are_equal(esn, tmp_path, no_compiler):
    texts = []
    for network in (esn, esn.model_, esn):
        network.export(tmp_path / "network.c")
        texts.append((tmp_path / "network.c").read_bytes() + (tmp_path / "network.h").read_bytes())
    assert len(set(texts)) == 1


@pytest.mark.parametrize(("dtype", "size"), [("float64", 8), ("float32", 4), (np.float32, 4)])
def test_report_has_sizes_and_differences(esn, tmp_path, dtype, size, no_compiler):
    report = esn.export(tmp_path / "network.c", dtype=dtype)
    assert report.dtype == np.dtype(dtype).name
    assert report.state_bytes == 21 * size
    assert report.constant_bytes == (3 * 20 + 2) * size
    assert 0 <= report.stream_difference <= 100 * np.finfo(dtype).eps
    assert report.difference is None
    assert "not run: cc or gcc or clang is not installed" in str(report)


@pytest.mark.parametrize("value", ["1024.0", "-1024.0", "0.0 / 0.0"])
@pytest.mark.parametrize("tools", [{".c": selftest.C_COMPILERS}, {".js": ["node"]}], ids=list)
def test_selftest_returns_the_largest_difference(esn, tmp_path, tools, value):
    """Replace the first expected output by a number above or below the output, or by NaN."""
    ((suffix, programs),) = tools.items()
    need_program(*programs)
    report = esn.export(tmp_path / f"network{suffix}")
    files = {path.suffix: path.read_text() for path in report.paths}
    first = re.compile(r"(test_outputs(?:\[\d+\])* = [{[]\s*(?:new Float64Array\(\[|{))[^]}]+")
    files[suffix], count = first.subn(rf"\g<1>{value}", files[suffix])
    assert count == 1
    output = example_run(step_program(esn.model_, None, None))["test_outputs"][0, 0]
    expected = np.nan if "/" in value else abs(float(value) - output)
    np.testing.assert_equal(selftest.run_selftest(files, "network")[0], expected)


def test_failing_compiler_is_reported(esn, tmp_path, monkeypatch):
    failures = {
        "stdint.h: no such file": subprocess.CalledProcessError(
            1, "cc", "", "stdint.h:\nno such file"
        ),
        "Command 'cc' timed out after 60 seconds": subprocess.TimeoutExpired(
            "cc", 60, b"", b"slow"
        ),
    }
    monkeypatch.setattr(selftest, "shutil", SimpleNamespace(which=lambda name: name))
    for message, failure in failures.items():

        def fail(*arguments, failure=failure, **options):
            raise failure

        monkeypatch.setattr(selftest.subprocess, "run", fail)
        report = esn.export(tmp_path / "network.c")
        assert report.difference is None
        assert report.checked_with == f"not run: cc failed: {message}"
        assert names_in(tmp_path) == ["network.c", "network.h"]


def test_header_has_version_units_columns_and_certificate(tmp_path, no_compiler):
    table = pd.DataFrame({"load": SERIES[:, 0], "day */ of /* week": 0.0})
    esn = ee.LinearESN(20, seed=0).fit(table[:-1], table["load"][1:])
    esn.reduce(units=5).export(tmp_path / "network.c")
    text = (tmp_path / "network.h").read_text(encoding="utf-8")
    about = text[: text.index("*/")]
    assert f"network: a linear echo state network, exported by eigenecho {ee.__version__}" in about
    assert "units      5 (diagonal)" in about
    assert "inputs     2: load, day * / of / * week" in about
    assert "units        20 → 5" in about


def test_text_from_a_file_cannot_leave_the_comment(esn, tmp_path):
    compiler = need_program("cc", "gcc", "clang")
    model = ee.diagonalize(np.diag([0.5, -0.3]), np.ones((1, 2)), np.ones((2, 1)))
    evil = "*/ int main(void) { return 7; } /*\n*/ int x; \\\r\n*???/"
    model = replace(model, certificate=replace(model.certificate, reason=evil))
    assert model.export(tmp_path / "network.c").difference == 0
    compile_c(tmp_path / "network.c", compiler)
    assert "return 7" not in re.sub(
        r"/\*.*?\*/", "", (tmp_path / "network.c").read_text(), flags=re.S
    )


# States ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"standardize": True, "output_to_readout": True}])
def test_closed_loop_continues_the_training_series(options, tmp_path):
    compiler = need_program("cc", "gcc", "clang")
    esn = trained(**options)
    esn.export(tmp_path / "network.c", state=esn.final_state_)
    command = compile_c(tmp_path / "network.c", compiler)
    program = step_program(esn.model_, None, esn.final_state_)
    run = run_program(command, program, np.empty((0, 1)), np.empty((100, 0)))
    np.testing.assert_allclose(run.forecasts, esn.forecast(100), rtol=0, atol=1e-9)


def test_known_inputs_follow_the_outputs():
    X = np.hstack([SERIES, np.roll(SERIES, 3, axis=0) ** 2])
    esn = ee.LinearESN(20, warmup=50, standardize=True, ridge=1e-6, seed=0).fit(X[:-1], SERIES[1:])
    known = X[:30, 1:]
    reference = Reference(step_program(esn.model_, None, esn.final_state_))
    forecasts = [reference.forecast_step(row) for row in known]
    np.testing.assert_allclose(forecasts, esn.forecast(30, inputs=known), rtol=0, atol=1e-9)


def test_measured_output_can_be_fed_back():
    esn = trained(feedback=True, output_to_readout=True, standardize=True)
    reference, stream = Reference(step_program(esn.model_, None, None)), esn.stream()
    for u, y in zip(SERIES[1:50], SERIES[:49], strict=True):
        reference.state.y = y.tolist()
        expected = stream.step(u, y_previous=y)
        np.testing.assert_allclose(reference.step(u), expected, rtol=0, atol=1e-9)


def test_measured_rows_before_a_forecast():
    esn = trained(feedback=True, output_to_readout=True, standardize=True)
    reference = Reference(step_program(esn.model_, None, None))
    for row in SERIES[:100]:
        reference.state.y = row.tolist()
        outputs = [reference.step(row)]
    outputs += [reference.forecast_step() for _ in range(9)]
    np.testing.assert_allclose(outputs, esn.forecast(10, context=SERIES[:100]), rtol=0, atol=1e-9)


def test_network_that_cannot_forecast_has_no_closed_loop(tmp_path, no_compiler):
    Y = np.hstack([SERIES, SERIES**2])
    esn = ee.LinearESN(10, seed=0).fit(SERIES[:-1], Y[1:])
    esn.export(tmp_path / "network.c")
    esn.export(tmp_path / "network.js")
    for path in tmp_path.iterdir():
        assert "forecast" not in path.read_text(encoding="utf-8").lower()


# Code -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["diagonal", "sparse"])
def test_object_needs_no_library(form, tmp_path):
    compiler = need_program("gcc", "cc", "clang")
    need_program("nm")
    W = np.diag([0.5, 0.4, 0.3]) + 0.1 * np.eye(3, k=1)
    model = ee.diagonalize(W, np.ones((1, 3)), np.ones((3, 1)), form=form)
    model.export(tmp_path / "network.c")
    command = [compiler, *STRICT, "-O3", "-ffreestanding", "-c", "network.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    listed = subprocess.run(["nm", "-u", "network.o"], cwd=tmp_path, capture_output=True, text=True)
    assert set(listed.stdout.split()) - {"U"} <= {"memcpy", "memset"}


@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m0"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_builds_for_microcontrollers(esn, target, dtype, tmp_path, no_compiler):
    compiler = need_program("arm-none-eabi-gcc")
    esn.export(tmp_path / "network.c", dtype=dtype)
    command = [
        compiler,
        f"-mcpu={target}",
        "-mthumb",
        *STRICT,
        "-Os",
        "-ffreestanding",
        "-c",
        "network.c",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    command = ["arm-none-eabi-nm", "-u", "network.o"]
    listed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    outside = set(listed.stdout.split()) - {"U", "memcpy", "memset"}
    assert all(name.startswith("__aeabi_") for name in outside)


def test_networks_can_be_linked_to_one_cpp_program(esn, tmp_path, no_compiler):
    c_compiler, cpp_compiler = need_program("gcc", "cc", "clang"), need_program("g++", "clang++")
    main = '#include "a/net.h"\n#include "b/NET.h"\n'
    main += "int main() { return net_selftest() != 0 || NET_selftest() != 0; }\n"
    (tmp_path / "main.cpp").write_text(main)
    for name, dtype in {"a/net": "float64", "b/NET": "float32"}.items():
        source = tmp_path / f"{name}.c"
        source.parent.mkdir()
        esn.export(source, dtype=dtype)
        command = [c_compiler, *STRICT, "-c", f"{name}.c", "-o", f"{name}.o"]
        subprocess.run(command, cwd=tmp_path, check=True)
    command = [cpp_compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "main.cpp"]
    subprocess.run([*command, "a/net.o", "b/NET.o", "-o", "main"], cwd=tmp_path, check=True)
    assert subprocess.run([str(tmp_path / "main")], check=False).returncode == 0


def test_matrix_without_connections(tmp_path):
    need_program("cc", "gcc", "clang")
    sparse = pytest.importorskip("scipy.sparse")
    model = ee.LinearModel(
        Reservoir(sparse.csr_matrix((3, 3)), np.ones((1, 3))), np.ones((3, 1)), readout_bias=False
    )
    assert model.export(tmp_path / "network.c").difference == 0


# Errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["network.cpp", "network.h", "network", "network.C", ".c"])
def test_unknown_suffixes(esn, tmp_path, name):
    with pytest.raises(ValueError, match=r"expected a file name that ends with \.c or \.js"):
        esn.export(tmp_path / name)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("name", ["2nets.c", "my-net.c", "a b.c", "net.v2.c", "_net.c", "réseau.c"])
def test_names_that_are_not_c_identifiers(esn, tmp_path, name):
    with pytest.raises(ValueError, match="expected a file name that is a C identifier"):
        esn.export(tmp_path / name)
    assert names_in(tmp_path) == []


def test_paths_that_cannot_be_written(esn, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        esn.export(tmp_path / "nowhere" / "network.c")
    for name in ("network.c", "network.h"):
        (tmp_path / name).mkdir()
        with pytest.raises(IsADirectoryError, match=f"{name}: it is a folder"):
            esn.export(tmp_path / "network.c")
        assert names_in(tmp_path) == [name]
        (tmp_path / name).rmdir()


def test_error_of_a_folder_that_is_not_writable_names_the_file(esn, tmp_path, monkeypatch):
    def refuse(path, data):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.write_bytes", refuse)
    with pytest.raises(PermissionError, match=r"Permission denied: '.*network\.c'$"):
        esn.export(tmp_path / "network.c")


@pytest.mark.parametrize("failing", ["os.replace", "pathlib.Path.write_bytes"])
@pytest.mark.parametrize("before", [None, b"before"])
def test_failure_at_the_second_file_restores_the_first(esn, tmp_path, monkeypatch, failing, before):
    if before is not None:
        for name in ("network.c", "network.h"):
            (tmp_path / name).write_bytes(before)
    listed, calls = names_in(tmp_path), []
    module, _, function = failing.rpartition(".")
    original = getattr(os if module == "os" else type(tmp_path), function)

    def fail_later(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise PermissionError("not allowed")
        return original(*arguments)

    monkeypatch.setattr(failing, fail_later)
    with pytest.raises(PermissionError):
        esn.export(tmp_path / "network.c")
    assert names_in(tmp_path) == listed
    assert all((tmp_path / name).read_bytes() == before for name in listed)


def test_objects_that_are_not_exported(esn, tmp_path):
    path = tmp_path / "network.c"
    with pytest.raises(NotFittedError):
        ee.LinearESN().export(path)
    for options in ({"features": "quadratic"}, {"spectrum": ee.delay_line(3)}):
        with pytest.raises(ValueError, match="Export is not supported with features or a delay"):
            trained(5, **options).export(path)
    with pytest.raises(TypeError, match=r"A Learner cannot be exported.*learner\.model\.export"):
        esn.learner().export(path)
    with pytest.raises(TypeError, match=r"A Stream cannot be exported.*stream\.model\.export"):
        esn.stream().export(path)
    with pytest.raises(TypeError, match="A Forecaster cannot be exported"):
        ee.Forecaster(3).export(path)
    with pytest.raises(ValueError, match=r"Invalid device='cpu': .*tensors"):
        replace(esn.model_, device="cpu").export(path)
    assert names_in(tmp_path) == []


def test_estimators_of_tensors_are_not_exported(esn, tmp_path, monkeypatch):
    monkeypatch.setattr(esn, "_device", "cuda:0", raising=False)
    with pytest.raises(ValueError, match=r"Invalid device='cuda:0': .*\.to\(None\)"):
        esn.export(tmp_path / "network.c")


def test_numbers_beyond_single_precision(esn, tmp_path):
    scalings = {"mean": (1e60, 1.0), "scale": (0.0, 1e-60)}
    for name, (mean, scale) in scalings.items():
        model = replace(esn.model_, inputs=Scaling(np.array([mean]), np.array([scale])))
        words = rf"as float32: the values of input_{name} are out of range\. Use dtype='float64'"
        with pytest.raises(ValueError, match=words):
            model.export(tmp_path / "network.c", dtype="float32")
    with pytest.raises(ValueError, match="Unknown dtype='float16'"):
        esn.export(tmp_path / "network.c", dtype="float16")
    with pytest.raises(ValueError, match="state"):
        esn.export(tmp_path / "network.c", state=(np.zeros(3), np.zeros(1)))
    assert names_in(tmp_path) == []


def test_outputs_that_overflow(tmp_path, no_compiler):
    huge = Reservoir(ee.Spectrum([0.5], []), np.full((1, 1), 1e200))
    model = ee.LinearModel(huge, np.full((1, 1), 1e200), readout_bias=False)
    with pytest.raises(
        UnstableError, match=r"as float64: the outputs of the test .* out of range\.$"
    ):
        model.export(tmp_path / "network.c")
    large = Reservoir(ee.Spectrum([0.5], []), np.full((1, 1), 1e30))
    model = ee.LinearModel(large, np.full((1, 1), 1e30), readout_bias=False)
    with pytest.raises(UnstableError, match=r"as float32: the outputs .* Use dtype='float64'"):
        model.export(tmp_path / "network.c", dtype="float32")
    model = replace(model, W_out=np.full((1, 1), np.inf))
    with pytest.raises(ValueError, match=r"as float64: the values of readout are out of range\.$"):
        model.export(tmp_path / "network.c")
    assert names_in(tmp_path) == []
    growing = Reservoir(ee.Spectrum([1e20], []), np.ones((1, 1)))
    model = ee.LinearModel(growing, np.ones((1, 1)), readout_bias=False)
    report = model.export(tmp_path / "network.c")  # the test vector ends before the overflow
    assert re.search(r"test_outputs\[1\d\]\[1\]", report.paths[0].read_text())
