"""Normal equations of whole series from sums over time.

The cost is O(T N + N²) and, for a reservoir that settles within the series, O(T log T + N²).
"""

from __future__ import annotations

import numpy as np

from eigenecho.model.convolution import settling_steps
from eigenecho.model.rows import Block, Fold, Rows
from eigenecho.readout import Gram, Lags, Moments, resonant
from eigenecho.readout.lags import transform_length
from eigenecho.reservoir import Reservoir
from eigenecho.spectra import Spectrum
from eigenecho.types import Array

CHUNK_BYTES = 1 << 19
"""States that are held at a time, small enough to stay in cache."""

STEP_NS = 0.5
"""Time of one unit in one step."""

SUM_NS = 0.15
"""Time of one unit in one step, for each column it is summed against."""

SPECTRA_BYTES = 1 << 26
"""What correlations of all columns with each other may take."""

FFT_NS = 15.0
"""Time of one sample of one column in a correlation by FFT."""


def applies(rows: Rows) -> bool:
    """Whether the sums can stand for the states: eigenvalues, few of which are in resonance."""
    reservoir = rows.reservoir
    if not isinstance(reservoir.transition, Spectrum) or any(np.any(r) for r, _ in rows.starts):
        return False
    spectrum = reservoir.transition
    longest = max(map(len, rows.inputs))
    if spectrum.radius > 1 and longest * np.log(spectrum.radius) > np.log(1e3):
        return False
    columns = len(reservoir.B) + rows.head + rows.D_out
    return bool(_columns(spectrum, resonant(spectrum)).size + 2 * columns <= rows.size / 2)


def gram(rows: Rows, block: Block, known: Lags | None = None) -> Gram:
    """XᵀX and XᵀY over a block, from moments; resonant modes are summed by themselves.

    ``known`` are correlations of the same block, with at least as many lags as are needed.
    """
    reservoir = rows.reservoir
    spectrum = reservoir.transition
    if known is None and (K := lag_count(rows)) is not None:
        known = lags(rows, block, K)
    if known is None:
        total = moments(rows, block)
    else:
        enough = int(min(len(known.rho), settling_steps(reservoir.form)))
        total = known.moments(reservoir.form, reservoir.B, enough)
    statistics = total.gram(spectrum, reservoir.B, rows.D_out)
    modes = resonant(spectrum)
    if np.any(modes):
        columns = _columns(spectrum, modes)
        few = Rows(_only(reservoir, modes, columns), rows.inputs, rows.outputs, False)
        direct, _ = few.statistics(Gram, Fold(block))
        columns = columns + rows.head
        statistics.XtX[np.ix_(columns, columns)] = direct.XtX
    rows.last_state = total.stops[-1].astype(reservoir.dtype)
    return statistics


def lags(rows: Rows, block: Block, K: int) -> Lags:
    """Lagged correlations over a block, from which any reservoir's moments follow."""
    total: Lags | None = None
    for i, (start, stop) in enumerate(block):
        drive, side = _drive_and_side(rows, i)
        one = Lags.of(drive, side[start:stop], start, K)
        total = one if total is None else total.merge(one)
    assert total is not None
    return total


def moments(rows: Rows, block: Block) -> Moments:
    """Sums over a block in one run of the reservoir."""
    total: Moments | None = None
    for i, (start, stop) in enumerate(block):
        drive, side = _drive_and_side(rows, i)
        side = side[start:stop]
        before, C, state = summed(rows, i, drive[:stop], side, start)
        one = Moments(C, side.T @ side, before[None], state[None], len(side))
        total = one if total is None else total.merge(one)
    assert total is not None
    return total


def lag_count(rows: Rows) -> int | None:
    """How many lags to correlate; None where running the reservoir is cheaper."""
    K = settling_steps(rows.reservoir.form)
    steps, N = sum(map(len, rows.inputs)), rows.reservoir.units
    if min(map(len, rows.inputs)) <= K:
        return None
    D = len(rows.reservoir.B)
    E = D + rows.head + rows.D_out
    if 8 * E * D * transform_length(steps, int(K)) > SPECTRA_BYTES:
        return None
    by_lags = FFT_NS * steps * (D + E + 0.2 * D * E) + STEP_NS * K * N * (E + 2)
    by_steps = steps * N * (STEP_NS + SUM_NS * E)
    return int(K) if by_lags < by_steps else None


def summed(
    rows: Rows, series: int, drive: Array, side: Array, start: int
) -> tuple[Array, Array, Array]:
    """State before row ``start``, Σ e(t)ᵀ r(t) from there on, and the last state."""
    reservoir, state = rows.reservoir, rows.start(series)
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


def _drive_and_side(rows: Rows, series: int) -> tuple[Array, Array]:
    """What drives the reservoir, and what its states are summed against: [drive, head, targets]."""
    drive, head = rows.columns(series)
    return drive, np.concatenate([drive, head, rows.outputs[series]], axis=1)


def _columns(spectrum: Spectrum, modes: Array) -> Array:
    """The columns of some modes in the Q layout, real ones first."""
    n = spectrum.real.size
    pairs = n + 2 * np.flatnonzero(modes[n:])
    return np.concatenate([np.flatnonzero(modes[:n]), np.stack([pairs, pairs + 1], 1).ravel()])


def _only(reservoir: Reservoir, modes: Array, columns: Array) -> Reservoir:
    """The reservoir of some of the modes."""
    spectrum = reservoir.transition
    n = spectrum.real.size
    return Reservoir(
        Spectrum(spectrum.real[modes[:n]], spectrum.pairs[modes[n:]]),
        reservoir.W_in[:, columns],
        None if reservoir.bias is None else reservoir.bias[columns],
        None if reservoir.W_fb is None else reservoir.W_fb[:, columns],
    )
