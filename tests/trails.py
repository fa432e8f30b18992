"""Complete results of a filter."""

from __future__ import annotations


def whole(filtered):
    """Return the level (T,) and all rows (T, N')."""
    level, trail = filtered
    return level, trail.between(0, len(trail))
