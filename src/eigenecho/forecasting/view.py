"""What filters are shown of a series: its values or their logarithms, columns beside it or not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenecho.forecasting.filter import Filter, Filtered
from eigenecho.forecasting.signal import Signal
from eigenecho.types import Array

LARGEST = 700.0
"""Logarithms beyond which there is no number."""


@dataclass(frozen=True, eq=False)
class View:
    """A filter, and what it sees.

    Parameters
    ----------
    name : str
        Of its spectrum, for reports.
    filter : Filter
    logarithm : bool
        A value that has no logarithm is taken to be the last one that has.
    effect : array (F,), optional
        Weights of what is known ahead: what it does to a row is taken off before the filter, and
        put back on forecasts of that row.
    side : Filter, optional
        That columns known up to the present go through; their rows stand beside the series' own.
    """

    name: str
    filter: Filter
    logarithm: bool = False
    effect: Array | None = None
    side: Filter | None = None

    def shift(self, signal: Signal) -> Array:
        """What is known to move each row, (T + ahead,)."""
        if self.effect is None:
            return np.zeros(len(signal))
        moved = signal.known @ self.effect
        return moved if self.logarithm else moved * signal.unit

    def seen(self, values: Array) -> Array:
        """Values or their logarithms, (T,)."""
        if not self.logarithm:
            return values
        has = values > 0
        last = np.maximum.accumulate(np.where(has, np.arange(len(values)), 0))
        return np.log(np.where(has[last], values[last], 1.0))

    def undone(self, forecasts: Array) -> Array:
        """Forecasts of the values; infinite where they leave the range of numbers."""
        if not self.logarithm:
            return forecasts
        with np.errstate(over="ignore", invalid="ignore"):
            return np.exp(np.where(forecasts > LARGEST, np.inf, forecasts))

    def run(self, z: Array, past: Array) -> Filtered:
        """What a series (T,) and the columns beside it (T, P) leave behind, row by row."""
        level, rows = self.filter.run(z)
        if self.side is None:
            return Filtered(level, rows)
        beside = [self.side.run(column).rows[:, 1:] for column in past.T]
        return Filtered(level, np.concatenate([rows, *beside], axis=1))
