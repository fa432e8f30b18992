"""The command line: ``eigenecho demo`` and ``eigenecho reproduce``."""

from eigenecho.cli.entry import main

__all__ = ["main"]
