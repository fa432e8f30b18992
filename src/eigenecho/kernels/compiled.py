"""The kernels of ``reference``, compiled: the same signatures, the same answers.

The first drive column rides along with the step, the others are added to a row that is still
in cache. A wide drive is projected to N columns by BLAS, a chunk at a time, and then rides
along as a row of its own with weight 1.
"""

from __future__ import annotations

import numpy as np

from eigenecho.kernels import loops, threads
from eigenecho.kernels.forms import Array, Diagonal, Form, Readout

WIDE = 8
"""Drive columns or outputs from which BLAS on a chunk beats going through them one by one."""

CHUNK = 256
"""Rows of a wide drive that are projected at a time."""

WORTH_THREADS = 1 << 20
"""States (rows times units) below which starting threads costs more than it saves."""

REPLAY = 1 << 15
"""States (rows times units) of the buffer in which a thread replays what comes before its part."""

REPLAY_COST = 0.4
"""Time of a replayed row, which stays in cache, over that of a stored one."""


def step(form: Form, B: Array, drive: Array, state: Array) -> None:
    """R ← r W + a B for one drive row ``a`` (D,)."""
    B, rows = _at_least_one_column(B, drive[None])
    loops.step(form, B, rows[0], state)


def scan(form: Form, B: Array, drive: Array, state: Array, out: Array) -> None:
    """States r(1) … r(T) into ``out`` (T, N), which must be C-contiguous."""
    B, drive = _at_least_one_column(B, drive)
    if drive.shape[1] < WIDE:
        _scan_any(form, B, drive, state, out)
        return
    one = np.ones((min(CHUNK, len(drive)), 1), dtype=out.dtype)
    for start in range(0, len(drive), CHUNK):
        rows = slice(start, start + CHUNK)
        projected = drive[rows] @ B
        _scan_any(form, projected, one[: len(projected)], state, out[rows], True)


def scan_readout(
    form: Form, B: Array, drive: Array, weights: Array, state: Array, out: Array
) -> None:
    """r(t) weightsᵀ into ``out`` (T, D_out), no states stored; ``weights`` (D_out, N)."""
    B, drive = _at_least_one_column(B, drive)
    if drive.shape[1] < WIDE and len(weights) < WIDE:
        loops.scan_readout(form, B, drive, weights, state, out)
        return
    states = np.empty((min(CHUNK, len(drive)), state.size), state.dtype)
    for start in range(0, len(drive), CHUNK):
        rows = slice(start, start + CHUNK)
        scan(form, B, drive[rows], state, states[: len(out[rows])])
        np.matmul(states[: len(out[rows])], weights.T, out=out[rows])


def closed_loop(
    form: Form,
    B: Array,
    drive: Array,
    feedback: Array,
    readout: Readout,
    state: Array,
    y: Array,
    out: Array,
) -> None:
    """Outputs fed back: r ← r W + a B + y F;  y ← offset + y previous + r weightsᵀ."""
    loops.closed_loop(form, B, drive, feedback, readout, state, y, out)


def step_readout(
    form: Form,
    B: Array,
    drive: Array,
    readout: Readout,
    before: Array,
    state: Array,
    row: Array,
    y: Array,
) -> bool:
    """Row = r W + a B and y = offset + before previous + row weightsᵀ; whether y is finite."""
    if not len(B):
        B, drive = np.zeros((1, state.size), B.dtype), np.zeros(1, B.dtype)
    # A plain tuple: numba takes longer to recognise a named one than to step 1000 units.
    return loops.step_readout(form, B, drive, tuple(readout), before, state, row, y)


def absorb_row(R: Array, Z: Array, keep: float, x: Array, y: Array) -> None:
    """[R Z] ← the triangle of [keep R, keep Z; x y]; ``x`` (N',) and ``y`` (D_out,) are used up."""
    loops.absorb_row(R, Z, keep, x, y)


def back_substitute(R: Array, Z: Array, W: Array) -> None:
    """R Wᵀ = Z into ``W`` (D_out, N'); zero where the diagonal is."""
    loops.back_substitute(R, Z, W)


def _scan_any(
    form: Form, B: Array, drive: Array, state: Array, out: Array, projected: bool = False
) -> None:
    if len(drive) == 0:
        return
    parts = min(threads.thread_count(), 4)
    if projected or parts == 1 or out.size < WORTH_THREADS or not isinstance(form, Diagonal):
        loops.scan(form, B, drive, state, out, projected)
        return

    # Storing is bound by memory, stepping is not. So each thread writes rows of its own, after
    # replaying the rows before them in a small buffer: the same code gives the same bits.
    def task(start: int, stop: int) -> None:
        r = state.copy()
        rows = max(1, REPLAY // r.size)
        buffer = np.empty((rows, r.size), r.dtype)
        for first in range(0, start, rows):
            piece = drive[first : min(first + rows, start)]
            loops.scan(form, B, piece, r, buffer[: len(piece)], False)
        loops.scan(form, B, drive[start:stop], r, out[start:stop], False)

    threads.run(task, _uneven_split(len(drive), parts))
    state[:] = out[-1]


def _uneven_split(count: int, parts: int) -> list[tuple[int, int]]:
    """Contiguous pieces, later ones shorter, for threads that replay what precedes theirs.

    Equal times: replay s_k + (s_{k+1} − s_k) is the same for all k.
    """
    lengths = (1 - REPLAY_COST) ** np.arange(parts)
    edges = np.rint(count * np.concatenate([[0], np.cumsum(lengths)]) / lengths.sum()).astype(int)
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def _at_least_one_column(B: Array, drive: Array) -> tuple[Array, Array]:
    if len(B):
        return B, drive
    return np.zeros((1, B.shape[1]), B.dtype), np.zeros((len(drive), 1), B.dtype)
