"""Outputs by convolution, at a cost per step that does not depend on the number of units.

Without feedback a linear network is its impulse response: with h_k = Σ_i B_i λ_i^k W_out,i,

    r(t) W_out = Σ_k a(t−k) h_k

and a response that decays below rounding is as good as a finite one. Blocks of outputs come from
blocks of the drive that begin one response earlier (overlap-save).
"""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np

from eigenecho import threads
from eigenecho.arrays import kept, namespace
from eigenecho.kernels.forms import DiagonalForm, Form
from eigenecho.progress import Progress
from eigenecho.types import Array

ROUNDING = 1e-18
"""Size of an impulse, over its first value, at which the response ends."""

UNEVEN = 1e4
"""Largest value of a column, over the largest value of its quietest stretch, for a convolution."""

STRETCH = 1024
"""Steps of a stretch."""

BLOCK = 1 << 14
"""Smallest length of a transform."""

RESPONSES = 8
"""Smallest length of a transform in responses: overlaps are computed twice."""


def settling_steps(form: Form) -> float:
    """Return the steps after which an impulse has decayed; infinite for a radius of 1 or more."""
    if not isinstance(form, DiagonalForm):
        return math.inf
    radius = max(np.abs(form.real).max(initial=0.0), np.hypot(form.re, form.im).max(initial=0.0))
    if radius >= 1 - 1e-9:
        return math.inf
    return max(1, math.ceil(math.log(ROUNDING) / math.log(radius))) if radius > 1e-9 else 2


def is_even(drive: Array) -> bool:
    """Return True if no stretch is far quieter than others: FFT spreads rounding of loud steps."""
    (T, D), xp = drive.shape[-2:], namespace(drive)
    stop = T // STRETCH * STRETCH
    cuts = (drive[..., :stop, :], (-1, STRETCH, D)), (drive[..., stop:, :], (-1, T - stop, D))
    parts = [part.reshape(shape) for part, shape in cuts if all(part.shape)]
    heights = xp.concatenate([xp.maximum(xp.amax(p, 1), -xp.amin(p, 1)) for p in parts])
    return bool((xp.amax(heights, 0) <= UNEVEN * xp.amin(heights, 0)).all())


def convolve_readout(
    kernels: ModuleType,
    form: Form,
    B: Array,
    drive: Array,
    weights: Array,
    state: Array,
    out: Array,
    progress: Progress | None = None,
) -> None:
    """Compute ``scan_readout`` for a form that settles well within the series."""
    from scipy.fft import next_fast_len

    assert isinstance(form, DiagonalForm)
    T, K, xp = drive.shape[-2], int(settling_steps(form)), namespace(drive)
    size = min(max(BLOCK, RESPONSES * K), T + K)
    # A device caches the spectra, so sizes are powers of two, which many series share.
    size = next_fast_len(size, real=True) if xp.is_host else 1 << (size - 1).bit_length()

    def responses() -> Array:
        return xp.rfft(_responses(kernels, form, B, drive, weights, K), size)

    if xp.is_host:
        _in_blocks(drive, responses(), K, size, out, progress)
    else:
        # Cached while the network lives: starting an operation takes the host as long as a
        # million steps take the device.
        key = "spectra", size, str(drive.device), drive.dtype
        _at_once(drive, kept([weights, form.re, B], key, responses), K, size, out)
    if state.any():
        several = state.shape[:-1]
        none = xp.zeros((*several, K, 1), state.dtype)
        rest = xp.empty((*several, K, len(weights)), state.dtype)
        kernels.scan_readout(form, 0 * B[:1], none, weights, xp.array(state), rest)
        out[..., :K, :] += rest[..., :T, :]
    # The last state depends only on the last K steps.
    state[:] = 0.0
    nothing = xp.empty((*drive.shape[:-2], min(K, T), 0), state.dtype)
    kernels.scan_readout(form, B, drive[..., -K:, :], weights[:0], state, nothing)


def _in_blocks(
    drive: Array, spectra: Array, K: int, size: int, out: Array, progress: Progress | None
) -> None:
    """Write outputs of a series (T, D) from rest into ``out``, by transforms on threads."""
    (T, D), length = drive.shape, size - K + 1
    xp = namespace(drive)

    def task(first: int, last: int) -> None:
        for start in range(first * length, last * length, length):
            before, stop = start - K + 1, min(start + length, T)
            begin = max(0, before)
            piece = np.zeros((D, size))
            piece[:, begin - before : stop - before] = drive[begin:stop].T
            product = xp.irfft(_product(xp.rfft(piece), spectra), size)
            out[start:stop] = product[:, K - 1 : stop - before].T

    for rows in [slice(0, T)] if progress is None else progress.pieces(T, length):
        first, last = rows.start // length, -(-rows.stop // length)
        threads.run(task, threads.even_split(last - first, threads.thread_count(), first))


def _at_once(drive: Array, spectra: Array, K: int, size: int, out: Array) -> None:
    """Write outputs of series (…, T, D) from rest into ``out``, all blocks at once."""
    (T, D), length = drive.shape[-2:], size - K + 1
    xp = namespace(drive)
    blocks = -(-T // length)
    padded = xp.zeros((*drive.shape[:-2], D, K - 1 + blocks * length))
    padded[..., K - 1 : K - 1 + T] = drive.mT
    transformed = xp.rfft(padded.unfold(-1, size, length)).movedim(-2, -3)  # (…, blocks, D, size)
    products = xp.irfft(_product(transformed, spectra), size)[..., K - 1 :].mT
    out[:] = products.reshape(*out.shape[:-2], -1, out.shape[-1])[..., :T, :]


def _product(transformed: Array, spectra: Array) -> Array:
    """Return spectra of outputs (…, E, F) from drives (…, D, F) and responses (D, E, F)."""
    product = transformed[..., 0, None, :] * spectra[0]
    for d in range(1, len(spectra)):
        product += transformed[..., d, None, :] * spectra[d]
    return product


def _responses(
    kernels: ModuleType, form: Form, B: Array, drive: Array, weights: Array, K: int
) -> Array:
    """Return h_k for every drive column and output, (D, E, K), on the device of the drive."""
    xp = namespace(drive)
    impulse = xp.zeros((K, 1), drive.dtype)
    impulse[0] = 1.0
    responses = xp.empty((len(B), len(weights), K))
    for d in range(len(B)):
        response = xp.empty((K, len(weights)), drive.dtype)
        start = xp.zeros(B.shape[1], drive.dtype)
        kernels.scan_readout(form, B[d : d + 1], impulse, weights, start, response)
        responses[d] = response.T
    return responses
