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

from dataclasses import dataclass
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
    a = np.asarray(weights).astype(complex)
    gaps, products = (1 - np.abs(modes)) * (1 + np.abs(modes)), _Products.of(modes)
    columns: list[Array] = []
    first = 0.0
    most = 2 * modes.size - n if most is None else most
    while len(columns) < most:
        left = np.abs(a) ** 2 / gaps
        p = int(np.argmax(left))
        first = first or float(np.sqrt(left[p]))
        if not np.sqrt(left[p]) > NEGLIGIBLE * first:
            break
        gap, other = products.one_minus(modes[p])
        one = a * (np.conj(a[p]) / gap)
        one /= np.sqrt(np.abs(one[p])) or 1.0
        after = a * ((modes - modes[p]) / gap)
        if p < n:
            a = after
            columns.append(one * (np.conj(one[p]) / np.abs(one[p])))
            continue
        # The conjugate next, so that what is left is closed under conjugation at every step: what
        # a pair's conjugate would have in these columns is known from what it has itself.
        bar, twice = np.conj(modes[p]), np.conj(other[p])
        its_own = np.conj(a[p]) * (bar - modes[p]) / twice
        size = np.abs(its_own) / np.sqrt(gap[p].real)
        two = after * (np.conj(its_own) / other) / (size or 1.0)
        columns += _real_signals(one, two, one[p], np.conj(a[p]) ** 2 / twice / one[p].real, size)
        a = after * ((modes - bar) / other)
    if not columns:
        return np.zeros((modes.size, 0), complex)
    F = np.stack(columns, axis=1)
    F[:n] = F[:n].real
    return F


def _real_signals(one: Array, two: Array, d: Any, below: Any, e: Any) -> tuple[Array, Array]:
    """Two columns of a pair, turned so that rows of conjugates are conjugate.

    The pivot rows are (d, 0) and (below, e) = (d ρ, e) with e² = d² (1 − |ρ|²). The unitary V with
    the first row (p, q) = e^{iφ} (√(1+|ρ|), i √(1−|ρ|)) / √2, ρ = |ρ| e^{−2iφ}, makes them
    conjugate; q is as small as e/d, so that the second column stays as small as it was.
    """
    rho = below / d
    size, phase = np.abs(rho), np.exp(-0.5j * np.angle(rho))
    more, less = 1 + size, (e / np.abs(d)) ** 2 / (1 + size)
    p, q = phase * np.sqrt(0.5 * more), 1j * phase * np.sqrt(0.5 * less)
    # What the second row lacks for the conjugate of the first: p̄ − ρ p = p̄ (1 − |ρ|), and so on.
    scale = np.abs(d) / e
    return p * one + scale * less * np.conj(p) * two, q * one + scale * more * np.conj(q) * two


@dataclass(frozen=True, eq=False)
class _Products:
    """Numbers λ, with the upper halves of their digits at hand."""

    re: Array
    im: Array
    re_head: Array
    im_head: Array

    @classmethod
    def of(cls, values: Array) -> _Products:
        re, im = np.ascontiguousarray(values.real), np.ascontiguousarray(values.imag)
        return cls(re, im, _head(re), _head(im))

    def one_minus(self, other: complex) -> tuple[Array, Array]:
        """1 − λ μ̄ and 1 − λ μ, with products split in two so that none of their digits is lost."""
        x, y = float(np.real(other)), float(np.imag(other))
        re, re_low = _product(self.re, self.re_head, x)
        im, im_low = _product(self.im, self.im_head, y)
        cross, turned = self.re * y, self.im * x
        rest = 1 - re
        # Where both are near the unit circle the large parts cancel, and the low ones are left.
        with_bar, without = np.empty((2, len(re)), complex)
        with_bar.real, with_bar.imag = (rest - im) - (re_low + im_low), cross - turned
        without.real, without.imag = (rest + im) - (re_low - im_low), -(cross + turned)
        return with_bar, without


def _product(x: Array, head: Array, y: float) -> tuple[Array, Array]:
    """The product as high + low, without any rounding (Dekker)."""
    high = x * y
    y_head = _head(y)
    tail, y_tail = x - head, y - y_head
    return high, ((head * y_head - high) + head * y_tail + tail * y_head) + tail * y_tail


def _head(x: Any) -> Any:
    """The upper half of the digits."""
    big = 134217729.0 * x
    return big - (big - x)


def one_minus(values: Array, other: complex) -> Array:
    """1 − λ μ̄ to all digits."""
    return _Products.of(np.asarray(values, complex)).one_minus(other)[0]
