"""A step of a stream, with input validation, is 15 times faster than reservoirpy at N = 1000.

Compares a network trained by reservoirpy with the same network converted by ``diagonalize``.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable

import numpy as np
from scipy import sparse

import eigenecho as ee
from common import at_least, check, interleaved, machine, ratio, table, verdict
from eigenecho.reservoir import Reservoir

PEER = "reservoirpy"
OURS = "stream, eigenbasis"


def networks(N: int, connectivity: float) -> tuple[Callable, dict[str, ee.LinearModel]]:
    """Return the ``step`` of a reservoirpy model, and our models of the same network."""
    from reservoirpy.nodes import Reservoir as Peer
    from reservoirpy.nodes import Ridge

    rng = np.random.default_rng(N)
    W = rng.normal(size=(N, N)) * (rng.random((N, N)) < connectivity)
    W *= 0.9 / np.abs(np.linalg.eigvals(W)).max()
    W_in = rng.uniform(-1, 1, (1, N))
    reservoir = Peer(W=sparse.csr_matrix(W.T), Win=W_in.T.copy(), activation="identity")
    ridge = Ridge(ridge=1e-2)
    peer = reservoir >> ridge
    X = rng.uniform(-1, 1, (2 * N, 1))
    peer.fit(X, np.roll(X, 3, axis=0))
    W_out = np.vstack([np.reshape(ridge.bias, (1, -1)), ridge.Wout])
    model = ee.diagonalize(W, W_in, W_out)
    neurons = ee.LinearModel(Reservoir(sparse.csr_matrix(W), W_in), W_out)
    peer.reset()
    return peer.step, {OURS: model, "stream, neuron basis, sparse": neurons}


def check_equal(peer: Callable, models: dict[str, ee.LinearModel], rows: np.ndarray) -> None:
    """Raise WrongAnswer unless all outputs agree."""
    truth = np.array([np.ravel(peer(row)) for row in rows])
    for name, model in models.items():
        stream = model.stream()
        error = np.abs(np.array([stream.step(row) for row in rows]) - truth).max()
        check(f"{name} and {PEER}", error / np.abs(truth).max(), 1e-8)


def measure(N: int, steps: int, repeats: int, connectivity: float) -> float:
    """Print a table and return the speedup of a stream in the eigenbasis."""
    peer, models = networks(N, connectivity)
    rows = list(np.random.default_rng(1).uniform(-1, 1, (steps, 1)))
    check_equal(peer, models, np.array(rows[:500]))

    def through(step: Callable, rows: list) -> Callable[[], None]:
        def run() -> None:
            for row in rows:
                step(row)

        return run

    cases = {PEER: through(peer, rows)}
    cases |= {name: through(model.stream().step, rows) for name, model in models.items()}
    numbers = [row.item() for row in rows]
    cases[f"{OURS}, rows as numbers"] = through(models[OURS].stream().step, numbers)
    seconds = interleaved(cases, repeats)
    print(f"N = {N}, connectivity {connectivity}, {steps} steps")
    table(
        ["one step", f"speedup over {PEER}", "µs"],
        [
            [name, ratio(seconds[PEER], times), 1e6 * statistics.median(times) / steps]
            for name, times in seconds.items()
        ],
    )
    return ratio(seconds[PEER], seconds[OURS])


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--connectivity", type=float, default=0.1)
    parser.add_argument("--at-least", type=float, default=15.0, help="goal at the largest N")
    args = parser.parse_args()

    print(machine("eigenecho", "reservoirpy", "numpy", "numba") + "\n")
    for N in args.units:
        speedup = measure(N, args.steps, args.repeats, args.connectivity)
    goal = at_least(f"a step at N = {args.units[-1]}", args.at_least, f"times faster than {PEER}")
    return verdict({goal: speedup})


if __name__ == "__main__":
    sys.exit(main())
