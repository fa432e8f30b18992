"""Ridge regression of the next H values on the last p, shared by all columns of a table.

    y(t + h) − m(t) ≈ Σ_k w_kh (y(t − k) − m(t)),   m(t) = mean of y(t − p + 1) … y(t)

The windows of all columns and rows are accumulated in XᵀX (p, p) and XᵀY (p, H) in blocks, without
storing all windows. Sums of several parts can be added, and give the error of any weights:

    ‖Y − X w‖² = ‖Y‖² − 2 ⟨w, XᵀY⟩ + ⟨w, XᵀX w⟩
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

LAGS = 336
RIDGES = tuple(float(10.0**power) for power in np.arange(-3, 6.1, 0.5))
"""Candidate ridges for standardised columns."""
BLOCK = 2048
"""Windows per block."""


@dataclass(frozen=True)
class Sums:
    """Statistics of windows for ridge regression.

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
        """Return the mean squared error of weights (p, H) on these windows."""
        fitted = float((weights * (self.gram @ weights - 2 * self.cross)).sum())
        return (self.square + fitted) / (self.windows * self.cross.shape[1])


def gather(table: np.ndarray, first: int, last: int, horizon: int, lags: int = LAGS) -> Sums:
    """Sum over all columns and origins whose targets are within rows ``first`` to ``last``.

    Inputs may start before ``first``. An origin is the number of rows before a forecast.
    """
    sums = Sums(np.zeros((lags, lags)), np.zeros((lags, horizon)), 0.0, 0)
    for _, X, Y in blocks(table, first, last, horizon, lags):
        sums += Sums(X.T @ X, X.T @ Y, float((Y * Y).sum()), len(X))
    return sums


def blocks(
    table: np.ndarray, first: int, last: int, horizon: int, lags: int = LAGS
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield blocks of levels (n, 1), and inputs (n, lags) and targets (n, horizon) minus them."""
    start = max(first, lags) - lags
    for column in np.ascontiguousarray(table.T):
        rolled = np.lib.stride_tricks.sliding_window_view(column[start:last], lags + horizon)
        for row in range(0, len(rolled), BLOCK):
            window = rolled[row : row + BLOCK]
            level = window[:, :lags].mean(axis=1, keepdims=True)
            yield level, window[:, :lags] - level, window[:, lags:] - level


def solution(sums: Sums, ridge: float) -> np.ndarray:
    """Solve (XᵀX + α I) w = XᵀY for weights (p, H)."""
    return next(solutions(sums, (ridge,)))


def solutions(sums: Sums, ridges: tuple[float, ...] = RIDGES) -> Iterator[np.ndarray]:
    """Yield the weights (p, H) of each ridge, from one eigendecomposition."""
    values, vectors = np.linalg.eigh(sums.gram)
    turned = vectors.T @ sums.cross
    for ridge in ridges:
        yield vectors @ (turned / (np.maximum(values, 0) + ridge)[:, None])


def chosen_ridge(train: Sums, validation: Sums) -> float:
    """Return the ridge with the smallest error on the validation windows."""
    errors = [validation.error(weights) for weights in solutions(train)]
    return RIDGES[int(np.argmin(errors))]


def errors_within(
    table: np.ndarray, first: int, last: int, weights: np.ndarray
) -> tuple[float, float]:
    """Return the MSE and MAE over all columns, origins and steps with targets in the rows."""
    lags, horizon = weights.shape
    square = absolute = 0.0
    count = 0
    for _, X, Y in blocks(table, first, last, horizon, lags):
        difference = X @ weights - Y
        square += float((difference * difference).sum())
        absolute += float(np.abs(difference).sum())
        count += Y.size
    return square / count, absolute / count
