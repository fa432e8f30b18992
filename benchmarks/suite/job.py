"""A job, and what is required of it: known before anything is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from suite.record import Record


@dataclass(frozen=True)
class Requirement:
    """One line of the table: what is compared, with what, and the bound on the ratio."""

    key: str
    what: str
    against: str
    sense: Literal["at least", "at most"]
    bound: float
    unit: str = "times faster"
    accuracy: bool = False

    def holds(self, measured: float) -> bool:
        """Whether a measured value keeps the bound; NaN does not."""
        return measured >= self.bound if self.sense == "at least" else measured <= self.bound


@dataclass(frozen=True)
class Job:
    """``run`` fills a record with a value, or a reason to skip, for each requirement."""

    name: str
    title: str
    run: Callable[[Record], None]
    requirements: tuple[Requirement, ...] = ()


def faster(key: str, what: str, against: str, bound: float) -> Requirement:
    """At least ``bound`` times faster than a peer."""
    return Requirement(key, what, against, "at least", bound)


def within(key: str, what: str, against: str, bound: float, unit: str = "times") -> Requirement:
    """At most ``bound`` of the unit."""
    return Requirement(key, what, against, "at most", bound, unit)


def exact(key: str, what: str, against: str, bound: float, unit: str) -> Requirement:
    """A line of the accuracy table."""
    return Requirement(key, what, against, "at most", bound, unit, accuracy=True)
