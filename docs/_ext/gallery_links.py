"""Links to a script of the gallery lead to its page: ``[x](gallery/plot_ring.py)``.

In the repository they lead to the script itself.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx

SCRIPT = re.compile(r"\]\(((?:\.\./)*)gallery/(plot_\w+)\.py\)")


def to_pages(app: Sphinx, name: str, source: list[str]) -> None:
    """Rewrite the links of one page in place."""
    source[0] = SCRIPT.sub(r"](\1examples/\2.rst)", source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Before pages are read."""
    app.connect("source-read", to_pages)
    return {"parallel_read_safe": True}
