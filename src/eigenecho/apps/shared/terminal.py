"""Lines in a terminal."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def say(console: Console, line: object) -> None:
    """Print a line as it is: a path that is broken over two lines cannot be copied."""
    console.print(str(line), soft_wrap=True, highlight=False, markup=False)


@contextmanager
def saying_warnings(console: Console) -> Iterator[None]:
    """Say warnings in the end, each once, without the line of code that a command has none of."""
    with warnings.catch_warnings(record=True) as caught:
        try:
            yield
        except KeyboardInterrupt:  # what was kept of the work is not, by a command
            caught.clear()
            raise
        finally:  # also of what failed: they may say why
            for text in dict.fromkeys(str(one.message) for one in caught):
                say(console, f"Mind: {text}")
