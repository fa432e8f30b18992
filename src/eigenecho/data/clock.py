"""Regular times: their step in words, how they go on, and the cycles of the calendar."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenecho.data.steps import backward, is_date, is_period, mean_length, onward
from eigenecho.types import Array

UNEVEN = {
    "B": "1 business day", "MS": "1 month", "ME": "1 month", "QS": "1 quarter",
    "QE": "1 quarter", "YS": "1 year", "YE": "1 year", "BMS": "1 month", "BME": "1 month",
    "BQS": "1 quarter", "BQE": "1 quarter", "BYS": "1 year", "BYE": "1 year",
}  # fmt: skip
"""Steps that are not a fixed length of time, in words."""

DAY = 86400.0
UNITS = {"week": 7 * DAY, "day": DAY, "hour": 3600.0, "minute": 60.0, "second": 1.0}
CYCLES = {  # calendar cycles in seconds, and the longest step at which each still shows
    "day": (DAY, DAY / 4),
    "week": (7 * DAY, 1.5 * DAY),
    "year": (365.2425 * DAY, 100 * DAY),
}


@dataclass(frozen=True, eq=False)
class Clock:
    """Regular times of a series.

    Attributes
    ----------
    name : str
        The column, or "row" where there is none.
    times : DatetimeIndex, PeriodIndex or array of numbers (T,)
        A step apart. The last one is enough to go on from.
    step : pandas offset, or number
        Of periods, the number of them.
    """

    name: str
    times: Any
    step: Any

    @property
    def is_dates(self) -> bool:
        """Whether times are dates, rather than numbers or periods."""
        return is_date(self.times)

    def ahead(self, steps: int) -> Any:
        """The times that follow."""
        return onward(self.times[-1:], self.step, steps)

    def then(self, times: Any) -> Clock:
        """The clock that went on to further times."""
        if isinstance(self.times, np.ndarray):
            return replace(self, times=np.concatenate([self.times, times]))
        return replace(self, times=self.times.append(times))

    def last(self, rows: int) -> Any:
        """The last times, of as many rows; those that are not kept are counted back to."""
        missing = rows - len(self.times)
        if missing <= 0:
            return self.times[-rows:]
        before = backward(self.times[:1], self.step, missing)
        if isinstance(self.times, np.ndarray):
            return np.concatenate([before, self.times])
        return before.append(self.times)

    def text(self, times: Any) -> list[str]:
        """Times as a table shows them: days without hours where none has any."""
        if is_period(times):
            return [str(time) for time in times]
        if not self.is_dates:
            return [f"{time:.15g}" for time in times]
        detail = _detail(_local(self.times))
        # Not by Python's own dates, which end with the year 9999.
        found = np.datetime_as_string(_local(times).values, unit=detail)
        whole = [str(text).replace("T", " ") for text in found]
        if detail == "D" or times.tz is None:
            return whole
        return [text + time.isoformat()[-6:] for text, time in zip(whole, times, strict=True)]

    @property
    def words(self) -> str:
        """The step in words."""
        if is_period(self.times):
            return f"{self.step} of the periods {self.times.freqstr!r}"
        if not self.is_dates:
            return f"{self.step:g}"
        name = getattr(self.step, "freqstr", "").split("-")[0]
        if name in UNEVEN:
            return UNEVEN[name]
        if name.endswith("B") and name[:-1].isdigit():
            return f"{name[:-1]} business days"
        if hasattr(self.step, "months"):
            return f"{self.step.months} month{'s' * (self.step.months > 1)}"
        seconds = self.seconds
        for unit, size in UNITS.items():
            if seconds >= size and seconds % size == 0:
                count = int(seconds // size)
                return f"{count} {unit}{'s' * (count > 1)}"
        return f"{seconds:g} seconds"

    @property
    def seconds(self) -> float:
        """The mean length of a step."""
        if is_period(self.times):
            unit = self.times.freq
            return mean_length(unit) * self.step / unit.n
        return mean_length(self.step)

    @property
    def cycles(self) -> tuple[float, ...]:
        """Day, week and year in steps, those that a step is short enough to show."""
        if isinstance(self.times, np.ndarray):
            return ()
        step = self.seconds
        found = [cycle / step for cycle, longest in CYCLES.values() if step <= longest]
        # Months do not divide the mean year quite evenly, but every year.
        return tuple(round(p) if abs(p - round(p)) < 1e-3 else p for p in found)


def _local(times: Any) -> Any:
    """Dates as clocks on the wall show them."""
    return times if times.tz is None else times.tz_localize(None)


def _detail(times: Any) -> Any:
    """The coarsest unit that tells dates in full: days, minutes, seconds or parts of them."""
    for unit, name in {"D": "D", "min": "m", "s": "s", "ms": "ms", "us": "us"}.items():
        if (times == times.floor(unit)).all():
            return name
    return "ns"


def same_pace(one: Clock, other: Clock) -> bool:
    """Whether steps are equally long: quarters from January and from February are."""
    if isinstance(one.times, np.ndarray):
        return bool(np.isclose(one.step, other.step, rtol=1e-6, atol=0))
    return bool(np.isclose(one.seconds, other.seconds, rtol=1e-6))


def rows_of(clock: Clock, times: Any) -> Array:
    """The rows that times stand in, −1 where there is none."""
    if isinstance(clock.times, np.ndarray):
        found = np.searchsorted(clock.times, times)
        inside = np.minimum(found, len(clock.times) - 1)
        return np.where(clock.times[inside] == times, inside, -1)
    return np.asarray(clock.times.get_indexer(times))
