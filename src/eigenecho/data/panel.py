"""A panel of series to forecast, as numbers on regular clocks."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.data.numbers import filled_forward
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class History:
    """One series with regular steps.

    Attributes
    ----------
    name : Hashable or None
        Its id or column; its position in a list or an array, None for a single array.
    values : array (T,), float64
        NaN is a missing observation, also at the start and at the end.
    known : array (T, k) or None
        Columns of X that are known ahead, at the rows of ``values``, finite; None without any.
    past : array (T, p) or None
        Columns of X that are known up to the present only. Missing values are filled from before,
        and NaN where there is no earlier value.
    """

    name: Hashable | None
    values: Array
    known: Array | None = None
    past: Array | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def start(self) -> int:
        """The number of rows before the first observation."""
        return int(np.argmax(~np.isnan(self.values)))

    def until(self, stop: int) -> History:
        """Return the rows before row ``stop``."""
        known = None if self.known is None else self.known[:stop]
        past = None if self.past is None else self.past[:stop]
        return History(self.name, self.values[:stop], known, past)

    def then(self, after: History) -> History:
        """Return the history with the rows of another appended."""
        known, past = self.known, self.past
        if known is not None and after.known is not None:
            known = np.vstack([known, after.known])
        if past is not None and after.past is not None:
            past = np.vstack([past, filled_forward(after.past, past[-1])])
        return History(self.name, np.concatenate([self.values, after.values]), known, past)


@dataclass(frozen=True, eq=False)
class Panel:
    """One or more series.

    Attributes
    ----------
    histories : tuple of History
    cycles : tuple of float
        Day, week and year in steps, as far as they are visible; empty without dates.
    container : eigenecho.data.containers.PanelFormat
        The caller's format, which reads further rows and writes results.
    known_names, past_names : tuple of str
        Columns of X; "x0", "x1", … for arrays.
    """

    histories: tuple[History, ...]
    cycles: tuple[float, ...]
    container: Any
    known_names: tuple[str, ...] = ()
    past_names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.histories)
