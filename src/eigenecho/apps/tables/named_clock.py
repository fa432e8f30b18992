"""Clocks with the name of their column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.data.clock import Clock, is_date, texts


@dataclass(frozen=True, eq=False)
class NamedClock(Clock):
    """Regular times of a column; ``name`` is "row" if there is none."""

    name: str = ""

    @property
    def is_dates(self) -> bool:
        """Return True if times are dates."""
        return is_date(self.times)

    def text(self, times: Any) -> list[str]:
        """Return times as text, as precise as the times of the clock."""
        if not self.is_dates:
            return texts(times)
        local = times if times.tz is None else times.tz_localize(None)
        own = self.times if self.times.tz is None else self.times.tz_localize(None)
        units: dict[str, Any] = {"D": "D", "min": "m", "s": "s", "ms": "ms", "us": "us", "ns": "ns"}
        detail = next(code for unit, code in units.items() if (own == own.floor(unit)).all())
        whole = [t.replace("T", " ") for t in np.datetime_as_string(local.values, unit=detail)]
        if detail == "D" or times.tz is None:
            return whole
        return [text + time.isoformat()[-6:] for text, time in zip(whole, times, strict=True)]
