"""Spectra for forecasting: rings as long as the seasons, small rings, and slow modes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eigenecho import spectra
from eigenecho.spectra import Spectrum

LONGEST = 336
"""Modes of a ring, at most."""

SLOW = 3
"""Slow modes that go with each of them."""


def banks(rows: int, seasons: Sequence[int]) -> dict[str, Spectrum]:
    """Spectra that suit a series of so many rows with such seasons, by name."""
    slowest = _radius(max(rows / 4, 10))
    slow = spectra.time_constants(SLOW, sr=slowest, shortest=2.0)
    small = int(np.clip(rows // 8, 4, 12))
    many = 2 * int(np.clip(rows // 12, 3, 30))
    found = {
        "slow": slow,
        "short": spectra.ring(small, sr=0.9) + spectra.time_constants(4, sr=slowest, shortest=1.5),
        "spread": spectra.log_ring(many, sr=slowest, seed=0) + slow,
    }
    for season in seasons:
        if season < 2 or 4 * season > rows:
            continue
        found[f"season {season}"] = _ring(season, 2 * season) + slow
        found[f"season {season} and short"] = (
            _ring(season, 3 * season) + spectra.ring(small + 1, sr=0.8) + slow
        )
        if 8 * season <= rows and 2 * season <= LONGEST:
            found[f"two seasons {season}"] = _ring(2 * season, 3 * season) + slow
    longest = max((s for s in seasons if 2 <= s <= LONGEST), default=1)
    if rows >= 20 * LONGEST:
        modes = LONGEST // longest * longest
        found["long"] = _ring(modes, 0.6 * modes)
        found["half as long"] = _ring(modes // 2, 0.6 * modes)
    return found


def _ring(modes: int, time_constant: float) -> Spectrum:
    return spectra.ring(modes, sr=_radius(time_constant))


def _radius(time_constant: float) -> float:
    return float(np.exp(-1 / time_constant))
