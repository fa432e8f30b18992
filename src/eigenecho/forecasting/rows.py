"""Rows of one series as a view leaves them: to be summed up, and to be forecast from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eigenecho.forecasting.base import Base
from eigenecho.forecasting.filter import Filtered
from eigenecho.forecasting.products import products, squares
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
    shift : array (T + H,)
        What was taken off; empty where nothing was.
    filtered : Filtered
    step : float
        The usual step of all rows, for series that have not moved in the rows that are known.
    """

    view: View
    values: Array
    truth: Array
    shift: Array
    filtered: Filtered
    step: float = 1.0

    @classmethod
    def of(cls, view: View, signal: Signal) -> Rows:
        """The rows of a signal."""
        z, shift = view.seen(signal), np.zeros(0)
        if view.is_moved:
            shift = signal.shifts[view.moved]
            z = z - shift[: len(signal)]
        filtered = view.run(z, signal.beside(view.logarithm))
        truth = np.where(signal.observed, z, np.nan)
        return cls(view, z, truth, shift, filtered, signal.step(view.logarithm))

    def forecast(self, base: Base, weights: Array, origins: Array) -> Array:
        """Values (…, O, H) after the origins, by weights (…, N', H)."""
        horizon = weights.shape[-1]
        ahead = base.ahead(self.values, self.filtered.level, origins, horizon)
        if self.view.is_moved:
            ahead = ahead + self.shift[origins[:, None] + np.arange(1, horizon + 1)]
        with np.errstate(over="ignore", invalid="ignore"):
            return self.view.undone(ahead + self.filtered.trail.at(origins) @ weights)

    def unit(self, known: int) -> float:
        """Return what rows are divided by, so that series count alike: the usual step so far.

        A series that moves only later is divided by its usual step over all rows.
        """
        return float(self.filtered.trail.constant[max(known - 1, 0)]) or self.step

    def sums(self, bases: Sequence[Base], horizon: int, start: int, stop: int, unit: float) -> Sums:
        """Of what is over by row ``stop``, targets included, and was not by ``start``."""
        first = start - 1 if start else min(max(base.needs for base in bases), stop // 4)
        ahead = max(start - horizon, 0) if start else first, max(stop - horizon, 0)
        following = first, max(stop - 1, first)
        # Most rows are of both: what they have in common is summed up once.
        both = max(ahead[0], following[0]), min(ahead[1], following[1])
        if both[0] < both[1]:
            XtX = self._squares(*both, unit)
            outer = [
                XtX
                + self._squares(part[0], min(part[1], both[0]), unit)
                + self._squares(max(part[0], both[1]), part[1], unit)
                for part in (ahead, following)
            ]
        else:
            outer = [self._squares(*part, unit) for part in (ahead, following)]
        XtY, seen = self._products(bases, horizon, *ahead, unit)
        targets = (
            self.truth[following[0] + 1 : following[1] + 1]
            - self.filtered.level[following[0] : following[1]]
        ) / unit
        there = ~np.isnan(targets)
        targets = np.where(there, targets, 0.0)
        own = self.view.filter.size
        Xty = self._times(targets, *following)[:own, None] / unit
        return Sums(
            Gram(outer[0], XtY, max(ahead[1] - ahead[0], 0)),
            seen,
            Gram(outer[1][:own, :own], Xty, len(targets)),
            np.array([np.count_nonzero(there)], float),
            float(np.sum(targets**2)),
        )

    def _squares(self, first: int, last: int, unit: float) -> Array:
        """Σ xᵀx of some rows."""
        trail = self.filtered.trail
        found = squares(self.view.filter, trail, first, last)
        if found is None:
            found = np.zeros((trail.width, trail.width))
            for _, x in trail.pieces(first, last):
                found += x.T @ x
        return found / unit**2

    def _times(self, column: Array, first: int, last: int) -> Array:
        """Σ xᵀ times a number a row, (N',)."""
        found = np.zeros(self.filtered.trail.width)
        for start, x in self.filtered.trail.pieces(first, last):
            found += x.T @ column[start - first : start - first + len(x)]
        return found

    def _products(
        self, bases: Sequence[Base], horizon: int, first: int, last: int, unit: float
    ) -> tuple[Array, Array]:
        """Σ xᵀ(y − base) of some rows, over what was observed, and how much of it was."""
        is_level = [base.kind for base in bases] == ["level"]
        targets = self.truth[first + 1 : last + horizon]
        if is_level and last > first and not np.isnan(targets).any():
            XtY = self._level_products(horizon, first, last) / unit**2
            return XtY, np.full(horizon, float(last - first))
        XtY = np.zeros((self.filtered.trail.width, horizon * len(bases)))
        seen = np.zeros(XtY.shape[1])
        step = max(1, CHUNK // XtY.shape[1])
        for start, some in self.filtered.trail.pieces(first, last):
            for begin in range(0, len(some), step):
                x = some[begin : begin + step]
                rows = start + begin + np.arange(len(x))
                targets = np.concatenate([self._targets(b, rows, horizon) for b in bases], axis=1)
                there = ~np.isnan(targets)
                XtY += x.T @ np.where(there, targets, 0.0) / unit**2
                seen += np.count_nonzero(there, axis=0)
        return XtY, seen

    def _level_products(self, horizon: int, first: int, last: int) -> Array:
        """Σ xᵀ(y − ℓ) of some rows, all of them observed."""
        z, level = self.values - self.values[first], self.filtered.level - self.values[first]
        XtY = products(self.view.filter, self.filtered.trail, z, first, last, horizon)
        return XtY - self._times(level[first:last], first, last)[:, None]

    def _targets(self, base: Base, rows: Array, horizon: int) -> Array:
        windows = np.lib.stride_tricks.sliding_window_view(self.truth, horizon)
        return windows[rows + 1] - base.ahead(self.values, self.filtered.level, rows, horizon)
