"""Pages made by a command, and durations and ratios as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eigenecho import pages


@dataclass(frozen=True)
class CommandRun:
    """The command that made a page, and its running time."""

    command: str
    seconds: float


def environment(made_by: CommandRun, *packages: str) -> Any:
    """Return the templates of packages and of all pages, with ``made_by`` and a filter ``human``.

    The filter formats durations.
    """
    templates = pages.environment(*packages, made_by=made_by)
    templates.filters["human"] = format_duration
    return templates


def format_duration(seconds: float) -> str:
    """Return a duration as text, from nanoseconds to minutes, with three digits at most."""
    if seconds >= 99.5:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest:02d} s"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def format_ratio(ratio: float) -> str:
    """Return a ratio with three digits and without an exponent: 8.05, 2930, 104000."""
    return f"{float(f'{ratio:.3g}'):.12g}"
