"""Whether a forecast beats a naive one, said as plainly as the held-out blocks allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from eigenecho.forecasting.backtest import OURS, Backtest
from eigenecho.types import Array

CONFIDENCE, ENOUGH = 0.95, 3
"""Of the test, and blocks from which more than luck can be told."""

MARGIN, LARGE = 0.02, 9.0
"""Changes of the error from which on one is preferred to the other, and told as a multiple."""

ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""Of the largest value: an error below that is one of arithmetic, not of a forecast."""

WORDS = {"mae": "mean absolute error", "mase": "mean scaled error"}


@dataclass(frozen=True)
class Verdict:
    """On one naive forecast: "beats", "not clearly" or "does not beat".

    ``change`` is that of the error: −0.3 is 30 % lower than the rival's, ∞ where that is zero;
    ``exact`` says that neither makes any error.
    """

    rival: str
    word: str
    change: float
    wins: int
    blocks: int
    exact: bool
    measure: str

    @property
    def measured(self) -> str:
        """By how much, and how often."""
        size = f"{abs(self.change):.0%} {'lower' if self.change < 0 else 'higher'}"
        if self.change == np.inf:
            size = "above zero, where that one makes no error at all"
        elif self.change > LARGE:
            size = f"{1 + self.change:.3g} times as high"
        elif abs(self.change) < 0.005:
            size = "zero, as that one's" if self.exact else "the same within 1%"
        if self.blocks == 1:
            return f"{self.measure} {size} on one block, which cannot tell skill from luck"
        return f"{self.measure} {size}, better in {self.wins} of {self.blocks} held-out blocks"

    @property
    def sentence(self) -> str:
        """In full."""
        start = {"beats": "Beats", "not clearly": "Does not clearly beat"}
        return f"{start.get(self.word, 'Does not beat')} “{self.rival}”: {self.measured}."


def block_errors(tested: Backtest) -> Any:
    """A DataFrame of the mean error of each method in each block; scaled for several series."""
    rows = tested.errors
    errors = rows[tested.methods].sub(rows["y"], axis=0).abs()
    largest = rows["y"].abs().groupby(rows["unique_id"]).transform("max")
    errors = errors.where(errors.gt(ROUNDING * largest, axis=0) | errors.isna(), 0.0)
    # Never by a forecast: only where nothing was observed is there no error.
    errors = errors.fillna(np.inf)[rows["y"].notna()]
    if tested.measure == "mase":
        errors = errors.div(np.asarray(tested.scale)[rows["y"].notna()], axis=0)
    cutoffs = rows.groupby("unique_id", sort=False)["cutoff"]
    from_end = cutoffs.rank("dense", ascending=False)[errors.index]
    return errors.groupby(-from_end).mean()


def verdicts(tested: Backtest) -> list[Verdict]:
    """One for each naive forecast, the best of these first."""
    errors = block_errors(tested)
    rivals = [name for name in tested.methods if name != OURS]
    order = sorted(rivals, key=lambda name: tested.summary.loc[name, tested.measure])
    return [
        verdict(errors[OURS].to_numpy(), errors[name].to_numpy(), name, WORDS[tested.measure])
        for name in order
    ]


def verdict(ours: Array, theirs: Array, rival: str, measure: str = WORDS["mae"]) -> Verdict:
    """A one-sided t-test on the logarithms of the blocks' error ratios.

    Blocks do not overlap, so that they are nearly independent; a series without structure passes
    about once in twenty times.
    """
    error, rivals = float(ours.mean()), float(theirs.mean())
    exact = error == 0 and rivals == 0
    change = error / rivals - 1 if rivals > 0 else (0.0 if exact else np.inf)
    blocks, wins = len(ours), int(np.sum(ours < theirs))
    word = "not clearly" if change < 0 else "does not beat"
    if blocks >= ENOUGH and change <= -MARGIN and _bound(ours, theirs) < 0:
        word = "beats"
    return Verdict(rival, word, change, wins, blocks, exact, measure)


def _bound(ours: Array, theirs: Array) -> float:
    """The upper confidence bound of the mean log ratio."""
    tiny = np.finfo(np.float64).tiny
    ratios = np.log(np.maximum(ours, tiny)) - np.log(np.maximum(theirs, tiny))
    spread = ratios.std(ddof=1) / np.sqrt(len(ratios))
    return float(ratios.mean() + stdtrit(len(ratios) - 1, CONFIDENCE) * spread)
