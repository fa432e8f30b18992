"""Rows of one series for a view, with the sums and forecasts that are computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.signal import correlate

from eigenecho.forecasting.baselines import Baseline
from eigenecho.forecasting.signals import Signal
from eigenecho.forecasting.views import Filter, View
from eigenecho.readout import Gram, Moments
from eigenecho.reservoir import Reservoir
from eigenecho.rows import BlockRows
from eigenecho.types import Array

CHUNK = 1 << 21
"""Maximum number of targets in memory at a time."""

LONG = 1000
"""Number of rows from which the recurrence is faster than products of rows."""

LEAST_FADE = 1e-6
"""Lower bound of 1 − |λ|² for the recurrence, which loses digits below it."""


@dataclass(frozen=True, eq=False)
class Sums:
    """Mergeable statistics of rows x(t) and the values that follow them.

    Attributes
    ----------
    ahead : Gram
        Sums over rows followed by at least H rows. The targets are y(t+h) − baseline(t, h), which
        gives (N', B·H) for B baselines. Missing targets count as 0.
    ahead_seen : array (B·H,)
        Number of observed values of each target.
    following : Gram
        Sums over rows followed by at least one row. The targets are y(t+1) − ℓ(t), (N, 1).
    following_seen : array (1,)
        Number of observed values of the target y(t+1) − ℓ(t).
    squares : float
        Sum of the squares of the target y(t+1) − ℓ(t).
    """

    ahead: Gram
    ahead_seen: Array
    following: Gram
    following_seen: Array
    squares: float

    def merge(self, other: Sums) -> Sums:
        """Return the sums over both sets of rows."""
        return Sums(
            self.ahead.merge(other.ahead),
            self.ahead_seen + other.ahead_seen,
            self.following.merge(other.following),
            self.following_seen + other.following_seen,
            self.squares + other.squares,
        )

    def of_baseline(self, number: int, horizon: int) -> Sums:
        """Return the sums of one baseline."""
        columns = slice(number * horizon, (number + 1) * horizon)
        ahead = Gram(self.ahead.XtX, self.ahead.XtY[:, columns], self.ahead.rows)
        return replace(self, ahead=ahead, ahead_seen=self.ahead_seen[columns])


def expected(gram: Gram, seen: Array) -> Gram:
    """Return the sums that are expected without missing targets: XᵀY · rows / seen."""
    return Gram(gram.XtX, gram.XtY * (gram.rows / np.maximum(seen, 1)), gram.rows)


@dataclass(frozen=True, eq=False)
class ViewRows:
    """Rows of one series for a view.

    Attributes
    ----------
    view : View
    signal : Signal
    values : array (T,)
        Input of the filter: values or logarithms without the removed effects.
    truth : array (T,)
        ``values`` with NaN in place of imputed values.
    level : array (T,)
    rows : BlockRows
        x = [c, r, side states], (T, N').
    step : float
        Root mean square step over all rows, the unit of a series that has not changed so far.
    """

    view: View
    signal: Signal
    values: Array
    truth: Array
    level: Array
    rows: BlockRows
    step: float

    @classmethod
    def of(cls, view: View, signal: Signal) -> ViewRows:
        """Compute the rows of a signal for a view."""
        z = signal.without(view.removed)
        level, rows = view.filter.run(z)
        step = signal.growth if view.logarithm else signal.unit
        if view.side is not None:
            past = signal.past * (0.0 if signal.is_constant else step)
            drives = [view.side.drive(column)[1][:, None] for column in past.T]
            runs = [*rows.runs, *((view.side.reservoir, drive) for drive in drives)]
            rows = replace(rows, runs=runs)
        truth = np.where(signal.observed, z, np.nan)
        return cls(view, signal, z, truth, level, rows, step)

    def forecast(self, baseline: Baseline, weights: Array, origins: Array) -> Array:
        """Return forecasts (…, O, H) from the origins, given weights (…, N', H)."""
        horizon = weights.shape[-1]
        ahead = baseline.forecast(self.values, self.level, origins, horizon)
        if self.view.removes:
            shift = self.signal.shifts[self.view.removed]
            ahead = ahead + shift[origins[:, None] + np.arange(1, horizon + 1)]
        with np.errstate(over="ignore", invalid="ignore"):
            forecasts = ahead + self.rows.at(origins) @ weights
            return self.signal.from_logarithms(forecasts) if self.view.logarithm else forecasts

    def unit(self, stop: int) -> float:
        """Return the root mean square step or the standard deviation before row ``stop``."""
        if self.view.by_deviation and (deviation := float(np.std(self.values[:stop]))) > 0:
            return deviation
        return float(self.rows.head[max(stop - 1, 0), 0]) or self.step

    def sums(
        self, baselines: Sequence[Baseline], horizon: int, start: int, stop: int, unit: float
    ) -> Sums:
        """Return the sums over the rows whose targets are in rows ``start`` to ``stop`` − 1."""
        first = start - 1 if start else min(max(b.needs for b in baselines), stop // 4)
        begin, end = max(start - horizon, 0) if start else first, max(stop - horizon, 0)
        last = max(stop - 1, first)
        # Rows begin ≤ t < end are followed by H rows, and rows first ≤ t < last by one row. Most
        # rows are in both ranges, so their products are computed once.
        both = self._squares(first, end, unit)
        ahead = both + self._squares(begin, min(first, end), unit)
        following = both + self._squares(max(first, end), last, unit)
        XtY, seen = self._products(baselines, horizon, begin, end, unit)
        targets = (self.truth[first + 1 : last + 1] - self.level[first:last]) / unit
        observed = ~np.isnan(targets)
        targets = np.where(observed, targets, 0.0)
        own = self.view.filter.size
        Xty = self._times(targets, first, last)[:own, None] / unit
        return Sums(
            Gram(ahead, XtY, max(end - begin, 0)),
            seen,
            Gram(following[:own, :own], Xty, len(targets)),
            np.array([np.count_nonzero(observed)], float),
            float(np.sum(targets**2)),
        )

    def _squares(self, first: int, last: int, unit: float) -> Array:
        """Return Σ xᵀx over first ≤ t < last, (N', N')."""
        XtX = recurrent_squares(self.view.filter, self.rows, first, last)
        if XtX is None:
            XtX = np.zeros((self.rows.size, self.rows.size))
            for _, x in self.rows.blocks(first, last):
                XtX += x.T @ x
        return XtX / unit**2

    def _times(self, column: Array, first: int, last: int) -> Array:
        """Return Σ x(t)ᵀ column(t − first) over first ≤ t < last, (N',)."""
        total = np.zeros(self.rows.size)
        for start, x in self.rows.blocks(first, last):
            total += x.T @ column[start - first : start - first + len(x)]
        return total

    def _products(
        self, baselines: Sequence[Baseline], horizon: int, first: int, last: int, unit: float
    ) -> tuple[Array, Array]:
        """Return Σ xᵀ(y − baseline) over observed targets, and their number for each column."""
        is_level = [baseline.kind for baseline in baselines] == ["level"]
        if is_level and last > first and not np.isnan(self.truth[first + 1 : last + horizon]).any():
            z, level = self.values - self.values[first], self.level - self.values[first]
            XtY = recurrent_products(self.view.filter, self.rows, z, first, last, horizon)
            XtY -= self._times(level[first:last], first, last)[:, None]
            return XtY / unit**2, np.full(horizon, float(last - first))
        XtY = np.zeros((self.rows.size, horizon * len(baselines)))
        seen = np.zeros(XtY.shape[1])
        step = max(1, CHUNK // XtY.shape[1])
        for start, block in self.rows.blocks(first, last):
            windows = np.lib.stride_tricks.sliding_window_view(self.truth, horizon)
            for begin in range(0, len(block), step):
                x = block[begin : begin + step]
                t = start + begin + np.arange(len(x))
                forecasts = [b.forecast(self.values, self.level, t, horizon) for b in baselines]
                targets = np.concatenate([windows[t + 1] - f for f in forecasts], axis=1)
                observed = ~np.isnan(targets)
                XtY += x.T @ np.where(observed, targets, 0.0) / unit**2
                seen += np.count_nonzero(observed, axis=0)
        return XtY, seen


def recurrent_squares(filter: Filter, rows: BlockRows, first: int, last: int) -> Array | None:
    """Return Σ x(t)ᵀ x(t) over first ≤ t < last, (N', N'), in O(T N + N²) operations.

    ``Moments`` explains the method. The result is None if modes hardly decay or if there are few
    rows.
    """
    radius = filter.spectrum.radius
    if last - first < LONG or radius >= 1 or 1 - radius**2 < LEAST_FADE:
        return None
    own, head = _columns(filter, rows)
    u = rows.runs[0][1]
    C, S = np.zeros((1 + len(head), filter.size - 1)), np.zeros((1 + len(head),) * 2)
    for start, x in rows.blocks(first, last):
        side = np.concatenate([u[start : start + len(x)], x[:, head]], axis=1)
        C += side.T @ x[:, own]
        S += side.T @ side
    before = rows.at([first - 1])[:, own] if first else np.zeros((1, filter.size - 1))
    moments = Moments(C, S, before, rows.at([last - 1])[:, own], last - first)
    gram = moments.gram(filter.spectrum, filter.reservoir.B, 0, LEAST_FADE)
    order = [*head, *range(1, filter.size)]
    XtX = np.empty_like(gram.XtX)
    XtX[np.ix_(order, order)] = gram.XtX
    return XtX


def recurrent_products(
    filter: Filter, rows: BlockRows, z: Array, first: int, last: int, horizon: int
) -> Array:
    """Return Σ x(t) z(t+h) over first ≤ t < last for h = 1 … H, (N', H).

    For the states r(t) = r(t−1) Λ + u(t) b, the sum C_h follows from C_{h+1},

        C_h = Σ r(t) z(t+h) = C_{h+1} Λ + b Σ u(t) z(t+h) + (r(f−1) z(f+h) − r(l−1) z(l+h)) Λ

    where f = first and l = last. This is a scan over h, from H downwards, whose inputs are
    correlations of two series. It costs (T + 3H) N instead of T H N. The sums of other columns are
    computed as correlations. ``z`` (T,) has at least ``last + horizon`` entries.
    """
    sums = np.zeros((rows.size, horizon))
    if last <= first:
        return sums
    own, head = _columns(filter, rows)
    values, beside = z[first + 1 : last + horizon], np.empty((last - first, len(head)))
    end = np.zeros(filter.size - 1)
    for start, x in rows.blocks(first, last):
        end += x[:, own].T @ z[start + horizon : start + horizon + len(x)]
        beside[start - first : start - first + len(x)] = x[:, head]
    for column, others in zip(head, beside.T, strict=True):
        sums[column] = _correlate(values, others)
    sums[own, -1] = end
    if horizon > 1:
        b, u = filter.reservoir.B, rows.runs[0][1]
        edges = rows.at([first, last])[:, own] - u[[first, last]] * b  # r(row − 1) Λ
        lags = np.arange(horizon - 1, 0, -1)
        drive = [_correlate(values, u[first:last, 0])[lags - 1], z[first + lags], -z[last + lags]]
        backwards = Reservoir(filter.reservoir.transition, np.concatenate([b, edges]))
        sums[own, -2::-1] = backwards.scan(np.stack(drive, axis=1), end)[0].T
    return sums


def _columns(filter: Filter, rows: BlockRows) -> tuple[slice, list[int]]:
    """Return the columns of the filter's states, and all other columns."""
    return slice(1, filter.size), [0, *range(filter.size, rows.size)]


def _correlate(values: Array, column: Array) -> Array:
    return correlate(values, column, mode="valid", method="fft")
