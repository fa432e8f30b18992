"""Tests run without optional packages: tests that need a missing one are skipped."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from optional import PACKAGES, optional

ABSENT = PACKAGES | {
    "aeon", "dask", "distributed", "hyperopt", "hypothesis", "mpmath", "numpydoc", "polars",
    "pyarrow", "sktime", "torch",
}  # fmt: skip

COLLECT = f"""
import sys
from importlib.machinery import PathFinder

import pytest


class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        absent = name.partition(".")[0] in {ABSENT}
        return None if absent else super().find_spec(name, path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = Finder
sys.exit(pytest.main(["--collect-only", "-q", "-p", "no:hypothesispytest"]))
"""


def test_every_module_is_collected_without_optional_packages():
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", COLLECT], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:]
    for package in ("matplotlib", "pandas", "reservoirpy", "typer"):
        assert f"could not import '{package}'" in done.stdout
    for module in ("kernels/test_kernels.py", "model/test_forecast.py", "test_answers.py"):
        assert f"tests/{module}::" in done.stdout


def test_missing_package_skips_the_tests_that_use_it():
    assert optional("math").pi > 3
    missing = optional("no_such_package")
    with pytest.raises(pytest.skip.Exception, match="could not import 'no_such_package'"):
        missing.DataFrame()
