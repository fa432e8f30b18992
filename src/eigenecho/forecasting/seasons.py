"""Which cycles the series of a panel have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from eigenecho.data.panel import Panel
from eigenecho.forecasting.season import cycles
from eigenecho.forecasting.signal import bridged

LOOKED_AT = 20
"""Series of a panel, at most."""

LIVED = 3
"""Times that series have lived through a cycle, at least, in the mean."""


def periods_of(panel: Panel, given: Sequence[float] = ()) -> tuple[float, ...]:
    """Return those given, or the calendar's and those that a third of series show, shortest first.

    Constant series do not count.
    """
    if given:
        return tuple(sorted({float(one) for one in given if one > 1}))
    moving = [one for one in panel.histories if np.nanmax(one.values) > np.nanmin(one.values)]
    if not moving:
        return ()
    places = np.linspace(0, len(moving) - 1, min(LOOKED_AT, len(moving))).astype(int)
    counts: Counter[float] = Counter()
    rows = []
    for i in places:
        values = bridged(moving[i].values).values
        rows.append(len(values))
        if len(values) > 3:
            counts.update(set(cycles(values, panel.cycles)))
    longest = np.median(rows) / LIVED
    common = (p for p, count in counts.items() if 3 * count >= len(places) and p <= longest)
    return tuple(sorted(map(float, common)))


def whole(periods: Sequence[float]) -> tuple[int, ...]:
    """Cycles as seasons, in whole rows."""
    return tuple(sorted({round(period) for period in periods if round(period) > 1}))
