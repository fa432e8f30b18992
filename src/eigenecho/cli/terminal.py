"""Output of the commands: checks of output files, warnings and errors."""

from __future__ import annotations

import shlex
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console


def fail(message: object, code: int = 2) -> typer.Exit:
    """Print an error message to stderr, and return the exception that ends the command."""
    typer.echo(f"Error: {message}", err=True)
    return typer.Exit(code)


def given_options(context: typer.Context) -> dict[Any, Any]:
    """Return the parameters of a command that differ from their defaults, and their values."""
    values = {parameter: context.params[parameter.name] for parameter in context.command.params}
    return {p: value for p, value in values.items() if value not in (p.default, None, (), [])}


def command_line(context: typer.Context, *hidden: str) -> str:
    """Return a command and its options as a line for the shell, without ``hidden`` options."""
    words = ["eigenecho", context.command.name or ""]
    for parameter, value in given_options(context).items():
        option = [] if parameter.param_type_name == "argument" else parameter.opts[:1]
        for item in value if isinstance(value, list | tuple) else (value,):
            if parameter.name not in hidden:
                words += option if item is True else [*option, str(item)]
    return shlex.join(words)


def check_folder(folder: Path) -> None:
    """Raise OSError unless files can be written to a folder, which need not exist yet."""
    folder = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    with tempfile.TemporaryFile(dir=folder):
        pass


def check_target(path: Path, source: Path, force: bool) -> None:
    """Raise OSError if a file cannot be written, or would replace another file."""
    if path.resolve() == source.resolve():
        raise FileExistsError(f"The output file {path} is the input file. Choose another name.")
    if path.exists() and not force:
        raise FileExistsError(f"The file {path} already exists. Use --force to replace it.")
    check_folder(path.parent)


def say(console: Console, line: object) -> None:
    """Print a line without wrapping it, so that paths can be copied."""
    console.print(str(line), soft_wrap=True, highlight=False, markup=False)


@contextmanager
def print_warnings(console: Console) -> Iterator[None]:
    """Print each warning once at the end, even after an error, and without its line of code."""
    with warnings.catch_warnings(record=True) as caught:
        try:
            yield
        except KeyboardInterrupt:
            caught.clear()
            raise
        finally:
            for text in dict.fromkeys(str(warning.message) for warning in caught):
                say(console, f"Warning: {text}")
