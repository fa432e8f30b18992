"""Which rows are for training, for choosing and for testing, in the order of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenecho.apps.tables.table import TableError

BLOCKS = 5
"""Blocks of ``horizon`` rows that are held out at the end, where a third of the rows allow it."""

ORIGINS = 8
"""Rows from which forecasts are compared to choose a network."""

LEAST = 20
"""Rows to train on, at least."""


@dataclass(frozen=True)
class Split:
    """Origins are the first rows of forecasts of ``horizon`` steps.

    Networks are chosen by forecasts from ``validation``, trained on the rows before the first of
    them; ``test`` origins come after all of that, one block after another.
    """

    horizon: int
    validation: tuple[int, ...]
    test: tuple[int, ...]


def split(rows: int, horizon: int, blocks: int | None = None) -> Split:
    """Hold out blocks at the end, and before them rows to choose a network by.

    Parameters
    ----------
    rows : int
    horizon : int
    blocks : int, optional
        By default as many as fit into a third of the rows, up to five.
    """
    wanted = blocks or 1
    needed = (wanted + 1) * horizon + max(horizon, LEAST)
    if rows < needed:
        longest = max(0, min(rows // (wanted + 2), (rows - LEAST) // (wanted + 1)))
        if longest < 1:
            raise TableError(f"{rows} rows are too few for a forecast: at least {LEAST + 2}.")
        fewer = " or --blocks 1" if wanted > 1 else ""
        raise TableError(
            f"--horizon {horizon} is too long for {rows} rows: one horizon is held out to test "
            f"and one to choose, and there must be as much again to learn from, {needed} rows. "
            f"Use --horizon {longest}{fewer}, or a longer series."
        )
    learnt = max(horizon, LEAST)
    most = min(BLOCKS, rows // (3 * horizon), (rows - learnt) // horizon - 1)
    first = rows - (blocks or max(1, most)) * horizon
    tail = max(horizon, min(first // 3, first - learnt))
    start, stop = first - tail, first - horizon
    validation = np.unique(np.linspace(start, stop, min(ORIGINS, tail - horizon + 1)).astype(int))
    test = range(first, rows, horizon)
    return Split(horizon, tuple(map(int, validation)), tuple(test))
