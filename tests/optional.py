"""Placeholders for missing optional packages, which skip the tests that use them."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest

PACKAGES = {"jinja2", "matplotlib", "pandas", "reservoirpy", "rich", "typer"}
"""Packages of extras; tests that import a missing one are skipped."""


class Missing:
    """Placeholder that skips the test, or the module, that uses it."""

    def __init__(self, name):
        self.name = name

    def __getattr__(self, attribute):
        if attribute.startswith("_"):  # pytest inspects all attributes of a module
            raise AttributeError(attribute)
        pytest.skip(f"could not import {self.name!r}", allow_module_level=True)


def optional(name):
    """Return a module, or a placeholder that skips tests if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return Missing(name)


class Anything:
    """Placeholder for strategies and modules of strategies, which draws nothing."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args, **options):
        return self

    def __or__(self, other):
        return self


def prepare_hypothesis():
    """Use the same hypothesis examples in every run, without a time limit.

    A commit thus always passes or always fails. ``--hypothesis-profile=random`` finds new examples.

    If hypothesis is missing, modules can still import it. Tests that use it are skipped, and other
    tests of these modules run.
    """
    try:
        settings = importlib.import_module("hypothesis").settings
    except ImportError:
        sys.modules |= _without_hypothesis()
    else:
        settings.register_profile("random", deadline=None)
        settings.register_profile("eigenecho", deadline=None, derandomize=True)
        settings.load_profile("eigenecho")


def _without_hypothesis():
    skipped = pytest.mark.skip(reason="could not import 'hypothesis'")
    hypothesis, extra = ModuleType("hypothesis"), ModuleType("hypothesis.extra")
    hypothesis.given = lambda *args, **options: skipped
    hypothesis.settings = lambda *args, **options: lambda test: test
    for name in ("Phase", "assume", "event", "strategies"):
        setattr(hypothesis, name, Anything())
    extra.numpy = Anything()
    return {"hypothesis": hypothesis, "hypothesis.extra": extra}
