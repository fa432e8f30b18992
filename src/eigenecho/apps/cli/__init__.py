"""The command line: ``eigenecho forecast``, ``convert``, ``reproduce`` and ``demo``."""

from eigenecho.apps.cli.entry import main

__all__ = ["main"]
