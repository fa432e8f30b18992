"""The code in the documentation runs, and its numbers are those that were stored."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
NEEDS = {
    "sktime.md": "sktime",
    "devices.md": "torch",
    "clusters.md": "distributed",
    "coming-from-sktime-and-statsforecast.md": "statsforecast",
}
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


def test_numbers_of_the_front_page_are_those_that_were_measured():
    front = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|.*?\| \[([^\]]+)\]\((\S+?\.md)\S*\) \| (.*) \|$", front, re.MULTILINE)
    assert len(rows) >= 5
    for measured, page, against in rows:
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        numbers = re.findall(r"\d[\d.]*\d", measured) + re.findall(r"\d+\.\d+|\d{3,}", against)
        assert numbers
        for number in numbers:
            assert re.search(rf"(?<![\d.]){re.escape(number)}", text), f"{number} is not in {page}"


def test_the_page_of_the_paper_has_every_stored_verdict():
    page = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    stored = json.loads((ROOT / "docs" / "paper" / "results.json").read_text(encoding="utf-8"))
    assert stored["claims"]
    assert not stored["quick"]
    for claim in stored["claims"]:
        row = f"{claim['claim']} | {claim['measured']} |".replace("|λ|", "\\|λ\\|")
        assert row in page
        assert f"{claim['verdict']}:** {claim['claim']}" in page
