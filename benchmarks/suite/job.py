"""A job, and what is required of it: known before anything is measured."""

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
    """``run`` fills a record with a value, or a reason to skip, for each requirement."""

    name: str
    title: str
    run: Callable[[Record], None]
    requirements: tuple[Requirement, ...] = ()


def faster(key: str, what: str, against: str, bound: float) -> Requirement:
    """At least ``bound`` times faster than a peer."""
    return Requirement(what, "at least", bound, "times faster", key=key, against=against)


def within(key: str, what: str, against: str, bound: float, unit: str = "times") -> Requirement:
    """At most ``bound`` of the unit."""
    return Requirement(what, "at most", bound, unit, key=key, against=against)


def exact(key: str, what: str, against: str, bound: float, unit: str) -> Requirement:
    """A line of the accuracy table."""
    return Requirement(what, "at most", bound, unit, key=key, against=against, accuracy=True)
