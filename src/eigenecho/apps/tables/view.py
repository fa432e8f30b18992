"""What a network is shown of a series, and how its outputs are turned back into values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenecho.apps.tables.time_series import TimeSeries
from eigenecho.forecasting.season import harmonics
from eigenecho.types import Array


@dataclass(frozen=True)
class View:
    """The series itself or its steps; beside it the calendar, where ``periods`` names cycles.

    Row i of the inputs is [z(i), x(i + 1)]: what is known of the time that is to be predicted
    goes in together with the present.

        z(i) = y(i), or y(i + 1) − y(i) with ``difference``
    """

    difference: bool = False
    periods: tuple[float, ...] = ()

    @property
    def lag(self) -> int:
        """Rows that differences cost."""
        return int(self.difference)

    @property
    def words(self) -> str:
        """For reports."""
        shown = "steps from row to row" if self.difference else "values"
        if not self.periods:
            return shown
        cycles = ", ".join(f"{p:.4g}" for p in self.periods)
        return f"{shown}, and cycles of {cycles} rows"

    def series(self, values: Array) -> Array:
        """z, (T − lag,)."""
        return np.diff(values) if self.difference else values

    def known(self, series: TimeSeries, ahead: int) -> Array:
        """x(i + 1) beside z(i), for T − lag + ``ahead`` rows."""
        rows = len(series) + ahead
        columns = harmonics(self.periods, self.lag + 1, rows + 1)
        given = series.inputs[self.lag + 1 : rows + 1]
        # Beyond the table's end a row is needed for its place only: its output is never read.
        given = np.pad(given, ((0, len(columns) - len(given)), (0, 0)), mode="edge")
        return np.concatenate([columns, given], axis=1)

    def undo(self, last: float, z: Array) -> Array:
        """Forecasts of the values from those of z, after a ``last`` value."""
        return last + np.cumsum(z) if self.difference else z

    def response(self, psi: Array) -> Array:
        """How values answer, j steps on, to a unit of z that comes unforeseen, from how z does.

        A step that was not foreseen stays in all values that follow, and so do its echoes.
        """
        return np.cumsum(psi) if self.difference else psi
