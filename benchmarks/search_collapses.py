"""``ee.search`` is faster than a naive grid search: it factorises once for all ridges and scalings.

Measures the time per configuration of ``ee.search`` and of three alternatives on a sample of the
paper's MSO grid (N = 100, golden spectrum), after checking that errors agree:

- naive: states and a solve for each configuration, in NumPy;
- states once: states for each (leak, radius), and a solve for each ridge and scaling, in NumPy;
- reservoirpy: a model fitted and run for each configuration.

The goals are speedups of at least 20, 3 and 30. The results are wrong if errors differ by more
than a factor of 2 in more than 5% of the configurations.
"""

from __future__ import annotations

import argparse
import itertools
import sys

import numpy as np
from threadpoolctl import threadpool_limits

import eigenecho as ee
from common import WrongAnswer, at_least, interleaved, machine, number, ratio, table, verdict

RIDGES = [10.0**k for k in range(-11, 1)]
SCALINGS = [0.01, 0.1, 1.0]
WANTED = {"naive": 20.0, "states once": 3.0, "reservoirpy": 30.0}


def drawn(lr: float, sr: float, N: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return λ', W_in (1, N) and Q of the network that the library draws, at scaling 1."""
    X = np.zeros((2, 1))
    esn = ee.LinearESN(N, lr=lr, sr=sr, seed=0, ridge=1.0).fit(X, X)
    model = esn.model_
    return model.spectrum, model.reservoir.W_in, model.basis.Q


def states(spectrum: ee.Spectrum, W_in: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Compute states with the memory-view step of the paper, in NumPy."""
    n = spectrum.real.size
    r = np.zeros(spectrum.units)
    out = np.empty((len(u), r.size))
    pairs = r[n:].view(complex)
    for t in range(len(u)):
        r[:n] *= spectrum.real
        pairs *= spectrum.pairs
        r += u[t] @ W_in
        out[t] = r
    return out


def validation_error(R: np.ndarray, y: np.ndarray, Q: np.ndarray, alpha: float) -> float:
    """Fit a ridge regression by QR and return the RMSE on the validation rows."""
    X = np.concatenate([np.ones((len(R), 1)), R], axis=1)
    penalty = np.eye(X.shape[1])
    penalty[1:, 1:] = Q
    train = slice(100, 400)
    A = np.concatenate([X[train], np.sqrt(alpha) * penalty])
    b = np.concatenate([y[train], np.zeros((X.shape[1], 1))])
    factor, top = np.linalg.qr(np.concatenate([A, b], axis=1), mode="r"), X.shape[1]
    w = np.linalg.solve(factor[:top, :top], factor[:top, top:])
    return float(np.sqrt(np.mean((y[400:700] - X[400:700] @ w) ** 2)))


def naive(pairs, u, y, N, *, once: bool) -> dict:
    """Return the error of every configuration, by a naive search."""
    errors = {}
    for lr, sr in pairs:
        spectrum, W_in, Q = drawn(lr, sr, N)
        shared = states(spectrum, W_in, u) if once else None
        for s, alpha in itertools.product(SCALINGS, RIDGES):
            R = s * shared if once else states(spectrum, s * W_in, u)
            errors[lr, sr, s, alpha] = validation_error(R, y, Q, alpha)
    return errors


def collapsed(pairs, u, y, N) -> dict:
    """Return the error of every configuration, by ``ee.search``."""
    errors = {}
    for lr, sr in pairs:
        grid = {"input_scaling": SCALINGS, "ridge": RIDGES, "lr": [lr], "sr": [sr]}
        searched = ee.search(
            ee.LinearESN(N, warmup=100, seed=0), grid, u, y, validation=[(400, 700)], refit=False
        )
        for params, error in zip(searched.params, searched.errors[:, 0, 0], strict=True):
            errors[lr, sr, params["input_scaling"], params["ridge"]] = error
    return errors


def with_reservoirpy(pairs, u, y, N) -> dict:
    """Return the error of every configuration, by one reservoirpy model each."""
    from reservoirpy.nodes import Reservoir, Ridge

    errors = {}
    for lr, sr in pairs:
        for s, alpha in itertools.product(SCALINGS, RIDGES):
            model = Reservoir(
                N, lr=lr, sr=sr, input_scaling=s, activation="identity", rc_connectivity=1.0, seed=0
            ) >> Ridge(ridge=alpha)
            model.fit(u[:400], y[:400], warmup=100)
            left = y[400:700] - model.run(u[:700])[400:700]
            errors[lr, sr, s, alpha] = float(np.sqrt(np.mean(left**2)))
    return errors


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", type=int, default=5, help="number of sines")
    parser.add_argument("--units", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    print(machine("eigenecho", "numpy", "reservoirpy"))
    task = ee.tasks.mso_split(args.task)
    u, y, N = task.X[:700], task.y[:700], args.units
    pairs = [(0.3, 0.9), (0.7, 0.5), (1.0, 0.9)]

    ours, theirs = collapsed(pairs, u, y, N), naive(pairs, u, y, N, once=False)
    close = np.mean([0.5 <= ours[key] / theirs[key] <= 2 for key in theirs])
    print(f"{close:.1%} of {len(theirs)} configurations agree within a factor of 2\n")
    if close < 0.95:
        raise WrongAnswer(f"{close:.1%} of the errors agree within a factor of 2, expected 95%")

    jobs = {
        "ours": lambda: collapsed(pairs, u, y, N),
        "states once": lambda: naive(pairs, u, y, N, once=True),
        "naive": lambda: naive(pairs, u, y, N, once=False),
        "reservoirpy": lambda: with_reservoirpy(pairs[:1], u, y, N),
    }
    with threadpool_limits(
        1
    ):  # more BLAS threads only slow down the small systems of the alternatives
        seconds = interleaved(jobs, args.repeats)
    share = {"reservoirpy": len(pairs)}  # slow, so only a third of the sample
    ratios = {name: share.get(name, 1) * ratio(seconds[name], seconds["ours"]) for name in WANTED}
    table(
        ["method", "speedup of ee.search", "goal"],
        [[name, number(ratios[name]), number(WANTED[name])] for name in WANTED],
    )
    return verdict(
        {at_least(name, bound, "times slower than ee.search"): ratios[name]
         for name, bound in WANTED.items()}
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
