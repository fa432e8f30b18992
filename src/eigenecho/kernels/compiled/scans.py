"""The kernels of ``reference``, compiled, with the same signatures.

Eigenvalues use ``modes``, several steps at a time; matrices use ``steps``, step by step. A wide
drive is projected to N columns by BLAS, a chunk at a time.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from eigenecho import threads
from eigenecho.kernels.compiled import modes, steps
from eigenecho.kernels.forms import Array, DiagonalForm, Form, Loop, Readout

WIDE = 8
"""Drive columns or outputs from which BLAS on a chunk is faster than single columns."""

CHUNK = 256
"""Largest number of rows of a wide drive that are projected at a time."""

CHUNK_SIZE = 1 << 15
"""States (rows times units) in a chunk between a scan and BLAS, which stay in cache."""

WORTH_THREADS = 1 << 20
"""States (rows times units) below which starting threads costs more than it saves."""

SHARE = modes.LONG
"""Smallest number of units that a thread stores, in memory that is in use."""

MOST = 4
"""Largest number of threads that share fresh memory: each replays the rows before its part."""

REPLAY = 1 << 14
"""States (rows times units) of the buffer for replayed rows."""

REPLAY_COST = 0.5
"""Time of a replayed row, which stays in cache, relative to a stored one."""

TILE = 512
"""Units whose states, weights and eigenvalues fit into the first-level cache of a readout."""

PARTIAL = 1 << 20
"""Partial outputs (tiles times rows times columns) in memory at a time."""


def step(form: Form, B: Array, drive: Array, state: Array) -> None:
    """Compute r ← r W + a B for one drive row ``a`` (D,)."""
    B, rows = _at_least_one_column(B, drive[None])
    steps.step(form, B, rows[0], state)


def scan(form: Form, B: Array, drive: Array, state: Array, out: Array, fresh: bool = False) -> None:
    """Write states r(1) … r(T) into ``out`` (T, N), which must be C-contiguous."""
    B, drive = _at_least_one_column(B, drive)
    if drive.shape[1] >= WIDE:
        _scan_projected(form, B, drive, state, out)
    elif isinstance(form, DiagonalForm):
        _scan_diagonal(form, B, drive, state, out, fresh)
    else:
        steps.scan(form, B, drive, state, out, False)


def scan_readout(
    form: Form, B: Array, drive: Array, weights: Array, state: Array, out: Array
) -> None:
    """Write r(t) weightsᵀ into ``out`` (T, D_out), without storing states."""
    B, drive = _at_least_one_column(B, drive)
    if drive.shape[1] < WIDE and len(weights) < WIDE:
        if isinstance(form, DiagonalForm):
            _readout_by_tiles(form, B, drive, weights, state, out)
        else:
            steps.scan_readout(form, B, drive, weights, state, out)
        return
    rows = _chunk_rows(state.size)
    states = np.empty((min(rows, len(drive)), state.size), state.dtype)
    for start in range(0, len(drive), rows):
        piece = drive[start : start + rows]
        scan(form, B, piece, state, states[: len(piece)])
        np.matmul(states[: len(piece)], weights.T, out=out[start : start + rows])


def closed_loop(form: Form, *given: Any) -> None:
    """Run with outputs fed back: r ← r W + a B + y F;  y ← offset + y previous + r weightsᵀ."""
    kind = modes if isinstance(form, DiagonalForm) else steps
    kind.closed_loop(form, *given)


def step_readout(form: Form, B: Array, drive: Array, readout: Readout, *given: Array) -> bool:
    """Compute row = r W + a B and y = offset + before previous + row weightsᵀ.

    Return True if y is finite.
    """
    if not len(B):
        B, drive = np.zeros((1, B.shape[1]), B.dtype), np.zeros(1, B.dtype)
    # A plain tuple, because numba takes longer to unbox a named one than to step 1000 units.
    return steps.step_readout(form, B, drive, tuple(readout), *given)


def run_readout(
    form: Form,
    B: Array,
    drive: Array,
    readout: Readout,
    before: Array,
    loop: Loop | None,
    state: Array,
    out: Array,
) -> int:
    """Run ``step_readout`` on the rows of ``drive`` (T, D); return how many are finite."""
    none = np.empty(0)
    start, mean, scale = loop or (0, none, none)
    start = start if len(B) else 1
    B, drive = _at_least_one_column(B, drive)
    return steps.run_readout(
        form, B, drive, tuple(readout), before, loop is not None, start, mean, scale, state, out
    )


def _chunk_rows(units: int) -> int:
    """Return the rows of a chunk, a power of two, so that cuts at multiples of CHUNK agree."""
    rows = CHUNK
    while rows > modes.STEPS and rows * units > CHUNK_SIZE:
        rows //= 2
    return rows


def _scan_projected(form: Form, B: Array, drive: Array, state: Array, out: Array) -> None:
    ones = np.ones((CHUNK, 1), out.dtype)
    rows = _chunk_rows(state.size)
    for start in range(0, len(drive), rows):
        piece, states = drive[start : start + rows], out[start : start + rows]
        if isinstance(form, DiagonalForm):
            np.matmul(piece, B, out=states)
            modes.scan(form, B[:0], piece, state, 0, states)
        else:
            steps.scan(form, piece @ B, ones[: len(piece)], state, states, True)


def _scan_diagonal(
    form: DiagonalForm, B: Array, drive: Array, state: Array, out: Array, fresh: bool
) -> None:
    """Scan modes; each thread writes its own columns, because modes are independent."""
    parts = min(threads.thread_count(), MOST if fresh else state.size // SHARE)
    if parts < 2 or out.size < WORTH_THREADS:
        modes.scan(form, B, drive, state, 0, out)
        return
    if fresh:
        _scan_replaying(form, B, drive, state, out, parts)
        return
    edges = _edges(form, parts)

    def task(start: int, stop: int) -> None:
        columns = slice(start, stop)
        b = np.ascontiguousarray(B[:, columns])
        modes.scan(_modes(form, start, stop), b, drive, state[columns], start, out)

    threads.run(task, list(itertools.pairwise(edges)))


def _scan_replaying(
    form: DiagonalForm, B: Array, drive: Array, state: Array, out: Array, parts: int
) -> None:
    """Scan modes; each thread writes its own rows, after replaying earlier ones in a small buffer.

    New memory is mapped in pages, and two threads that touch the same page at once both wait for
    it, so threads have no pages in common. The same code gives the same bits.
    """

    def task(start: int, stop: int) -> None:
        r = state.copy()
        rows = max(modes.STEPS, REPLAY // r.size)
        buffer = np.empty((rows, r.size), r.dtype)
        for first in range(0, start, rows):
            piece = drive[first : min(first + rows, start)]
            modes.scan(form, B, piece, r, 0, buffer[: len(piece)])
        modes.scan(form, B, drive[start:stop], r, 0, out[start:stop])

    # Later pieces are shorter, so that all take equally long including their replay.
    lengths = (1 - REPLAY_COST) ** np.arange(parts)
    shares = np.concatenate([[0], np.cumsum(lengths)]) / lengths.sum()
    edges = np.rint(len(drive) * shares).astype(int).tolist()
    threads.run(task, list(itertools.pairwise(edges)))
    state[:] = out[-1]


def _readout_by_tiles(
    form: DiagonalForm, B: Array, drive: Array, weights: Array, state: Array, out: Array
) -> None:
    """Add up readouts of tiles of units in order, with the same tiles for any number of threads."""
    alone = len(B) == 1 and len(weights) < 2
    if alone and not len(weights):
        weights, out = np.zeros_like(B), np.empty((len(drive), 1), out.dtype)
    readout = modes.scan_sum if alone else modes.scan_dots
    edges = _edges(form, -(-state.size // TILE))
    tiles = len(edges) - 1
    if tiles == 1:
        readout(form, B, drive, weights, state, out)
        return
    parts = [
        (
            _modes(form, start, stop),
            np.ascontiguousarray(B[:, start:stop]),
            np.ascontiguousarray(weights[:, start:stop]),
            state[start:stop],
        )
        for start, stop in itertools.pairwise(edges)
    ]
    rows = max(1, PARTIAL // (tiles * max(1, len(weights))))
    partial = np.empty((tiles, min(rows, len(drive)), len(weights)), out.dtype)
    count = threads.thread_count() if len(drive) * state.size >= WORTH_THREADS else 1
    for start in range(0, len(drive), rows):
        piece = drive[start : start + rows]

        def task(first: int, last: int, piece: Array = piece) -> None:
            for tile in range(first, last):
                some, b, w, r = parts[tile]
                readout(some, b, piece, w, r, partial[tile, : len(piece)])

        threads.run(task, threads.even_split(tiles, count))
        total = out[start : start + rows]
        total[:] = partial[0, : len(piece)]
        for tile in range(1, tiles):
            total += partial[tile, : len(piece)]


def _edges(form: DiagonalForm, parts: int) -> list[int]:
    """Return the columns at which to cut the Q layout into parts, never within a pair."""
    n = form.real.size
    N = n + 2 * form.re.size
    width = -(-N // parts // 16) * 16
    inner = [edge + (edge > n and (edge - n) % 2) for edge in range(width, N, width)]
    return [0, *inner, N]


def _modes(form: DiagonalForm, start: int, stop: int) -> DiagonalForm:
    """Return a range of columns as a form."""
    n = form.real.size
    pairs = slice((max(start, n) - n) // 2, (max(stop, n) - n) // 2)
    return DiagonalForm(form.real[start:stop], form.re[pairs], form.im[pairs])


def _at_least_one_column(B: Array, drive: Array) -> tuple[Array, Array]:
    if len(B):
        return B, drive
    return np.zeros((1, B.shape[1]), B.dtype), np.zeros((len(drive), 1), B.dtype)
