"""A benchmark job and its goals, which are fixed before measuring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from common import Goal, number

if TYPE_CHECKING:
    from suite.record import Record


@dataclass(frozen=True, kw_only=True)
class Requirement(Goal):
    """One line of the table: a goal, and what the measured value is compared with.

    ``goal`` is the goal as text, with ``{}`` for the bound.
    """

    key: str
    against: str
    goal: str
    accuracy: bool = False

    @property
    def required(self) -> str:
        """The goal with its bound."""
        return self.goal.format(number(self.bound))

    def text(self, measured: float) -> str:
        """Return a measured value as text, in percent if the goal is."""
        return f"{measured:.1%}" if "%" in self.goal else number(measured)


@dataclass(frozen=True)
class Job:
    """A job; ``run`` records a value, or a reason for skipping, for each requirement."""

    name: str
    title: str
    run: Callable[[Record], None]
    requirements: tuple[Requirement, ...] = ()


def faster(key: str, what: str, against: str, bound: float) -> Requirement:
    """Return a requirement to be at least ``bound`` times faster."""
    goal = "at least {} times faster"
    return Requirement(what, "at least", bound, key=key, against=against, goal=goal)


def within(
    key: str, what: str, against: str, bound: float, goal: str = "at most {} times as long"
) -> Requirement:
    """Return a requirement to be at most ``bound``."""
    return Requirement(what, "at most", bound, key=key, against=against, goal=goal)


def exact(
    key: str,
    what: str,
    against: str,
    bound: float,
    goal: str = "relative difference of at most {}",
) -> Requirement:
    """Return a requirement for the accuracy table."""
    return Requirement(what, "at most", bound, key=key, against=against, goal=goal, accuracy=True)
