"""Cells of a table that hold text: whether they say numbers, and the line that reads them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from numbers import Number
from typing import Any

from eigenecho.errors import ENCODE

THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?\s*")
"""Text such as 1,234 or 1,234,567.8, whose commas may part thousands."""

READS = "reads the text as numbers"


def says_number(value: Any) -> bool:
    """Whether a value is a number, or a text that pandas reads as one.

    Python reads 1_000, digits of other scripts and nan, too, which ``pandas.to_numeric`` refuses.
    """
    try:
        number = float(value)
    except (ValueError, TypeError, OverflowError):
        return False
    if not isinstance(value, str):
        return True
    return value.isascii() and "_" not in value and not math.isnan(number)


def numbers_in_text(cells: Iterable[Any], held: str) -> str:
    """What to do about a column of pandas, ``held`` by an expression: its text may say numbers."""
    cells = list(cells)
    texts = [cell for cell in cells if isinstance(cell, str)]
    commas = [text for text in texts if "," in text]
    if commas and all(map(THOUSANDS.fullmatch, commas)):
        is_plain = any("." in text or text.count(",") > 1 for text in texts)
        or_point = (
            "" if is_plain else ' if commas part thousands; if they are decimal, write "." for ""'
        )
        if all(says_number(text.replace(",", "")) for text in texts):
            return f"pd.to_numeric({_replaced(cells, held, ',', '')}) {READS}{or_point}."
    for sign, by in (("", ""), (",", "."), ("_", "")):
        if texts and all(says_number(text.replace(sign, by) if sign else text) for text in texts):
            return f"pd.to_numeric({_replaced(cells, held, sign, by)}) {READS}."
    if any(map(says_number, texts)):
        return f"pd.to_numeric({held}, errors='coerce') reads numbers in text, and NaN elsewhere."
    return ENCODE


def _replaced(cells: Iterable[Any], held: str, sign: str, by: str) -> str:
    """An expression for a column with something else in place of a sign, where there is one."""
    if not sign:
        return held
    if any(isinstance(cell, Number) and cell == cell for cell in cells):  # .str would lose them
        return f'{held}.replace("{sign}", "{by}", regex=True)'
    return f'{held}.str.replace("{sign}", "{by}")'
