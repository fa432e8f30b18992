"""BLAS on one thread, as everything of ours runs it; ``blas.several`` where a test is about that.

Tests run side by side, one process a core. What BLAS computes outside of our own functions, in
oracles above all, would start as many threads in each of them, which spin and wait for each other.
"""

import gc
import os

import pytest

from optional import PACKAGES, replace_missing_hypothesis

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # read when NumPy is loaded
    os.environ.setdefault(name, "1")

replace_missing_hypothesis()


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Loading everything makes objects that stay: looking for garbage among them takes seconds."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    """Skip a test, or an example of the docs, that imports a package which is not installed."""
    try:
        return (yield)
    except ModuleNotFoundError as error:
        if error.name not in PACKAGES or os.environ.get("EVERY_EXAMPLE"):
            raise
        pytest.skip(f"could not import {error.name!r}")


@pytest.fixture
def sketched(monkeypatch):
    """Figures are made and not painted: for tests of what else pages say, and of files."""
    for place in ("eigenecho.pages.pictures.rendered", "eigenecho.pages.rendered"):
        monkeypatch.setattr(place, lambda figure, kind: b"<svg/>")
