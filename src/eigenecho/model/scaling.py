"""Standardised columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eigenecho.errors import bad_argument
from eigenecho.types import Array

SMALLEST = float(np.finfo(np.float64).tiny)
"""The least scale: closed loops divide by it, and below it the quotient leaves the range."""


@dataclass(frozen=True, eq=False)
class Scaling:
    """forward(x) = (x − mean) / scale, per column."""

    mean: Array
    scale: Array

    def __post_init__(self) -> None:
        if np.ndim(self.mean) != 1 or np.shape(self.mean) != np.shape(self.scale):
            got = f"<shapes {np.shape(self.mean)}, {np.shape(self.scale)}>"
            raise bad_argument("mean, scale", got, "one number for each column")
        if not np.all(np.asarray(self.scale) > 0):
            raise bad_argument("scale", self.scale, "numbers > 0")

    @classmethod
    def of(cls, series: Sequence[Array]) -> Scaling:
        """Mean and standard deviation over all rows; a constant column is only centred."""
        parts = [np.asarray(s, np.float64) for s in series]
        rows = parts[0] if len(parts) == 1 else np.concatenate(parts)
        size = np.abs(rows).max(axis=0, initial=0.0)
        size[size == 0] = 1.0
        rows = rows / size  # squares of very large or small numbers would leave the range
        deviation = rows.std(axis=0)
        # A constant column's deviation is rounding noise, not a scale, unless it exceeds 1.
        with np.errstate(over="ignore"):
            deviation = np.where(deviation <= 1e-14, np.maximum(1.0 / size, deviation), deviation)
        scale = deviation * size
        scale[np.isinf(scale)] = 1.0  # a constant so small that its reciprocal leaves the range
        return cls(rows.mean(axis=0) * size, np.maximum(scale, SMALLEST))

    @classmethod
    def identity(cls, columns: int) -> Scaling:
        """Leaves columns as they are."""
        return cls(np.zeros(columns), np.ones(columns))

    def forward(self, x: Array) -> Array:
        """To standardised columns, in the dtype of ``x``."""
        found = x - self.mean
        found /= self.scale
        return found.astype(np.asarray(x).dtype, copy=False)

    def backward(self, x: Array) -> Array:
        """Back to the caller's units, in the dtype of ``x``."""
        found = x * self.scale
        found += self.mean
        return found.astype(np.asarray(x).dtype, copy=False)
