"""``eigenecho reduce``: reduce a model file to fewer modes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from eigenecho import plots
from eigenecho.apps.cli.convert import certificate_table
from eigenecho.apps.cli.terminal import check_target, fail, say
from eigenecho.estimators import LinearESN, load
from eigenecho.model import LinearModel


def reduce(
    source: Annotated[Path, typer.Argument(help="The model file.", metavar="MODEL.safetensors")],
    tol: Annotated[float | None, typer.Option(help="Relative error, such as 1e-6.")] = None,
    units: Annotated[
        int | None, typer.Option(help="Number of modes, or the largest with --tol.")
    ] = None,
    white: Annotated[
        bool,
        typer.Option(
            "--white", help="Weigh all inputs equally, even if training statistics are saved."
        ),
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="The reduced file; by default NAME-reduced next to it.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Save a figure of singular values and eigenvalues.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
) -> None:
    """Reduce a trained network to fewer modes, with a certificate of its error.

    For a LinearESN saved with its statistics, the RMS error on the training rows is at most --tol
    times the standard deviation of y (without a readout bias: the root mean square of y). For
    other networks, the error of the gain is at most --tol times the largest gain at any frequency.
    """
    target = source.with_name(f"{source.stem}-reduced{source.suffix}") if out is None else out
    try:
        for path in [target] if plot is None else [target, plot]:
            check_target(path, source, force)
        reduced = _reduce(load(source), units, 1e-6 if tol is units is None else tol, white)
        reduced.save(target)
        if plot is not None:
            plots.reduction(reduced).savefig(plot)
    except (ValueError, OSError) as error:
        raise fail(" ".join(str(error).split())) from None
    console = Console()
    console.print(certificate_table(getattr(reduced, "model_", reduced).certificate))
    say(console, f"Written: {target}" + ("" if plot is None else f", {plot}"))


def _reduce(loaded: Any, units: int | None, tol: float | None, white: bool) -> Any:
    if isinstance(loaded, LinearESN):
        return loaded.model_.reduce(units, tol) if white else loaded.reduce(units, tol)
    if isinstance(loaded, LinearModel):
        return loaded.reduce(units, tol)
    raise ValueError(
        f"the file holds a {type(loaded).__name__}, expected a LinearESN or LinearModel."
    )
