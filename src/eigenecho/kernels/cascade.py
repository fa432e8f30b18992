"""Whole series through a cascade, in two stages, each by a kernel of its own.

The block is scanned first. Its states at t−1 are then additional drive of the modes,

    m(t) = m(t−1) Λ + [a(t), z(t−1)] [B_modes; coupling]

so that the coupling is one matrix product for a chunk of steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from eigenecho.arrays import at, namespace
from eigenecho.kernels.forms import Array, CascadeForm, DenseForm, DiagonalForm

CHUNK = 256
"""Steps that the block is computed ahead of the modes."""


def scan(
    kernels: ModuleType, form: CascadeForm, B: Array, drive: Array, state: Array, out: Array
) -> None:
    """Write states r(1) … r(T) into ``out`` (T, N), by the scans of a backend."""
    k, xp = len(form.block), namespace(drive)
    modes, B_modes = _modes(form, B, drive)
    m = xp.array(state[..., k:])
    for rows, z, driven in _block_stage(kernels, form, B, drive, state[..., :k]):
        states = xp.empty((*driven.shape[:-1], m.shape[-1]), m.dtype)
        kernels.scan(modes, B_modes, driven, m, states)
        out[..., rows, :k] = z
        out[..., rows, k:] = states
    state[..., k:] = m


def scan_readout(
    kernels: ModuleType,
    form: CascadeForm,
    B: Array,
    drive: Array,
    weights: Array,
    state: Array,
    out: Array,
) -> None:
    """Write r(t) weightsᵀ into ``out`` (T, D_out), by the scans of a backend."""
    k, xp = len(form.block), namespace(drive)
    modes, B_modes = _modes(form, B, drive)
    m, weights = xp.array(state[..., k:]), at(weights, drive)
    w = xp.ascontiguousarray(weights[:, k:])
    for rows, z, driven in _block_stage(kernels, form, B, drive, state[..., :k]):
        kernels.scan_readout(modes, B_modes, driven, w, m, out[..., rows, :])
        out[..., rows, :] += z @ weights[:, :k].T
    state[..., k:] = m


def _modes(form: CascadeForm, B: Array, like: Array) -> tuple[DiagonalForm, Array]:
    """Return the second stage: modes driven by the drive and by the block."""
    k = len(form.block)
    rows = [at(B, like)[:, k:], at(form.coupling, like)]
    return DiagonalForm(form.real, form.re, form.im), namespace(like).concatenate(rows)


def _block_stage(
    kernels: ModuleType, form: CascadeForm, B: Array, drive: Array, state: Array
) -> Iterator[tuple[slice, Array, Array]]:
    """Yield chunks of rows, the block's states z(t) and [a(t), z(t−1)]; update ``state``."""
    k, (T, D), xp = len(form.block), drive.shape[-2:], namespace(drive)
    B_block = xp.ascontiguousarray(at(B, drive)[:, :k])
    # A device computes all steps at once.
    chunk = CHUNK if xp.is_host else T
    for start in range(0, T, max(1, chunk)):
        a = drive[..., start : start + chunk, :]
        here = xp.empty((*a.shape[:-1], k), state.dtype)
        driven = xp.empty((*a.shape[:-1], D + k), state.dtype)
        driven[..., :D] = a
        if k:
            driven[..., 0, D:] = state
            kernels.scan(DenseForm(form.block), B_block, a, state, here)
            driven[..., 1:, D:] = here[..., :-1, :]
        yield slice(start, start + a.shape[-2]), here, driven
