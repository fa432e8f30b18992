"""``eigenecho reproduce``: cells, report, and a summary of both."""

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

from eigenecho.apps.cli.endings import fail, writable
from eigenecho.apps.paper import all_experiments, reproduction_report
from eigenecho.apps.paper.cell_store import CellStore, StoreError, UnusableStoreError
from eigenecho.apps.paper.runner import Job
from eigenecho.apps.paper.runner import run as compute
from eigenecho.apps.paper.workers import CellError
from eigenecho.apps.shared import bars
from eigenecho.apps.shared.durations import human
from eigenecho.apps.shared.pages import MadeBy
from eigenecho.apps.shared.terminal import say

OUT, OUT_QUICK = Path("results/reproduce"), Path("results/quick")
COLOURS = {"holds": "blue", "holds in part": "yellow", "does not hold": "red"}


@dataclass(frozen=True)
class ReproduceRequest:
    """What the command line asked for; ``None`` where it left the choice to us."""

    names: tuple[str, ...] = ()
    quick: bool = False
    out: Path | None = None
    workers: int | None = None
    seeds: int | None = None
    fresh: bool = False
    scheduler: str | None = None

    def __post_init__(self) -> None:
        all_experiments.find(self.names)
        for option, value in (("--workers", self.workers), ("--seeds", self.seeds)):
            if value is not None and value < 1:
                raise ValueError(f"{option} {value} will not do: expected a number of at least 1.")

    @property
    def folder(self) -> Path:
        """Where everything goes."""
        return self.out or (OUT_QUICK if self.quick else OUT)

    @property
    def store(self) -> Path:
        """The file with the finished cells."""
        return self.folder / "store.sqlite"

    @property
    def command(self) -> str:
        """The command line that asks for the same, and goes on from what is stored."""
        words = ["eigenecho", "reproduce", *self.names]
        words += ["--quick"] if self.quick else []
        for option in ("out", "workers", "seeds", "scheduler"):
            value = getattr(self, option)
            words += [] if value is None else [f"--{option}", str(value)]
        return shlex.join(words)

    def jobs(self, names: Sequence[str] = ()) -> list[Job]:
        """Experiments of those names, or all, with the configuration asked for."""
        return [
            Job(e, (e.quick if self.quick else e.config).with_seeds(self.seeds))
            for e in all_experiments.find(names)
        ]


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Experiments, see --list; all by default.", metavar="NAME"),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller, about a minute.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help=f"Folder for the store and the report; by default {OUT}, or {OUT_QUICK}."
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes; by default one for each core.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help="Seeds to average over; by default each experiment's own.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Forget what is stored of these experiments first.")
    ] = False,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Address of a Dask scheduler whose workers compute, in place of ours."),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Say which experiments there are.")
    ] = False,
) -> None:
    """Make the paper's tables and figures, with a verdict on every claim.

    What is finished is stored: a second start computes only what is missing.
    """
    console = Console()
    if listed:
        console.print(listing())
        return
    try:
        request = ReproduceRequest(tuple(names or ()), quick, out, workers, seeds, fresh, scheduler)
        writable(request.folder)
    except (ValueError, typer.BadParameter) as error:
        raise fail(error) from None
    try:
        run(request, console)
    except (StoreError, reproduction_report.ReportError) as error:
        raise fail(error) from None
    except CellError as error:
        raise fail(error, 1) from None
    except KeyboardInterrupt:
        typer.echo(
            f"\ninterrupted: finished cells are kept in {request.store}. Go on with\n"
            f"  {request.command}",
            err=True,
        )
        raise typer.Exit(130) from None


def run(request: ReproduceRequest, console: Console) -> None:
    """Compute what is missing, write the report, print the summary."""
    start = perf_counter()
    jobs = request.jobs(request.names)
    store = open_store(request.store, jobs, request.fresh)
    try:
        totals = {job.experiment.name: len(job.experiment.cells(job.config)) for job in jobs}
        with bars.progress(console, totals) as progress, connected(request.scheduler) as client:
            compute(jobs, store, request.workers or cores(), progress, client)
        # With what earlier runs with the same settings have finished.
        with console.status("writing the report"):
            parts = reproduction_report.collect(request.jobs(), store)
            made_by = MadeBy(request.command, perf_counter() - start)
            path = reproduction_report.write(parts, request.folder, request.quick, made_by)
    finally:
        store.close()
    console.print(summary(parts), claims(parts))
    console.print(f"\n{human(perf_counter() - start)}. The report:", highlight=False)
    say(console, f"  {path}")


@contextmanager
def connected(scheduler: str | None) -> Iterator[Any]:
    """A client of the cluster at an address; None without one."""
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


def open_store(path: Path, jobs: Sequence[Job], fresh: bool) -> CellStore:
    """The store; ``fresh`` forgets the cells of these jobs, or a file that cannot be used."""
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


def cores() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def listing() -> Table:
    """Names and titles of all experiments."""
    table = Table("name", "what", "of the paper")
    for experiment in all_experiments.EXPERIMENTS:
        table.add_row(experiment.name, experiment.title, experiment.paper)
    return table


def summary(parts: Sequence[reproduction_report.Part]) -> Table:
    """What was computed, how long it took and what came out."""
    table = Table(
        Column("experiment", no_wrap=True),
        Column("cells", justify="right"),
        Column("core time", justify="right", no_wrap=True),
        "key result",
        title="Experiments",
        title_justify="left",
        caption="core time: over all cells",
    )
    for part in parts:
        name, seconds = part.job.experiment.name, human(part.seconds)
        table.add_row(name, str(part.cells), seconds, part.section.headline)
    return table


def claims(parts: Sequence[reproduction_report.Part]) -> Table:
    """Verdicts on the paper's claims; the report says what was measured."""
    verdict = Column("verdict", no_wrap=True)
    table = Table("claim", verdict, title="Claims", title_justify="left")
    for _, claim in reproduction_report.claims(parts):
        colour = COLOURS[claim.verdict]
        sign = reproduction_report.VERDICTS[claim.verdict]
        table.add_row(claim.claim, f"[{colour}]{sign} {claim.verdict}[/]")
    return table
