"""Gramians of one input or output, factorised with full relative accuracy.

The signals κ_i(k) = λ_i^k a_i, k = 0, 1, …, have the Gramian

    P_ij = Σ_k κ_i(k) κ̄_j(k) = a_i ā_j / (1 − λ_i λ̄_j)

whose eigenvalues decrease so fast that most of them are smaller than the rounding errors of the
entries P_ij. But a Cauchy matrix remains a Cauchy matrix after a step of elimination: with pivot p,

    a_i ← a_i (λ_i − λ_p) / (1 − λ_i λ̄_p)

which is a product of differences of given numbers, so its relative error is small even if its value
is tiny. If the pivot is the largest diagonal entry, F = L D has a well-conditioned L, and the small
columns of F are as accurate as the large ones. The cost is O(N k) for k columns.
"""

from __future__ import annotations

import numpy as np

from eigenecho.kernels.compiled.jit import jit
from eigenecho.spectra import Spectrum
from eigenecho.types import Array

NEGLIGIBLE = 1e-16
"""Relative size of a column, compared with the first, at which the elimination ends."""

COLUMNS = 64
"""Number of columns that are eliminated before more memory is allocated."""


def cauchy_factor(spectrum: Spectrum, weights: Array) -> Array:
    """Return F (n + m, k) with κ = F E and orthonormal E, for signals κ_i(t) = λ_i^t a_i.

    F has one row for each real mode, then one complex row for each pair. The row of the conjugate
    mode is its conjugate, because the signals E are real. So F Fᵀ and F Fᴴ are the sums Σ_t κ_i κ_j
    and Σ_t κ_i κ̄_j. ``weights`` is a (n + m,).
    """
    n = spectrum.real.size
    modes = np.concatenate([spectrum.real, spectrum.pairs]).astype(complex)
    a = np.array(weights, complex)
    parts = [np.zeros((0, modes.size), complex)]
    first, count = 0.0, 0
    while count < spectrum.units:
        columns = np.empty((min(COLUMNS, spectrum.units - count) + 1, modes.size), complex)
        first, new = _eliminate(modes, n, a, first, columns)
        parts.append(columns[:new])
        count += new
        if new < len(columns) - 1:
            break
    F = np.concatenate(parts).T
    F[:n] = F[:n].real
    return F


@jit(False)
def _eliminate(modes: Array, n: int, a: Array, first: float, columns: Array) -> tuple[float, int]:
    """Fill columns (k + 1, n + m) until the remainder vanishes; pairs fill two columns.

    The last column is used only for a pair. ``a`` is overwritten with the weights of the remainder.
    Return the size of the first column of the whole elimination (``first``, unless it is 0) and the
    number of columns filled by this call.
    """
    size, count = modes.size, 0
    gap, other = np.empty(size, np.complex128), np.empty(size, np.complex128)
    while count < len(columns) - 1:
        p, largest = 0, -1.0
        for i in range(size):
            modulus = abs(modes[i])
            left = (a[i].real ** 2 + a[i].imag ** 2) / ((1 - modulus) * (1 + modulus))
            if left > largest:
                p, largest = i, left
        if first == 0.0:
            first = np.sqrt(largest)
        if not np.sqrt(largest) > NEGLIGIBLE * first:
            break
        for i in range(size):
            gap[i], other[i] = one_minus(modes[i], modes[p])
        pivot, weight = modes[p], a[p]
        d = np.sqrt((weight.real**2 + weight.imag**2) / gap[p].real)
        column = columns[count]
        for i in range(size):
            column[i] = a[i] * weight.conjugate() / gap[i] / d
            a[i] = a[i] * ((modes[i] - pivot) / gap[i])
        count += 1
        if p < n:
            continue
        # The conjugate is eliminated next, so that the remainder stays closed under conjugation.
        # Its entries follow from those of the mode.
        bar, twice, partner = pivot.conjugate(), other[p].conjugate(), columns[count]
        its_own = weight.conjugate() * ((bar - pivot) / twice)
        e = abs(its_own) / np.sqrt(gap[p].real)
        for i in range(size):
            partner[i] = a[i] * its_own.conjugate() / other[i] / e
            a[i] = a[i] * ((modes[i] - bar) / other[i])
        count += 1
        _make_real(column, partner, d, weight.conjugate() ** 2 / twice / d, e)
    return first, count


@jit(False)
def _make_real(column: Array, partner: Array, d: float, below: complex, e: float) -> None:
    """Rotate the two columns of a pair so that conjugate modes have conjugate rows.

    The pivot rows are (d, 0) and (below, e) = (d ρ, e) with e² = d² (1 − |ρ|²). The unitary V with
    the first row (p, q) = e^{iφ} (√(1+|ρ|), i √(1−|ρ|)) / √2, ρ = |ρ| e^{−2iφ}, makes them
    conjugate. q is as small as e/d, so that the second column remains as small as before.
    """
    rho = below / d
    size, phase = abs(rho), np.exp(-0.5j * np.arctan2(rho.imag, rho.real))
    more, less = 1 + size, (e / d) ** 2 / (1 + size)
    p, q = phase * np.sqrt(0.5 * more), 1j * phase * np.sqrt(0.5 * less)
    # Added to the second row, these give the conjugate of the first: p̄ − ρ p = p̄ (1 − |ρ|), etc.
    r, s = d / e * less * p.conjugate(), d / e * more * q.conjugate()
    for i in range(column.size):
        x, y = column[i], partner[i]
        column[i], partner[i] = p * x + r * y, q * x + s * y


@jit(False)
def one_minus(x: complex, y: complex) -> tuple[complex, complex]:
    """Return 1 − x ȳ and 1 − x y, with exact products, represented as sums of two numbers."""
    re, re_low = _product(x.real, y.real)
    im, im_low = _product(x.imag, y.imag)
    cross, turned = x.real * y.imag, x.imag * y.real
    # If x and y are near the unit circle, the high parts cancel and the low parts remain.
    bar = complex(((1 - re) - im) - (re_low + im_low), cross - turned)
    plain = complex(((1 - re) + im) - (re_low - im_low), -(cross + turned))
    return bar, plain


@jit(False)
def _product(x: float, y: float) -> tuple[float, float]:
    """Return the exact product as a sum high + low, by Dekker's algorithm."""
    high = x * y
    x_head, y_head = _head(x), _head(y)
    x_tail, y_tail = x - x_head, y - y_head
    return high, ((x_head * y_head - high) + x_head * y_tail + x_tail * y_head) + x_tail * y_tail


@jit(False)
def _head(x: float) -> float:
    """Return the upper half of the digits of a number."""
    big = 134217729.0 * x
    return big - (big - x)
