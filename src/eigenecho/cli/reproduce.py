"""The command ``eigenecho reproduce``, which runs experiments and writes a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer
from joblib import cpu_count
from rich.console import Console
from rich.table import Column, Table

from eigenecho.cli.terminal import check_folder, command_line, fail, say
from eigenecho.pages import format_duration
from eigenecho.paper import report, runner
from eigenecho.paper.cell_store import CellStore, StoreError
from eigenecho.paper.claims import VERDICTS
from eigenecho.paper.runner import CellError
from eigenecho.progress import display

OUT, OUT_QUICK = Path("results/reproduce"), Path("results/quick")
STORE = "cells"
COLOURS = dict(zip(VERDICTS, ("blue", "yellow", "red", "magenta"), strict=True))


def reproduce(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Experiments (see --list). Default: all.", metavar="NAME"),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run smaller experiments, in about a minute.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help=f"Folder for results and report. Default: {OUT}, or {OUT_QUICK} if --quick."
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of processes. Default: one per core.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Number of seeds. Default: depends on the experiment.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="First delete the stored results of these experiments.")
    ] = False,
    listed: Annotated[bool, typer.Option("--list", help="List all experiments.")] = False,
) -> None:
    """Reproduce the tables and figures of the paper, and check each claim.

    Finished results are stored, so that an interrupted command can be continued.
    """
    console = Console()
    if listed:
        console.print(experiment_table())
        return
    folder = out or (OUT_QUICK if quick else OUT)
    command, start, stored = command_line(context, "fresh"), perf_counter(), ""
    try:
        experiments = runner.find_experiments(names or (), quick, seeds)
        check_folder(folder)
        stored = " Finished runs are stored."
        store = CellStore(folder / STORE)
        for experiment in experiments if fresh else ():
            store.forget(experiment)
        totals = {e.name: len(e.cells()) for e in experiments}
        with display(totals, "run", console) as bars:
            runner.run(experiments, store, workers or cpu_count(), bars)
        with console.status("writing the report"):
            # The report includes experiments that earlier runs with these settings finished.
            parts = report.collect(runner.find_experiments((), quick, seeds), store)
            path = report.write(parts, folder, quick, command, perf_counter() - start)
    except OSError as error:
        raise fail(f"Cannot write to {folder}: {error.strerror or error}.{stored}") from None
    except (ValueError, StoreError) as error:
        raise fail(error) from None
    except CellError as error:
        raise fail(error, 1) from None
    except KeyboardInterrupt:
        stored = f"Finished runs are stored in {folder / STORE}"
        raise fail(f"Interrupted. {stored}. To continue, run:\n  {command}", 130) from None
    console.print(summary_table(parts), claim_table(parts))
    if quick:
        say(console, "This is a quick run with fewer seeds, so the verdicts are not reliable.")
    duration = format_duration(perf_counter() - start)
    say(console, f"\nFinished in {duration}. Report:\n  {path}")


def experiment_table() -> Table:
    """Return a table of all experiments."""
    table = Table("name", "title", "part of the paper")
    for experiment in runner.EXPERIMENTS:
        table.add_row(experiment.name, experiment.texts["title"], experiment.texts["paper"])
    return table


def summary_table(parts: Sequence[report.FinishedExperiment]) -> Table:
    """Return a table of finished experiments with their running times and key results."""
    table = Table(
        Column("experiment", no_wrap=True),
        Column("runs", justify="right"),
        Column("time", justify="right", no_wrap=True),
        "key result",
        title="Experiments",
        title_justify="left",
        caption="The time is the sum over all runs, each on one core.",
    )
    for part in parts:
        duration = format_duration(part.seconds)
        table.add_row(part.experiment.name, str(part.cells), duration, part.section.headline)
    return table


def claim_table(parts: Sequence[report.FinishedExperiment]) -> Table:
    """Return a table of the claims of the paper and their verdicts."""
    verdict = Column("verdict", no_wrap=True)
    table = Table("claim", verdict, title="Claims", title_justify="left")
    for _, claim in report.list_claims(parts):
        colour, sign = COLOURS[claim.verdict], VERDICTS[claim.verdict]
        name = f"{claim.claim} (not in the paper)" if claim.ours else claim.claim
        table.add_row(name, f"[{colour}]{sign} {claim.verdict}[/]")
    return table
