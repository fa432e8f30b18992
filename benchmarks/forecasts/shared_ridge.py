"""One ridge readout for all columns of a table: the next H values from the last p, by sums.

    y(t + h) − m(t) ≈ Σ_k w_kh (y(t − k) − m(t)),   m(t) = mean of y(t − p + 1) … y(t)

Windows of all columns and rows go into XᵀX (p, p) and XᵀY (p, H), a block at a time; the matrix of
all windows is never made. Sums of parts add up, and give the error of any weights:

    ‖Y − X w‖² = ‖Y‖² − 2 ⟨w, XᵀY⟩ + ⟨w, XᵀX w⟩
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

LAGS = 336
RIDGES = tuple(float(10.0**power) for power in np.arange(-3, 6.1, 0.5))
"""Candidates, for standardised columns."""
BLOCK = 2048
"""Windows at a time."""


@dataclass(frozen=True)
class Sums:
    """What ridge regression needs of some windows.

    gram   XᵀX (p, p)
    cross  XᵀY (p, H)
    square ‖Y‖²
    """

    gram: np.ndarray
    cross: np.ndarray
    square: float
    windows: int

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            self.gram + other.gram,
            self.cross + other.cross,
            self.square + other.square,
            self.windows + other.windows,
        )

    def error(self, weights: np.ndarray) -> float:
        """Mean square error of weights (p, H) on these windows."""
        fitted = float((weights * (self.gram @ weights - 2 * self.cross)).sum())
        return (self.square + fitted) / (self.windows * self.cross.shape[1])


def gather(table: np.ndarray, first: int, last: int, horizon: int, lags: int = LAGS) -> Sums:
    """Sums over all columns and origins, for targets that lie within rows ``first`` to ``last``.

    Inputs may reach back before ``first``. An origin is the number of rows seen.
    """
    found = Sums(np.zeros((lags, lags)), np.zeros((lags, horizon)), 0.0, 0)
    for _, X, Y in blocks(table, first, last, horizon, lags):
        found += Sums(X.T @ X, X.T @ Y, float((Y * Y).sum()), len(X))
    return found


def blocks(
    table: np.ndarray, first: int, last: int, horizon: int, lags: int = LAGS
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Levels (n, 1), inputs (n, lags) and targets (n, horizon) minus them, a few at a time."""
    start = max(first, lags) - lags
    for column in np.ascontiguousarray(table.T):
        rolled = np.lib.stride_tricks.sliding_window_view(column[start:last], lags + horizon)
        for row in range(0, len(rolled), BLOCK):
            window = rolled[row : row + BLOCK]
            level = window[:, :lags].mean(axis=1, keepdims=True)
            yield level, window[:, :lags] - level, window[:, lags:] - level


def solution(sums: Sums, ridge: float) -> np.ndarray:
    """Weights (p, H): (XᵀX + α I) w = XᵀY."""
    return next(solutions(sums, (ridge,)))


def solutions(sums: Sums, ridges: tuple[float, ...] = RIDGES) -> Iterator[np.ndarray]:
    """Weights (p, H) of each ridge, from one eigendecomposition."""
    values, vectors = np.linalg.eigh(sums.gram)
    turned = vectors.T @ sums.cross
    for ridge in ridges:
        yield vectors @ (turned / (np.maximum(values, 0) + ridge)[:, None])


def chosen_ridge(train: Sums, validation: Sums) -> float:
    """The ridge whose weights, of the training windows, are best on the validation windows."""
    errors = [validation.error(weights) for weights in solutions(train)]
    return RIDGES[int(np.argmin(errors))]


def errors_within(
    table: np.ndarray, first: int, last: int, weights: np.ndarray
) -> tuple[float, float]:
    """MSE and MAE over all columns, origins and steps whose targets lie in the rows."""
    lags, horizon = weights.shape
    square = absolute = 0.0
    count = 0
    for _, X, Y in blocks(table, first, last, horizon, lags):
        difference = X @ weights - Y
        square += float((difference * difference).sum())
        absolute += float(np.abs(difference).sum())
        count += Y.size
    return square / count, absolute / count
