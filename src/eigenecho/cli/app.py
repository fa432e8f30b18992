"""The command line application."""

from __future__ import annotations

from typing import Annotated

import typer

import eigenecho
from eigenecho.cli.forecast import forecast
from eigenecho.cli.networks import export, reduce
from eigenecho.cli.reproduce import reproduce

app = typer.Typer(
    name="eigenecho",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)
for command in (forecast, reduce, export, reproduce):
    app.command()(command)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"eigenecho {eigenecho.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Linear echo state networks in the eigenbasis."""
