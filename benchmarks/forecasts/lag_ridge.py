"""A plain peer: ridge regression of the next values on the last ones.

    y(t + h) − y(t) ≈ b_h + Σ_k w_hk (y(t − k) − y(t)),   h = 1 … H,   k = 1 … p

All values are taken relative to the last one, so that a level needs no weight. One ridge for
all h, chosen by the error on the last fifth of the rows, then fitted to all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

RIDGES = tuple(float(10.0**power) for power in range(-6, 4))
"""Candidates, in units of the mean square of the inputs, times the number of rows."""

HELD_OUT = 0.2


@dataclass(frozen=True)
class LagRidge:
    """Weights of a fitted readout.

    weights    (p, H)
    intercept  (H,)
    """

    weights: np.ndarray
    intercept: np.ndarray
    ridge: float

    def forecast(self, values: np.ndarray) -> np.ndarray:
        """The H values after the end of ``values``: (H,)."""
        lags = values[-len(self.weights) - 1 : -1] - values[-1]
        return values[-1] + self.intercept + lags @ self.weights


def fit(values: np.ndarray, horizon: int, season: int) -> LagRidge:
    """Choose the ridge on the last fifth of the rows, then train on all of them."""
    X, Y = windows(values, lags_of(len(values), horizon, season), horizon)
    train, judge = parts(len(X), horizon)
    errors = [
        np.abs(Y[judge:] - _apply(solve(X[:train], Y[:train], ridge), X[judge:])).mean()
        for ridge in RIDGES
    ]
    best = RIDGES[int(np.argmin(errors))]
    return LagRidge(*solve(X, Y, best), best)


def parts(rows: int, horizon: int) -> tuple[int, int]:
    """How many rows train a candidate, and the first of those that judge it.

    The targets of the former end before those of the latter begin.
    """
    judge = rows - max(1, round(HELD_OUT * rows))
    return max(1, judge - horizon + 1), judge


def lags_of(rows: int, horizon: int, season: int) -> int:
    """How many values are looked at: two seasons, at least 24, and a third of a short series."""
    return max(1, min(max(2 * season, 24), (rows - horizon) // 3))


def windows(values: np.ndarray, lags: int, horizon: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (n, lags) and targets (n, horizon) after each row that has both, minus its value."""
    rolled = np.lib.stride_tricks.sliding_window_view(values, lags + 1 + horizon)
    last = rolled[:, lags : lags + 1]
    return rolled[:, :lags] - last, rolled[:, lags + 1 :] - last


def solve(X: np.ndarray, Y: np.ndarray, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """Weights (p, H) and a free intercept (H,): (XᵀX + α I) w = XᵀY on centred columns."""
    mean_X, mean_Y = X.mean(axis=0), Y.mean(axis=0)
    X, Y = X - mean_X, Y - mean_Y
    gram = X.T @ X
    penalty = max(ridge * float(np.trace(gram)) / len(gram), np.finfo(float).tiny)
    weights = np.linalg.solve(gram + penalty * np.eye(len(gram)), X.T @ Y)
    return weights, mean_Y - mean_X @ weights


def _apply(readout: tuple[np.ndarray, np.ndarray], X: np.ndarray) -> np.ndarray:
    weights, intercept = readout
    return intercept + X @ weights
