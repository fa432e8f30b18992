"""Normal equations without states: XᵀX from a few sums over time.

Let a(t) drive the reservoir with weights B, and let the sums run over t = t0+1 … T. With
S = Σ aᵀa and c_i = Σ r_i(t) a(t), the recurrence r_i(t) = λ_i r_i(t−1) + a(t) B_i gives

    G_ij = Σ r_i r_j
         = [c_i B_j + B_i c_j − B_iᵀ S B_j − λ_i λ_j (r_i(T) r_j(T) − r_i(t0) r_j(t0))]
           / (1 − λ_i λ_j)

which costs O(N²) however long the series is.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from eigenecho import threads
from eigenecho.arrays import namespace, to_like
from eigenecho.basis import separate
from eigenecho.readout.gram import Gram
from eigenecho.reservoir import Reservoir
from eigenecho.spectra import Spectrum
from eigenecho.types import Array

ROWS = 32
"""Number of modes whose products with all others are computed at a time."""

DEVICE_ROWS = 2048
"""Number of modes whose products with all others are computed at a time on a device."""

PIECE = 128
"""Number of rows whose products are summed at a time on a device."""

LARGE = 200
"""Number of modes above which a second thread saves time."""

RESONANT = 1e-2
"""Value of |1 − λ_i λ_j| below which a quotient loses more than two digits."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums of products of states and side columns e(t) = [a(t), head, targets] over time.

        C = Σ e(t)ᵀ r(t) (E, N), in the Q layout,   S = Σ e(t)ᵀ e(t) (E, E)

    The head consists of the columns before the states in the readout: the constant and y(t−1).
    ``starts`` and ``stops`` (series, N) are the states before the first row and at the last row of
    each series.
    """

    C: Array
    S: Array
    starts: Array
    stops: Array
    rows: int

    def merge(self, other: Moments) -> Moments:
        """Return the sums over both sets of rows."""
        xp = namespace(self.C)
        return Moments(
            self.C + other.C,
            self.S + other.S,
            xp.concatenate([self.starts, other.starts]),
            xp.concatenate([self.stops, other.stops]),
            self.rows + other.rows,
        )

    def joined(self, after: Moments) -> Moments:
        """Return the sums over both sets of rows; ``after`` continues the last series.

        The state between the two parts is both a stop and a start, so its terms cancel.
        """
        xp = namespace(self.C)
        starts = xp.concatenate([self.starts, after.starts[1:]])
        stops = xp.concatenate([self.stops[:-1], after.stops])
        return replace(self.merge(after), starts=starts, stops=stops)

    def moments(self, reservoir: Reservoir) -> Moments:
        """Return the moments themselves, which belong to one reservoir."""
        return self

    def gram(self, spectrum: Spectrum, B: Array, outputs: int, gap: float = RESONANT) -> Gram:
        """Return XᵀX and XᵀY over columns [head, states]; the last side columns are targets.

        Products of modes with |1 − λ_i λ_j| < ``gap`` are set to 0; the caller must add them.
        """
        D, E = len(B), len(self.C)
        head, Y = slice(D, E - outputs), slice(E - outputs, E)
        k = E - outputs - D
        xp = namespace(self.C)
        XtX = xp.empty((k + spectrum.units,) * 2)
        # This comes first because it uses threads, and the first write to new memory is slow.
        _stein(spectrum, B, self, gap, XtX[k:, k:])
        XtX[:k, :k] = self.S[head, head]
        XtX[:k, k:] = self.C[head]
        XtX[k:, :k] = self.C[head].T
        return Gram(XtX, xp.concatenate([self.S[head, Y], self.C[Y].T]), self.rows)


def products(side: Array) -> Array:
    """Return Σ e(t)ᵀ e(t) (E, E) over rows (T, E), summed in short pieces on a device.

    On a device, a single sum would lose a digit that the quotient needs.
    """
    if namespace(side).is_host:
        return side.T @ side
    whole = len(side) // PIECE * PIECE
    pieces = side[:whole].reshape(-1, PIECE, side.shape[1])
    return (pieces.mT @ pieces).sum(0) + side[whole:].T @ side[whole:]


def resonant(spectrum: Spectrum) -> Array:
    """Return flags of the modes (real modes, then pairs) with a product λ_i λ_j close to 1."""
    modes = np.concatenate([spectrum.real, spectrum.pairs])
    near = np.flatnonzero(np.abs(modes) * spectrum.radius > 1 - RESONANT)
    flags = np.zeros(modes.size, bool)
    for i in near:
        close = np.abs(1 - modes[i] * modes[near]) < RESONANT
        close |= np.abs(1 - modes[i] * modes[near].conj()) < RESONANT
        flags[near[close]] = True
    return flags


def _stein(spectrum: Spectrum, B: Array, moments: Moments, least: float, out: Array) -> None:
    """Write Σ rᵀr in the Q layout into ``out`` (N, N), in blocks of rows that stay in cache."""
    n, D, xp = spectrum.real.size, len(B), namespace(moments.C)
    count = spectrum.real.size + spectrum.pairs.size
    modes = xp.asarray(np.concatenate([spectrum.real, spectrum.pairs]).astype(complex, copy=False))
    b = separate(to_like(B, moments.C), n).T
    c = separate(moments.C[:D], n).T
    starts, stops = separate(moments.starts, n), separate(moments.stops, n)
    # c_i B_j + B_i (c_j − S B_j) is one product of width 2D.
    left = xp.concatenate([c, b], axis=1)
    S = xp.asarray(moments.S[:D, :D], b.dtype)
    right = xp.concatenate([b, c - b @ S], axis=1)

    def sums(rows: slice, conjugate: bool) -> Array:
        """Return Σ z_i z_j, or Σ z_i z̄_j if ``conjugate`` is True."""
        other, right_, starts_, stops_ = (
            xp.conj(A) if conjugate else A for A in (modes, right, starts, stops)
        )
        product = modes[rows, None] * other
        total = left[rows] @ right_.T
        total -= product * (stops[:, rows].T @ stops_ - starts[:, rows].T @ starts_)
        gap = xp.subtract(1, product, out=product)
        gap[xp.abs(gap) < least] = np.inf
        return xp.divide(total, gap, out=total)

    def fill(start: int, stop: int) -> None:
        rows = slice(start, stop)
        g, h = sums(rows, False), sums(rows, True)
        plus, minus = 0.5 * (g + h), 0.5 * (h - g)
        # Re z Re z' = Re(z z' + z z̄')/2 and so on; a real mode has no Im column.
        here = rows if stop <= n else slice(2 * start - n, 2 * stop - n, 2)
        out[here, :n], out[here, n::2] = plus[:, :n].real, plus[:, n:].real
        out[here, n + 1 :: 2] = -minus[:, n:].imag
        if start >= n:
            here = slice(2 * start - n + 1, 2 * stop - n + 1, 2)
            out[here, :n], out[here, n::2] = plus[:, :n].imag, plus[:, n:].imag
            out[here, n + 1 :: 2] = minus[:, n:].real

    most = ROWS if xp.is_host else DEVICE_ROWS
    edges = [*range(0, n, most), *range(n, count, most), count]
    pieces = [(start, stop) for start, stop in itertools.pairwise(edges) if stop > start]

    def task(first: int, last: int) -> None:
        for start, stop in pieces[first:last]:
            fill(start, stop)

    parts = threads.thread_count() if xp.is_host and count >= LARGE else 1
    threads.run(task, threads.even_split(len(pieces), parts))
