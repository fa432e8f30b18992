"""The command line: ``eigenecho demo``."""

from eigenecho.cli.entry import main

__all__ = ["main"]
