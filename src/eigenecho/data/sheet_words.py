"""The lines to write that errors about frames end with, made of the names of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SHOWN = 8
"""Columns that are listed, at most."""


def with_times(frame: Any, time: Any, name: str) -> str:
    """The line that tells of a column of times: an index, or of a frame with ids that is long."""
    others = [label for label in frame.columns if label != time]
    said = long_line(frame, time) if name == "y" else ""
    return said or f"Give {indexed(time, others[0] if len(others) == 1 else None, name)}."


def long_line(frame: Any, time: Any) -> str:
    """The line for a frame y that may be a long one, with times in a column or its index; or ""."""
    table, reset = frame, ""
    if frame.columns.nlevels > 1:
        return ""
    if frame.index.name is not None and frame.index.name not in frame.columns:
        table, reset = frame.reset_index(), "y.reset_index(), and "
    others = [label for label in table.columns if label != time]
    ids = _ids(table, time, others)
    rest = [label for label in others if label not in ids[:1]]
    if not ids or not rest:
        return ""
    target, of = (repr(rest[0]), "") if len(rest) == 1 else ("...", f", of {_listed(rest)}")
    call = f"Forecaster(id={ids[0]!r}, time={time!r}, target={target}){of}"
    return f"If it is a long one: {reset}{call}."


def naming(arguments: Sequence[str], columns: Sequence[Any]) -> str:
    """The line that names columns of a long frame, where it is plain which they are."""
    plain = len(arguments) == len(columns) == 1
    said = ", ".join(f"{one}={columns[0]!r}" if plain else f"{one}=..." for one in arguments)
    of = "" if plain or not columns else f", of {_listed(columns)}"
    return f"Forecaster({said}) names {'it' if len(arguments) == 1 else 'them'}{of}."


def indexed(time: Any, value: Any, name: str) -> str:
    """The line that makes times of a column the index, of one series or of all."""
    column = "" if value is None else f"[{value!r}]"
    return f"{name}.set_index({time!r}){column}"


def _ids(table: Any, time: Any, others: Sequence[Any]) -> list[Any]:
    """Columns that may be the ids of a long frame, the likeliest first.

    Words beside numbers are; where times occur twice, columns that tell their rows apart.
    """
    words = [label for label in others if table[label].dtype.kind in "OTU"]
    if len(words) == 1 and len(others) == 2:
        return words
    rows = table.dropna(subset=[time])
    if not rows[time].duplicated().any():
        return []
    found = [label for label in others if _tells_apart(rows, label, time)]
    return sorted(found, key=lambda label: rows[label].nunique())


def _tells_apart(rows: Any, label: Any, time: Any) -> bool:
    """Whether a time occurs once beside each value of a column, and most values more than once."""
    if rows[label].dtype.kind == "f":
        return False
    try:
        once = not rows[[label, time]].duplicated().any()
        return bool(once and 2 * rows[label].nunique() <= len(rows))
    except TypeError:  # cells that cannot be compared
        return False


def _listed(columns: Sequence[Any]) -> str:
    return ", ".join(map(repr, columns[:SHOWN]))
