"""Requirements of examples that are not installed in every environment."""

from __future__ import annotations

import importlib
import os

import pytest


def need(package):
    """Skip a test if a package is not installed, or fail if EVERY_EXAMPLE is set."""
    if os.environ.get("EVERY_EXAMPLE"):
        importlib.import_module(package)
    else:
        pytest.importorskip(package)
