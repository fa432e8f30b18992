"""Spectra for forecasting: rings as long as the seasons, small rings, and slow modes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eigenecho import spectra
from eigenecho.spectra import Spectrum

LONGEST = 336
"""Modes of a ring, at most."""

LONG = 20 * LONGEST
"""Rows from which the longest rings are told well enough from short ones to take their place."""

SLOW = 3
"""Slow modes that go with a ring."""

ASIDE = 2 ** (1 / 16)
"""What moves a time constant away from whole numbers."""


def candidate_spectra(rows: int, seasons: Sequence[int]) -> dict[str, Spectrum]:
    """Spectra that suit a series of so many rows with such seasons, by name."""
    slowest = _radius(_slowest(rows, seasons))
    slow = spectra.time_constants(SLOW, sr=slowest, shortest=2.0)
    small = int(np.clip(rows // 8, 4, 12))
    if rows >= LONG:
        return _long(seasons, small, slow)
    many = 2 * int(np.clip(rows // 12, 3, 30))
    found = {
        "short": _joined(
            spectra.ring(small, sr=0.9), spectra.time_constants(4, sr=slowest, shortest=1.5)
        ),
        "spread": _joined(spectra.log_ring(many, sr=slowest, seed=0), _radii(slowest)),
    }
    for season in seasons:
        if not 2 <= season <= LONGEST or 4 * season > rows:
            continue
        found[f"season {season}"] = _joined(_ring(season, 2 * season), slow)
        found[f"season {season}, short"] = _seasonal(season, small, slow)
        if 8 * season <= rows and 2 * season <= LONGEST:
            found[f"two seasons {season}"] = _joined(_ring(2 * season, 3 * season), slow)
    return found


def _slowest(rows: int, seasons: Sequence[int]) -> float:
    """How long the slowest modes last, in rows."""
    longest = max(rows / 4, 10.0)
    # Rings have real modes too. One that lasts as long as a slow mode, the first or the middle
    # one, √(2 · longest), would be there twice and add no memory.
    rings = {lasts * season for season in seasons for lasts in (2, 3)}
    is_taken = longest in rings or 2 * longest in {lasts**2 for lasts in rings}
    return longest * ASIDE if is_taken else longest


def _long(seasons: Sequence[int], small: int, slow: Spectrum) -> dict[str, Spectrum]:
    fitting = [season for season in seasons if 2 <= season <= LONGEST]
    modes = LONGEST // max(fitting, default=1) * max(fitting, default=1)
    found = {
        f"season {season}, short": _seasonal(season, small, slow)
        for season in fitting[:1]
        if season < modes
    }
    return found | {
        "half as long": _joined(_ring(modes // 2, 0.6 * modes), slow),
        "long": _joined(_ring(modes, 0.6 * modes), slow),
        "long, slower": _joined(_ring(modes, 1.2 * modes), slow),
        "long, slowest": _joined(_ring(modes, 2.4 * modes), slow),
    }


def _seasonal(season: int, small: int, slow: Spectrum) -> Spectrum:
    """A ring as long as a season, and one for what lasts less."""
    return _joined(_ring(season, 3 * season), spectra.ring(small + 1, sr=0.8), slow)


def _joined(*parts: Spectrum) -> Spectrum:
    """Modes of all parts; one that repeats another, by chance, does no harm under a ridge."""
    return Spectrum(
        np.concatenate([part.real for part in parts]),
        np.concatenate([part.pairs for part in parts]),
    )


def _ring(modes: int, time_constant: float) -> Spectrum:
    return spectra.ring(modes, sr=_radius(time_constant))


def _radii(slowest: float) -> Spectrum:
    """Slow modes beside those of a law that has the slowest itself."""
    return spectra.time_constants(SLOW, sr=0.999 * slowest, shortest=2.0)


def _radius(time_constant: float) -> float:
    return float(np.exp(-1 / time_constant))
