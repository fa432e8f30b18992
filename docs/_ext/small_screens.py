"""Prepare pages for small screens.

- Numbers are not broken at the end of a line: 10 000, 1e-12, 5 ms, N = 300, Cortex-M4.
- Short words of code are not broken.
- The figures of the gallery can scroll, so that their text keeps a readable size.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_gallery.directives import imgsgnode

UNIT = r"(?:ns|µs|ms|s|rad|bytes|[kKMG]i?B)\b"
NUMBER = re.compile(
    r"(?<![\w.])\d{1,3}(?: \d{3})+(?!\d)"  # 10 000
    rf"|\b\d[\d.]*(?:e-\d+(?: {UNIT})?| {UNIT})"  # 1e-12, 5 ms
    r"|\b\w [=<>≤≥≈] [-−]?\d+(?:\.\d+)?\b"  # N = 300
    r"|\b[A-Z]\w+-[A-Z]\d\w*"  # Cortex-M4
)

SHORT = 28
"""Number of letters of code that fit into a line on small screens."""

CODE = (nodes.FixedTextElement, nodes.literal, nodes.math, addnodes.desc_signature)


class UnbrokenNumbers(SphinxPostTransform):
    """Mark numbers, which ``site.css`` keeps on one line."""

    default_priority = 700
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Replace the text of the page."""
        for text in list(self.document.findall(nodes.Text)):
            if NUMBER.search(text) and not _is_inside(text, (*CODE, nodes.title)):
                text.parent.replace(text, _marked(str(text)))


class UnbrokenCode(SphinxPostTransform):
    """Mark code without long words."""

    default_priority = 700
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Change the classes of code in the text of the page."""
        for code in self.document.findall(nodes.literal):
            if max(map(len, code.astext().split()), default=0) <= SHORT:
                code["classes"].append("short")


class ScrollingFigures(SphinxPostTransform):
    """Put each figure of the gallery into an element that can scroll."""

    default_priority = 700
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Replace the figures of the page."""
        for figure in list(self.document.findall(imgsgnode)):
            start = nodes.raw("", '<div class="gallery-figure">', format="html")
            end = nodes.raw("", "</div>", format="html")
            figure.parent.replace(figure, [start, figure, end])


def _is_inside(node: nodes.Node, kinds: tuple[type[nodes.Node], ...]) -> bool:
    parent = node.parent
    while parent is not None and not isinstance(parent, kinds):
        parent = parent.parent
    return parent is not None


def _marked(text: str) -> list[nodes.Node]:
    parts: list[nodes.Node] = []
    position = 0
    for match in NUMBER.finditer(text):
        parts.append(nodes.Text(text[position : match.start()]))
        parts.append(nodes.inline("", match[0], classes=["number"]))
        position = match.end()
    return [*parts, nodes.Text(text[position:])]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.add_post_transform(UnbrokenNumbers)
    app.add_post_transform(UnbrokenCode)
    app.add_post_transform(ScrollingFigures)
    return {"parallel_read_safe": True}
