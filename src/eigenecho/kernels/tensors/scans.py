"""Scans of whole series, all chunks in parallel: states, or outputs without states."""

from __future__ import annotations

import math
import os
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch

from eigenecho.arrays import at
from eigenecho.kernels.forms import DenseForm, DiagonalForm, Form
from eigenecho.kernels.tensors import matrices
from eigenecho.kernels.tensors.modes import TABLE, Chunks, Modes, cut, ends, starts

Tensor = Any

TOEPLITZ = 1 << 24
"""Largest number of entries of the Toeplitz matrix for the drive within a chunk."""

LEAST, WHOLE = 16, 1024
"""Smallest number of steps of a chunk; and largest one if only the last state is needed."""


def scan(
    form: Form, B: Any, drive: Tensor, state: Tensor, out: Tensor, fresh: bool = False
) -> None:
    """Write states of series (…, T, D) into ``out`` (…, T, N); update ``state`` (…, N)."""
    if not isinstance(form, DiagonalForm):
        matrices.scan(_matrix(form, drive), at(B, drive), drive, state, out)
        return
    T = drive.shape[-2]
    if not T:
        return
    if by_triton(drive):
        _scan_fused(form, B, drive, state, out)
        return
    modes, L = Modes.of(form, drive), _length(T)
    chunks, b, powers = cut(drive, L), modes.apart(at(B, drive)), modes.powers(L + 1)
    z = starts(powers[L], modes.apart(state), ends(b, powers, chunks))
    for k in range(min(L, T)):
        z = z * modes.values + chunks[..., k, :].to(b.dtype) @ b
        here = out[..., k::L, :]
        modes.write(z[..., : here.shape[-2], :], here)
    state.copy_(out[..., -1, :])


def _scan_fused(form: DiagonalForm, B: Any, drive: Tensor, state: Tensor, out: Tensor) -> None:
    """Scan with the passes of ``fused``; a wide drive is projected into ``out`` first.

    It uses few operations: starting one takes the host as long as a million states take the device.
    """
    fused = _fused()
    flat, whole = (part if part.ndim == 3 else part[None] for part in (drive, out))
    (S, T, D), N, n = flat.shape, out.shape[-1], len(form.real)
    M = n + len(form.re)
    # Lengths up to a power of two share one table.
    most = max(LEAST, min(fused.LENGTH, 1 << (T - 1).bit_length(), TABLE // max(1, D * M)))
    L = fused.length(S * T, N, most, _processors(drive.device))
    known, weights = Chunks.of(form, B, drive, L, most), at(B, drive).contiguous()
    before = (T - 1) // L  # chunks that another one follows
    ended = flat[:, : before * L].reshape(S * before, L * D) @ known.adds
    begun = fused.carry(known.step, n, state, ended.view(S, before, M, 2))
    if not 0 < D <= fused.WIDE:
        torch.matmul(drive, weights, out=out)
        flat = flat[..., :0]
    fused.write((known.a, known.s, n), weights, flat, begun, whole, L)
    state.copy_(out[..., -1, :])


@cache
def _processors(device: Any) -> int:
    """Return the number of multiprocessors of a device; 1 for an interpreting CPU."""
    if device.type != "cuda":
        return 1
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def by_triton(like: Tensor) -> bool:
    """Return True if Triton is available for the device of a tensor; a CPU interprets it."""
    if like.device.type != "cuda" and os.environ.get("TRITON_INTERPRET") != "1":
        return False
    return _fused() is not None


@cache
def _fused() -> Any:
    if find_spec("triton") is None:
        return None
    return import_module("eigenecho.kernels.tensors.fused")


def scan_readout(
    form: Form, B: Any, drive: Tensor, weights: Any, state: Tensor, out: Tensor
) -> None:
    """Write r(t) weightsᵀ of series (…, T, D) into ``out`` (…, T, E), by matrix products only.

        y(cL + k) = Re start_c λ^(k+1) c + Σ_(j ≤ k) a(cL + j) h_(k−j),   h_k = Re B λ^k c

    The first term is a product of the starts with powers of λ, the second one of the drive with a
    Toeplitz matrix of the impulse response: states within a chunk are not computed.
    """
    B, weights = at(B, drive), at(weights, drive)
    if not isinstance(form, DiagonalForm):
        matrices.scan_readout(_matrix(form, drive), B, drive, weights, state, out)
        return
    (T, D), E = drive.shape[-2:], len(weights)
    if not T:
        return
    modes = Modes.of(form, drive)
    if D * E:
        L = max(LEAST, min(_length(T), math.isqrt(TOEPLITZ // (D * E))))
    else:
        # The last state alone needs the fewest operations with long chunks. Powers of two, so that
        # series of all lengths share a few tables.
        L = min(WHOLE, 1 << (T - 1).bit_length())
    chunks, b, powers = cut(drive, L), modes.apart(B), modes.powers(L + 1)
    begun = starts(powers[L], modes.apart(state), ends(b, powers, chunks))
    if E:
        c = modes.apart(weights).conj()  # r weightsᵀ = Re Σ z c
        outputs = _from_starts(begun, powers[1:], c)
        outputs += _within(chunks, _response(b, powers[:L], c))
        out.copy_(outputs.reshape(*outputs.shape[:-3], -1, E)[..., :T, :])
    left = T - (chunks.shape[-3] - 1) * L
    last = ends(b, powers, chunks[..., -1:, :left, :])[..., 0, :]
    modes.write(begun[..., -1, :] * powers[left] + last, state)


def _from_starts(begun: Tensor, powers: Tensor, c: Tensor) -> Tensor:
    """Return Re start_c λ^(k+1) c, (…, C, L, E), from starts (…, C, M) and c (E, M)."""
    ahead = (powers[:, None] * c).reshape(-1, c.shape[-1])  # (L E, M)
    # Re(z w) = Re z Re w − Im z Im w: one real product.
    joined = torch.cat([begun.real, -begun.imag], dim=-1) @ torch.cat([ahead.real, ahead.imag], 1).T
    return joined.reshape(*begun.shape[:-1], len(powers), len(c))


def _response(b: Tensor, powers: Tensor, c: Tensor) -> Tensor:
    """Return h_k = Re B λ^k c for k < L, (L, D, E)."""
    left = (powers[:, None] * b).reshape(-1, b.shape[-1])
    joined = torch.cat([left.real, -left.imag], dim=-1) @ torch.cat([c.real, c.imag], dim=-1).T
    return joined.reshape(len(powers), len(b), len(c))


def _within(chunks: Tensor, h: Tensor) -> Tensor:
    """Return Σ_(j ≤ k) a(j) h_(k−j), (…, C, L, E), in every chunk (…, C, L, D)."""
    L, D, E = h.shape
    lag = torch.arange(L, device=h.device)
    lag = lag[None, :] - lag[:, None]  # of row j to row k
    matrix = h[lag.clamp(min=0)] * (lag >= 0)[..., None, None].to(h.dtype)  # (L, L, D, E)
    matrix = matrix.permute(0, 2, 1, 3).reshape(L * D, L * E)
    sums = chunks.reshape(*chunks.shape[:-2], L * D) @ matrix
    return sums.reshape(*chunks.shape[:-2], L, E)


def _matrix(form: Any, like: Tensor) -> Tensor:
    """Return W (N, N), dense also for a sparse form."""
    return at(form.W, like) if isinstance(form, DenseForm) else matrices.dense(form, like)


def _length(T: int) -> int:
    """Return the steps of a chunk, near √T, to balance steps and chunks."""
    return max(LEAST, 1 << math.ceil(math.log2(max(1, math.isqrt(T)))))
