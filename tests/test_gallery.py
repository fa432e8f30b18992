"""Every gallery script asks a question, answers it with a picture, and runs."""

import ast
import os
import runpy
import warnings
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "gallery"
SCRIPTS = sorted(FOLDER.glob("plot_*.py"))
PACKAGES = {"aeon", "statsmodels", "reservoirpy", "torch", "distributed", "dask"}
"""Packages that scripts may import besides the dependencies of eigenecho, matplotlib and pandas."""
HOUSE = {"eigenecho", "numpy", "scipy", "sklearn", "pandas", "matplotlib"}
STANDARD = {"time", "warnings", "re", "pathlib"}


def imports(script):
    """Return the top-level packages that a script imports."""
    result = set()
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            result |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            result.add(node.module.split(".")[0])
    return result


def test_gallery_exists():
    assert len(SCRIPTS) >= 16
    assert (FOLDER / "GALLERY_HEADER.rst").exists()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script_asks_a_question(script):
    words = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
    title, rule, blank, *prose = words.splitlines()
    assert title.endswith("?")
    assert rule == "=" * len(title)
    assert blank == ""
    assert prose
    assert title not in {
        ast.get_docstring(ast.parse(other.read_text(encoding="utf-8"))).splitlines()[0]
        for other in SCRIPTS
        if other != script
    }


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script_is_plain_code_with_a_picture(script):
    text = script.read_text(encoding="utf-8")
    assert "plt.subplots(" in text or "figure = " in text
    assert "eigenecho" in imports(script)
    assert imports(script) <= HOUSE | STANDARD | PACKAGES
    assert "plt.show" not in text
    assert "default_rng()" not in text  # pictures must be reproducible


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_links_point_to_pages(script):
    docs = FOLDER.parent
    for part in script.read_text(encoding="utf-8").split(":doc:`/")[1:]:
        name = part.split("`")[0]
        pages = [docs / f"{name}{ending}" for ending in (".md", ".rst")]
        example = docs / name.replace("examples/", "gallery/")
        assert any(page.exists() for page in [*pages, example.with_suffix(".py")]), name


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script_runs(script, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    for package in sorted(imports(script) & PACKAGES):
        pytest.importorskip(package)
    if "from eigenecho.dask" in script.read_text(encoding="utf-8"):
        pytest.importorskip("eigenecho.dask")
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.figure import Figure

    monkeypatch.chdir(FOLDER)  # as sphinx-gallery does
    before = set(os.listdir(FOLDER))
    with warnings.catch_warnings(), matplotlib.rc_context():
        warnings.simplefilter("error", UserWarning)
        variables = runpy.run_path(str(script), run_name="__main__")
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    figures += [value for value in variables.values() if isinstance(value, Figure)]
    try:
        assert any(figure.axes for figure in figures)
        assert set(os.listdir(FOLDER)) == before  # the script leaves no files
    finally:
        pyplot.close("all")
