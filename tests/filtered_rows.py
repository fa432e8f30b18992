"""Rows of filters as arrays."""

from __future__ import annotations

import numpy as np


def all_rows(rows):
    """Return all rows (T, N')."""
    return rows.at(np.arange(len(rows)))


def whole(filtered):
    """Return the level (T,), and all rows (T, N')."""
    level, rows = filtered
    return level, all_rows(rows)
