"""Compiled kernels with the signatures of ``reference``.

Diagonal forms use ``modes``, several steps at a time; matrices use ``steps``, step by step. A drive
with many columns is projected to N columns by BLAS, one chunk at a time.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from eigenecho import threads
from eigenecho.kernels.compiled import modes, steps
from eigenecho.kernels.forms import Array, DiagonalForm, FeatureForm, Feedback, Form, Readout

MIN_BLAS_COLUMNS = 8
"""Number of drive columns or outputs from which BLAS on a chunk is faster than single columns."""

MAX_CHUNK_ROWS = 256
"""Largest number of rows of a chunk that BLAS works on."""

MAX_CHUNK_STATES = 1 << 15
"""Largest number of states (rows times units) of a chunk that BLAS works on.

They stay in cache between the scan and BLAS.
"""

MIN_THREADED_STATES = 1 << 20
"""Number of states (rows times units) below which starting threads costs more than it saves."""

MIN_THREAD_UNITS = 256
"""Smallest number of units per thread in memory that has already been used."""

MAX_REPLAY_THREADS = 4
"""Largest number of threads that write to fresh memory: each replays the rows before its own."""

REPLAY_STATES = 1 << 14
"""Number of states (rows times units) of the buffer for replayed rows, which stays in cache."""

REPLAY_COST = 0.5
"""Time of a replayed row, which stays in cache, relative to that of a stored one."""

TILE_UNITS = 512
"""Units per tile of a readout, whose states, weights and eigenvalues fit into the L1 cache."""

MAX_PARTIAL_OUTPUTS = 1 << 20
"""Largest number of partial outputs (tiles times rows times columns) in memory at a time."""


def step(form: Form, B: Array, drive: Array, state: Array) -> None:
    """Compute r ← r W + a B for one drive row ``a`` (D,)."""
    B, rows = _ensure_column(B, drive[None])
    steps.step(form, B, rows[0], state)


def scan(form: Form, B: Array, drive: Array, state: Array, out: Array, fresh: bool = False) -> None:
    """Write states r(1) … r(T) into ``out`` (T, N), which must be C-contiguous."""
    B, drive = _ensure_column(B, drive)
    if drive.shape[1] >= MIN_BLAS_COLUMNS:
        _scan_projected(form, B, drive, state, out)
    elif isinstance(form, DiagonalForm):
        _scan_diagonal(form, B, drive, state, out, fresh)
    else:
        steps.scan(form, B, drive, state, out, False)


def scan_readout(
    form: Form, B: Array, drive: Array, weights: Array, state: Array, out: Array
) -> None:
    """Write r(t) weightsᵀ into ``out`` (T, D_out), without storing states."""
    B, drive = _ensure_column(B, drive)
    if drive.shape[1] < MIN_BLAS_COLUMNS and len(weights) < MIN_BLAS_COLUMNS:
        if isinstance(form, DiagonalForm):
            _scan_readout_by_tiles(form, B, drive, weights, state, out)
        else:
            steps.scan_readout(form, B, drive, weights, state, out)
        return
    rows = _chunk_rows(state.size)
    states = np.empty((min(rows, len(drive)), state.size), state.dtype)
    for start in range(0, len(drive), rows):
        piece = drive[start : start + rows]
        scan(form, B, piece, state, states[: len(piece)])
        np.matmul(states[: len(piece)], weights.T, out=out[start : start + rows])


def run_closed_loop(form: Form, *arguments: Any) -> None:
    """Run with outputs fed back: r ← r W + a B + y F;  y ← offset + y previous + r weightsᵀ."""
    kind = modes if isinstance(form, DiagonalForm) else steps
    kind.run_closed_loop(form, *arguments)


def step_readout(form: Form, B: Array, drive: Array, readout: Readout, *arguments: Array) -> bool:
    """Compute row = r W + a B and y = offset + before previous + z weightsᵀ.

    Return True if y is finite.
    """
    if not len(B):
        B, drive = np.zeros((1, B.shape[1]), B.dtype), np.zeros(1, B.dtype)
    # A plain tuple is used, as numba takes longer to unbox a named tuple than to step 1000 units.
    return steps.step_readout(form, B, drive, tuple(readout), *arguments)


def run_readout(
    form: Form,
    B: Array,
    drive: Array,
    readout: Readout,
    before: Array,
    loop: Feedback | None,
    state: Array,
    out: Array,
) -> int:
    """Run ``step_readout`` on the rows of ``drive`` (T, D); return the number of valid outputs."""
    none = np.empty(0)
    start, *others = loop or Feedback(0, none, none, none, none)
    bounds = (start if len(B) else 1, *others)
    B, drive = _ensure_column(B, drive)
    return steps.run_readout(
        form, B, drive, tuple(readout), before, loop is not None, bounds, state, out
    )


def observe(features: FeatureForm, states: Array) -> Array:
    """Return the features z (T, M) of states (T, N)."""
    out = np.empty((len(states), features.size), states.dtype)
    steps.observe_rows(tuple(features), states, out)
    return out


def _chunk_rows(units: int) -> int:
    """Return the number of rows in a chunk, a power of two that divides MAX_CHUNK_ROWS."""
    rows = MAX_CHUNK_ROWS
    while rows > 8 and rows * units > MAX_CHUNK_STATES:
        rows //= 2
    return rows


def _scan_projected(form: Form, B: Array, drive: Array, state: Array, out: Array) -> None:
    """Scan a drive that BLAS projects to N columns, one chunk at a time."""
    ones = np.ones((MAX_CHUNK_ROWS, 1), out.dtype)
    rows = _chunk_rows(state.size)
    for start in range(0, len(drive), rows):
        piece, states = drive[start : start + rows], out[start : start + rows]
        if isinstance(form, DiagonalForm):
            np.matmul(piece, B, out=states)
            modes.scan_projected(form, state, states)
        else:
            steps.scan(form, piece @ B, ones[: len(piece)], state, states, True)


def _scan_diagonal(
    form: DiagonalForm, B: Array, drive: Array, state: Array, out: Array, fresh: bool
) -> None:
    """Scan modes on threads. Modes are independent, so each thread writes its own columns."""
    limit = MAX_REPLAY_THREADS if fresh else state.size // MIN_THREAD_UNITS
    parts = min(threads.thread_count(), limit)
    if parts < 2 or out.size < MIN_THREADED_STATES:
        modes.scan(form, B, drive[None], state[None], 0, out[None])
        return
    if fresh:
        _scan_replaying(form, B, drive, state, out, parts)
        return
    edges = _cut_columns(form, parts)

    def task(start: int, stop: int) -> None:
        columns = slice(start, stop)
        b = np.ascontiguousarray(B[:, columns])
        part, own = _select_modes(form, start, stop), state[None, columns]
        modes.scan(part, b, drive[None], own, start, out[None])

    threads.run(task, list(itertools.pairwise(edges)))


def _scan_replaying(
    form: DiagonalForm, B: Array, drive: Array, state: Array, out: Array, parts: int
) -> None:
    """Scan modes on threads; each writes its own rows, after replaying the earlier ones.

    Fresh memory is mapped in pages, and threads that touch the same page at the same time wait for
    each other, so they write to different pages. Earlier rows are replayed in a small buffer by the
    same code, so that the result is the same to the last bit.
    """

    def task(start: int, stop: int) -> None:
        r = state.copy()
        rows = max(8, REPLAY_STATES // r.size)
        buffer = np.empty((rows, r.size), r.dtype)
        for first in range(0, start, rows):
            piece = drive[first : min(first + rows, start)]
            modes.scan(form, B, piece[None], r[None], 0, buffer[None, : len(piece)])
        modes.scan(form, B, drive[None, start:stop], r[None], 0, out[None, start:stop])

    # Later pieces are shorter, so that all threads take equally long, including the replay.
    lengths = (1 - REPLAY_COST) ** np.arange(parts)
    shares = np.concatenate([[0], np.cumsum(lengths)]) / lengths.sum()
    edges = np.rint(len(drive) * shares).astype(int).tolist()
    threads.run(task, list(itertools.pairwise(edges)))
    state[:] = out[-1]


def _scan_readout_by_tiles(
    form: DiagonalForm, B: Array, drive: Array, weights: Array, state: Array, out: Array
) -> None:
    """Compute readouts of tiles of units on threads, and add them in order.

    The tiles do not depend on the number of threads.
    """
    if not len(weights):
        weights, out = np.zeros_like(B[:1]), np.empty((len(drive), 1), out.dtype)
    edges = _cut_columns(form, -(-state.size // TILE_UNITS))
    tiles = len(edges) - 1
    if tiles == 1:
        modes.scan_readout(form, B, drive[None], weights, state[None], out[None])
        return
    parts = [
        (
            _select_modes(form, start, stop),
            np.ascontiguousarray(B[:, start:stop]),
            np.ascontiguousarray(weights[:, start:stop]),
            state[None, start:stop],
        )
        for start, stop in itertools.pairwise(edges)
    ]
    rows = max(1, MAX_PARTIAL_OUTPUTS // (tiles * max(1, len(weights))))
    partial = np.empty((tiles, min(rows, len(drive)), len(weights)), out.dtype)
    count = threads.thread_count() if len(drive) * state.size >= MIN_THREADED_STATES else 1
    for start in range(0, len(drive), rows):
        piece = drive[start : start + rows]

        def task(first: int, last: int, piece: Array = piece) -> None:
            for tile in range(first, last):
                modes_of_tile, b, w, r = parts[tile]
                result = partial[None, tile, : len(piece)]
                modes.scan_readout(modes_of_tile, b, piece[None], w, r, result)

        threads.run(task, threads.even_split(tiles, count))
        total = out[start : start + rows]
        total[:] = partial[0, : len(piece)]
        for tile in range(1, tiles):
            total += partial[tile, : len(piece)]


def _cut_columns(form: DiagonalForm, parts: int) -> list[int]:
    """Return the edges of parts of the Q layout, which never split a pair."""
    n = form.real.size
    N = n + 2 * form.re.size
    width = -(-N // parts // 16) * 16
    inner = [edge + (edge > n and (edge - n) % 2) for edge in range(width, N, width)]
    return [0, *inner, N]


def _select_modes(form: DiagonalForm, start: int, stop: int) -> DiagonalForm:
    """Return the form of a range of columns of the Q layout."""
    n = form.real.size
    pairs = slice((max(start, n) - n) // 2, (max(stop, n) - n) // 2)
    return DiagonalForm(form.real[start:stop], form.re[pairs], form.im[pairs])


def _ensure_column(B: Array, drive: Array) -> tuple[Array, Array]:
    """Return the weights and the drive, with a column of zeros if the drive has no columns."""
    if len(B):
        return B, drive
    return np.zeros((1, B.shape[1]), B.dtype), np.zeros((len(drive), 1), B.dtype)
