"""Docstrings as they are written here, read as reStructuredText.

- An indented formula in the prose stays as it stands, line by line.
- ``|λ|`` is a modulus: there are no substitutions.
- Methods that scikit-learn adds to estimators (``set_fit_request``) are not ours to explain, and
  those that only our own modules call are nobody's to use.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

RULE = re.compile(r"-{3,}$")
PROSE = {"Notes"}
"""Sections that are prose; all others have indents of their own."""

MODULUS = re.compile(r"\|(?=\S)([^|]*\S)\|")
INTERNAL = {
    "covariance_to_user",
    "from_user",
    "need_basis",
    "of",
    "own_inputs",
    "pack",
    "problem",
    "to_user",
    "unpack",
}
REQUEST = re.compile(r"set_\w+_request$")


def process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Rewrite the lines of one docstring in place."""
    lines[:] = list(_rewritten(lines))


def _rewritten(lines: list[str]) -> list[str]:
    section, literal, written = "", False, list[str]()
    for before, line, after in zip(["", *lines], lines, [*lines[1:], ""], strict=False):
        if line.strip() and RULE.match(after.strip()):
            section = line.strip()
        if section == "Examples":
            written.append(line)
            continue
        # Prose begins at the margin; in other sections it explains a name, one step further in.
        margin = 0 if not section or section in PROSE else 4
        deep = len(line) - len(line.lstrip()) >= margin + 4
        if deep and not literal and not before.strip():
            written += [" " * margin + "::", ""]
        literal = (deep and (literal or not before.strip())) or (literal and not line.strip())
        written.append(line if literal else _moduli(line))
    return written


def _moduli(line: str) -> str:
    """Bars escaped, but not inside ``literals``."""
    parts = re.split(r"(``.*?``)", line)
    return "".join(
        part if part.startswith("``") else MODULUS.sub(r"\\|\1\\|", part) for part in parts
    )


def skip(app: Sphinx, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Whether to leave a member out; None where others decide."""
    return True if name in INTERNAL or REQUEST.match(name) else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Before numpydoc, which reads sections."""
    app.connect("autodoc-process-docstring", process, priority=100)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}
