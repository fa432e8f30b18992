"""Gramians of one input or output, factorised to all digits.

The signals κ_i(k) = λ_i^k a_i, k = 0, 1, …, have the Gramian

    P_ij = Σ_k κ_i(k) κ̄_j(k) = a_i ā_j / (1 − λ_i λ̄_j)

whose eigenvalues fall so fast that most of them are below the rounding of its entries. But what is
left of a Cauchy matrix after a step of elimination is one again: with pivot p,

    a_i ← a_i (λ_i − λ_p) / (1 − λ_i λ̄_p)

which is a product of differences of numbers that are given, and so right to the last digits however
small it is. With the largest diagonal as the pivot, F = L D has a well-conditioned L, and the small
columns of F are as accurate as the large ones. It costs O(N k) for k columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenecho.spectra import Spectrum
from eigenecho.types import Array

NEGLIGIBLE = 1e-16
"""Size of a column, over the first, from which on the others are left out."""


def cauchy_factor(spectrum: Spectrum, weights: Array, most: int | None = None) -> Array:
    """F (n + m, k), of signals κ_i(k) = λ_i^k a_i with weights (n + m,): κ = F E, E orthonormal.

    Rows of real modes, then one complex row a pair: its conjugate has the conjugate row, since the
    signals E are real. So F Fᵀ and F Fᴴ are the sums Σ_k κ_i κ_j and Σ_k κ_i κ̄_j. At most
    ``most`` columns (one more where that would part a pair).
    """
    n = spectrum.real.size
    modes = np.concatenate([spectrum.real, spectrum.pairs]).astype(complex)
    # Conjugates stand behind: what is eliminated is closed under conjugation at every step.
    values = np.concatenate([modes, modes[n:].conj()])
    a = np.concatenate([weights, np.conj(weights[n:])]).astype(complex)
    gaps = (1 - np.abs(values)) * (1 + np.abs(values))
    columns: list[Array] = []
    first = 0.0
    most = values.size if most is None else most
    while len(columns) < most:
        left = np.abs(a) ** 2 / gaps
        p = int(np.argmax(left[: modes.size]))
        first = first or float(np.sqrt(left[p]))
        if not np.sqrt(left[p]) > NEGLIGIBLE * first:
            break
        one = _eliminate(values, a, p)
        if p < n:
            columns.append(one[: modes.size] * (np.conj(one[p]) / np.abs(one[p])))
            continue
        conjugate = modes.size + p - n
        pair = _real_signals(one, _eliminate(values, a, conjugate), p, conjugate)
        columns += [column[: modes.size] for column in pair]
    if not columns:
        return np.zeros((modes.size, 0), complex)
    F = np.stack(columns, axis=1)
    F[:n] = F[:n].real
    return F


def _eliminate(values: Array, a: Array, p: int) -> Array:
    """The column of pivot p; ``a`` becomes the weights of what is left."""
    gap = one_minus(values, values[p])
    column = a * (np.conj(a[p]) / gap)
    column /= np.sqrt(np.abs(column[p])) or 1.0
    a *= (values - values[p]) / gap
    return column


def _real_signals(one: Array, two: Array, i: int, j: int) -> tuple[Array, Array]:
    """Two columns of a pair i, j = ī, turned so that rows of conjugates are conjugate.

    The pivot rows are (d, 0) and (d ρ, e) with e² = d² (1 − |ρ|²). The unitary V with the first
    row (p, q) = e^{iφ} (√(1+|ρ|), i √(1−|ρ|)) / √2, ρ = |ρ| e^{−2iφ}, makes them conjugate; q is
    as small as e/d, so that the second column stays as small as it was.
    """
    d, e, rho = np.abs(one[i]), np.abs(two[j]), one[j] / one[i]
    size, phase = np.abs(rho), np.exp(-0.5j * np.angle(rho))
    more, less = 1 + size, (e / d) ** 2 / (1 + size)
    p, q = phase * np.sqrt(0.5 * more), 1j * phase * np.sqrt(0.5 * less)
    # What the second row lacks for the conjugate of the first: p̄ − ρ p = p̄ (1 − |ρ|), and so on.
    scale = d / two[j]
    return p * one + scale * less * np.conj(p) * two, q * one + scale * more * np.conj(q) * two


def one_minus(values: Array, other: complex) -> Array:
    """1 − λ μ̄, with products that are split in two so that none of their digits is lost."""
    re, re_low = _product(values.real, np.real(other))
    im, im_low = _product(values.imag, np.imag(other))
    # Where both are near the unit circle the large parts cancel, and the low ones are what is left.
    real = ((1 - re) - im) - (re_low + im_low)
    imag = values.real * np.imag(other) - values.imag * np.real(other)
    return real + 1j * imag


def _product(x: Array, y: Any) -> tuple[Array, Array]:
    """The product as high + low, without any rounding (Dekker)."""
    high = x * y
    xh, yh = _head(x), _head(y)
    xl, yl = x - xh, y - yh
    return high, ((xh * yh - high) + xh * yl + xl * yh) + xl * yl


def _head(x: Any) -> Any:
    """The upper half of the digits."""
    big = 134217729.0 * x
    return big - (big - x)
