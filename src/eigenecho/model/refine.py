"""Iterative refinement: normal equations that lose no digits.

Any XᵀX holds half of the digits of X. With residuals of the real series, run through the
network, its errors no longer show in the answer, only in how fast that is reached.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eigenecho import kernels
from eigenecho.model import convolution
from eigenecho.model.rows import CHUNK_BYTES, Block, Rows
from eigenecho.model.structured import lag_count, summed
from eigenecho.readout import Normal, Penalty
from eigenecho.readout.lags import against, correlate
from eigenecho.types import Array

ROUNDS = 8
"""Refinements until the route is given up."""

SLOWEST = 0.3
"""Factor by which a round must shrink the change of the one before."""

CONVERGED = 1e-11
"""Change of the outputs still to come, relative to their size, at which refinement ends."""

ACCURATE = 1e-10
"""Change that is still good enough where rounding lets it sink no further."""

TURNED = 1e-3
"""Weight of a relative change of the weights beside one of the outputs."""

UNIT = 256
"""Rows at whose multiples a run can be cut without changing a bit."""


def refine(
    rows: Rows, block: Block, system: Normal, XtY: Array, penalty: Penalty, ridge: float
) -> Array | None:
    """The weights that the normal equations mean, to all digits; None where they are too far.

        w ← w + (XᵀX + αM)⁻¹ (Xᵀ(Y − X w) − αM w)

    How far a round changes the outputs, ‖X δ‖, tells whether it converges; so does how far it
    changes the weights, ‖L δ‖, since a series may not excite what others will.
    """
    w = system.solve(XtY)
    left = residuals(rows, block, w)
    size = lengths([y[a:b] - e for y, e, (a, b) in zip(rows.outputs, left, block, strict=True)])
    weight = lengths([penalty.times_root(w)])
    size[size == 0] = weight[weight == 0] = 1.0
    last = np.inf
    for _ in range(ROUNDS):
        step = system.solve(project(rows, block, left) - ridge * penalty.apply(w))
        before, left = left, residuals(rows, block, w + step)
        moved = lengths([e - f for e, f in zip(before, left, strict=True)]) / size
        turned = lengths([penalty.times_root(step)]) / weight
        change = float(np.max(np.maximum(moved, TURNED * turned)))
        if not change < SLOWEST * last:  # rounding, or too far off to begin with
            break
        w = w + step
        if change <= CONVERGED or (last < np.inf and change**2 <= CONVERGED * last):
            return w  # the next change will be smaller by the same factor
        last = change
    return w if last <= ACCURATE else None


def lengths(columns: list[Array]) -> Array:
    """The norm of each column over all series, whatever its units."""
    largest = np.max([np.abs(c).max(axis=0, initial=0.0) for c in columns], axis=0)
    largest[largest == 0] = 1.0
    return largest * np.sqrt(sum(np.sum((c / largest) ** 2, axis=0) for c in columns))


def residuals(rows: Rows, block: Block, w: Array) -> list[Array]:
    """Y − X w over a block, (rows, D_out) for each series."""
    outputs = [y[start:stop] for y, (start, stop) in zip(rows.outputs, block, strict=True)]
    return [np.subtract(y, x, out=x) for y, x in zip(outputs, fitted(rows, block, w), strict=True)]


def scatter(rows: Rows, block: Block, w: Array) -> Array:
    """EᵀE of the residuals over a block, (D_out, D_out), some rows at a time."""
    count = max(1, CHUNK_BYTES // (8 * w.shape[1] * UNIT)) * UNIT
    total = np.zeros((w.shape[1], w.shape[1]))
    for i, y in enumerate(rows.outputs):
        for kept, x in _pieces(rows, i, block[i], w, count):
            e = np.subtract(y[kept], x, out=x)
            total += e.T @ e
    return total


def fitted(rows: Rows, block: Block, w: Array) -> list[Array]:
    """X w over a block, (rows, k) for each series and any number k of weight columns."""
    return [
        next(_pieces(rows, i, (start, stop), w, max(stop, 1)))[1]
        for i, (start, stop) in enumerate(block)
    ]


def _pieces(
    rows: Rows, series: int, kept: tuple[int, int], w: Array, count: int
) -> Iterator[tuple[slice, Array]]:
    """X w over the rows ``kept`` of a series, ``count`` of its rows at a time at most."""
    reservoir, (start, stop) = rows.reservoir, kept
    weights = np.ascontiguousarray(w[rows.head :].T)
    drive, head = rows.columns(series)
    state = rows.start(series)
    for first in range(0, max(stop, 1), count):
        piece = drive[first : min(first + count, stop)]
        out = np.empty((len(piece), w.shape[1]))
        fast = convolution.pays(reservoir.form, len(piece), drive.shape[1], w.shape[1])
        fast = fast and convolution.is_even(piece)
        compute = convolution.convolve_readout if fast else kernels.scan_readout
        compute(reservoir.form, reservoir.B, piece, weights, state, out)
        here = slice(max(first, start), first + len(piece))
        if here.stop > here.start or here.stop == stop:
            found = out[here.start - first :]
            found += head[here] @ w[: rows.head]
            yield here, found


def project(rows: Rows, block: Block, residual: list[Array]) -> Array:
    """Xᵀe over a block, (N', D_out)."""
    reservoir = rows.reservoir
    total = np.zeros((rows.size, residual[0].shape[1]))
    K = lag_count(rows)
    for i, (start, stop) in enumerate(block):
        drive, head = rows.columns(i)
        e = residual[i]
        total[: rows.head] += head[start:stop].T @ e
        if K is None:
            _, C, _ = summed(rows, i, drive[:stop], e, start)
        else:
            C = against(reservoir.form, reservoir.B, correlate(e, drive[:stop], start, K))
        total[rows.head :] += C.T
    return total
