"""Which seasons the series of a panel have, in whole rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from eigenecho.forecasting.panel import Panel
from eigenecho.forecasting.season import cycles
from eigenecho.forecasting.signal import bridged

LOOKED_AT = 20
"""Series of a panel, at most."""


def seasons_of(panel: Panel, given: Sequence[float] = ()) -> tuple[int, ...]:
    """Those given, or the calendar's and those that most series show, the shortest first."""
    if given:
        return tuple(sorted({round(one) for one in given}))
    places = np.linspace(0, len(panel) - 1, min(LOOKED_AT, len(panel))).astype(int)
    counts: Counter[int] = Counter()
    for i in places:
        values = bridged(panel.histories[i].values).values
        if len(values) > 3 and np.ptp(values) > 0:
            counts.update({round(period) for period in cycles(values, panel.cycles)})
    return tuple(sorted(season for season, count in counts.items() if 2 * count >= len(places)))
