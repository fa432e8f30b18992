"""Compare the speed of two commits and of plain loops, by default of the last release and the tree.

    python tools/speed_stays_the_same.py [BEFORE [AFTER]] [--rounds N] [--only NAME …]

BEFORE and AFTER are commits or folders with a checkout. Each round runs all jobs with each commit
in a new process, on one thread, and takes the best of several times. Some jobs have rivals, which
run in turns with AFTER: the loops of ``benchmarks/suite/plain_loops.py``, which must give the same
numbers, and solvers whose outputs equal those of QR. The ratio of a job is the best time of AFTER
over all rounds, relative to the fastest of BEFORE and the rivals. Jobs that take more than twice as
long are measured up to three times. This takes about ten minutes on an idle machine:
``make speed-check``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from answers_stay_the_same import ROOT, checkout

SLOWER = 1.15
"""Ratio above which a job is listed as slower."""

TOO_SLOW = 2.0
"""Ratio above which a job, measured three times, is an error."""

SECONDS = 0.3
"""Seconds for which a job and each of its rivals are repeated in a round."""

STATES = 2_000_000
"""Number of stored states in comparisons with plain loops; outputs need ten times as many."""

ONE_THREAD = {"EIGENECHO_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

Call = Callable[[], object]


class Job(NamedTuple):
    """A function to be timed, and a function that returns its rivals by name."""

    name: str
    run: Call
    rivals: Callable[[], Mapping[str, Call]] = dict


def jobs() -> Iterator[Job]:
    """Yield all jobs."""
    yield from common_jobs()
    sizes = (10, 20, 50, 100, 300, 1000, 3000, 10_000)
    for dtype, D, N in itertools.product(("float64", "float32"), (1, 3), sizes):
        yield from loop_jobs(N, D, dtype)
    yield from solver_jobs()


def common_jobs() -> Iterator[Job]:
    """Yield what users do often, at usual sizes."""
    import eigenecho as ee

    rng = np.random.default_rng(0)
    u = rng.uniform(-1, 1, (100_000, 1))
    y = np.roll(u, 3)
    esn = ee.LinearESN(1000, ridge=1e-6, warmup=100, seed=0).fit(u[:10_000], y[:10_000])
    own = ee.LinearESN(300, ridge=1e-4, warmup=100, seed=0).fit(u[:5000], u[1:5001])
    stream, learner = esn.stream(), own.learner()
    W = rng.normal(size=(300, 300)) / 20
    grid = {"sr": [0.5, 0.9], "lr": [0.5, 1.0], "input_scaling": [0.1, 1], "ridge": [1e-6, 1e-2]}
    # All combinations share one reservoir, so this measures the cost per combination.
    many = {"input_scaling": [0.01, 0.1, 1.0], "ridge": [10.0**k for k in range(-11, 1)]}

    def fit(N: int, T: int, **params: object) -> Call:
        network = ee.LinearESN(N, ridge=1e-6, warmup=100, seed=0, **params)
        return lambda: network.fit(u[:T], y[:T])

    def search(N: int, T: int, combinations: dict[str, list[float]] = grid) -> Call:
        network = ee.LinearESN(N, warmup=100)
        return lambda: ee.search(network, combinations, u[:T], y[:T], refit=False, seeds=[0])

    yield Job("fit, N = 100, T = 1000", fit(100, 1000))
    yield Job("fit, N = 300, qr", fit(300, 10_000, solver="qr"))
    yield Job("fit, N = 1000, T = 10 000", fit(1000, 10_000))
    yield Job("fit, N = 1000, T = 100 000", fit(1000, 100_000))
    yield Job("fit, N = 2000, T = 50 000", fit(2000, 50_000, penalize_bias=False))
    yield Job("fit, float32", fit(200, 5000, dtype="float32"))
    yield Job("predict, T = 100 000", lambda: esn.predict(u))
    yield Job("predict, T = 1000", lambda: esn.predict(u[:1000]))
    small = ee.LinearESN(50, ridge=1e-6, seed=0).fit(u[:5000], y[:5000])
    many_rows = np.tile(u, (20, 1))
    stack = many_rows.reshape(10_000, 200, 1)
    alone = {"one series": lambda: small.predict(many_rows)}
    yield Job("predict, 10 000 series", lambda: small.predict(stack), lambda: alone)
    yield Job("forecast", lambda: own.forecast(1000))
    yield Job("forecast, interval", lambda: own.forecast(200, interval=0.9))
    yield Job("stream, 100 steps", lambda: [stream.step(row) for row in u[:100]])
    yield Job("learner, 20 steps", lambda: [learner.step(row, row) for row in u[:20]])
    yield Job("search, N = 100", search(100, 1000))
    yield Job("search, 36 ridges and scalings", search(100, 700, many))
    yield Job("search, lagged", search(250, 40_000))
    yield Job("conversion", lambda: ee.diagonalize(W, np.ones((1, 300)), np.ones((300, 1))))


def loop_jobs(N: int, D: int, dtype: str) -> Iterator[Job]:
    """Yield states, outputs and closed loops of N units with D inputs and outputs."""
    import eigenecho as ee

    rng, T, name = np.random.default_rng(0), max(500, STATES // N), f"N = {N}, D = {D}, {dtype}"
    u = rng.uniform(-1, 1, (10 * T, D)).astype(dtype)
    reservoir = ee.DiagonalReservoir(N, seed=0, dtype=dtype).fit(u[:10])
    # The outputs are 1 + r W, so that closed loops neither grow nor vanish.
    W = np.concatenate([np.ones((1, D)), rng.normal(size=(N, D)) * 0.01 / N]).astype(dtype)
    model = ee.LinearModel(reservoir.reservoir_, W)
    out = np.empty((T, N), dtype)
    run = {
        "states": lambda: reservoir.transform(u[:T], out=out),
        "outputs": lambda: model.predict(u),
        "closed loop": lambda: model.forecast(10 * T, u[-1:]),
    }

    def rivals(kind: str) -> Mapping[str, Call]:
        sys.path.insert(0, str(ROOT / "benchmarks"))
        from suite import plain_loops

        spectrum, B = reservoir.reservoir_.spectrum, reservoir.reservoir_.B
        real, re, im = (
            np.ascontiguousarray(part, dtype)
            for part in (spectrum.real, spectrum.pairs.real, spectrum.pairs.imag)
        )
        order = plain_loops.planar(real.size, N)
        planar_B, V = np.ascontiguousarray(B[:, order]), np.ascontiguousarray(W[1:][order].T)
        if kind == "states":
            plain = np.empty_like(out)
            loop = partial(plain_loops.states, real, re, im, planar_B, u, plain)
        else:
            plain, drive = np.empty_like(u), u if kind == "outputs" else u[:, :0]
            function = plain_loops.output if D == 1 else plain_loops.outputs
            loop = partial(function, real, re, im, planar_B, V, drive, u[-1].copy(), plain)
        loop()
        np.testing.assert_allclose(
            run[kind](), plain, rtol=0, atol=1e-4 if dtype == "float32" else 1e-9
        )
        return {"plain loop": loop}

    for kind, call in run.items():
        yield Job(f"{kind}, {name}", call, partial(rivals, kind))


def solver_jobs() -> Iterator[Job]:
    """Yield fits of six tasks with two sizes and three ridges."""
    import eigenecho as ee

    T = 10_000
    noise = np.random.default_rng(0).normal(size=(T + 1, 1))
    mackey, mso = ee.tasks.mackey_glass(T + 1), ee.tasks.mso(5, steps=T + 1)
    lorenz = ee.tasks.lorenz(T + 1, seed=1)
    tasks = {
        "Mackey-Glass": ("golden", mackey[:-1], mackey[1:]),
        "MSO5": ("golden", mso[:-1], mso[1:]),
        "delayed noise": ("golden", noise[:-1], np.roll(noise, 20)[:-1]),
        "noisy Mackey-Glass": ("golden", (mackey + 0.05 * noise)[:-1], mackey[1:]),
        "Lorenz": ("golden", lorenz[:-1], lorenz[1:]),
        "Mackey-Glass, matrix": ("matrix", mackey[:-1], mackey[1:]),
    }
    for task, N, ridge in itertools.product(tasks, (100, 300), (1e-2, 1e-6, 1e-10)):
        spectrum, X, y = tasks[task]
        network = ee.LinearESN(N, spectrum=spectrum, ridge=ridge, warmup=100, seed=0)

        def fit(solver: str, network: ee.LinearESN = network, X=X, y=y) -> ee.LinearESN:
            return clone(network).set_params(solver=solver).fit(X, y)

        def rivals(fit: Callable[[str], ee.LinearESN] = fit, X: object = X) -> Mapping[str, Call]:
            exact, refined = (fit(solver).predict(X) for solver in ("qr", "normal"))
            far = np.abs(refined - exact).max() > 1e-6 * exact.std()
            return {s: partial(fit, s) for s in (("qr",) if far else ("qr", "normal"))}

        yield Job(f"fit, {task}, N = {N}, ridge {ridge:g}", partial(fit, "auto"), rivals)


Times = dict[str, dict[str, float]]
"""Seconds of each job before, after, and of its rivals, by name."""


def time_jobs(only: list[str], side: str) -> Times:
    """Return the best times of jobs, with the package on the path; AFTER includes their rivals."""
    warnings.simplefilter("ignore")
    times: Times = {}
    for job in jobs():
        if only and not any(part in job.name for part in only):
            continue
        calls = {side: job.run, **(job.rivals() if side == "after" else {})}
        best = dict.fromkeys(calls, np.inf)
        end = perf_counter() + SECONDS * len(calls)
        for count in itertools.count():
            if count > 3 and perf_counter() > end:
                break
            for name, call in calls.items():
                start = perf_counter()
                call()
                best[name] = min(best[name], perf_counter() - start)
        times[job.name] = best
    return times


def run(tree: Path, only: list[str], side: str) -> Times:
    """Run one round in a new process, with the package of one checkout."""
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(tree / "src")}
    command = [sys.executable, __file__, "--emit", side, "--only", *only]
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


def measure(best: Times, old: Path, new: Path, rounds: int, only: list[str]) -> None:
    """Run some rounds, and keep the smaller times of each job."""
    for number in range(rounds):
        sides = {"before": old, "after": new}
        # Alternate the order, because the first run affects the state of the machine.
        for side in sides if number % 2 == 0 else reversed(sides):
            merge(best, run(sides[side], only, side))


def merge(best: Times, more: Times) -> None:
    """Keep the smaller times of each job."""
    for name, times in more.items():
        known = best.setdefault(name, {})
        for column, seconds in times.items():
            known[column] = min(seconds, known.get(column, np.inf))


def ratio(times: Mapping[str, float]) -> float:
    """Return the time of AFTER relative to the fastest of BEFORE and the rivals."""
    return times["after"] / min(t for column, t in times.items() if column != "after")


def find_slower(best: Times, limit: float = SLOWER) -> list[str]:
    """Return the names of the jobs whose ratio is above a limit."""
    return [name for name, times in best.items() if ratio(times) > limit]


def main() -> None:
    """Print one line per job. Exit with 1 if a job takes more than twice as long."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", nargs="?", help="the last release by default")
    parser.add_argument("after", nargs="?", default=str(ROOT))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--emit", choices=("before", "after"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.emit:
        print(json.dumps(time_jobs(arguments.only, arguments.emit)))
        return
    before, best = arguments.before or last_release(), {}
    print(f"comparing with {before}", flush=True)
    with checkout(before) as old, checkout(arguments.after) as new:
        measure(best, old, new, arguments.rounds, arguments.only)
        for _ in range(2):  # slow times may be due to other load
            if slow := find_slower(best, TOO_SLOW):
                measure(best, old, new, arguments.rounds, slow)
    for name, times in best.items():
        columns = (f"{column} {1e3 * seconds:.3g} ms" for column, seconds in times.items())
        print(f"{name:44} {ratio(times):5.2f}   {', '.join(columns)}")
    print(f"more than {SLOWER}: {', '.join(find_slower(best)) or 'none'}")
    sys.exit(bool(find_slower(best, TOO_SLOW)))


if __name__ == "__main__":
    main()
