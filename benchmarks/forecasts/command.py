"""The command line of the forecast benchmark."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from forecasts.comparison import Task, make, tasks
from forecasts.methods import OURS, PEERS, TOLD
from forecasts.page import by_series, overall, page, ratio
from forecasts.protocol import Series
from forecasts.scores import Scores, Summary, all_scores, summary
from forecasts.store import Store

RESULTS = "FORECAST_RESULTS"
"""Environment variable with the folder of stored forecasts."""


def parse(description: str, folder: Path, words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--only", nargs="+", metavar="PART", help="series whose name contains PART")
    parser.add_argument("--list", action="store_true", help="list the series")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--peers-only", action="store_true", help="run only the other methods")
    which.add_argument("--ours-only", action="store_true",
                       help="run only eigenecho; use stored forecasts of the others")  # fmt: skip
    parser.add_argument("--write", action="store_true", help="write the page in docs")
    parser.add_argument("--results", type=Path, default=os.environ.get(RESULTS, folder),
                        help=f"folder of stored forecasts (or {RESULTS})")  # fmt: skip
    return parser.parse_args(words)


def main(
    title: str, load: Callable[[], list[Series]], folder: Path, document: Path | None = None
) -> int:
    """Run the benchmark and return the exit code."""
    args, console = parse(title, folder), Console(highlight=False)
    series = select_series(load(), args.only)
    if args.list or not series:
        for item in series:
            console.print(f"{item.name}: {item.frequency}, {len(item.values)} rows, "
                          f"horizon {item.horizon}, season {item.season}")  # fmt: skip
        return 0 if series else 2
    store = Store(Path(args.results))
    ours = [] if args.peers_only else [OURS, TOLD]
    methods = ours if args.ours_only else [*PEERS, *ours]
    try:
        with_bar(console, tasks(series, methods), store)
    except KeyboardInterrupt:
        console.print("Interrupted. Finished forecasts are stored; run again to continue.")
        return 130
    scores = all_scores(series, [*PEERS, *ours], store)
    summarised = summary(scores)
    report(console, series, scores, summarised)
    (store.folder / "scores.json").write_text(json.dumps(as_json(scores, summarised), indent=1))
    if args.write and document is not None:
        return write(console, document, page(title, series, scores, summarised), scores, series)
    return 0


def select_series(series: list[Series], parts: Sequence[str] | None) -> list[Series]:
    """Return the series whose names contain one of the parts."""
    return [item for item in series if not parts or any(part in item.name for part in parts)]


def with_bar(console: Console, wanted: list[Task], store: Store) -> None:
    """Make forecasts and show a progress bar."""
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
               TextColumn("{task.fields[doing]}"))  # fmt: skip
    with Progress(*columns, console=console, refresh_per_second=2) as bars:
        bar = bars.add_task("", total=len(wanted), doing="")
        done = -1

        def show(task: Task) -> None:
            nonlocal done
            done += 1
            bars.update(bar, completed=done, doing=f"{task.method} {task.series.name}")

        make(wanted, store, show)
        bars.update(bar, completed=len(wanted), doing="")


def report(console: Console, series: list[Series], scores: Scores, summarised: Summary) -> None:
    """Print the tables."""
    console.print(by_series(series, scores), soft_wrap=True, markup=False)
    console.print(overall(summarised), soft_wrap=True, markup=False)
    console.print(ratio(summarised), soft_wrap=True, markup=False)
    missing = {
        method: len(series) - len(by_series)
        for method, by_series in scores.items()
        if len(by_series) < len(series)
    }
    if missing:
        console.print(f"Left out, because forecasts of this many series are missing: {missing}")


def as_json(scores: Scores, summarised: Summary) -> dict:
    """Return all scores as plain values."""
    return {
        "summary": asdict(summarised),
        "scores": {
            method: {name: asdict(value) for name, value in by_series.items()}
            for method, by_series in scores.items()
        },
    }


def write(console: Console, document: Path, text: str, scores: Scores, series: list[Series]) -> int:
    """Write the page if no forecast is missing."""
    if any(len(by_series) < len(series) for by_series in scores.values()):
        console.print(f"{document.name} was not written: run without --only to make all forecasts.")
        return 1
    document.write_text(text)
    console.print(f"wrote {document}")
    return 0
