"""Triton kernels for the passes of a scan for which torch has no operations.

``carry`` steps from chunk to chunk. ``write`` runs all chunks in parallel and writes each state
once, in the Q layout. Each lane has one column. It updates both parts of a pair, the part v that
it writes and the other part w,

    v ← a v + s w,   w ← a w − s v,   s = −Im λ in columns Re, Im λ in columns Im

so that whole rows are written, wherever the pairs begin.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

Tensor = Any

WRITE_COLUMNS = 1024
"""Number of columns that one program of ``write`` handles."""

WRITE_WARPS = 2
"""Number of warps of one program of ``write``."""

CARRY_MODES = 32
"""Number of modes that one program of ``carry`` handles."""

MAX_CHUNK_STEPS = 2048
"""Largest number of steps of a chunk."""

MIN_CHUNK_STEPS = 128
"""Smallest number of steps of a chunk."""

MAX_DRIVE_COLUMNS = 2
"""Largest number of drive columns whose weights a lane stores.

A drive with more columns is first projected to all units.
"""


def select_chunk_steps(steps: int, N: int, most: int, processors: int) -> int:
    """Return the chunk length, in steps, for which all processors write equally many chunks."""
    work = steps * -(-N // WRITE_COLUMNS)
    each = -(-work // (most * processors))
    return min(most, max(MIN_CHUNK_STEPS, -(-work // (each * processors))))


def carry(step: Tensor, n: int, state: Tensor, ended: Tensor) -> Tensor:
    """Return the states (S, C, M, 2) before C chunks.

    ``ended`` (S, C − 1, M, 2) are the states after all chunks but the last, each from state zero.
    ``step`` (M, 2) is λ^L, with ``n`` real values first, and ``state`` (S, N) is the state before
    the first chunk, in the Q layout.
    """
    S, before, M, _ = ended.shape
    begun = torch.empty((S, before + 1, M, 2), dtype=ended.dtype, device=ended.device)
    grid = (S, -(-M // CARRY_MODES))
    _carry[grid](
        step, state.contiguous(), ended, begun, before, M, n, BLOCK=CARRY_MODES, num_warps=1
    )
    return begun


def write(form_parts: tuple[Tensor, Tensor, int], b: Tensor, drive: Tensor, starts: Tensor,
          out: Tensor, L: int) -> None:  # fmt: skip
    """Write the states of series (S, T, D) into ``out`` (S, T, N).

    ``starts`` (S, C, M, 2) are the states before chunks. ``form_parts`` are a and s of all N
    columns and the number of real modes; ``b`` (D, N) are the weights of the drive. If the drive
    has no columns, ``out`` already contains the projected drive.
    """
    a, s, n = form_parts
    S, T, D = drive.shape
    N, (C, M) = len(a), starts.shape[1:3]
    # The columns of each program are shifted, so that no pair is split.
    shift = n % 2
    grid = (S * C, -(-(N + shift) // WRITE_COLUMNS))
    _write[grid](
        a, s, b, drive, starts, out,
        T, N, n, C, M, *drive.stride()[:2], *out.stride()[:2],
        L=L, D=D, SHIFT=shift, BLOCK=WRITE_COLUMNS, num_warps=WRITE_WARPS,
    )  # fmt: skip


@triton.jit
def _load_end(ended, c, before, M, m, mask):
    """Return both parts of the state after chunk c, or zeros if no chunk follows it."""
    inside = mask & (0 * m + c < before)
    end = ended + (c * M + m) * 2
    return tl.load(end, mask=inside, other=0.0), tl.load(end + 1, mask=inside, other=0.0)


@triton.jit
def _store_start(begun, c, before, M, m, mask, x, y, a, b, u, v):
    """Write the state x + iy before chunk c; return the next one, (a + ib)(x + iy) + (u + iv)."""
    inside = mask & (0 * m + c <= before)
    start = begun + (c * M + m) * 2
    tl.store(start, x, mask=inside)
    tl.store(start + 1, y, mask=inside)
    return a * x - b * y + u, a * y + b * x + v


@triton.jit
def _carry(step, state, ended, begun, before, M, n, BLOCK: tl.constexpr):
    series = tl.program_id(0).to(tl.int64)
    m = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = m < M
    a = tl.load(step + 2 * m, mask=mask, other=0.0)
    b = tl.load(step + 2 * m + 1, mask=mask, other=0.0)
    # The Q layout: n real modes, then both parts of each pair.
    part = state + series * (2 * M - n) + tl.where(m < n, m, 2 * m - n)
    x = tl.load(part, mask=mask, other=0.0)
    y = tl.load(part + 1, mask=mask & (m >= n), other=0.0)
    ended += series * before * M * 2
    begun += series * (before + 1) * M * 2
    # Eight ends are loaded at a time, because a step is short compared with the latency of memory.
    for c in range(0, before + 1, 8):
        u0, v0 = _load_end(ended, c, before, M, m, mask)
        u1, v1 = _load_end(ended, c + 1, before, M, m, mask)
        u2, v2 = _load_end(ended, c + 2, before, M, m, mask)
        u3, v3 = _load_end(ended, c + 3, before, M, m, mask)
        u4, v4 = _load_end(ended, c + 4, before, M, m, mask)
        u5, v5 = _load_end(ended, c + 5, before, M, m, mask)
        u6, v6 = _load_end(ended, c + 6, before, M, m, mask)
        u7, v7 = _load_end(ended, c + 7, before, M, m, mask)
        x, y = _store_start(begun, c, before, M, m, mask, x, y, a, b, u0, v0)
        x, y = _store_start(begun, c + 1, before, M, m, mask, x, y, a, b, u1, v1)
        x, y = _store_start(begun, c + 2, before, M, m, mask, x, y, a, b, u2, v2)
        x, y = _store_start(begun, c + 3, before, M, m, mask, x, y, a, b, u3, v3)
        x, y = _store_start(begun, c + 4, before, M, m, mask, x, y, a, b, u4, v4)
        x, y = _store_start(begun, c + 5, before, M, m, mask, x, y, a, b, u5, v5)
        x, y = _store_start(begun, c + 6, before, M, m, mask, x, y, a, b, u6, v6)
        x, y = _store_start(begun, c + 7, before, M, m, mask, x, y, a, b, u7, v7)


@triton.jit
def _write(
    a_of, s_of, b, drive, starts, out,
    T, N, n, C, M, drive_series, drive_row, out_series, out_row,
    L: tl.constexpr, D: tl.constexpr, SHIFT: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    chunk = tl.program_id(0).to(tl.int64)
    series, first = chunk // C, (chunk % C) * L
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK) - SHIFT
    mask = (j >= 0) & (j < N)
    is_real = j < n
    pair = (j - n) // 2
    mode = tl.where(is_real, j, n + pair)
    part = tl.where(is_real, 0, (j - n) % 2)
    other = tl.where(is_real, j, j + 1 - 2 * part)
    a = tl.load(a_of + j, mask=mask, other=0.0)
    s = tl.load(s_of + j, mask=mask, other=0.0)
    begin = starts + (chunk * M + mode) * 2
    v = tl.load(begin + part, mask=mask, other=0.0)
    w = tl.load(begin + 1 - part, mask=mask, other=0.0)
    if D >= 1:
        b0 = tl.load(b + j, mask=mask, other=0.0)
        c0 = tl.load(b + other, mask=mask, other=0.0)
    if D >= 2:
        b1 = tl.load(b + N + j, mask=mask, other=0.0)
        c1 = tl.load(b + N + other, mask=mask, other=0.0)
    u = drive + series * drive_series + first * drive_row
    rows = out + series * out_series + first * out_row
    for _ in range(0, tl.minimum(L, T - first).to(tl.int32)):
        x = a * v + s * w
        y = a * w - s * v
        if D == 0:
            x += tl.load(rows + j, mask=mask, other=0.0)
            y += tl.load(rows + other, mask=mask, other=0.0)
        if D >= 1:
            u0 = tl.load(u)
            x += u0 * b0
            y += u0 * c0
        if D >= 2:
            u1 = tl.load(u + 1)
            x += u1 * b1
            y += u1 * c1
        v = x
        w = y
        tl.store(rows + j, v, mask=mask)
        u += drive_row
        rows += out_row
