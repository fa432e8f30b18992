"""The record that a job writes: comparisons, times and measured values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from common import WrongAnswer, check, interleaved, ratio
from suite.peers import why_missing


@dataclass(frozen=True)
class Case:
    """A call to be timed.

    ``warm`` replaces the first, untimed call if a complete one takes long. ``times`` is the number
    of calls per round.
    """

    call: Callable[[], object]
    warm: Callable[[], object] | None = None
    times: int = 1


class Record:
    """All results of one job, as plain values.

    Parameters
    ----------
    quick : bool
        Use small sizes, to test that a job runs; goals are not checked.
    say : callable
        Called with one line of progress at a time.
    """

    def __init__(self, quick: bool, say: Callable[[str], None]) -> None:
        self.quick = quick
        self.say = say
        self.groups: list[dict[str, Any]] = []
        self.checks: list[dict[str, Any]] = []
        self.lines: dict[str, dict[str, Any]] = {}
        self.curves: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.busy = 0.0

    def pick(self, full: Any, quick: Any) -> Any:
        """Return the size to use."""
        return quick if self.quick else full

    def note(self, text: str) -> None:
        """Add a note to the page."""
        if text not in self.notes:
            self.notes.append(text)

    def has(self, peer: str) -> bool:
        """Return True if a library is installed, else add a note."""
        reason = why_missing(peer)
        if reason:
            self.note(reason)
        return reason is None

    def same(self, what: str, computed: Any, truth: Any, tolerance: float) -> None:
        """Raise unless two results agree, relative to the size of the second."""
        computed, truth = np.asarray(computed), np.asarray(truth)
        if computed.shape != truth.shape:
            raise WrongAnswer(f"{what}: shapes {computed.shape} and {truth.shape}")
        error = float(np.abs(computed - truth).max() / np.abs(truth).max())
        self.checks.append({"what": what, "error": error, "tolerance": tolerance})
        self.say(f"{what}: equal to {error:.0e}")
        check(what, error, tolerance)

    def time(
        self,
        title: str,
        cases: Mapping[str, Case],
        rounds: int,
        per: int | Mapping[str, int] = 1,
    ) -> dict[str, list[float]]:
        """Return the seconds of each case in each round, divided by ``per``.

        The page shows times relative to the first case.
        """
        for name, case in cases.items():
            self.say(f"{title}: warming {name}")
            (case.warm or case.call)()
        rounds = min(rounds, 3) if self.quick else rounds
        seconds = interleaved(
            {name: case.call for name, case in cases.items()},
            rounds,
            times={name: case.times for name, case in cases.items()},
            say=lambda name: self.say(f"{title}: {name}"),
            note=self._note_load,
        )
        parts = dict.fromkeys(cases, per) if isinstance(per, int) else per
        seconds = {name: [s / parts[name] for s in each] for name, each in seconds.items()}
        self.groups.append({"title": title, "seconds": seconds})
        return seconds

    def _note_load(self, share: float) -> None:
        self.busy = max(self.busy, share)

    def faster(self, key: str, seconds: dict[str, list[float]], slow: str, fast: str) -> None:
        """Record the speedup of ``fast`` over ``slow``, or why ``slow`` was not timed."""
        if slow not in seconds:
            self.skip(key, why_missing(slow) or f"{slow} was not timed")
            return
        rounds = [s / f for s, f in zip(seconds[slow], seconds[fast], strict=True)]
        self.measured(key, ratio(seconds[slow], seconds[fast]), rounds)

    def measured(
        self, key: str, value: float, rounds: list[float] | None = None, remark: str = ""
    ) -> None:
        """Record the value of a requirement, the values of each round, and a remark."""
        self.lines[key] = {"measured": float(value), "rounds": rounds or [], "remark": remark}

    def skip(self, key: str, reason: str) -> None:
        """Record why a requirement has no value."""
        self.lines[key] = {"skipped": reason}

    def curve(self, figure: str, label: str, points: Mapping[int, float]) -> None:
        """Record a curve of seconds, or of a ratio, against a size."""
        xs = sorted(points)
        self.curves.append(
            {"figure": figure, "label": label, "x": xs, "y": [points[x] for x in xs]}
        )

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain values."""
        names = ("quick", "groups", "checks", "lines", "curves", "notes", "busy")
        return {name: getattr(self, name) for name in names}
