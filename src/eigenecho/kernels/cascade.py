"""Scans of a cascade in two stages, with one kernel for each stage.

The dense block is scanned first. Its states z(t−1) are then additional columns of the drive of the
modes,

    m(t) = m(t−1) Λ + [a(t), z(t−1)] [B_modes; coupling]

so that the coupling is one matrix product for a chunk of steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from eigenecho.arrays import namespace, to_like
from eigenecho.kernels.forms import Array, CascadeForm, DenseForm, DiagonalForm

CHUNK_STEPS = 256
"""Number of steps by which the block is computed ahead of the modes, so that they stay in cache."""


def scan(
    kernels: ModuleType, form: CascadeForm, B: Array, drive: Array, state: Array, out: Array
) -> None:
    """Write states r(1) … r(T) into ``out`` (T, N), using the scans of a backend."""
    k, xp = len(form.block), namespace(drive)
    modes, B_modes = _mode_stage(form, B, drive)
    m = xp.array(state[..., k:])
    for rows, z, driven in _run_block(kernels, form, B, drive, state[..., :k]):
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
    """Write r(t) weightsᵀ into ``out`` (T, D_out), using the scans of a backend."""
    k, xp = len(form.block), namespace(drive)
    modes, B_modes = _mode_stage(form, B, drive)
    m, weights = xp.array(state[..., k:]), to_like(weights, drive)
    w = xp.ascontiguousarray(weights[:, k:])
    for rows, z, driven in _run_block(kernels, form, B, drive, state[..., :k]):
        kernels.scan_readout(modes, B_modes, driven, w, m, out[..., rows, :])
        out[..., rows, :] += z @ weights[:, :k].T
    state[..., k:] = m


def _mode_stage(form: CascadeForm, B: Array, like: Array) -> tuple[DiagonalForm, Array]:
    """Return the form of the modes, and the weights of their drive and of the block."""
    k = len(form.block)
    rows = [to_like(B, like)[:, k:], to_like(form.coupling, like)]
    return DiagonalForm(form.real, form.re, form.im), namespace(like).concatenate(rows)


def _run_block(
    kernels: ModuleType, form: CascadeForm, B: Array, drive: Array, state: Array
) -> Iterator[tuple[slice, Array, Array]]:
    """Yield chunks of rows with the states z(t) of the block and the drive [a(t), z(t−1)].

    ``state`` is updated in place.
    """
    k, (T, D), xp = len(form.block), drive.shape[-2:], namespace(drive)
    B_block = xp.ascontiguousarray(to_like(B, drive)[:, :k])
    # A device computes all steps at once.
    chunk = CHUNK_STEPS if xp.is_host else T
    for start in range(0, T, max(1, chunk)):
        a = drive[..., start : start + chunk, :]
        z = xp.empty((*a.shape[:-1], k), state.dtype)
        driven = xp.empty((*a.shape[:-1], D + k), state.dtype)
        driven[..., :D] = a
        if k:
            driven[..., 0, D:] = state
            kernels.scan(DenseForm(form.block), B_block, a, state, z)
            driven[..., 1:, D:] = z[..., :-1, :]
        yield slice(start, start + a.shape[-2]), z, driven
