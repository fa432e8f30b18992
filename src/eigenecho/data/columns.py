"""Columns of X: those that are known ahead, and those that are known up to the present."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.data.clock import shown
from eigenecho.errors import Shown, bad_argument, unknown_name
from eigenecho.types import Array


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
                name, Shown(f"NaN in column {self.known[column]!r}{of}, at {shown(times[row:])}"),
                "no gaps in columns that are known ahead",
                "Fill them, or list the column in past= if it is known up to the present only.",
            )  # fmt: skip

    def check_labels(self, labels: Sequence[Any], allowed: Sequence[Any], name: str) -> None:
        """Raise if columns are missing, or if others than the allowed ones exist."""
        if self.numbered and len(labels) != len(self.labels):
            got = Shown(f"{len(labels)} columns")
            raise bad_argument(name, got, f"{len(self.labels)} columns, as in fit")
        for label in self.labels:
            if label not in labels:
                got = Shown(f"columns {', '.join(map(repr, labels[:8]))}")
                raise bad_argument(name, got, f"a column {label!r}, as in fit")
        for label in labels:
            if label not in allowed:
                raise bad_argument(name, Shown(f"a column {label!r}"), "the columns of fit")


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
