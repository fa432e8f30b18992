"""Readout rows of whole series, made chunk by chunk and never kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.errors import overflowed
from eigenecho.model.lanes import Lanes
from eigenecho.readout import Gram, Remainder, Triangle
from eigenecho.reservoir import Reservoir
from eigenecho.series import shifted
from eigenecho.types import Array

CHUNK_BYTES = 1 << 24

Block = Sequence[tuple[int, int]]
"""Rows (start, stop) of each series."""


@dataclass(frozen=True)
class Fold:
    """Rows to train on and blocks of rows held out; others are run through and left out."""

    train: Block
    held_out: tuple[Block, ...] = ()


class Rows:
    """Rows [1, y(t−1), r(t)] with targets y(t), made anew as often as they are asked for.

    Parameters
    ----------
    reservoir : Reservoir
    inputs, outputs : sequences of arrays (T_i, D_in), (T_i, D_out)
        In the network's own units. Feedback and y(t−1) are driven by the true outputs.
    fit_bias, output_to_readout : bool
        Whether the rows have the first two parts.
    starts : sequence of (r, y) or None, optional
        Where each series goes on from; zero by default.
    """

    def __init__(
        self,
        reservoir: Reservoir,
        inputs: Sequence[Array],
        outputs: Sequence[Array],
        fit_bias: bool = True,
        output_to_readout: bool = False,
        starts: Sequence[tuple[Array, Array] | None] | None = None,
    ) -> None:
        self.reservoir = reservoir
        self.inputs = inputs
        self.outputs = outputs
        self.fit_bias = fit_bias
        self.output_to_readout = output_to_readout
        zero = reservoir.zero_state(), np.zeros(self.D_out)
        self.starts = [start or zero for start in starts or [None] * len(inputs)]
        self.last_state = reservoir.zero_state()

    @property
    def D_out(self) -> int:
        """The number of targets."""
        return self.outputs[0].shape[1]

    @property
    def head(self) -> int:
        """The number of columns before the states."""
        return int(self.fit_bias) + self.D_out * self.output_to_readout

    @property
    def size(self) -> int:
        """N', the number of columns."""
        return self.head + self.reservoir.units

    def statistics(
        self,
        kind: type[Gram] | type[Triangle] | type[Remainder],
        fold: Fold,
        *,
        less: Array | None = None,
    ) -> tuple[Any, list[Triangle]]:
        """Statistics of the training rows, and of each held-out block, in one run.

        ``less`` are weights (N', D_out) whose prediction is taken off the training targets.
        """
        held_out = [Triangle.empty(self.size, self.D_out) for _ in fold.held_out]
        with Lanes(kind.empty(self.size, self.D_out)) as lanes:
            for i, (u, y) in enumerate(zip(self.inputs, self.outputs, strict=True)):
                stop = max(fold.train[i][1], *(block[i][1] for block in fold.held_out), 0)
                for first, X in self._chunks(u[:stop], y[:stop], self.starts[i]):
                    Y = y[first : first + len(X)]
                    for j, block in enumerate(fold.held_out):
                        rows = _within(block[i], first, len(X))
                        if rows.stop > rows.start:
                            held_out[j] = held_out[j].absorb(X[rows], Y[rows])
                    rows = _within(fold.train[i], first, len(X))
                    if rows.stop > rows.start:
                        left = Y[rows] if less is None else Y[rows] - X[rows] @ less
                        lanes.absorb(X[rows], left)
            return lanes.merged(), held_out

    def in_double(self) -> Rows:
        """The same rows in double precision."""
        if self.reservoir.dtype == np.float64:
            return self
        return Rows(
            self.reservoir.in_double(),
            [np.asarray(u, np.float64) for u in self.inputs],
            [np.asarray(y, np.float64) for y in self.outputs],
            self.fit_bias,
            self.output_to_readout,
            self.starts,
        )

    def columns(self, series: int) -> tuple[Array, Array]:
        """What drives the reservoir, (T, D), and the columns before the states, (T, head)."""
        u, y = self.inputs[series], self.outputs[series]
        previous = self._previous(y, self.starts[series])
        head = np.empty((len(y), self.head))
        head[:, : int(self.fit_bias)] = 1.0
        if self.output_to_readout:
            assert previous is not None
            head[:, int(self.fit_bias) :] = previous
        return self.reservoir.drive(u, previous), head

    def start(self, series: int) -> Array:
        """The state before the first row, as a copy to move on."""
        return np.array(self.starts[series][0], self.reservoir.dtype)

    def _previous(self, y: Array, start: tuple[Array, Array]) -> Array | None:
        needed = self.reservoir.W_fb is not None or self.output_to_readout
        return shifted(y, start[1]) if needed else None

    def _chunks(
        self, u: Array, y: Array, start: tuple[Array, Array]
    ) -> Iterator[tuple[int, Array]]:
        """Pieces of the rows with the number of their first; the array is used again."""
        reservoir, head = self.reservoir, self.head
        previous = self._previous(y, start)
        drive = reservoir.drive(u, previous)
        rows = max(1, min(len(u), max(64, CHUNK_BYTES // (8 * max(self.size, self.D_out)))))
        states = np.empty((rows, reservoir.units), reservoir.dtype)
        X = np.empty((rows, self.size))
        X[:, : int(self.fit_bias)] = 1.0
        state = np.array(start[0], reservoir.dtype)
        for first in range(0, len(u), rows):
            n = min(rows, len(u) - first)
            reservoir.scan(drive[first : first + n], state, states[:n])
            if (bad := reservoir.first_overflow(states[:n])) is not None:
                raise overflowed("states", reservoir.spectrum.radius, first + bad)
            X[:n, head:] = states[:n]
            if self.output_to_readout:
                assert previous is not None
                X[:n, int(self.fit_bias) : head] = previous[first : first + n]
            yield first, X[:n]
        self.last_state = state


def _within(block: tuple[int, int], first: int, count: int) -> slice:
    """The part of a block that lies in ``count`` rows from row ``first`` on."""
    start, stop = (min(max(edge - first, 0), count) for edge in block)
    return slice(start, stop)
