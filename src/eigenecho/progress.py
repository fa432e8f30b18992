"""Progress reports for long runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from time import monotonic, perf_counter
from typing import Any

from eigenecho.checks import check_flag
from eigenecho.errors import bad_argument, counted

Report = Callable[[int, int], object]
"""A callable (done, total), where both are numbers of steps."""

StageReport = Callable[[str, int, int], object]
"""A callable (stage, done, total) for runs with several stages."""

INTERVAL = 0.2
"""Approximate time between two reports, in seconds."""

UNIT = 1 << 12
"""Pieces end at multiples of this number of steps, where all kernels end a chunk, so that results
are bit-identical to those of an undivided run."""


class Progress:
    """Progress of runs with ``total`` steps, which are split into pieces.

    ``report(done, total)`` is called after each piece. If it raises an exception, the run ends.
    Without a report, a run is not split.
    """

    def __init__(self, report: Report | None = None, total: int = 0) -> None:
        if report is not None and not callable(report):
            raise bad_argument("progress", report, "a callable (done, total), or None")
        self.report = report
        self.total = total
        self.done = 0

    def pieces(self, steps: int, unit: int = UNIT) -> Iterator[slice]:
        """Yield the rows of each piece of a run. Pieces end at multiples of ``unit``."""
        if self.report is None:
            yield slice(0, steps)
            return
        start, rows = 0, unit
        while start < steps:
            stop = min(start + rows, steps)
            begin = perf_counter()
            yield slice(start, stop)
            units = rows * INTERVAL / max(perf_counter() - begin, 1e-9) / unit
            rows = unit * max(1, int(min(units, 4 * rows // unit)))
            self.done += stop - start
            self.report(self.done, self.total)
            start = stop

    def cut(self, shape: tuple[int, ...]) -> Iterator[tuple[slice, slice]]:
        """Yield the indices of each piece of a drive (T, D) or (series, T, D), and of its states.

        Pieces of several series contain whole series.
        """
        if len(shape) == 2:
            yield from ((rows, slice(None)) for rows in self.pieces(shape[0]))
            return
        T = max(1, shape[1])
        for steps in self.pieces(shape[0] * T, T * -(-UNIT // T)):
            some = slice(steps.start // T, steps.stop // T)
            yield some, some


LINE_SECONDS = 10.0
"""Time between two progress lines of a stage, for output that is not a terminal."""


@contextmanager
def display(
    totals: Mapping[str, int] | None = None, unit: str = "step", console: Any = None
) -> Iterator[Callable[[str, int, int], None]]:
    """Yield a callable (stage, done, total) that displays the progress and the time left.

    With rich, a terminal shows a bar for each stage. Otherwise, lines are printed.

    Parameters
    ----------
    totals : dict, optional
        Numbers of units of stages that are shown before they begin.
    unit : str
        Name of a unit.
    console : rich.console.Console, optional
        Output, by default stderr.
    """
    with suppress(ImportError):
        from rich import progress as rich
        from rich.console import Console

        console = console or Console(stderr=True)
    if console is None or not console.is_terminal:
        yield _lines(console, unit)
        return
    columns = (
        rich.TextColumn("{task.description}"), rich.BarColumn(), rich.MofNCompleteColumn(),
        rich.TimeRemainingColumn(), rich.TextColumn("left"),
    )  # fmt: skip
    # Units differ in cost, so the estimated speed is an average over the whole run.
    with rich.Progress(*columns, console=console, speed_estimate_period=3600) as bars:
        tasks = {name: bars.add_task(name, total=total) for name, total in (totals or {}).items()}
        started: set[str] = set()

        def update(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            if stage in started:
                bars.update(tasks[stage], completed=done)
            else:  # Units of earlier runs do not count in the estimated speed.
                started.add(stage)
                bars.reset(tasks[stage], completed=done, total=total)

        yield update


def _lines(console: Any, unit: str) -> Callable[[str, int, int], None]:
    """Return a function that prints a line when a stage starts or ends, and now and then."""
    began: dict[str, tuple[float, int]] = {}
    printed: dict[str, float] = {}

    def update(stage: str, done: int, total: int) -> None:
        now = monotonic()
        start, stored = began.setdefault(stage, (now, done))
        if stage not in printed:
            text = counted(total, unit) + (f", {done} already stored" if done else "")
        elif done == total:
            text = "done"
        elif now - printed[stage] >= LINE_SECONDS and done > stored:
            left = (now - start) * (total - done) / (done - stored)
            text = f"{done} of {total}, about {left:.0f} s left"
        else:
            return
        printed[stage] = now
        if console is None:
            print(f"{stage}: {text}", file=sys.stderr)
        else:
            console.print(f"{stage}: {text}", soft_wrap=True, highlight=False, markup=False)

    return update


@contextmanager
def stage_report(progress: Any) -> Iterator[StageReport | None]:
    """Yield a callable for the parameter ``progress``, which is a bool or a callable."""
    if not callable(progress):
        check_flag(progress, "progress")
    with display() if progress is True else nullcontext() as shown:
        yield progress if callable(progress) else shown
