"""Fit power laws."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def slope(points: Mapping[int, float]) -> tuple[float, float]:
    """Return (p, c) of y ≈ c xᵖ, by least squares on the logarithms."""
    x, y = np.log(list(points)), np.log(list(points.values()))
    p, log_c = np.polyfit(x, y, 1)
    return float(p), float(np.exp(log_c))
