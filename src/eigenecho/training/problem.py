"""Training problems: a network, series and the penalty on readout weights, as one value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from eigenecho.arrays import at, namespace
from eigenecho.basis import Basis
from eigenecho.errors import Shown, bad_argument
from eigenecho.kernels import costs
from eigenecho.readout import Accumulated, Penalty
from eigenecho.reservoir import Drawn, Reservoir
from eigenecho.rows import SeriesRows
from eigenecho.scaling import Scaling
from eigenecho.series import shifted
from eigenecho.tensors import to_host
from eigenecho.training.gather import Block, Fold, Gathered, gather
from eigenecho.training.refine import Round
from eigenecho.training.settings import Settings
from eigenecho.training.structured import gather_gram
from eigenecho.types import Array

HELD_OUT = 0.2
"""Share of each series, at its end, on which several ridges are compared."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows x(t) = [1, y(t−1), r(t)] with targets y(t), and the penalty on their weights.

        argmin_w Σ ‖y(t) − x(t) w‖² + α ‖L w‖²

    Rows are made anew as often as they are asked for, and never kept for a whole series.
    ``fit_bias`` and ``output_to_readout`` say whether they have the first two parts.

    ``inputs`` (T_i, D_in) and ``outputs`` (T_i, D_out) are in the network's own units, to which
    ``scalings`` of both lead from the caller's. Feedback and y(t−1) are driven by the true outputs.
    ``starts`` holds an (r, y) that each series goes on from, or None for zero. ``observed`` says
    which targets (T_i, D_out) are there, by default all: those that are missing are 0 in
    ``outputs``, and nothing is trained on them.
    """

    reservoir: Reservoir
    inputs: Sequence[Array]
    outputs: Sequence[Array]
    penalty: Penalty
    fit_bias: bool = True
    output_to_readout: bool = False
    basis: Basis | None = None
    scalings: tuple[Scaling | None, Scaling | None] = (None, None)
    starts: Sequence[tuple[Array, Array] | None] | None = None
    observed: Sequence[Array] | None = None

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

    def flops(self, rows: int | None = None) -> float:
        """Operations of an orthogonal factorisation of so many rows, by default of all."""
        return 2.0 * (sum(map(len, self.inputs)) if rows is None else rows) * self.size**2

    @property
    def is_small(self) -> bool:
        """Whether an orthogonal factorisation takes seconds at most."""
        return self.flops() <= costs.QR_FLOPS

    @property
    def starts_from_zero(self) -> bool:
        """Whether no series goes on from a state."""
        return not any(start is not None for start in self.starts or ())

    @cached_property
    def in_double(self) -> Problem:
        """The same rows in double precision."""
        if self.reservoir.dtype == np.float64:
            return self
        return replace(
            self,
            reservoir=self.reservoir.in_double(),
            inputs=[namespace(u).asarray(u, np.float64) for u in self.inputs],
            outputs=[namespace(y).asarray(y, np.float64) for y in self.outputs],
        )

    def everything(self, warmup: int) -> Block:
        """All rows after the warmup."""
        return [(warmup, len(u)) for u in self.inputs]

    def counts(self, block: Block) -> Array:
        """How many targets of each output are there in a block, (D_out,)."""
        if self.observed is None:
            return np.full(self.D_out, sum(stop - start for start, stop in block))
        each = zip(self.observed, block, strict=True)
        return np.sum([there[start:stop].sum(axis=0) for there, (start, stop) in each], axis=0)

    @cached_property
    def parts(self) -> list[tuple[Array, Problem]]:
        """Outputs that are missing at the same rows: their columns, and the problem they are."""
        groups: dict[bytes, list[int]] = {}
        for column in range(self.D_out):
            gaps = [there[:, column].tobytes() for there in self.observed or ()]
            groups.setdefault(b"".join(gaps), []).append(column)
        if len(groups) == 1:
            return [(np.arange(self.D_out), self)]

        def only(arrays: Sequence[Array], columns: list[int]) -> list[Array]:
            return [namespace(array).ascontiguousarray(array[:, columns]) for array in arrays]

        return [
            (
                np.array(columns),
                replace(
                    self,
                    outputs=only(self.outputs, columns),
                    observed=only(self.observed or (), columns),
                    scalings=(self.scalings[0], None),
                ),
            )
            for columns in groups.values()
        ]

    def targets(self, block: Block) -> list[Array]:
        """The outputs over a block, (rows, D_out) for each series."""
        return [y[start:stop] for y, (start, stop) in zip(self.outputs, block, strict=True)]

    def columns(self, series: int) -> tuple[Array, Array]:
        """What drives the reservoir, (T, D), and the columns before the states, (T, head)."""
        u, y = self.inputs[series], self.outputs[series]
        previous, xp = None, namespace(y)
        if self.reservoir.W_fb is not None or self.output_to_readout:
            start = self.starts[series] if self.starts else None
            previous = shifted(y, 0.0 if start is None else xp.asarray(start[1]))
        head = xp.empty((len(y), self.head))
        head[:, : int(self.fit_bias)] = 1.0
        if self.output_to_readout:
            head[:, int(self.fit_bias) :] = previous
        return self.reservoir.drive(u, previous), head

    # Passes over the rows. Rows that lie elsewhere, in shards, override these methods.

    def gather(self, kind: type[Accumulated], fold: Fold, *, less: Array | None = None) -> Gathered:
        """Return statistics of training rows and held-out blocks, as ``training.gather`` does."""
        if less is not None:
            less = at(less, self.inputs[0])
        return gather(self, kind, fold, less=less)

    def gather_gram(self, block: Block) -> Gathered:
        """Return XᵀX and XᵀY over a block from sums over time, without states."""
        return gather_gram(self, block)

    def round(self, block: Block, w: Array) -> Round:
        """Return weights (N', k) with their residuals over a block."""
        return Round(self, block, at(w, self.inputs[0]))

    def squares(self, block: Block) -> Array:
        """Return ‖y_d‖² over a block, (D_out,), in float64; missing targets count as 0."""
        targets = [namespace(y).asarray(y, np.float64) for y in self.targets(block)]
        with np.errstate(over="ignore"):  # it shows in the result, which the caller checks
            return np.sum([to_host((y**2).sum(axis=0)) for y in targets], axis=0)

    def rows(self, series: int) -> SeriesRows:
        """Return the rows [1, y(t−1), r(t)] of one series."""
        drive, head = self.columns(series)
        return SeriesRows(head, [(self.reservoir, drive)], [self.start(series)])

    def start(self, series: int) -> Array:
        """The state before the first row, as a copy to move on."""
        start = self.starts[series] if self.starts else None
        if start is None:
            return self.reservoir.zero_state(self.inputs[series])
        return namespace(self.inputs[series]).array(start[0], self.reservoir.dtype)


def pose(
    settings: Settings,
    drawn: Drawn,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    until: Sequence[int] | None = None,
) -> Problem:
    """The problem of training a drawn network on series in the caller's units.

    Of ``standardize`` the scaling is that of the first ``until`` rows of each series, by default
    of all.
    """
    check_lengths(inputs, outputs, settings.warmup)
    u_scaling = y_scaling = None
    if settings.standardize:
        known = [len(u) for u in inputs] if until is None else until
        if inputs[0].shape[1]:
            u_scaling = Scaling.of([u[:n] for u, n in zip(inputs, known, strict=True)])
            inputs = [u_scaling.forward(u) for u in inputs]
        y_scaling = Scaling.of([y[:n] for y, n in zip(outputs, known, strict=True)])
        outputs = [y_scaling.forward(y) for y in outputs]
    observed = None
    if settings.missing == "skip":
        outputs, observed = filled(outputs)
    return Problem(
        drawn.reservoir,
        inputs,
        outputs,
        settings.penalty_of(drawn, outputs[0].shape[1]),
        settings.fit_bias,
        settings.output_to_readout,
        drawn.basis,
        (u_scaling, y_scaling),
        observed=observed,
    )


def filled(outputs: Sequence[Array]) -> tuple[Sequence[Array], list[Array] | None]:
    """Outputs with 0 for NaN, and which of them are there; None where nothing is missing.

    Which are there is an array of NumPy's, wherever the outputs are.
    """
    missing = [namespace(y).isnan(y) for y in outputs]
    if not any(bool(gaps.any()) for gaps in missing):
        return outputs, None
    whole = [namespace(y).array(y) for y in outputs]
    for y, gaps in zip(whole, missing, strict=True):
        y[gaps] = 0.0
    return whole, [~to_host(gaps) for gaps in missing]


def hold_out(problem: Problem, settings: Settings) -> Fold:
    """Return all rows after the warmup, the last fifth of each series held out."""
    everything = problem.everything(settings.warmup)
    cuts = [stop - round(HELD_OUT * (stop - start)) for start, stop in everything]
    train = [(start, cut) for (start, _), cut in zip(everything, cuts, strict=True)]
    last = [(cut, stop) for (_, stop), cut in zip(everything, cuts, strict=True)]
    if not (problem.counts(train).all() and problem.counts(last).any()):
        wanted = "one value: the series are too short to hold out rows and choose among several"
        raise bad_argument("ridge", settings.ridge, wanted)
    return Fold(train, (last,))


def check_lengths(
    inputs: Sequence[Array], outputs: Sequence[Array], warmup: int, use: str = ""
) -> None:
    """Inputs and outputs go together, and every series outlasts the warmup before its ``use``."""
    if len(inputs) != len(outputs):
        raise bad_argument("y", Shown(f"{len(outputs)} series"), f"{len(inputs)} series, as X has")
    for i, (u, y) in enumerate(zip(inputs, outputs, strict=True)):
        which = f" of series {i}" if len(inputs) > 1 else ""
        if len(u) != len(y):
            raise ValueError(
                f"X and y have inconsistent lengths{which}: X has {len(u)} rows and y has "
                f"{len(y)}. Each row of y is the target at the same row of X."
            )
        if warmup >= len(u):
            remedy = "Lower warmup or drop the short series."
            if len(u) < u.shape[1]:
                remedy = "A series laid along the columns is X.T; else lower warmup."
            raise bad_argument(
                "warmup", warmup, f"fewer steps than the {len(u)} rows{use}{which}", remedy
            )
