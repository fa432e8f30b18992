"""Normal equations (``gram``) keep half as many digits as ``qr`` and are a few times faster.

Both solvers fit the same reservoir to the same noisy task for several ridges. Differences between
their predictions are relative to the size of the targets. First, ``qr`` is compared with least
squares on stored states, and both solvers with each other for a large ridge. The claim is tested
for ridges at which ``gram`` considers its system regular; for smaller ones it issues a warning and
returns a minimum-norm solution.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial

import numpy as np

import eigenecho as ee
from common import at_least, check, interleaved, machine, ratio, table, verdict

EASY = 1e4
"""A ridge for which the normal equations keep all digits."""


def fitted(N: int, solver: str, ridge: float, u: np.ndarray, y: np.ndarray) -> ee.LinearESN:
    """Fit a golden network; ``singular`` is True if the solver issued a warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ee.errors.IllConditionedWarning)
        esn = ee.LinearESN(units=N, ridge=ridge, solver=solver, warmup=100, seed=0).fit(u, y)
    esn.singular = any(issubclass(w.category, ee.errors.IllConditionedWarning) for w in caught)
    return esn


def describe_system(esn: ee.LinearESN) -> str:
    """Return whether the solver considered its system singular, as text."""
    return "singular" if esn.singular else "regular"


def textbook(esn: ee.LinearESN, u: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the predictions of ridge regression on stored neuron states."""
    X = np.hstack([np.ones((len(u), 1)), esn.states(u, basis="neuron")])
    rows = np.vstack([X[esn.warmup :], np.sqrt(esn.ridge) * np.eye(X.shape[1])])
    targets = np.vstack([y[esn.warmup :], np.zeros((X.shape[1], 1))])
    return X @ np.linalg.lstsq(rows, targets, rcond=None)[0]


def difference(a: np.ndarray, b: np.ndarray, y: np.ndarray) -> float:
    """Return the largest difference between two predictions, relative to the targets."""
    return float(np.abs(a - b).max() / np.abs(y).max())


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, nargs="+", default=[300, 1000])
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument(
        "--ridges", type=float, nargs="+", default=[1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12]
    )
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()

    print(machine("eigenecho", "numpy", "scipy"))
    rng = np.random.default_rng(0)
    u = rng.uniform(-1, 1, (args.steps, 1))
    y = np.roll(u, 10, axis=0) + 0.1 * rng.normal(size=u.shape)
    worst = 0.0
    for N in args.units:
        print(f"\nN = {N}, T = {args.steps}")
        easy = [fitted(N, solver, EASY, u, y).predict(u) for solver in ("gram", "qr")]
        exact = fitted(N, "qr", 1e-4, u, y)
        checks = {
            f"gram and qr at ridge {EASY:g}": difference(*easy, y),
            "qr and the textbook solution at ridge 1e-4": difference(
                exact.predict(u), textbook(exact, u, y), y
            ),
        }
        for what, error in checks.items():
            print(f"{what}: differs by {error:.0e}")
            check(what, error, 1e-9)

        rows = []
        for ridge in args.ridges:
            models = {s: fitted(N, s, ridge, u, y) for s in ("gram", "qr")}
            gap = difference(models["gram"].predict(u), models["qr"].predict(u), y)
            if not models["gram"].singular:
                worst = max(worst, gap)
            rows.append(
                [f"{ridge:.0e}", f"{gap:.0e}", *(describe_system(models[s]) for s in models)]
            )
        print()
        table(["ridge", "difference", "system of gram", "system of qr"], rows)
        seconds = interleaved(
            {s: partial(fitted, N, s, 1e-6, u, y) for s in ("gram", "qr")}, args.repeats
        )
        print(f"qr takes {ratio(seconds['qr'], seconds['gram']):.1f} times as long as gram")
    print()
    return verdict({at_least("largest relative difference between gram and qr", 1.5e-8, ""): worst})


if __name__ == "__main__":
    sys.exit(main())
