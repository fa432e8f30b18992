"""Redirect links to README.md to the repository, or to the page of the project if it is unknown.

The address is that of the git remote ``origin``.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from sphinx.application import Sphinx

LINK = re.compile(r"\]\((?:\.\./)+README\.md\)")


def find_repository() -> str | None:
    """Return the address of the repository as a web page."""
    command = ["git", "remote", "get-url", "origin"]
    found = subprocess.run(
        command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )
    address = re.fullmatch(r"(?:git@|https://)([\w.-]+)[:/](.+?)(?:\.git)?\n", found.stdout)
    return f"https://{address[1]}/{address[2]}" if address else None


def redirect(app: Sphinx, docname: str, source: list[str]) -> None:
    """Rewrite the links of one page in place."""
    target = find_repository() or f"{'../' * docname.count('/')}project.md"
    source[0] = LINK.sub(f"]({target})", source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", redirect)
    return {"parallel_read_safe": True}
