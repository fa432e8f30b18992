"""How a command ends that cannot go on."""

from __future__ import annotations

import typer


def fail(message: object, code: int = 2) -> typer.Exit:
    """One line on the error stream, and the exit to raise."""
    typer.echo(f"eigenecho: {message}", err=True)
    return typer.Exit(code)
