"""Standardisation of columns, and the range of outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

from eigenecho.arrays import namespace, to_host
from eigenecho.errors import Words, bad_argument
from eigenecho.types import Array

SMALLEST = float(np.finfo(np.float64).tiny)
"""Smallest scale. Closed loops divide by the scale, and smaller scales would cause overflow."""

FAR = 10.0
"""Distance from the mean of the training targets at which a forecast has diverged, in standard
deviations."""

BEYOND = 0.25
"""Excess of clipped forecasts over the range of the training targets, relative to this range."""


@dataclass(frozen=True, eq=False)
class Scaling:
    """Standardisation of columns, forward(x) = (x − mean) / scale."""

    mean: Array
    scale: Array

    def __post_init__(self) -> None:
        for name in ("mean", "scale"):  # compiled code supports no other dtype
            object.__setattr__(self, name, np.asarray(getattr(self, name), np.float64))
        if self.mean.ndim != 1 or self.mean.shape != self.scale.shape:
            got = Words(f"shapes {self.mean.shape} and {self.scale.shape}")
            raise bad_argument("mean and scale", got, "one number for each column")
        if not np.all(self.scale > 0):
            raise bad_argument("scale", self.scale, "numbers > 0")

    @classmethod
    def of(cls, series: Sequence[Array], weights: Sequence[Array] | None = None) -> Scaling:
        """Return the scaling by mean and standard deviation over all rows, ignoring NaN.

        A constant column is only centred. ``weights`` are those of the rows of each series.
        """
        if weights is None:
            return reduce(Spread.merge, map(Spread.of, series)).scaling
        return reduce(Spread.merge, map(Spread.of, series, weights)).scaling

    @classmethod
    def identity(cls, columns: int) -> Scaling:
        """Return the scaling that leaves columns unchanged."""
        return cls(np.zeros(columns), np.ones(columns))

    def forward(self, x: Array) -> Array:
        """Return standardised columns, in the dtype of ``x``."""
        xp = namespace(x)
        out = x - xp.asarray(self.mean)
        out /= xp.asarray(self.scale)
        return xp.asarray(out, x.dtype)

    def backward(self, x: Array) -> Array:
        """Return columns in their original units, in the dtype of ``x``."""
        xp = namespace(x)
        out = x * xp.asarray(self.scale)
        out += xp.asarray(self.mean)
        return xp.asarray(out, x.dtype)


class OutputRange(NamedTuple):
    """Bounds of the outputs of a closed loop, (D_out,) each, in the units of the network.

    Outputs below ``low`` or above ``high`` are too far from the training targets to be credible.
    ``clip_low`` and ``clip_high`` are the bounds to which outputs can be clipped.
    """

    low: Array
    high: Array
    clip_low: Array
    clip_high: Array

    @classmethod
    def of(cls, outputs: Sequence[Array]) -> OutputRange:
        """Return the bounds for training targets (T_i, D_out), ignoring NaN."""
        scaling = Scaling.of(outputs)
        far = FAR * scaling.scale
        values = [to_host(y) for y in outputs]
        smallest = np.fmin.reduce([np.fmin.reduce(y, axis=0) for y in values])
        largest = np.fmax.reduce([np.fmax.reduce(y, axis=0) for y in values])
        beyond = BEYOND * (largest - smallest)
        bounds = scaling.mean - far, scaling.mean + far, smallest - beyond, largest + beyond
        return cls(*(np.asarray(bound, np.float64) for bound in bounds))


@dataclass(frozen=True, eq=False)
class Spread:
    """Mergeable statistic of columns: mean and standard deviation.

    ``mean`` and ``deviation`` (D,) are in units of ``size`` (D,), the largest |x|, because squares
    of very large or small numbers would overflow or underflow. ``rows`` is (D,) if values are
    missing. If rows have weights, it is their sum.
    """

    rows: float | Array
    size: Array
    mean: Array
    deviation: Array

    @classmethod
    def of(cls, x: Array, weights: Array | None = None) -> Spread:
        """Return the statistic of the rows of one series (T, D), which may have weights (T,)."""
        xp = namespace(x)
        rows = xp.asarray(x, np.float64)
        if bool(xp.isnan(rows).any()):
            return cls._of_each(to_host(rows).T, weights)
        size = xp.max(xp.abs(rows), axis=0, initial=0.0)
        if not len(rows):
            return cls(0, *3 * (to_host(size),))
        rows = rows / (size + (size == 0))
        if weights is None:
            mean = rows.mean(axis=0)
            deviation = xp.sqrt(((rows - mean) ** 2).mean(axis=0))
            return cls(len(rows), *to_host((size, mean, deviation)))
        share = xp.asarray(weights / max(weights.sum(), SMALLEST))
        mean = share @ rows
        deviation = xp.sqrt(share @ (rows - mean) ** 2)
        return cls(float(weights.sum()), *to_host((size, mean, deviation)))

    @classmethod
    def _of_each(cls, columns: Array, weights: Array | None) -> Spread:
        """Return the statistic of the values of each column that are not missing."""
        pairs = [(column, ~np.isnan(column)) for column in columns]
        spreads = [
            cls.of(column[seen, np.newaxis], None if weights is None else weights[seen])
            for column, seen in pairs
        ]
        parts = zip(*((part.size, part.mean, part.deviation) for part in spreads), strict=True)
        return cls(np.array([part.rows for part in spreads]), *map(np.concatenate, parts))

    def merge(self, other: Spread) -> Spread:
        """Return the statistic of both sets of rows.

        σ² = (1−w) σ₁² + w σ₂² + w (1−w) (μ₂ − μ₁)²,   where w is the share of the other's rows
        """
        size = np.maximum(self.size, other.size)
        a, b = (part.size / np.where(size > 0, size, 1.0) for part in (self, other))
        rows = self.rows + other.rows
        w = other.rows / np.where(rows > 0, rows, 1)
        apart = b * other.mean - a * self.mean
        square = (1 - w) * (a * self.deviation) ** 2 + w * (b * other.deviation) ** 2
        deviation = np.sqrt(square + w * (1 - w) * apart**2)
        return Spread(self.rows + other.rows, size, a * self.mean + w * apart, deviation)

    @property
    def scaling(self) -> Scaling:
        """Scaling to mean 0 and standard deviation 1."""
        size = np.where(self.size > 0, self.size, 1.0)
        # The deviation of a constant column is a rounding error. It is used only if it exceeds 1.
        with np.errstate(over="ignore"):
            noise = np.maximum(1.0 / size, self.deviation)
            scale = np.where(self.deviation <= 1e-14, noise, self.deviation) * size
        scale[np.isinf(scale)] = 1.0  # a constant so small that its reciprocal overflows
        return Scaling(self.mean * size, np.maximum(scale, SMALLEST))
