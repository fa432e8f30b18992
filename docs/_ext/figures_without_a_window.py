"""Show figures in the gallery that are not registered with pyplot, such as ``eigenecho.plots``.

A figure is shown below the block that created it, if a variable or the last expression of the block
holds the figure or its axes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.pyplot import fignum_exists
from sphinx_gallery.scrapers import figure_rst, matplotlib_scraper

SHOWN = "_shown_figures"
"""Name of the variable that stores the figures already shown."""

NAME = re.compile(r"(:alt: )plot [^\n]*")
"""Alternative text that contains the name of the script."""


class OwnFigures:
    """A sphinx-gallery scraper that runs before that of pyplot, which closes its figures."""

    def __repr__(self) -> str:
        return "OwnFigures"

    def __call__(self, block: Any, block_vars: dict[str, Any], conf: dict[str, Any]) -> str:
        """Save new figures and return the reStructuredText that shows them."""
        variables = block_vars["example_globals"]
        shown = variables.setdefault(SHOWN, [])
        paths, titles = list[str](), list[str]()
        for figure in _figures(variables):
            if any(figure is other for other in shown):
                continue
            shown.append(figure)
            if _of_pyplot(figure):
                continue
            path = str(next(block_vars["image_path_iterator"]))
            figure.savefig(path, dpi=150)
            paths.append(path)
            titles += [ax.get_title(loc="center") for ax in figure.axes]
        said = f"{_question(block_vars)} {', '.join(filter(None, titles))}".strip()
        return figure_rst(paths, conf["src_dir"], said) if paths else ""


class FiguresOfPyplot:
    """The scraper of pyplot, with the title of the script as alternative text."""

    def __repr__(self) -> str:
        return "FiguresOfPyplot"

    def __call__(self, block: Any, block_vars: dict[str, Any], conf: dict[str, Any]) -> str:
        """Return its reStructuredText, with the title of the script instead of its name."""
        found: str = matplotlib_scraper(block, block_vars, conf)
        return NAME.sub(rf"\1{_question(block_vars)}", found)


def _figures(variables: dict[str, Any]) -> Iterator[Figure]:
    for value in list(variables.values()):
        figure = value.figure if isinstance(value, Axes) else value
        if isinstance(figure, Figure):
            yield figure


def _question(block_vars: dict[str, Any]) -> str:
    """Return the title of a script, for use as alternative text."""
    script = Path(block_vars["src_file"]).read_text(encoding="utf-8")
    said = ast.get_docstring(ast.parse(script))
    return said.splitlines()[0] if said else ""


def _of_pyplot(figure: Figure) -> bool:
    number = getattr(figure, "number", None)
    return number is not None and fignum_exists(number)
