"""Draw the pictures of the guides when the site is built.

```{picture} ../pictures/ridge.py
:alt: What the picture shows, for readers who do not see it.

A caption.
```

The script is run, and its variable ``figure`` is shown. The figure becomes a part of the page, as
SVG with text, in colours that follow the theme.
"""

from __future__ import annotations

import hashlib
import html
import io
import re
import runpy
from pathlib import Path
from typing import Any, ClassVar

import matplotlib as mpl
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import eigenecho

logger = logging.getLogger(__name__)

COLOURS = {
    "#000000": "currentColor",
    "#0072b2": "var(--picture-blue)",
    "#d55e00": "var(--picture-red)",
    "#009e73": "var(--picture-green)",
    "#e69f00": "var(--picture-orange)",
    "#cc79a7": "var(--picture-purple)",
    "#8a8a8a": "var(--picture-grey)",
    "#ffffff": "var(--pst-color-background)",
}
"""Colours of ``eigenecho.plots.style``, and those of the theme (``_static/site.css``)."""

STYLE = {
    "svg.fonttype": "none",  # text stays text
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}

ENLARGED = 1.35
"""Pictures are this much larger on wide screens, so that their text is readable on small ones."""

READABLE = 0.95
"""Pictures are never smaller than this; on small screens, they scroll."""

GROUP = re.compile(r'<g id="[\w.]+">')
"""Names of groups, which would not be unique on a page with two pictures."""


class Picture(SphinxDirective):
    """A picture, drawn by a script."""

    has_content = True
    required_arguments = 1
    option_spec: ClassVar = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Return the picture with its caption."""
        _, path = self.env.relfn2path(self.arguments[0], self.env.docname)
        self.env.note_dependency(path)
        script = Path(path)
        if not self.options.get("alt"):
            return [self.state.document.reporter.error(f"{script.name} has no :alt:")]
        svg = _drawn(script, Path(self.env.app.doctreedir) / "pictures")
        label = html.escape(" ".join(self.options["alt"].split()), quote=True)
        svg = svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
        drawing = f'<div class="picture-drawing">{svg}</div>'
        start = nodes.raw("", f'<figure class="picture">{drawing}', format="html")
        end = nodes.raw("", "</figure>", format="html")
        if not self.content:
            return [start, end]
        caption = nodes.container(classes=["picture-caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        return [start, caption, end]


def _drawn(script: Path, store: Path) -> str:
    """Return the SVG of a script, which is run if it or the library has changed."""
    text = script.read_bytes() + eigenecho.__version__.encode() + Path(__file__).read_bytes()
    stored = store / f"{script.stem}-{hashlib.sha256(text).hexdigest()[:16]}.svg"
    if not stored.exists():
        logger.info("drawing %s", script.name)
        with mpl.rc_context(STYLE | {"svg.hashsalt": script.stem}):
            figure: Any = runpy.run_path(str(script))["figure"]
            written = io.BytesIO()
            figure.savefig(written, format="svg", metadata={"Date": None})
        store.mkdir(parents=True, exist_ok=True)
        stored.write_text(_inline(written.getvalue().decode()), encoding="utf-8")
    return stored.read_text(encoding="utf-8")


def _inline(svg: str) -> str:
    """Return an SVG file as a part of a page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    width = float(re.search(r'width="([\d.]+)pt"', svg)[1])  # type: ignore[index]
    svg = re.sub(r' (width|height)="[\d.]+pt"', "", svg, count=2)
    sizes = f"max-width: {ENLARGED * width / 72:.2f}in; min-width: {READABLE * width / 72:.2f}in"
    svg = svg.replace("<svg ", f'<svg style="{sizes}" ', 1)
    for colour, name in COLOURS.items():
        svg = svg.replace(colour, name)
    return GROUP.sub("<g>", svg)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": False}
