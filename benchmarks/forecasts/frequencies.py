"""Horizon and season of a series, by its frequency."""

from __future__ import annotations

from dataclasses import dataclass

SEASONS = 3
"""Smallest number of seasons before the first origin for which the season is used."""


@dataclass(frozen=True)
class Frequency:
    """Horizon and season in rows."""

    horizon: int
    season: int


FREQUENCIES = {
    "yearly": Frequency(6, 1),
    "quarterly": Frequency(8, 4),
    "monthly": Frequency(12, 12),
    "weekly": Frequency(13, 52),
    "daily": Frequency(14, 7),
    "business days": Frequency(10, 5),
    "hourly": Frequency(48, 24),
    "half-hourly": Frequency(48, 48),
    "samples": Frequency(10, 1),  # a signal without a calendar
}


def season_of(frequency: str, rows: int) -> int:
    """Return the season of a frequency, or 1 if ``rows`` contain fewer than three of them."""
    season = FREQUENCIES[frequency].season
    return season if rows >= SEASONS * season else 1
