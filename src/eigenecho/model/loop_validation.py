"""Validation of closed loops: errors of forecasts on held-out rows.

The readout with the smallest one-step error may diverge in a closed loop, especially if the series
is chaotic. So the ridge can be selected by errors of forecasts instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from eigenecho.checks import check_memory
from eigenecho.errors import bad_argument
from eigenecho.model.forecast import check_autonomous, run_forecast
from eigenecho.model.loop import ClosedLoop
from eigenecho.model.model import LinearModel
from eigenecho.readout import Triangle
from eigenecho.rows import Block, Fold
from eigenecho.scaling import Scaling
from eigenecho.threads import one_blas_thread
from eigenecho.training import Problem, lowest
from eigenecho.types import Array

BLOCKS, HELD_OUT = 5, 3
"""Number of blocks of each series, and number of last blocks that are held out in turn."""

WINDOWS = 15
"""Maximum number of forecasts in a held-out block."""

LEAST = 4
"""Minimum number of rows of a block in which forecasts are made."""

LARGEST_ERROR = 1.0
"""Limit at which errors are clipped, in standard deviations of the targets."""

EXPONENTS = range(-26, 0, 2)
"""Decimal exponents of ridges, relative to the mean sum of squares of a column."""


@one_blas_thread()
def select_ridge_by_loop(problem: Problem, rows: Block) -> float:
    """Return the ridge with the smallest closed-loop errors on held-out blocks.

    The last blocks are held out in turn. For every ridge, a readout is trained on the other blocks,
    and forecasts within the held-out block are compared with the targets.
    """
    check_memory(8.0 * (BLOCKS + HELD_OUT) * problem.size**2, "ridge", "loop")
    blocks = _cut(rows)
    first, *others = blocks
    statistics, held_out, _ = problem.gather(Triangle, Fold(first, tuple(others)))
    parts = [statistics, *held_out]
    problem.check_range(*parts)
    size = sum(float(np.sum(part.R**2)) for part in parts) / problem.size
    ridges = [10.0 ** (k + round(np.log10(size or 1.0))) for k in EXPONENTS]
    total = np.zeros(len(ridges))
    for number in range(BLOCKS - HELD_OUT, BLOCKS):
        train = reduce(Triangle.merge, (part for k, part in enumerate(parts) if k != number))
        factorised = train.factorise(problem.penalty)
        weights = [factorised.weights(ridge) for ridge in ridges]
        total += loop_errors(problem, blocks[number], weights)
    return ridges[lowest(total)]


def loop_errors(problem: Problem, block: Block, weights: Sequence[Array]) -> Array:
    """Return the mean error of forecasts within a block, for each readout (N', D_out).

    The error of a step is the root mean square over outputs, in standard deviations of the
    targets, limited to ``LARGEST_ERROR``.
    """
    scale, dtype = Scaling.of(problem.outputs).scale, problem.reservoir.dtype
    windows = list(_windows(problem, block))
    first = LinearModel.of(problem, weights[0])
    check_autonomous(first)
    errors = np.full((len(weights), len(windows)), LARGEST_ERROR)
    for number, w in enumerate(weights):
        if not np.isfinite(w).all():
            continue
        model = replace(first, W_out=np.ascontiguousarray(w, dtype))
        loop = ClosedLoop.of_forecast(model)
        for place, (series, start, stop, r) in enumerate(windows):
            drive = loop.constant_drive(problem.inputs[series][start:stop, model.D_out :])
            y = problem.outputs[series][start - 1 : stop]
            with np.errstate(over="ignore", invalid="ignore"):
                out = run_forecast(model, loop, drive, r, y[0])
                error = np.sqrt(np.mean(((out - y[1:]) / scale) ** 2, axis=1))
            errors[number, place] = np.mean(np.where(error < LARGEST_ERROR, error, LARGEST_ERROR))
    return errors.mean(axis=1)


def _cut(rows: Block) -> list[Block]:
    """Return consecutive blocks of the rows of each series."""
    if max(stop - start for start, stop in rows) < LEAST * BLOCKS:
        expected = (
            "a number or 'auto', because 'loop' requires a series with at least "
            f"{LEAST * BLOCKS} rows after the warmup"
        )
        raise bad_argument("ridge", "loop", expected)
    edges = [np.linspace(start, stop, BLOCKS + 1).astype(int).tolist() for start, stop in rows]
    return [[(series[k], series[k + 1]) for series in edges] for k in range(BLOCKS)]


def _windows(problem: Problem, block: Block) -> Iterator[tuple[int, int, int, Array]]:
    """Yield windows of a block as (series, start, stop, state before the start).

    Windows are half as long as the block, with evenly spaced starts.
    """
    numbers = [i for i, (start, stop) in enumerate(block) if stop - start >= LEAST]
    per_series = max(1, WINDOWS // max(1, len(numbers)))
    for i in numbers[:: max(1, len(numbers) // WINDOWS)]:
        start, stop = block[i]
        length = (stop - start) // 2
        drive, _ = problem.columns(i)
        r, row = problem.start(i), 0
        for first in np.unique(np.linspace(start, stop - length, per_series).astype(int)).tolist():
            r, row = problem.reservoir.last_state(drive[row:first], r), first
            yield i, first, first + length, r
