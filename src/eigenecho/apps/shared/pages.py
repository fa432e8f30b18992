"""Pages that a command made: who made them, and how long it took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eigenecho import pages
from eigenecho.apps.shared.durations import human


@dataclass(frozen=True)
class MadeBy:
    """The command that made a page, and how long it ran."""

    command: str
    seconds: float


def environment(made_by: MadeBy, *packages: str) -> Any:
    """Templates of packages and those of all pages.

    They know ``made_by`` and the filter ``human`` for durations, too.
    """
    found = pages.environment(*packages, made_by=made_by)
    found.filters["human"] = human
    return found
