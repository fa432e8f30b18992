"""Rows of one series as a view leaves them: to be summed up, and to be forecast from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eigenecho.forecasting.base import Base
from eigenecho.forecasting.filter import Filtered
from eigenecho.forecasting.signal import Signal
from eigenecho.forecasting.sums import Sums
from eigenecho.forecasting.view import View
from eigenecho.readout import Gram
from eigenecho.types import Array

CHUNK = 1 << 21
"""Targets that are held at a time."""


@dataclass(frozen=True, eq=False)
class Rows:
    """One series, seen through a view.

    Attributes
    ----------
    view : View
    values : array (T,)
        As the filter saw it: what is known to move it taken off.
    truth : array (T,)
        The same, NaN where nothing was observed.
    shift : array (T + ahead,)
        What was taken off.
    filtered : Filtered
    """

    view: View
    values: Array
    truth: Array
    shift: Array
    filtered: Filtered

    @classmethod
    def of(cls, view: View, signal: Signal) -> Rows:
        """The rows of a signal."""
        shift = view.shift(signal)
        z = view.seen(signal.values) - shift[: len(signal)]
        filtered = view.run(z, signal.past)
        return cls(view, z, np.where(signal.observed, z, np.nan), shift, filtered)

    def forecast(self, base: Base, weights: Array, origins: Array) -> Array:
        """Values (…, O, H) after the origins, by weights (…, N', H)."""
        horizon = weights.shape[-1]
        ahead = base.ahead(self.values, self.filtered.level, origins, horizon)
        if self.view.effect is not None:
            ahead = ahead + self.shift[origins[:, None] + np.arange(1, horizon + 1)]
        with np.errstate(over="ignore", invalid="ignore"):
            return self.view.undone(ahead + self.filtered.rows[origins] @ weights)

    def unit(self, known: int) -> float:
        """What its first rows are divided by to count as much as another series'."""
        return float(self.filtered.rows[max(known - 1, 0), 0]) or 1.0

    def sums(
        self, bases: Sequence[Base], horizon: int, start: int, stop: int, unit: float
    ) -> Sums:
        """Of what is over by row ``stop``, targets included, and was not by ``start``."""
        x = self.filtered.rows
        empty = Sums.empty(x.shape[1], horizon * len(bases), self.view.filter.size)
        ahead, seen = empty.ahead, empty.seen
        first = max(base.needs for base in bases) if start == 0 else start - horizon
        first, last = max(0, min(first, stop // 4 if start == 0 else first)), stop - horizon
        step = max(1, CHUNK // (horizon * len(bases)))
        for begin in range(first, last, step):
            rows = np.arange(begin, min(begin + step, last))
            targets = np.concatenate([self._targets(b, rows, horizon) for b in bases], axis=1)
            missing = np.isnan(targets)
            ahead = ahead.absorb(x[rows] / unit, np.where(missing, 0.0, targets) / unit)
            seen = seen + np.count_nonzero(~missing, axis=0)
        following, squares = self._following(max(start - 1, 1), stop - 1, unit)
        return Sums(ahead, seen, following, squares)

    def _targets(self, base: Base, rows: Array, horizon: int) -> Array:
        windows = np.lib.stride_tricks.sliding_window_view(self.truth, horizon)
        return windows[rows + 1] - base.ahead(self.values, self.filtered.level, rows, horizon)

    def _following(self, first: int, last: int, unit: float) -> tuple[Gram, float]:
        x = self.filtered.rows[:, : self.view.filter.size]
        found = Gram.empty(x.shape[1], 1)
        if last <= first:
            return found, 0.0
        targets = (self.truth[first + 1 : last + 1] - self.filtered.level[first:last]) / unit
        there = ~np.isnan(targets)
        found = found.absorb(x[first:last][there] / unit, targets[there, None])
        return found, float(np.sum(targets[there] ** 2))
