"""``eigenecho convert``: a network in a plain file becomes a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from eigenecho.apps.cli.endings import fail
from eigenecho.apps.shared.terminal import say
from eigenecho.interop import from_npz
from eigenecho.model.certificate import Certificate
from eigenecho.model.reduction import Reduction


def convert(
    source: Annotated[Path, typer.Argument(help="The .npz file.", metavar="MODEL.npz")],
    out: Annotated[
        Path | None,
        typer.Option(help="The model file; by default beside the source, with .safetensors."),
    ] = None,
    lr: Annotated[float | None, typer.Option(help="Leaking rate; else the file's, else 1.")] = None,
    readout_bias: Annotated[
        bool | None, typer.Option(help="W_out has a row for 1; else told by their number.")
    ] = None,
    output_to_readout: Annotated[
        bool | None, typer.Option(help="W_out has rows for y(t−1).")
    ] = None,
    input_to_readout: Annotated[bool | None, typer.Option(help="W_out has rows for u(t).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Convert a linear echo state network to its eigenbasis, with a certificate.

    The file holds arrays by these names; states are rows, and W_out has rows [1, y(t−1), r, u]:

    - W (N, N), or W_data, W_indices, W_indptr and W_shape of a CSR matrix

    - W_in (D_in, N)

    - W_out (N', D_out), W_fb (D_out, N), bias (N,), lr: where the network has them

    - readout_bias, output_to_readout, input_to_readout: True or False

    From a library that writes states as columns, save all matrices transposed.

    The result is for eigenecho.load, in Python.
    """
    target = source.with_suffix(".safetensors") if out is None else out
    options = {
        "lr": lr,
        "readout_bias": readout_bias,
        "output_to_readout": output_to_readout,
        "input_to_readout": input_to_readout,
    }
    try:
        if target.resolve() == source.resolve():
            raise FileExistsError(f"--out {target} is the source itself.")
        if target.exists() and not force:
            raise FileExistsError(f"{target} exists; --force replaces it.")
        if not target.parent.is_dir():
            raise FileNotFoundError(f"cannot write {target}: there is no folder {target.parent}.")
        model = from_npz(source, **{name: v for name, v in options.items() if v is not None})
        model.save(target)
    except (ValueError, OSError) as error:
        raise fail(" ".join(str(error).split())) from None
    console = Console()
    say(console, repr(model))
    assert model.certificate is not None
    console.print(table(model.certificate))
    say(console, f"Written: {target}")


def table(certificate: Certificate | Reduction) -> Table:
    """The lines of a certificate, as a table without frame."""
    columns = (Column(style="bold", no_wrap=True), Column())
    shown = Table(*columns, box=None, show_header=False, title="Certificate", title_justify="left")
    for line in str(certificate).splitlines():
        name, _, value = line.partition("  ")
        shown.add_row(name, Text(value.strip()))
    return shown
