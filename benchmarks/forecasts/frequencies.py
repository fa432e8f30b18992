"""How far ahead, and over which season, a series is forecast: by its frequency alone."""

from __future__ import annotations

from dataclasses import dataclass

SEASONS = 3
"""A season counts where the rows before the first origin hold this many of it."""


@dataclass(frozen=True)
class Frequency:
    """Rows ahead, and rows a season."""

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
    "samples": Frequency(10, 1),  # of a signal, without a calendar
}


def season_of(frequency: str, rows: int) -> int:
    """The season of a frequency, or 1 where ``rows`` hold fewer than three of it."""
    season = FREQUENCIES[frequency].season
    return season if rows >= SEASONS * season else 1
