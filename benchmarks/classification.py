"""Compare classifiers on labelled sets of series: accuracy, and CPU time of fit and predict.

    python benchmarks/classification.py FOLDER [--only NAME …] [--seeds 3] [--write]
    python benchmarks/classification.py --memory 10000 1000

``classifiers/sets.py`` describes the formats of FOLDER, which may also be a single file. Every run
is stored, so an interrupted benchmark can be resumed, and MultiRocket and Hydra run only once.
``make bench-classification BENCH=FOLDER`` installs aeon into ``.venv-aeon`` and runs this script.
The second form measures the memory of our classifier for this many series and steps.
"""

# ruff: noqa: E402
from __future__ import annotations

import os

for name in ("EIGENECHO", "OPENBLAS", "MKL", "OMP", "NUMBA"):  # read when libraries are imported
    os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from classifiers.memory import print_memory
from classifiers.methods import METHODS, OURS, PEER, available, identity, run
from classifiers.page import compared, losses, overall, page, speed
from classifiers.scores import Results, SetScore
from classifiers.sets import LabelledSet, read_sets

ROOT = Path(__file__).resolve().parent.parent
SIZES = ((200, 500), (200, 4000), (800, 500))
"""Numbers of series and steps of the simulated sets for timing."""
ROUNDS = 3


def parse(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="folders or files")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="names of sets")
    parser.add_argument("--methods", nargs="+", choices=METHODS, help="default: all installed")
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds (default: 3)")
    parser.add_argument("--write", action="store_true", help="write the page in docs")
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "classification",
                        help="folder of stored results")  # fmt: skip
    parser.add_argument("--memory", nargs=2, type=int, metavar=("SERIES", "STEPS"),
                        help="only measure the memory of our classifier")  # fmt: skip
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark and return the exit code."""
    args = parse(words)
    if args.memory:
        print_memory(*args.memory)
        return 0
    found: dict[str, LabelledSet] = {}
    for folder in args.folders:
        found = {s.name: s for s in read_sets(folder, args.only)} | found
    sets = [found[name] for name in sorted(found)]
    if not sets:
        print("no sets found: pass folders or files with labelled sets")
        return 2
    methods = args.methods or [name for name in METHODS if available(name)]
    results = Results(args.results / "runs.json")
    for method in methods:  # compile before anything is timed
        for warm in (simulated(20, 50), simulated(20, 50, channels=2)):
            run(method, warm, 0)
    scores = score_sets(methods, sets, args.seeds, results)
    speeds = score_sets(methods, [simulated(*size) for size in SIZES], ROUNDS, results)
    if OURS in methods and PEER in methods:
        common = [s for s in sets if all(s.name in of_set for of_set in scores.values())]
        print(overall(common, scores), compared(common, scores), losses(common, scores), sep="\n")
    print(speed(speeds))
    if args.write:
        path = ROOT / "docs" / "classification-benchmark.md"
        path.write_text(page(sets, scores, speeds, args.seeds), encoding="utf-8")
        print(f"wrote {path}")
    return 0


def score_sets(
    methods: Sequence[str], sets: Sequence[LabelledSet], seeds: int, results: Results
) -> dict[str, dict[str, SetScore]]:
    """Return the scores by method and set; the methods take turns on each set and seed."""
    scores: dict[str, dict[str, SetScore]] = {method: {} for method in methods}
    for labelled in sets:
        runs: dict[str, list[dict[str, Any]]] = {method: [] for method in methods}
        for seed in range(seeds):
            for method in methods:
                key = f"{labelled.digest} {identity(method)}"
                result = results.get(method, labelled.name, seed, key)
                if result is None:
                    result = run(method, labelled, seed)
                    results.put(method, labelled.name, seed, key, result)
                runs[method].append(result)
        supported = [method for method in methods if "error" not in runs[method][0]]
        for method in supported:
            scores[method][labelled.name] = SetScore.of(runs[method])
        shown = (f"{method} {scores[method][labelled.name].accuracy:.2%}" for method in supported)
        print(f"{labelled.name}: {', '.join(shown)}", flush=True)
    return scores


def simulated(series: int, steps: int, channels: int = 1) -> LabelledSet:
    """Return noisy oscillations of two frequencies on random walks."""
    rng = np.random.default_rng(0)
    X, y = [], np.arange(series) % 2
    for _ in range(2):
        noise = 0.1 * rng.normal(size=(series, channels, steps)).cumsum(axis=2)
        angle = (0.1 + 0.02 * y)[:, None] * np.arange(steps) + rng.uniform(0, 6, (series, 1))
        X.append(np.sin(angle)[:, None] + noise)
    return LabelledSet(f"{series} × {steps}", X[0], y, X[1], y)


if __name__ == "__main__":
    sys.exit(main())
