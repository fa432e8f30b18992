"""What a series leaves behind, row by row: made again where it is asked for, never held whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eigenecho.reservoir import Reservoir
from eigenecho.types import Array

BLOCK = 1 << 19
"""Numbers that are held at a time, or kept where there are no more: a few MB."""


@dataclass(frozen=True, eq=False)
class Trail:
    """Rows x = [c, r, …] (T, N') of a series: a constant, and the states of reservoirs.

    Of a long series the states before every block of rows are kept, and the rows of a block follow
    from these. Blocks begin at the same rows however long the series is.

    Parameters
    ----------
    constant : array (T,)
        c.
    runs : list of (Reservoir, array (T,))
        Reservoirs and what drives them, each from rest.
    """

    constant: Array
    runs: Sequence[tuple[Reservoir, Array]]

    def __len__(self) -> int:
        return len(self.constant)

    @property
    def width(self) -> int:
        """N'."""
        return 1 + sum(reservoir.units for reservoir, _ in self.runs)

    @property
    def block(self) -> int:
        """Rows of a block."""
        return max(1, BLOCK // self.width)

    def between(self, first: int, last: int) -> Array:
        """The rows first ≤ t < last, (last − first, N')."""
        found = np.empty((max(last - first, 0), self.width))
        for begin, x in self.pieces(first, last):
            found[begin - first : begin - first + len(x)] = x
        return found

    def pieces(self, first: int, last: int) -> Iterator[tuple[int, Array]]:
        """The rows first ≤ t < last, a block at a time, each with the number of its first row."""
        for number in range(first // self.block, -(-last // self.block)):
            start = number * self.block
            low, high = max(first, start), min(last, start + self.block)
            if low < high:
                yield low, self._rows(number)[low - start : high - start]

    def at(self, rows: Array | Sequence[int]) -> Array:
        """Some rows, (O, N')."""
        rows = np.asarray(rows)
        found = np.empty((len(rows), self.width))
        numbers = rows // self.block
        for number in np.unique(numbers):
            here = numbers == number
            found[here] = self._rows(int(number))[rows[here] - number * self.block]
        return found

    def _rows(self, number: int) -> Array:
        return self._only if len(self) <= self.block else self._made(number)

    @cached_property
    def _only(self) -> Array:
        """The rows of a series that is no longer than a block."""
        return self._made(0)

    @cached_property
    def _marks(self) -> list[Array]:
        """The states (blocks, N) of each reservoir before every block."""
        found = []
        for reservoir, u in self.runs:
            state = reservoir.zero_state()
            marks = [state.copy()]
            for start in range(0, len(self) - self.block, self.block):
                reservoir.last_state(u[start : start + self.block, None], state)
                marks.append(state.copy())
            found.append(np.stack(marks))
        return found

    def _made(self, number: int) -> Array:
        rows = slice(number * self.block, (number + 1) * self.block)
        parts = [self.constant[rows, None]]
        for (reservoir, u), marks in zip(self.runs, self._marks, strict=True):
            parts.append(reservoir.scan(u[rows, None], marks[number].copy()))
        return np.concatenate(parts, axis=1)
