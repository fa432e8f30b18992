"""Measure how many future values the prediction intervals of a Forecaster contain.

Each draw is a series of one kind. A forecaster is fitted to its first rows, and the rows that
follow are compared with its intervals: a right interval of 95% contains 95% of them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping

import numpy as np

from common import machine, table
from forecasts.drawn import autoregressive, seasonal

HORIZON = 4
LEVELS = (0.8, 0.9, 0.95)

KINDS: Mapping[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "white noise": lambda rows, rng: rng.standard_normal(rows),
    "noise with memory 0.7": lambda rows, rng: autoregressive(rows, 0.7, rng),
    "random walk": lambda rows, rng: rng.standard_normal(rows).cumsum(),
    "season of 7 and noise": lambda rows, rng: 2 * seasonal(rows, 7, rng) + rng.normal(size=rows),
    "trend and noise": lambda rows, rng: 0.2 * np.arange(rows) + rng.standard_normal(rows),
}


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="+", default=[30, 60, 120])
    args = parser.parse_args()
    print(machine("eigenecho", "numpy"))
    print(f"{args.draws} draws of each kind, {HORIZON} steps ahead; % of values inside\n")
    lines = []
    for rows in args.rows:
        parts = {kind: coverage(kind, rows, args.draws) for kind in KINDS}
        parts["all"] = np.mean(list(parts.values()), axis=0)
        for kind, shares in parts.items():
            lines.append([str(rows), kind, *(f"{100 * share:.1f}" for share in shares)])
    table(["rows", "kind", *(f"{100 * level:g}%" for level in LEVELS)], lines)
    return 0


def coverage(kind: str, rows: int, draws: int) -> np.ndarray:
    """Return the share of future values inside the intervals of each level."""
    return np.mean([inside(kind, rows, seed) for seed in range(draws)], axis=0)


def inside(kind: str, rows: int, seed: int) -> list[float]:
    """Return the share of HORIZON future values of one draw inside the intervals of each level."""
    import eigenecho as ee

    y = KINDS[kind](rows + HORIZON, np.random.default_rng(seed))
    forecaster = ee.Forecaster(HORIZON).fit(y[:rows])
    shares = []
    for level in LEVELS:
        _, lower, upper = forecaster.predict(interval=level)
        shares.append(float(np.mean((lower <= y[rows:]) & (y[rows:] <= upper))))
    return shares


if __name__ == "__main__":
    sys.exit(main())
