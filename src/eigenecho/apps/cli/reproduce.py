"""``eigenecho reproduce``: compute cells, write the report, and print a summary."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table

from eigenecho.apps.cli.outputs import check_folder, fail
from eigenecho.apps.paper import reproduction_report as report
from eigenecho.apps.paper import runner
from eigenecho.apps.paper.cell_store import CellStore, StoreError, UnusableStoreError
from eigenecho.apps.paper.workers import CellError
from eigenecho.apps.shared.pages import CommandRun, format_duration
from eigenecho.apps.shared.terminal import progress, say

OUT, OUT_QUICK = Path("results/reproduce"), Path("results/quick")
COLOURS = {"holds": "blue", "holds in part": "yellow", "does not hold": "red"}


@dataclass(frozen=True)
class ReproduceRequest:
    """Options of the command line; ``None`` selects the default."""

    names: tuple[str, ...] = ()
    quick: bool = False
    out: Path | None = None
    workers: int | None = None
    seeds: int | None = None
    fresh: bool = False
    scheduler: str | None = None

    def __post_init__(self) -> None:
        runner.find_experiments(self.names)
        for option, value in (("--workers", self.workers), ("--seeds", self.seeds)):
            if value is not None and value < 1:
                raise ValueError(f"{option} {value} is invalid: expected at least 1.")

    @property
    def folder(self) -> Path:
        """Folder of all output files."""
        return self.out or (OUT_QUICK if self.quick else OUT)

    @property
    def store(self) -> Path:
        """File with the finished cells."""
        return self.folder / "store.sqlite"

    @property
    def command(self) -> str:
        """Command line that continues from the stored cells."""
        words = ["eigenecho", "reproduce", *self.names]
        words += ["--quick"] if self.quick else []
        for option in ("out", "workers", "seeds", "scheduler"):
            value = getattr(self, option)
            words += [] if value is None else [f"--{option}", str(value)]
        return shlex.join(words)

    def jobs(self, names: Sequence[str] = ()) -> list[runner.Job]:
        """Return the named experiments, or all, with the requested configuration."""
        return [
            runner.Job(e, (e.quick if self.quick else e.config).with_seeds(self.seeds))
            for e in runner.find_experiments(names)
        ]


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Experiments (see --list); by default all.", metavar="NAME"),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run smaller experiments, in about a minute.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help=f"Folder for the store and the report; by default {OUT}, or {OUT_QUICK}."
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Number of processes; by default one per core.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help="Number of seeds; by default that of each experiment.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Delete the stored results of these experiments first.")
    ] = False,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Address of a Dask scheduler; its workers replace local processes."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List all experiments.")] = False,
) -> None:
    """Reproduce the paper's tables and figures, with a verdict on every claim.

    Results are stored: a second run computes only missing results.
    """
    console = Console()
    if listed:
        console.print(experiment_table())
        return
    try:
        request = ReproduceRequest(tuple(names or ()), quick, out, workers, seeds, fresh, scheduler)
        check_folder(request.folder)
    except (ValueError, typer.BadParameter) as error:
        raise fail(error) from None
    try:
        run(request, console)
    except (StoreError, report.ReportError) as error:
        raise fail(error) from None
    except CellError as error:
        raise fail(error, 1) from None
    except KeyboardInterrupt:
        typer.echo(
            f"\ninterrupted: finished cells are kept in {request.store}. Continue with\n"
            f"  {request.command}",
            err=True,
        )
        raise typer.Exit(130) from None


def run(request: ReproduceRequest, console: Console) -> None:
    """Compute missing cells, write the report, and print the summary."""
    start = perf_counter()
    jobs = request.jobs(request.names)
    store = open_store(request.store, jobs, request.fresh)
    try:
        totals = {str(job): len(job.experiment.cells(job.config)) for job in jobs}
        with progress(console, totals) as bars, connect(request.scheduler) as client:
            runner.run(jobs, store, request.workers or count_cores(), bars, client)
        with console.status("writing the report"):
            # The report includes experiments that earlier runs with these settings finished.
            parts = report.collect(request.jobs(), store)
            made_by = CommandRun(request.command, perf_counter() - start)
            path = report.write(parts, request.folder, request.quick, made_by)
    finally:
        store.close()
    console.print(summary_table(parts), claim_table(parts))
    duration = format_duration(perf_counter() - start)
    console.print(f"\nFinished in {duration}. The report:", highlight=False)
    say(console, f"  {path}")


@contextmanager
def connect(scheduler: str | None) -> Iterator[Any]:
    """Yield a client of the cluster at an address, or None without an address."""
    if scheduler is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        raise CellError("--scheduler needs dask: pip install 'eigenecho[dask]'") from None
    try:
        client = Client(scheduler, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise CellError(f"no scheduler answers at {scheduler}: {error}") from None
    with client:
        yield client


def open_store(path: Path, jobs: Sequence[runner.Job], fresh: bool) -> CellStore:
    """Open the store; ``fresh`` deletes the cells of the jobs, or a file that cannot be used."""
    try:
        store = CellStore(path)
        if fresh:
            for job in jobs:
                store.forget(job.experiment.name, job.identity)
    except UnusableStoreError:
        if not fresh:
            raise
        for ending in ("", "-journal", "-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        return CellStore(path)
    return store


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def experiment_table() -> Table:
    """Return a table of all experiments."""
    table = Table("name", "title", "part of the paper")
    for experiment in runner.EXPERIMENTS:
        table.add_row(experiment.name, experiment.title, experiment.paper)
    return table


def summary_table(parts: Sequence[report.FinishedExperiment]) -> Table:
    """Return a table of finished experiments, their cost and their key results."""
    table = Table(
        Column("experiment", no_wrap=True),
        Column("cells", justify="right"),
        Column("core time", justify="right", no_wrap=True),
        "key result",
        title="Experiments",
        title_justify="left",
        caption="core time: sum over all cells",
    )
    for part in parts:
        duration = format_duration(part.seconds)
        table.add_row(str(part.job), str(part.cells), duration, part.section.headline)
    return table


def claim_table(parts: Sequence[report.FinishedExperiment]) -> Table:
    """Return a table of verdicts on the paper's claims."""
    verdict = Column("verdict", no_wrap=True)
    table = Table("claim", verdict, title="Claims", title_justify="left")
    for _, claim in report.list_claims(parts):
        colour, sign = COLOURS[claim.verdict], report.VERDICTS[claim.verdict]
        table.add_row(claim.claim, f"[{colour}]{sign} {claim.verdict}[/]")
    return table
