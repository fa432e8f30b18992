"""Compiled kernels that count the steps at which the outputs of modes exceed thresholds.

The state of a mode is w(t) = λ w(t−1) + g u(t), with |g| = 1. Its increment needs no second scan:

    d(t) = (λ − 1) w(t−1) + g u(t),   w(t) = w(t−1) + d(t)

d is the state of the same mode driven by the increments of the series. A series starts in the
steady state of its first value u(0), w = g u(0) / (1 − λ), as if the series had always had this
value, so that d(0) = 0. With the gain g = i (1 − λ) / |1 − λ| that state is i u(0) / |1 − λ|, and
the real part of w ignores constants. An output is w or d read at a phase θ: cos θ Re − sin θ Im.

Series are passed without their level, which would leave few digits for a signal that is much
smaller. A level c adds i c / |1 − λ| to w, which is added to its outputs, and nothing to d.

The inner loops run over modes and are vectorised; the outer loops run over a few steps. Each
product and sum is rounded separately (no ``fastmath``), so that counts are identical on every CPU,
regardless of its vector width, and equal those of the same loops in single-precision NumPy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenecho.kernels.compiled.jit import jit
from eigenecho.types import Array

STEPS = 8
"""Number of steps between updates of the counts; ``_count`` unrolls the loop over them."""

LANES = 64
"""Number of lanes per block, whose states, outputs, thresholds and counts fit in the cache."""

ZERO, ROW, BLOCK = np.uint64(0), np.uint64(LANES), np.uint64((STEPS + 1) * LANES)
"""Unsigned offsets for ``_advance``: zero, the lanes of one step, and the lanes of all steps."""


class Bank(NamedTuple):
    """Modes in single precision: the forward modes, then the backward modes.

    Each mode has one lane per direction, and lanes of zeros pad their number to a multiple of
    LANES. ``numbers`` (parts, 4 · LANES) contains Re λ − 1, Im λ, Re g and Im g for LANES lanes at
    a time, and ``start`` (lanes,) contains 1 / |1 − λ|. Outputs are read at the phases given by
    ``cosines`` and ``sines`` (phases,). The input of lane k is the sum of the channels
    ``channel[edges[k] : edges[k + 1]]`` of a series, multiplied by the corresponding ``weight``.
    Lanes from index ``turn`` on run backwards.
    """

    numbers: Array
    start: Array
    turn: int
    cosines: Array
    sines: Array
    edges: Array
    channel: Array
    weight: Array


def make_bank(rates: Array, phases: int, mixes: Array) -> Bank:
    """Return the bank of modes λ − 1 = ``rates`` (modes,) with inputs ``mixes`` (2, modes, D)."""
    size, angles = np.abs(rates), np.pi * np.arange(phases) / phases
    gains = -1j * rates / size
    lanes = np.stack([rates.real, rates.imag, gains.real, gains.imag, 1 / size])
    lanes = np.pad(np.tile(lanes, 2), [(0, 0), (0, -2 * len(rates) % LANES)]).astype(np.float32)
    numbers = lanes[:4].reshape(4, -1, LANES).transpose(1, 0, 2).reshape(-1, 4 * LANES)
    weights = mixes.reshape(2 * len(rates), -1).astype(np.float32)
    lane, channel = np.nonzero(weights)
    return Bank(
        np.ascontiguousarray(numbers),
        lanes[4].copy(),
        len(rates),
        np.cos(angles).astype(np.float32),
        np.sin(angles).astype(np.float32),
        np.searchsorted(lane, np.arange(lanes.shape[1] + 1)),
        channel,
        weights[lane, channel],
    )


@jit(fastmath=False)
def _mix(series, first, steps, bank, a, u):
    """Write the inputs of the block of lanes that starts at lane ``a`` to the rows of ``u``.

    Row s contains the inputs of step ``first`` + s.
    """
    T, D = series.shape
    turn = min(max(bank.turn - a, 0), LANES)
    for s in range(steps):
        forward, backward, inputs = series[first + s], series[T - 1 - first - s], u[s]
        if D == 1:
            for k in range(turn):
                inputs[k] = forward[0]
            for k in range(turn, LANES):
                inputs[k] = backward[0]
            continue
        for k in range(LANES):
            row, total = forward if k < turn else backward, np.float32(0)
            for i in range(bank.edges[a + k], bank.edges[a + k + 1]):
                total += bank.weight[i] * row[bank.channel[i]]
            inputs[k] = total


@jit(fastmath=False)
def _begin(series, level, bank, a, u, states, offsets):
    """Initialise the last states of the block of lanes that starts at lane ``a``.

    The initial states are the steady state for the first value of the series. Im w of the level
    (1, D) is written to ``offsets`` (STEPS, LANES), once for each step.
    """
    _mix(level, 0, 1, bank, a, u)
    for k in range(LANES):
        offsets[:, k] = bank.start[a + k] * u[0, k]
    _mix(series, 0, 1, bank, a, u)
    states[:] = 0
    for k in range(LANES):
        states[1, STEPS * LANES + k] = bank.start[a + k] * u[0, k]


@jit(fastmath=False)
def _advance(numbers, u, states):
    """Advance a block of lanes by STEPS steps.

    ``numbers`` (4 · LANES,) contains the rates and gains of the lanes, and ``states`` (4 · (STEPS +
    1) · LANES,) contains Re w, Im w, Re d and Im d. On return, the first step is the previous last
    step, and the other steps are new.

    Strides are constant and indices are unsigned, so LLVM does not check for overlapping arrays or
    negative indices. These checks took longer than the steps themselves.
    """
    for k in range(ROW):
        states[k], states[BLOCK + k] = states[BLOCK - ROW + k], states[BLOCK + BLOCK - ROW + k]
    for start in range(ZERO, BLOCK - ROW, ROW):
        for k in range(ROW):
            x, y, v = states[start + k], states[BLOCK + start + k], u[start + k]
            rate_real, rate_imag = numbers[k], numbers[ROW + k]
            dx = rate_real * x - rate_imag * y + numbers[ROW + ROW + k] * v
            dy = rate_real * y + rate_imag * x + numbers[ROW + ROW + ROW + k] * v
            new = start + ROW + k
            states[new], states[BLOCK + new] = x + dx, y + dy
            states[BLOCK + BLOCK + new], states[BLOCK + BLOCK + BLOCK + new] = dx, dy


@jit(fastmath=False)
def _read(bank, states, offsets, outputs):
    """Write outputs (2 · phases, STEPS · LANES) of the new steps: first of w, then of d."""
    phases = len(bank.cosines)
    for q in range(2 * phases):
        real, imag = states[2 * (q // phases)][LANES:], states[2 * (q // phases) + 1][LANES:]
        cosine, sine, out = bank.cosines[q % phases], bank.sines[q % phases], outputs[q]
        if q < phases:
            for k in range(len(out)):
                out[k] = cosine * real[k] - sine * (imag[k] + offsets[k])
        else:
            for k in range(len(out)):
                out[k] = cosine * real[k] - sine * imag[k]


@jit(fastmath=False)
def _count(outputs, thresholds, counts):
    """Add to ``counts`` how often ``outputs`` (outputs, STEPS, lanes) exceed each threshold."""
    n = thresholds.shape[2]
    for q in range(thresholds.shape[0]):
        r0, r1, r2, r3 = outputs[q, 0], outputs[q, 1], outputs[q, 2], outputs[q, 3]
        r4, r5, r6, r7 = outputs[q, 4], outputs[q, 5], outputs[q, 6], outputs[q, 7]
        for j in range(thresholds.shape[1]):
            threshold, count = thresholds[q, j], counts[q, j]
            for k in range(n):
                b = threshold[k]
                first = np.int32(r0[k] > b) + np.int32(r1[k] > b) + np.int32(r2[k] > b)
                later = np.int32(r3[k] > b) + np.int32(r4[k] > b) + np.int32(r5[k] > b)
                count[k] += first + later + np.int32(r6[k] > b) + np.int32(r7[k] > b)


@jit(fastmath=False)
def shares_above(rows, levels, starts, bank, thresholds, out):
    """Write the fraction of steps at which each output exceeds each threshold to ``out``.

    Series i is ``rows[starts[i] : starts[i + 1]]`` (steps, D) plus ``levels[i]`` (D,), with at
    least two steps.
    ``thresholds`` (2 · phases, J, lanes) and ``out`` (series, 2 · phases, J, lanes) exclude the
    lanes of zeros. The outputs of w come first, then those of d, whose first step is excluded
    because it is always 0.
    """
    Q, J, lanes = thresholds.shape
    phases = len(bank.cosines)
    u, states = np.zeros((STEPS, LANES), np.float32), np.empty((4, (STEPS + 1) * LANES), np.float32)
    outputs, offsets = np.empty((Q, STEPS, LANES), np.float32), np.empty_like(u)
    for a in range(0, lanes, LANES):
        n, numbers = min(LANES, lanes - a), bank.numbers[a // LANES]
        limits, counts = thresholds[:, :, a : a + n].copy(), np.empty((Q, J, n), np.int32)
        for i in range(len(starts) - 1):
            series = rows[starts[i] : starts[i + 1]]
            T = len(series)
            _begin(series, levels[i : i + 1], bank, a, u, states, offsets)
            counts[:] = 0
            for t in range(0, T, STEPS):
                steps = min(STEPS, T - t)
                _mix(series, t, steps, bank, a, u)
                _advance(numbers, u.reshape(u.size), states.reshape(states.size))
                _read(bank, states, offsets.reshape(u.size), outputs.reshape(Q, STEPS * LANES))
                if steps < STEPS:  # steps after the end exceed no threshold
                    outputs[:, steps:] = -np.inf
                if t == 0:
                    outputs[phases:, 0] = -np.inf
                _count(outputs, limits, counts)
            for q in range(Q):
                total = np.float32(T if q < phases else T - 1)
                for j in range(J):
                    share, count = out[i, q, j][a : a + n], counts[q, j]
                    for k in range(n):
                        share[k] = np.float32(count[k]) / total


@jit(fastmath=False)
def sample_outputs(series, level, times, bank, out):
    """Write the outputs of all lanes at sorted times into ``out`` (times, 2 · phases, lanes).

    The series is ``series`` (steps, D) plus ``level`` (1, D).
    """
    Q, lanes = out.shape[1:]
    u, states = np.zeros((STEPS, LANES), np.float32), np.empty((4, (STEPS + 1) * LANES), np.float32)
    outputs, offsets = np.empty((Q, STEPS, LANES), np.float32), np.empty_like(u)
    for a in range(0, lanes, LANES):
        _begin(series, level, bank, a, u, states, offsets)
        i = 0
        for t in range(0, len(series), STEPS):
            _mix(series, t, min(STEPS, len(series) - t), bank, a, u)
            _advance(bank.numbers[a // LANES], u.reshape(u.size), states.reshape(states.size))
            _read(bank, states, offsets.reshape(u.size), outputs.reshape(Q, STEPS * LANES))
            while i < len(times) and times[i] < t + STEPS:
                for q in range(Q):
                    for k in range(min(LANES, lanes - a)):
                        out[i, q, a + k] = outputs[q, times[i] - t, k]
                i += 1
