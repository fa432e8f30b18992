"""Outputs by convolution: the cost of a step does not depend on the number of units.

Without feedback a linear network is its impulse response: with h_k = Σ_i B_i λ_i^k W_out,i,

    r(t) W_out = Σ_k a(t−k) h_k

and a response that has died away below rounding is as good as a finite one.
"""

from __future__ import annotations

import math

import numpy as np

from eigenecho import kernels
from eigenecho.kernels import Diagonal, Form
from eigenecho.types import Array

ROUNDING = 1e-18
"""What is left of an impulse when it no longer counts."""

SCAN_NS = 0.5
"""Time of one unit in one step of the fused scan, for one drive column and one output."""

SPIKE = 1e4
"""Largest value of a column, over its median, that is convolved."""

CONVOLUTION_NS = 40.0
"""Time of one step of one drive column and output by FFT."""


def settling_steps(form: Form) -> float:
    """After how many steps an impulse has died away; infinite for a radius of 1 or more."""
    if not isinstance(form, Diagonal):
        return math.inf
    radius = max(np.abs(form.real).max(initial=0.0), np.hypot(form.re, form.im).max(initial=0.0))
    if radius >= 1 - 1e-9:
        return math.inf
    return max(1, math.ceil(math.log(ROUNDING) / math.log(radius))) if radius > 1e-9 else 2


def pays(form: Form, steps: int, columns: int, outputs: int) -> bool:
    """Whether convolution beats the scan, by a count of operations."""
    K = settling_steps(form)
    if not isinstance(form, Diagonal) or steps < 4 * K or columns == 0:
        return False
    units = form.real.size + 2 * form.re.size
    scan = SCAN_NS * units * (0.5 * columns + 0.5 * outputs)
    return CONVOLUTION_NS * columns * outputs + scan * columns * K / steps < 0.5 * scan


def is_even(drive: Array) -> bool:
    """Whether no column has a spike: FFT spreads the rounding of one over steps around it."""
    size = np.abs(drive)
    return bool(np.all(size.max(axis=0) <= SPIKE * np.median(size, axis=0)))


def convolve_readout(
    form: Form, B: Array, drive: Array, weights: Array, state: Array, out: Array
) -> None:
    """What ``kernels.scan_readout`` computes, for a form that settles well within the series."""
    from scipy.signal import oaconvolve

    K = int(settling_steps(form))
    impulse = np.zeros((K, 1), state.dtype)
    impulse[0] = 1.0
    response = np.empty((K, len(weights)), state.dtype)
    total = np.zeros(out.shape)
    for d in range(drive.shape[1]):
        kernels.scan_readout(form, B[d : d + 1], impulse, weights, np.zeros_like(state), response)
        column = drive[:, d : d + 1].astype(np.float64)
        total += oaconvolve(column, response.astype(np.float64), axes=0)[: len(out)]
    if np.any(state):
        none = np.zeros((K, 1), state.dtype)
        kernels.scan_readout(form, 0 * B[:1], none, weights, state.copy(), response)
        total[:K] += response
    out[:] = total
    # The last state has forgotten all but the last K steps.
    state[:] = 0.0
    nothing = np.empty((K, 0), state.dtype)
    kernels.scan_readout(form, B, drive[-K:], weights[:0], state, nothing)
