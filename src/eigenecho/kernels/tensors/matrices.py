"""Scans with a matrix W. Each step is one matrix product for all chunks of a series.

The states between chunks of L steps follow from W^L, computed by repeated squaring.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from eigenecho.arrays import namespace
from eigenecho.kernels.forms import SparseForm
from eigenecho.kernels.tensors.modes import cut

Tensor = Any

MAX_STORED_STATES = 1 << 26
"""Largest number of states that a readout stores at a time: 512 MiB in double precision."""


def to_dense(form: SparseForm, like: Tensor) -> Tensor:
    """Return W (N, N) of a sparse form, on the device and in the precision of ``like``."""
    N = len(form.indptr) - 1
    indptr = form.indptr.astype(np.int64)
    columns = np.repeat(np.arange(N), indptr[1:] - indptr[:-1])
    xp = namespace(like)
    indices = (xp.asarray(index) for index in (form.indices.astype(np.int64), columns))
    W = torch.zeros((N, N), dtype=like.dtype, device=like.device)
    return W.index_put_(tuple(indices), xp.asarray(form.data, like.dtype), accumulate=True)


def scan(W: Tensor, B: Tensor, drive: Tensor, state: Tensor, out: Tensor) -> None:
    """Write states of series (…, T, D) into ``out`` (…, T, N)."""
    L = max(1, math.isqrt(drive.shape[-2]))
    driven = cut(drive, L) @ B  # (…, C, L, N)
    r = _chunk_starts(W, driven, state)
    for k in range(L):
        r = r @ W + driven[..., k, :]
        rows = out[..., k::L, :]
        rows.copy_(r[..., : rows.shape[-2], :])


def scan_readout(
    W: Tensor, B: Tensor, drive: Tensor, weights: Tensor, state: Tensor, out: Tensor
) -> Tensor:
    """Write r(t) weightsᵀ into ``out`` (…, T, E), in blocks of states; return r(T)."""
    T, N = drive.shape[-2], len(W)
    count = max(1, MAX_STORED_STATES // (N * max(1, state[..., 0].numel())))
    for first in range(0, T, count):
        piece = drive[..., first : first + count, :]
        states = torch.empty((*piece.shape[:-1], N), dtype=drive.dtype, device=drive.device)
        scan(W, B, piece, state, states)
        out[..., first : first + count, :] = states @ weights.T
        state = states[..., -1, :]
    return state.clone()


def _chunk_starts(W: Tensor, driven: Tensor, state: Tensor) -> Tensor:
    """Return the states (…, C, N) before chunks, from their projected drive (…, C, L, N)."""
    C, L = driven.shape[-3:-1]
    ended = torch.zeros_like(driven[..., :-1, 0, :])
    for k in range(L):
        ended = ended @ W + driven[..., :-1, k, :]
    across, r, starts = torch.linalg.matrix_power(W, L), state, [state]
    for c in range(C - 1):
        r = r @ across + ended[..., c, :]
        starts.append(r)
    return torch.stack(starts, dim=-2)
