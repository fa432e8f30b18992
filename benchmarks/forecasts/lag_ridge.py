"""A simple baseline: ridge regression on lags.

    y(t + h) − y(t) ≈ b_h + Σ_k w_hk (y(t − k) − y(t)),   h = 1 … H,   k = 1 … p

All values are relative to the last one, so the level needs no weight. One ridge for all h is
selected on the last fifth of the rows; the model is then fitted on all rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

RIDGES = tuple(float(10.0**power) for power in range(-6, 4))
"""Candidate ridges, relative to the mean square of the inputs times the number of rows."""

HELD_OUT = 0.2


@dataclass(frozen=True)
class LagRidge:
    """Weights of a fitted model.

    weights    (p, H)
    intercept  (H,)
    """

    weights: np.ndarray
    intercept: np.ndarray
    ridge: float

    def forecast(self, values: np.ndarray) -> np.ndarray:
        """Return the forecast of the next H values, shape (H,)."""
        lags = values[-len(self.weights) - 1 : -1] - values[-1]
        return values[-1] + self.intercept + lags @ self.weights


def fit(values: np.ndarray, horizon: int, season: int) -> LagRidge:
    """Select the ridge on the last fifth of the rows, then fit on all of them."""
    X, Y = windows(values, lags_of(len(values), horizon, season), horizon)
    train, judge = parts(len(X), horizon)
    errors = [
        np.abs(Y[judge:] - _apply(solve(X[:train], Y[:train], ridge), X[judge:])).mean()
        for ridge in RIDGES
    ]
    best = RIDGES[int(np.argmin(errors))]
    return LagRidge(*solve(X, Y, best), best)


def parts(rows: int, horizon: int) -> tuple[int, int]:
    """Return the number of training rows and the first validation row.

    The targets of the training rows end before those of the validation rows start.
    """
    judge = rows - max(1, round(HELD_OUT * rows))
    return max(1, judge - horizon + 1), judge


def lags_of(rows: int, horizon: int, season: int) -> int:
    """Return the number of lags: two seasons, at least 24, at most a third of the series."""
    return max(1, min(max(2 * season, 24), (rows - horizon) // 3))


def windows(values: np.ndarray, lags: int, horizon: int) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs (n, lags) and targets (n, horizon), relative to the value at each row."""
    rolled = np.lib.stride_tricks.sliding_window_view(values, lags + 1 + horizon)
    last = rolled[:, lags : lags + 1]
    return rolled[:, :lags] - last, rolled[:, lags + 1 :] - last


def solve(X: np.ndarray, Y: np.ndarray, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """Solve (XᵀX + α I) w = XᵀY on centred columns: weights (p, H) and intercept (H,)."""
    mean_X, mean_Y = X.mean(axis=0), Y.mean(axis=0)
    X, Y = X - mean_X, Y - mean_Y
    gram = X.T @ X
    penalty = max(ridge * float(np.trace(gram)) / len(gram), np.finfo(float).tiny)
    weights = np.linalg.solve(gram + penalty * np.eye(len(gram)), X.T @ Y)
    return weights, mean_Y - mean_X @ weights


def _apply(readout: tuple[np.ndarray, np.ndarray], X: np.ndarray) -> np.ndarray:
    weights, intercept = readout
    return intercept + X @ weights
