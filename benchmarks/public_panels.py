"""Compare forecasts of public sets of series: MASE, sMAPE, weighted quantile loss and time.

    python benchmarks/public_panels.py FOLDER [--only PART …] [--methods NAME …] [--half design]
    python benchmarks/public_panels.py FOLDER --only M1 --half report --write

``forecasts/panel_sets.py`` describes the files of FOLDER, and ``forecasts/panel_scores.py`` the
measures. ``Forecaster`` is given the horizon and season of the period, and forecasts each series
alone and all series as one panel, with the default prior and without one. Every forecast is stored,
so an interrupted run can be resumed, and other libraries run only once. Forecasts of eigenecho are
made again if its source code has changed, or if ``--version`` is another name. Errors by the usual
protocol for long horizons are measured by ``long_horizon.py``. ``--write`` updates the tables of
docs/public-panels.md.

``make bench-panels BENCH=FOLDER`` installs statsforecast into ``.venv-peers`` and runs this script.
"""

# ruff: noqa: E402
from __future__ import annotations

import os

for variable in ("EIGENECHO", "OPENBLAS", "MKL", "OMP", "NUMBA"):  # read by libraries on import
    os.environ.setdefault(f"{variable}_NUM_THREADS", "1")

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path

from forecasts.panel_methods import METHODS, OURS, available, forecast, identity
from forecasts.panel_page import report, write
from forecasts.panel_runs import score_set
from forecasts.panel_scores import Score, SetScore
from forecasts.panel_sets import HALVES, PanelSet, read_sets

ROOT = Path(__file__).resolve().parent.parent


def parse(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder with the sets")
    parser.add_argument("--only", nargs="+", metavar="PART", help="sets whose name contains PART")
    parser.add_argument("--methods", nargs="+", choices=METHODS, metavar="NAME",
                        help=f"some of: {'; '.join(METHODS)} (default: all available)")  # fmt: skip
    parser.add_argument("--half", choices=HALVES, help="a random half of the series of each set")
    parser.add_argument("--series", type=int, metavar="N", help="a random sample of the series")
    parser.add_argument("--version", help="name of the version of eigenecho "
                        "(default: a digest of its source code)")  # fmt: skip
    parser.add_argument("--stored", action="store_true", help="only show stored results")
    parser.add_argument("--write", action="store_true", help="update docs/public-panels.md")
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "public_panels",
                        help="folder of stored results")  # fmt: skip
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark and return the exit code."""
    args = parse(words)
    sets = [s.sample(args.half, args.series) for s in read_sets(args.folder)
            if not args.only or any(part in s.name for part in args.only)]  # fmt: skip
    if not sets:
        print(f"no sets found in {args.folder}: expected files in the formats of panel_sets.py")
        return 2
    methods = args.methods or [name for name in METHODS if available(name)]
    scores = score_all(sets, methods, args)
    write_scores(args.results / "scores.csv", sets, scores)
    summary = summarise(scores)
    print(report(sets, summary))
    if args.write:
        write(sets, summary)
    return 0


Scores = dict[str, dict[str, list[Score | None]]]
"""Scores by method and set, one for each item of the set."""


def score_all(sets: Sequence[PanelSet], methods: Sequence[str], args: argparse.Namespace) -> Scores:
    """Return the scores by method and set."""
    scores: Scores = {}
    for method in methods:
        version = args.version if args.version and method in OURS else identity(method)
        if not args.stored:  # compile before anything is timed
            forecast(method, [sets[0].items[0].train[:40]], 4, 1)
        scores[method] = {}
        for s in sets:
            print(f"{method}: {s.name}", file=sys.stderr, flush=True)
            scores[method][s.name] = score_set(
                s, method, version, args.results, make=not args.stored
            )
    return scores


def summarise(scores: Scores) -> dict[str, dict[str, SetScore]]:
    """Combine the scores of all items, for sets without missing forecasts."""
    return {
        method: {
            name: SetScore.of([score for score in of_set if score is not None])
            for name, of_set in by_set.items()
            if None not in of_set
        }
        for method, by_set in scores.items()
    }


def write_scores(path: Path, sets: Sequence[PanelSet], scores: Scores) -> None:
    """Write the scores of every series to a CSV file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["set", "series", "window", "method", "mase", "smape", "seconds"])
        for method, by_set in scores.items():
            for s in sets:
                for item, score in zip(s.items, by_set[s.name], strict=True):
                    if score is not None:
                        writer.writerow([s.name, item.name, item.window, method,
                                         score.mase, score.smape, score.seconds])  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
