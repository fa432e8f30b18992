"""Errors on rows that were left out: each part of the rows predicted from all the others."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eigenecho.readout.factorised import EPS, Factorised, factorise
from eigenecho.readout.likelihood import HIGHEST, check_targets, ladder
from eigenecho.readout.penalty import Penalty
from eigenecho.readout.triangle import Triangle
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Parts of the rows, and for each a factorisation of all the others.

    Between ``lowest``, the smallest ridge that can be told from none, and ``highest``, which
    leaves nothing of any weight, ridges make a difference.
    """

    pairs: tuple[tuple[Triangle, Factorised], ...]
    outputs: int
    lowest: float
    highest: float

    @classmethod
    def of(cls, parts: Sequence[Triangle], penalty: Penalty) -> LeftOut:
        """Of two parts or more; one without rows, or without others, says nothing."""
        k = penalty.free
        sums = np.concatenate([part.Z for part in parts])
        check_targets(np.sum([part.squares for part in parts], axis=0), sums)
        # The sum of all S², of which the largest is a part.
        size = float(sum(np.sum(penalty.unroot_right(part.R[:, k:]) ** 2) for part in parts))
        pairs = tuple(
            (part, factorise(others, penalty))
            for part, others in zip(parts, _others(parts), strict=True)
            if part.rows and others.rows
        )
        return cls(pairs, parts[0].Z.shape[1], EPS**2 * size, HIGHEST * size)

    def squared_errors(self, ridges: Sequence[float] | Array) -> Array:
        """Σ_b ‖Y_b − X_b w₋b‖² (ridges, D_out), w₋b trained on all parts but b: true residuals."""
        total = np.zeros((len(ridges), self.outputs))
        for part, others in self.pairs:
            total += others.squared_errors(part, ridges)[0]
        return total


def _others(parts: Sequence[Triangle]) -> list[Triangle]:
    """For each part the statistics of all others, none of which is taken off again."""
    before = [None, *itertools.accumulate(parts[:-1], Triangle.merge)]
    after = [None, *itertools.accumulate(parts[:0:-1], Triangle.merge)][::-1]
    found = []
    for one, other in zip(before, after, strict=True):
        sides = [side for side in (one, other) if side is not None]
        found.append(sides[0] if len(sides) == 1 else sides[0].merge(sides[1]))
    return found


def steadiest(groups: Sequence[LeftOut]) -> float:
    """The one ridge with the smallest errors on what is left out, over all groups of outputs.

    Σ_d log Σ_b ‖·‖² is compared: every output by its own noise, whatever its units. The best of
    half powers of ten, then of steps between its neighbours.
    """

    def score(ridges: Array) -> Array:
        errors = np.concatenate([group.squared_errors(ridges) for group in groups], axis=1)
        errors = errors[:, np.any(errors > 0, axis=0)]
        return np.log(np.maximum(errors, np.finfo(np.float64).tiny)).sum(axis=1)

    lowest = max(group.lowest for group in groups)
    if not lowest > 0:
        return 1.0  # there is nothing to weigh
    coarse = ladder(lowest, max(group.highest for group in groups), 2)
    best = int(np.argmin(score(coarse)))
    fine = np.geomspace(coarse[max(best - 1, 0)], coarse[min(best + 1, len(coarse) - 1)], 21)
    return float(fine[int(np.argmin(score(fine)))])
