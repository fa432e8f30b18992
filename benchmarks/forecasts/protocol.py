"""Forecast origins, training rows and errors.

Nothing depends on the values: origins follow from the number of rows, and seasons and horizons from
the frequency. Rows after an origin are used only for scoring.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forecasts.frequencies import FREQUENCIES, season_of

ORIGINS = 6
HELD_OUT = 0.4
"""Fraction of the rows, at the end, that contains the origins."""
TRAINING_ROWS = 3000
"""Largest number of rows before an origin that methods are fitted on."""


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
        """Forecast horizon in rows."""
        return FREQUENCIES[self.frequency].horizon

    @property
    def origins(self) -> list[int]:
        """Number of rows before each forecast: up to six, evenly spaced."""
        return origins(len(self.values), self.horizon)

    @property
    def season(self) -> int:
        """Season in rows, the same at every origin."""
        return season_of(self.frequency, min(self.origins[0], TRAINING_ROWS))

    def training(self, origin: int) -> np.ndarray:
        """Return the training rows, with gaps filled by the previous value."""
        return fill_gaps(self.values[:origin])[-TRAINING_ROWS:]

    def truth(self, origin: int) -> np.ndarray:
        """Return the rows to be forecast; NaN is a missing observation."""
        return self.values[origin : origin + self.horizon]


def origins(rows: int, horizon: int) -> list[int]:
    """Return up to six origins, evenly spaced from 60% of ``rows`` to ``rows − horizon``."""
    last = rows - horizon
    first = min(int(np.ceil((1 - HELD_OUT) * rows)), last)
    return sorted({round(origin) for origin in np.linspace(first, last, ORIGINS)})


def fill_gaps(values: np.ndarray) -> np.ndarray:
    """Fill missing values with the previous one, and drop those at the start."""
    observed = np.isfinite(values)
    if not observed.any():
        raise ValueError("values: nothing was observed before the origin; leave this series out")
    start = int(np.argmax(observed))
    latest = np.maximum.accumulate(np.where(observed, np.arange(len(values)), 0))
    return values[latest[start:]]


def scale(training: np.ndarray, season: int) -> float:
    """Return the scale of MASE: mean |y(t) − y(t − season)| over the training rows."""
    return float(np.abs(training[season:] - training[:-season]).mean())


def absolute_error(truth: np.ndarray, forecast: np.ndarray) -> float:
    """Return the mean absolute error over the observed rows."""
    return float(np.nanmean(np.abs(truth - forecast)))
