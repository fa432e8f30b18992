r"""Convert the formulas of docstrings, which are Unicode text, to TeX.

μ_k = √(k / 2m) exp(iπ v_k)   becomes   μ_{k} = \sqrt{k / 2m} \operatorname{exp}(iπ v_{k})
"""

from __future__ import annotations

import re
import unicodedata

RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀᵏⁿᴺʲⁱ", "0123456789+-TknNji", strict=True)) | {"ᵀ": r"\top "}
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
ACCENTS = {"\u0302": "hat", "\u0304": "bar"}
FUNCTIONS = {"argmin", "cos", "cov", "exp", "ln", "max", "mean", "min", "mod", "sin", "tanh"}
SYMBOLS = {
    **{"−": "-", "·": r"\cdot ", "…": r"\ldots ", "...": r"\ldots ", "~": r"\sim "},
    **{"Σ": r"\sum ", "Π": r"\prod ", "∫": r"\int ", "⊙": r"\odot ", "∝": r"\propto "},
    **{"∪": r"\cup ", "‖∞": r"\Vert_\infty ", "‖": r"\Vert ", "≤": r"\le ", "≥": r"\ge "},
}
TOKEN = re.compile(
    "|".join(
        [
            r"(?P<root>√\s*(?=\()|√\w(?:\([^()]*\))?)",
            f"(?P<raised>[{''.join(RAISED)}]+)",
            f"(?P<lowered>[{''.join(LOWERED)}]+)",
            f"(?P<accent>.[{''.join(ACCENTS)}])",
            r"(?P<power>\^(?=\())",
            r"(?P<index>_(?:\{(?P<inside>[^}]*)\}|(?P<name>[A-Za-z0-9]+)|$|(?=\s)))",
            r"(?P<word>[A-Za-z]{2,})",
            r"(?P<space> {2,})",
            f"(?P<symbol>{'|'.join(map(re.escape, sorted(SYMBOLS, key=len, reverse=True)))})",
            r"(?P<other>.)",
        ]
    ),
    re.DOTALL,
)


def to_tex(text: str) -> str:
    """Return a formula of one or several lines as TeX."""
    # Accents are separate characters, but signs such as ² stay as they are.
    lines = [_line(unicodedata.normalize("NFD", line.strip())) for line in text.splitlines()]
    if len(lines) == 1:
        return lines[0]
    return r"\begin{aligned}" + r" \\ ".join(f"& {line}" for line in lines) + r"\end{aligned}"


def _line(text: str) -> str:
    written, position = "", 0
    while position < len(text):
        match = TOKEN.match(text, position)
        assert match
        kind, token = match.lastgroup, match[0]
        kind = "index" if kind in ("inside", "name") else kind
        position = match.end()
        if kind in ("root", "power"):
            begin = r"\sqrt{" if kind == "root" else "^{"
            if token.strip("√^ "):
                written += begin + _line(token[1:]) + "}"
                continue
            end = _closing(text, position)
            inside = text[position + 1 : end] if kind == "root" else text[position : end + 1]
            written, position = written + begin + _line(inside.strip()) + "}", end + 1
        else:
            written += _token(kind or "other", token, match)
    # Words keep the spaces around them.
    written = re.sub(r"(\\text\{\w+\}) (?=[\w\\(|])", r"\1\\ ", written)
    return re.sub(r"(?<=[\w)|}]) (?=\\text)", r"\\ ", written).replace(r"\qquad\ ", r"\qquad ")


def _token(kind: str, token: str, match: re.Match[str]) -> str:
    if kind == "raised":
        return "^{" + "".join(RAISED[letter] for letter in token) + "}"
    if kind == "lowered":
        return "_{" + "".join(LOWERED[letter] for letter in token) + "}"
    if kind == "accent":
        return rf"\{ACCENTS[token[1]]}{{{token[0]}}}"
    if kind == "index":
        if match["inside"] is not None:
            return "_{" + _line(match["inside"]) + "}"
        return "_{" + _line(match["name"]) + "}" if match["name"] else r"\_"
    if kind == "word":
        return rf"\{'operatorname' if token in FUNCTIONS else 'text'}{{{token}}}"
    if kind == "space":
        return r"\qquad "
    return SYMBOLS.get(token, token)


def _closing(text: str, start: int) -> int:
    """Return the index of the bracket that closes the one at ``start``."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i
    raise ValueError(f"{text!r} has a bracket that is not closed")
