"""Whole series through any form; a cascade in two stages, each by a kernel of its own.

The block steps by itself. Its states at t−1 are then further drive of the modes,

    m(t) = m(t−1) Λ + [a(t), z(t−1)] [B_modes; coupling]

so that the coupling is one matrix product for a chunk of steps.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eigenecho.kernels import compiled
from eigenecho.kernels.forms import Array, Cascade, Dense, Diagonal, Form

CHUNK = 256
"""Steps that the block is ahead of the modes."""


# States that overflow are for the caller to find, who can say where and why.
@np.errstate(over="ignore", invalid="ignore")
def scan(form: Form, B: Array, drive: Array, state: Array, out: Array, fresh: bool = False) -> None:
    """States r(1) … r(T) into ``out`` (T, N), which must be C-contiguous.

    ``fresh`` says that nothing was ever written there, which is a matter of speed alone.
    """
    if not isinstance(form, Cascade):
        compiled.scan(form, B, drive, state, out, fresh)
        return
    k = len(form.block)
    modes, B_modes = _modes(form, B)
    m = state[k:].copy()
    states = np.empty((min(CHUNK, len(drive)), m.size), m.dtype)
    for rows, z, driven in _block_stage(form, B, drive, state[:k]):
        compiled.scan(modes, B_modes, driven, m, states[: len(z)])
        out[rows, :k] = z
        out[rows, k:] = states[: len(z)]
    state[k:] = m


@np.errstate(over="ignore", invalid="ignore")
def scan_readout(
    form: Form, B: Array, drive: Array, weights: Array, state: Array, out: Array
) -> None:
    """r(t) weightsᵀ into ``out`` (T, D_out), no states stored; ``weights`` (D_out, N)."""
    if not isinstance(form, Cascade):
        compiled.scan_readout(form, B, drive, weights, state, out)
        return
    k = len(form.block)
    modes, B_modes = _modes(form, B)
    m = state[k:].copy()
    w = np.ascontiguousarray(weights[:, k:])
    for rows, z, driven in _block_stage(form, B, drive, state[:k]):
        compiled.scan_readout(modes, B_modes, driven, w, m, out[rows])
        out[rows] += z @ weights[:, :k].T
    state[k:] = m


def _modes(form: Cascade, B: Array) -> tuple[Diagonal, Array]:
    """The second stage: modes driven by the drive and by the block."""
    k = len(form.block)
    return Diagonal(form.real, form.re, form.im), np.concatenate([B[:, k:], form.coupling])


def _block_stage(
    form: Cascade, B: Array, drive: Array, state: Array
) -> Iterator[tuple[slice, Array, Array]]:
    """Chunks of rows, the block's states z(t) in them, and [a(t), z(t−1)]; ``state`` moves on."""
    k = len(form.block)
    B_block = np.ascontiguousarray(B[:, :k])
    z = np.empty((min(CHUNK, len(drive)), k), state.dtype)
    for start in range(0, len(drive), CHUNK):
        a = drive[start : start + CHUNK]
        here = z[: len(a)]
        driven = np.empty((len(a), a.shape[1] + k), state.dtype)
        driven[:, : a.shape[1]] = a
        if k:
            driven[0, a.shape[1] :] = state
            compiled.scan(Dense(form.block), B_block, a, state, here)
            driven[1:, a.shape[1] :] = here[:-1]
        yield slice(start, start + len(a)), here, driven
