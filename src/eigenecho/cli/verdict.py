"""Comparison of a forecast with naive baselines on the test blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from eigenecho.forecasting.backtest import Backtest
from eigenecho.types import Array

CONFIDENCE, ENOUGH = 0.95, 3
"""Confidence level of the t-test, and smallest number of blocks for which it is used."""

MARGIN = 0.02
"""Smallest relative decrease of the error that counts as an improvement."""

ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""Errors below this fraction of the largest value are rounding errors and count as zero."""

MARKS = {
    "beats": ("holds", "✓", "blue"),
    "does not clearly beat": ("holds-in-part", "◐", "yellow"),
    "does not beat": ("does-not-hold", "✗", "red"),
}
"""CSS class, sign and terminal colour of each verdict."""

WORDS = {"mae": "mean absolute error", "mase": "mean absolute scaled error"}


@dataclass(frozen=True)
class Verdict:
    """A comparison of the forecast with one baseline; ``word`` is a key of ``MARKS``.

    ``change`` is the relative difference of the errors. It is −0.3 if the error of the forecast is
    30% lower than that of the baseline, and ∞ if only the error of the baseline is zero.
    """

    rival: str
    word: str
    change: float
    wins: int
    blocks: int
    measure: str

    @property
    def measured(self) -> str:
        """The change of the error and the number of blocks with a lower error, as text."""
        size = f"{abs(self.change):.0%} {'lower' if self.change < 0 else 'higher'}"
        if self.change == np.inf:
            size = "above zero, while that of the baseline is zero"
        elif abs(self.change) < 0.005:
            size = "the same to within 1%"
        if self.blocks == 1:
            return f"the {self.measure} is {size} on one block, which is too few for a test"
        return f"the {self.measure} is {size}; it is lower in {self.wins} of {self.blocks} blocks"

    @property
    def sentence(self) -> str:
        """The verdict as a sentence."""
        return f"{self.word.capitalize()} “{self.rival}”: {self.measured}."


def block_errors(backtest: Backtest) -> Any:
    """Return the mean (scaled) error of each method in each block."""
    rows = backtest.errors
    errors = rows[backtest.methods].sub(rows["y"], axis=0).abs()
    largest = rows["y"].abs().groupby(rows["unique_id"]).transform("max")
    errors = errors.where(errors.gt(ROUNDING * largest, axis=0) | errors.isna(), 0.0)
    # A missing forecast counts as the worst one; rows without observations are ignored.
    errors = errors.fillna(np.inf)[rows["y"].notna()]
    if backtest.measure == "mase":
        errors = errors.div(np.asarray(backtest.scale)[rows["y"].notna()], axis=0)
    cutoffs = rows.groupby("unique_id", sort=False)["cutoff"]
    from_end = cutoffs.rank("dense", ascending=False)[errors.index]
    return errors.groupby(-from_end).mean()


def verdicts(backtest: Backtest) -> list[Verdict]:
    """Return a verdict for each baseline, starting with the best baseline."""
    errors = block_errors(backtest)
    rivals = [name for name in backtest.methods if name != "forecast"]
    rivals.sort(key=lambda name: backtest.summary.loc[name, backtest.measure])
    ours, words = errors["forecast"].to_numpy(), WORDS[backtest.measure]
    return [verdict(ours, errors[name].to_numpy(), name, words) for name in rivals]


def verdict(ours: Array, theirs: Array, rival: str, measure: str = WORDS["mae"]) -> Verdict:
    """Compare the errors of blocks by a one-sided t-test on the logarithms of their ratios.

    Blocks do not overlap, so they are nearly independent. For a series without structure, about
    one forecast in twenty is judged better than a baseline.
    """
    error, rivals = float(ours.mean()), float(theirs.mean())
    change = error / rivals - 1 if rivals > 0 else (np.inf if error > 0 else 0.0)
    blocks, wins = len(ours), int(np.sum(ours < theirs))
    word = "does not clearly beat" if change < 0 else "does not beat"
    if blocks >= ENOUGH and change <= -MARGIN and _upper_bound(ours, theirs) < 0:
        word = "beats"
    return Verdict(rival, word, change, wins, blocks, measure)


def _upper_bound(ours: Array, theirs: Array) -> float:
    """Return the upper confidence bound of the mean logarithm of the ratio of errors."""
    tiny = np.finfo(np.float64).tiny
    ratios = np.log(np.maximum(ours, tiny)) - np.log(np.maximum(theirs, tiny))
    deviation = ratios.std(ddof=1) / np.sqrt(len(ratios))
    return float(ratios.mean() + stdtrit(len(ratios) - 1, CONFIDENCE) * deviation)
