"""Whether a forecast beats a naive one, said as plainly as the held-out blocks allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from eigenecho.apps.tables.backtest import OURS, Backtest

CONFIDENCE = 0.95
MARGIN = 0.02
"""Of the error: less than that, however regular, is no reason to prefer one to the other."""

LARGE = 9.0
"""A change from which on it is told as a multiple."""

ENOUGH = 3
"""Blocks from which more than luck can be told."""

VerdictWord = Literal["beats", "not clearly", "does not beat"]


@dataclass(frozen=True)
class Verdict:
    """On one naive forecast."""

    rival: str
    word: VerdictWord
    change: float
    """Of the mean absolute error: −0.3 is 30 % lower than the rival's; ∞ where that is zero."""
    wins: int
    blocks: int
    exact: bool = False
    """Whether neither makes any error."""

    @property
    def measured(self) -> str:
        """By how much, and how often."""
        if self.change == np.inf:
            size = "above zero, where that one makes no error at all"
        elif self.change > LARGE:
            size = f"{1 + self.change:.3g} times as high"
        elif abs(self.change) < 0.005:
            size = "zero, as that one's" if self.exact else "the same within 1%"
        else:
            size = f"{abs(self.change):.0%} {'lower' if self.change < 0 else 'higher'}"
        if self.blocks == 1:
            return f"mean absolute error {size} on one block, which cannot tell skill from luck"
        return f"mean absolute error {size}, better in {self.wins} of {self.blocks} held-out blocks"

    @property
    def sentence(self) -> str:
        """In full."""
        start = {"beats": "Beats", "not clearly": "Does not clearly beat"}
        return f"{start.get(self.word, 'Does not beat')} “{self.rival}”: {self.measured}."


def verdicts(backtest: Backtest) -> list[Verdict]:
    """One for each naive forecast, the best of these first."""
    rivals = [name for name in backtest.guesses if name != OURS]
    return [_verdict(backtest, name) for name in sorted(rivals, key=backtest.mae)]


def _verdict(backtest: Backtest, rival: str) -> Verdict:
    """A one-sided t-test on the logarithms of the blocks' error ratios.

    Blocks do not overlap, so that they are nearly independent; a series without structure passes
    about once in twenty times.
    """
    ours, theirs = backtest.block_errors(OURS), backtest.block_errors(rival)
    measured = ~np.isnan(ours)  # not so where a block was filled altogether
    ours, theirs = ours[measured], theirs[measured]
    error, rivals = backtest.mae(OURS), backtest.mae(rival)
    least = backtest.rounding
    exact = error <= least and rivals <= least
    if rivals > least:
        change = error / rivals - 1
    else:
        change = 0.0 if exact else np.inf
    blocks, wins = len(ours), int(np.sum(ours < theirs))
    if not change < 0:
        word: VerdictWord = "does not beat"
    elif blocks >= ENOUGH and change <= -MARGIN and _bound(ours, theirs) < 0:
        word = "beats"
    else:
        word = "not clearly"
    return Verdict(rival, word, change, wins, blocks, exact)


def _bound(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The upper confidence bound of the mean log ratio."""
    from scipy.stats import t

    tiny = np.finfo(np.float64).tiny
    ratios = np.log(np.maximum(ours, tiny)) - np.log(np.maximum(theirs, tiny))
    spread = ratios.std(ddof=1) / np.sqrt(len(ratios))
    return float(ratios.mean() + t.ppf(CONFIDENCE, len(ratios) - 1) * spread)
