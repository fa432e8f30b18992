"""What examples need, which not every environment has."""

from __future__ import annotations

import importlib
import os

import pytest


def need(package):
    """Skip where a package is not installed; fail there where EVERY_EXAMPLE is to be run."""
    if os.environ.get("EVERY_EXAMPLE"):
        importlib.import_module(package)
    else:
        pytest.importorskip(package)
