"""Measure how many future values the prediction intervals of a Forecaster contain.

Each draw is a series, or a panel, of one kind. A forecaster is fitted to its first rows, and the
rows that follow are compared with its intervals: a right interval of 95% contains 95% of them.
``--rows`` repeats some kinds with other numbers of rows.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from common import machine, table
from forecasts.drawn import autoregressive, seasonal

HORIZON = 4
LEVELS = (0.8, 0.9, 0.95)
ROWS = 60

Drawn = Callable[[int, np.random.Generator], np.ndarray]

PLAIN: Mapping[str, Drawn] = {
    "white noise": lambda rows, rng: rng.standard_normal(rows),
    "autoregressive noise (coefficient 0.7)": lambda rows, rng: autoregressive(rows, 0.7, rng),
    "random walk": lambda rows, rng: rng.standard_normal(rows).cumsum(),
    "season of 7 and noise": lambda rows, rng: 2 * seasonal(rows, 7, rng) + rng.normal(size=rows),
    "trend and noise": lambda rows, rng: 0.2 * np.arange(rows) + rng.standard_normal(rows),
}
"""Kinds that are drawn with several numbers of rows."""


def _multiplicative(rows: int, rng: np.random.Generator) -> np.ndarray:
    logarithms = 0.01 * np.arange(rows) + 0.3 * seasonal(rows, 7, rng) + rng.normal(0, 0.1, rows)
    return 50 * np.exp(logarithms)


def _level_shifts(rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return noise around a level that changes once in 30 rows, on average."""
    shifts = rng.normal(0, 4, rows) * (rng.random(rows) < 1 / 30)
    return shifts.cumsum() + rng.standard_normal(rows)


def _volatile(rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return a GARCH(1, 1) process."""
    values, variance = np.zeros(rows), 1.0
    for t in range(rows):
        values[t] = np.sqrt(variance) * rng.standard_normal()
        variance = 0.1 + 0.2 * values[t] ** 2 + 0.7 * variance
    return values


def _intermittent(rows: int, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(rows) < 0.3, rng.poisson(3.0, rows) + 1.0, 0.0)


def _outliers(rows: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal(rows) + 8 * (rng.random(rows) < 0.03)


def _gappy(rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return a random walk of which a fifth is missing, but none of the last rows."""
    missing = (rng.random(rows) < 0.2) & (np.arange(rows) < rows - HORIZON)
    return np.where(missing, np.nan, rng.standard_normal(rows).cumsum())


ALONE: Mapping[str, tuple[int, Drawn]] = {
    **{name: (ROWS, draw) for name, draw in PLAIN.items()},
    "growth and season, multiplicative": (ROWS, _multiplicative),
    "heavy tails (t with 3 degrees of freedom)": (ROWS, lambda n, rng: rng.standard_t(3, n)),
    "noise whose scale doubles": (
        ROWS,
        lambda n, rng: 2 ** (np.arange(n) / n) * rng.normal(size=n),
    ),
    "changing volatility (GARCH)": (ROWS, _volatile),
    "level shifts": (ROWS, _level_shifts),
    "outliers": (ROWS, _outliers),
    "counts around 3": (ROWS, lambda n, rng: rng.poisson(3.0, n).astype(float)),
    "intermittent demand": (ROWS, _intermittent),
    "random walk with missing values": (ROWS, _gappy),
    "20 rows of trend and noise": (20, PLAIN["trend and noise"]),
    "10 rows of white noise": (10, PLAIN["white noise"]),
    "10 rows of a random walk": (10, PLAIN["random walk"]),
    "3 rows of a random walk": (3, PLAIN["random walk"]),
}
"""Kinds of single series, with their number of rows."""

PANEL = 20
"""Number of series of a panel."""


def _noisy_panel(rng: np.random.Generator) -> list[np.ndarray]:
    """Return series of a season, with noise of different size."""
    noise = np.geomspace(0.2, 4, PANEL)
    return [2 * seasonal(ROWS, 7, rng) + size * rng.normal(size=ROWS) for size in noise]


def _late_panel(rng: np.random.Generator) -> list[np.ndarray]:
    """Return random walks of logarithms with steps of different size.

    Half of them have a single row before the forecast.
    """
    sizes = rng.lognormal(-3, 0.5, PANEL)
    walks = [rng.lognormal(4, 1) * np.exp(rng.normal(0, s, ROWS).cumsum()) for s in sizes]
    return [walk[-1 - HORIZON :] if i % 2 else walk for i, walk in enumerate(walks)]


PANELS: Mapping[str, tuple[Callable[[np.random.Generator], list[np.ndarray]], slice]] = {
    "panel with different noise levels": (_noisy_panel, slice(None)),
    "panel, series of one row": (_late_panel, slice(1, None, 2)),
}
"""Kinds of panels, and the series whose intervals are counted."""


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="+", help="such as 30 60 120")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print(machine("eigenecho", "numpy"))
    print(f"{args.draws} draws of each kind, {HORIZON} steps ahead; % of values inside\n")
    lines = []
    for rows in args.rows or ():
        parts = {kind: coverage(draw, rows, args.draws) for kind, draw in PLAIN.items()}
        parts["all"] = np.mean(list(parts.values()), axis=0)
        lines += [_line(str(rows), kind, shares) for kind, shares in parts.items()]
    if not args.rows:
        for kind, (rows, draw) in ALONE.items():
            lines.append(_line(str(rows), kind, coverage(draw, rows, args.draws)))
        for kind in PANELS:
            shares = np.mean([in_panel(kind, seed) for seed in range(args.draws // 10)], axis=0)
            lines.append(_line("panel", kind, shares))
    table(["rows", "kind", *(f"{100 * level:g}%" for level in LEVELS)], lines)
    return 0


def _line(rows: str, kind: str, shares: Sequence[float]) -> list[str]:
    return [rows, kind, *(f"{100 * share:.1f}" for share in shares)]


def coverage(draw: Drawn, rows: int, draws: int) -> np.ndarray:
    """Return the share of future values inside the intervals of each level."""
    return np.mean([inside(draw, rows, seed) for seed in range(draws)], axis=0)


def inside(draw: Drawn, rows: int, seed: int) -> list[float]:
    """Return the share of HORIZON future values of one draw inside the intervals of each level."""
    return _inside([draw(rows + HORIZON, np.random.default_rng(seed))], slice(None))


def in_panel(kind: str, seed: int) -> list[float]:
    """Return the share of future values of some series of a panel inside their intervals."""
    draw, counted = PANELS[kind]
    return _inside(draw(np.random.default_rng(seed)), counted)


def _inside(y: Sequence[np.ndarray], counted: slice) -> list[float]:
    import eigenecho as ee

    forecaster = ee.Forecaster(HORIZON).fit([series[:-HORIZON] for series in y])
    future = np.array([series[-HORIZON:] for series in y[counted]])
    shares = []
    for forecasts in forecaster.predict(interval=LEVELS):
        _, lower, upper = np.moveaxis(np.array(forecasts[counted]), 1, 0)
        shares.append(float(np.mean((lower <= future) & (future <= upper))))
    return shares


if __name__ == "__main__":
    sys.exit(main())
