"""Helpers of the benchmarks: interleaved timing, memory, tables, goals and verdicts."""

from __future__ import annotations

import os
import platform
import re
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, sleep
from typing import Literal

SETTLE = 0.2
"""Seconds between cases, because BLAS threads keep spinning and would slow the next one."""

BUSY = 0.1
"""Load of other processes, in cores, above which a measurement prints a warning."""

MIB = 1 << 20


def interleaved(
    cases: Mapping[str, Callable[[], object]],
    repeats: int,
    *,
    times: Mapping[str, int] | None = None,
    say: Callable[[str], None] | None = None,
    note: Callable[[float], None] | None = None,
) -> dict[str, list[float]]:
    """Time all cases in rounds and return the seconds of each case in each round.

    Each round runs every case, so that a slow phase of the machine affects all of them. A case runs
    once per round, or ``times[name]`` times, of which the median counts. ``say`` is called with the
    name of the next case before it starts. ``note`` is called with the load of other processes in
    cores; by default a high load is printed.
    """
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    with OtherLoad() as others:
        for _ in range(repeats):
            for name, call in cases.items():
                if say is not None:
                    say(name)
                sleep(SETTLE)
                durations = [_seconds(call) for _ in range((times or {}).get(name, 1))]
                seconds[name].append(statistics.median(durations))
    (note or _print_busy)(others.share)
    return seconds


def _seconds(call: Callable[[], object]) -> float:
    start = perf_counter()
    result = call()
    end = perf_counter()
    del result  # freeing the result is not timed
    return end - start


class OtherLoad:
    """Context manager that measures the load of other processes, in cores, on Linux."""

    share = 0.0

    def __enter__(self) -> OtherLoad:
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
        print(f"warning: other processes used {share:.1f} cores; run again on an idle machine")


def ratio(slow: Sequence[float], fast: Sequence[float]) -> float:
    """Return the median over rounds of slow / fast."""
    return statistics.median(s / f for s, f in zip(slow, fast, strict=True))


def peak_memory() -> float:
    """Return the peak memory of this process in MiB."""
    high = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return high / MIB if sys.platform == "darwin" else high / 1024


def memory_in_use() -> float:
    """Return the memory currently used by this process in MiB."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return peak_memory()
    return pages * resource.getpagesize() / MIB


def table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; the first column is left-aligned, and floats have three digits."""
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
    """Return a description of the machine and the versions of packages."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    python = f"Python {platform.python_version()}"
    return f"{platform.machine()}, {os.cpu_count()} cores, {python}, {versions}"


def number(value: float) -> str:
    """Format a number with three digits, and small ones with two."""
    if abs(value) < 1e-2:
        return f"{value:.2g}"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


# Results and goals: a wrong result is an error, a missed goal is reported -------------------------


class WrongAnswer(Exception):
    """Raised if a result is wrong; the script then exits with an error."""


def check(what: str, error: float, tolerance: float) -> None:
    """Raise WrongAnswer if the error is above the tolerance or NaN."""
    if not error <= tolerance:
        raise WrongAnswer(f"{what}: differs by {number(error)}, more than {number(tolerance)}")


@dataclass(frozen=True)
class Goal:
    """A goal for a measured value. Missing it is not an error."""

    what: str
    sense: Literal["at least", "at most"]
    bound: float
    unit: str = "times"

    def holds(self, measured: float) -> bool:
        """Return True if a measured value meets the goal; NaN does not."""
        return measured >= self.bound if self.sense == "at least" else measured <= self.bound

    def report(self, measured: float) -> str:
        """Return the measured value and the goal as text."""
        value = f"{number(measured)} {self.unit}".rstrip()
        bound = f"{self.sense} {number(self.bound)}" if self.bound else "0"
        return f"{self.what}: {value} (goal: {bound})"


def at_least(what: str, bound: float, unit: str = "times") -> Goal:
    """Return a goal for a value that should be large."""
    return Goal(what, "at least", bound, unit)


def at_most(what: str, bound: float, unit: str = "times") -> Goal:
    """Return a goal for a value that should be small."""
    return Goal(what, "at most", bound, unit)


VERDICTS = {True: "holds in this run: ", False: "MISSED in this run: "}


def verdict(measured: Mapping[Goal, float]) -> int:
    """Print all goals with the measured values as the last line. Return exit code 0."""
    holds = all(goal.holds(value) for goal, value in measured.items())
    print(VERDICTS[holds] + "; ".join(goal.report(value) for goal, value in measured.items()))
    return 0


def read_verdict(line: str) -> tuple[bool, str] | None:
    """Parse a line printed by ``verdict``: whether all goals are met, and the values."""
    for holds, start in VERDICTS.items():
        if line.startswith(start):
            return holds, line.removeprefix(start)
    return None


def output_of(command: Sequence[str], **environment: str) -> str:
    """Return the output of a command; exit with its error output if it fails."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | environment
    )
    if done.returncode:
        sys.exit(
            f"{' '.join(command)}\n{done.stderr}\nThe process exited with code {done.returncode}."
        )
    return done.stdout


def replace_part(text: str, name: str, lines: list[str]) -> str:
    """Return the page with the lines between the marks of a part replaced."""
    marks = f"<!-- {name} -->", f"<!-- end of {name} -->"
    pattern = re.escape(marks[0]) + ".*?" + re.escape(marks[1])
    block = "\n".join([marks[0], *lines, marks[1]])
    return re.sub(pattern, lambda _: block, text, flags=re.DOTALL)
