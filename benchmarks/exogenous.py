"""Columns that are known ahead help where they matter, and do not hurt where they do not.

Two kinds of drawn series, fifty of each. In the first y = 10 · promo + noise, and a forecast that
knows promo can err by the noise alone: its error is given over the noise's own. In the second
three columns of noise stand beside a series with memory and a season: the error with them is
given over that without. Forecasts start after every row of the last 240 that have enough rows
ahead, by ``rolling``.
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
class Drawn:
    """A series and what is known ahead of it.

    y      (rows,)
    X      (rows, columns), acting at its own row
    noise  (rows,): what no forecast can know
    """

    y: np.ndarray
    X: np.ndarray
    noise: np.ndarray


def promotion(seed: int) -> Drawn:
    """A promotion on one row of five, at random: y = 10 · promo + noise."""
    rng = np.random.default_rng(seed)
    promo = (rng.random(ROWS) < 0.2).astype(float)
    noise = rng.standard_normal(ROWS)
    return Drawn(EFFECT * promo + noise, promo[:, None], noise)


def irrelevant(seed: int) -> Drawn:
    """A season of 12 and noise with memory, beside three columns that say nothing."""
    rng = np.random.default_rng(seed)
    noise = autoregressive(ROWS, 0.7, rng)
    y = 10 + seasonal(ROWS, 12, rng) + noise
    return Drawn(y, rng.standard_normal((ROWS, 3)), noise)


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
            spread("promo known ahead / noise", args.draws, known_over_noise),
            spread("promo unknown / noise", args.draws, unknown_over_noise),
            spread("with irrelevant / without", args.draws, with_over_without),
        ],
    )
    return 0


def spread(name: str, draws: int, ratio: Callable[[int], float]) -> list[object]:
    """A ratio over draws: its name, median, least and largest value."""
    found = [ratio(seed) for seed in range(draws)]
    return [name, *(float(value) for value in (np.median(found), min(found), max(found)))]


def known_over_noise(seed: int) -> float:
    """The error of a forecast that knows promo, over the noise's own."""
    drawn = promotion(seed)
    return rolling_error(drawn.y, drawn.X) / noise_error(drawn.noise)


def unknown_over_noise(seed: int) -> float:
    """The same without promo: what there is to gain."""
    drawn = promotion(seed)
    return rolling_error(drawn.y, None) / noise_error(drawn.noise)


def with_over_without(seed: int) -> float:
    """The error with columns that say nothing, over that without them."""
    drawn = irrelevant(seed)
    return rolling_error(drawn.y, drawn.X) / rolling_error(drawn.y, None)


def origins() -> np.ndarray:
    """The last rows seen: every one from which 12 rows lie in the test part."""
    return np.arange(ROWS - TEST - 1, ROWS - HORIZON)


def ahead(values: np.ndarray) -> np.ndarray:
    """The rows that each origin forecasts: (origins, 12)."""
    return np.stack([values[row + 1 : row + 1 + HORIZON] for row in origins()])


def noise_error(noise: np.ndarray) -> float:
    """Mean |noise| over the same rows that are forecast, as often."""
    return float(np.abs(ahead(noise)).mean())


def rolling_error(y: np.ndarray, X: np.ndarray | None) -> float:
    """Mean absolute error of forecasts after every origin, fitted once to the rows before."""
    import eigenecho as ee

    fit = ROWS - TEST
    forecaster = ee.Forecaster(HORIZON, seed=0).fit(y[:fit], None if X is None else X[:fit])
    found = forecaster.rolling(y, origins(), X)
    return float(np.abs(np.asarray(found) - ahead(y)).mean())


if __name__ == "__main__":
    sys.exit(main())
