"""Numbers of a column of a table, of as many decimals each."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

LEAST, MOST = 1e-4, 1e7
"""Sizes between which numbers are written out."""


def aligned(values: ArrayLike, finest: float | None = None) -> list[str]:
    """Texts of numbers, with three digits of the ``finest``; a dash where there is none.

    By default that is the smallest of them, other than 0.
    """
    numbers = np.asarray(values, np.float64)
    sizes = np.abs(numbers[np.isfinite(numbers) & (numbers != 0)])
    largest = float(sizes.max(initial=0.0))
    finest = float(sizes.min(initial=largest or 1.0)) if finest is None else finest
    if largest >= MOST or finest < LEAST:
        return ["–" if np.isnan(x) else f"{x:.4g}" for x in numbers]
    decimals = int(np.clip(2 - np.floor(np.log10(finest)), 0, 6))
    return ["–" if np.isnan(x) else f"{x:,.{decimals}f}".replace(",", "\u202f") for x in numbers]
