"""Scores without states: reservoirs trained from lagged correlations of the data.

The correlations are computed once; every radius, leak, law and seed then costs O(N³) however
long the series is, and the held-out rows are predicted for real.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenecho import kernels
from eigenecho.grid_search.grid import Group
from eigenecho.model import structured
from eigenecho.model.convolution import settling_steps
from eigenecho.model.refine import TURNED, fitted, project
from eigenecho.model.rows import Block, Fold, Rows
from eigenecho.model.train import check_range
from eigenecho.readout import Gram, Lags, Penalty, factorise
from eigenecho.readout.factorised import EPS
from eigenecho.reservoir.memory import Memory, remember
from eigenecho.types import Array

FLOPS = 4e9
"""Operations of an orthogonal factorisation from which it is worth while to do without."""

NEGLIGIBLE = 0.01
"""Change of outputs that is still to come, as a share of the error they are scored with."""

FAST = 0.3
"""Factor by which each round of refinement must shrink the change of the one before."""

ROUNDING = 1e-13
"""Relative change that is rounding."""

RESOLVED = 10
"""Ridges, in roundings of XᵀX, that its factorisation can tell from no ridge."""

ROUNDS = 8

HEAD = 1e-12
"""Smallest eigenvalue of the head's HᵀH, columns of length 1, that refinement can hold on to."""

LARGE = 1 << 25
"""Numbers (rows times candidates) from which the outputs of all candidates take much memory."""


def squared_errors(
    rows: Rows, fold: Fold, penalty: Penalty, group: Group, memory: Memory, key: Any
) -> list[Array] | None:
    """Squared residuals of each held-out block, (scalings, ridges, D_out).

    None where states are the cheaper way, or the only one that is accurate enough to choose by.
    """
    steps = sum(stop for _, stop in fold.train)
    if 2.0 * steps * rows.size**2 < FLOPS or not structured.applies(rows):
        return None
    settling = settling_steps(rows.reservoir.form)
    ridges = np.tile(np.array(group.ridges), len(group.scalings))
    scales = np.repeat(np.array(group.scalings), len(group.ridges))
    if steps * ridges.size * rows.D_out > LARGE or np.any(ridges <= 0):
        return None
    if settling >= min(map(len, rows.inputs)):
        return None
    if head_eigenvalue(rows, fold, memory, key) < HEAD:
        return None
    K = int(settling)
    rows = rows.in_double()
    with np.errstate(over="ignore", invalid="ignore"):  # it shows in the result, checked next
        statistics = structured.gram(rows, fold.train, _lags(rows, fold, K, memory, key))
    check_range(statistics, rows.reservoir)
    factorised = factorise(statistics, penalty, rows.head)
    if np.min(ridges / scales**2) < RESOLVED * EPS * factorised.S.max(initial=0.0) ** 2:
        return None  # below the rounding of XᵀX, where refinement has nothing to hold on to
    W = np.stack([factorised.weights(a, s) for a, s in zip(ridges, scales, strict=True)], axis=1)
    last: Array | None = None
    for _ in range(ROUNDS):
        step = factorised.corrections(
            _gradient(rows, fold, penalty, W, ridges, scales), ridges, scales
        )
        W = W + step
        moved, size = (_rms(A, statistics) for A in (step, W))
        turned = _ratio(_weight(step, penalty), _weight(W, penalty))
        change = np.maximum(_ratio(moved, size), TURNED * turned)
        errors = [_squared(rows, block, W, K) for block in fold.held_out]
        scores = np.sqrt(
            np.min([e / row_count(b) for e, b in zip(errors, fold.held_out, strict=True)], axis=0)
        )
        if last is None:
            last = change
            continue
        # A small change can also be a slow one: only what shrinks fast is nearly done.
        rate = _ratio(change, last)
        settled = (rate <= FAST) & (rate * change <= NEGLIGIBLE * _ratio(scores, size))
        if np.all(settled | (change <= ROUNDING)):
            return [e.reshape(len(group.scalings), len(group.ridges), -1) for e in errors]
        if np.any((rate > FAST) & (change > ROUNDING)):
            return None
        last = change
    return None


