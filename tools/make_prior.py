"""Fit the default prior of the forecaster to synthetic series, and write it into the package.

    make prior        # about 10 seconds

The series are random, with a fixed seed: trends and damped trends, random walks, ARMA processes,
level shifts, seasons, multiplicative growth, counts and intermittent demand.
"""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter

from eigenecho.data.panel import read
from eigenecho.forecasting.prior import FILE, Prior, fit_prior, seasonal_profile
from eigenecho.forecasting.signals import Measures
from eigenecho.types import Array

SERIES, HORIZON = 4000, 48

SHORTEST, LONGEST = 8, 60
"""Number of rows of a series before the last horizon."""


SEASONAL, SEASONS = 0.3, (4, 7, 12)
"""Share of series with a season, and its periods in rows."""


def trend(rng: np.random.Generator, rows: int, size: float) -> Array:
    """Return a local trend, damped or not, plus a random walk and noise."""
    damping = 1.0 if rng.random() < 0.6 else rng.uniform(0.7, 0.98)
    changes = size * rng.choice([0, 0.02, 0.1, 0.3, 1.0]) * rng.normal(size=rows)
    slope = lfilter([1.0], [1.0, -damping], changes)
    slope += np.exp(rng.normal(-3.2, 1.0)) * rng.choice([1, 1, 1, -1]) * damping ** np.arange(rows)
    walk = size * rng.choice([0.0, 0.3, 1.0]) * rng.normal(size=rows)
    noise = size * rng.choice([0.0, rng.uniform(0, 1.5)]) * rng.normal(size=rows)
    return np.cumsum(slope + walk) + noise


def arma(rng: np.random.Generator, rows: int, size: float) -> Array:
    """Return an ARMA(1, 1) process, sometimes integrated, sometimes with a trend."""
    noise = size * rng.normal(size=rows + 50)
    process = lfilter([1.0, rng.uniform(-0.7, 0.5)], [1.0, -rng.uniform(-0.3, 0.95)], noise)[50:]
    if rng.random() < 0.3:
        process = np.cumsum(process)
    return process + rng.choice([0, 0, 1]) * np.exp(rng.normal(-3.2, 1.0)) * np.arange(rows)


def walk(rng: np.random.Generator, rows: int, size: float) -> Array:
    """Return a random walk, sometimes with a drift."""
    return np.cumsum(size * rng.normal(size=rows) + rng.choice([0.0, 0.3]) * size)


def shifts(rng: np.random.Generator, rows: int, size: float) -> Array:
    """Return noise around a level that changes a few times."""
    level = np.zeros(rows)
    for _ in range(rng.integers(1, 4)):
        level[rng.integers(rows) :] += 5 * size * rng.normal()
    return level + size * rng.uniform(0.1, 1) * rng.normal(size=rows)


def counts(rng: np.random.Generator, rows: int, size: float) -> Array:
    """Return counts whose mean is a random walk, sometimes with many zeros."""
    mean = np.exp(rng.uniform(-1, 4) + np.cumsum(size * rng.normal(size=rows)))
    happens = rng.random(rows) < rng.choice([1.0, 1.0, rng.uniform(0.1, 0.6)])
    return rng.poisson(np.clip(mean, 0, 1e6)) * happens.astype(float)


KINDS = {trend: 0.5, walk: 0.15, arma: 0.15, shifts: 0.1, counts: 0.1}
"""Kinds of series, with their shares."""


def series(rng: np.random.Generator, rows: int) -> Array:
    """Return a random series (rows,) that changes."""
    while True:
        kind = rng.choice(np.array(list(KINDS)), p=list(KINDS.values()))
        y = kind(rng, rows, np.exp(rng.normal(-3.0, 1.0)))
        if kind is not counts:
            y = np.clip(y, -8, 8)
            y = np.exp(y) if rng.random() < 0.6 else 1 + y
            if rng.random() < 0.7:
                y += max(0.1 - y.min(), 0.0)
            y *= np.exp(rng.normal(5, 2))
        if np.ptp(y) > 0:
            return y


def seasonal(rng: np.random.Generator, y: Array) -> Array:
    """Return a series with a season, from which the estimated profile is removed again."""
    period = int(rng.choice(SEASONS))
    profile = np.exp(rng.normal(0, rng.choice([0.03, 0.1, 0.3]), period))
    waves = y * profile[np.arange(len(y)) % period]
    adjusted = waves - seasonal_profile(waves[None], period)[0, np.arange(len(y)) % period]
    return adjusted if y.min() <= 0 or adjusted.min() > 0 else y


def corpus(seed: int = 0) -> list[Array]:
    """Return series of different lengths."""
    rng = np.random.default_rng(seed)
    lengths = np.exp(rng.uniform(np.log(SHORTEST), np.log(LONGEST), SERIES)).astype(int)
    values = [series(rng, int(rows) + HORIZON) for rows in lengths]
    return [seasonal(rng, y) if rng.random() < SEASONAL else y for y in values]


def fitted_prior(corpus: list[Array]) -> Prior:
    """Return the prior that is fitted to a corpus."""
    panel = read(corpus)
    measures = Measures.of(panel, 1, multivariate=False)
    return fit_prior(measures.batches(panel, measures.filled), HORIZON)


if __name__ == "__main__":
    prior = fitted_prior(corpus())
    np.savez(FILE, values=np.float32(prior.values), logarithms=np.float32(prior.logarithms))
    print(f"wrote {FILE.name}: {FILE.stat().st_size / 1000:.0f} kB")
