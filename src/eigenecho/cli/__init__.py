"""The command line: ``eigenecho demo``, ``eigenecho reproduce``, ``eigenecho convert``."""

from eigenecho.cli.entry import main

__all__ = ["main"]
