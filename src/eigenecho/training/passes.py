"""Passes over the rows of a problem: all that training asks of them, wherever they lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eigenecho.arrays import at, namespace
from eigenecho.readout import Accumulated
from eigenecho.tensors import to_host
from eigenecho.training.gather import Gathered, gather
from eigenecho.training.problem import Block, Fold, Problem
from eigenecho.training.refine import Round
from eigenecho.training.structured import gather_gram
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class Passes:
    """Passes over rows that are at hand.

    Each runs through time once and answers with numbers that do not grow with it. Where rows lie
    elsewhere, in shards, whoever has them overrides every method; ``problem`` is then one whose
    series have lengths and no numbers, and training asks it for nothing else.
    """

    problem: Problem

    @cached_property
    def in_double(self) -> Passes:
        """The same in double precision."""
        return Passes(self.problem.in_double)

    def gather(self, kind: type[Accumulated], fold: Fold, *, less: Array | None = None) -> Gathered:
        """Statistics of training rows and held-out blocks, as ``training.gather`` has them."""
        if less is not None:
            less = at(less, self.problem.inputs[0])
        return gather(self.problem, kind, fold, less=less)

    def gather_gram(self, block: Block) -> Gathered:
        """XᵀX and XᵀY over a block from sums over time, as ``training.structured`` has them."""
        return gather_gram(self.problem, block)

    def round(self, block: Block, w: Array) -> Round:
        """Weights (N', k), and what they leave of the targets over a block."""
        return Round(self.problem, block, at(w, self.problem.inputs[0]))

    def squares(self, block: Block) -> Array:
        """‖y_d‖² over a block, (D_out,), in float64; missing targets are 0."""
        return squares(self.problem.targets(block))


def squares(targets: Sequence[Array]) -> Array:
    """‖y_d‖² over the rows of all series, (D_out,), in float64."""
    with np.errstate(over="ignore"):  # it shows in the result, which the caller checks
        each = [to_host((namespace(y).asarray(y, np.float64) ** 2).sum(axis=0)) for y in targets]
        return np.sum(each, axis=0)
