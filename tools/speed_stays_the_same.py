"""Compare the speed of two commits, by default of the last release and the working tree.

    python tools/speed_stays_the_same.py [BEFORE [AFTER]] [--rounds N] [--only NAME …]

BEFORE and AFTER are commits or folders with a checkout. Each round runs all jobs with each commit
in a new process and takes the best of several times. The ratio compares the best times over all
rounds and is below 1 if AFTER is slower. Jobs that appear slower are measured again. This takes
about five minutes on an idle machine: ``make speed-check``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

from answers_stay_the_same import ROOT, checkout

SLOWER = 0.9
"""Ratio below which a job counts as slower."""

SECONDS = 0.6
"""Seconds for which a job is repeated in a round."""


def jobs() -> dict[str, Callable[[], object]]:
    """Return the jobs to be timed, by name."""
    import eigenecho as ee

    rng = np.random.default_rng(0)
    u = rng.uniform(-1, 1, (100_000, 1))
    y = np.roll(u, 3)
    reservoir = ee.DiagonalReservoir(1000, seed=0).fit(u[:10])
    out = np.empty((10_000, 1000))
    esn = ee.LinearESN(1000, ridge=1e-6, warmup=100, seed=0).fit(u[:10_000], y[:10_000])
    own = ee.LinearESN(300, ridge=1e-4, warmup=100, seed=0).fit(u[:5000], u[1:5001])
    stream, learner = esn.stream(), own.learner()
    W = rng.normal(size=(300, 300)) / 20
    grid = {"sr": [0.5, 0.9], "lr": [0.5, 1.0], "input_scaling": [0.1, 1], "ridge": [1e-6, 1e-2]}
    # All combinations share one reservoir, so this measures the cost per combination.
    many = {"input_scaling": [0.01, 0.1, 1.0], "ridge": [10.0**k for k in range(-11, 1)]}

    def fit(N: int, T: int, **params: object) -> Callable[[], object]:
        network = ee.LinearESN(N, ridge=1e-6, warmup=100, seed=0, **params)
        return lambda: network.fit(u[:T], y[:T])

    def search(N: int, T: int, combinations: dict[str, list[float]] = grid) -> Callable[[], object]:
        network = ee.LinearESN(N, warmup=100)
        return lambda: ee.search(network, combinations, u[:T], y[:T], refit=False, seeds=[0])

    return {
        "transform": lambda: reservoir.transform(u[:10_000], out=out),
        "fit, N = 100, T = 1000": fit(100, 1000),
        "fit, N = 300, qr": fit(300, 10_000, solver="qr"),
        "fit, N = 1000, T = 10 000": fit(1000, 10_000),
        "fit, N = 1000, T = 100 000": fit(1000, 100_000),
        "fit, float32": fit(200, 5000, dtype="float32"),
        "predict, T = 100 000": lambda: esn.predict(u),
        "predict, T = 1000": lambda: esn.predict(u[:1000]),
        "forecast": lambda: own.forecast(1000),
        "forecast, interval": lambda: own.forecast(200, interval=0.9),
        "stream, 100 steps": lambda: [stream.step(row) for row in u[:100]],
        "learner, 20 steps": lambda: [learner.step(row, row) for row in u[:20]],
        "search, N = 100": search(100, 1000),
        "search, 36 ridges and scalings": search(100, 700, many),
        "search, lagged": search(250, 40_000),
        "conversion": lambda: ee.diagonalize(W, np.ones((1, 300)), np.ones((300, 1))),
    }


def time_jobs(only: list[str]) -> None:
    """Print the best time of each job as JSON, with the package on the path."""
    times = {}
    for name, job in jobs().items():
        if only and not any(part in name for part in only):
            continue
        job()
        durations, end = [], perf_counter() + SECONDS
        while len(durations) < 3 or perf_counter() < end:
            start = perf_counter()
            job()
            durations.append(perf_counter() - start)
        times[name] = min(durations)
    print(json.dumps(times))


def run(tree: Path, only: list[str]) -> dict[str, float]:
    """Run one round in a new process, with the package of one checkout."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    command = [sys.executable, "-W", "ignore", __file__, "--emit", "--only", *only]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def last_release(root: Path = ROOT) -> str:
    """Return the newest release tag before HEAD, or else the newest commit that set the version."""
    newest_tag = ["describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD^"]
    version_set = ["log", "-1", "--format=%h", "-G^version = ", "HEAD^", "--", "pyproject.toml"]
    for words in (newest_tag, version_set):
        command = ["git", "-C", str(root), *words]
        tag = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
        if tag:
            return tag
    sys.exit("No release was found: pass the commit to compare with.")


Times = dict[str, tuple[float, float]]
"""Seconds of each job before and after."""


def best_times(old: Path, new: Path, rounds: int, only: list[str]) -> Times:
    """Return the best times of each job over all rounds."""
    best: Times = {}
    for number in range(rounds):
        # Alternate the order, because the first run affects the state of the machine.
        order = (old, new) if number % 2 == 0 else (new, old)
        times = {tree: run(tree, only) for tree in order}
        merge(best, {name: (times[old][name], times[new][name]) for name in times[old]})
    return best


def merge(best: Times, more: Times) -> None:
    """Keep the smaller times of each job."""
    for name, (before, after) in more.items():
        previous = best.get(name, (before, after))
        best[name] = min(previous[0], before), min(previous[1], after)


def find_slower(best: Times) -> list[str]:
    """Return the names of the jobs that take clearly longer than before."""
    return [name for name, (before, after) in best.items() if before / after < SLOWER]


def main() -> None:
    """Print one line per job. Exit with 1 if a job is slower, measured twice."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", nargs="?", help="the last release by default")
    parser.add_argument("after", nargs="?", default=str(ROOT))
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--emit", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.emit:
        time_jobs(arguments.only)
        return
    before = arguments.before or last_release()
    print(f"comparing with {before}", flush=True)
    with checkout(before) as old, checkout(arguments.after) as new:
        best = best_times(old, new, arguments.rounds, arguments.only)
        if doubtful := find_slower(best):  # may be due to other load
            merge(best, best_times(old, new, arguments.rounds, doubtful))
    for name, (first, second) in best.items():
        print(f"{name:32} {1e3 * first:9.2f} ms → {1e3 * second:9.2f} ms   {first / second:5.2f}")
    names = find_slower(best)
    print(f"slower: {', '.join(names)}" if names else "no job is slower by 10%")
    sys.exit(bool(names))


if __name__ == "__main__":
    main()
