"""Training problems, which combine a drawn network with series."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from eigenecho.arrays import namespace, to_host, to_like
from eigenecho.errors import Words, bad_argument, counted
from eigenecho.readout import Accumulator, Gram, Lags, Triangle
from eigenecho.reservoir import DrawnReservoir
from eigenecho.rows import Block, Fold, SeriesRows, chunk_rows
from eigenecho.scaling import Scaling, Spread
from eigenecho.threads import Lanes, thread_count
from eigenecho.training.passes import PassResult
from eigenecho.training.refine import SeriesResiduals
from eigenecho.training.settings import Settings
from eigenecho.training.sums import assemble_gram, lag_count, resonant_part, sums_over
from eigenecho.training.training_series import TrainingSeries
from eigenecho.types import Array


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem(TrainingSeries):
    """Training problem with series in memory."""

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
                    if self.row_weights is not None:
                        part = np.sqrt(self.row_weights[i][first : first + len(X), None])
                        X, Y = X * xp.asarray(part), Y * xp.asarray(part)
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
    row_weights: Sequence[Array] | None = None,
) -> Problem:
    """Return the training problem of a drawn network on series in the caller's units.

    With ``standardize``, the scaling is computed from the first ``until`` rows of each series, by
    default from all. ``row_weights`` (T_i,) are those of the rows of each series.
    """
    check_lengths(inputs, outputs, settings.warmup)
    stops = [len(u) for u in inputs] if until is None else until
    u_scaling = y_scaling = None
    if settings.standardize:
        if inputs[0].shape[1]:
            u_scaling = Scaling.of([u[:n] for u, n in zip(inputs, stops, strict=True)])
            inputs = [u_scaling.forward(u) for u in inputs]
        parts = [y[:n] for y, n in zip(outputs, stops, strict=True)]
        y_scaling = Scaling.of(parts, row_weights)
        outputs = [y_scaling.forward(y) for y in outputs]
    observed = None
    if settings.missing == "skip":
        outputs, observed = fill_missing(outputs)
    observed = drop_unweighted(outputs, observed, row_weights)
    problem = Problem.of(
        settings,
        drawn,
        outputs[0].shape[1],
        inputs=inputs,
        outputs=outputs,
        scalings=(u_scaling, y_scaling),
        observed=observed,
        row_weights=row_weights,
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
        for first, states in rows.chunks(start, stop, chunk_rows(drive, rows.size)):
            weights = problem.counted_weights
            own = None if weights is None else weights[i][first : first + len(states)]
            spread = spread.merge(Spread.of(states[:, reservoir.features.columns], own))
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


def drop_unweighted(
    outputs: Sequence[Array], observed: list[Array] | None, row_weights: Sequence[Array] | None
) -> list[Array] | None:
    """Return ``observed``, with False in rows of weight 0."""
    if row_weights is None or all(np.all(weights > 0) for weights in row_weights):
        return observed
    seen = [np.ones(y.shape, bool) for y in outputs] if observed is None else observed
    return [there & (w > 0)[:, None] for there, w in zip(seen, row_weights, strict=True)]


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
