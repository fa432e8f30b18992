"""Scans of whole series that compute states, or outputs without states, in parallel chunks."""

from __future__ import annotations

import math
import os
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch

from eigenecho.arrays import to_like
from eigenecho.kernels.forms import DenseForm, DiagonalForm, Form
from eigenecho.kernels.tensors import matrices
from eigenecho.kernels.tensors.modes import MAX_POWERS, ChunkTables, ComplexModes, cut, ends, starts

Tensor = Any

MAX_TOEPLITZ_ENTRIES = 1 << 24
"""Largest number of entries of the Toeplitz matrix by which a chunk is multiplied."""

MIN_CHUNK_STEPS = 16
"""Smallest number of steps of a chunk."""

MAX_LAST_STATE_CHUNK = 1024
"""Largest number of steps of a chunk if only the last state is needed."""


def scan(
    form: Form, B: Any, drive: Tensor, state: Tensor, out: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return the states r(1) … r(T) of series (…, T, D), (…, T, N), and r(T), (…, N)."""
    T = drive.shape[-2]
    if out is None:
        out = state.new_empty((*drive.shape[:-1], state.shape[-1]))
    if not T:
        return out, state.clone()
    if not isinstance(form, DiagonalForm):
        matrices.scan(_dense_matrix(form, drive), to_like(B, drive), drive, state, out)
    elif uses_triton(drive):
        _scan_fused(form, B, drive, state, out)
    else:
        _scan_chunks(form, B, drive, state, out)
    return out, out[..., -1, :].clone()


def _scan_chunks(form: DiagonalForm, B: Any, drive: Tensor, state: Tensor, out: Tensor) -> None:
    """Write states into ``out``, one step of all chunks at a time."""
    T = drive.shape[-2]
    modes, L = ComplexModes.of(form, drive), _chunk_steps(T)
    chunks, b, powers = cut(drive, L), modes.separate(to_like(B, drive)), modes.powers(L + 1)
    z = starts(powers[L], modes.separate(state), ends(b, powers, chunks))
    for k in range(min(L, T)):
        z = z * modes.values + chunks[..., k, :].to(b.dtype) @ b
        rows = out[..., k::L, :]
        modes.write(z[..., : rows.shape[-2], :], rows)


def _scan_fused(form: DiagonalForm, B: Any, drive: Tensor, state: Tensor, out: Tensor) -> None:
    """Scan with the passes of ``fused``. A drive with many columns is first projected into ``out``.

    The number of operations is small, because the host needs as much time to start an operation as
    the device needs for a million states.
    """
    fused = _load_fused()
    stack, states = (part if part.ndim == 3 else part[None] for part in (drive, out))
    (S, T, D), N, n = stack.shape, out.shape[-1], len(form.real)
    M = n + len(form.re)
    # Series of lengths up to a power of two share one table.
    most = min(fused.MAX_CHUNK_STEPS, 1 << (T - 1).bit_length(), MAX_POWERS // max(1, D * M))
    most = max(most, MIN_CHUNK_STEPS)
    L = fused.select_chunk_steps(S * T, N, most, _count_processors(drive.device))
    tables, weights = ChunkTables.of(form, B, drive, L, most), to_like(B, drive).contiguous()
    before = (T - 1) // L  # number of chunks before the last
    ended = stack[:, : before * L].reshape(S * before, L * D) @ tables.end_weights
    begun = fused.carry(tables.step, n, state, ended.view(S, before, M, 2))
    if not 0 < D <= fused.MAX_DRIVE_COLUMNS:
        torch.matmul(drive, weights, out=out)
        stack = stack[..., :0]
    fused.write((tables.a, tables.s, n), weights, stack, begun, states, L)


@cache
def _count_processors(device: Any) -> int:
    """Return the number of multiprocessors of a device; 1 for a CPU, which interprets Triton."""
    if device.type != "cuda":
        return 1
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def uses_triton(like: Tensor) -> bool:
    """Return True if Triton is available for the device of a tensor."""
    if like.device.type != "cuda" and os.environ.get("TRITON_INTERPRET") != "1":
        return False
    return _load_fused() is not None


@cache
def _load_fused() -> Any:
    """Return the module ``fused``, or None if Triton is not installed."""
    if find_spec("triton") is None:
        return None
    return import_module("eigenecho.kernels.tensors.fused")


def scan_readout(
    form: Form, B: Any, drive: Tensor, weights: Any, state: Tensor, out: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return r(t) weightsᵀ of series (…, T, D), (…, T, E), and r(T), by matrix products only.

    With chunks of L rows, the number q of a chunk, and the readout weights c of the modes,

        y(qL + k) = Re start_q λ^(k+1) c + Σ_(j ≤ k) a(qL + j) h_(k−j),   h_k = Re B λ^k c

    The first term multiplies the states before each chunk by powers of λ. The second term
    multiplies the drive by a Toeplitz matrix of the impulse response. States within a chunk are
    not computed.
    """
    B, weights = to_like(B, drive), to_like(weights, drive)
    (T, D), E = drive.shape[-2:], len(weights)
    if out is None:
        out = state.new_empty((*drive.shape[:-1], E))
    if not isinstance(form, DiagonalForm):
        W = _dense_matrix(form, drive)
        return out, matrices.scan_readout(W, B, drive, weights, state, out)
    last = state.clone()
    if not T:
        return out, last
    modes = ComplexModes.of(form, drive)
    if D * E:
        L = max(MIN_CHUNK_STEPS, min(_chunk_steps(T), math.isqrt(MAX_TOEPLITZ_ENTRIES // (D * E))))
    else:
        # If only the last state is needed, long chunks need the fewest operations. Their lengths
        # are powers of two, so that series of different lengths share tables.
        L = min(MAX_LAST_STATE_CHUNK, 1 << (T - 1).bit_length())
    chunks, b, powers = cut(drive, L), modes.separate(B), modes.powers(L + 1)
    begun = starts(powers[L], modes.separate(state), ends(b, powers, chunks))
    if E:
        c = modes.separate(weights).conj()  # r weightsᵀ = Re Σ z c
        outputs = _sum_starts(begun, powers[1:], c)
        outputs += _convolve_chunks(chunks, _impulse_response(b, powers[:L], c))
        out.copy_(outputs.reshape(*outputs.shape[:-3], -1, E)[..., :T, :])
    last_steps = T - (chunks.shape[-3] - 1) * L
    end = ends(b, powers, chunks[..., -1:, :last_steps, :])[..., 0, :]
    modes.write(begun[..., -1, :] * powers[last_steps] + end, last)
    return out, last


def _sum_starts(begun: Tensor, powers: Tensor, c: Tensor) -> Tensor:
    """Return Re start_q λ^(k+1) c, (…, C, L, E), from start_q (…, C, M) and c (E, M)."""
    weights = (powers[:, None] * c).reshape(-1, c.shape[-1])  # (L E, M)
    return _multiply_real(begun, weights).reshape(*begun.shape[:-1], len(powers), len(c))


def _impulse_response(b: Tensor, powers: Tensor, c: Tensor) -> Tensor:
    """Return h_k = Re B λ^k c for k < L, (L, D, E)."""
    driven = (powers[:, None] * b).reshape(-1, b.shape[-1])
    return _multiply_real(driven, c).reshape(len(powers), len(b), len(c))


def _multiply_real(z: Tensor, w: Tensor) -> Tensor:
    """Return Re(z wᵀ) = Re z Re wᵀ − Im z Im wᵀ as one real product."""
    return torch.cat([z.real, -z.imag], dim=-1) @ torch.cat([w.real, w.imag], dim=-1).T


def _convolve_chunks(chunks: Tensor, h: Tensor) -> Tensor:
    """Return Σ_(j ≤ k) a(j) h_(k−j), (…, C, L, E), for every chunk (…, C, L, D)."""
    L, D, E = h.shape
    steps = torch.arange(L, device=h.device)
    lag = steps[None, :] - steps[:, None]  # k − j
    matrix = h[lag.clamp(min=0)] * (lag >= 0)[..., None, None].to(h.dtype)  # (L, L, D, E)
    matrix = matrix.permute(0, 2, 1, 3).reshape(L * D, L * E)
    sums = chunks.reshape(*chunks.shape[:-2], L * D) @ matrix
    return sums.reshape(*chunks.shape[:-2], L, E)


def _dense_matrix(form: Any, like: Tensor) -> Tensor:
    """Return W (N, N) of a dense or sparse form."""
    return to_like(form.W, like) if isinstance(form, DenseForm) else matrices.to_dense(form, like)


def _chunk_steps(T: int) -> int:
    """Return the number of steps of a chunk, near √T, to balance steps and chunks."""
    return max(MIN_CHUNK_STEPS, 1 << math.ceil(math.log2(max(1, math.isqrt(T)))))
