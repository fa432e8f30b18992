"""The command line: ``eigenecho forecast``, ``convert``, ``reproduce`` and ``demo``."""

from eigenecho.cli.entry import main

__all__ = ["main"]
