"""The code in the documentation runs, and its numbers equal the stored results."""

import json
import os
import re
from pathlib import Path

import pytest

from examples import need

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
NEEDS = {
    "aeon": "aeon",
    "dask": "dask",
    "distributed": "distributed",
    "eigenecho.interop.aeon": "aeon",
    "eigenecho.interop.sktime": "sktime",
    "holidays": "holidays",
    "polars": "polars",
    "pyrcn": "pyrcn",
    "sktime": "sktime",
    "statsforecast": "statsforecast",
    "statsmodels": "statsmodels",
    "torch": "torch",
}
"""Packages that are not installed in every environment, by the modules that pages import."""
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
IMPORT = re.compile(r"^(?:from|import) ([\w.]+)", re.MULTILINE)
FENCED = re.compile(r"^```(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^ *(?:`{3,}|~{3,})(?:\{[\w-]+\} *)?(\w*)", re.MULTILINE)
GUIDE = ROOT / "docs" / "guide.md"
PICTURE = re.compile(r"^```\{picture\} (\S+)", re.MULTILINE)
SHOWN = {
    "": "what is printed, or a diagram",
    "c": "export/test_guide.py",
    "console": "test_commands.py",
    "html": "test_playground.py",
    "javascript": "export/test_guide.py",
    "julia": "not ours",
    "pictures": "the paths of scripts, which the site runs",
}
"""Languages of blocks that are not Python, and how they are tested."""


@pytest.mark.parametrize("page", [p for p in PAGES if BLOCK.search(p.read_text())], ids=str)
def test_examples_run(page, monkeypatch, tmp_path, capsys):
    """Blocks run in order, up to the first that needs a missing package.
    If the packages of the site are installed, blocks print what the page shows.
    """
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "example"}
    for block in BLOCK.findall(page.read_text()):
        for module in IMPORT.findall(block):
            for name, package in NEEDS.items():
                if f"{module}.".startswith(f"{name}."):
                    need(package)
        exec(compile(block, str(page), "exec"), namespace)
    printed = capsys.readouterr().out.split()
    shown = [text.split() for kind, text in FENCED.findall(page.read_text()) if not kind]
    if os.environ.get("EVERY_EXAMPLE"):
        assert all(" ".join(text) in " ".join(printed) for text in shown)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_language_of_every_block_is_known(page):
    kinds = set(FENCE.findall(page.read_text()))
    assert kinds <= {*SHOWN, "python"}


def test_links_point_to_existing_files():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_guide_has_a_picture_that_exists():
    toctrees = re.findall(
        r"^:maxdepth: 1\n\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL
    )
    guides = [ROOT / "docs" / f"{name}.md" for name in "".join(toctrees).split()]
    assert len(guides) > 20
    used = set()
    for page in PAGES:
        scripts = PICTURE.findall(page.read_text())
        used |= {(page.parent / script).resolve() for script in scripts}
        assert scripts or "![" in page.read_text() or page not in guides or page.stem == "glossary"
    assert used == set((ROOT / "docs" / "pictures").glob("*.py"))


def test_numbers_of_the_front_page_equal_measurements():
    front = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|.*?\| \[([^\]]+)\]\((\S+?\.md)\S*\) \| (.*) \|$", front, re.MULTILINE)
    assert len(rows) >= 5
    for measured, page, against in rows:
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        numbers = re.findall(r"\d[\d.]*\d", measured) + re.findall(r"\d+\.\d+|\d{3,}", against)
        assert numbers
        for number in numbers:
            assert re.search(rf"(?<![\d.]){re.escape(number)}", text), f"{number} is not in {page}"


def test_page_of_the_paper_has_every_stored_verdict():
    page = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    stored = json.loads((ROOT / "docs" / "paper" / "results.json").read_text(encoding="utf-8"))
    assert stored["claims"]
    assert not stored["quick"]
    for claim in stored["claims"]:
        row = f"| {claim['claim']} | {claim['experiment']} | ".replace("|λ|", "\\|λ\\|")
        assert row in page
        judged = f"*Rule:* {claim['rule']}. *Measured:* {claim['measured']}."
        assert judged in page
        assert f"{claim['verdict']}:** {claim['claim']}" in page
        assert claim["quote"] in page
        assert claim["note"] in page
    verdicts = [claim["verdict"] for claim in stored["claims"] if claim["quote"]]
    assert f"The verdicts on {len(verdicts)} claims of the paper are" in page
    assert f"holds ({verdicts.count('holds')})" in page
