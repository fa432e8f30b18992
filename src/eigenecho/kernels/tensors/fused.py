"""The passes of a scan that torch has no operations for, in Triton.

``carry`` steps from chunk to chunk, ``write`` runs all chunks in parallel and writes each state
once, in the Q layout. Each lane has one column: it steps both parts of a pair, v the part that it
writes and w the other one,

    v ← a v + s w,   w ← a w − s v,   s = −Im λ in columns Re, Im λ in columns Im

so that rows are written whole, wherever the pairs begin.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

Tensor = Any

COLUMNS = 1024
"""Columns of a program that writes."""

WARPS = 2
"""Warps of a program that writes."""

MODES = 32
"""Modes of a program that carries."""

LENGTH, LEAST = 2048, 128
"""Steps of a chunk, at most and at least."""

WIDE = 2
"""Drive columns whose weights a lane stores; more are projected to all units first."""


def length(steps: int, N: int, most: int, processors: int) -> int:
    """Return the steps of a chunk with which every processor writes equally many chunks."""
    work = steps * -(-N // COLUMNS)
    each = -(-work // (most * processors))
    return min(most, max(LEAST, -(-work // (each * processors))))


def carry(step: Tensor, n: int, state: Tensor, ended: Tensor) -> Tensor:
    """Return states (S, C, M, 2) before C chunks, from the ends (S, C − 1, M, 2) of the others.

    Ends are those of chunks that begin at zero. ``step`` (M, 2) is λ^L, whose first ``n`` are
    real, and ``state`` (S, N) the state before the first chunk, in the Q layout.
    """
    S, before, M, _ = ended.shape
    begun = torch.empty((S, before + 1, M, 2), dtype=ended.dtype, device=ended.device)
    grid = (S, -(-M // MODES))
    _carry[grid](step, state.contiguous(), ended, begun, before, M, n, BLOCK=MODES, num_warps=1)
    return begun


def write(form_parts: tuple[Tensor, Tensor, int], b: Tensor, drive: Tensor, starts: Tensor,
          out: Tensor, L: int) -> None:  # fmt: skip
    """Write states of series (S, T, D) into ``out`` (S, T, N), from states (S, C, M, 2).

    The latter are the states before chunks. ``form_parts`` are a and s of all N columns and the
    number of real modes; ``b`` (D, N) are the weights of the drive. If the drive has no columns,
    ``out`` holds the projected drive.
    """
    a, s, n = form_parts
    S, T, D = drive.shape
    N, (C, M) = len(a), starts.shape[1:3]
    # A block never splits a pair.
    shift = n % 2
    grid = (S * C, -(-(N + shift) // COLUMNS))
    _write[grid](
        a, s, b, drive, starts, out,
        T, N, n, C, M, *drive.stride()[:2], *out.stride()[:2],
        L=L, D=D, SHIFT=shift, BLOCK=COLUMNS, num_warps=WARPS,
    )  # fmt: skip


@triton.jit
def _part(ended, c, before, M, m, mask):
    here = mask & (0 * m + c < before)
    at = (c * M + m) * 2
    return tl.load(ended + at, mask=here, other=0.0), tl.load(ended + at + 1, mask=here, other=0.0)


@triton.jit
def _begin(begun, c, before, M, m, mask, x, y, a, b, u, v):
    """Write the state x + iy before a chunk, and step to the next one by λ^L = a + ib."""
    here = mask & (0 * m + c <= before)
    at = (c * M + m) * 2
    tl.store(begun + at, x, mask=here)
    tl.store(begun + at + 1, y, mask=here)
    return a * x - b * y + u, a * y + b * x + v


@triton.jit
def _carry(step, state, ended, begun, before, M, n, BLOCK: tl.constexpr):
    series = tl.program_id(0).to(tl.int64)
    m = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = m < M
    a = tl.load(step + 2 * m, mask=mask, other=0.0)
    b = tl.load(step + 2 * m + 1, mask=mask, other=0.0)
    # The Q layout: n real modes, then both parts of each pair.
    at = state + series * (2 * M - n) + tl.where(m < n, m, 2 * m - n)
    x = tl.load(at, mask=mask, other=0.0)
    y = tl.load(at + 1, mask=mask & (m >= n), other=0.0)
    ended += series * before * M * 2
    begun += series * (before + 1) * M * 2
    # Eight ends are loaded at a time, because a step is short compared with the memory latency.
    for c in range(0, before + 1, 8):
        u0, v0 = _part(ended, c, before, M, m, mask)
        u1, v1 = _part(ended, c + 1, before, M, m, mask)
        u2, v2 = _part(ended, c + 2, before, M, m, mask)
        u3, v3 = _part(ended, c + 3, before, M, m, mask)
        u4, v4 = _part(ended, c + 4, before, M, m, mask)
        u5, v5 = _part(ended, c + 5, before, M, m, mask)
        u6, v6 = _part(ended, c + 6, before, M, m, mask)
        u7, v7 = _part(ended, c + 7, before, M, m, mask)
        x, y = _begin(begun, c, before, M, m, mask, x, y, a, b, u0, v0)
        x, y = _begin(begun, c + 1, before, M, m, mask, x, y, a, b, u1, v1)
        x, y = _begin(begun, c + 2, before, M, m, mask, x, y, a, b, u2, v2)
        x, y = _begin(begun, c + 3, before, M, m, mask, x, y, a, b, u3, v3)
        x, y = _begin(begun, c + 4, before, M, m, mask, x, y, a, b, u4, v4)
        x, y = _begin(begun, c + 5, before, M, m, mask, x, y, a, b, u5, v5)
        x, y = _begin(begun, c + 6, before, M, m, mask, x, y, a, b, u6, v6)
        x, y = _begin(begun, c + 7, before, M, m, mask, x, y, a, b, u7, v7)


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
