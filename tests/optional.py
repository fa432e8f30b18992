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


def prepare_hypothesis():
    """Take the time limit off examples: how long one takes depends on the machine.

    Where hypothesis is missing, modules can import it even so, and tests that it gives numbers to
    are skipped. Most of these modules have other tests, which run.
    """
    try:
        settings = importlib.import_module("hypothesis").settings
    except ImportError:
        sys.modules |= _without_hypothesis()
    else:
        settings.register_profile("eigenecho", deadline=None)
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
