"""``ridge="auto"`` is as good as the best ridge on test rows.

Every problem, simulated or real, is trained on its first rows with each ridge of a grid, and tested
on its last rows. A problem is included if the worst ridge of the grid has at least 1.3 times the
error of the best. The best ridge is compared with ``auto``, the fixed 1e-8, and a choice on a
validation split, the last fifth of the training rows. Then the coverage of 90% intervals is
measured, with half as many units as rows, with and without the uncertainty of the weights.

Real series are those of statsmodels and sktime (if installed) one row ahead, and the columns of
the given CSV files, 1 and 24 rows ahead. The former, and problems with ``--seed`` 0, 5 and 6, were
used to design the rule: only other seeds are new to it.

With the default seed one problem exceeds 1.5 times the best error, Mackey-Glass with 150 rows for
150 units; docs/ridge.md explains it.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import eigenecho as ee
from common import at_least, at_most, machine, table, verdict
from forecasts.catalogue import CATALOGUE
from forecasts.loading import load
from forecasts.protocol import fill_gaps

RIDGES = [float(f"1e{k}") for k in range(-10, 7)] + [float(f"3e{k}") for k in range(-10, 6)]
"""Two ridges per decade."""

MATTERS = 1.3
"""Smallest ratio of the errors of the worst and the best ridge for including a problem."""

MOST = 1.5
"""Largest acceptable error, relative to that of the best ridge."""


@dataclass(frozen=True)
class Task:
    """A problem: data, the number of training rows, and parameters of the network."""

    name: str
    X: np.ndarray
    y: np.ndarray
    train: int
    options: dict[str, Any] = field(default_factory=dict)

    def network(self, ridge: Any) -> ee.LinearESN:
        """Return an untrained network."""
        defaults = {"units": 100, "sr": 0.95, "standardize": True, "warmup": 20, "seed": 0}
        return ee.LinearESN(**defaults | self.options, ridge=ridge)

    def error(self, ridge: Any) -> tuple[float, float]:
        """Return the test RMSE, and the ridge that was used."""
        esn = self.network(ridge).fit(self.X[: self.train], self.y[: self.train])
        left = esn.predict(self.X)[self.train :] - self.y[self.train :]
        return float(np.sqrt(np.mean(left**2))), esn.ridge_

    def errors(self) -> np.ndarray:
        """Return the test RMSE of all ridges, shape (ridges,)."""
        held_out = [(self.train, len(self.X))]
        grid = {"ridge": RIDGES}
        esn = self.network(1.0)
        return ee.search(esn, grid, self.X, self.y, validation=held_out, refit=False).mean_errors


# Simulated problems -------------------------------------------------------------------------------


def recall(rng: np.random.Generator, T: int) -> tuple[np.ndarray, np.ndarray]:
    """Simulate a noisy, delayed input."""
    u, back = rng.uniform(-1, 1, (T, 1)), int(rng.integers(2, 20))
    return u, np.roll(u, back, axis=0) + rng.choice([0.03, 0.3, 1.0]) * rng.normal(size=u.shape)


def narma(rng: np.random.Generator, T: int) -> tuple[np.ndarray, np.ndarray]:
    """Simulate a quadratic system, which a linear network can learn only in part."""
    u, y = ee.tasks.narma(T, seed=int(rng.integers(1 << 30)))
    return u, y


def chaos(rng: np.random.Generator, T: int) -> tuple[np.ndarray, np.ndarray]:
    """Simulate Mackey–Glass with noise, some steps ahead."""
    ahead = int(rng.choice([1, 6, 17]))
    clean = ee.tasks.mackey_glass(T + ahead + 500)[500:]
    seen = clean + rng.choice([0.003, 0.03, 0.1]) * rng.normal(size=clean.shape)
    return seen[:-ahead], seen[ahead:]


def sines(rng: np.random.Generator, T: int) -> tuple[np.ndarray, np.ndarray]:
    """Simulate sums of sines with noise."""
    clean = ee.tasks.mso(int(rng.integers(3, 9)), T + 1)
    seen = clean + rng.choice([0.01, 0.1, 1.0]) * rng.normal(size=clean.shape)
    return seen[:-1], seen[1:]


def autoregression(rng: np.random.Generator, T: int) -> tuple[np.ndarray, np.ndarray]:
    """Simulate a stable autoregression with two columns, one step ahead."""
    x, e = np.zeros((T + 101, 2)), rng.standard_t(int(rng.choice([3, 30])), (T + 101, 2))
    radius, turn = rng.uniform(0.6, 0.98), rng.uniform(0.1, 2.5)
    for t in range(2, len(x)):
        x[t] = 2 * radius * np.cos(turn) * x[t - 1] - radius**2 * x[t - 2] + e[t] * [1.0, 0.1]
    x = x[100:]
    return x[:-1], x[1:]


def moving_average(rng: np.random.Generator, T: int) -> tuple[np.ndarray, np.ndarray]:
    """Simulate inputs filtered by decaying random weights, with autocorrelated noise."""
    u, e = rng.normal(size=(T, 2)), rng.normal(size=(T, 1))
    taps = rng.normal(size=(30, 2)) * np.exp(-np.arange(30) / rng.uniform(2, 15))[:, None]
    y = sum(np.convolve(u[:, i], taps[:, i])[:T] for i in (0, 1))[:, None]
    for t in range(1, T):
        e[t] += 0.6 * e[t - 1]
    return u, y + rng.choice([0.1, 1.0, 3.0]) * e


KINDS = recall, narma, chaos, sines, autoregression, moving_average


def drawn(seed: int, each: int) -> Iterator[Task]:
    """Yield simulated problems with random numbers of rows and units and random spectra."""
    for kind, number in itertools.product(KINDS, range(each)):
        rng = np.random.default_rng([seed, KINDS.index(kind), number])
        train = int(rng.choice([150, 400, 1500]))
        X, y = kind(rng, train + 1000)
        options = {
            "units": int(rng.choice([50, 150, 300])),
            "sr": float(rng.choice([0.8, 0.95, 0.99])),
            "spectrum": str(rng.choice(["golden", "uniform", "log_ring"])),
            "penalty": str(rng.choice(["neuron", "identity"])),
            "penalize_bias": bool(rng.random() < 0.5),
            "seed": number,
        }
        name = f"{kind.__name__} {number}: T={train} N={options['units']}"
        yield Task(name, X, y, train, options)


# Real problems ----------------------------------------------------------------------------------


def real(files: list[Path]) -> Iterator[Task]:
    """Yield real series of installed packages, and the columns of CSV files."""
    for entry in CATALOGUE:
        try:
            values = fill_gaps(load(entry).values)[:, None]
        except ModuleNotFoundError:
            continue
        yield Task(entry.name, values[:-1], values[1:], int(0.7 * len(values)))
    for file in files:
        import pandas as pd

        columns = pd.read_csv(file).select_dtypes("number")
        for name, ahead in itertools.product(columns, (1, 24)):
            values = columns[name].to_numpy(float)[:14400, None]
            options = {"units": 300, "sr": 0.99, "warmup": 200}
            train = int(0.8 * len(values))
            name_ahead = f"{file.name.partition('.')[0]} {name} {ahead} ahead"
            yield Task(name_ahead, values[:-ahead], values[ahead:], train, options)


def relative_errors(task: Task) -> list[Any]:
    """Return errors relative to the best ridge: auto, 1e-8, validation split, the worst."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        errors = task.errors()
        best = float(errors.min())
        rules = ("auto", 1e-8, sorted(RIDGES))
        by_rule = [task.error(rule) for rule in rules]
    return [
        task.name,
        RIDGES[int(errors.argmin())],
        by_rule[0][1],
        *(error / best for error, _ in by_rule),
        float(errors.max()) / best,
    ]


