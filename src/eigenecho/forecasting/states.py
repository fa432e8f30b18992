"""Rows of a batch: columns and the states of reservoirs that are driven by the series."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eigenecho.reservoir import Reservoir
from eigenecho.types import Array

BLOCK = 1 << 20
"""Maximum number of values in a block of rows."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows x(t) = [head(t), r₁(t), r₂(t), …] of each series, (S, T, N').

    The rows of a batch are stored if they are one block. Otherwise, only the states before each
    block are stored, and the rows of a block are computed when they are needed. Blocks begin at the
    same rows for any length of the series.

    Parameters
    ----------
    head : array (S, T)
    runs : sequence of (Reservoir, array (S, T))
        Reservoirs, each with the column that drives it.
    """

    head: Array
    runs: Sequence[tuple[Reservoir, Array]]

    @cached_property
    def size(self) -> int:
        """Number of columns N'."""
        return 1 + sum(reservoir.units for reservoir, _ in self.runs)

    @cached_property
    def block(self) -> int:
        """Number of rows in a block."""
        return max(1, BLOCK // (self.size * len(self.head)))

    def blocks(self, first: int, last: int) -> Iterator[tuple[int, Array]]:
        """Yield (index of the first row, rows (S, n, N')) for first ≤ t < last, by blocks."""
        for number in range(first // self.block, -(-last // self.block)):
            start = number * self.block
            low, high = max(first, start), min(last, start + self.block)
            if low < high:
                yield low, self._rows(number)[:, low - start : high - start]

    def at(self, rows: Array) -> Array:
        """Return the rows (S, O, N') with the given indices, which are computed once."""
        key = rows.tobytes()
        if key not in self._at:
            self._at[key] = self._compute_at(rows)
        return self._at[key]

    @cached_property
    def _at(self) -> dict[bytes, Array]:
        return {}

    def _compute_at(self, rows: Array) -> Array:
        X, numbers = np.empty((len(self.head), len(rows), self.size)), rows // self.block
        for number in np.unique(numbers):
            here = numbers == number
            X[:, here] = self._rows(int(number))[:, rows[here] - number * self.block]
        return X

    def _rows(self, number: int) -> Array:
        return self._first if number == 0 else self._compute(number)

    @cached_property
    def _first(self) -> Array:
        return self._compute(0)

    @cached_property
    def _states(self) -> list[list[Array]]:
        """States of all reservoirs before each block."""
        stored = [[np.zeros((len(self.head), reservoir.units)) for reservoir, _ in self.runs]]
        for start in range(0, self.head.shape[1] - self.block, self.block):
            pairs = zip(self.runs, stored[-1], strict=True)
            stored.append([r.last_state(self._drive(u, start), state) for (r, u), state in pairs])
        return stored

    def _drive(self, u: Array, start: int) -> Array:
        return np.ascontiguousarray(u[:, start : start + self.block, None])

    def _compute(self, number: int) -> Array:
        start, column = number * self.block, 1
        head = self.head[:, start : start + self.block]
        X = np.empty((*head.shape, self.size))
        X[:, :, 0] = head
        for (reservoir, drive), state in zip(self.runs, self._states[number], strict=True):
            own = slice(column, column := column + reservoir.units)
            X[:, :, own] = reservoir.scan(self._drive(drive, start), state)[0]
        return X
