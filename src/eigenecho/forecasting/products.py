"""Sums of products over the rows of a long series, by the recurrence that made the rows."""

from __future__ import annotations

import numpy as np
from scipy.signal import correlate

from eigenecho.forecasting.filter import Filter
from eigenecho.forecasting.trail import Trail
from eigenecho.readout import Moments
from eigenecho.reservoir import Reservoir
from eigenecho.types import Array

LONG = 1000
"""Rows from which sums by the recurrence are worth their trouble."""

LEAST_FADE = 1e-6
"""The least 1 − |λ|² with which they lose no more digits than a ridge leaves."""


def squares(filter: Filter, trail: Trail, first: int, last: int) -> Array | None:
    """Σ x(t)ᵀ x(t) over first ≤ t < last, (N', N'), from O(T N + N²): see ``Moments``.

    None where it is not for them, as modes hardly fade or rows are few.
    """
    radius = filter.spectrum.radius
    if last - first < LONG or radius >= 1 or 1 - radius**2 < LEAST_FADE:
        return None
    own, head = _columns(filter, trail)
    u = trail.runs[0][1]
    C, S = np.zeros((1 + len(head), filter.size - 1)), np.zeros((1 + len(head),) * 2)
    for start, x in trail.pieces(first, last):
        side = np.concatenate([u[start : start + len(x), None], x[:, head]], axis=1)
        C += side.T @ x[:, own]
        S += side.T @ side
    before = trail.at([first - 1])[:, own] if first else np.zeros((1, filter.size - 1))
    moments = Moments(C, S, before, trail.at([last - 1])[:, own], last - first)
    gram = moments.gram(filter.spectrum, filter.reservoir.B, 0, LEAST_FADE)
    order = [*head, *range(1, filter.size)]
    found = np.empty_like(gram.XtX)
    found[np.ix_(order, order)] = gram.XtX
    return found


def products(filter: Filter, trail: Trail, z: Array, first: int, last: int, horizon: int) -> Array:
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
    trail : Trail
        x.
    z : array (T,)
        At least ``last + horizon`` of them.
    """
    found = np.zeros((trail.width, horizon))
    if last <= first:
        return found
    own, head = _columns(filter, trail)
    values, beside = z[first + 1 : last + horizon], np.empty((last - first, len(head)))
    end = np.zeros(filter.size - 1)
    for start, x in trail.pieces(first, last):
        end += x[:, own].T @ z[start + horizon : start + horizon + len(x)]
        beside[start - first : start - first + len(x)] = x[:, head]
    for column, others in zip(head, beside.T, strict=True):
        found[column] = _correlated(values, others)
    found[own, -1] = end
    if horizon > 1:
        b, u = filter.reservoir.B, trail.runs[0][1]
        edges = trail.at([first, last])[:, own] - u[[first, last], None] * b  # r(row − 1) Λ
        lags = np.arange(horizon - 1, 0, -1)
        drive = [_correlated(values, u[first:last])[lags - 1], z[first + lags], -z[last + lags]]
        backwards = Reservoir(filter.reservoir.transition, np.concatenate([b, edges]))
        found[own, -2::-1] = backwards.scan(np.stack(drive, axis=1), end).T
    return found


def _columns(filter: Filter, trail: Trail) -> tuple[slice, list[int]]:
    """Those of the filter's states, and all others."""
    return slice(1, filter.size), [0, *range(filter.size, trail.width)]


def _correlated(values: Array, column: Array) -> Array:
    return correlate(values, column, mode="valid", method="fft")
