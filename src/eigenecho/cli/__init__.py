"""The command line: ``eigenecho forecast``, ``demo`` and ``reproduce``."""

from eigenecho.cli.entry import main

__all__ = ["main"]
