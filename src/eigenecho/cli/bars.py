"""Progress of experiments: live bars in a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from eigenecho.experiments import runner
from eigenecho.experiments.durations import human

QUIET = 10.0
"""Seconds between two lines about one experiment."""


@contextmanager
def progress(
    console: Console, totals: dict[str, int], unit: str = "cell"
) -> Iterator[runner.Progress]:
    """A function that hears of finished cells; ``totals`` says how many each experiment has."""
    if not console.is_terminal:
        yield Lines(console, unit)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    # Cells of one experiment differ in cost: the speed is that of all so far, not of the last few.
    with Progress(*columns, console=console, speed_estimate_period=3600) as bars:
        tasks = {name: bars.add_task(name, total=total) for name, total in totals.items()}
        started: set[str] = set()

        def report(name: str, done: int, total: int) -> None:
            if name in started:
                bars.update(tasks[name], completed=done)
            else:  # what was stored before says nothing about the speed
                started.add(name)
                bars.reset(tasks[name], completed=done, total=total)

        yield report


class Lines:
    """A line when an experiment starts and ends, and now and then in between."""

    def __init__(self, console: Console, unit: str = "cell") -> None:
        self.console = console
        self.unit = unit
        self.stored: dict[str, int] = {}
        self.begun: dict[str, float] = {}
        self.said: dict[str, float] = {}
        self.heard = monotonic()

    def __call__(self, name: str, done: int, total: int) -> None:
        """Hear of ``done`` finished cells of ``total``."""
        before, self.heard = self.heard, monotonic()
        if name not in self.stored:
            self.stored[name] = done
            kept = f", {done} stored already" if done else ""
            self._say(f"{name}: {total} {self.unit}{'s' * (total != 1)}{kept}")
            return
        # Experiments come one after another: this one began when the one before fell silent.
        begun = self.begun.setdefault(name, before)
        if done == total:
            self._say(f"{name}: done")
        elif self.heard - self.said.setdefault(name, begun) >= QUIET:
            self.said[name] = self.heard
            left = (self.heard - begun) / (done - self.stored[name]) * (total - done)
            self._say(f"{name}: {done} of {total}, about {human(round(left))} left")

    def _say(self, line: str) -> None:
        self.console.print(line, soft_wrap=True, highlight=False, markup=False)


def totals(jobs: Sequence[runner.Job]) -> dict[str, int]:
    """How many cells each experiment has."""
    return {job.experiment.name: len(job.experiment.cells(job.config)) for job in jobs}
