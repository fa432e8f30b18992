"""``fit`` never stores the states: N = 500, T = 1 000 000 needs less than 1 GiB of extra memory.

The states alone would take 4 GB. Each solver runs in a new process, after the data are loaded and
the kernels are compiled. The increase of the peak resident memory during ``fit`` is measured. A
short fit is then compared with the textbook solution on stored states.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from time import perf_counter

from common import (
    MIB,
    at_most,
    check,
    machine,
    memory_in_use,
    output_of,
    peak_memory,
    table,
    verdict,
)

AGREE = {"qr": 1e-9, "normal": 1e-8}
"""Largest relative difference from the textbook prediction."""


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, default=500)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--solvers", nargs="+", default=["normal", "qr", "auto"])
    parser.add_argument("--at-most", type=float, default=1024.0, help="goal in MiB")
    parser.add_argument("--alone", metavar="SOLVER", help="measure one solver in this process")
    args = parser.parse_args()
    if args.alone:
        print(json.dumps(measure(args.units, args.steps, args.alone)))
        return 0

    states = args.units * args.steps * 8 / MIB
    print(machine("eigenecho", "numpy", "scipy"))
    print(f"N = {args.units}, T = {args.steps}: the states would take {states:.0f} MiB\n")
    rows = {solver: in_fresh_process(args, solver) for solver in args.solvers}
    table(
        ["solver", "solver_", "extra / states", "extra MiB", "relative time", "difference"],
        [
            [
                solver,
                row["solver_"],
                row["extra"] / states,
                row["extra"],
                row["seconds"] / rows[args.solvers[0]]["seconds"],
                f"{row['difference']:.0e}",
            ]
            for solver, row in rows.items()
        ],
    )
    for solver, row in rows.items():
        check(f"{solver} and the textbook", row["difference"], AGREE[row["solver_"]])
    peak = max(row["extra"] for row in rows.values())
    return verdict({at_most("extra memory of fit", args.at_most, "MiB"): peak})


def in_fresh_process(args: argparse.Namespace, solver: str) -> dict:
    """Run ``measure`` in a new process."""
    command = [sys.executable, str(Path(__file__).resolve()), "--alone", solver]
    command += ["--units", str(args.units), "--steps", str(args.steps)]
    return json.loads(output_of(command).splitlines()[-1])


def measure(N: int, T: int, solver: str) -> dict:
    """Return the extra memory (MiB) and time of a fit, and the error of a short one."""
    import numpy as np

    import eigenecho as ee

    u = np.random.default_rng(0).uniform(-1, 1, (T, 1))
    y = np.roll(u, 5, axis=0)
    esn = ee.LinearESN(units=N, solver=solver, ridge=1e-4, warmup=50, seed=0)
    ee.LinearESN(units=8, solver=solver, seed=0).fit(u[:200], y[:200])

    before = memory_in_use()
    start = perf_counter()
    esn.fit(u, y)
    seconds = perf_counter() - start
    extra = peak_memory() - before
    return {
        "extra": extra,
        "seconds": seconds,
        "solver_": esn.solver_,
        "difference": difference_from_textbook(esn.set_params(solver=esn.solver_), u, y),
    }


def difference_from_textbook(esn, u, y) -> float:
    """Return the relative difference from ridge regression on stored neuron states."""
    import numpy as np

    rows = min(len(u), 4 * esn.units)
    u, y = u[:rows], y[:rows]
    predicted = esn.fit(u, y).predict(u)
    X = np.hstack([np.ones((rows, 1)), esn.states(u, basis="neuron")])[esn.warmup :]
    penalty = np.sqrt(esn.ridge) * np.eye(X.shape[1])
    stacked = np.vstack([y[esn.warmup :], np.zeros((len(penalty), 1))])
    w = np.linalg.lstsq(np.vstack([X, penalty]), stacked, rcond=None)[0]
    return float(np.abs(predicted[esn.warmup :] - X @ w).max() / np.abs(y).max())


if __name__ == "__main__":
    sys.exit(main())
