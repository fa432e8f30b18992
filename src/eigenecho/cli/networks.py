"""The commands ``reduce`` and ``export``, which read files of networks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from eigenecho import plots
from eigenecho.cli.terminal import check_target, fail, say
from eigenecho.estimators import LinearESN
from eigenecho.export import FORMATS
from eigenecho.files import load
from eigenecho.model import LinearModel
from eigenecho.model.certificate import Certificate, Reduction


def reduce(
    source: Annotated[Path, typer.Argument(help="The model file.", metavar="MODEL.safetensors")],
    tol: Annotated[float | None, typer.Option(help="Relative error, such as 1e-6.")] = None,
    units: Annotated[
        int | None, typer.Option(help="Number of modes; with --tol, the maximum number.")
    ] = None,
    white: Annotated[
        bool,
        typer.Option(
            "--white", help="Weight all inputs equally, even if training statistics are saved."
        ),
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Reduced model file. Default: MODEL-reduced.safetensors.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Save a figure of singular values and eigenvalues.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
) -> None:
    """Reduce a trained network to fewer modes, and print a certificate of the error.

    For a LinearESN that was saved with its statistics, the RMS error on the training rows is at
    most --tol times the standard deviation of y (without a readout bias, times the root mean square
    of y). For other networks, the error of the gain at each frequency is at most --tol times the
    largest gain.
    """
    target = source.with_name(f"{source.stem}-reduced{source.suffix}") if out is None else out
    try:
        for path in [target] if plot is None else [target, plot]:
            _check_output(path, source, force)
        loaded = load_network(source)
        # Only an estimator has training statistics.
        model: Any = getattr(loaded, "model_", loaded) if white else loaded
        if getattr(model, "model_", model).reservoir.dtype == "float32":
            raise ValueError(
                f"{source} contains a float32 network, whose reduction needs rows. Use Python: "
                "eigenecho.load(path).reduce(tol=..., data=(X, y)), or fit with dtype='float64'."
            )
        reduced = model.reduce(units, 1e-6 if tol is units is None else tol)
        reduced.save(target)
        if plot is not None:
            plots.reduction(reduced).savefig(plot)
    except (ValueError, OSError) as error:
        raise fail(" ".join(str(error).split())) from None
    console = Console()
    console.print(certificate_table(getattr(reduced, "model_", reduced).certificate))
    say(console, f"Wrote {target}" + ("" if plot is None else f" and {plot}"))


def export(
    source: Annotated[Path, typer.Argument(help="The model file.", metavar="MODEL.safetensors")],
    target: Annotated[
        Path,
        typer.Argument(help="File to write (for C, with NAME.h).", metavar="NAME.c|NAME.js"),
    ],
    dtype: Annotated[
        str | None, typer.Option(help="float64 or float32. Default: the dtype of the network.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
) -> None:
    """Write a trained network as C99 or JavaScript source code with a self-test.

    If a C compiler (or node, for JavaScript) is installed, the self-test is run, and the largest
    difference from the reference in Python is printed. It is 0 if the results are bit-identical.
    """
    try:
        for suffix in FORMATS.get(target.suffix, ()):
            _check_output(target.with_suffix(suffix), source, force)
        report = load_network(source).export(target, dtype=dtype)
    except (ValueError, OSError) as error:
        raise fail(" ".join(str(error).split())) from None
    say(Console(), report)


def _check_output(path: Path, source: Path, force: bool) -> None:
    """Raise OSError if a file cannot be written, or would replace another file."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"Cannot write {path}: the folder {path.parent} does not exist.")
    check_target(path, source, force)


def load_network(source: Path) -> Any:
    """Return the network in a file, or raise if the file contains another object."""
    loaded = load(source)
    if isinstance(loaded, LinearESN | LinearModel):
        return loaded
    kind = type(loaded).__name__
    remedy = f" In Python, save the model of the {kind}." if hasattr(loaded, "model") else ""
    raise ValueError(f"{source} contains a {kind}: expected a LinearESN or LinearModel.{remedy}")


def certificate_table(certificate: Certificate | Reduction) -> Table:
    """Return a certificate as a table without a frame."""
    columns = (Column(style="bold", no_wrap=True), Column())
    table = Table(*columns, box=None, show_header=False, title="Certificate", title_justify="left")
    for line in str(certificate).splitlines():
        name, _, value = line.partition("  ")
        table.add_row(name, Text(value.strip()))
    return table
