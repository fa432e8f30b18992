"""``eigenecho convert`` and ``eigenecho reduce``: commands on files of networks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from eigenecho import plots
from eigenecho.cli.terminal import check_target, fail, say
from eigenecho.estimators import LinearESN, load
from eigenecho.interop import from_npz
from eigenecho.model import LinearModel
from eigenecho.model.certificate import Certificate, Reduction


def convert(
    source: Annotated[Path, typer.Argument(help="The .npz file.", metavar="MODEL.npz")],
    out: Annotated[
        Path | None,
        typer.Option(help="The model file; by default next to the source, as .safetensors."),
    ] = None,
    lr: Annotated[
        float | None, typer.Option(help="Leaking rate; by default from the file, or 1.")
    ] = None,
    readout_bias: Annotated[
        bool | None, typer.Option(help="W_out has a row for the bias; by default inferred.")
    ] = None,
    output_to_readout: Annotated[
        bool | None, typer.Option(help="W_out has rows for y(t−1).")
    ] = None,
    input_to_readout: Annotated[bool | None, typer.Option(help="W_out has rows for u(t).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Convert a linear echo state network to its eigenbasis, with a certificate.

    The file holds these arrays. States are rows, and W_out has rows [1, y(t−1), r, u]:

    - W (N, N), or W_data, W_indices, W_indptr and W_shape of a CSR matrix

    - W_in (D_in, N)

    - W_out (N', D_out), W_fb (D_out, N), bias (N,), lr: optional

    - readout_bias, output_to_readout, input_to_readout: True or False

    If your library writes states as columns, save all matrices transposed.

    Load the result in Python with eigenecho.load.
    """
    target = source.with_suffix(".safetensors") if out is None else out
    options = {
        "lr": lr,
        "readout_bias": readout_bias,
        "output_to_readout": output_to_readout,
        "input_to_readout": input_to_readout,
    }
    try:
        check_target(target, source, force)
        model = from_npz(source, **{name: v for name, v in options.items() if v is not None})
        model.save(target)
    except (ValueError, OSError) as error:
        raise fail(" ".join(str(error).split())) from None
    console = Console()
    say(console, repr(model))
    assert model.certificate is not None
    console.print(certificate_table(model.certificate))
    say(console, f"Written: {target}")


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
        loaded = load(source)
        if not isinstance(loaded, LinearESN | LinearModel):
            kind = type(loaded).__name__
            raise ValueError(f"the file holds a {kind}, expected a LinearESN or LinearModel.")
        # Only an estimator has training statistics.
        model: Any = getattr(loaded, "model_", loaded) if white else loaded
        reduced = model.reduce(units, 1e-6 if tol is units is None else tol)
        reduced.save(target)
        if plot is not None:
            plots.reduction(reduced).savefig(plot)
    except (ValueError, OSError) as error:
        raise fail(" ".join(str(error).split())) from None
    console = Console()
    console.print(certificate_table(getattr(reduced, "model_", reduced).certificate))
    say(console, f"Written: {target}" + ("" if plot is None else f", {plot}"))


def certificate_table(certificate: Certificate | Reduction) -> Table:
    """Return the lines of a certificate as a table without a frame."""
    columns = (Column(style="bold", no_wrap=True), Column())
    table = Table(*columns, box=None, show_header=False, title="Certificate", title_justify="left")
    for line in str(certificate).splitlines():
        name, _, value = line.partition("  ")
        table.add_row(name, Text(value.strip()))
    return table
