"""Computation of outputs by convolution, whose cost per step is independent of the number of units.

Without feedback, a linear network is determined by its impulse response:

    r(t) W_out = Σ_k a(t−k) h_k,   h_k = Σ_i B_i λ_i^k W_out,i

A response that decays below rounding errors is treated as finite. Blocks of outputs are computed
from blocks of the drive that begin one response earlier (overlap-save).
"""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np

from eigenecho import threads
from eigenecho.arrays import compute_once, namespace
from eigenecho.kernels.forms import DiagonalForm, Form
from eigenecho.progress import Progress
from eigenecho.types import Array

NEGLIGIBLE_RESPONSE = 1e-18
"""Largest size of a response, relative to its first value, that is neglected.

It is below the rounding errors of double precision.
"""

MAX_LOUDNESS_RATIO = 1e4
"""Largest ratio between the peaks of the loudest and the quietest stretch of a drive column.

A Fourier transform spreads the rounding errors of loud stretches over quiet ones, so drives with a
larger ratio are scanned.
"""

STRETCH_STEPS = 1024
"""Number of steps of a stretch, over which the loudness of a drive is measured."""

MIN_TRANSFORM_STEPS = 1 << 14
"""Smallest number of steps of a transform, unless the series is shorter."""

MIN_TRANSFORM_RESPONSES = 8
"""Smallest length of a transform relative to the response, which each block computes twice."""


def settling_steps(form: Form) -> float:
    """Return the number of steps until an impulse is negligible, or infinity if it persists."""
    if not isinstance(form, DiagonalForm):
        return math.inf
    radius = max(np.abs(form.real).max(initial=0.0), np.hypot(form.re, form.im).max(initial=0.0))
    if radius >= 1 - 1e-9:
        return math.inf
    if radius <= 1e-9:
        return 2
    return max(1, math.ceil(math.log(NEGLIGIBLE_RESPONSE) / math.log(radius)))


def has_even_loudness(drive: Array) -> bool:
    """Return True if no stretch of a drive column is much quieter than others."""
    (T, D), xp = drive.shape[-2:], namespace(drive)
    stop = T // STRETCH_STEPS * STRETCH_STEPS
    cuts = (drive[..., :stop, :], (-1, STRETCH_STEPS, D)), (drive[..., stop:, :], (-1, T - stop, D))
    stretches = [part.reshape(shape) for part, shape in cuts if all(part.shape)]
    peaks = xp.concatenate([xp.maximum(xp.amax(s, 1), -xp.amin(s, 1)) for s in stretches])
    return bool((xp.amax(peaks, 0) <= MAX_LOUDNESS_RATIO * xp.amin(peaks, 0)).all())


def convolve_readout(
    kernels: ModuleType,
    form: Form,
    B: Array,
    drive: Array,
    weights: Array,
    state: Array,
    out: Array,
    progress: Progress | None = None,
) -> Array:
    """Write r(t) weightsᵀ into ``out``, for a form that settles within the series; return r(T)."""
    from scipy.fft import next_fast_len

    assert isinstance(form, DiagonalForm)
    T, K, xp = drive.shape[-2], int(settling_steps(form)), namespace(drive)
    size = min(max(MIN_TRANSFORM_STEPS, MIN_TRANSFORM_RESPONSES * K), T + K)
    # Spectra are cached on a device, so sizes are powers of two, which many series share.
    size = next_fast_len(size, real=True) if xp.is_host else 1 << (size - 1).bit_length()
    # In single precision, decaying states would become denormal numbers, which are slow.
    modes = DiagonalForm(*(xp.asarray(part, np.float64) for part in form))
    columns, wide_weights = (xp.asarray(x, np.float64) for x in (B, weights))

    def transform_responses() -> Array:
        return xp.rfft(_impulse_responses(kernels, modes, columns, wide_weights, K), size)

    if xp.is_host:
        _convolve_in_blocks(drive, transform_responses(), K, size, out, progress)
    else:
        # Spectra are cached as long as the network exists, because the host needs as much time to
        # start an operation as the device needs for a million steps.
        key = "spectra", size, str(drive.device), drive.dtype
        spectra = compute_once([weights, form.re, B], key, transform_responses)
        _convolve_at_once(drive, spectra, K, size, out)
    if state.any():
        zeros, start = xp.zeros((*state.shape[:-1], K, 1)), xp.array(state, np.float64)
        decay, _ = kernels.scan_readout(modes, 0 * columns[:1], zeros, wide_weights, start)
        out[..., :K, :] += decay[..., :T, :]
    # The last state depends only on the last K steps.
    recent = drive[..., -K:, :]
    return kernels.scan_readout(form, B, recent, weights[:0], 0 * state)[1]


def _convolve_in_blocks(
    drive: Array, spectra: Array, K: int, size: int, out: Array, progress: Progress | None
) -> None:
    """Write the outputs of a series (T, D), from state zero, into ``out``, block by block."""
    (T, D), length = drive.shape, size - K + 1
    xp = namespace(drive)

    def task(first: int, last: int) -> None:
        for start in range(first * length, last * length, length):
            before, stop = start - K + 1, min(start + length, T)
            begin = max(0, before)
            piece = np.zeros((D, size))
            piece[:, begin - before : stop - before] = drive[begin:stop].T
            product = xp.irfft(_multiply_spectra(xp.rfft(piece), spectra), size)
            out[start:stop] = product[:, K - 1 : stop - before].T

    for rows in [slice(0, T)] if progress is None else progress.pieces(T, length):
        first, last = rows.start // length, -(-rows.stop // length)
        threads.run(task, threads.even_split(last - first, threads.thread_count(), first))


def _convolve_at_once(drive: Array, spectra: Array, K: int, size: int, out: Array) -> None:
    """Write the outputs of series (…, T, D), from state zero, into ``out``, all blocks at once."""
    (T, D), length = drive.shape[-2:], size - K + 1
    xp = namespace(drive)
    blocks = -(-T // length)
    padded = xp.zeros((*drive.shape[:-2], D, K - 1 + blocks * length))
    padded[..., K - 1 : K - 1 + T] = xp.swapaxes(drive, -1, -2)
    windows = xp.sliding_windows(padded, size, length)  # (…, D, blocks, size)
    transformed = xp.swapaxes(xp.rfft(windows), -3, -2)
    products = xp.irfft(_multiply_spectra(transformed, spectra), size)[..., K - 1 :]
    outputs = xp.swapaxes(products, -1, -2).reshape(*out.shape[:-2], -1, out.shape[-1])
    out[:] = outputs[..., :T, :]


def _multiply_spectra(transformed: Array, spectra: Array) -> Array:
    """Return the spectra of outputs (…, E, F), computed from the spectra of drives and responses.

    ``transformed`` (…, D, F) are the spectra of the drives, ``spectra`` (D, E, F) of the responses.
    """
    product = transformed[..., 0, None, :] * spectra[0]
    for d in range(1, len(spectra)):
        product += transformed[..., d, None, :] * spectra[d]
    return product


def _impulse_responses(kernels: ModuleType, form: Form, B: Array, weights: Array, K: int) -> Array:
    """Return h_k for each drive column and output, (D, E, K), on the device of B."""
    xp = namespace(B)
    impulse = xp.zeros((K, 1))
    impulse[0] = 1.0
    responses = xp.empty((len(B), len(weights), K))
    for d in range(len(B)):
        start = xp.zeros(B.shape[1])
        response, _ = kernels.scan_readout(form, B[d : d + 1], impulse, weights, start)
        responses[d] = response.T
    return responses
