"""Bounds around forecasts, and whether held-out rows lie within them as often as promised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from eigenecho.types import Array

TOLERANCE = 0.05
"""By which coverage may miss the promise, or half of what is promised to lie outside if less."""

BandWord = Literal["kept", "too narrow", "too wide"]


@dataclass(frozen=True, eq=False)
class Bands:
    """Half widths of the bounds that a network gives itself, and the errors that came about.

    Held-out rows are compared with the network's own bounds. Those of the future are at least as
    wide as would have kept the promise there: one factor for all steps, never below 1.
    """

    interval: float
    """The share of rows that shall lie within."""
    errors: Array
    """Absolute errors of held-out rows, (blocks, horizon); NaN where nothing was observed."""
    held_out: Array
    """(blocks, horizon)"""
    own: Array
    """Of the future, as the network has it, (horizon,)."""

    @classmethod
    def of(cls, interval: float, errors: Array, held_out: Array, ahead: Array) -> Bands:
        """From standard deviations of held-out blocks and ahead, by the normal law."""
        from scipy.special import ndtri

        width = float(ndtri(0.5 + 0.5 * interval))
        return cls(interval, np.abs(errors), width * held_out, width * ahead)

    @property
    def coverage(self) -> float:
        """The share of held-out rows within their bounds."""
        seen = ~np.isnan(self.errors)
        return float(np.mean(self.errors[seen] <= self.held_out[seen]))

    @property
    def factor(self) -> float:
        """By which the bounds of the future are widened."""
        some = (self.held_out > 0) & ~np.isnan(self.errors)
        if not some.any():
            return 1.0
        ratios = self.errors[some] / self.held_out[some]
        return max(1.0, float(np.quantile(ratios, self.interval, method="inverted_cdf")))

    @property
    def future(self) -> Array:
        """(horizon,)"""
        return self.factor * self.own

    @property
    def word(self) -> BandWord:
        """Whether the promise was kept on held-out rows."""
        off = self.coverage - self.interval
        if abs(off) <= min(TOLERANCE, (1 - self.interval) / 2):
            return "kept"
        return "too narrow" if off < 0 else "too wide"

    @property
    def measured(self) -> str:
        """Promise and fact."""
        return f"{percent(self.coverage)} of rows within the {percent(self.interval)} interval"

    @property
    def sentence(self) -> str:
        """What to think of the bounds."""
        promised = percent(self.interval)
        said = (
            f"The network's own {promised} intervals held {percent(self.coverage)} of held-out rows"
        )
        said += {
            "kept": "",
            "too wide": ", more than they had to",
            "too narrow": ", too few: not all of its errors are independent noise of one size",
        }[self.word]
        if self.factor < 1.005:
            return f"{said}."
        times = f"{self.factor:.2f} times as wide"
        return f"{said}. Those ahead are {times}, as would have held {promised}."


def percent(share: float) -> str:
    """0.9 as 90%."""
    return f"{100 * share:.3g}%"
