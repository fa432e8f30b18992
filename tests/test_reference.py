"""The API reference lists every public name and nothing else, and all its examples run."""

from __future__ import annotations

import doctest
import importlib
import re
import runpy
from dataclasses import is_dataclass
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType

import pytest

import eigenecho
from examples import need

API = Path(__file__).parents[1] / "docs" / "api"
PAGES = sorted(API.glob("*.rst"))
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = ("errors", "features", "metrics", "plots", "spectra", "tasks")
ANSWERS = {
    "eigenecho.forecasting.backtest.Backtest",
    "eigenecho.grid_search.SearchResult",
    "eigenecho.model.Forecast",
    "eigenecho.model.Learner",
    "eigenecho.model.Matrices",
    "eigenecho.model.Stream",
    "eigenecho.model.certificate.Certificate",
    "eigenecho.model.certificate.Reduction",
    "eigenecho.model.export.ExportReport",
}
"""Classes that public functions and methods return, and that users do not import."""

OTHERS = {
    "eigenecho.interop.aeon.EigenechoClassifier",
    "eigenecho.interop.reservoirpy.DiagonalReservoirNode",
    "eigenecho.interop.sktime.EigenechoForecaster",
}
NEEDS = {
    "eigenecho.interop.aeon.EigenechoClassifier": "aeon",
    "eigenecho.from_reservoirpy": "reservoirpy",
    "eigenecho.interop.reservoirpy.DiagonalReservoirNode": "reservoirpy",
    "eigenecho.interop.sktime.EigenechoForecaster": "sktime",
    "eigenecho.forecasting.backtest.Backtest": "pandas",
    "eigenecho.plots.backtest": "pandas",
}
"""Packages that the example of a name needs, and that are not installed in every environment."""

# All checks of numpydoc except those that contradict our style: a summary may be a noun phrase and
# may begin with a formula (SS02, SS05); descriptions do not repeat the summary or a type (ES01,
# PR07, RT01, RT03); See Also entries have short descriptions (SA02, SA03). Separate tests check
# examples and See Also sections (EX01, SA01).
IGNORED = {"ES01", "EX01", "PR07", "RT01", "RT03", "SA01", "SA02", "SA03", "SS02", "SS05"}


def public():
    """Return every public name, qualified."""
    tops = {f"eigenecho.{name}" for name in eigenecho.__all__ if name not in MODULES}
    inner = {
        f"eigenecho.{module}.{name}"
        for module in MODULES
        for name in importlib.import_module(f"eigenecho.{module}").__all__
    }
    return tops | inner


def listed(page):
    """Return the qualified names on a page, and whether each has its own page."""
    module, inside = "", False
    for line in page.read_text(encoding="utf-8").splitlines():
        if found := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = f"{found[1]}."
        elif found := re.match(r"\.\. (?:data|class):: (\S+)", line):
            inside = False
            yield _qualified(module, found[1]), False
        elif line.startswith(".. autosummary::"):
            inside = True
        elif re.match(r"\S", line):
            inside = False
        elif inside and re.match(r"   [\w.]+$", line):
            yield _qualified(module, line.strip()), True


def _qualified(module, name):
    return name if name.startswith("eigenecho.") else module + name


LISTED = {name: generated for page in PAGES for name, generated in listed(page)}
EXPLAINED = sorted(name for name, generated in LISTED.items() if generated)


def resolve(name):
    if name in NEEDS:
        need(NEEDS[name])
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def test_every_public_name_is_in_the_reference():
    assert public() - set(LISTED) == set()


def test_nothing_private_is_in_the_reference():
    assert set(LISTED) - public() == ANSWERS | OTHERS
    assert not [n for n in LISTED if re.search(r"\._", n) and n != "eigenecho.__version__"]


def test_names_are_listed_once():
    names = [name for page in PAGES for name, _ in listed(page)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", EXPLAINED)
def test_every_name_has_an_example_that_runs(name, monkeypatch, tmp_path):
    thing = resolve(name)
    monkeypatch.chdir(tmp_path)
    if name.startswith("eigenecho.plots."):
        need("matplotlib")
    if find_spec("matplotlib"):
        importlib.import_module("matplotlib").use("agg")
    result = doctest.DocTestFinder().find(thing, name, module=False)
    (own,) = [test for test in result if test.name == name]
    assert "Examples\n" in (own.docstring or "")
    assert own.examples
    runner = doctest.DocTestRunner(verbose=False, optionflags=OPTIONS)
    for test in result:
        runner.run(test)
    assert runner.failures == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_of_pages_run(page):
    if page.name == "clusters.rst":
        need("dask.array")
    result = doctest.testfile(str(page), module_relative=False, optionflags=OPTIONS)
    assert result.failed == 0


def mistakes(thing, most=0):
    """Return numpydoc's findings for a docstring; ``most`` parameters may be undocumented."""
    validate = importlib.import_module("numpydoc.validate")
    result = dict(validate.validate(validate.get_doc_object(thing))["errors"])
    if result.get("PR01", "").count("'") // 2 <= most:
        result.pop("PR01", None)
    return {code: text for code, text in result.items() if code not in IGNORED}


@pytest.mark.parametrize("name", EXPLAINED)
def test_docstrings_pass_numpydoc_validation(name, monkeypatch):
    """Two parameters of a method, and all fields of a value, may be described in the text."""
    need("numpydoc")
    monkeypatch.syspath_prepend(API.parent / "_ext")
    hidden = runpy.run_path(str(API.parent / "_ext" / "plain_docstrings.py"))["INTERNAL"]
    thing = resolve(name)
    fields = is_dataclass(thing) or (isinstance(thing, type) and issubclass(thing, tuple))
    assert not mistakes(thing, most=99 if fields or name in ANSWERS else 0)
    for member, part in vars(thing).items() if isinstance(thing, type) else ():
        part = getattr(part, "func", getattr(part, "__func__", part))
        shown = not member.startswith("_") and member not in hidden
        if shown and isinstance(part, (FunctionType, property)):
            assert not mistakes(part, most=2), member


def test_see_also_entries_exist():
    for name in EXPLAINED:
        if name in NEEDS:
            continue
        text = resolve(name).__doc__ or ""
        section = re.search(r"See Also\n\s*-+\n(.*?)(?:\n\s*\n|\Z)", text, re.DOTALL)
        assert section, f"{name} has no See Also"
        for other in re.findall(r"^\s*(eigenecho[\w.]*) :", section[1], re.MULTILINE):
            assert other in LISTED, f"{name} points to {other}"
