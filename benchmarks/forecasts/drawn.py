"""Simulated series with seasons, trends and autocorrelated noise."""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter


def autoregressive(rows: int, memory: float, rng: np.random.Generator) -> np.ndarray:
    """Return x(t) = memory · x(t − 1) + e(t) with variance 1."""
    noise = rng.standard_normal(rows) * np.sqrt(1 - memory**2)
    noise[0] = rng.standard_normal()
    return lfilter([1.0], [1.0, -memory], noise)


def seasonal(rows: int, period: int, rng: np.random.Generator) -> np.ndarray:
    """Return a sine and its second harmonic, with random phases."""
    angles = 2 * np.pi * np.arange(rows) / period
    first, second = rng.uniform(0, 2 * np.pi, 2)
    return np.sin(angles + first) + 0.5 * np.sin(2 * angles + second)


def mixed(rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return a random mixture of a season, a trend and autocorrelated noise."""
    season, trend, noise = rng.uniform(0, [2.0, 2.0, 1.0])
    parts = (
        season * seasonal(rows, int(rng.choice([7, 12, 24])), rng)
        + trend * np.arange(rows) / rows
        + (0.1 + noise) * autoregressive(rows, rng.uniform(0, 0.95), rng)
    )
    return float(rng.lognormal(0, 2)) * (parts + rng.normal(0, 5))


def panel(series: int, rows: int, seed: int = 0) -> np.ndarray:
    """Return mixed series as columns, shape (rows, series)."""
    rng = np.random.default_rng(seed)
    return np.column_stack([mixed(rows, rng) for _ in range(series)])
