"""Progress of named parts of a job: live bars in a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from eigenecho.apps.shared.durations import human
from eigenecho.apps.shared.terminal import say

if TYPE_CHECKING:
    from rich.console import Console

QUIET = 10.0
"""Seconds between two lines about one part."""

OnProgress = Callable[[str, int, int], None]
"""Called with the name of a part, how much of it is done, and of how much."""


@contextmanager
def progress(console: Console, totals: dict[str, int], unit: str = "cell") -> Iterator[OnProgress]:
    """A function that hears of what is done; ``totals`` says how much each part has."""
    if not console.is_terminal:
        yield Lines(console, unit)
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    what = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    left = (TimeRemainingColumn(), TextColumn("left"))
    # Units of one part differ in cost: the speed is that of all so far, not of the last few.
    with Progress(*what, *left, console=console, speed_estimate_period=3600) as bars:
        tasks = {name: bars.add_task(name, total=total) for name, total in totals.items()}
        started: set[str] = set()

        def hear(name: str, done: int, total: int) -> None:
            if name in started:
                bars.update(tasks[name], completed=done)
            else:  # what was stored before says nothing about the speed
                started.add(name)
                bars.reset(tasks[name], completed=done, total=total)

        yield hear


class Lines:
    """A line when a part starts and ends, and now and then in between."""

    def __init__(self, console: Console, unit: str = "cell") -> None:
        self.console = console
        self.unit = unit
        self.stored: dict[str, int] = {}
        self.begun: dict[str, float] = {}
        self.said: dict[str, float] = {}
        self.heard = monotonic()

    def __call__(self, name: str, done: int, total: int) -> None:
        """Hear of ``done`` of ``total``."""
        before, self.heard = self.heard, monotonic()
        if name not in self.stored:
            self.stored[name] = done
            kept = f", {done} stored already" if done else ""
            say(self.console, f"{name}: {total} {self.unit}{'s' * (total != 1)}{kept}")
            return
        # Parts come one after another: this one began when the one before fell silent.
        begun = self.begun.setdefault(name, before)
        if done == total:
            say(self.console, f"{name}: done")
        elif self.heard - self.said.setdefault(name, begun) >= QUIET:
            self.said[name] = self.heard
            left = (self.heard - begun) / (done - self.stored[name]) * (total - done)
            say(self.console, f"{name}: {done} of {total}, about {human(round(left))} left")
