"""Training problems, which combine a drawn network with series."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from eigenecho.arrays import namespace, to_host, to_like
from eigenecho.basis import Basis
from eigenecho.errors import Words, bad_argument, counted
from eigenecho.kernels import costs
from eigenecho.readout import Accumulator, Gram, Lags, PassResult, Penalty, Statistic, Triangle
from eigenecho.reservoir import DrawnReservoir, Reservoir
from eigenecho.rows import Block, Fold, SeriesRows, chunk_rows
from eigenecho.scaling import OutputRange, Scaling, Spread
from eigenecho.series import shifted
from eigenecho.threads import Lanes, thread_count
from eigenecho.training.refine import SeriesResiduals, WeightResiduals
from eigenecho.training.settings import Settings
from eigenecho.training.sums import assemble_gram, lag_count, resonant_part, sums_over
from eigenecho.types import Array


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractProblem(ABC):
    """Base class of training problems: a network, with passes over its rows for ``train``.

        argmin_w Σ ‖y(t) − x(t) w‖² + α ‖L w‖²,   x(t) = [1, y(t−1), r(t)]

    ``fit_bias`` and ``output_to_readout`` are True if rows contain 1 and y(t−1), respectively.
    ``scalings`` convert inputs and outputs from the caller's units to those of the network.
    """

    reservoir: Reservoir
    penalty: Penalty
    fit_bias: bool = True
    output_to_readout: bool = False
    basis: Basis | None = None
    scalings: tuple[Scaling | None, Scaling | None] = (None, None)

    @classmethod
    def of(cls, settings: Settings, drawn: DrawnReservoir, D_out: int, **rows: Any) -> Self:
        """Return the problem of a drawn network. ``rows`` are the fields that the subclass adds."""
        return cls(
            reservoir=drawn.reservoir,
            penalty=settings.penalty_of(drawn, D_out),
            fit_bias=settings.fit_bias,
            output_to_readout=settings.output_to_readout,
            basis=drawn.basis,
            **rows,
        )

    @property
    @abstractmethod
    def D_out(self) -> int:
        """Number of targets."""

    @property
    @abstractmethod
    def lengths(self) -> list[int]:
        """Number of rows of each series."""

    @property
    @abstractmethod
    def has_gaps(self) -> bool:
        """True if targets may be missing."""

    @property
    def starts_from_zero(self) -> bool:
        """True if no series continues from a state."""
        return True

    @property
    def output_range(self) -> OutputRange | None:
        """Range of the targets, or None for networks without features."""
        return None

    @property
    def head(self) -> int:
        """Number of columns before the states."""
        return int(self.fit_bias) + self.D_out * self.output_to_readout

    @property
    def size(self) -> int:
        """Number of columns N'."""
        return self.head + self.reservoir.columns

    @property
    def qr_flops(self) -> float:
        """Number of operations of a QR factorisation of all rows."""
        return 2.0 * sum(self.lengths) * self.size**2

    @property
    def is_small(self) -> bool:
        """True if a QR factorisation takes at most a few seconds."""
        return self.qr_flops <= costs.MAX_QR_FLOPS

    def everything(self, warmup: int) -> Block:
        """Return all rows after the warmup."""
        return [(warmup, length) for length in self.lengths]

    def check_range(self, *statistics: Statistic) -> None:
        """Raise if squares of the states overflow, because the readout would be zero."""
        if any(statistic.overflows for statistic in statistics):
            columns = "states" if self.reservoir.is_linear else "features"
            raise self.reservoir.overflowed(f"squares of the {columns}")

    @property
    @abstractmethod
    def in_double(self) -> Self:
        """Copy of the problem in double precision."""

    @property
    @abstractmethod
    def parts(self) -> Sequence[tuple[Array, Self]]:
        """Columns and problem of each group of outputs that are missing in the same rows."""

    @abstractmethod
    def rescale_outputs(self, scaling: Scaling) -> Self:
        """Return the problem with scaled targets; the caller's units do not change."""

    @abstractmethod
    def counts(self, block: Block) -> Array:
        """Return the number of observed targets of each output in a block, (D_out,)."""

    @abstractmethod
    def squares(self, block: Block) -> Array:
        """Return ‖y_d‖² over a block, (D_out,), in float64; missing targets count as 0."""

    @abstractmethod
    def gather(
        self, kind: type[Accumulator], fold: Fold, *, less: Array | None = None
    ) -> PassResult:
        """Return statistics of the training rows and of each held-out block, in one pass.

        If ``less`` (N', D_out) is given, the predictions of these weights are subtracted from the
        training targets. Rows with a missing target are left out.
        """

    @abstractmethod
    def gather_gram(self, block: Block) -> PassResult:
        """Return XᵀX and XᵀY over a block from sums over time; only resonant modes need states."""

    @abstractmethod
    def with_weights(self, block: Block, w: Array) -> WeightResiduals:
        """Return weights (N', k) with their residuals over a block, which are computed lazily."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem(AbstractProblem):
    """Training problem with series in memory.

    Rows are computed whenever they are needed, and never stored for a whole series. ``inputs``
    (T_i, D_in) and ``outputs`` (T_i, D_out) are in the network's units. Feedback and y(t−1) use the
    true outputs. ``starts`` contains the initial state (r, y) of each series, or None for zero.
    ``observed`` (T_i, D_out) is True for observed targets, by default all. Missing targets are 0 in
    ``outputs``, and are not used for training.
    """

    inputs: Sequence[Array]
    outputs: Sequence[Array]
    starts: Sequence[tuple[Array, Array] | None] | None = None
    observed: Sequence[Array] | None = None

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
        """True if targets are missing."""
        return self.observed is not None

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
    def in_double(self) -> Problem:
        """Copy of the problem, with reservoir and series in double precision."""
        if self.reservoir.dtype == np.float64:
            return self
        return replace(
            self,
            reservoir=self.reservoir.in_double(),
            inputs=[namespace(u).asarray(u, np.float64) for u in self.inputs],
            outputs=[namespace(y).asarray(y, np.float64) for y in self.outputs],
        )

    def rescale_outputs(self, scaling: Scaling) -> Problem:
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
    def parts(self) -> list[tuple[Array, Problem]]:
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

    def gather(
        self, kind: type[Accumulator], fold: Fold, *, less: Array | None = None
    ) -> PassResult:
        """Return statistics of the training rows and of each held-out block, in one pass."""
        xp = namespace(self.inputs[0])
        less = None if less is None else to_like(less, self.inputs[0])
        held_out = [Triangle.empty(self.size, self.D_out, xp) for _ in fold.held_out]
        ends = []
        count = kind.lanes(sum(stop - start for start, stop in fold.train), self.size)
        threads = max(1, min(count, thread_count()))
        with ThreadPoolExecutor(threads) as pool:
            parallel = threads > 1 and xp.is_host
            empty = kind.empty(self.size, self.D_out, xp)
            lanes = Lanes(empty, count, pool if parallel else None)
            for i, y in enumerate(self.outputs):
                stop = max(fold.train[i][1], *(block[i][1] for block in fold.held_out), 0)
                observed = None if self.observed is None else np.all(self.observed[i], axis=1)
                states = [self.start(i)]
                chunk = chunk_rows(y, max(self.size, self.D_out), least=64)
                for first, X in self.rows(i).chunks(0, stop, chunk, states):
                    Y = y[first : first + len(X)]
                    for j, block in enumerate(fold.held_out):
                        rows = _within(block[i], first, X, observed)
                        held_out[j] = held_out[j].absorb(X[rows], Y[rows])
                    rows = _within(fold.train[i], first, X, observed)
                    x, targets = X[rows], Y[rows]
                    if len(x):
                        lanes.absorb(x, targets if less is None else targets - x @ less)
                ends.append(states[0])
            return PassResult(lanes.merged(), held_out, ends)

    def gather_gram(self, block: Block, known: Lags | None = None) -> PassResult:
        """Return XᵀX and XᵀY over a block from sums over time; only resonant modes need states.

        ``known`` are correlations of the same block with at least the required number of lags, for
        series that start from zero.
        """
        sums = sums_over(self, block, lag_count(self)) if known is None else known
        alone = resonant_part(self)
        direct = None if alone is None else alone.gather(Gram, Fold(block)).statistics
        return assemble_gram(self, sums, direct)

    def with_weights(self, block: Block, w: Array) -> SeriesResiduals:
        """Return weights (N', k) with their residuals over a block, which are computed lazily."""
        return SeriesResiduals(self, block, to_like(w, self.inputs[0]))

    def squares(self, block: Block) -> Array:
        """Return ‖y_d‖² over a block, (D_out,), in float64; missing targets count as 0."""
        targets = [namespace(y).asarray(y, np.float64) for y in self.targets(block)]
        with np.errstate(over="ignore"):  # the caller checks the result
            return np.sum([to_host((y**2).sum(axis=0)) for y in targets], axis=0)


def readout_head(like: Array, bias: bool, previous: Array | None) -> Array:
    """Return the columns [1, y(t−1)] before the states, for each row of ``like``, in float64."""
    columns = int(bias) + (0 if previous is None else previous.shape[1])
    head = namespace(like).ones((len(like), columns))
    if previous is not None:
        head[:, int(bias) :] = previous
    return head


def _within(block: tuple[int, int], first: int, X: Array, observed: Array | None) -> slice | Array:
    """Return the indices of observed rows of a block in a chunk X that starts at ``first``."""
    start, stop = (min(max(edge - first, 0), len(X)) for edge in block)
    if observed is None:
        return slice(start, stop)
    return namespace(X).asarray(start + np.flatnonzero(observed[first + start : first + stop]))


def pose(
    settings: Settings,
    drawn: DrawnReservoir,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    until: Sequence[int] | None = None,
) -> Problem:
    """Return the training problem of a drawn network on series in the caller's units.

    With ``standardize``, the scaling is computed from the first ``until`` rows of each series, by
    default from all.
    """
    check_lengths(inputs, outputs, settings.warmup)
    stops = [len(u) for u in inputs] if until is None else until
    u_scaling = y_scaling = None
    if settings.standardize:
        if inputs[0].shape[1]:
            u_scaling = Scaling.of([u[:n] for u, n in zip(inputs, stops, strict=True)])
            inputs = [u_scaling.forward(u) for u in inputs]
        y_scaling = Scaling.of([y[:n] for y, n in zip(outputs, stops, strict=True)])
        outputs = [y_scaling.forward(y) for y in outputs]
    observed = None
    if settings.missing == "skip":
        outputs, observed = fill_missing(outputs)
    problem = Problem.of(
        settings,
        drawn,
        outputs[0].shape[1],
        inputs=inputs,
        outputs=outputs,
        scalings=(u_scaling, y_scaling),
        observed=observed,
    )
    if settings.recipe.features is None:
        return problem
    return _standardize_states(problem, [(settings.warmup, stop) for stop in stops])


def _standardize_states(problem: Problem, block: Block) -> Problem:
    """Return a problem whose features standardise the states, based on the rows of a block."""
    reservoir = problem.reservoir
    assert reservoir.features is not None
    spread = Spread.of(np.zeros((0, reservoir.features.columns.size)))
    for i, (start, stop) in enumerate(block):
        drive, _ = problem.columns(i)
        rows = SeriesRows(drive[:, :0], [(replace(reservoir, features=None), drive)])
        for _, states in rows.chunks(start, stop, chunk_rows(drive, rows.size)):
            spread = spread.merge(Spread.of(states[:, reservoir.features.columns]))
    features = reservoir.features.standardized(spread.scaling)
    return replace(problem, reservoir=replace(reservoir, features=features))


def fill_missing(outputs: Sequence[Array]) -> tuple[Sequence[Array], list[Array] | None]:
    """Return outputs with 0 in place of NaN, and NumPy arrays that are True for observed targets.

    If no target is missing, the second value is None.
    """
    missing = [namespace(y).isnan(y) for y in outputs]
    if not any(bool(gaps.any()) for gaps in missing):
        return outputs, None
    whole = [namespace(y).array(y) for y in outputs]
    for y, gaps in zip(whole, missing, strict=True):
        y[gaps] = 0.0
    return whole, [~to_host(gaps) for gaps in missing]


def check_lengths(
    inputs: Sequence[Array], outputs: Sequence[Array], warmup: int, use: str = ""
) -> None:
    """Raise unless inputs and outputs have equal lengths that exceed the warmup.

    ``use`` describes the purpose of the rows in messages.
    """
    if len(inputs) != len(outputs):
        raise bad_argument("y", Words(f"{len(outputs)} series"), f"{len(inputs)} series, as in X")
    for i, (u, y) in enumerate(zip(inputs, outputs, strict=True)):
        which = f" of series {i}" if len(inputs) > 1 else ""
        check_same_length(len(u), len(y), which)
        check_warmup(warmup, len(u), u.shape[1], f"{use}{which}")


def check_same_length(rows: int, targets: int, which: str = "", y_name: str = "y") -> None:
    """Raise if a series has different numbers of inputs and targets."""
    if rows != targets:
        raise ValueError(
            f"X and {y_name}{which} have inconsistent lengths: X has {counted(rows, 'row')} and "
            f"{y_name} has {targets}. They must have the same number of rows."
        )


def check_warmup(warmup: int, rows: int, columns: int, which: str = "") -> None:
    """Raise if no row of inputs (rows, columns) is left after the warmup."""
    if warmup >= rows:
        remedy = "Use a smaller warmup, or drop the short series."
        if rows < columns:
            remedy = "Transpose X if its columns are time steps, or use a smaller warmup."
        expected = f"fewer steps than the {counted(rows, 'row')}{which}"
        raise bad_argument("warmup", warmup, expected, remedy)
