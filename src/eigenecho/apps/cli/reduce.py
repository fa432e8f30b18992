"""``eigenecho reduce``: a model file becomes a smaller one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from eigenecho.apps.cli.convert import table
from eigenecho.apps.cli.endings import fail
from eigenecho.apps.shared.terminal import say
from eigenecho.estimators import LinearESN, load
from eigenecho.model import LinearModel


def reduce(
    source: Annotated[Path, typer.Argument(help="The file.", metavar="MODEL.safetensors")],
    tol: Annotated[float | None, typer.Option(help="Relative error, such as 1e-6.")] = None,
    units: Annotated[int | None, typer.Option(help="Number of modes; with --tol, at most.")] = None,
    white: Annotated[
        bool,
        typer.Option("--white", help="All inputs alike, though the rows of training are known."),
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="The smaller file; by default NAME-reduced beside it.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw singular values and eigenvalues into this file.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Make a trained network smaller, with a certificate of how near it is.

    A LinearESN that was saved with its statistics weighs the rows of training: the rms error on
    them is at most --tol times the deviation of y, or the root mean square of y for a network
    without a readout bias. Others weigh all inputs alike: the gain is off by at most --tol of the
    largest at any frequency.
    """
    target = source.with_name(f"{source.stem}-reduced{source.suffix}") if out is None else out
    try:
        _check(source, target, plot, force)
        found = _reduced(load(source), units, 1e-6 if tol is units is None else tol, white)
        found.save(target)
        if plot is not None:
            from eigenecho.plots import reduction

            reduction(found).savefig(plot)
    except (ValueError, OSError) as error:
        raise fail(" ".join(str(error).split())) from None
    console = Console()
    console.print(table(getattr(found, "model_", found).certificate))
    say(console, f"Written: {target}" + ("" if plot is None else f", {plot}"))


def _check(source: Path, target: Path, plot: Path | None, force: bool) -> None:
    """Whether what is to be written can be, before the work."""
    for path in (target, plot):
        if path is None:
            continue
        if path.resolve() == source.resolve():
            raise FileExistsError(f"{path} is the source itself.")
        if path.exists() and not force:
            raise FileExistsError(f"{path} exists; --force replaces it.")
        if not path.parent.is_dir():
            raise FileNotFoundError(f"cannot write {path}: there is no folder {path.parent}.")


def _reduced(loaded: Any, units: int | None, tol: float | None, white: bool) -> Any:
    if isinstance(loaded, LinearESN):
        return loaded.model_.reduce(units, tol) if white else loaded.reduce(units, tol)
    if isinstance(loaded, LinearModel):
        return loaded.reduce(units, tol)
    raise ValueError(f"the file holds a {type(loaded).__name__}, not a LinearESN or LinearModel.")
