"""Pictures of gallery scripts that pyplot knows nothing of, as those of ``eigenecho.plots``.

A figure is shown below the block that made it, if a variable, or the last expression of the block,
holds it or its axes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.pyplot import fignum_exists
from sphinx_gallery.scrapers import figure_rst

SHOWN = "_shown_figures"
"""Under which the variables of a script remember what was shown."""


class OwnFigures:
    """A scraper of sphinx-gallery, before that of pyplot, which closes its figures."""

    def __repr__(self) -> str:
        return "OwnFigures"

    def __call__(self, block: Any, block_vars: dict[str, Any], conf: dict[str, Any]) -> str:
        """Save what is new, and say so in reStructuredText."""
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
        said = [_question(block_vars["src_file"]), *filter(None, titles)]
        return figure_rst(paths, conf["src_dir"], ", ".join(said)) if paths else ""


def _figures(variables: dict[str, Any]) -> Iterator[Figure]:
    for value in list(variables.values()):
        figure = value.figure if isinstance(value, Axes) else value
        if isinstance(figure, Figure):
            yield figure


def _question(script: str) -> str:
    """The title of a script, for those who hear a picture."""
    said = ast.get_docstring(ast.parse(Path(script).read_text(encoding="utf-8")))
    return said.splitlines()[0] if said else ""


def _of_pyplot(figure: Figure) -> bool:
    number = getattr(figure, "number", None)
    return number is not None and fignum_exists(number)
