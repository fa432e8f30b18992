"""Compiled kernels with the signatures of ``reference``.

Diagonal forms use ``modes``, matrices use ``steps``. A drive with many columns is projected to N
columns by BLAS, one chunk at a time.
"""

from __future__ import annotations

import itertools

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

TILE_UNITS = 512
"""Units per tile of a readout, whose states, weights and eigenvalues fit into the L1 cache."""

MAX_PARTIAL_OUTPUTS = 1 << 20
"""Largest number of partial outputs (tiles times rows times columns) in memory at a time."""


def step(form: Form, B: Array, drive: Array, state: Array) -> Array:
    """Return r W + a B for one drive row ``a`` (D,)."""
    B, rows = _ensure_column(B, drive[None])
    return steps.step(form, B, rows[0], state)


def scan(
    form: Form, B: Array, drive: Array, state: Array, out: Array | None = None
) -> tuple[Array, Array]:
    """Return the states r(1) … r(T), (…, T, N), and the last one.

    They are written into ``out`` if it is given, which must be C-contiguous.
    """
    B, drive = _ensure_column(B, drive)
    projected = drive.shape[-1] >= MIN_BLAS_COLUMNS
    last = state.copy()
    states = np.empty((*drive.shape[:-1], last.shape[-1]), last.dtype) if out is None else out
    if isinstance(form, DiagonalForm) and not projected:
        modes.scan(form, B, *_as_stacks(drive, last, states))
        return states, last
    for a, r, rows in zip(*_as_stacks(drive, last, states), strict=True):
        if projected:
            _scan_projected(form, B, a, r, rows)
        else:
            steps.scan(form, B, a, r, rows, False)
    return states, last


def scan_readout(
    form: Form, B: Array, drive: Array, weights: Array, state: Array, out: Array | None = None
) -> tuple[Array, Array]:
    """Return the outputs r(t) weightsᵀ, (…, T, D_out), without storing states, and r(T)."""
    B, drive = _ensure_column(B, drive)
    projected = max(drive.shape[-1], len(weights)) >= MIN_BLAS_COLUMNS
    last, dtype = state.copy(), np.result_type(state, weights)
    outputs = np.empty((*drive.shape[:-1], len(weights)), dtype) if out is None else out
    if isinstance(form, DiagonalForm) and not projected:
        _scan_readout_by_tiles(form, B, weights, *_as_stacks(drive, last, outputs))
        return outputs, last
    for a, r, rows in zip(*_as_stacks(drive, last, outputs), strict=True):
        if projected:
            _scan_readout_by_chunks(form, B, a, weights, r, rows)
        else:
            steps.scan_readout(form, B, a, weights, r, rows)
    return outputs, last


def run_closed_loop(
    form: DiagonalForm,
    B: Array,
    drive: Array,
    feedback: Array,
    readout: Readout,
    state: Array,
    y: Array,
    noise: Array | None = None,
) -> tuple[Array, Array]:
    """Return the outputs (T, D_out) of a run in which they are fed back, and r(T)."""
    last, outputs = state.copy(), np.empty((len(drive), y.size), state.dtype)
    modes.run_closed_loop(form, B, drive, feedback, readout, last, y.copy(), noise, outputs)
    return outputs, last


def step_readout(form: Form, B: Array, drive: Array, readout: Readout, *arguments: Array) -> bool:
    """Write the next state and the output; return True if the output is finite."""
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
    noise: Array | None = None,
) -> tuple[Array, Array]:
    """Return the outputs of ``step_readout``, up to the first invalid one, and the last state."""
    none = np.empty(0)
    start, *others = loop or Feedback(0, none, none, none, none)
    bounds = (start if len(B) else 1, *others)
    B, drive = _ensure_column(B, drive)
    if loop is not None:  # its columns are filled with outputs
        drive, before = drive.copy(), before.copy()
    last, outputs = state.copy(), np.empty((len(drive), before.shape[1]), state.dtype)
    arguments = form, B, drive, tuple(readout), before, loop is not None, bounds
    return outputs[: steps.run_readout(*arguments, noise, last, outputs)], last


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


def _scan_readout_by_chunks(
    form: Form, B: Array, drive: Array, weights: Array, state: Array, out: Array
) -> None:
    """Write r(t) weightsᵀ of one series by BLAS products with the states of each chunk."""
    rows = _chunk_rows(state.size)
    states = np.empty((min(rows, len(drive)), state.size), state.dtype)
    for start in range(0, len(drive), rows):
        piece = drive[start : start + rows]
        _, state[:] = scan(form, B, piece, state, states[: len(piece)])
        np.matmul(states[: len(piece)], weights.T, out=out[start : start + rows])


def _scan_readout_by_tiles(
    form: DiagonalForm, B: Array, weights: Array, drive: Array, state: Array, out: Array
) -> None:
    """Write the outputs of several series (S, T, D), computed in tiles of units on threads.

    The outputs of tiles are added in order. Tiles do not depend on the number of threads.
    """
    (S, N), T = state.shape, drive.shape[1]
    if not len(weights):
        weights, out = np.zeros_like(B[:1]), np.empty((S, T, 1), out.dtype)
    edges = list(itertools.pairwise(_cut_columns(form, -(-N // TILE_UNITS))))
    count = threads.thread_count() if S * T * N >= MIN_THREADED_STATES else 1
    if len(edges) == 1:

        def run_series(first: int, last: int) -> None:
            some = slice(first, last)
            modes.scan_readout(form, B, drive[some], weights, state[some], out[some])

        threads.run(run_series, threads.even_split(S, count))
        return
    forms = [_select_modes(form, *edge) for edge in edges]
    parts = [[np.ascontiguousarray(x[:, slice(*e)]) for x in (B, weights, state)] for e in edges]
    # A piece is contiguous: it contains whole series, or a part of one.
    size = max(1, MAX_PARTIAL_OUTPUTS // (len(edges) * len(weights)))
    rows = max(1, min(T, size))
    series = min(S, size // rows)
    partial = np.empty((len(edges), series, rows, len(weights)), out.dtype)
    for first, start in itertools.product(range(0, S, series), range(0, T, rows)):
        some = slice(first, first + series)
        piece, total = (x[some, start : start + rows] for x in (drive, out))

        def run_tiles(begin: int, end: int, some: slice = some, piece: Array = piece) -> None:
            for k in range(begin, end):
                (b, w, r), result = parts[k], partial[k, : len(piece), : piece.shape[1]]
                modes.scan_readout(forms[k], b, piece, w, r[some], result)

        threads.run(run_tiles, threads.even_split(len(edges), count))
        total[:] = 0.0
        for result in partial[:, : len(piece), : piece.shape[1]]:
            total += result
    for edge, (*_, r) in zip(edges, parts, strict=True):
        state[:, slice(*edge)] = r


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
    return np.zeros((1, B.shape[1]), B.dtype), np.zeros((*drive.shape[:-1], 1), B.dtype)


def _as_stacks(drive: Array, state: Array, out: Array) -> tuple[Array, Array, Array]:
    """Return a drive (S, T, D), states (S, N) and results (S, T, …), also of a single series."""
    return (drive, state, out) if drive.ndim == 3 else (drive[None], state[None], out[None])
