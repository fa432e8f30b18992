"""Run tests with one BLAS thread, as the library does; ``blas.several`` is the exception.

Tests run in parallel, with one process per core. BLAS calls outside of the library, mainly in
reference solutions, would start as many threads in each process, which compete for the cores.
"""

import gc
import os
from pathlib import Path

import pytest

from optional import PACKAGES, prepare_hypothesis

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # read when NumPy is imported
    os.environ.setdefault(name, "1")

prepare_hypothesis()

TESTS = Path(__file__).parent
NUMERICS = {
    "basis", "classify", "convert", "forecasting", "grid_search", "kernels", "model", "readout",
    "reduction", "reservoir", "spectra", "tasks", "training", "transition", "test_agreement.py",
    "test_answers.py", "test_docs.py", "test_exported_code.py", "test_forecaster.py",
    "test_forecaster_law.py", "test_forecaster_scale.py", "test_reference.py", "test_ridge.py",
    "test_scaling.py", "test_sklearn.py",
}  # fmt: skip
"""Folders and modules whose results depend on floating-point kernels."""


@pytest.fixture
def prefer_sums(monkeypatch):
    """Return a function that decides if sums over time are used wherever they apply, or nowhere."""
    from eigenecho.training import sums

    def prefer(wanted):
        def costs(problem):
            return (0.0, 0.0) if wanted and sums.applies(problem) else 2 * (float("inf"),)

        monkeypatch.setattr(sums, "relative_costs", costs)

    return prefer


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Disable garbage collection while imports create many permanent objects, to save seconds."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark tests whose results depend on the kernels that BLAS and numba choose for the CPU."""
    for item in items:
        if not NUMERICS.isdisjoint(item.path.relative_to(TESTS).parts):
            item.add_marker(pytest.mark.numerics)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    """Skip tests and examples of the docs that import a missing package."""
    try:
        return (yield)
    except ModuleNotFoundError as error:
        if error.name not in PACKAGES or os.environ.get("EVERY_EXAMPLE"):
            raise
        pytest.skip(f"could not import {error.name!r}")


@pytest.fixture
def sketched(monkeypatch):
    """Replace the rendering of figures, for tests of other content of pages and of files."""
    monkeypatch.setattr("eigenecho.pages.render_figure", lambda figure, kind: b"<svg/>")
