"""Lagged correlations of the data, which determine the sums for any reservoir that settles.

With ρ_k = Σ e(t)ᵀ a(t−k), the products of states and side columns are a power series,

    Σ e(t)ᵀ r_i(t) = Σ_k ρ_k B_i λ_i^k

which is truncated when |λ|^k is below the rounding error. The Horner scheme of this series is the
recurrence of the reservoir itself, run over the lags from the last to the first.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from eigenecho.arrays import namespace
from eigenecho.kernels.convolution import settling_steps
from eigenecho.readout.moments import Moments, products
from eigenecho.reservoir import Reservoir
from eigenecho.types import Array

BATCH = 1 << 18
"""Number of samples of one column that are transformed at a time."""

DEVICE_BATCH = 1 << 24
"""Number of samples of one column that are transformed at a time on a device."""


@dataclass(frozen=True, eq=False)
class Lags:
    """Correlations ``rho`` (K, E, D) of side columns e(t) with the drive a(t−k), k < K.

    ``S`` (E, E) is Σ e(t)ᵀ e(t). For each series, ``before`` and ``until`` are the parts
    (≤ K, D) of the drive that determine the states before the first row and at the last row.
    """

    rho: Array
    S: Array
    before: tuple[Array, ...]
    until: tuple[Array, ...]
    rows: int

    @classmethod
    def of(cls, drive: Array, side: Array, start: int, K: int) -> Lags:
        """Return the correlations of one series; the rows of ``side`` begin at ``start``."""
        stop = start + len(side)
        rho = correlate(side, drive[:stop], start, K)
        before, until = (drive[max(row - K, 0) : row] for row in (start, stop))
        S, D = products(side), drive.shape[1]
        if not namespace(S).is_host:
            # XᵀX is a difference of S and rho, so both must have the same lag 0.
            S[:D, :D] = rho[0, :D]
        return cls(rho, S, (before,), (until,), len(side))

    def merge(self, other: Lags) -> Lags:
        """Return the correlations over both sets of rows."""
        names = (part.name for part in fields(self))
        return Lags(*(getattr(self, name) + getattr(other, name) for name in names))

    def joined(self, after: Lags) -> Lags:
        """Return the correlations over both sets of rows; ``after`` continues the last series."""
        before, until = self.before + after.before[1:], self.until[:-1] + after.until
        return replace(self.merge(after), before=before, until=until)

    def moments(self, reservoir: Reservoir) -> Moments:
        """Return the sums for a reservoir that settles within these lags."""
        xp, K = namespace(self.rho), int(min(len(self.rho), settling_steps(reservoir.form)))
        starts, stops = (
            xp.stack([_last(reservoir, drive[-K:]) for drive in drives])
            for drives in (self.before, self.until)
        )
        return Moments(against(reservoir, self.rho[:K]), self.S, starts, stops, self.rows)


def against(reservoir: Reservoir, rho: Any) -> Array:
    """Return the sums Σ e(t)ᵀ r(t), (E, N), computed from correlations (K, E, D)."""
    if namespace(rho).is_host:
        return np.stack([_last(reservoir, rho[::-1, e]) for e in range(rho.shape[1])])
    return _last(reservoir, rho.flip(0).transpose(0, 1))  # one run for all side columns


def _last(reservoir: Reservoir, drive: Array) -> Array:
    drive = namespace(drive).ascontiguousarray(drive)
    return reservoir.last_state(drive)


def transform_length(rows: int, K: int) -> int:
    """Return the length of an FFT for correlations over K lags."""
    from scipy.fft import next_fast_len

    return int(next_fast_len(min(max(8 * K, 4096), rows + K - 1), real=True))


def correlate(side: Array, drive: Array, start: int, K: int) -> Array:
    """Return Σ_t e(t)ᵀ a(t−k) for k < K, (K, E, D); the first row of ``side`` is at ``start``.

    The spectra of overlapping pieces are summed, followed by one inverse FFT.
    """
    xp = namespace(side)
    if not len(side):
        return xp.zeros((K, side.shape[1], drive.shape[1]))
    F = transform_length(len(side), K)
    step = F - K + 1
    pieces = -(-len(side) // step)
    first = start - K + 1
    a = _padded(drive, first, pieces * step + K - 1)
    e = _padded(side, 0, pieces * step)
    spectra = xp.zeros((side.shape[1], drive.shape[1], F // 2 + 1), np.complex128)
    batch = max(1, (BATCH if xp.is_host else DEVICE_BATCH) // F)
    for piece in range(0, pieces, batch):
        numbers = range(piece, min(piece + batch, pieces))
        A = xp.rfft(xp.stack([a[:, i * step : i * step + F] for i in numbers], axis=1))
        late = xp.zeros((len(e), len(numbers), F))
        late[:, :, K - 1 :] = e[:, numbers.start * step : numbers.stop * step].reshape(
            len(e), len(numbers), step
        )
        E = xp.rfft(late, overwrite_x=True)
        A = xp.conj(A, out=A)
        for j in range(len(E)):
            for d in range(len(A)):
                spectra[j, d] += xp.einsum("bf,bf->f", E[j], A[d])
    correlations = xp.irfft(spectra, F)[:, :, :K]
    if xp.is_host:
        return np.ascontiguousarray(correlations.transpose(2, 0, 1))
    return correlations.permute(2, 0, 1).contiguous()


def _padded(columns: Array, first: int, count: int) -> Array:
    """Return ``count`` rows from ``first`` on as contiguous columns (D, count), padded with 0."""
    out = namespace(columns).zeros((columns.shape[1], count))
    low, high = max(first, 0), min(first + count, len(columns))
    out[:, low - first : high - first] = columns[low:high].T
    return out
