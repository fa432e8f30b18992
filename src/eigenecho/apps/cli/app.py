"""The commands."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import eigenecho
from eigenecho.apps.cli import convert as conversion
from eigenecho.apps.cli import demo as demonstration
from eigenecho.apps.cli import reproduce as reproduction
from eigenecho.apps.cli.failing import fail as _fail
from eigenecho.apps.cli.forecast import forecast
from eigenecho.apps.paper.cell_store import StoreError
from eigenecho.apps.paper.reproduction_report import ReportError
from eigenecho.apps.paper.runner import CellError

app = typer.Typer(
    name="eigenecho",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)
app.command()(forecast)


app.command()(conversion.convert)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"eigenecho {eigenecho.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version.")
    ] = False,
) -> None:
    """Linear echo state networks in the eigenbasis."""


def _writable(out: Path) -> Path:
    """The folder, made if need be; found out before the work, not after it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise typer.BadParameter(_cannot_write(out, error)) from None
    return out


def _cannot_write(out: Path, error: OSError) -> str:
    return f"cannot write to {out}: {error.strerror or error}"


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the figures.", callback=_writable)] = Path(
        "results/demo"
    ),
    units: Annotated[int, typer.Option(min=1, help="N, the size of the reservoirs.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all that is drawn.")] = 0,
) -> None:
    """Train Normal, EET and DPG on MSO5 and Mackey-Glass; print a table, write two figures."""
    console = Console()
    with _progress(console, demonstration.STAGES) as report:
        results = demonstration.run(units, seed, report)
    console.print(demonstration.table(results, units))
    try:
        written = demonstration.draw(results, out)
    except OSError as error:
        raise _fail(_cannot_write(out, error)) from None
    console.print("\nWritten:")
    for path in written:
        # Soft wrap: a path broken over two lines cannot be copied.
        console.print(f"  {path}", soft_wrap=True, highlight=False, markup=False)


@app.command()
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Experiments, see --list; all by default.", metavar="NAME"),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller, about a minute.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the store and the report; by default "
            f"{reproduction.OUT}, or {reproduction.OUT_QUICK}."
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
    listed: Annotated[
        bool, typer.Option("--list", help="Say which experiments there are.")
    ] = False,
) -> None:
    """Make the paper's tables and figures, with a verdict on every claim.

    What is finished is stored: a second start computes only what is missing.
    """
    console = Console()
    if listed:
        console.print(reproduction.listing())
        return
    try:
        request = reproduction.Request(tuple(names or ()), quick, out, workers, seeds, fresh)
        _writable(request.folder)
    except (ValueError, typer.BadParameter) as error:
        raise _fail(error) from None
    try:
        reproduction.run(request, console)
    except (StoreError, ReportError) as error:
        raise _fail(error) from None
    except CellError as error:
        raise _fail(error, 1) from None
    except KeyboardInterrupt:
        typer.echo(
            f"\ninterrupted: finished cells are kept in {request.store}. Go on with\n"
            f"  {request.command}",
            err=True,
        )
        raise typer.Exit(130) from None


@contextmanager
def _progress(console: Console, stages: int) -> Iterator[Callable[[str], None]]:
    """A function that announces each stage: a bar in a terminal, plain lines elsewhere."""
    if not console.is_terminal:
        count = iter(range(1, stages + 1))
        yield lambda stage: console.print(f"[{next(count)}/{stages}] {stage}", markup=False)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task("", total=stages)
        # A stage is announced when it starts, and done when the next one does.
        started = iter(range(stages))
        yield lambda stage: bar.update(task, completed=next(started), description=stage)
