"""What filters are shown of a series: its values or their logarithms, columns beside it or not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenecho.forecasting.filter import Filter, Filtered
from eigenecho.forecasting.signal import RemovedEffects, Signal, seen
from eigenecho.forecasting.trail import Trail
from eigenecho.types import Array

PLAIN = RemovedEffects(False)

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
    moved : RemovedEffects
        Whether it sees logarithms; and what is known to move rows, by columns or the calendar,
        which is taken off before the filter, and put back on forecasts of the same row.
    side : Filter, optional
        That columns known up to the present go through; their rows stand beside the series' own.
    alone : bool
        Train each series on its own rows only. The columns beside it are then the other series, and
        a column that leads one series need not lead another.
    """

    name: str
    filter: Filter
    moved: RemovedEffects = PLAIN
    side: Filter | None = None
    alone: bool = False

    @property
    def logarithm(self) -> bool:
        """Whether it sees logarithms."""
        return self.moved.logarithm

    @property
    def is_moved(self) -> bool:
        """Whether something is taken off."""
        return self.moved.known or self.moved.calendar

    def seen(self, signal: Signal) -> Array:
        """Values (T,) or their logarithms, before anything is taken off."""
        return seen(signal, True) if self.logarithm else signal.values

    def undone(self, forecasts: Array) -> Array:
        """Forecasts of the values; infinite where they leave the range of numbers."""
        if not self.logarithm:
            return forecasts
        with np.errstate(over="ignore", invalid="ignore"):
            return np.exp(np.where(forecasts > LARGEST, np.inf, forecasts))

    def run(self, z: Array, past: Array) -> Filtered:
        """What a series (T,) and the columns beside it (T, P) leave behind, row by row."""
        level, trail = self.filter.run(z)
        if self.side is None:
            return Filtered(level, trail)
        beside = [(self.side.reservoir, self.side.drive(column)[1]) for column in past.T]
        return Filtered(level, Trail(trail.constant, [*trail.runs, *beside]))
