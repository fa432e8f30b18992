"""Progress reports for long runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from eigenecho.checks import check_flag
from eigenecho.errors import bad_argument

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


WIDTH = 30
"""Number of characters of a progress bar."""


@contextmanager
def bar(visible: bool) -> Iterator[StageReport | None]:
    """Yield a callable that draws a progress bar, or None if ``visible`` is False."""
    if not visible:
        yield None
        return
    length = 0

    def draw(stage: str, done: int, total: int) -> None:
        nonlocal length
        full = WIDTH * done // max(total, 1)
        text = f"{stage} {'█' * full}{'░' * (WIDTH - full)} {done}/{total}"
        print(f"\r{text.ljust(length)}", end="", file=sys.stderr, flush=True)
        length = len(text)

    try:
        yield draw
    finally:
        if length:
            print(file=sys.stderr)


@contextmanager
def stage_report(progress: Any) -> Iterator[StageReport | None]:
    """Yield a callable for the parameter ``progress``, which is a bool or a callable."""
    if not callable(progress):
        check_flag(progress, "progress")
    with bar(progress is True) as draw:
        yield progress if callable(progress) else draw
