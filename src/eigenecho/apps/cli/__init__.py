"""The command line: ``eigenecho forecast``, ``convert``, ``reduce`` and ``reproduce``."""

from eigenecho.apps.cli.entry import main

__all__ = ["main"]
