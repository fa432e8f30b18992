"""A panel of series to forecast, as numbers on regular clocks, and the columns of X."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.data.clock import shown
from eigenecho.errors import Words, bad_argument, unknown_name
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class History:
    """One series with regular steps.

    Attributes
    ----------
    name : Hashable or None
        Its id or column; its position in a list or an array, None for a single array.
    values : array (T,), float64
        NaN is a missing observation, also at the start and at the end.
    known : array (T, k) or None
        Columns of X that are known ahead, at the rows of ``values``, finite; None without any.
    past : array (T, p) or None
        Columns of X that are known up to the present only. Missing values are filled from before,
        and NaN where there is no earlier value.
    """

    name: Hashable | None
    values: Array
    known: Array | None = None
    past: Array | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def start(self) -> int:
        """The number of rows before the first observation."""
        return int(np.argmax(~np.isnan(self.values)))

    def until(self, stop: int) -> History:
        """Return the rows before row ``stop``."""
        known = None if self.known is None else self.known[:stop]
        past = None if self.past is None else self.past[:stop]
        return History(self.name, self.values[:stop], known, past)

    def then(self, after: History) -> History:
        """Return the history with the rows of another appended."""
        known, past = self.known, self.past
        if known is not None and after.known is not None:
            known = np.vstack([known, after.known])
        if past is not None and after.past is not None:
            past = np.vstack([past, filled_forward(after.past, past[-1])])
        return History(self.name, np.concatenate([self.values, after.values]), known, past)


@dataclass(frozen=True, eq=False)
class Panel:
    """One or more series.

    Attributes
    ----------
    histories : tuple of History
    cycles : tuple of float
        Day, week and year in steps, as far as they are visible; empty without dates.
    container : eigenecho.data.containers.PanelFormat
        The caller's format, which reads further rows and writes results.
    known_names, past_names : tuple of str
        Columns of X; "x0", "x1", … for arrays.
    """

    histories: tuple[History, ...]
    cycles: tuple[float, ...]
    container: Any
    known_names: tuple[str, ...] = ()
    past_names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.histories)


def filled_forward(values: Array, before: Array | None = None) -> Array:
    """Return columns (T, p) with NaN replaced by the last number before it.

    ``before`` is the row before the first. NaN stays where there is no earlier number.
    """
    first = np.full(values.shape[1], np.nan) if before is None else before
    whole = np.vstack([first, values])
    rows = np.where(np.isnan(whole), 0, np.arange(len(whole))[:, None])
    return np.take_along_axis(whole, np.maximum.accumulate(rows, axis=0), axis=0)[1:]


@dataclass(frozen=True)
class Columns:
    """Labels of the columns of X, in the order of the fit.

    Columns of arrays are ``numbered``, with the names "x0", "x1", …; ``past`` contains the labels
    of those that are known up to the present only.
    """

    labels: tuple[Hashable, ...] = ()
    past: tuple[Hashable, ...] = ()
    numbered: bool = False

    def check(self) -> None:
        """Raise if a file has duplicate columns, or columns of ``past`` that do not exist."""
        for labels in (self.labels, self.past):
            if len(set(labels)) < len(labels) or not set(labels) <= set(self.labels):
                raise bad_argument("columns", labels, "unique names of columns")
        numbers = [*map(type, self.labels)] == [int] * len(self.labels)
        if self.numbered and not (numbers and self.labels == tuple(range(len(self.labels)))):
            raise bad_argument("columns", self.labels, "consecutive numbers of columns")

    @property
    def known(self) -> tuple[Hashable, ...]:
        """Labels of the columns that are known ahead."""
        return tuple(label for label in self.labels if label not in self.past)

    def names(self, labels: Sequence[Hashable]) -> tuple[str, ...]:
        """Return the names of columns."""
        return tuple(f"x{label}" if self.numbered else str(label) for label in labels)

    def split(self, rows: Array) -> tuple[Array, Array]:
        """Return the columns (T, k) known ahead and (T, p) of the past, of rows (T, c) of X."""
        known, past = ([self.labels.index(one) for one in part] for part in (self.known, self.past))
        return rows[:, known], rows[:, past]

    def check_complete(self, known: Array, name: str, times: Any, of: str) -> None:
        """Raise if columns (T, k) that are known ahead have gaps."""
        empty = np.isnan(known)
        if empty.any():
            row, column = np.unravel_index(int(np.argmax(empty)), known.shape)
            raise bad_argument(
                name, Words(f"NaN in column {self.known[column]!r}{of}, at {shown(times[row:])}"),
                "no gaps in columns that are known ahead",
                "Fill them, or list the column in past= if it is known up to the present only.",
            )  # fmt: skip

    def check_labels(self, labels: Sequence[Any], allowed: Sequence[Any], name: str) -> None:
        """Raise if columns are missing, or if others than the allowed ones exist."""
        if self.numbered and len(labels) != len(self.labels):
            got = Words(f"{len(labels)} columns")
            raise bad_argument(name, got, f"{len(self.labels)} columns, as in fit")
        for label in self.labels:
            if label not in labels:
                got = Words(f"columns {', '.join(map(repr, labels[:8]))}")
                raise bad_argument(name, got, f"a column {label!r}, as in fit")
        for label in labels:
            if label not in allowed:
                raise bad_argument(name, Words(f"a column {label!r}"), "the columns of fit")


def choose(labels: Sequence[Hashable], past: Any, numbered: bool = False) -> Columns:
    """Return the columns of a fit, of which ``past`` lists those that are not known ahead."""
    if isinstance(past, (str, int, np.integer)):
        past = (past,)
    items = list(past) if hasattr(past, "__iter__") else [] if past is None else [past]
    if items and not labels:
        raise bad_argument("past", past, "no columns if there is no X", "Pass the columns as X.")
    own: dict[Any, Hashable] = {label: label for label in labels}
    own |= {f"x{label}": label for label in labels} if numbered else {}
    for label in items:
        if not isinstance(label, Hashable) or isinstance(label, (bool, np.bool_, float)):
            raise bad_argument("past", past, "names of columns of X, or numbers for arrays")
        if label not in own:
            raise unknown_name("past", label, [str(one) for one in labels])
    columns = tuple(own[label] for label in items)
    if len(set(columns)) < len(columns):
        raise bad_argument("past", past, "each column once")
    return Columns(tuple(labels), columns, numbered)
