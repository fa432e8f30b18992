"""The row source of one series: the rows a readout is applied to, produced in chunks.

Networks, forecasters and shards of a cluster all train and predict from such rows. Rows are
computed again whenever they are needed and never stored for a whole series.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from eigenecho.arrays import namespace
from eigenecho.reservoir import Reservoir
from eigenecho.types import Array

CHUNK_BYTES = 1 << 24
"""Bytes of a chunk that goes into matrix products: large enough for BLAS."""

CACHE_BYTES = 1 << 19
"""Bytes of a chunk that is summed against few columns: small enough to stay in cache."""

DEVICE_BYTES = 1 << 30
"""Bytes of a chunk on a device, which needs more work at a time."""


@dataclass(frozen=True, eq=False)
class SeriesRows:
    """Rows x(t) = [head(t), r₁(t), r₂(t), …] of one series, (T, N').

    Parameters
    ----------
    head : array (T, k)
        Columns before the states, such as a constant and the previous output.
    runs : sequence of (Reservoir, array (T, D))
        Reservoirs, each with the columns that drive it.
    starts : sequence of arrays (N,), optional
        States before the first row, one for each reservoir; zero by default.
    """

    head: Array
    runs: Sequence[tuple[Reservoir, Array]]
    starts: Sequence[Array] | None = None

    def __len__(self) -> int:
        return len(self.head)

    @property
    def size(self) -> int:
        """Number of columns N'."""
        return self.head.shape[1] + sum(reservoir.units for reservoir, _ in self.runs)

    def states_before(self, row: int = 0) -> list[Array]:
        """Return the states of all reservoirs before a row, as new arrays."""
        states = []
        for number, (reservoir, drive) in enumerate(self.runs):
            if self.starts is None:
                state = reservoir.zero_state(drive)
            else:
                state = namespace(drive).array(self.starts[number], reservoir.dtype)
            if row:
                reservoir.last_state(drive[:row], state)
            states.append(state)
        return states

    def chunks(
        self, first: int, last: int, count: int, states: list[Array] | None = None
    ) -> Iterator[tuple[int, Array]]:
        """Yield the rows first ≤ t < last in chunks of ``count``, with the number of their first.

        All chunks share one array in float64: copy what must outlast the next chunk. ``states``
        are the states before the first row, and are changed in place to those after the last.
        """
        xp = namespace(self.head)
        count = max(1, min(count, last - first))
        states = self.states_before(first) if states is None else states
        parts = [xp.empty((count, r.units), r.dtype) for r, _ in self.runs]
        # States alone, in float64, are the rows already.
        is_plain = len(parts) == 1 and self.size == parts[0].shape[1]
        is_plain = is_plain and self.runs[0][0].dtype == np.float64
        X = parts[0] if is_plain else xp.empty((count, self.size))
        for start in range(first, last, count):
            n = min(count, last - start)
            for (reservoir, drive), state, part in zip(self.runs, states, parts, strict=True):
                reservoir.scan(drive[start : start + n], state, part[:n])
                reservoir.check_states(part[:n], start)
            if not is_plain:
                assemble(self.head[start : start + n], [part[:n] for part in parts], X[:n])
            yield start, X[:n]


def assemble(head: Array, parts: Sequence[Array], out: Array | None = None) -> Array:
    """Return rows [head, r₁, r₂, …] in float64, written into ``out`` if it is given.

    This is the only place where head and states become rows, so a feature map φ of the states
    belongs here, and its number of columns in ``SeriesRows.size``: statistics, deviations and
    intervals then see rows [head, φ(r₁, r₂, …)]. Routes that never build rows
    (``kernels.outputs``, ``Moments`` and ``Lags``) hold for the identity only.
    """
    widths = [head.shape[1], *(part.shape[1] for part in parts)]
    rows = namespace(head).empty((len(head), sum(widths))) if out is None else out
    column = 0
    for part, width in zip((head, *parts), widths, strict=True):
        rows[:, column : column + width] = part
        column += width
    return rows


def chunk_rows(like: Array, width: int, least: int = 1, *, in_cache: bool = False) -> int:
    """Return how many rows of ``width`` numbers fit into a chunk, on the device of an array."""
    size = CACHE_BYTES if in_cache else CHUNK_BYTES
    if not namespace(like).is_host:
        size = max(size, DEVICE_BYTES)
    return max(least, size // (8 * width))
