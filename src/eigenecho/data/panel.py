"""Series to forecast, as numbers: a panel of histories, and what holds them for the caller."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from eigenecho.data.numbers import filled_forward
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class History:
    """One series, row by row at a regular step.

    Attributes
    ----------
    name : Hashable or None
        Its id or column; its number in a list or an array, None for a single array.
    values : array (T,), float64
        NaN is a missing observation, also at the start and at the end.
    known : array (T, k) or None
        Columns that are known ahead, at the rows of ``values``; finite. None where there are none.
    past : array (T, p) or None
        Columns that are known up to the present only: what is missing is the last value before,
        NaN where there was none yet.
    """

    name: Hashable | None
    values: Array
    known: Array | None = None
    past: Array | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def start(self) -> int:
        """Rows before the first observation."""
        return int(np.argmax(~np.isnan(self.values)))

    def until(self, stop: int) -> History:
        """The rows before row ``stop``."""
        known = None if self.known is None else self.known[:stop]
        past = None if self.past is None else self.past[:stop]
        return History(self.name, self.values[:stop], known, past)

    def then(self, after: History) -> History:
        """The history with the rows of another after its own."""
        known, past = self.known, self.past
        if known is not None and after.known is not None:
            known = np.vstack([known, after.known])
        if past is not None and after.past is not None:
            past = np.vstack([past, filled_forward(after.past, past[-1])])
        return History(self.name, np.concatenate([self.values, after.values]), known, past)


class Holder(Protocol):
    """How the caller holds series: reads more of them, and hands answers back alike.

    A ``panel`` is one whose ``container`` it is.
    """

    @property
    def shared(self) -> bool:
        """Whether all series have the same rows."""

    def read_context(
        self, y: Any, X: Any = None, *, name: str = "context", X_name: str = "context_X"
    ) -> Panel:
        """Other series, or other rows, held alike and with the same columns of X."""

    def follow(self, panel: Panel, y_new: Any, X_new: Any = None) -> Panel:
        """The panel with rows that follow directly."""

    def future(self, panel: Panel, X: Any, horizon: int) -> list[Array]:
        """Columns that are known ahead, (horizon, k) after the end of each series."""

    def forecast(
        self,
        panel: Panel,
        horizon: int,
        mean: Sequence[Array] | None,
        lower: Sequence[Array] | None = None,
        upper: Sequence[Array] | None = None,
        quantiles: Sequence[Array] | None = None,
        levels: Sequence[float] | None = None,
    ) -> Any:
        """Answers (H,) for each series, quantiles (H, Q), as the caller holds them."""

    def rolling(self, panel: Panel, origins: Sequence[Array], values: Sequence[Array]) -> Any:
        """Forecasts (O, H) after rows of each series, as the caller holds them."""

    def row_of(self, panel: Panel, series: int, origin: Any) -> int | None:
        """The row at a time, or None where the series has none there."""

    def times(self, panel: Panel, series: int) -> Any:
        """The times of all rows of a series; row numbers where it has none."""

    def times_ahead(self, panel: Panel, series: int, horizon: int) -> Any:
        """The times that follow the last row of a series."""

    @property
    def step(self) -> str:
        """The step from row to row, in words."""


@dataclass(frozen=True, eq=False)
class Panel:
    """Several series, or one.

    Attributes
    ----------
    histories : tuple of History
    cycles : tuple of float
        Day, week and year in steps, those that show; none without dates.
    container : Holder
        How the caller holds them.
    known_names, past_names : tuple of str
        Columns of X; "x0", "x1", … for arrays.
    """

    histories: tuple[History, ...]
    cycles: tuple[float, ...]
    container: Holder
    known_names: tuple[str, ...] = ()
    past_names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.histories)
