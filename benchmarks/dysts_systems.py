"""Forecast the chaotic systems of the package dysts in closed loops.

    pip install dysts
    python benchmarks/dysts_systems.py --half design
    python benchmarks/dysts_systems.py --half test
    python benchmarks/dysts_systems.py --folder dysts_data/benchmark_results

Systems are shuffled with a fixed seed: the first 24 that can be integrated are for design, the next
24 for the test. For each of 20 starts, the 512 rows before it are the only data, with 30 rows per
Lyapunov time. ``ee.search`` selects one of seven maps of the current row (linear, quadratic, cubic,
cosines of three scales, tanh) and a ridge, by the errors of closed loops on three blocks of these
rows. Forecasts are 10 Lyapunov times long. The valid time (``ee.metrics.valid_time`` with a
threshold of 0.5) of a system is the mean over its starts, at most 10.

Trajectories are integrated with DOP853 at a tolerance of 1e-12, and stored in ``results/dysts``.
``--folder`` reads the trajectories that Zhang and Gilpin published (ICLR 2025) in the repository
github.com/williamgilpin/dysts_data instead, leaves out the systems of the design half, and also
scores the forecasts that they published. Their sampling is the same. Finished systems are stored in
``results``, so that an interrupted run can be resumed.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import numpy as np

import eigenecho as ee
from common import at_least, machine, number, replace_part, table, verdict

STARTS, CONTEXT, HORIZON, PER_LYAPUNOV_TIME = 20, 512, 300, 30
HALF = 24
COLUMNS = 10
"""Largest number of columns of a system."""

SECONDS = 90
"""Time after which the integration of a system is given up."""

MAPS = [
    None,
    "quadratic",
    "cubic",
    *(ee.features.cosines(300, scale) for scale in (0.5, 1.0, 2.0)),
    ee.features.tanh(300),
]
RIDGES = [10.0**k for k in range(-22, 1, 2)]
DESIGN_NAMES = 29
"""Number of shuffled systems among which those of the design half are."""

CHRONOS = "zero-shot/chronos_benchmarks_context_512_granularity_30"
TRAINED = "trained/darts_benchmarks_granularity_30"
PUBLISHED = {
    "Chronos, base": (f"{CHRONOS}/forecast_{{}}_base_granularity30.npy", "zero-shot, univariate"),
    "N-BEATS": (f"{TRAINED}/forecast_{{}}_NBEATS_granularity30.npy", "trained on the 512 rows"),
    "NVAR": (f"{TRAINED}/forecast_{{}}_NVAR_granularity30.npy", "trained on the 512 rows"),
}
"""Files of published forecasts, and how they were made."""

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "guides" / "chaotic-systems.md"


def integrate(name: str) -> np.ndarray | None:
    """Return trajectories (starts, rows, columns) of a system, or None if that fails."""
    from dysts import flows
    from scipy.integrate import solve_ivp

    system = getattr(flows, name)()
    exponent, start = system.maximum_lyapunov_estimated, np.array(system.ic, float)
    if not exponent or exponent <= 0 or start.ndim > 1 or len(start) > COLUMNS:
        return None
    if hasattr(system, "tau"):  # a delay equation
        return None
    dt = 1 / (PER_LYAPUNOV_TIME * exponent)
    rng, begin = np.random.default_rng(sum(map(ord, name))), perf_counter()
    rows = dt * np.arange(CONTEXT + HORIZON)

    def flow(time: float, state: np.ndarray) -> np.ndarray:
        return np.asarray(system.rhs(state, time), float)

    def advance(state: np.ndarray, steps: int) -> np.ndarray:
        return solve_ivp(flow, (0, steps * dt), state, "LSODA", rtol=1e-9, atol=1e-9).y[:, -1]

    state, result = advance(start, 300), []
    for _ in range(STARTS):
        state = advance(state * (1 + 0.01 * rng.normal(size=state.size)), 200)
        options = {"rtol": 1e-12, "atol": 1e-12, "max_step": 4 * dt}
        solution = solve_ivp(flow, (0, rows[-1]), state, "DOP853", rows, **options)
        done = solution.success and np.isfinite(solution.y).all()
        if not done or perf_counter() - begin > SECONDS:
            return None
        result.append(solution.y.T)
    return np.array(result)


def shuffled_names() -> list[str]:
    """Return the names of all systems in the order in which they are used."""
    from dysts.systems import get_attractor_list

    names = sorted(get_attractor_list())
    np.random.default_rng(0).shuffle(names)
    return names


def published(folder: Path) -> dict[str, np.ndarray]:
    """Return the published trajectories of all systems that are not in the design half."""
    systems = {}
    for path in sorted(folder.glob("zero-shot/trajectory_data/context_*.npy")):
        name = path.name.split("_")[1]
        (after,) = path.parent.glob(f"forecast_{name}_*.npy")
        if name not in shuffled_names()[:DESIGN_NAMES]:
            systems[name] = np.concatenate([np.load(path), np.load(after)], axis=1)
    return systems


def trajectories(half: str, folder: Path) -> dict[str, np.ndarray]:
    """Return the trajectories of one half of the systems; integrate those that are not stored."""
    folder.mkdir(parents=True, exist_ok=True)
    usable: dict[str, np.ndarray] = {}
    for name in shuffled_names():
        path = folder / f"{name}.npy"
        if not path.exists():
            print(f"integrating {name}", flush=True)
            try:
                rows = integrate(name)
            except (ArithmeticError, TypeError, ValueError, IndexError, AttributeError):
                rows = None  # a system of another kind
            np.save(path, np.empty(0) if rows is None else rows)
        rows = np.load(path)
        if rows.size:
            usable[name] = rows
        if len(usable) == 2 * HALF or (half == "design" and len(usable) == HALF):
            break
    items = list(usable.items())
    return dict(items[:HALF] if half == "design" else items[HALF:])


def forecast(context: np.ndarray) -> tuple[np.ndarray, object]:
    """Return a forecast of the rows after a context, and the selected map."""
    X, y, n = context[:-1], context[1:], len(context) - 1
    edges = np.linspace(0.4 * n, n, 4).astype(int).tolist()
    base = ee.LinearESN(spectrum=ee.delay_line(1), standardize=True, warmup=10, seed=0)
    grid, blocks = {"features": MAPS, "ridge": RIDGES}, list(pairwise(edges))
    esn = ee.search(base, grid, X, y, validation=blocks, score="loop").best_estimator
    if esn.model_.output_range is not None:
        return esn.forecast(HORIZON, context), esn.features
    try:
        return esn.forecast(HORIZON, context), None
    except ee.errors.UnstableError:
        return np.full((HORIZON, context.shape[1]), np.nan), None


def valid_time(truth: np.ndarray, guess: np.ndarray) -> float:
    """Return the valid time of a forecast in Lyapunov times."""
    return ee.metrics.valid_time(truth, guess, dt=1 / PER_LYAPUNOV_TIME, lyapunov=1.0)


def evaluate(rows: np.ndarray) -> dict[str, object]:
    """Return valid times, divergences and selected maps of one system."""
    times, diverged, maps, begin = [], 0, [], perf_counter()
    for trajectory in rows:
        guess, features = forecast(trajectory[:CONTEXT])
        diverged += bool(np.isnan(guess).any())
        times.append(valid_time(trajectory[CONTEXT:], guess))
        maps.append(str(features))
    seconds = (perf_counter() - begin) / len(rows)
    return {"times": times, "diverged": diverged, "maps": maps, "seconds": seconds}


def published_rows(folder: Path, systems: dict[str, np.ndarray], starts: int) -> list[tuple]:
    """Return the mean and median valid times of published forecasts of the same systems."""
    rows = []
    for model, (file, how) in PUBLISHED.items():
        means = []
        for name, truth in systems.items():
            guesses = np.load(folder / file.format(name)).reshape(STARTS, HORIZON, -1)
            guesses = np.where(np.isfinite(guesses), guesses, np.nan)[:: STARTS // starts]
            pairs = zip(truth[:, CONTEXT:], guesses, strict=True)
            means.append(np.mean([valid_time(*pair) for pair in pairs]))
        rows.append((model, np.mean(means), np.median(means), how))
    return rows


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=["design", "test"], default="design")
    parser.add_argument("--folder", type=Path, help="folder with published trajectories")
    parser.add_argument("--starts", type=int, default=STARTS, help="starts of each system")
    parser.add_argument("--write", action="store_true", help="update the table of the guide")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print(machine("numpy", "eigenecho"))
    if args.folder:
        systems, kind = published(args.folder), "published"
    else:
        systems, kind = trajectories(args.half, ROOT / "results" / "dysts"), args.half
    systems = {name: rows[:: len(rows) // args.starts] for name, rows in systems.items()}
    store = ROOT / "results" / f"dysts_{kind}_{args.starts}.json"
    results = json.loads(store.read_text()) if store.exists() else {}
    for name, rows in systems.items():
        if name not in results:
            print(name, flush=True)
            results[name] = evaluate(rows)
            store.parent.mkdir(exist_ok=True)
            store.write_text(json.dumps(results))
    mean = {name: float(np.mean(result["times"])) for name, result in results.items()}
    lines = [
        (name, mean[name], results[name]["diverged"], max(results[name]["maps"],
         key=results[name]["maps"].count))
        for name in sorted(mean, key=mean.get)
    ]  # fmt: skip
    table(["system", "valid time", "diverged", "most frequent map"], lines)
    values = np.array(list(mean.values()))
    diverged = sum(result["diverged"] for result in results.values())
    seconds = np.mean([result["seconds"] for result in results.values()])
    print(f"{len(values)} systems, {diverged} forecasts diverged, {seconds:.2f} s per fit")
    if args.folder:
        rows = published_rows(args.folder, systems, args.starts)
        rows.insert(0, ("eigenecho", values.mean(), np.median(values), "trained on the 512 rows"))
        table(["", "mean", "median", ""], rows)
        if args.write:
            lines = [f"| {len(systems)} systems, {args.starts} starts | mean | median | |"]
            lines += ["|---|---:|---:|---|"]
            lines += [f"| {a} | {number(b)} | {number(c)} | {d} |" for a, b, c, d in rows]
            PAGE.write_text(replace_part(PAGE.read_text(), "published", lines))
    elif args.write:
        cells = [f"{name} {number(mean[name])}" for name in sorted(mean, key=mean.get)]
        mean_time, median = number(values.mean()), number(np.median(values))
        total = args.starts * len(values)
        text = (
            f"The mean valid time is {mean_time} Lyapunov times and the median is {median}; each "
            f"forecast is 10 Lyapunov times long. Of {total} forecasts, {diverged} diverged. The "
            f"mean valid times of the systems are: {', '.join(cells)}."
        )
        PAGE.write_text(replace_part(PAGE.read_text(), "dysts", [text]))
    return verdict(
        {
            at_least("mean", 3.0, "Lyapunov times"): float(values.mean()),
            at_least("median", 1.5, "Lyapunov times"): float(np.median(values)),
        }
    )


if __name__ == "__main__":
    sys.exit(main())
