"""Redirect links to gallery scripts, ``[x](gallery/plot_ring.py)``, to their pages.

In the repository these links lead to the script.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx

SCRIPT = re.compile(r"\]\(((?:\.\./)*)gallery/(plot_\w+)\.py\)")


def to_pages(app: Sphinx, name: str, source: list[str]) -> None:
    """Rewrite the links of one page in place."""
    source[0] = SCRIPT.sub(r"](\1examples/\2.rst)", source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", to_pages)
    return {"parallel_read_safe": True}
