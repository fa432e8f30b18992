"""Labels of series and columns in files: plain text that says what kind of label it is."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from eigenecho.errors import Shown, bad_argument
from eigenecho.storage import Values

TYPES = {"s": str, "i": int, "f": float}
"""The letter in front of a label, and how to read what follows; n is None, b a truth value, t a
date, u a tuple."""


KINDS = re.compile(
    r"object|str|string|category|bool|boolean|(u?int|U?Int|float|Float)(8|16|32|64)"
    r"|datetime64\[(s|ms|us|ns)(, [\w/+:-]+)?\]"
)
"""Types of an index that are kept; labels of others come back as objects."""


def packed(label: Any) -> str:
    """A label as text."""
    if label is None:
        return "n"
    if isinstance(label, (bool, np.bool_)):
        return f"b{int(label)}"
    if isinstance(label, tuple):
        return "u" + json.dumps([packed(part) for part in label])
    if isinstance(label, np.generic):
        label = label.item()
    for letter, kind in TYPES.items():
        if isinstance(label, kind):
            return f"{letter}{label}" if letter == "s" else f"{letter}{label!r}"
    if hasattr(label, "isoformat") and hasattr(label, "tz_convert"):
        return f"t{label.isoformat()}"
    raise bad_argument(
        "series", Shown(f"the label {label!r}"), "names that a file can hold: text, numbers, dates",
        "Rename it before fitting.",
    )  # fmt: skip


def unpacked(text: Any, nested: bool = False) -> Any:
    """The label that a text stands for."""
    if not isinstance(text, str) or not text:
        raise bad_argument("series", text, "labels")
    letter, rest = text[0], text[1:]
    if letter in TYPES:
        return TYPES[letter](rest)
    if letter == "n" and not rest:
        return None
    if letter == "b" and rest in ("0", "1"):
        return rest == "1"
    if letter == "t":
        import pandas

        return pandas.Timestamp(rest)
    if letter == "u" and not nested:
        return tuple(unpacked(part, nested=True) for part in json.loads(rest))
    raise bad_argument("series", text, "labels")


def pack_labels(labels: Any, name: str) -> Values:
    """An index as plain values: its labels, its type, and the names of its levels."""
    kind = str(labels.dtype) if KINDS.fullmatch(str(labels.dtype)) else "object"
    return {
        name: [packed(label) for label in labels],
        f"{name}_levels": [packed(level) for level in labels.names],
        f"{name}_type": "levels" if labels.nlevels > 1 else kind,
    }


def unpack_labels(values: Values, name: str) -> Any:
    """An index of labels, each once."""
    import pandas

    labels = [unpacked(text) for text in values.pop(name)]
    levels = [unpacked(text) for text in values.pop(f"{name}_levels")]
    kind = values.pop(f"{name}_type")
    if kind == "levels":
        index = pandas.MultiIndex.from_tuples(labels, names=levels)
    elif not isinstance(kind, str) or not KINDS.fullmatch(kind):
        raise bad_argument(f"{name}_type", kind, "a type of labels")
    else:
        index = pandas.Index(labels, dtype=kind, name=levels[0], tupleize_cols=False)
    if not len(index) or not index.is_unique or len(levels) != index.nlevels:
        raise bad_argument(name, Shown(f"{len(index)} labels"), "labels that occur once")
    return index
