"""What filters leave behind, whole."""

from __future__ import annotations


def whole(filtered):
    """The level (T,), and all rows (T, N')."""
    level, trail = filtered
    return level, trail.between(0, len(trail))
