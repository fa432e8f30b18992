"""How a command ends that cannot go on, and how it finds out before the work."""

from __future__ import annotations

import tempfile
from pathlib import Path

import typer


def fail(message: object, code: int = 2) -> typer.Exit:
    """One line on the error stream, and the exit to raise."""
    typer.echo(f"eigenecho: {message}", err=True)
    return typer.Exit(code)


def make_writable(folder: Path) -> None:
    """Make a folder if need be, and try whether files can be made in it."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass


def writable(out: Path) -> Path:
    """A folder, as an option takes it."""
    try:
        make_writable(out)
    except OSError as error:
        raise typer.BadParameter(f"cannot write to {out}: {error.strerror or error}") from None
    return out
