"""What the benchmarks share: interleaved timing, a plain table, a line about the machine."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, sleep

SETTLE = 0.2
"""Seconds between cases: BLAS threads keep spinning after a product and would slow the next."""


def interleaved(cases: dict[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Seconds of each case, in rounds that run every case once: a slow moment hits them all."""
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    before, begin = _others(), perf_counter()
    for _ in range(repeats):
        for name, call in cases.items():
            sleep(SETTLE)
            start = perf_counter()
            result = call()
            seconds[name].append(perf_counter() - start)
            del result
    share = (_others() - before) / (perf_counter() - begin)
    if share > 0.1:
        print(f"note: other processes kept {share:.1f} cores busy meanwhile; run again when idle")
    return seconds


def _others() -> float:
    """CPU seconds that other processes have used since boot, where Linux tells."""
    try:
        user, nice, system = Path("/proc/stat").read_text().split()[1:4]
    except OSError:
        return 0.0
    own = sum(os.times()[:4])
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK") - own


def ratio(slow: Sequence[float], fast: Sequence[float]) -> float:
    """The median over rounds of slow / fast."""
    return statistics.median(s / f for s, f in zip(slow, fast, strict=True))


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
