"""Whole series, chunk by chunk side by side: states, or outputs without any state."""

from __future__ import annotations

import math
import os
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch

from eigenecho.arrays import at
from eigenecho.kernels.forms import DenseForm, DiagonalForm, Form, SparseForm
from eigenecho.kernels.tensors import matrices
from eigenecho.kernels.tensors.chunks import cut, ends, starts
from eigenecho.kernels.tensors.modes import Modes, weighed

Tensor = Any

TOEPLITZ = 1 << 24
"""Entries of the matrix that answers for the drive within a chunk, at most."""

LEAST, WHOLE = 16, 1024
"""Steps of a chunk, at least; and of one that nothing but the last state is wanted of."""


def scan(
    form: Form, B: Any, drive: Tensor, state: Tensor, out: Tensor, fresh: bool = False
) -> None:
    """States r(1) … r(T) of series (…, T, D) into ``out`` (…, T, N); ``state`` (…, N) moves on."""
    B = at(B, drive)
    if not isinstance(form, DiagonalForm):
        matrices.scan(_matrix(form, drive), B, drive, state, out)
        return
    modes, T = Modes.of(form, drive), drive.shape[-2]
    if not T:
        return
    if by_triton(drive):
        _scan_fused(modes, B, drive, state, out)
        return
    L = _length(T)
    chunks, b, powers = cut(drive, L), modes.apart(B), modes.powers(L + 1)
    z = starts(modes, powers[L], modes.apart(state), ends(modes, b, powers, chunks))
    for k in range(min(L, T)):
        a = chunks[..., k, :].to(b.dtype) @ b
        z = z * modes.values + a
        here = out[..., k::L, :]
        modes.write(z[..., : here.shape[-2], :], here)
    state.copy_(out[..., -1, :])


def _scan_fused(modes: Modes, B: Tensor, drive: Tensor, state: Tensor, out: Tensor) -> None:
    """The same with the passes of ``fused``; a wide drive is projected into ``out`` before."""
    fused = _fused()
    T = out.shape[-2]
    L = min(fused.LENGTH, _length(T, fused.LEAST))
    chunks, b, powers = cut(drive, L), modes.apart(B), modes.powers(L + 1)
    ended = ends(modes, b, powers, chunks).reshape(-1, chunks.shape[-3], len(modes.values))
    begun = fused.carry(powers[L], modes.apart(state).reshape(-1, len(modes.values)), ended)
    flat, whole = (part if part.ndim == 3 else part[None] for part in (drive, out))
    if not 0 < drive.shape[-1] <= fused.WIDE:
        torch.matmul(drive, B, out=out)
        flat = flat[..., :0]
    fused.write((*modes.columns(), modes.n), B.contiguous(), flat, begun, whole, L)
    state.copy_(out[..., -1, :])


def by_triton(like: Tensor) -> bool:
    """Whether Triton is there for tensors where this one is; on a CPU it is interpreted."""
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
    """r(t) weightsᵀ of series (…, T, D) into ``out`` (…, T, E), by matrix products alone.

        y(cL + k) = Re start_c λ^(k+1) c + Σ_(j ≤ k) a(cL + j) h_(k−j),   h_k = Re B λ^k c

    The first term is a product of the starts with powers of λ, the second one of the drive with a
    Toeplitz matrix of the impulse response: no state within a chunk is ever there.
    """
    B, weights = at(B, drive), at(weights, drive)
    if not isinstance(form, DiagonalForm):
        matrices.scan_readout(_matrix(form, drive), B, drive, weights, state, out)
        return
    (T, D), E = drive.shape[-2:], len(weights)
    if not T:
        return
    modes = Modes.of(form, drive)
    # The last state alone has the fewest operations without any starts in between.
    L = max(LEAST, min(_length(T), math.isqrt(TOEPLITZ // (D * E)))) if D * E else min(T, WHOLE)
    chunks, b, powers = cut(drive, L), modes.apart(B), modes.powers(L + 1)
    start = modes.apart(state)
    begun = starts(modes, powers[L], start, ends(modes, b, powers, chunks))
    if E:
        found = _from_starts(begun, powers[1:], weights, modes)
        found += _within(chunks, _response(b, powers[:L], weights, modes))
        out.copy_(found.reshape(*found.shape[:-3], -1, E)[..., :T, :])
    left = T - (chunks.shape[-3] - 1) * L
    last = ends(modes, b, powers, chunks[..., -1:, :left, :])[..., 0, :]
    modes.write(begun[..., -1, :] * powers[left] + last, state)


def _from_starts(begun: Tensor, powers: Tensor, weights: Tensor, modes: Modes) -> Tensor:
    """Re start_c λ^(k+1) c, (…, C, L, E), from starts (…, C, M)."""
    c = weighed(weights, modes)
    ahead = (powers[:, None] * c).reshape(-1, c.shape[-1])  # (L E, M)
    # Re(z w) = Re z Re w − Im z Im w: one real product.
    joined = torch.cat([begun.real, -begun.imag], dim=-1) @ torch.cat([ahead.real, ahead.imag], 1).T
    return joined.reshape(*begun.shape[:-1], len(powers), len(c))


def _response(b: Tensor, powers: Tensor, weights: Tensor, modes: Modes) -> Tensor:
    """h_k = Re B λ^k c for k < L, (L, D, E)."""
    c = weighed(weights, modes)
    left = (powers[:, None] * b).reshape(-1, b.shape[-1])
    joined = torch.cat([left.real, -left.imag], dim=-1) @ torch.cat([c.real, c.imag], dim=-1).T
    return joined.reshape(len(powers), len(b), len(c))


def _within(chunks: Tensor, h: Tensor) -> Tensor:
    """Σ_(j ≤ k) a(j) h_(k−j) in every chunk (…, C, L, D), (…, C, L, E)."""
    L, D, E = h.shape
    lag = torch.arange(L, device=h.device)
    lag = lag[None, :] - lag[:, None]  # of row j to row k
    matrix = h[lag.clamp(min=0)] * (lag >= 0)[..., None, None].to(h.dtype)  # (L, L, D, E)
    matrix = matrix.permute(0, 2, 1, 3).reshape(L * D, L * E)
    found = chunks.reshape(*chunks.shape[:-2], L * D) @ matrix
    return found.reshape(*chunks.shape[:-2], L, E)


def _matrix(form: Form, like: Tensor) -> Tensor:
    """W (N, N); a sparse one is as good as dense to a device."""
    if isinstance(form, DenseForm):
        return at(form.W, like)
    if isinstance(form, SparseForm):
        return matrices.dense(form, like)
    raise TypeError(f"there is no step for {type(form).__name__} here: stages come one by one.")


def _length(T: int, least: int = LEAST) -> int:
    """Steps of a chunk, near √T: as many side by side as one after the other."""
    return max(least, 1 << math.ceil(math.log2(max(1, math.isqrt(T)))))
