"""Run ``eigenecho forecast`` on simulated tables and compare it with naive baselines.

    drawn_tables.py             # prints
    drawn_tables.py --write     # docs/command-line.md too

Backtests one series of each kind, and several random walks, with the default options of the
command. Reports the verdict against the best naive baseline and the coverage of 90% intervals.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import eigenecho as ee
from common import machine, replace_part
from eigenecho.cli.forecast_table import blocks_of
from eigenecho.cli.verdict import verdicts
from forecasts.drawn import autoregressive

PAGE = Path(__file__).parents[1] / "docs" / "command-line.md"
INTERVAL = 0.9
WALKS, WALK_ROWS, WALK_HORIZON = 30, 400, 20


@dataclass(frozen=True)
class Kind:
    """A kind of simulated series: ``draw(rows, rng)`` returns the values."""

    name: str
    rows: int
    horizon: int
    step: str
    draw: Callable[[int, np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class BacktestResult:
    """Mean absolute errors of a backtest, the verdict, and the coverage."""

    error: float
    rival: str
    rival_error: float
    verdict: str
    held: float


def daily(rows: int, rng: np.random.Generator) -> np.ndarray:
    """Simulate weekly and yearly cycles, a trend and noise."""
    t = np.arange(rows)
    waves = 10 * np.sin(2 * np.pi * t / 7) + 20 * np.sin(2 * np.pi * t / 365.25)
    return 100 + 0.02 * t + waves + rng.normal(0, 5, rows)


def hourly(rows: int, rng: np.random.Generator) -> np.ndarray:
    """Simulate daily and weekly cycles and autocorrelated noise."""
    t = np.arange(rows)
    waves = 20 * np.sin(2 * np.pi * t / 24) + 10 * np.sin(2 * np.pi * t / 168)
    return 100 + waves + 10 * autoregressive(rows, 0.95, rng)


def monthly(rows: int, rng: np.random.Generator) -> np.ndarray:
    """Simulate a growing series with multiplicative season and noise."""
    t = np.arange(rows)
    return 50 * np.exp(0.003 * t + 0.2 * np.sin(2 * np.pi * t / 12) + rng.normal(0, 0.05, rows))


def walk(rows: int, rng: np.random.Generator) -> np.ndarray:
    """Simulate a random walk."""
    return 100 + np.cumsum(rng.standard_normal(rows))


def white(rows: int, rng: np.random.Generator) -> np.ndarray:
    """Simulate white noise."""
    return rng.standard_normal(rows)


KINDS = (
    Kind("daily: weekly and yearly seasons, trend, noise", 3000, 200, "D", daily),
    Kind("hourly: daily and weekly seasons, autocorrelated noise", 4000, 168, "h", hourly),
    Kind("monthly: growth and a season that grows with the level", 600, 36, "MS", monthly),
    Kind("random walk", 3000, 200, "D", walk),
    Kind("white noise", 3000, 200, "D", white),
)


def run_backtest(kind: Kind, seed: int) -> BacktestResult:
    """Simulate a series and backtest a forecaster on it."""
    values = kind.draw(kind.rows, np.random.default_rng(seed))
    y = pd.Series(values, pd.date_range("1960-01-01", periods=kind.rows, freq=kind.step))
    origins = blocks_of(kind.rows, kind.horizon)
    backtest = ee.Forecaster(kind.horizon).backtest(y, origins=origins, interval=INTERVAL)
    best, mae = verdicts(backtest)[0], backtest.summary["mae"]
    held = float(backtest.summary.loc["forecast", "coverage"])
    return BacktestResult(
        float(mae["forecast"]), best.rival, float(mae[best.rival]), best.word, held
    )


def rows_of(kinds: tuple[Kind, ...]) -> list[str]:
    """Return the table with one line per kind."""
    lines = [
        "| series | rows, horizon | eigenecho | best baseline | verdict | coverage |",
        "|---|---|---|---|---|---|",
    ]
    for kind in kinds:
        result = run_backtest(kind, seed=0)
        lines.append(
            f"| {kind.name} | {kind.rows}, {kind.horizon} | {result.error:.3g} | "
            f"{result.rival_error:.3g} ({result.rival}) | {result.verdict} | {result.held:.0%} |"
        )
        print(lines[-1], flush=True)
    return lines


def describe_walks(count: int) -> str:
    """Return a sentence on false verdicts and coverage for random walks."""
    kind = Kind("random walk", WALK_ROWS, WALK_HORIZON, "D", walk)
    results = [run_backtest(kind, seed) for seed in range(count)]
    beaten = sum(result.verdict == "beats" for result in results)
    held = [result.held for result in results]
    return (
        f"Of the forecasts of {count} other random walks ({WALK_ROWS} rows, horizon "
        f"{WALK_HORIZON}), {beaten} {'was' if beaten == 1 else 'were'} reported to beat the best "
        f"baseline; at the 5% level, about one false positive in twenty is expected. The coverage "
        f"was {np.mean(held):.0%} on average, with a minimum of {min(held):.0%}."
    )


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--walks", type=int, default=WALKS)
    parser.add_argument("--write", action="store_true", help="write the table to docs")
    args = parser.parse_args()
    print(machine("eigenecho", "numpy", "pandas"))
    lines = [*rows_of(KINDS), "", describe_walks(args.walks)]
    print(lines[-1])
    if args.write:
        PAGE.write_text(replace_part(PAGE.read_text(encoding="utf-8"), "drawn", lines), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
