"""Packages that tests can do without: what needs one that is missing is skipped by its name."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest

PACKAGES = {"jinja2", "matplotlib", "pandas", "reservoirpy", "rich", "typer"}
"""Packages of extras, whose absence skips what imports them within a test."""


class Missing:
    """Skip the test that uses it, or the module that uses it while it is imported."""

    def __init__(self, name):
        self.name = name

    def __getattr__(self, attribute):
        if attribute.startswith("_"):  # pytest looks at everything that a module holds
            raise AttributeError(attribute)
        pytest.skip(f"could not import {self.name!r}", allow_module_level=True)


def optional(name):
    """Return a module, or in place of one that is not installed what skips the test using it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return Missing(name)


class Anything:
    """A strategy, or a module of strategies, that draws nothing."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args, **options):
        return self

    def __or__(self, other):
        return self


def replace_missing_hypothesis():
    """Let modules import ``hypothesis`` where it is missing: what it gives numbers to is skipped.

    Most of these modules have other tests, which run.
    """
    try:
        importlib.import_module("hypothesis")
    except ImportError:
        skipped = pytest.mark.skip(reason="could not import 'hypothesis'")
        replacement = ModuleType("hypothesis")
        replacement.given = lambda *args, **options: skipped
        replacement.settings = lambda *args, **options: lambda test: test
        replacement.assume = Anything()
        replacement.strategies = Anything()
        extra = ModuleType("hypothesis.extra")
        extra.numpy = Anything()
        sys.modules |= {"hypothesis": replacement, "hypothesis.extra": extra}
