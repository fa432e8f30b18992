"""Row sources, which compute the inputs of a readout from one series in chunks.

Networks, forecasters and shards of a cluster all train and predict from such rows. Rows are
recomputed when they are needed and are never stored for a whole series.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from eigenecho.arrays import namespace
from eigenecho.reservoir import Reservoir
from eigenecho.types import Array

CHUNK_BYTES = 1 << 24
"""Size, in bytes, of a chunk for matrix products. It is large enough for BLAS."""

CACHE_BYTES = 1 << 19
"""Size, in bytes, of a chunk that is multiplied by few columns. It stays in cache."""

DEVICE_BYTES = 1 << 30
"""Size, in bytes, of a chunk on a device, which is efficient only for large operations."""

Block = Sequence[tuple[int, int]]
"""Range of rows (start, stop) of each series."""


@dataclass(frozen=True)
class Fold:
    """Training rows and blocks of held-out rows. Other rows only advance the state."""

    train: Block
    held_out: tuple[Block, ...] = ()


@dataclass(frozen=True, eq=False)
class SeriesRows:
    """Row source of one series, with rows x(t) = [head(t), z₁(t), z₂(t), …], (T, N').

    z are the states of a reservoir, or their features.

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
        return self.head.shape[1] + sum(reservoir.columns for reservoir, _ in self.runs)

    def states_before(self, row: int = 0) -> list[Array]:
        """Return the states of all reservoirs before a row."""
        states = []
        for number, (reservoir, drive) in enumerate(self.runs):
            if self.starts is None:
                state = reservoir.zero_state(drive)
            else:
                state = namespace(drive).asarray(self.starts[number], reservoir.dtype)
            states.append(reservoir.last_state(drive[:row], state) if row else state)
        return states

    def chunks(
        self, first: int, last: int, count: int, states: list[Array] | None = None
    ) -> Iterator[tuple[int, Array]]:
        """Yield (index of the first row, rows) for first ≤ t < last, in chunks of ``count`` rows.

        All chunks share one float64 array, which the next chunk overwrites. ``states`` is a list
        of the states before the first row, which are replaced by those after each chunk.
        """
        xp = namespace(self.head)
        count = max(1, min(count, last - first))
        states = self.states_before(first) if states is None else states
        parts = [xp.empty((count, r.units), r.dtype) for r, _ in self.runs]
        # If the only columns are float64 states, these are used as rows without a copy.
        is_plain = len(parts) == 1 and self.size == parts[0].shape[1]
        is_plain = is_plain and self.runs[0][0].dtype == np.float64
        is_plain = is_plain and self.runs[0][0].features is None
        X = parts[0] if is_plain else xp.empty((count, self.size))
        for start in range(first, last, count):
            n = min(count, last - start)
            for i, (reservoir, drive) in enumerate(self.runs):
                part = parts[i][:n]
                _, states[i] = reservoir.scan(drive[start : start + n], states[i], part)
                reservoir.check_states(part, start)
            if not is_plain:
                pairs = zip(self.runs, parts, strict=True)
                seen = [reservoir.observe(part[:n]) for (reservoir, _), part in pairs]
                assemble(self.head[start : start + n], seen, X[:n])
            yield start, X[:n]


def assemble(head: Array, parts: Sequence[Array], out: Array | None = None) -> Array:
    """Return rows [head, z₁, z₂, …] in float64, written into ``out`` if it is given.

    The parts are the columns of each reservoir that a readout uses: states or features.
    """
    widths = [head.shape[1], *(part.shape[1] for part in parts)]
    rows = namespace(head).empty((len(head), sum(widths))) if out is None else out
    column = 0
    for part, width in zip((head, *parts), widths, strict=True):
        rows[:, column : column + width] = part
        column += width
    return rows


def chunk_rows(like: Array, width: int, least: int = 1, *, in_cache: bool = False) -> int:
    """Return the number of rows per chunk, for ``width`` columns on the device of ``like``."""
    size = CACHE_BYTES if in_cache else CHUNK_BYTES
    if not namespace(like).is_host:
        size = max(size, DEVICE_BYTES)
    return max(least, size // (8 * width))
