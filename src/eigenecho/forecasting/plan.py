"""Which rows are trained on and which judge, in the order of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenecho.types import Array

FOLDS = 2
"""Times that candidates are trained to be judged."""

ORIGINS = 150
"""Forecasts of a series that candidates are judged by, at most."""

BLOCKS = 8
"""Horizons side by side that should judge a long series: a few say more of their own days than of
candidates."""

ENOUGH = 3000
"""Rows of which half train about as well as more would."""

LEAST = 10
"""Rows to train on, at least, beside a horizon."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Forecasts made after ``origins`` are judged; each by weights of the rows before its fold.

    Attributes
    ----------
    horizon : int
    rows : int
        All there are.
    kept : int
        Those that weights are trained on where rows that were to judge are not trained on.
    stops : tuple of int
        Fold f trains on the rows before ``stops[f]``, targets included. Series of a panel have as
        many each: of one that is short, folds may be without origins.
    origins : array (O,)
        The last rows seen, each followed by ``horizon`` rows.
    """

    horizon: int
    rows: int
    kept: int
    stops: tuple[int, ...]
    origins: Array

    def fold(self, number: int) -> slice:
        """The origins of a fold, by their number."""
        edges = (*self.stops, self.rows + 1)
        first, last = np.searchsorted(self.origins + 1, [edges[number], edges[number + 1]])
        return slice(int(first), int(last))

    @property
    def blocks(self) -> float:
        """Horizons that lie side by side in the rows that judge."""
        return (self.rows - self.stops[0]) / self.horizon


def fewest(horizon: int) -> int:
    """Rows that a series needs for a plan: a horizon to judge by, and ``LEAST`` beside one more."""
    return 2 * horizon + LEAST


def longest(rows: int) -> int:
    """The horizon that there is a plan for with so many rows; 0 for none."""
    return max(0, (rows - LEAST) // 2)


def plan(rows: int, horizon: int, judged: int | None = None) -> Plan | None:
    """A plan for a series of so many rows; None where it is too short for any.

    The last third is judged, or four horizons where that is more, or ``judged`` rows; of a long
    series those before them too, up to eight horizons or half of the rows, whichever is less.
    """
    most = rows - horizon - LEAST
    wanted = judged
    if wanted is None:
        wanted = min(max(4 * horizon, rows // 3), rows - max(2 * horizon, 2 * LEAST))
    wanted = min(max(wanted, horizon), most)
    if rows < fewest(horizon):
        return None
    more = max(wanted, min(BLOCKS * horizon, rows // 2, most) if rows >= ENOUGH else 0)
    kept, first = rows - wanted, rows - more
    edges = np.array([first, kept])
    if judged is None:
        edges = np.linspace(first, rows - horizon + 1, FOLDS + 1).astype(int)[:-1]
    origins = np.arange(first - 1, rows - horizon)
    if len(origins) > ORIGINS:
        origins = origins[np.linspace(0, len(origins) - 1, ORIGINS).astype(int)]
    return Plan(horizon, rows, kept, tuple(edges.tolist()), origins)
