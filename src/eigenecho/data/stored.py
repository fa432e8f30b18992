"""Panels as files hold them: the rows of all series, and what held them for the caller."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.checks import check_known
from eigenecho.data.arrays import ArrayHolder
from eigenecho.data.columns import Columns
from eigenecho.data.frames import FrameHolder
from eigenecho.data.numbers import LARGEST
from eigenecho.data.panel import History, Panel
from eigenecho.data.sheets import KINDS, LongNames
from eigenecho.data.stored_times import Times
from eigenecho.errors import Shown, bad_argument
from eigenecho.schema import stands_for
from eigenecho.types import Array, GappyArray

TYPES = re.compile(
    r"object|str|string|category|bool|boolean|(u?int|U?Int|float|Float)(8|16|32|64)"
    r"|datetime64\[(s|ms|us|ns)(, [\w/+:-]+)?\]"
)
"""Types of an index that are kept; labels of others come back as objects."""


@dataclass(frozen=True)
class Labels:
    """The labels of an index, its type ("levels" for several), and the names of its levels."""

    items: tuple[Hashable, ...]
    levels: tuple[Hashable, ...]
    kind: str

    @classmethod
    def of(cls, index: Any) -> Labels:
        """Return those of a pandas index."""
        kind = str(index.dtype) if TYPES.fullmatch(str(index.dtype)) else "object"
        return cls(tuple(index), tuple(index.names), "levels" if index.nlevels > 1 else kind)

    def restored(self) -> Any:
        """Return an index of labels, each once."""
        import pandas

        if self.kind == "levels":
            index = pandas.MultiIndex.from_tuples(self.items, names=self.levels)
        elif TYPES.fullmatch(self.kind):
            name = self.levels[0]
            index = pandas.Index(list(self.items), dtype=self.kind, name=name, tupleize_cols=False)
        else:
            raise bad_argument("kind", self.kind, "a type of labels")
        if not len(index) or not index.is_unique or len(self.levels) != index.nlevels:
            raise bad_argument("labels", Shown(f"{len(index)} labels"), "labels that occur once")
        return index


@stands_for(FrameHolder)
@dataclass(frozen=True, eq=False)
class StoredFrames:
    """A ``FrameHolder``; times and rows ahead that all series share are there once."""

    kind: str
    labels: Labels
    times: Times
    ahead: tuple[Array, ...]
    columns: Columns
    names: LongNames
    index_name: Hashable
    is_range: bool

    @classmethod
    def of(cls, holder: FrameHolder) -> StoredFrames:
        """Return the parts of a holder."""
        own = slice(1 if holder.shared else None)
        parts = vars(holder) | {"labels": Labels.of(holder.labels), "ahead": holder.ahead[own]}
        return cls(times=Times.of(parts.pop("clocks")[own]), **parts)

    def restored(self) -> FrameHolder:
        """Return the holder, if its parts fit each other."""
        check_known(self.kind, "kind", KINDS)
        labels, clocks, ahead = self.labels.restored(), self.times.restored(), self.ahead
        if self.is_range and type(clocks[0].step) is not int:
            raise bad_argument("is_range", True, "False, unless steps are whole numbers")
        count = len(labels) if self.kind == "long" else 1
        if len(clocks) != count or len(ahead) != count:
            raise bad_argument("times", Shown(f"{len(clocks)} times"), "one for each clock")
        for rows in ahead:
            check_floats(rows, "ahead", None, len(self.columns.known))
        if self.kind == "series" and len(labels) != 1:
            raise bad_argument("labels", len(labels), "one series")
        if self.kind != "long":
            clocks, ahead = clocks * len(labels), ahead * len(labels)
        rest = self.columns, self.names, self.index_name, self.is_range
        return FrameHolder(self.kind, labels, clocks, ahead, *rest)


@stands_for(Panel)
@dataclass(frozen=True, eq=False)
class StoredPanel:
    """A ``Panel``: values of each series, and columns of X, once where all series share them."""

    holder: ArrayHolder | FrameHolder
    series: tuple[GappyArray, ...]
    known: tuple[Array, ...]
    past: tuple[GappyArray, ...]

    @classmethod
    def of(cls, panel: Panel) -> StoredPanel:
        """Return the parts of a panel."""
        holder: Any = panel.container
        beside = panel.histories[:1] if holder.shared else panel.histories
        known = tuple(one.known for one in beside if one.known is not None)
        past = tuple(one.past for one in beside if one.past is not None)
        return cls(holder, tuple(one.values for one in panel.histories), known, past)

    def restored(self) -> Panel:
        """Return the panel, if its parts fit each other."""
        holder: Any = self.holder
        series, is_array = self.series, isinstance(holder, ArrayHolder)
        count = holder.count if is_array else len(holder.labels)
        if len(series) != count or (holder.shared and len({len(one) for one in series}) > 1):
            raise bad_argument("series", Shown(f"{len(series)} series"), f"rows of {count}")
        for one in series:
            check_floats(one, "series", None)
            if np.isnan(one).all():
                raise bad_argument("series", Shown("nothing but NaN"), "observations")
        names: Sequence[Hashable] = range(count) if is_array else holder.labels
        if holder.kind == "single":
            names = [None]
        columns = holder.columns
        known = self._columns("known", len(columns.known))
        past = self._columns("past", len(columns.past))
        histories = tuple(map(History, names, series, known, past))
        cycles = () if is_array else holder.clocks[0].cycles
        return Panel(histories, cycles, holder, columns.known_names, columns.past_names)

    def _columns(self, name: str, width: int) -> Sequence[Array | None]:
        """Return columns (T, width) of each series, None where there are none."""
        columns, count = getattr(self, name), len(self.series)
        beside = self.series[:1] if self.holder.shared else self.series
        if len(columns) != len(beside) * bool(width):
            raise bad_argument(name, Shown(f"{len(columns)} arrays"), f"{width} columns of X")
        for rows, one in zip(columns, beside, strict=False):
            check_floats(rows, name, len(one), width)
        if not width:
            return [None] * count
        return columns * count if self.holder.shared else columns


def check_floats(array: Array, name: str, *shape: int | None) -> None:
    """Raise unless numbers are float64 of a shape, None for any length, and not too large."""
    fits = array.ndim == len(shape) and all(
        wanted in (None, length) for length, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits or array.dtype != np.float64:
        got = Shown(f"{array.dtype} {array.shape}")
        raise bad_argument(name, got, f"float64 {tuple(shape)}".replace("None", "any"))
    if (np.abs(array) > LARGEST).any():
        raise bad_argument(name, Shown("large numbers"), f"numbers up to {LARGEST:g}")
