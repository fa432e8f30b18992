"""Fits on a cluster are bit-identical if workers are killed, in every step.

A cluster of two processes fits a network repeatedly. Each time, a worker that has just started a
task of a given step is killed (SIGKILL). The weights must be bit-identical to those of an
undisturbed fit. Finally, every worker that reads the data dies: this must raise an error, leave a
working client, and leave nothing on the scheduler.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np

from common import WrongAnswer, at_least, machine, table, verdict

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "dask"))

STEPS = ("validate", "carry", "statistics", "merge", "residuals")


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=10, help="killed workers in each step")
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--steps", nargs="+", default=list(STEPS), choices=STEPS)
    args = parser.parse_args()
    print(machine("eigenecho", "dask", "distributed", "numpy"))
    from distributed import Client

    from clusters import leftovers, local

    with local(2) as cluster, Client(cluster, set_as_default=False) as client:
        rows = [count_equal_fits(cluster, client, step, args) for step in args.steps]
        table(["step", "killed workers", "identical fits", "undisturbed s", "slowest s"], rows)
        given_up = kill_every_reader(client, args)
        works = client.submit(sum, [1, 2]).result(timeout=120) == 3
        left = leftovers(cluster)
    print(f"\nall workers killed: {given_up}\nclient works: {works}; leftovers: {len(left)}")
    fits, total = sum(row[2] for row in rows), args.times * len(args.steps)
    if fits < total:
        raise WrongAnswer(f"{total - fits} of {total} fits differ from an undisturbed fit")
    if not (works and not left and given_up):
        raise WrongAnswer("repeated deaths are not reported, or the cluster is left unusable")
    deaths = at_least("killed workers in the step with the fewest", args.times, "workers")
    return verdict({deaths: min(row[1] for row in rows)})


def network(step: str) -> Any:
    """Return a network whose fit has the given step; only slow modes carry states."""
    import eigenecho as ee

    if step == "carry":
        return ee.LinearESN(60, spectrum="ring", sr=1.0, ridge=1.0, solver="qr", seed=0)
    return ee.LinearESN(60, ridge=1e-2, solver="normal", seed=0)


def data(rows: int) -> tuple[Any, Any]:
    """Return noise, and the same noise three steps earlier, in ten shards."""
    import dask.array as da

    u = np.random.default_rng(0).normal(size=(rows, 1))
    return tuple(da.from_array(part, chunks=(rows // 10, 1)) for part in (u, np.roll(u, 3, axis=0)))


def count_equal_fits(cluster: Any, client: Any, step: str, args: argparse.Namespace) -> list[Any]:
    """Kill workers in one step and count bit-identical fits."""
    from clusters import deaths
    from eigenecho.dask import fit

    X, y = data(args.rows)
    start = perf_counter()
    wanted = fit(network(step), X, y, client=client).W_out_
    undisturbed, seconds, died, same = perf_counter() - start, [], 0, 0
    for number in range(args.times):
        start = perf_counter()
        with deaths(cluster, step, skip=number % 8) as killer:
            weights = fit(network(step), X, y, client=client).W_out_
            seconds.append(perf_counter() - start)
        died += len(killer.killed)
        same += np.array_equal(weights, wanted)
    return [step, died, same, undisturbed, max(seconds)]


def kill_every_reader(client: Any, args: argparse.Namespace) -> str:
    """Return the error message if every worker that reads the data dies."""
    from eigenecho.dask import fit
    from eigenecho.errors import ClusterError

    X, y = data(args.rows)
    try:
        fit(network("validate"), X.map_blocks(fatal, dtype=float, meta=np.empty((0, 1))), y,
            client=client)  # fmt: skip
    except ClusterError as error:
        return str(error)
    return ""


def fatal(block: np.ndarray) -> np.ndarray:
    """Kill the process that reads a block."""
    if block.size:
        sleep(1)  # wait until the nanny has registered the worker and will restart it
        os.kill(os.getpid(), signal.SIGKILL)
    return block


if __name__ == "__main__":
    sys.exit(main())
