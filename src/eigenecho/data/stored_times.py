"""Clocks in files: the last time of each series, and a step to go on by."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.data.clock import Clock
from eigenecho.data.steps import is_date, is_period
from eigenecho.errors import Shown, bad_argument
from eigenecho.types import Array

MONTHS = "months "
"""In front of a number of months, the same day of each."""
YEARS = (1, 9000)
"""Between which a file's dates are, so that there is room to go on."""


@dataclass(frozen=True, eq=False)
class Times:
    """The last time of each series as a number, how to read it, and a step to go on by.

    ``unit`` is that of dates, or the frequency of periods; ``steps`` is one for all, or one each.
    """

    kind: str
    last: Array
    unit: str | None
    zone: str | None
    steps: tuple[Hashable, ...]

    @classmethod
    def of(cls, clocks: Sequence[Clock]) -> Times:
        """Return those of clocks, if these can be read back."""
        times = clocks[0].times
        words = tuple(_to_word(clock.step) for clock in clocks)
        sample = dict(zip(words, clocks, strict=True))
        words = words[:1] if len(sample) == 1 else words
        if isinstance(times, np.ndarray):
            last = np.array([clock.times[-1] for clock in clocks], times.dtype)
            return cls("numbers", last, None, None, words)
        last = np.array([clock.times.asi8[-1] for clock in clocks])
        if is_period(times):
            return cls("periods", last, times.freqstr, None, words)
        zone = None if times.tz is None else str(times.tz)
        try:
            some = np.array([clock.times.asi8[-1] for clock in sample.values()])
            again = cls("dates", some, times.unit, zone, tuple(sample)).restored()
            same = all(map(_is_same, again, sample.values()))
        except (ArithmeticError, LookupError, OSError, TypeError, ValueError):
            same = False
        if not same:
            raise bad_argument(
                "y", Shown(f"times in steps of {words[0]!r}, zone {zone!r}"),
                "steps that a file can hold, and a time zone with a name",
                "Give the index a freq that pandas reads by its name, or tz_convert it.",
            )  # fmt: skip
        return cls("dates", last, times.unit, zone, words)

    def restored(self) -> tuple[Clock, ...]:
        """Return clocks that have run, whatever a file says, a step ahead."""
        last, words = self.last, self.steps
        if last.ndim != 1 or not len(last) or last.dtype not in (np.int64, np.float64):
            got = Shown(f"{last.dtype} {last.shape}")
            raise bad_argument("last", got, "a time for each series")
        times = self._times()
        if len(words) not in (1, len(last)):
            raise bad_argument("steps", words, "a step for each series")
        steps = {word: _from_word(word, times) for word in dict.fromkeys(words)}
        clocks = tuple(
            Clock("", times[i : i + 1], steps[words[i % len(words)]]) for i in range(len(last))
        )
        for clock in clocks:
            after = clock.ahead(2)
            if len(after) != 2 or not clock.times[0] < after[0] < after[1]:
                raise bad_argument("steps", clock.step, "a step ahead")
        _ = clocks[0].cycles, clocks[0].words
        return clocks

    def _times(self) -> Any:
        last, kind, unit, zone = self.last, self.kind, self.unit, self.zone
        if kind == "numbers" and unit is None and zone is None:
            return last
        import pandas

        if last.dtype != np.int64 or unit is None or kind not in ("dates", "periods"):
            raise bad_argument("kind", kind, "dates, periods or numbers")
        if kind == "periods":
            times = pandas.PeriodIndex.from_ordinals(last, freq=unit)
        elif unit in ("s", "ms", "us", "ns"):
            times = pandas.DatetimeIndex(last.view(f"M8[{unit}]"))
        else:
            raise bad_argument("unit", unit, "s, ms, us or ns")
        if times.isna().any() or not ((times.year >= YEARS[0]) & (times.year <= YEARS[1])).all():
            raise bad_argument("last", Shown("times out of range"), "dates of our calendar")
        return times if zone is None else times.tz_localize("UTC").tz_convert(zone)


def _to_word(step: Any) -> Any:
    """Return a step as a number or as text that says the same."""
    months = getattr(step, "kwds", {}).get("months")
    if months is not None and type(step).__name__ == "DateOffset":
        return f"{MONTHS}{months}"
    if hasattr(step, "freqstr"):
        return step.freqstr
    return step.item() if isinstance(step, np.generic) else step


def _from_word(word: Any, times: Any) -> Any:
    if not is_date(times):
        is_number = type(word) in (int, float) and 0 < word < 2**53
        if not is_number or (type(word) is float and times.dtype != np.float64):
            raise bad_argument("steps", word, "a number above 0")
        return word
    import pandas

    if not isinstance(word, str):
        raise bad_argument("steps", word, "an offset by its name")
    if word.startswith(MONTHS):
        return pandas.DateOffset(months=int(word.removeprefix(MONTHS)))
    return pandas.tseries.frequencies.to_offset(word)


def _is_same(one: Clock, other: Clock) -> bool:
    """Return whether clocks go on alike, on the wall."""
    times = [clock.times[-1:].tz_localize(None) for clock in (one, other)]
    return bool(one.step == other.step and (times[0] == times[1]).all())
