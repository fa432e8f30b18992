"""Sums of products over the rows of a long series, by the recurrence that made the rows."""

from __future__ import annotations

import numpy as np
from scipy.signal import correlate

from eigenecho.forecasting.filter import Filter
from eigenecho.readout import Moments
from eigenecho.reservoir import Reservoir
from eigenecho.types import Array

LONG = 1000
"""Rows from which sums by the recurrence are worth their trouble."""

LEAST_FADE = 1e-6
"""The least 1 − |λ|² with which they lose no more digits than a ridge leaves."""


def squares(filter: Filter, rows: Array, u: Array, first: int, last: int) -> Array | None:
    """Σ x(t)ᵀ x(t) over first ≤ t < last, (N', N'), from O(T N + N²): see ``Moments``.

    None where it is not for them, as modes hardly fade or rows are few.
    """
    radius = filter.spectrum.radius
    if last - first < LONG or radius >= 1 or 1 - radius**2 < LEAST_FADE:
        return None
    own = slice(1, filter.size)
    head = [0, *range(filter.size, rows.shape[1])]
    side = np.concatenate([u[first:last, None], rows[first:last, head]], axis=1)
    before = rows[first - 1, own] if first else np.zeros(filter.size - 1)
    C = side.T @ rows[first:last, own]
    moments = Moments(C, side.T @ side, before[None], rows[last - 1 : last, own], last - first)
    found = np.empty((rows.shape[1],) * 2)
    order = [*head, *range(1, filter.size)]
    gram = moments.gram(filter.spectrum, filter.reservoir.B, 0, LEAST_FADE)
    found[np.ix_(order, order)] = gram.XtX
    return found


def products(
    filter: Filter, rows: Array, u: Array, z: Array, first: int, last: int, horizon: int
) -> Array:
    """Σ x(t) z(t+h) over first ≤ t < last, for h = 1 … H: (N', H).

    Of the states r(t) = r(t−1) Λ + u(t) b a step ahead follows from the one after it,

        C_h = Σ r(t) z(t+h) = C_{h+1} Λ + b Σ u(t) z(t+h) + (r(f−1) z(f+h) − r(l−1) z(l+h)) Λ

    with f and l the first row and the one after the last: a scan over h, from H on downwards, whose
    inputs are correlations of two series. So it costs (T + 3H) N and not T H N. Columns that are no
    states of the filter are correlated one by one.

    Parameters
    ----------
    filter : Filter
        Of the states, columns 1 to N of the rows.
    rows : array (T, N')
        x.
    u : array (T,)
        What drives the filter.
    z : array (T,)
        At least ``last + horizon`` of them.
    """
    found = np.zeros((rows.shape[1], horizon))
    if last <= first:
        return found
    own = slice(1, filter.size)
    values = z[first + 1 : last + horizon]
    for column in (0, *range(filter.size, rows.shape[1])):
        found[column] = _correlated(values, rows[first:last, column])
    end = rows[first:last, own].T @ z[first + horizon : last + horizon]
    found[own, -1] = end
    if horizon > 1:
        b = filter.reservoir.B
        edges = [rows[row, own] - u[row] * b[0] for row in (first, last)]  # r(row − 1) Λ
        lags = np.arange(horizon - 1, 0, -1)
        drive = [_correlated(values, u[first:last])[lags - 1], z[first + lags], -z[last + lags]]
        backwards = Reservoir(filter.reservoir.transition, np.stack([b[0], *edges]))
        found[own, -2::-1] = backwards.scan(np.stack(drive, axis=1), end).T
    return found


def _correlated(values: Array, column: Array) -> Array:
    return correlate(values, column, mode="valid", method="fft")
