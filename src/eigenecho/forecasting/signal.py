"""One series as filters take it: without gaps, and which of its rows were observed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class Signal:
    """Values (T,) without gaps, from the first observation on, and which were observed.

    ``start`` rows of the caller's come before the first observation.
    """

    values: Array
    observed: Array
    start: int = 0

    @property
    def truth(self) -> Array:
        """Values, NaN where nothing was observed: nothing is learnt or measured there."""
        return np.where(self.observed, self.values, np.nan)

    def __len__(self) -> int:
        return len(self.values)

    def until(self, stop: int) -> Signal:
        """The first ``stop`` rows."""
        return Signal(self.values[:stop], self.observed[:stop], self.start)


def bridged(values: Array, season: int = 1) -> Signal:
    """A series (T,) with NaN where nothing was observed; no gap is bridged by a later row.

    A missing row is taken to be as the row a season before; the last value where there is none.
    """
    observed = ~np.isnan(values)
    start = int(np.argmax(observed)) if observed.any() else len(values)
    filled, observed = values[start:].copy(), observed[start:]
    for t in np.flatnonzero(~observed):
        filled[t] = filled[t - season] if t >= season else filled[t - 1]
    return Signal(filled, observed, start)
