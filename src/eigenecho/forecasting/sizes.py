"""How large errors of each series of a panel are, as far as they differ by more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from eigenecho.types import Array

SMALLEST = 1e-3
"""Of the largest size, what others are taken to be at least: some series are foreseen exactly."""

GAUSSIAN = np.pi / 2 - 1
"""var|e| / (mean|e|)² of a Gaussian error."""


class SizeSpread(NamedTuple):
    """Variances of logarithms of mean absolute errors.

    Attributes
    ----------
    lasting : float
        τ², between series: what their earlier and their later errors have in common.
    chance : float
        σ², within a series, of the errors of one horizon.
    """

    lasting: float
    chance: float

    def sizes(self, means: Array, blocks: Array) -> Array:
        """Sizes (S,) of errors, where those of most series are 1, from means over some blocks.

            log sᵢ = wᵢ (log mᵢ − μ),   wᵢ = τ² / (τ² + σ² / Bᵢ)

        and μ is the mean of log mᵢ with weights wᵢ. Series without a mean have no size.
        """
        weights = self.lasting / (self.lasting + self.chance / blocks)
        logs, there = np.log(means), ~np.isnan(means)
        centre = np.average(logs[there], weights=weights[there])
        return np.exp(weights * (logs - centre))


def sizes(ratios: Sequence[Array], origins: Sequence[Array]) -> tuple[Array, Array]:
    """Sizes (S,) of errors of series, and errors (n,) in units of these, in ascending order.

    Both are empty where series are alike, for all that is known: what lasts is found from errors
    of forecasts in the first half of a series' rows and in the second, which share no rows. The
    errors of a half are measured by the size that the other half has, as those to come will be.

    Parameters
    ----------
    ratios : arrays (O_i, H)
        Absolute errors, in units of the usual one of their step.
    origins : arrays (O_i,)
        The last rows that the forecasts had seen.
    """
    nothing = np.zeros(0), np.zeros(0)
    parts = [_halves(rows, one.shape[1]) for one, rows in zip(ratios, origins, strict=True)]
    means = np.array(
        [
            [_mean(some) for some in (one, one[first], one[second])]
            for one, (first, second) in zip(ratios, parts, strict=True)
        ]
    )
    judged = ~np.isnan(means).any(axis=1)
    if judged.sum() < 2 or not np.nanmax(means) > 0:
        return nothing
    means = np.maximum(means, SMALLEST * np.nanmax(means))
    blocks = np.array([_blocks(one, rows) for one, rows in zip(ratios, origins, strict=True)])
    spread = _spread(means[judged, 1:], blocks[judged] / 2)
    if spread.lasting <= 0:
        return nothing
    own = spread.sizes(means[:, 0], blocks)
    before, after = (spread.sizes(means[:, part], blocks / 2) for part in (1, 2))
    scaled = []
    for one, (first, second), *by in zip(ratios, parts, own, before, after, strict=True):
        size, early, late = by
        scaled.append(one / np.select([first, second], [late, early], size)[:, None])
    found = np.concatenate(scaled)
    return own, np.sort(found[~np.isnan(found)])


def _spread(halves: Array, blocks: Array) -> SizeSpread:
    """From mean errors (S, 2) of earlier and later forecasts, over so many blocks each.

    Chance is taken from S − 1 differences between halves, and from one more, such as if errors of
    a forecast all went together: of few series halves may agree by chance. What lasts is what
    halves have in common beyond the standard error of that, were nothing to last.
    """
    logs = np.log(halves)
    logs -= logs.mean(axis=0)
    count, short = len(logs) - 1, float(np.mean(1 / blocks))
    apart = float(np.sum((logs[:, 0] - logs[:, 1]) ** 2)) / 2
    chance = (apart / short + GAUSSIAN) / (count + 1)
    common = float(np.sum(logs[:, 0] * logs[:, 1])) / count
    return SizeSpread(common - chance * short / np.sqrt(count), chance)


def _halves(origins: Array, horizon: int) -> tuple[Array, Array]:
    """Which forecasts (O,) end before the middle of the rows that they are of, and start there."""
    middle = (origins[0] + origins[-1] + horizon) / 2
    return origins + horizon <= middle, origins >= middle


def _blocks(ratios: Array, origins: Array) -> float:
    """Horizons side by side that forecasts are of, as far as something was observed there."""
    horizon = ratios.shape[1]
    spanned = float(origins[-1] - origins[0]) / horizon + 1
    return spanned * max(float(np.mean(~np.isnan(ratios))), 1 / ratios.size)


def _mean(ratios: Array) -> float:
    """Of what is there; NaN where nothing is."""
    there = ratios[~np.isnan(ratios)]
    return float(there.mean()) if there.size else np.nan
