"""How far off forecasts are, step by step: what intervals and quantiles are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from eigenecho.forecasting.sizes import sizes
from eigenecho.types import Array, GappyPositiveArray, NonNegativeArray, Positive, PositiveArray

FEW = 0.25
"""Of a block, by which shares of errors are raised: so that intervals of series with four or five
blocks held what they promise, on a hundred series that nothing else is measured by."""


@dataclass(frozen=True, eq=False)
class Bands:
    """Errors of forecasts made on rows that were not trained on.

    Attributes
    ----------
    growth : array (H,)
        The usual size of an error at each step, in units of the series; or of its logarithm.
    ratios : array (n,)
        Sizes of errors, in units of the usual one, in ascending order.
    relative : bool
        Whether errors are factors.
    blocks : float
        How many times the horizon the errors are of.
    means : array (S,)
        The mean absolute error of each series over all steps, in its units.
    sizes : array (S,)
        The size of errors of each series, where those of most are 1; NaN where it is not known.
        Empty where all are alike.
    scaled : array (m,)
        As ``ratios``, in units of the sizes of their series.
    """

    growth: PositiveArray
    ratios: NonNegativeArray
    relative: bool
    blocks: Positive
    means: NonNegativeArray
    sizes: GappyPositiveArray = field(default_factory=lambda: np.zeros(0))
    scaled: NonNegativeArray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(
        cls,
        forecasts: Sequence[Array],
        truths: Sequence[Array],
        units: Sequence[float],
        relative: bool,
        blocks: float,
        origins: Sequence[Array] = (),
    ) -> Bands:
        """From forecasts (O, H) of series, what came about, and the units of the series.

        Where the ``origins`` (O,) of forecasts are given, series are told apart by their errors.
        """
        relative = relative and not any(np.any(one <= 0) for one in (*forecasts, *truths))
        errors, absolute = [], []
        for forecast, truth, unit in zip(forecasts, truths, units, strict=True):
            absolute.append(np.abs(forecast - truth) / unit)
            errors.append(np.abs(np.log(truth / forecast)) if relative else absolute[-1])
        size = np.concatenate(errors)
        growth = _smooth(np.sqrt(_means(size**2)))
        ratios = size / growth
        means = np.array([np.nan if np.isnan(one).all() else np.nanmean(one) for one in absolute])
        bands = cls(growth, np.sort(ratios[~np.isnan(ratios)]), relative, blocks, means)
        if len(origins) < 2:
            return bands
        own, scaled = sizes([one / growth for one in errors], origins)
        return replace(bands, sizes=own, scaled=scaled)

    def of_series(self, number: int | None) -> Bands:
        """Errors as large as those of one series; of all where its own are not known."""
        if number is None or not self.sizes.size or np.isnan(self.sizes[number]):
            return self
        return replace(self, growth=self.growth * self.sizes[number], ratios=self.scaled)

    def lasting(self, horizon: int) -> Bands:
        """For so many steps; errors are taken to grow no more after the last that was judged."""
        growth = np.pad(self.growth, (0, max(horizon - len(self.growth), 0)), mode="edge")
        return replace(self, growth=growth[:horizon])

    def quantile(self, level: float, forecast: Array, unit: float) -> Array:
        """The value that what comes lies below with probability ``level``, at each step."""
        # Of few blocks the largest error is yet to come.
        place = min(abs(2 * level - 1) * (1 + FEW / self.blocks), 1.0)
        width = float(np.quantile(self.ratios, place)) if self.ratios.size else 0.0
        off = np.sign(level - 0.5) * width * self.growth[: len(forecast)]
        return forecast + (np.abs(forecast) * np.expm1(off) if self.relative else off * unit)


def _means(squares: Array) -> Array:
    """Of each column, over what is there; a column of nothing is as the one before."""
    there = ~np.isnan(squares)
    counts = there.sum(axis=0)
    means = np.where(there, squares, 0.0).sum(axis=0) / np.maximum(counts, 1)
    last = np.maximum.accumulate(np.where(counts > 0, np.arange(len(means)), 0))
    return means[last]


def _smooth(sizes: Array) -> Array:
    """Sizes that do not shrink with the steps but by a little, and are never zero."""
    grown = np.maximum.accumulate(sizes)
    found = (sizes + grown) / 2
    return np.maximum(found, max(float(found.max(initial=0.0)) * 1e-9, np.finfo(float).tiny))
