"""Normal equations of whole series, computed from sums over time.

The cost is O(T N + N²), or O(T log T + N²) for a reservoir that settles within the series.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from eigenecho.arrays import namespace
from eigenecho.kernels import costs
from eigenecho.kernels.convolution import settling_steps
from eigenecho.readout import (
    Gram,
    Lags,
    Moments,
    Penalty,
    products,
    resonant,
    transform_length,
)
from eigenecho.rows import Block, SeriesRows, chunk_rows
from eigenecho.training.passes import AbstractProblem, PassResult
from eigenecho.training.training_series import TrainingSeries
from eigenecho.transition import Diagonal
from eigenecho.types import Array

MAX_PROBE = 0.3
"""Largest cost of sums over time and their factorisation, relative to QR, for which it is tried."""

ROUNDS = 3
"""Usual number of rounds of refinement."""


def applies(problem: AbstractProblem) -> bool:
    """Return True if sums over time can replace states: W is diagonal with few resonant modes."""
    reservoir = problem.reservoir
    if not isinstance(reservoir.transition, Diagonal) or not problem.starts_from_zero:
        return False
    if problem.has_gaps or reservoir.features is not None:  # the identity needs all states
        return False
    spectrum = reservoir.spectrum
    longest = max(problem.lengths)
    if spectrum.radius > 1 and longest * np.log(spectrum.radius) > np.log(1e3):
        return False
    columns = len(reservoir.B) + problem.head + problem.D_out
    return spectrum.columns(resonant(spectrum)).size + 2 * columns <= problem.size / 2


def sums_over(problem: TrainingSeries, block: Block, K: int | None) -> Any:
    """Return the ``Lags`` over K steps or, if K is None, the ``Moments`` of the reservoir.

    Lags determine the moments of any reservoir that settles within K steps. The side columns are
    [drive, head, targets].
    """
    parts: list[Any] = []
    for i, (start, stop) in enumerate(block):
        drive, head = problem.columns(i)
        side = namespace(drive).concatenate([drive, head, problem.outputs[i]], axis=1)
        drive, side = drive[:stop], side[start:stop]
        if K is not None:
            parts.append(Lags.of(drive, side, start, K))
        else:
            before, C, state = sum_states(problem, i, drive, side, start)
            parts.append(Moments(C, products(side), before[None], state[None], len(side)))
    return reduce(type(parts[0]).merge, parts)


def resonant_part(problem: TrainingSeries) -> TrainingSeries | None:
    """Return the problem of the resonant modes, or None if there are none."""
    modes = resonant(problem.reservoir.spectrum)
    if not np.any(modes):
        return None
    few, starts = problem.reservoir.only(modes), problem.starts
    if starts is not None:
        columns = problem.reservoir.spectrum.columns(modes)
        starts = [None if start is None else (start[0][columns], start[1]) for start in starts]
    alone = replace(problem, reservoir=few, penalty=Penalty(few.units), starts=starts)
    return replace(alone, fit_bias=False, output_to_readout=False, basis=None)


def assemble_gram(
    problem: AbstractProblem, sums: Lags | Moments, direct: Gram | None
) -> PassResult:
    """Return XᵀX and XᵀY, given sums over time and the ``direct`` sums of resonant modes."""
    reservoir, spectrum = problem.reservoir, problem.reservoir.spectrum
    moments = sums.moments(reservoir)
    statistics = moments.gram(spectrum, reservoir.B, problem.D_out)
    if direct is not None:
        columns = problem.head + spectrum.columns(resonant(spectrum))
        here = namespace(statistics.XtX).asarray(columns)
        statistics.XtX[here[:, None], here] = direct.XtX
    return PassResult(statistics, [], list(moments.stops))


def lag_count(problem: AbstractProblem) -> int | None:
    """Return the number of lags to correlate, or None if running the reservoir is cheaper."""
    by_steps, by_lags = _costs(problem)
    return int(settling_steps(problem.reservoir.form)) if by_lags < by_steps else None


def sums_pay(problem: AbstractProblem) -> bool:
    """Return True if normal equations from sums over time are expected to be faster than QR.

    They are tried if one attempt is cheap compared with QR, which follows if it fails, and if the
    usual rounds of refinement do not cost more than QR.
    """
    probe, refined = relative_costs(problem)
    return probe <= MAX_PROBE and refined <= 1


def relative_costs(problem: AbstractProblem) -> tuple[float, float]:
    """Return the costs of normal equations from sums over time, without and with refinement.

    They are relative to the cost of QR, and infinite if sums over time do not apply.
    """
    if not applies(problem):
        return np.inf, np.inf
    steps, size = sum(problem.lengths), problem.size
    orthogonal = steps * size * (costs.QR_COLUMN_NS + costs.QR_PAIR_NS * size)
    orthogonal += costs.TRIANGLE_NS * size**3
    sums = costs.SUMS_NS + min(_costs(problem))
    probe = sums + size**2 * (costs.PAIR_SUM_NS + costs.CHOLESKY_NS * size)
    return probe / orthogonal, (probe + 2 * ROUNDS * sums) / orthogonal


def _costs(problem: AbstractProblem) -> tuple[float, float]:
    """Return the costs of sums over time in nanoseconds, by running the reservoir and by lags."""
    reservoir = problem.reservoir
    steps, units, D = sum(problem.lengths), reservoir.units, len(reservoir.B)
    E = D + problem.head + problem.D_out
    mode = costs.STATE_SUM_NS + costs.STATE_SUM_COLUMN_NS * E
    by_steps = steps * (costs.STATE_SUM_STEP_NS + units * mode)
    if reservoir.features is not None or not problem.starts_from_zero:
        return by_steps, np.inf
    K = settling_steps(reservoir.form)
    if min(problem.lengths) <= K:
        return by_steps, np.inf
    if 8 * E * D * transform_length(steps, int(K)) > costs.MAX_CORRELATION_BYTES:
        return by_steps, np.inf
    by_lags = costs.CORRELATION_NS * steps * (D + E + costs.CORRELATION_PAIR_COST * D * E)
    return by_steps, by_lags + costs.LAG_SUM_NS * K * units * (E + 2)


def sum_states(
    problem: TrainingSeries, series: int, drive: Array, side: Array, start: int
) -> tuple[Array, Array, Array]:
    """Return the state before ``start``, Σ e(t)ᵀ r(t) from ``start`` on, and the last state."""
    reservoir, xp = problem.reservoir, namespace(side)
    rows = SeriesRows(drive[:, :0], [(reservoir, drive)], [problem.start(series)])
    states = rows.states_before(start)
    before = xp.array(states[0])
    C = xp.zeros((side.shape[1], rows.size))
    count = chunk_rows(side, rows.size, least=16, in_cache=True)
    for first, r in rows.chunks(start, len(drive), count, states):
        C += side[first - start : first - start + len(r)].T @ r
    return before, C, states[0]
