"""Where forecasts start, what they are made from and how they are scored.

Nothing here looks at values: origins follow from the number of rows, seasons and horizons from
the frequency. Rows from an origin on are seen by the score alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forecasts.frequencies import FREQUENCIES, season_of

ORIGINS = 6
HELD_OUT = 0.4
"""Origins lie in this last part of the rows."""
TRAINING_ROWS = 3000
"""At most so many rows before an origin are seen, by every method."""


@dataclass(frozen=True)
class Series:
    """One series to forecast; NaN is a missing observation.

    values   (T,)
    """

    name: str
    values: np.ndarray
    frequency: str

    @property
    def horizon(self) -> int:
        """Rows ahead."""
        return FREQUENCIES[self.frequency].horizon

    @property
    def origins(self) -> list[int]:
        """How many rows are before each forecast: up to six numbers, evenly spread."""
        return origins(len(self.values), self.horizon)

    @property
    def season(self) -> int:
        """Rows a season, the same at every origin."""
        return season_of(self.frequency, min(self.origins[0], TRAINING_ROWS))

    def training(self, origin: int) -> np.ndarray:
        """The rows that a method sees, gaps filled by the value before them."""
        return filled(self.values[:origin])[-TRAINING_ROWS:]

    def truth(self, origin: int) -> np.ndarray:
        """The rows that are forecast, NaN where nothing was observed."""
        return self.values[origin : origin + self.horizon]


def origins(rows: int, horizon: int) -> list[int]:
    """Up to six numbers of rows, evenly from 60 % of ``rows`` to ``rows − horizon``."""
    last = rows - horizon
    first = min(int(np.ceil((1 - HELD_OUT) * rows)), last)
    return sorted({round(origin) for origin in np.linspace(first, last, ORIGINS)})


def filled(values: np.ndarray) -> np.ndarray:
    """Missing values replaced by the last one before them; those at the start are cut off.

    No row learns of a later one.
    """
    observed = np.isfinite(values)
    if not observed.any():
        raise ValueError("values: nothing was observed before the origin; leave this series out")
    start = int(np.argmax(observed))
    latest = np.maximum.accumulate(np.where(observed, np.arange(len(values)), 0))
    return values[latest[start:]]


def scale(training: np.ndarray, season: int) -> float:
    """Mean |y(t) − y(t − season)| over the rows before an origin: what MASE divides by."""
    return float(np.abs(training[season:] - training[:-season]).mean())


def absolute_error(truth: np.ndarray, forecast: np.ndarray) -> float:
    """Mean absolute error over the rows that were observed."""
    return float(np.nanmean(np.abs(truth - forecast)))
