"""Normal equations of whole series from sums over time.

The cost is O(T N + N²) and, for a reservoir that settles within the series, O(T log T + N²).
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np

from eigenecho.kernels import costs
from eigenecho.kernels.convolution import settling_steps
from eigenecho.readout import Gram, Lags, Moments, Penalty, resonant, transform_length
from eigenecho.reservoir import Reservoir
from eigenecho.spectra import Spectrum
from eigenecho.training.gather import Gathered, gather
from eigenecho.training.problem import Block, Fold, Problem
from eigenecho.transition import Diagonal
from eigenecho.types import Array

CHUNK_BYTES = 1 << 19
"""States that are held at a time, small enough to stay in cache."""


def applies(problem: Problem) -> bool:
    """Whether the sums can stand for the states: eigenvalues, few of which are in resonance."""
    reservoir = problem.reservoir
    if not isinstance(reservoir.transition, Diagonal) or not problem.starts_from_zero:
        return False
    if problem.observed is not None:  # no row can be left out of the identity
        return False
    spectrum = reservoir.spectrum
    longest = max(map(len, problem.inputs))
    if spectrum.radius > 1 and longest * np.log(spectrum.radius) > np.log(1e3):
        return False
    columns = len(reservoir.B) + problem.head + problem.D_out
    return bool(_columns(spectrum, resonant(spectrum)).size + 2 * columns <= problem.size / 2)


def gather_gram(problem: Problem, block: Block, known: Lags | None = None) -> Gathered:
    """XᵀX and XᵀY over a block, from moments; resonant modes are summed by themselves.

    ``known`` are correlations of the same block, with at least as many lags as are needed, of
    series that start from zero.
    """
    reservoir = problem.reservoir
    if known is None and (K := lag_count(problem)) is not None:
        known = lags(problem, block, K)
    if known is None:
        total = moments(problem, block)
    else:
        enough = int(min(len(known.rho), settling_steps(reservoir.form)))
        total = known.moments(reservoir.form, reservoir.B, enough)
    spectrum = reservoir.spectrum
    statistics = total.gram(spectrum, reservoir.B, problem.D_out)
    modes = resonant(spectrum)
    if np.any(modes):
        columns = _columns(spectrum, modes)
        few = replace(
            problem,
            reservoir=_only(reservoir, modes, columns),
            penalty=Penalty(columns.size),
            fit_bias=False,
            output_to_readout=False,
        )
        direct = gather(few, Gram, Fold(block)).statistics
        columns = columns + problem.head
        statistics.XtX[np.ix_(columns, columns)] = direct.XtX
    return Gathered(statistics, [], list(total.stops))


def lags(problem: Problem, block: Block, K: int) -> Lags:
    """Lagged correlations over a block, from which any reservoir's moments follow."""

    def of(series: int) -> Lags:
        start, stop = block[series]
        drive, side = _drive_and_side(problem, series)
        return Lags.of(drive, side[start:stop], start, K)

    return reduce(Lags.merge, map(of, range(len(block))))


def moments(problem: Problem, block: Block) -> Moments:
    """Sums over a block in one run of the reservoir."""

    def of(series: int) -> Moments:
        start, stop = block[series]
        drive, side = _drive_and_side(problem, series)
        side = side[start:stop]
        before, C, state = summed(problem, series, drive[:stop], side, start)
        return Moments(C, side.T @ side, before[None], state[None], len(side))

    return reduce(Moments.merge, map(of, range(len(block))))


def lag_count(problem: Problem) -> int | None:
    """How many lags to correlate; None where running the reservoir is cheaper, or needed."""
    K = settling_steps(problem.reservoir.form)
    if not problem.starts_from_zero:
        return None
    steps, units = sum(map(len, problem.inputs)), problem.reservoir.units
    if min(map(len, problem.inputs)) <= K:
        return None
    D = len(problem.reservoir.B)
    E = D + problem.head + problem.D_out
    if 8 * E * D * transform_length(steps, int(K)) > costs.SPECTRA_BYTES:
        return None
    by_lags = costs.CORRELATION * steps * (D + E + costs.PAIR * D * E)
    by_lags += costs.STEP * K * units * (E + 2)
    by_steps = steps * units * (costs.STEP + costs.SUM * E)
    return int(K) if by_lags < by_steps else None


def summed(
    problem: Problem, series: int, drive: Array, side: Array, start: int
) -> tuple[Array, Array, Array]:
    """State before row ``start``, Σ e(t)ᵀ r(t) from there on, and the last state."""
    reservoir, state = problem.reservoir, problem.start(series)
    count = max(16, CHUNK_BYTES // (8 * reservoir.units))
    states = np.empty((count, reservoir.units))
    C = np.zeros((side.shape[1], reservoir.units))
    for first in range(0, start, count):
        piece = drive[first : min(first + count, start)]
        reservoir.scan(piece, state, states[: len(piece)])
    before = state.copy()
    for first in range(start, len(drive), count):
        piece = drive[first : first + count]
        reservoir.scan(piece, state, states[: len(piece)])
        C += side[first - start : first - start + len(piece)].T @ states[: len(piece)]
    return before, C, state


def _drive_and_side(problem: Problem, series: int) -> tuple[Array, Array]:
    """What drives the reservoir, and what its states are summed against: [drive, head, targets]."""
    drive, head = problem.columns(series)
    return drive, np.concatenate([drive, head, problem.outputs[series]], axis=1)


def _columns(spectrum: Spectrum, modes: Array) -> Array:
    """The columns of some modes in the Q layout, real ones first."""
    n = spectrum.real.size
    pairs = n + 2 * np.flatnonzero(modes[n:])
    return np.concatenate([np.flatnonzero(modes[:n]), np.stack([pairs, pairs + 1], 1).ravel()])


def _only(reservoir: Reservoir, modes: Array, columns: Array) -> Reservoir:
    """The reservoir of some of the modes."""
    spectrum = reservoir.spectrum
    n = spectrum.real.size
    return Reservoir(
        Diagonal(Spectrum(spectrum.real[modes[:n]], spectrum.pairs[modes[n:]])),
        reservoir.W_in[:, columns],
        None if reservoir.bias is None else reservoir.bias[columns],
        None if reservoir.W_fb is None else reservoir.W_fb[:, columns],
    )
