"""Regular times: their step in words, how they go on, and the cycles of the calendar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.apps.tables.table import need_pandas

UNEVEN = {
    "B": "1 business day", "MS": "1 month", "ME": "1 month", "QS": "1 quarter",
    "QE": "1 quarter", "YS": "1 year", "YE": "1 year",
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
    times : DatetimeIndex or array (T,)
    step : pandas offset or number
    """

    name: str
    times: Any
    step: Any

    @property
    def is_dates(self) -> bool:
        """Whether times are dates, rather than numbers."""
        return self.times.dtype.kind == "M"

    def ahead(self, steps: int) -> Any:
        """The times that follow."""
        if self.is_dates:
            pandas = need_pandas()
            return pandas.date_range(self.times[-1], periods=steps + 1, freq=self.step)[1:]
        return self.times[-1] + self.step * np.arange(1, steps + 1)

    def text(self, times: Any) -> list[str]:
        """Times as a table shows them: days without hours where none has any."""
        if not self.is_dates:
            return [f"{time:.15g}" for time in times]
        if (self.times == self.times.normalize()).all():
            return [time.strftime("%Y-%m-%d") for time in times]
        detail = "milliseconds" if (self.times.microsecond != 0).any() else "seconds"
        if (self.times == self.times.floor("min")).all():
            detail = "minutes"
        return [time.isoformat(" ", timespec=detail) for time in times]

    @property
    def words(self) -> str:
        """The step in words."""
        if not self.is_dates:
            return f"{self.step:g}"
        name = getattr(self.step, "freqstr", "").split("-")[0]
        if name in UNEVEN:
            return UNEVEN[name]
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
        start = need_pandas().Timestamp("2001-01-01") + self.step
        # 480 steps are whole years of months, and whole weeks of business days.
        return (start + 480 * self.step - start).total_seconds() / 480

    @property
    def cycles(self) -> tuple[float, ...]:
        """Day, week and year in steps, those that a step is short enough to show."""
        if not self.is_dates:
            return ()
        step = self.seconds
        found = [cycle / step for cycle, longest in CYCLES.values() if step <= longest]
        # Months do not divide the mean year quite evenly, but every year.
        return tuple(round(p) if abs(p - round(p)) < 1e-3 else p for p in found)
