"""What all statistics of rows have in common: they merge.

So rows may be gathered in any parts, on any thread, machine or device, and put together in a
fixed order. ``Gram``, ``Triangle`` and ``Remainder`` grow by rows; ``Moments`` and ``Lags`` are
made of whole series.
"""

from __future__ import annotations

from typing import Any, Protocol, Self

from eigenecho.types import Array


class Accumulated(Protocol):
    """A statistic that takes rows in as they come: with ``empty`` and ``merge``, a monoid."""

    @classmethod
    def empty(cls, size: int, outputs: int, xp: Any = ..., /) -> Self:
        """The statistic of no rows, made by NumPy or another namespace: neutral in ``merge``."""

    @staticmethod
    def lanes(rows: int, size: int) -> int:
        """How many are gathered side by side of so many rows and columns, whatever the threads."""

    def absorb(self, X: Array, Y: Array, /) -> Self:
        """The statistic with rows X (rows, N'), Y (rows, D_out) added."""

    def merge(self, other: Self, /) -> Self:
        """The statistic of both sets of rows: of(A ∪ B) = of(A).merge(of(B))."""