# Intervals --------------------------------------------------------------------------------------


PROCESSES = {"swing": {1: 1.6, 2: -0.81}, "slow": {1: 0.9}, "season": {1: 0.2, 12: 0.7}}
"""Autoregressive weights by lag."""


def covered(rng: np.random.Generator, process: str, T: int, ridge: Any, steps: int) -> np.ndarray:
    """Return whether 90% intervals cover the next rows, without and with weights."""
    x, lags = rng.normal(size=(T + steps + 200, 1)), PROCESSES[process]
    for t in range(12, len(x)):
        x[t] += sum(weight * x[t - lag] for lag, weight in lags.items())
    x = x[200:]
    options = {"units": T // 2, "standardize": True, "warmup": 10, "seed": int(rng.integers(99))}
    esn = ee.LinearESN(**options, ridge=ridge).fit(x[: T - 1], x[1:T])
    truth, state = x[T : T + steps], esn.final_state_
    without = {"state": state, "interval": 0.9, "noise": esn.noise_covariance_}
    both = esn.model_.forecast(steps, **without), esn.forecast(steps, interval=0.9)
    return np.array([(b.lower <= truth)[:, 0] & (truth <= b.upper)[:, 0] for b in both])


def coverages(seed: int, runs: int) -> list[list[Any]]:
    """Return the coverage of 90% intervals by number of rows and ridge."""
    rows = []
    for T, ridge in itertools.product((100, 200, 400), ("auto", 1e-8)):
        hits = []
        for process, run in itertools.product(PROCESSES, range(runs)):
            rng = np.random.default_rng([seed, T, run, *map(ord, process)])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                hits.append(covered(rng, process, T, ridge, 12))
        before, after = np.mean(hits, axis=(0, 2))
        rows.append([f"T={T}, N={T // 2}, ridge {ridge}", float(before), float(after)])
    return rows


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", help="CSV files with numeric columns")
    parser.add_argument("--each", type=int, default=12, help="simulated problems of each kind")
    parser.add_argument("--runs", type=int, default=100, help="series for each coverage")
    parser.add_argument("--seed", type=int, default=1, help="0, 5 and 6 were used in the design")
    args = parser.parse_args()

    print(machine("eigenecho", "numpy", "scipy"))
    tasks = [*drawn(args.seed, args.each), *real(args.files)]
    rows = [relative_errors(task) for task in tasks]
    rows = sorted((row for row in rows if row[-1] >= MATTERS), key=lambda row: row[3])
    print(f"\n{len(rows)} of {len(tasks)} problems depend on the ridge. Relative errors:\n")
    names = ["problem", "best ridge", "auto took", "auto", "1e-8", "validation split", "worst"]
    table(names, rows)
    numbers = np.array([row[3:] for row in rows])
    shares = {"median": 50, "95%": 95, "largest": 100}
    table(
        ["error relative to the best", *names[3:]],
        [[word, *np.percentile(numbers, share, axis=0)] for word, share in shares.items()],
    )
    intervals = coverages(args.seed, args.runs)
    table(["coverage of 90% intervals", "noise only", "noise and weights"], intervals)
    median = float(np.median(numbers[:, 0]))
    most = float(numbers[:, 0].max())
    for row in (row for row in rows if row[3] > MOST):
        print(f"{row[0]}: {row[3]:.2f} times the error of the best ridge")
    held = float(np.mean([row[2] for row in intervals]))
    return verdict(
        {
            at_least("problems that depend on the ridge", 40, "problems"): len(rows),
            at_most("median error of auto", 1.05, "times that of the best ridge"): median,
            at_most("largest error of auto", MOST, "times that of the best ridge"): most,
            at_least("coverage of 90% intervals", 88, "%"): 100 * held,
            at_most("coverage of 90% intervals", 92, "%"): 100 * held,
        }
    )


if __name__ == "__main__":
    sys.exit(main())
