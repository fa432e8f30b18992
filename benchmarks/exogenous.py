"""Columns known in advance help if they are relevant and do no harm if they are not.

Simulates fifty series of each of two kinds. In the first, y = 10 · promo + noise, and errors are
relative to the noise. In the second, three columns of noise accompany a seasonal, autocorrelated
series, and errors are relative to those without these columns. ``rolling`` forecasts from every
origin in the last 240 rows.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from common import machine, table
from forecasts.drawn import autoregressive, seasonal

ROWS, TEST, HORIZON = 640, 240, 12
EFFECT = 10.0


@dataclass(frozen=True)
class SimulatedSeries:
    """A series and its columns known in advance.

    y      (rows,)
    X      (rows, columns), aligned with y
    noise  (rows,), the unpredictable part of y
    """

    y: np.ndarray
    X: np.ndarray
    noise: np.ndarray


def promotion(seed: int) -> SimulatedSeries:
    """Simulate y = 10 · promo + noise, with a promotion in one of five rows at random."""
    rng = np.random.default_rng(seed)
    promo = (rng.random(ROWS) < 0.2).astype(float)
    noise = rng.standard_normal(ROWS)
    return SimulatedSeries(EFFECT * promo + noise, promo[:, None], noise)


def irrelevant(seed: int) -> SimulatedSeries:
    """Simulate a seasonal, autocorrelated series with three irrelevant columns."""
    rng = np.random.default_rng(seed)
    noise = autoregressive(ROWS, 0.7, rng)
    y = 10 + seasonal(ROWS, 12, rng) + noise
    return SimulatedSeries(y, rng.standard_normal((ROWS, 3)), noise)


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=50)
    args = parser.parse_args()
    print(machine("eigenecho", "numpy"))
    print(f"{args.draws} draws, {ROWS - TEST} rows to fit, {TEST} to test, {HORIZON} ahead\n")
    table(
        ["error", "median", "best", "worst"],
        [
            spread("promo known in advance / noise", args.draws, known_over_noise),
            spread("promo unknown / noise", args.draws, unknown_over_noise),
            spread("with irrelevant / without", args.draws, with_over_without),
        ],
    )
    return 0


def spread(name: str, draws: int, ratio: Callable[[int], float]) -> list[object]:
    """Return the name of a ratio and its median, minimum and maximum over draws."""
    ratios = [ratio(seed) for seed in range(draws)]
    return [name, *(float(value) for value in (np.median(ratios), min(ratios), max(ratios)))]


def known_over_noise(seed: int) -> float:
    """Return the error of a forecast that knows promo, relative to the noise."""
    drawn = promotion(seed)
    return rolling_error(drawn.y, drawn.X) / noise_error(drawn.noise)


def unknown_over_noise(seed: int) -> float:
    """Return the error of a forecast without promo, relative to the noise."""
    drawn = promotion(seed)
    return rolling_error(drawn.y, None) / noise_error(drawn.noise)


def with_over_without(seed: int) -> float:
    """Return the error with irrelevant columns, relative to that without them."""
    drawn = irrelevant(seed)
    return rolling_error(drawn.y, drawn.X) / rolling_error(drawn.y, None)


def origins() -> np.ndarray:
    """Return all origins whose 12 targets are in the test rows."""
    return np.arange(ROWS - TEST - 1, ROWS - HORIZON)


def ahead(values: np.ndarray) -> np.ndarray:
    """Return the target rows of each origin, shape (origins, 12)."""
    return np.stack([values[row + 1 : row + 1 + HORIZON] for row in origins()])


def noise_error(noise: np.ndarray) -> float:
    """Return the mean |noise| over the target rows of all origins."""
    return float(np.abs(ahead(noise)).mean())


def rolling_error(y: np.ndarray, X: np.ndarray | None) -> float:
    """Fit once and return the mean absolute error of the forecasts from all origins."""
    import eigenecho as ee

    fit = ROWS - TEST
    forecaster = ee.Forecaster(HORIZON, seed=0).fit(y[:fit], None if X is None else X[:fit])
    forecasts = forecaster.rolling(y, origins(), X)
    return float(np.abs(np.asarray(forecasts) - ahead(y)).mean())


if __name__ == "__main__":
    sys.exit(main())
