"""Networks made smaller for the rows that they were trained on, of which the products are known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.model.plant import Plant
from eigenecho.reduction import EPS, Balanced, Smaller, balance, promised
from eigenecho.training import GroupEvidence
from eigenecho.types import Array

if TYPE_CHECKING:
    from eigenecho.model.model import LinearModel

FLOOR = 1e-7
"""Share of the largest singular value that is rounding, where sums of products are all there is."""

STILL = 1e-11
"""Share of a level below which a deviation from it is rounding."""

SUMMED = 64 * EPS
"""Share of squares below which what is left of their sums is rounding."""

CAREFUL = 3.0
"""Bounds on errors, over the root of the squares of the values that are cut, as they often are."""


@dataclass(frozen=True, eq=False)
class OnStatistics:
    """Rows of which XᵀX is known, by their triangular factor; the error is a bound."""

    plant: Plant
    rows: Array
    floor: float
    size: str = "deviation"
    name = "statistics"
    remedy = (
        "The statistics of training resolve no more: give rows as data=(X, y), or weigh all inputs "
        "alike with model_.reduce."
    )

    @classmethod
    def of(cls, model: LinearModel, evidence: GroupEvidence) -> OnStatistics:
        """Of the rows [1, y(t−1), r] that a readout was trained on, as deviations from rest.

        The start of a series, −r∞, is one more row. It counts once, because statistics do not tell
        how many series there were.
        """
        known, count = evidence.statistics, max(evidence.statistics.rows, 1)
        plant = Plant.of(model, _deviation(model, evidence))
        R, floor = known.root(), EPS if known.is_exact else FLOOR
        rows = R[:, -model.units :] / np.sqrt(count)
        if plant.rest is not None:
            constant = R[:, :1] / np.sqrt(count) if model.readout_bias else None
            start = -plant.rest[None] / np.sqrt(count)
            rows = np.concatenate([_deviations(rows, constant, plant.rest), start])
        # Without a constant the mean is not known; of standardised targets it is 0.
        is_centred = model.readout_bias or model.outputs is not None
        size = "deviation" if is_centred else "root mean square"
        return cls(plant, rows, floor, size)

    @cached_property
    def balanced(self) -> Balanced:
        """By what the rows reach."""
        return balance(self.plant.system, lambda: [self.rows], self.floor)

    @property
    def least(self) -> Array:
        """What projections of the rows leave out."""
        return self.balanced.left_out

    @property
    def expected(self) -> Array:
        """As the values that are cut, which bounds follow closely."""
        return CAREFUL * self.balanced.cut_off

    def error(self, found: Smaller) -> float:
        """Return a bound on the rms error of any output, over the ``size`` of its targets."""
        return float(promised(self.balanced, found, lambda: [self.rows]).max())

    def said(self, found: Smaller, error: float) -> dict[str, Any]:
        """The promise."""
        known = {"bound": None, "rows_error": None, "held_out_error": None}
        return {"promise": error, "size": self.size, **known}


def _deviations(rows: Array, constant: Array | None, rest: Array) -> Array:
    """Return rows D with DᵀD = Σ dᵀd / T of the deviations d = r − r∞, or an upper bound of it.

    Statistics without a constant column do not hold Σ r. Then dᵀd ≤ 2 rᵀr + 2 r∞ᵀr∞ bounds the sum.
    """
    if constant is None:
        return np.sqrt(2) * np.concatenate([rows, rest[None]])
    return rows - constant * rest


def _deviation(model: LinearModel, evidence: GroupEvidence) -> Array:
    """Standard deviation of the targets of training, (D_out,); about zero without a constant."""
    known, mean = evidence.statistics, np.zeros_like(evidence.weights)
    if model.readout_bias:
        mean[0] = known.XtY[0] / known.rows
    # What the mean leaves of the rows: squares of a level far from zero would hide it.
    variance = np.diag(evidence.scatter_with(mean)) / known.rows
    level = mean[0] ** 2
    rounding = STILL**2 * level
    if not known.is_exact:  # sums of the change from the weights at work to the mean
        rounding += SUMMED * (evidence.weights[0] - mean[0]) ** 2 * bool(model.readout_bias)
    constant = np.where(level > 0, level, 1.0)  # no deviation to speak of
    return np.sqrt(np.where(variance > rounding, variance, constant))
