"""Shards: rows that lie together on some worker, and the problems that they are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from dask.local import get_sync

from eigenecho.errors import Shown, bad_argument
from eigenecho.readout import Penalty
from eigenecho.reservoir import Reservoir
from eigenecho.series import as_table
from eigenecho.training import Block, Fold, Problem, filled
from eigenecho.types import Array

Start = tuple[Array, Array]
"""A state r (N,) and the output before, (D_out,), in the network's own units."""


Pair = tuple[Any, Any]
"""Inputs and targets of the same rows."""


class Recipe:
    """How a worker makes the rows of a shard, in the task that works on them.

    As a task of its own it might run on one worker and be wanted on another: rows would travel.
    """

    def __init__(self, graph: Any, key: Any) -> None:
        self.graph, self.key = graph, key

    def made(self) -> Pair:
        """The rows."""
        return get_sync(self.graph, self.key)


def made(rows: Any) -> Pair:
    """Inputs and targets of a shard, wherever they come from."""
    return rows.made() if isinstance(rows, Recipe) else rows


class Piece(NamedTuple):
    """Rows of one series: its number among all, that of the first row, and how many there are."""

    series: int
    first: int
    rows: int


@dataclass(frozen=True, eq=False)
class Shard:
    """A piece of one series, or some whole series.

    ``rows`` are delayed, or a recipe, inputs and targets as one pair: arrays (rows, D), or lists of
    them, one for each of the ``pieces``; None for what there is not. A shard that ``continues``
    goes on with the series of the one before it. ``columns`` are the numbers of columns of inputs
    and targets that a Dask array declares; None for delayed series.
    """

    rows: Any
    pieces: tuple[Piece, ...] = ()
    continues: bool = False
    columns: tuple[int, int] | None = None

    @property
    def count(self) -> int:
        """The rows of all pieces."""
        return sum(piece.rows for piece in self.pieces)


@dataclass(frozen=True, eq=False)
class Network:
    """What a worker needs to know of a problem: all but its rows, and the penalty on weights."""

    template: Problem
    double: bool = False

    @classmethod
    def of(cls, problem: Problem) -> Network:
        """Of a problem whose rows lie elsewhere."""
        bare = Penalty(problem.size)
        return cls(replace(problem, inputs=(), outputs=(), penalty=bare, basis=None, observed=None))

    @cached_property
    def reservoir(self) -> Reservoir:
        """The reservoir in the precision that it runs in."""
        reservoir = self.template.reservoir
        return reservoir.in_double() if self.double else reservoir

    @property
    def dtype(self) -> np.dtype:
        """Of the rows as they are read."""
        return self.template.reservoir.dtype

    def problem(
        self, inputs: Sequence[Array], outputs: Sequence[Array], start: Start | None = None
    ) -> Problem:
        """The problem of rows in the caller's units, where one piece may go on from a state."""
        u_scaling, y_scaling = self.template.scalings
        if u_scaling is not None:
            inputs = [u_scaling.forward(u) for u in inputs]
        if y_scaling is not None:
            outputs = [y_scaling.forward(y) for y in outputs]
        outputs, observed = filled(outputs)
        starts = None if start is None else [start]
        posed = replace(
            self.template, inputs=inputs, outputs=outputs, observed=observed, starts=starts
        )
        return posed.in_double if self.double else posed


def tables(given: Any, name: str, dtype: Any) -> list[Array]:
    """Return what a task was given as contiguous real arrays (rows, D); (rows,) is one column."""
    each = list(given) if isinstance(given, (list, tuple)) else [given]
    arrays = [np.asanyarray(part) for part in each]
    arrays = [part[:, None] if part.ndim == 1 else part for part in arrays]
    return [np.ascontiguousarray(as_table(part, name), dtype) for part in arrays]


def check_declared(rows: Array, name: str, shard: int, shape: tuple[int, int]) -> None:
    """Raise if a chunk does not have the shape that its Dask array declares."""
    if rows.shape != shape:
        got = Shown(f"a chunk of shape {rows.shape} in shard {shard}")
        remedy = "Correct the chunks and meta of the function that makes it."
        raise bad_argument(name, got, f"shape {shape}, as the Dask array declares", remedy)


def series_of(before: Any, rows: Pair, dtype: Any) -> tuple[Any, Any]:
    """Inputs and targets of a shard, the rows ``before`` it in front; both as lists of arrays."""
    inputs, outputs = made(rows)
    ys = tables(outputs, "y", dtype)
    us = [y[:, :0] for y in ys] if inputs is None else tables(inputs, "X", dtype)
    if before:
        early = [series_of((), one, dtype) for one in before]
        us = [np.concatenate([*(u[0] for u, _ in early), us[0]])]
        ys = [np.concatenate([*(y[0] for _, y in early), ys[0]])]
    return us, ys


def within(shard: Shard, block: Block, skip: int = 0) -> Block | None:
    """The rows of a block that a shard has, by its own numbers; None where it has none.

    ``skip`` rows lie before its own.
    """
    found = []
    for series, first, rows in shard.pieces:
        start, stop = (min(max(edge - first, 0), rows) + skip for edge in block[series])
        found.append((start, max(start, stop)))
    return found if any(stop > start for start, stop in found) else None


def fold_within(shard: Shard, fold: Fold, skip: int = 0) -> Fold | None:
    """The same of a fold."""
    none = [(skip, skip)] * len(shard.pieces)
    train, *held_out = (within(shard, block, skip) for block in (fold.train, *fold.held_out))
    if train is None and not any(held_out):
        return None
    return Fold(train or none, tuple(block or none for block in held_out))
