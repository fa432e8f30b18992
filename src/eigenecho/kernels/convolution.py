"""Outputs by convolution: the cost of a step does not depend on the number of units.

Without feedback a linear network is its impulse response: with h_k = Σ_i B_i λ_i^k W_out,i,

    r(t) W_out = Σ_k a(t−k) h_k

and a response that has died away below rounding is as good as a finite one. Blocks of outputs come
from blocks of the drive that begin one response earlier (overlap-save), each by itself.
"""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np

from eigenecho import threads
from eigenecho.kernels.forms import DiagonalForm, Form
from eigenecho.progress import Progress
from eigenecho.types import Array

ROUNDING = 1e-18
"""What is left of an impulse when it no longer counts."""

UNEVEN = 1e4
"""Largest value of a column, over the largest of its quietest stretch, that is convolved."""

STRETCH = 1024
"""Steps of a stretch."""

BLOCK = 1 << 14
"""Least length of a transform."""

RESPONSES = 8
"""Least length of a transform in responses: what overlaps is computed twice."""


def settling_steps(form: Form) -> float:
    """After how many steps an impulse has died away; infinite for a radius of 1 or more."""
    if not isinstance(form, DiagonalForm):
        return math.inf
    radius = max(np.abs(form.real).max(initial=0.0), np.hypot(form.re, form.im).max(initial=0.0))
    if radius >= 1 - 1e-9:
        return math.inf
    return max(1, math.ceil(math.log(ROUNDING) / math.log(radius))) if radius > 1e-9 else 2


def is_even(drive: Array) -> bool:
    """Whether no stretch is far quieter than another: FFT spreads the rounding of a loud step."""
    whole = drive[: len(drive) // STRETCH * STRETCH].reshape(-1, STRETCH, drive.shape[1])
    parts = [whole, drive[None, len(drive) // STRETCH * STRETCH :]]
    highs = [np.maximum(p.max(axis=1), -p.min(axis=1)) for p in parts if p.size]
    heights = np.concatenate(highs)
    return bool(np.all(heights.max(axis=0) <= UNEVEN * heights.min(axis=0)))


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
    """What ``compiled.scan_readout`` computes, for a form that settles well within the series."""
    from scipy.fft import irfft, next_fast_len, rfft

    T, D, K = len(drive), drive.shape[1], int(settling_steps(form))
    size = next_fast_len(min(max(BLOCK, RESPONSES * K), T + K), real=True)
    length = size - K + 1
    spectra = rfft(_responses(kernels, form, B, weights, K), size)

    def task(first: int, last: int) -> None:
        for start in range(first * length, last * length, length):
            before, stop = start - K + 1, min(start + length, T)
            known = max(0, before)
            piece = np.zeros((D, size))
            piece[:, known - before : stop - before] = drive[known:stop].T
            transformed = rfft(piece)
            product = transformed[0] * spectra[0]
            for d in range(1, D):
                product += transformed[d] * spectra[d]
            out[start:stop] = irfft(product, size)[:, K - 1 : stop - before].T

    for rows in [slice(0, T)] if progress is None else progress.pieces(T, length):
        first, last = rows.start // length, -(-rows.stop // length)
        threads.run(task, threads.even_split(last - first, threads.thread_count(), first))
    if np.any(state):
        none, rest = np.zeros((K, 1), state.dtype), np.empty((K, len(weights)), state.dtype)
        kernels.scan_readout(form, 0 * B[:1], none, weights, state.copy(), rest)
        out[:K] += rest[:T]
    # The last state has forgotten all but the last K steps.
    state[:] = 0.0
    nothing = np.empty((min(K, T), 0), state.dtype)
    kernels.scan_readout(form, B, drive[-K:], weights[:0], state, nothing)


def _responses(kernels: ModuleType, form: Form, B: Array, weights: Array, K: int) -> Array:
    """h_k for every drive column and output, (D, E, K)."""
    impulse = np.zeros((K, 1), B.dtype)
    impulse[0] = 1.0
    responses = np.empty((len(B), len(weights), K))
    for d in range(len(B)):
        response = np.empty((K, len(weights)), B.dtype)
        start = np.zeros(B.shape[1], B.dtype)
        kernels.scan_readout(form, B[d : d + 1], impulse, weights, start, response)
        responses[d] = response.T
    return responses
