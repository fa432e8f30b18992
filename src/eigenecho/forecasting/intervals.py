"""Prediction intervals from validation errors, by step ahead and by series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import ndtri, stdtrit

from eigenecho.checks import check_floats
from eigenecho.errors import Words, bad_argument
from eigenecho.types import Array, GappyPositiveArray, NonNegativeArray, Positive, PositiveArray

FEW = 0.25
"""Quantile levels are multiplied by 1 + FEW / blocks. With this value, intervals from four or five
blocks had the nominal coverage on a hundred series that were not used otherwise."""

ROWS = 3
"""Minimum number of rows in a block. Shorter blocks would lead to intervals that are too narrow,
because the same few errors were also used for the selection."""

SHAPE = 4.0
"""Weight, in blocks, of the shape √h to which the mean squared errors at step h are shrunk."""

MIXED, DEGREES = 3.0, 1.5
"""Weight, in blocks, of t quantiles when they are averaged with empirical quantiles, and degrees of
freedom of the t distribution per block. With these values and ``SHAPE``, intervals from 19 to 60
rows had the nominal coverage on simulated series that were not used otherwise."""

LEAST_DEGREES = 0.75
"""Minimum number of degrees of freedom. With this value, intervals from 5 or 6 rows had about the
nominal coverage on the training rows of the M1 competition."""

UNKNOWN = 4.0
"""Degrees of freedom if the unit is not estimated from the steps of the series."""

SMALLEST = 1e-3
"""Lower bound of error scales relative to the largest one, for series that are forecast exactly."""

GAUSSIAN = np.pi / 2 - 1
"""Ratio var|e| / (mean|e|)² for a Gaussian error e."""


@dataclass(frozen=True, eq=False)
class Bands:
    """Distribution of validation errors.

    Attributes
    ----------
    growth : array (H,)
        Root mean square error at each step, in units of the series or of its logarithms.
    ratios : array (n,)
        Absolute errors relative to ``growth``, sorted; empty if there are no errors.
    relative : bool
        True if the errors are differences of logarithms.
    blocks : float
        Number of blocks of errors. A block contains one horizon, and at least ``ROWS`` rows.
    means : array (S,)
        Mean absolute error of each series over all steps, in its unit. For series that were not
        validated, it is NaN before a call of ``complete``.
    sizes : array (S,)
        Error scale of each series, relative to a typical series; NaN if it is unknown. Empty if all
        series have the same scale.
    scaled : array (m,)
        ``ratios`` divided by the scales of their series, sorted.
    """

    growth: PositiveArray
    ratios: NonNegativeArray
    relative: bool
    blocks: Positive
    means: NonNegativeArray
    sizes: GappyPositiveArray = field(default_factory=lambda: np.zeros(0))
    scaled: NonNegativeArray = field(default_factory=lambda: np.zeros(0))

    def check(self) -> None:
        """Raise an error if parts of a loaded object are inconsistent."""
        has_sizes = bool(self.sizes.size)
        check_floats(self.sizes, "sizes", len(self.means) * has_sizes)
        for name, errors in {"ratios": self.ratios, "scaled": self.scaled}.items():
            check_floats(errors, name, None)
            if (np.diff(errors) < 0).any() or (name == "scaled" and has_sizes != bool(errors.size)):
                raise bad_argument(name, Words(f"{len(errors)} numbers"), "sorted errors")

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
        """Compute the bands from forecasts (O, H) and true values of each series.

        If ``origins`` (O,) are given for several series, an error scale is estimated for each
        series.
        """
        relative = relative and not any(np.any(x <= 0) for x in (*forecasts, *truths))
        absolute, errors = _errors(forecasts, truths, units, relative)
        size = np.concatenate(errors)
        horizon = size.shape[1]
        blocks *= horizon / max(horizon, ROWS)
        growth = _smooth(np.sqrt(_mix(_column_means(size**2), blocks)))
        ratios = size / growth
        means = np.array([_mean(e) for e in absolute])
        bands = cls(growth, np.sort(ratios[~np.isnan(ratios)]), relative, blocks, means)
        if len(origins) < 2:
            return bands
        sizes, scaled = error_scales([part / growth for part in errors], origins)
        return replace(bands, sizes=sizes, scaled=scaled)

    @classmethod
    def unknown(cls, series: int, horizon: int) -> Bands:
        """Return the bands of a random walk, for series without validation errors."""
        growth = np.sqrt(np.arange(1.0, horizon + 1))
        means = np.full(series, growth.mean() * np.sqrt(2 / np.pi))
        return cls(growth, np.zeros(0), False, 1.0, means)

    def complete(
        self, forecasts: Sequence[Array], truths: Sequence[Array], units: Sequence[float]
    ) -> Bands:
        """Return the bands, completed with estimates for series that were not validated.

        The mean error and the log scale of such a series are predicted from its training errors, by
        a regression over the validated series. A series that is too short has empty forecasts
        (O, H) and true values. It gets the mean error of all series, and no scale.
        """
        absolute, errors = _errors(forecasts, truths, units, self.relative)
        trained = np.array([_mean(e) for e in absolute])
        factors = self.means / np.where(trained > 0, trained, np.nan)
        factor = np.nanmedian(factors) if np.isfinite(factors).any() else np.nan
        means = np.where(np.isnan(self.means), factor * trained, self.means)
        means = np.where(np.isnan(means), np.nanmean(self.means), means)
        if not self.sizes.size or not np.isfinite(trained).any():
            return replace(self, means=means)
        x = np.array([_mean(e / self.growth) for e in errors])
        x, y = np.log(np.maximum(x, SMALLEST * np.nanmax(x))), np.log(self.sizes)
        both = np.isfinite(x) & np.isfinite(y)
        x, y = x - x[both].mean(), y - (centre := y[both].mean())
        slope = np.clip(x[both] @ y[both] / max(x[both] @ x[both], SMALLEST), 0.0, 1.0)
        sizes = np.where(np.isnan(self.sizes), np.exp(centre + slope * x), self.sizes)
        return replace(self, means=means, sizes=sizes)

    def of_series(self, number: int | None) -> Bands:
        """Return the bands of one series, or of all series if the error scale is unknown."""
        if number is None or not self.sizes.size or np.isnan(self.sizes[number]):
            return self
        return replace(self, growth=self.growth * self.sizes[number], ratios=self.scaled)

    def with_horizon(self, horizon: int) -> Bands:
        """Return the bands for ``horizon`` steps.

        Additional steps have the same errors as the last known step.
        """
        growth = np.pad(self.growth, (0, max(horizon - len(self.growth), 0)), mode="edge")
        return replace(self, growth=growth[:horizon])

    def quantile(self, level: float, forecast: Array, unit: float, steps: float = np.inf) -> Array:
        """Return the quantile at each step, (H,).

        ``steps`` is the number of steps of the series from which its unit was estimated.
        """
        share = abs(2 * level - 1)
        tail = 0.5 + share / 2
        if not self.ratios.size:
            width = stdtrit(steps if steps < np.inf else UNKNOWN, tail)
        else:
            # Since the ratios are sorted, a regular sample is enough to scale the t distribution.
            sample = self.ratios[len(self.ratios) // 2000 // 2 :: len(self.ratios) // 2000 + 1]
            # Quantiles of a few blocks are too small, because large errors are rare.
            place = min(share * (1 + FEW / self.blocks), 1.0) * (len(self.ratios) - 1)
            low, high = self.ratios[int(place)], self.ratios[int(np.ceil(place))]
            own = low + (place - int(place)) * (high - low)
            weight = self.blocks / (self.blocks + MIXED)
            degrees = max(DEGREES * self.blocks, LEAST_DEGREES)
            usual = stdtrit(degrees, tail) * np.sqrt(np.mean(sample**2))
            width = weight * own + (1 - weight) * usual
            if share > 0 and steps < np.inf:
                width *= stdtrit(steps, tail) / ndtri(tail)
        off = np.sign(level - 0.5) * width * self.growth[: len(forecast)]
        return forecast + (np.abs(forecast) * np.expm1(off) if self.relative else off * unit)


def _errors(
    forecasts: Sequence[Array], truths: Sequence[Array], units: Sequence[float], relative: bool
) -> tuple[list[Array], list[Array]]:
    """Return the absolute errors of each series in its unit, and the errors for the bands.

    The errors for the bands are absolute errors of logarithms if ``relative`` is True.
    """
    absolute, errors = [], []
    for forecast, truth, unit in zip(forecasts, truths, units, strict=True):
        absolute.append(np.abs(forecast - truth) / (unit or 1.0))
        if not relative:
            errors.append(absolute[-1])
            continue
        positive = (forecast > 0) & (truth > 0)
        factor = np.divide(truth, forecast, where=positive, out=np.full(truth.shape, np.nan))
        errors.append(np.abs(np.log(factor)))
    return absolute, errors


def _mix(squares: Array, blocks: float) -> Array:
    """Return mean squares by step (H,), shrunk towards a multiple of √h if there are few blocks."""
    shape = np.sqrt(np.arange(1, len(squares) + 1))
    return (blocks * squares + SHAPE * np.mean(squares / shape) * shape) / (blocks + SHAPE)


def _column_means(squares: Array) -> Array:
    """Return the mean of each column, ignoring NaN. A column of NaN repeats the previous mean."""
    counts = np.count_nonzero(~np.isnan(squares), axis=0)
    means = np.nansum(squares, axis=0) / np.maximum(counts, 1)
    last = np.maximum.accumulate(np.where(counts > 0, np.arange(len(means)), 0))
    return means[last]


def _smooth(sizes: Array) -> Array:
    """Average sizes (H,) with their running maximum, and replace zeros by small numbers."""
    grown = np.maximum.accumulate(sizes)
    smooth = (sizes + grown) / 2
    return np.maximum(smooth, max(float(smooth.max(initial=0.0)) * 1e-9, np.finfo(float).tiny))


def error_scales(ratios: Sequence[Array], origins: Sequence[Array]) -> tuple[Array, Array]:
    """Return the error scale of each series (S,), and all errors divided by their scales, sorted.

    Log scales are shrunk towards their mean by the ratio of the variances between and within
    series:

        log sᵢ = wᵢ (log mᵢ − μ),   wᵢ = τ² / (τ² + σ² / Bᵢ)

    where mᵢ is the mean error over Bᵢ blocks and μ is the mean of log mᵢ with weights wᵢ. The
    variance τ² between series is the covariance of the log mean errors in the first and the second
    half of the rows. The errors in one half are divided by the scale from the other half, because
    future errors are also divided by a scale from other rows. Both arrays are empty if scales do
    not differ significantly.

    Parameters
    ----------
    ratios : arrays (O_i, H)
        Absolute errors, relative to the typical error at their step.
    origins : arrays (O_i,)
        Last rows before the forecasts.
    """
    nothing = np.zeros(0), np.zeros(0)
    halves, counts, triples = [], [], []
    for errors, rows in zip(ratios, origins, strict=True):
        horizon = errors.shape[1]
        # Forecasts that end before the middle row, and forecasts that start after it.
        middle = (rows[0] + rows[-1] + horizon) / 2
        first, second = rows + horizon <= middle, rows >= middle
        halves.append((first, second))
        triples.append([_mean(errors), _mean(errors[first]), _mean(errors[second])])
        observed = max(float(np.mean(~np.isnan(errors))), 1 / errors.size)
        counts.append((float(rows[-1] - rows[0]) / horizon + 1) * observed)
    means, blocks = np.array(triples), np.array(counts)
    complete = ~np.isnan(means).any(axis=1)
    if complete.sum() < 2 or not np.nanmax(means) > 0:
        return nothing
    means = np.maximum(means, SMALLEST * np.nanmax(means))
    between, within = _variances(means[complete, 1:], blocks[complete] / 2)
    if between <= 0:
        return nothing

    def shrink(means: Array, blocks: Array) -> Array:
        weights = between / (between + within / blocks)
        logs, there = np.log(means), ~np.isnan(means)
        centre = np.average(logs[there], weights=weights[there])
        return np.exp(weights * (logs - centre))

    sizes = shrink(means[:, 0], blocks)
    before, after = (shrink(means[:, half], blocks / 2) for half in (1, 2))
    parts = []
    for errors, half, size, early, late in zip(ratios, halves, sizes, before, after, strict=True):
        parts.append(errors / np.select(half, [late, early], size)[:, None])
    scaled = np.concatenate(parts)
    return sizes, np.sort(scaled[~np.isnan(scaled)])


def _variances(halves: Array, blocks: Array) -> tuple[float, float]:
    """Return the variances of log mean errors between series, τ², and within series, σ² per block.

    ``halves`` (S, 2) contains the mean errors of earlier and later forecasts, and ``blocks`` (S,)
    the number of blocks in each half. σ² is estimated from the S − 1 differences between halves and
    one pseudo-observation, the value for perfectly correlated Gaussian errors, because the halves
    of a few series may agree by chance. τ² is the covariance of the halves minus its standard error
    for τ² = 0.
    """
    logs = np.log(halves)
    logs -= logs.mean(axis=0)
    count, short = len(logs) - 1, float(np.mean(1 / blocks))
    difference = float(np.sum((logs[:, 0] - logs[:, 1]) ** 2)) / 2
    within = (difference / short + GAUSSIAN) / (count + 1)
    common = float(np.sum(logs[:, 0] * logs[:, 1])) / count
    return common - within * short / np.sqrt(count), within


def _mean(errors: Array) -> float:
    """Return the mean, ignoring NaN. The result is NaN if all numbers are NaN."""
    there = errors[~np.isnan(errors)]
    return float(there.mean()) if there.size else np.nan
