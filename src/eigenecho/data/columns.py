"""Columns of X: those that are known ahead, and those that are known up to the present."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.data.numbers import filled_forward
from eigenecho.errors import Shown, bad_argument, unknown_name
from eigenecho.types import Array


@dataclass(frozen=True)
class Columns:
    """Labels of the columns of X, in the order of the fit.

    Columns of arrays are numbers, called "x0", "x1", …; ``past`` are those that are known up to
    the present only.
    """

    labels: tuple[Hashable, ...] = ()
    past: tuple[Hashable, ...] = ()
    numbered: bool = False

    def check(self) -> None:
        """Raise where a file names columns twice, or others in ``past``."""
        for labels in (self.labels, self.past):
            if len(set(labels)) < len(labels) or not set(labels) <= set(self.labels):
                raise bad_argument("columns", labels, "names of columns that occur once")

    @property
    def known(self) -> tuple[Hashable, ...]:
        """Labels of the columns that are known ahead."""
        return tuple(label for label in self.labels if label not in self.past)

    @property
    def known_names(self) -> tuple[str, ...]:
        """Names of the columns that are known ahead."""
        return self._names(self.known)

    @property
    def past_names(self) -> tuple[str, ...]:
        """Names of the columns that are known up to the present only."""
        return self._names(self.past)

    def parts(self, rows: Array) -> tuple[Array, Array]:
        """Rows (T, c) of X as columns known ahead (T, k) and known up to the present (T, p)."""
        known = [i for i, label in enumerate(self.labels) if label not in self.past]
        past = [self.labels.index(label) for label in self.past]
        return rows[:, known], rows[:, past]

    def _names(self, labels: Sequence[Hashable]) -> tuple[str, ...]:
        return tuple(f"x{label}" if self.numbered else str(label) for label in labels)


def choose(labels: Sequence[Hashable], past: Any, numbered: bool = False) -> Columns:
    """Columns of a fit, of which ``past`` names those that are not known ahead."""
    wanted = list(_iterable(past))
    for label in wanted:
        if isinstance(label, (bool, np.bool_)) or not isinstance(label, Hashable):
            raise bad_argument("past", past, "names of columns of X, or numbers for arrays")
    if wanted and not labels:
        raise bad_argument("past", past, "no columns where there is no X", "Give them as X.")
    by_name = {f"x{label}": label for label in labels} if numbered else {}
    found = [by_name.get(label, label) for label in wanted]
    for label in found:
        if label not in labels:
            raise unknown_name("past", label, [str(one) for one in labels])
    if len(set(found)) < len(found):
        raise bad_argument("past", past, "each column once")
    own = {label: label for label in labels}  # a number of NumPy's is not the label that it equals
    return Columns(tuple(labels), tuple(own[label] for label in found), numbered)


def unwanted(name: str, columns: Columns) -> ValueError:
    """X though nothing is wanted of it."""
    why = "all columns of X are known up to the present only" if columns.past else "fit had no X"
    return bad_argument(name, Shown("columns"), f"None: {why}")


def check_labels(
    labels: Sequence[Any], wanted: Sequence[Any], allowed: Sequence[Any], name: str
) -> None:
    """Raise where columns are missing, or are not known from the fit."""
    for label in wanted:
        if label not in labels:
            got = Shown(f"columns {', '.join(map(repr, labels[:8]))}")
            raise bad_argument(name, got, f"a column {label!r}, as fit had")
    for label in labels:
        if label not in allowed:
            got = Shown(f"a column {label!r}")
            raise bad_argument(name, got, "the columns that fit had", "Select them by name.")


def check_known(known: Array, columns: Columns, name: str, where: Any, series: Any = None) -> None:
    """Raise where a column (T, k) that is known ahead has gaps; ``where`` says what a row is."""
    empty = np.isnan(known)
    if empty.any():
        row, column = np.unravel_index(int(np.argmax(empty)), known.shape)
        of = "" if series is None else f" of series {series!r}"
        got = Shown(f"NaN in column {columns.known[column]!r}{of}, {where(int(row))}")
        raise bad_argument(
            name, got, "no gaps in columns that are known ahead",
            "Fill them, or name the column in past= if it is known up to the present only.",
        )  # fmt: skip


def split(
    rows: Array, columns: Columns, name: str, where: Any, series: Any = None, fill: bool = True
) -> tuple[Array | None, Array | None]:
    """Rows (T, c) of X as a history holds them: known ahead (T, k), up to the present (T, p).

    Gaps of the latter are filled from before, unless that is left to who knows what was before.
    """
    known, past = columns.parts(rows)
    check_known(known, columns, name, where, series)
    if fill:
        past = filled_forward(past)
    return known if columns.known else None, past if columns.past else None


def _iterable(past: Any) -> Iterable[Any]:
    if isinstance(past, (str, int, np.integer, np.bool_)):
        return (past,)
    if past is None:
        return ()
    try:
        return iter(past)
    except TypeError:
        raise bad_argument("past", past, "names of columns of X") from None
