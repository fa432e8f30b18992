"""A first look at all rows: whether they will do, how long series are, and how columns lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenecho.dask.cluster import Cluster
from eigenecho.dask.shards import Pair, Piece, Shard, check_declared, made, tables
from eigenecho.dask.tails import last_rows
from eigenecho.errors import Shown, bad_argument, not_finite
from eigenecho.estimators.validation import ROWS
from eigenecho.scaling import Spread
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class Wanted:
    """What to look for: numbers of a ``dtype``, gaps in targets, how columns lie, and last rows."""

    dtype: Any
    gaps: bool
    standardize: bool
    warmup: int
    tail: int = 0


@dataclass(frozen=True, eq=False)
class Bad:
    """A number that will not do: in X or y, of which value, at which row and column of a piece."""

    name: str
    value: float
    shard: int
    piece: int
    row: int
    column: int


@dataclass(frozen=True, eq=False)
class Looked:
    """What shards hold; it merges.

    ``shapes`` are (rows, D_in, rows of y, D_out) of each piece, by shards; ``flat`` says that
    targets were (rows,). ``lasts`` are the last targets of each shard, (D_out,), in the caller's
    units, and ``tails`` their last rows. ``heads`` are the first rows of the first pieces.
    ``seen`` (D_out,) counts targets that are there after the warmup, and ``alike`` says that all
    columns miss the same ones.
    """

    bad: Bad | None
    shapes: tuple[tuple[tuple[int, int, int, int], ...], ...]
    flat: bool
    lasts: tuple[Array, ...]
    heads: tuple[tuple[Array, Array], ...] = ()
    spreads: tuple[Spread, Spread] | None = None
    seen: Any = 0
    alike: bool = True
    tails: tuple[Pair, ...] = ()

    @property
    def columns(self) -> tuple[int, int]:
        """Return D_in and D_out of the first series; empty partitions have none, (0, 0)."""
        every = (shape for shapes in self.shapes for shape in shapes)
        return next(((D_in, D_out) for _, D_in, _, D_out in every), (0, 0))

    def merge(self, after: Looked) -> Looked:
        """What both hold, in the order of time.

        Sums over columns are left as they are where widths differ, which ``look`` then refuses.
        """
        spreads, seen = self.spreads or after.spreads, self.seen
        if self.columns == after.columns or (0, 0) in (self.columns, after.columns):
            seen = seen + after.seen
            if self.spreads is not None and after.spreads is not None:
                u, y = (a.merge(b) for a, b in zip(self.spreads, after.spreads, strict=True))
                spreads = u, y
        return Looked(
            self.bad or after.bad,
            self.shapes + after.shapes,
            self.flat and after.flat,
            self.lasts + after.lasts,
            self.heads + after.heads,
            spreads,
            seen,
            self.alike and after.alike,
            self.tails + after.tails,
        )


def look(cluster: Cluster, shards: Sequence[Shard], wanted: Wanted) -> Looked:
    """Look at all shards; raise where numbers, or shapes, will not do."""
    left, leaves = ROWS + 1, []
    for number, shard in enumerate(shards):
        given = wanted, number, replace(shard, rows=None), max(left, 0), shard.rows
        leaves.append(cluster.task("look", _look, *given))
        left -= shard.count if shard.pieces else ROWS + 1  # delayed series: the first is enough
    found = cluster.compute("look", cluster.tree(leaves, Looked.merge), leaves)
    _check_shapes(found)
    if found.bad is not None:
        raise _not_finite(found.bad, shards, wanted)
    if not np.all(found.seen):
        got = Shown("nothing but NaN after the warmup in a column")
        wanted_ = "at least one observation in each column"
        raise bad_argument("y", got, wanted_, "Leave such columns out.")
    if not found.alike:
        raise bad_argument(
            "y", Shown("columns with gaps at different rows"), "gaps at the same rows in all",
            "Fit one network for each column, or fit on one machine.",
        )  # fmt: skip
    return found


def placed(shards: Sequence[Shard], looked: Looked) -> list[Shard]:
    """Shards that know their pieces, also where series were delayed."""
    found, series = [], 0
    for shard, shapes in zip(shards, looked.shapes, strict=True):
        if not shard.pieces:
            pieces = [Piece(series + i, 0, shape[0]) for i, shape in enumerate(shapes)]
            shard = replace(shard, pieces=tuple(pieces))
            series += len(pieces)
        found.append(shard)
    return [shard for shard in found if shard.count]


def _look(wanted: Wanted, number: int, shard: Shard, head: int, pair: Pair) -> Looked:
    inputs, outputs = made(pair)
    flat = all(np.ndim(y) == 1 for y in (outputs if isinstance(outputs, list) else [outputs]))
    ys = tables(outputs, "y", wanted.dtype)
    us = [y[:, :0] for y in ys] if inputs is None else tables(inputs, "X", wanted.dtype)
    if shard.columns is not None:
        for name, rows, columns in zip("Xy", (us[0], ys[0]), shard.columns, strict=True):
            check_declared(rows, name, number, (shard.count, columns))
    firsts = tuple(piece.first for piece in shard.pieces)
    shapes = tuple((*u.shape, *y.shape) for u, y in zip(us, ys, strict=True))
    bad = _first_bad("X", us, number, False) or _first_bad("y", ys, number, wanted.gaps)
    spreads = None
    widths = {shape[1::2] for shape in shapes}
    if wanted.standardize and not bad and len(widths) == 1:
        spreads = _spread(us), _spread(ys)
    seen, alike = _observed(ys, firsts or (0,) * len(ys), wanted)
    some = us if head > 0 else []
    heads = tuple((u[:head].copy(), y[:head].copy()) for u, y in zip(some[:1], ys, strict=False))
    last = ys[-1][-1].copy() if ys and len(ys[-1]) else np.empty(0)
    tails = (last_rows((inputs, outputs), wanted.tail),) if wanted.tail else ()
    return Looked(bad, (shapes,), flat, (last,), heads, spreads, seen, alike, tails)


def _spread(series: Sequence[Array]) -> Spread:
    found = Spread.of(series[0])
    for one in series[1:]:
        found = found.merge(Spread.of(one))
    return found


def _first_bad(name: str, series: Sequence[Array], shard: int, gaps: bool) -> Bad | None:
    for piece, rows in enumerate(series):
        finite = ~np.isinf(rows) if gaps else np.isfinite(rows)
        if not finite.all():
            row, column = np.unravel_index(int(np.argmin(finite)), rows.shape)
            value = float(rows[row, column])
            return Bad(name, value, shard, piece, int(row), int(column))
    return None


def _observed(ys: Sequence[Array], firsts: Sequence[int], wanted: Wanted) -> tuple[Any, bool]:
    """How many targets are there after the warmup, and whether columns miss the same."""
    if not wanted.gaps:
        return 1, True
    seen: Any = 0
    alike = True
    for y, first in zip(ys, firsts, strict=True):
        there = ~np.isnan(y)
        seen = seen + there[max(wanted.warmup - first, 0) :].sum(axis=0)
        alike = alike and bool(np.all(there == there[:, :1]))
    return seen, alike


def _check_shapes(looked: Looked) -> None:
    """Raise where series differ in their columns, or inputs and targets in length."""
    every = [shape for shapes in looked.shapes for shape in shapes]
    for i, (rows, D_in, length, D_out) in enumerate(every):
        if rows != length:
            raise ValueError(
                f"X and y have inconsistent lengths of series {i}: X has {rows} rows and y has "
                f"{length}. Each row of y is the target at the same row of X."
            )
        if (D_in, D_out) != looked.columns:
            got = Shown(f"{D_in} and {D_out} columns in series {i}")
            first = "{} and {}".format(*looked.columns)
            raise bad_argument("X, y", got, f"{first}, as in the first")


def _not_finite(bad: Bad, shards: Sequence[Shard], wanted: Wanted) -> ValueError:
    shard = shards[bad.shard]
    where = f"in row {bad.row}, column {bad.column}, of series {bad.piece} of shard {bad.shard}"
    if shard.pieces:
        piece = shard.pieces[bad.piece]
        several = len({one.series for each in shards for one in each.pieces}) > 1
        of = f" of series {piece.series}" if several else ""
        row = f"row {piece.first + bad.row}{of} (row {bad.row} of shard {bad.shard})"
        where = f"in {row}, column {bad.column}"
    return not_finite(bad.name, bad.value, where, np.dtype(wanted.dtype))
