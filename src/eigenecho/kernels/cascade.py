"""Whole series through a cascade, in two stages, each by a kernel of its own.

The block steps by itself. Its states at t−1 are then further drive of the modes,

    m(t) = m(t−1) Λ + [a(t), z(t−1)] [B_modes; coupling]

so that the coupling is one matrix product for a chunk of steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import numpy as np

from eigenecho.kernels.forms import Array, CascadeForm, DenseForm, DiagonalForm

CHUNK = 256
"""Steps that the block is ahead of the modes."""


def scan(
    kernels: ModuleType, form: CascadeForm, B: Array, drive: Array, state: Array, out: Array
) -> None:
    """States r(1) … r(T) into ``out`` (T, N), by the scans of a backend."""
    k = len(form.block)
    modes, B_modes = _modes(form, B)
    m = state[k:].copy()
    states = np.empty((min(CHUNK, len(drive)), m.size), m.dtype)
    for rows, z, driven in _block_stage(kernels, form, B, drive, state[:k]):
        kernels.scan(modes, B_modes, driven, m, states[: len(z)])
        out[rows, :k] = z
        out[rows, k:] = states[: len(z)]
    state[k:] = m


def scan_readout(
    kernels: ModuleType,
    form: CascadeForm,
    B: Array,
    drive: Array,
    weights: Array,
    state: Array,
    out: Array,
) -> None:
    """r(t) weightsᵀ into ``out`` (T, D_out), by the scans of a backend."""
    k = len(form.block)
    modes, B_modes = _modes(form, B)
    m = state[k:].copy()
    w = np.ascontiguousarray(weights[:, k:])
    for rows, z, driven in _block_stage(kernels, form, B, drive, state[:k]):
        kernels.scan_readout(modes, B_modes, driven, w, m, out[rows])
        out[rows] += z @ weights[:, :k].T
    state[k:] = m


def _modes(form: CascadeForm, B: Array) -> tuple[DiagonalForm, Array]:
    """The second stage: modes driven by the drive and by the block."""
    k = len(form.block)
    return DiagonalForm(form.real, form.re, form.im), np.concatenate([B[:, k:], form.coupling])


def _block_stage(
    kernels: ModuleType, form: CascadeForm, B: Array, drive: Array, state: Array
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
            kernels.scan(DenseForm(form.block), B_block, a, state, here)
            driven[1:, a.shape[1] :] = here[:-1]
        yield slice(start, start + len(a)), here, driven
