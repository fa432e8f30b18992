"""Checks of output files before any work, and the end of a command that fails."""

from __future__ import annotations

import tempfile
from pathlib import Path

import typer


def fail(message: object, code: int = 2) -> typer.Exit:
    """Print one line on the error stream, and return the exit to raise."""
    typer.echo(f"eigenecho: {message}", err=True)
    return typer.Exit(code)


def make_writable(folder: Path) -> None:
    """Create a folder if necessary, and check that files can be written to it."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass


def check_folder(out: Path) -> Path:
    """Return a folder after checking that it is writable, as the callback of an option."""
    try:
        make_writable(out)
    except OSError as error:
        raise typer.BadParameter(f"cannot write to {out}: {error.strerror or error}") from None
    return out


def check_target(path: Path, source: Path, force: bool) -> None:
    """Raise OSError unless a file can be written, and would not replace the source."""
    if path.resolve() == source.resolve():
        raise FileExistsError(f"{path} is the source file. Choose another name.")
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists. Use --force to replace it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {path.parent}.")
