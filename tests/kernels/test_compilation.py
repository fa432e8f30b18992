"""Results are unchanged when compiled code cannot be cached or numba is disabled."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import eigenecho as ee
from eigenecho.errors import UnstableError

TIMEOUT = 300
"""Timeout of a subprocess in seconds; most of the time is compilation."""

BASELINE = {"spectrum": "matrix", "basis": "neuron", "seed": 0}
"""Options of the network that needs the least compilation."""


def python(code, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", code, *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )


@pytest.mark.slow
def test_fit_works_and_warns_once_when_compiled_code_cannot_be_cached(tmp_path):
    # Use files in place of folders, because root ignores permissions.
    file = tmp_path / "file"
    file.touch()
    package = tmp_path / "installed" / "eigenecho"
    shutil.copytree(Path(ee.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (package, *(p for p in package.rglob("*") if p.is_dir())):
        (folder / "__pycache__").touch()
    nowhere = str(file / "nowhere")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import eigenecho as ee\n"
        "waves = ee.tasks.mso(1, 60)\n"
        f"esn = ee.LinearESN(6, **{BASELINE}).fit(waves[:-1], waves[1:])\n"
        "print(ee.__file__, *esn.predict(waves)[:, 0])"
    )
    process = python(
        code,
        package.parent,
        NUMBA_CACHE_DIR=nowhere,
        HOME=nowhere,
        XDG_CACHE_HOME=nowhere,
        LOCALAPPDATA=nowhere,
    )
    assert process.returncode == 0, process.stderr
    where, *result = process.stdout.split()
    assert Path(where).parent == package
    waves = ee.tasks.mso(1, 60)
    esn = ee.LinearESN(6, **BASELINE).fit(waves[:-1], waves[1:])
    np.testing.assert_array_equal(np.array(result, float), esn.predict(waves)[:, 0])
    assert process.stderr.count("SlowStartWarning") == 1
    assert "NUMBA_CACHE_DIR" in process.stderr


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", ["random", "zeros", "short", "empty"])
def test_damaged_cache_files_are_rewritten(tmp_path, monkeypatch, kind, damage):
    """Damaged cache files are rewritten, where unpickling errors used to persist."""
    source = tmp_path / "twice.py"
    source.write_text(
        "from eigenecho.kernels.compiled.jit import jit\n\n\n"
        "@jit(fastmath=False)\ndef twice(x):\n    return 2.0 * x\n"
    )
    monkeypatch.setattr("numba.config.CACHE_DIR", "")

    def compiled():
        return runpy.run_path(str(source))["twice"]

    assert compiled()(1.5) == 3.0
    (path,) = (tmp_path / "__pycache__").glob(f"*.{kind}")
    data = path.read_bytes()
    path.write_bytes(
        {
            "random": np.random.default_rng(0).bytes(len(data)),
            "zeros": bytes(len(data)),
            "short": data[: len(data) // 2],
            "empty": b"",
        }[damage]
    )
    assert compiled()(1.5) == 3.0
    again = compiled()
    assert again(1.5) == 3.0
    assert sum(again.stats.cache_hits.values()) == 1


def everything():
    """Return the results of all compiled functions by name, for each form of the transition."""
    rng = np.random.default_rng(0)
    waves = ee.tasks.mso(2, 121)
    X, y = waves[:-1], waves[1:]
    results = {}
    for name, options in {
        "golden": {},
        "normal": {"solver": "normal"},
        "loop": {"feedback": True, "fb_scaling": 0.1, "output_to_readout": True, "ridge": 1e-3},
        "dense": {"spectrum": "matrix", "basis": "neuron"},
        "sparse": {"spectrum": "matrix", "basis": "neuron", "rc_connectivity": 0.1},
    }.items():
        esn = ee.LinearESN(12, **{"warmup": 10, "ridge": 1e-4, "seed": 0, **options}).fit(X, y)
        results[f"{name} predict"] = esn.predict(X)
        results[f"{name} states"] = esn.transform(X)
        results[f"{name} forecast"] = esn.forecast(10)
        stream = esn.stream()
        results[f"{name} stream"] = np.array([stream.step(u) for u in X[:20]])
    learner = ee.LinearESN(12, ridge=1e-2, seed=0).learner(n_inputs=1, n_outputs=1, forgetting=0.99)
    results["learner"] = np.array([learner.step(u, v) for u, v in zip(X, y, strict=True)])
    W = rng.normal(size=(12, 12)) * (rng.random((12, 12)) < 0.3)
    W *= 0.9 / np.abs(np.linalg.eigvals(W)).max()
    W_in, W_fb, W_out = rng.normal(size=(1, 12)), rng.normal(size=(1, 12)), np.ones((13, 1)) / 50
    for form in ("diagonal", "sparse", "dense"):
        model = ee.diagonalize(W, W_in, W_out, W_fb, bias=0.1, form=form)
        assert model.certificate.difference < 1e-12
        results[f"{form} closed"] = model.predict(X)
        results[f"{form} open"] = model.predict(X, y_previous=y)
        results[f"{form} forecast"] = model.forecast(10, X)
        stream, learner = model.stream(), model.learner(1e-2)
        results[f"{form} stream"] = np.array([stream.step(u) for u in X[:20]])
        results[f"{form} learner"] = np.array([learner.step(u, u) for u in X[:20]])
    unstable = ee.diagonalize(2 * np.eye(3), np.ones((1, 3)), np.ones((3, 1))).stream()
    unstable.state = np.full(3, 1e308), np.zeros(1)
    with pytest.raises(UnstableError, match="overflowed"):
        unstable.step([1.0])
    return results


def test_results_do_not_change_when_numba_is_disabled(tmp_path):
    code = (
        "import sys, numpy as np\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "import test_compilation\n"
        "from eigenecho.kernels.compiled import steps\n"
        "assert not hasattr(steps.step, 'py_func'), 'compiled'\n"
        "np.savez(sys.argv[2], **test_compilation.everything())\n"
    )
    process = python(code, Path(__file__).parent, tmp_path / "plain.npz", NUMBA_DISABLE_JIT="1")
    assert process.returncode == 0, process.stderr
    compiled, plain = everything(), np.load(tmp_path / "plain.npz")
    assert set(plain) == set(compiled)
    for name, expected in compiled.items():
        np.testing.assert_allclose(plain[name], expected, rtol=0, atol=1e-10, err_msg=name)
