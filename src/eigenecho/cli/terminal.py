"""Output of commands: checks of files before any work, lines, warnings, progress and errors."""

from __future__ import annotations

import shlex
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import typer
from rich import progress as rich
from rich.console import Console

INTERVAL = 10.0
"""Seconds between two progress lines of one part."""


def fail(message: object, code: int = 2) -> typer.Exit:
    """Print one line on the error stream, and return the exit to raise."""
    typer.echo(f"eigenecho: {message}", err=True)
    return typer.Exit(code)


def given_options(context: typer.Context) -> dict[Any, Any]:
    """Return the parameters of a command whose values differ from their defaults, with values."""
    values = {parameter: context.params[parameter.name] for parameter in context.command.params}
    return {p: value for p, value in values.items() if value not in (p.default, None, (), [])}


def command_line(context: typer.Context, *hidden: str) -> str:
    """Return the command line that gives the same result, without hidden options."""
    words = ["eigenecho", context.command.name or ""]
    for parameter, value in given_options(context).items():
        option = [] if parameter.param_type_name == "argument" else parameter.opts[:1]
        for item in value if isinstance(value, list | tuple) else (value,):
            if parameter.name not in hidden:
                words += option if item is True else [*option, str(item)]
    return shlex.join(words)


def make_writable(folder: Path) -> None:
    """Create a folder if necessary, and check that files can be written to it."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass


def check_target(path: Path, source: Path, force: bool) -> None:
    """Raise OSError unless a file can be written, and would not replace the source."""
    if path.resolve() == source.resolve():
        raise FileExistsError(f"{path} is the source file. Choose another name.")
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists. Use --force to replace it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {path.parent}.")


def say(console: Console, line: object) -> None:
    """Print a line without wrapping, so that paths can be copied."""
    console.print(str(line), soft_wrap=True, highlight=False, markup=False)


@contextmanager
def print_warnings(console: Console) -> Iterator[None]:
    """Print each warning once at the end, without a line of code, even after an error."""
    with warnings.catch_warnings(record=True) as caught:
        try:
            yield
        except KeyboardInterrupt:
            caught.clear()
            raise
        finally:
            for text in dict.fromkeys(str(warning.message) for warning in caught):
                say(console, f"Warning: {text}")


@contextmanager
def progress(console: Console, totals: dict[str, int], unit: str = "run") -> Iterator[Any]:
    """Yield a function that shows progress; ``totals`` has the number of units of each part.

    It is called with the name of a part, the number of finished units, and the total.
    """
    if not console.is_terminal:
        yield ProgressLines(console, unit)
        return
    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeRemainingColumn(),
        rich.TextColumn("left"),
    )
    # Units of one part differ in cost, so the speed is an average over the whole run.
    with rich.Progress(*columns, console=console, speed_estimate_period=3600) as bars:
        tasks = {name: bars.add_task(name, total=total) for name, total in totals.items()}
        started: set[str] = set()

        def update(name: str, done: int, total: int) -> None:
            if name in started:
                bars.update(tasks[name], completed=done)
            else:  # Units that were stored before are ignored in the speed.
                started.add(name)
                bars.reset(tasks[name], completed=done, total=total)

        yield update


class ProgressLines:
    """Progress as text: one line when a part starts, one when it ends, and some in between."""

    def __init__(self, console: Console, unit: str = "run") -> None:
        self.console = console
        self.unit = unit
        self.printed: dict[str, float] = {}

    def __call__(self, name: str, done: int, total: int) -> None:
        """Print a line if it is due."""
        now = monotonic()
        if name not in self.printed:
            stored = f", {done} already stored" if done else ""
            say(self.console, f"{name}: {total} {self.unit}{'s' * (total != 1)}{stored}")
        elif done == total:
            say(self.console, f"{name}: done")
        elif now - self.printed[name] >= INTERVAL:
            say(self.console, f"{name}: {done} of {total}")
        else:
            return
        self.printed[name] = now
