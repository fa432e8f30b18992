"""What the benchmarks share: interleaved timing, memory, tables, parts of pages, the machine."""

from __future__ import annotations

import os
import platform
import re
import resource
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, sleep

SETTLE = 0.2
"""Seconds between cases: BLAS threads keep spinning after a product and would slow the next."""

BUSY = 0.1
"""Cores kept busy by other processes from which a measurement says so."""

MIB = 1 << 20


def interleaved(
    cases: Mapping[str, Callable[[], object]],
    repeats: int,
    *,
    times: Mapping[str, int] | None = None,
    say: Callable[[str], None] | None = None,
    note: Callable[[float], None] | None = None,
) -> dict[str, list[float]]:
    """Seconds of each case, in rounds that run every case: a slow moment hits them all.

    A case runs once a round, or as often as ``times`` says; the median of those is its time.
    ``say`` hears what comes next, well before it starts, and ``note`` how many cores other
    processes kept busy; by default that is printed where it is many.
    """
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    with Others() as others:
        for _ in range(repeats):
            for name, call in cases.items():
                if say is not None:
                    say(name)
                sleep(SETTLE)
                each = [_seconds(call) for _ in range((times or {}).get(name, 1))]
                seconds[name].append(statistics.median(each))
    (note or _print_busy)(others.share)
    return seconds


def _seconds(call: Callable[[], object]) -> float:
    start = perf_counter()
    result = call()
    end = perf_counter()
    del result  # freeing what a case returns is not part of its time
    return end - start


class Others:
    """Within a ``with``: how many cores other processes keep busy, where Linux tells."""

    share = 0.0

    def __enter__(self) -> Others:
        self._before, self._begin = self._seconds(), perf_counter()
        return self

    def __exit__(self, *exception: object) -> None:
        self.share = (self._seconds() - self._before) / (perf_counter() - self._begin)

    @staticmethod
    def _seconds() -> float:
        try:
            user, nice, system = Path("/proc/stat").read_text().split()[1:4]
        except OSError:
            return 0.0
        own = sum(os.times()[:4])
        return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK") - own


def _print_busy(share: float) -> None:
    if share > BUSY:
        print(f"note: other processes kept {share:.1f} cores busy meanwhile; run again when idle")


def ratio(slow: Sequence[float], fast: Sequence[float]) -> float:
    """The median over rounds of slow / fast."""
    return statistics.median(s / f for s, f in zip(slow, fast, strict=True))


def peak_memory() -> float:
    """The most memory this process ever held, in MiB."""
    high = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return high / MIB if sys.platform == "darwin" else high / 1024


def memory_in_use() -> float:
    """Memory held now, in MiB; never above the peak, which may lie in the past."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return peak_memory()
    return pages * resource.getpagesize() / MIB


def table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print columns, the first to the left and the others to the right; floats in 3 digits."""
    cells = [list(headers)] + [[_cell(value) for value in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headers))]
    cells.insert(1, ["-" * width for width in widths])
    for row in cells:
        first, *others = (cell.ljust(w) if i == 0 else cell.rjust(w)
                          for i, (cell, w) in enumerate(zip(row, widths, strict=True)))  # fmt: skip
        print("  ".join([first, *others]).rstrip(), flush=True)
    print()


def _cell(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def machine(*packages: str) -> str:
    """The machine, and the versions of what is measured."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    python = f"Python {platform.python_version()}"
    return f"{platform.machine()}, {os.cpu_count()} cores, {python}, {versions}"


def verdict(claim: str, holds: bool) -> int:
    """Say whether a claim holds in this run; the exit code."""
    print(f"{'holds' if holds else 'DOES NOT HOLD'} in this run: {claim}")
    return 0 if holds else 1


def written(text: str, name: str, lines: list[str]) -> str:
    """The page with the lines of a part between its marks."""
    marks = f"<!-- {name} -->", f"<!-- end of {name} -->"
    pattern = re.escape(marks[0]) + ".*?" + re.escape(marks[1])
    block = "\n".join([marks[0], *lines, marks[1]])
    return re.sub(pattern, lambda _: block, text, flags=re.DOTALL)
