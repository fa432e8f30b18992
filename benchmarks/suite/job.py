"""A benchmark job and its goals, which are fixed before measuring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from common import Goal

if TYPE_CHECKING:
    from suite.record import Record


@dataclass(frozen=True, kw_only=True)
class Requirement(Goal):
    """One line of the table: a goal, and what the measured value is compared with."""

    key: str
    against: str
    accuracy: bool = False


@dataclass(frozen=True)
class Job:
    """A job; ``run`` records a value, or a reason for skipping, for each requirement."""

    name: str
    title: str
    run: Callable[[Record], None]
    requirements: tuple[Requirement, ...] = ()


def faster(key: str, what: str, against: str, bound: float) -> Requirement:
    """Return a requirement to be at least ``bound`` times faster."""
    return Requirement(what, "at least", bound, "times faster", key=key, against=against)


def within(key: str, what: str, against: str, bound: float, unit: str = "times") -> Requirement:
    """Return a requirement to be at most ``bound``."""
    return Requirement(what, "at most", bound, unit, key=key, against=against)


def exact(key: str, what: str, against: str, bound: float, unit: str) -> Requirement:
    """Return a requirement for the accuracy table."""
    return Requirement(what, "at most", bound, unit, key=key, against=against, accuracy=True)
