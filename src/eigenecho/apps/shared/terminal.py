"""Lines in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def say(console: Console, line: object) -> None:
    """Print a line as it is: a path that is broken over two lines cannot be copied."""
    console.print(str(line), soft_wrap=True, highlight=False, markup=False)
