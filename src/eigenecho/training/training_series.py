"""Series of a training problem: their columns, gaps and initial states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from eigenecho.arrays import namespace, to_host
from eigenecho.rows import Block, SeriesRows
from eigenecho.scaling import OutputRange, Scaling
from eigenecho.series import shifted
from eigenecho.training.passes import AbstractProblem
from eigenecho.types import Array


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingSeries(AbstractProblem):
    """Series in memory of a training problem.

    Rows are computed whenever they are needed, and never stored for a whole series. ``inputs``
    (T_i, D_in) and ``outputs`` (T_i, D_out) are in the network's units. Feedback and y(t−1) use the
    true outputs. ``starts`` contains the initial state (r, y) of each series, or None for zero.
    ``observed`` (T_i, D_out) is True for observed targets, by default all. Missing targets are 0 in
    ``outputs``, and are not used for training. ``row_weights`` (T_i,) multiply squared errors; rows
    of weight 0 are not observed.
    """

    inputs: Sequence[Array]
    outputs: Sequence[Array]
    starts: Sequence[tuple[Array, Array] | None] | None = None
    observed: Sequence[Array] | None = None
    row_weights: Sequence[Array] | None = None

    @property
    def D_out(self) -> int:
        """Number of targets."""
        return self.outputs[0].shape[1]

    @property
    def lengths(self) -> list[int]:
        """Number of rows of each series."""
        return [len(u) for u in self.inputs]

    @property
    def has_gaps(self) -> bool:
        """True if targets are missing, or if rows have weights."""
        return self.observed is not None or self.row_weights is not None

    @property
    def starts_from_zero(self) -> bool:
        """True if no series continues from a state."""
        return not any(start is not None for start in self.starts or ())

    @property
    def output_range(self) -> OutputRange | None:
        """Range of the targets, or None for networks without features."""
        if self.reservoir.is_linear:
            return None
        if self.observed is None:
            return OutputRange.of(self.outputs)
        pairs = zip(self.outputs, self.observed, strict=True)
        return OutputRange.of([np.where(observed, y, np.nan) for y, observed in pairs])

    @cached_property
    def in_double(self) -> Self:
        """Copy of the problem, with reservoir and series in double precision."""
        if self.reservoir.dtype == np.float64:
            return self
        return replace(
            self,
            reservoir=self.reservoir.in_double(),
            inputs=[namespace(u).asarray(u, np.float64) for u in self.inputs],
            outputs=[namespace(y).asarray(y, np.float64) for y in self.outputs],
        )

    def rescale_outputs(self, scaling: Scaling) -> Self:
        """Return the problem with scaled targets; the caller's units do not change."""
        outputs = [scaling.forward(y) for y in self.outputs]
        return replace(self, outputs=outputs, scalings=(self.scalings[0], scaling))

    def counts(self, block: Block) -> Array:
        """Return the number of observed targets of each output in a block, (D_out,)."""
        if self.observed is None:
            return np.full(self.D_out, sum(stop - start for start, stop in block))
        pairs = zip(self.observed, block, strict=True)
        return np.sum([seen[start:stop].sum(axis=0) for seen, (start, stop) in pairs], axis=0)

    @cached_property
    def parts(self) -> list[tuple[Array, Self]]:
        """Columns and problem of each group of outputs that are missing in the same rows."""
        groups: dict[bytes, list[int]] = {}
        for column in range(self.D_out):
            gaps = [seen[:, column].tobytes() for seen in self.observed or ()]
            groups.setdefault(b"".join(gaps), []).append(column)
        if len(groups) == 1:
            return [(np.arange(self.D_out), self)]
        parts = []
        for columns in groups.values():
            outputs, observed = (
                [namespace(array).ascontiguousarray(array[:, columns]) for array in arrays]
                for arrays in (self.outputs, self.observed or ())
            )
            scalings = self.scalings[0], None
            part = replace(self, outputs=outputs, observed=observed, scalings=scalings)
            parts.append((np.array(columns), part))
        return parts

    def targets(self, block: Block) -> list[Array]:
        """Return the outputs over a block, (rows, D_out) for each series."""
        return [y[start:stop] for y, (start, stop) in zip(self.outputs, block, strict=True)]

    def columns(self, series: int) -> tuple[Array, Array]:
        """Return the drive of the reservoir, (T, D), and the columns before the states."""
        u, y = self.inputs[series], self.outputs[series]
        previous, xp = None, namespace(y)
        if self.reservoir.W_fb is not None or self.output_to_readout:
            start = self.starts[series] if self.starts else None
            previous = shifted(y, 0.0 if start is None else xp.asarray(start[1]))
        head = readout_head(y, self.fit_bias, previous if self.output_to_readout else None)
        return self.reservoir.drive(u, previous), head

    def rows(self, series: int) -> SeriesRows:
        """Return the rows [1, y(t−1), r(t)] of one series."""
        drive, head = self.columns(series)
        return SeriesRows(head, [(self.reservoir, drive)], [self.start(series)])

    def start(self, series: int) -> Array:
        """Return a copy of the state before the first row."""
        start = self.starts[series] if self.starts else None
        if start is None:
            return self.reservoir.zero_state(self.inputs[series])
        return namespace(self.inputs[series]).array(start[0], self.reservoir.dtype)

    def squares(self, block: Block) -> Array:
        """Return ‖y_d‖² over a block, (D_out,), in float64; missing targets count as 0."""
        targets = [namespace(y).asarray(y, np.float64) for y in self.targets(block)]
        with np.errstate(over="ignore"):  # the caller checks the result
            squares = self.weighted([y**2 for y in targets], block)
            return np.sum([to_host(y.sum(axis=0)) for y in squares], axis=0)

    def effective_rows(self, block: Block, rows: int) -> float:
        """Return the sum of the weights of observed rows in a block; without weights, ``rows``."""
        if self.row_weights is None:
            return float(rows)
        counted = zip(self.counted_weights or (), block, strict=True)
        return float(sum(weights[start:stop].sum() for weights, (start, stop) in counted))

    @cached_property
    def counted_weights(self) -> list[Array] | None:
        """Weights (T_i,) of the rows, 0 where a target is missing; None if all rows are equal."""
        if not self.has_gaps:
            return None
        weights = self.row_weights or [np.ones(length) for length in self.lengths]
        if self.observed is None:
            return list(weights)
        pairs = zip(weights, self.observed, strict=True)
        return [np.where(np.all(seen, axis=1), w, 0.0) for w, seen in pairs]

    def weighted(self, arrays: list[Array], block: Block, power: float = 1.0) -> list[Array]:
        """Return arrays (rows, k) over a block, multiplied by powers of the weights of the rows."""
        if self.row_weights is None:
            return arrays
        return [
            x * namespace(x).asarray(weights[start:stop, None] ** power)
            for x, weights, (start, stop) in zip(arrays, self.row_weights, block, strict=True)
        ]


def readout_head(like: Array, bias: bool, previous: Array | None) -> Array:
    """Return the columns [1, y(t−1)] before the states, for each row of ``like``, in float64."""
    columns = int(bias) + (0 if previous is None else previous.shape[1])
    head = namespace(like).ones((len(like), columns))
    if previous is not None:
        head[:, int(bias) :] = previous
    return head
