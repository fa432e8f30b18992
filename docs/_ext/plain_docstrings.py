"""Convert the docstrings of this package to reStructuredText.

- Indented formulas in the text become mathematics (``formulas``).
- ``|λ|`` is a modulus, not a substitution.
- Methods that scikit-learn adds to estimators (``set_fit_request``) and internal methods are left
  out.
"""

from __future__ import annotations

import re
from typing import Any

from formulas import to_tex
from sphinx.application import Sphinx

RULE = re.compile(r"-{3,}$")
PROSE = {"Notes"}
"""Sections with plain text; the others have their own indentation."""

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
    section, formula, written = "", list[str](), list[str]()
    for before, line, after in zip(["", *lines], lines, [*lines[1:], ""], strict=False):
        if line.strip() and RULE.match(after.strip()):
            section = line.strip()
        if section == "Examples":
            written.append(line)
            continue
        # Text starts at the margin; in other sections it is indented below a name.
        margin = 0 if not section or section in PROSE else 4
        deep = len(line) - len(line.lstrip()) >= margin + 4
        if deep and (formula or not before.strip()):
            formula.append(line)
            continue
        if formula:
            indent = " " * margin
            written += [f"{indent}.. math::", "", f"{indent}    {to_tex(chr(10).join(formula))}"]
            formula = []
        written.append(_moduli(line))
    return written


def _moduli(line: str) -> str:
    """Escape bars outside of ``literals``."""
    parts = re.split(r"(``.*?``)", line)
    return "".join(
        part if part.startswith("``") else MODULUS.sub(r"\\|\1\\|", part) for part in parts
    )


def skip(app: Sphinx, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Return True to leave out a member, or None to leave the decision to others."""
    return True if name in INTERNAL or REQUEST.match(name) else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension, to run before numpydoc."""
    app.connect("autodoc-process-docstring", process, priority=100)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}
