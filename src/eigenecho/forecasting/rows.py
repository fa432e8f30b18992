"""Rows of the series of a batch for a view, with the sums and forecasts computed from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.signal import correlate

from eigenecho.forecasting.baselines import Baseline
from eigenecho.forecasting.signals import Batch, steps
from eigenecho.forecasting.states import Rows
from eigenecho.forecasting.views import Filter, View
from eigenecho.readout import Moments
from eigenecho.reservoir import Reservoir
from eigenecho.types import Array

CHUNK = 1 << 21
"""Maximum number of targets in memory at a time."""

LONG = 1000
"""Number of rows from which the recurrence is faster than products of rows."""

LEAST_FADE = 1e-6
"""Lower bound of 1 − |λ|² for the recurrence, which loses digits below it."""


@dataclass(frozen=True, eq=False)
class Sums:
    """Mergeable statistics of rows x(t) and the values that follow them, for each series.

    Attributes
    ----------
    XtX : array (S, N', N')
        Sums over rows followed by at least H rows.
    XtY : array (S, N', B·H)
        Sums over the same rows, with the targets y(t+h) − baseline(t, h) of B baselines. Missing
        targets count as 0.
    seen : array (S, B·H)
        Fraction of observed values of each target times the number of rows.
    rows : array (S,)
        Number of rows.
    next_XtX, next_Xty, next_squares, next_seen, next_rows : arrays (S, …)
        Sums over rows followed by at least one row, without side states. The target is
        y(t+1) − y(t).
    """

    XtX: Array
    XtY: Array
    seen: Array
    rows: Array
    next_XtX: Array
    next_Xty: Array
    next_squares: Array
    next_seen: Array
    next_rows: Array

    def __add__(self, other: Sums) -> Sums:
        """Return the sums over both sets of rows."""
        return Sums(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def total(self) -> Sums:
        """Return the sums over all series, as those of one series."""
        return Sums(*(getattr(self, f.name).sum(axis=0, keepdims=True) for f in fields(self)))

    def of_baseline(self, number: int, horizon: int) -> Sums:
        """Return the sums of one baseline."""
        columns = slice(number * horizon, (number + 1) * horizon)
        return replace(self, XtY=self.XtY[:, :, columns], seen=self.seen[:, columns])

    @classmethod
    def join(cls, parts: Sequence[Sums]) -> Sums:
        """Return the sums of all series of several statistics."""
        names = [f.name for f in fields(cls)]
        return cls(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))

    @property
    def expected_XtY(self) -> Array:
        """XᵀY that is expected without missing targets: XᵀY · rows / seen."""
        return self.XtY * (self.rows[:, None] / np.maximum(self.seen, 1))[:, None]

    @property
    def next_factor(self) -> Array:
        """Factor that corrects sums of y(t+1) − y(t) for missing values, (S,)."""
        return self.next_rows / np.maximum(self.next_seen, 1)


@dataclass(frozen=True, eq=False)
class ViewRows:
    """Rows of the series of a batch for a view.

    Attributes
    ----------
    view : View
    batch : Batch
    values, truth : arrays (S, T)
        Input of the filter, and the same with NaN in place of imputed values.
    rows : Rows
        x = [c, r, side states], (S, T, N').
    """

    view: View
    batch: Batch
    values: Array
    truth: Array
    rows: Rows

    @classmethod
    def of(cls, view: View, batch: Batch) -> ViewRows:
        """Compute the rows of a batch for a view."""
        given = batch.input(view.removed)
        rows = Rows(given.sizes, [(view.filter.reservoir, given.steps)])
        if view.side is not None:
            step = np.where(batch.is_constant, 0.0, _steps(view, batch))
            past = batch.past * step[:, None, None]
            drives = [steps(column) for column in np.moveaxis(past, 2, 0)]
            rows = Rows(rows.head, [*rows.runs, *((view.side.reservoir, u) for u in drives)])
        return cls(view, batch, given.values, given.truth, rows)

    def forecast(self, baseline: Baseline, weights: Array, origins: Array) -> Array:
        """Return forecasts (S, O, H) from the origins, given weights (N', H) or (S, N', H)."""
        horizon = weights.shape[-1]
        ahead = self.ahead(baseline, origins, horizon)
        with np.errstate(over="ignore", invalid="ignore"):
            forecasts = self.rows.at(origins) @ weights
            forecasts += ahead
            return self.to_values(forecasts)

    def ahead(self, baseline: Baseline, origins: Array, horizon: int) -> Array:
        """Return the baseline and the effects after the origins, (S, O, H), computed once."""
        key = self.view.removed, baseline, horizon, origins.tobytes()
        if key not in self.batch.baselines:
            self.batch.baselines[key] = self._ahead(baseline, origins, horizon)
        return self.batch.baselines[key]

    def _ahead(self, baseline: Baseline, origins: Array, horizon: int) -> Array:
        ahead = baseline.forecast(self.values, origins, horizon)
        if self.view.removes:
            shift = self.batch.shifts[self.view.removed]
            ahead = ahead + shift[:, origins[:, None] + np.arange(1, horizon + 1)]
        return ahead

    def to_values(self, forecasts: Array) -> Array:
        """Return forecasts (S, …) of values, given those of the input of the filter."""
        return self.batch.from_logarithms(forecasts) if self.view.logarithm else forecasts

    def unit(self, stop: int) -> Array:
        """Return the root mean square steps before row ``stop``, (S,)."""
        size = self.rows.head[:, max(stop - 1, 0)]
        return np.where(size > 0, size, _steps(self.view, self.batch))

    def sums(
        self, baselines: Sequence[Baseline], horizon: int, start: int, stop: int, unit: Array
    ) -> Sums:
        """Return the sums over the rows whose targets are in rows ``start`` to ``stop`` − 1.

        Values are divided by the units (S,).
        """
        first = start - 1 if start else min(max(b.needs for b in baselines), stop // 4)
        begin, end = max(start - horizon, 0) if start else first, max(stop - horizon, 0)
        last, count = max(stop - 1, first), len(self.values)
        # Rows begin ≤ t < end are followed by H rows, and rows first ≤ t < last by one row. Most
        # rows are in both ranges, so their products are computed once.
        scale = unit[:, None, None]
        both = self._squares(first, end)
        XtX = (both + self._squares(begin, min(first, end))) / scale**2
        after = (both + self._squares(max(first, end), last)) / scale**2
        XtY, seen = self._products(baselines, horizon, begin, end)
        targets = self.truth[:, first + 1 : last + 1] - self.values[:, first:last]
        observed = ~np.isnan(targets)
        targets = np.where(observed, targets, 0.0)
        own = self.view.filter.size
        return Sums(
            XtX,
            XtY / scale**2,
            seen,
            np.full(count, max(end - begin, 0)),
            after[:, :own, :own],
            self._times(targets, first, last)[:, :own] / unit[:, None] ** 2,
            np.sum(targets**2, axis=1) / unit**2,
            np.count_nonzero(observed, axis=1),
            np.full(count, targets.shape[1]),
        )

    def _squares(self, first: int, last: int) -> Array:
        """Return Σ xᵀx over first ≤ t < last, (S, N', N')."""
        XtX = recurrent_squares(self.view.filter, self.rows, first, last)
        if XtX is None:
            XtX = np.zeros((len(self.values), self.rows.size, self.rows.size))
            for _, x in self.rows.blocks(first, last):
                XtX += x.transpose(0, 2, 1) @ x
        return XtX

    def _times(self, column: Array, first: int, last: int) -> Array:
        """Return Σ x(t)ᵀ column(t − first) over first ≤ t < last, (S, N')."""
        total = np.zeros((len(self.values), self.rows.size))
        for start, x in self.rows.blocks(first, last):
            part = column[:, start - first : start - first + x.shape[1]]
            total += (x.transpose(0, 2, 1) @ part[:, :, None])[:, :, 0]
        return total

    def _products(
        self, baselines: Sequence[Baseline], horizon: int, first: int, last: int
    ) -> tuple[Array, Array]:
        """Return Σ xᵀ(y − baseline) over observed targets, and their number for each column."""
        count, H = len(self.values), horizon
        if last <= first:
            nothing = np.zeros((count, self.rows.size, H * len(baselines)))
            return nothing, nothing[:, 0]
        if not np.isnan(self.truth[:, first + 1 : last + H]).any():
            XtY = self._complete_products(baselines, H, first, last)
            return XtY, np.full((count, XtY.shape[2]), float(last - first))
        windows = sliding_window_view(self.truth, H, axis=1)
        XtY = np.zeros((count, self.rows.size, H * len(baselines)))
        seen = np.zeros((count, XtY.shape[2]))
        for start, stop, x in self._pieces(first, last, XtY.shape[2]):
            t, after = np.arange(start, stop), windows[:, start + 1 : stop + 1]
            Y = np.concatenate([after - b.forecast(self.values, t, H) for b in baselines], axis=2)
            observed = ~np.isnan(Y)
            XtY += x.transpose(0, 2, 1) @ np.where(observed, Y, 0.0)
            seen += np.count_nonzero(observed, axis=1)
        return XtY, seen

    def _complete_products(
        self, baselines: Sequence[Baseline], horizon: int, first: int, last: int
    ) -> Array:
        """Return Σ xᵀ(y − baseline) without missing values, from products with a few lags of y.

        Seasonal baselines repeat the values 1 … m rows after y(t−m), and add a multiple of a
        growth, so all products follow from Σ x(t) y(t+h), Σ x(t) y(t−m+h) and two more columns.
        """
        z, steps = self.values - self.values[:, first, None], np.arange(horizon)
        if [b.kind for b in baselines] == ["level"] and last - first >= LONG:
            XtY = recurrent_products(self.view.filter, self.rows, z, first, last, horizon)
            return XtY - self._times(z[:, first:last], first, last)[:, :, None]
        season = max(b.season for b in baselines)
        width, naive = min(season, horizon), Baseline("season", season)
        padded = np.concatenate([np.repeat(z[:, :1], season, axis=1), z], axis=1)
        before = sliding_window_view(padded, width, axis=1)
        after = sliding_window_view(z, horizon, axis=1)
        P = np.zeros((len(z), self.rows.size, horizon + width + 2))
        for start, stop, x in self._pieces(first, last, P.shape[2]):
            t, next_row = np.arange(start, stop), slice(start + 1, stop + 1)
            growth = Baseline("growth", season).forecast(z, t, 1) - naive.forecast(z, t, 1)
            Y = [after[:, next_row], before[:, next_row], z[:, start:stop, None], growth]
            P += x.transpose(0, 2, 1) @ np.concatenate(Y, axis=2)
        ahead, level, growth = P[:, :, :horizon], P[:, :, -2:-1], P[:, :, -1:]
        seasonal = P[:, :, horizon + steps % season]
        grown = seasonal + growth * (1 + steps // season)
        parts = {"level": level, "season": seasonal, "growth": grown}
        return np.concatenate([ahead - parts[b.kind] for b in baselines], axis=2)

    def _pieces(self, first: int, last: int, width: int) -> Iterator[tuple[int, int, Array]]:
        """Yield (start, stop, rows (S, n, N')), so that ``width`` targets fit into memory."""
        step = max(1, CHUNK // (width * len(self.values)))
        for start, block in self.rows.blocks(first, last):
            for begin in range(0, block.shape[1], step):
                x = block[:, begin : begin + step]
                yield start + begin, start + begin + x.shape[1], x


def _steps(view: View, batch: Batch) -> Array:
    """Return the root mean square steps of all rows, the unit of series without steps so far."""
    return batch.growth if view.logarithm else batch.unit


def recurrent_squares(filter: Filter, rows: Rows, first: int, last: int) -> Array | None:
    """Return Σ x(t)ᵀ x(t) over first ≤ t < last, (S, N', N'), in O(T N + N²) operations.

    ``Moments`` explains the method. The result is None if modes hardly decay or if there are few
    rows.
    """
    radius = filter.spectrum.radius
    if last - first < LONG or radius >= 1 or 1 - radius**2 < LEAST_FADE:
        return None
    own, head = _columns(filter, rows)
    u, count = rows.runs[0][1], len(rows.head)
    C = np.zeros((count, 1 + len(head), filter.size - 1))
    S = np.zeros((count, 1 + len(head), 1 + len(head)))
    for start, x in rows.blocks(first, last):
        drive = u[:, start : start + x.shape[1], None]
        side = np.concatenate([drive, x[:, :, head]], axis=2)
        C += side.transpose(0, 2, 1) @ x[:, :, own]
        S += side.transpose(0, 2, 1) @ side
    edges = rows.at(np.array([max(first - 1, 0), last - 1]))[:, :, own]
    order = [*head, *range(1, filter.size)]
    XtX = np.empty((count, rows.size, rows.size))
    for s in range(count):
        before = edges[s, :1] if first else np.zeros((1, filter.size - 1))
        moments = Moments(C[s], S[s], before, edges[s, 1:], last - first)
        gram = moments.gram(filter.spectrum, filter.reservoir.B, 0, LEAST_FADE)
        XtX[s][np.ix_(order, order)] = gram.XtX
    return XtX


def recurrent_products(
    filter: Filter, rows: Rows, z: Array, first: int, last: int, horizon: int
) -> Array:
    """Return Σ x(t) z(t+h) over first ≤ t < last for h = 1 … H, (S, N', H).

    For the states r(t) = r(t−1) Λ + u(t) b, the sum C_h follows from C_{h+1},

        C_h = Σ r(t) z(t+h) = C_{h+1} Λ + b Σ u(t) z(t+h) + (r(f−1) z(f+h) − r(l−1) z(l+h)) Λ

    where f = first and l = last. This is a scan over h, from H downwards, whose inputs are
    correlations of two series. It costs (T + 3H) N instead of T H N. The sums of other columns are
    computed as correlations. ``z`` (S, T) has at least ``last + horizon`` columns.
    """
    own, head = _columns(filter, rows)
    count, u = len(z), rows.runs[0][1]
    sums = np.zeros((count, rows.size, horizon))
    beside, end = np.empty((count, last - first, len(head))), np.zeros((count, filter.size - 1))
    for start, x in rows.blocks(first, last):
        later = z[:, start + horizon : start + horizon + x.shape[1], None]
        end += (x[:, :, own].transpose(0, 2, 1) @ later)[:, :, 0]
        beside[:, start - first : start - first + x.shape[1]] = x[:, :, head]
    states, b = rows.at(np.array([first, last]))[:, :, own], filter.reservoir.B
    lags = np.arange(horizon - 1, 0, -1)
    for s in range(count):
        values = z[s, first + 1 : last + horizon]
        for column, others in zip(head, beside[s].T, strict=True):
            sums[s, column] = _correlate(values, others)
        sums[s, own, -1] = end[s]
        if horizon > 1:
            edges = states[s] - u[s, [first, last], None] * b  # r(row − 1) Λ
            drive = [_correlate(values, u[s, first:last])[lags - 1]]
            drive += [z[s, first + lags], -z[s, last + lags]]
            backwards = Reservoir(filter.reservoir.transition, np.concatenate([b, edges]))
            sums[s, own, -2::-1] = backwards.scan(np.stack(drive, axis=1), end[s])[0].T
    return sums


def _columns(filter: Filter, rows: Rows) -> tuple[slice, list[int]]:
    """Return the columns of the filter's states, and all other columns."""
    return slice(1, filter.size), [0, *range(filter.size, rows.size)]


def _correlate(values: Array, column: Array) -> Array:
    return correlate(values, column, mode="valid", method="fft")