def head_eigenvalue(rows: Rows, fold: Fold, memory: Memory, key: Any) -> float:
    """The smallest eigenvalue of HᵀH over the training rows, columns of the head at length 1.

    1 for a single column. Of 1 and a y(t−1) with mean m and deviation σ it is about (σ/m)², which
    sums have to tell from their rounding.
    """
    if rows.head < 2:
        return 1.0

    def smallest() -> float:
        columns = np.concatenate(
            [rows.columns(i)[1][start:stop] for i, (start, stop) in enumerate(fold.train)]
        )
        for size in (np.abs(columns).max(axis=0), np.linalg.norm(columns, axis=0)):
            columns /= np.where(size > 0, size, 1.0)
        R = np.linalg.qr(columns, mode="r")
        return float(np.linalg.svd(R, compute_uv=False)[-1] ** 2)

    return remember(memory, ("head", key, tuple(map(tuple, fold.train))), smallest)


def _rms(W: Array, statistics: Gram) -> Array:
    """RMS of the outputs X w on the training rows, for all candidates, (C, D_out)."""
    squares = np.einsum("icd,ij,jcd->cd", W, statistics.XtX, W, optimize=True)
    return np.sqrt(np.maximum(squares, 0.0) / statistics.rows)


def _weight(W: Array, penalty: Penalty) -> Array:
    """‖L w‖ of all candidates, (C, D_out)."""
    root = penalty.times_root(W.reshape(len(W), -1)).reshape(W.shape)
    return np.linalg.norm(root, axis=0)


def _ratio(a: Array, b: Array) -> Array:
    return a / np.where(b > 0, b, 1.0)


def _gradient(
    rows: Rows, fold: Fold, penalty: Penalty, W: Array, ridges: Array, scales: Array
) -> Array:
    """Xᵀ(Y − X w) − the pull of the penalty, for all candidates W (N', C, D_out)."""
    C = W.shape[1]
    flat = W.reshape(len(W), -1)
    left = [
        np.tile(y[start:stop], C) - x
        for y, x, (start, stop) in zip(
            rows.outputs, fitted(rows, fold.train, flat), fold.train, strict=True
        )
    ]
    pull = penalty.apply(flat).reshape(W.shape)
    pull[: rows.head] *= ridges[:, None]  # the head is not scaled with the states
    pull[rows.head :] *= (ridges / scales**2)[:, None]
    return project(rows, fold.train, left).reshape(W.shape) - pull


def _lags(rows: Rows, fold: Fold, K: int, memory: Memory, key: Any) -> Lags:
    """The correlations of the training rows, shared by all reservoirs that see the same data."""
    key = ("lags", key, tuple(map(tuple, fold.train)))
    known = memory.get(key)
    if known is None or len(known.rho) < K:
        # A power of two, so that reservoirs a little slower need no correlations of their own.
        known = memory[key] = structured.lags(rows, fold.train, 1 << (K - 1).bit_length())
    return known


def _squared(rows: Rows, block: Block, W: Array, K: int) -> Array:
    """Squared residuals (C, D_out) of candidates W (N', C, D_out) over a block.

    The reservoir starts K steps before the block: what came earlier it has forgotten.
    """
    _, C, D = W.shape
    reservoir, k = rows.reservoir, rows.head
    weights = np.ascontiguousarray(W[k:].reshape(-1, C * D).T)
    squared = np.zeros((C, D))
    for i, (start, stop) in enumerate(block):
        drive, head = rows.columns(i)
        first = max(start - K, 0)
        out = np.empty((stop - first, C * D))
        kernels.scan_readout(
            reservoir.form, reservoir.B, drive[first:stop], weights, reservoir.zero_state(), out
        )
        found = out[start - first :].reshape(-1, C, D) + np.tensordot(head[start:stop], W[:k], 1)
        squared += np.sum((rows.outputs[i][start:stop, None] - found) ** 2, axis=0)
    return squared


def row_count(block: Block) -> int:
    """The number of rows in all series."""
    return sum(stop - start for start, stop in block)
