"""The code in the documentation runs."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
NEEDS = {"sktime.md": "sktime", "devices.md": "torch"}
"""Packages that the code of a page needs, and that not every environment has."""
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [p for p in PAGES if BLOCK.search(p.read_text())], ids=str)
def test_examples_run(page, monkeypatch, tmp_path):
    if page.name in NEEDS:
        pytest.importorskip(NEEDS[page.name])
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "example"}
    for block in BLOCK.findall(page.read_text()):
        exec(compile(block, str(page), "exec"), namespace)


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_docstring_examples():
    import doctest

    for name in (
        "estimators.linear_esn",
        "estimators.diagonal_reservoir",
        "estimators.forecaster",
        "metrics.forecasts",
        "model.learnt",
        "spectra.joined",
    ):
        result = doctest.testmod(importlib.import_module(f"eigenecho.{name}"))
        assert result.attempted
        assert not result.failed
