"""Immutable collections of the eigenvalues of a real matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from eigenecho.checks import as_array, check_lr, check_sr
from eigenecho.errors import IllConditionedWarning, bad_argument, counted, warn
from eigenecho.spectra.joined_law import JoinedLaw
from eigenecho.types import Array, ComplexArray

SAME = 8 * float(np.finfo(float).eps)
"""Largest distance of eigenvalues that are considered equal, relative to the largest modulus."""

FINITE = "a list of finite numbers"
"""Expected eigenvalues, for messages."""


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum:
    """Set of N eigenvalues, which is closed under conjugation.

        Λ = (λ_1, …, λ_n, μ_1, μ̄_1, …, μ_m, μ̄_m),   N = n + 2m

    Parameters
    ----------
    real : array (n,)
        Real eigenvalues λ.
    pairs : complex array (m,), default empty
        The eigenvalue with Im μ > 0 of each conjugate pair.

    See Also
    --------
    eigenecho.spectra.from_values : Create a spectrum from a list of eigenvalues.
    eigenecho.spectra.golden : Draw a spectrum.
    eigenecho.plots.spectrum : Plot eigenvalues.

    Examples
    --------
    >>> import eigenecho as ee
    >>> spectrum = ee.Spectrum([0.5], [0.3 + 0.4j])
    >>> spectrum
    Spectrum(3 units: 1 real, 1 pairs, radius 0.5)
    >>> spectrum.leak(0.5).values  # slower
    array([0.75+0.j , 0.65+0.2j, 0.65-0.2j])
    >>> spectrum + ee.spectra.ring(4, sr=0.8)
    Spectrum(7 units: 3 real, 2 pairs, radius 0.8)
    """

    real: Array
    pairs: ComplexArray = field(default_factory=lambda: np.empty(0, complex))

    def __post_init__(self) -> None:
        real = as_array(self.real, "real", FINITE)
        if np.iscomplexobj(real) and real.size:
            raise bad_argument("real", self.real, "real numbers", "Use pairs= for complex values.")
        real = _frozen(real.real, "real", np.float64)
        pairs = _frozen(self.pairs, "pairs", np.complex128)
        if np.any(pairs.imag <= 0):
            expected = "one eigenvalue of each conjugate pair, with a positive imaginary part"
            remedy = "Use Spectrum.from_values for a complete list of eigenvalues."
            raise bad_argument("pairs", self.pairs, expected, remedy)
        if real.size + pairs.size == 0:
            raise bad_argument("real, pairs", (self.real, self.pairs), "at least one eigenvalue")
        object.__setattr__(self, "real", real)
        object.__setattr__(self, "pairs", pairs)

    @classmethod
    def from_values(cls, values: ArrayLike, *, tol: float = 1e-12) -> Spectrum:
        """Return the spectrum of a complete list of eigenvalues, in any order.

        Values with an imaginary part of at most ``tol`` times the largest modulus are treated as
        real. For every other value, the list must also contain its conjugate.

        Parameters
        ----------
        values : array (N,)
            Eigenvalues, closed under conjugation.
        tol : float
            Tolerance relative to the largest modulus.

        See Also
        --------
        eigenecho.spectra.from_matrix : Eigenvalues of a matrix.
        eigenecho.Spectrum : Constructor from real eigenvalues and one of each pair.

        Examples
        --------
        >>> import eigenecho as ee
        >>> ee.spectra.from_values([0.5, 0.3 + 0.4j, 0.3 - 0.4j])
        Spectrum(3 units: 1 real, 1 pairs, radius 0.5)
        """
        values = _frozen(values, "values", np.complex128)
        slack = tol * max(np.abs(values).max(initial=0.0), np.finfo(float).tiny)
        is_real = np.abs(values.imag) <= slack
        upper = _sorted(values[~is_real & (values.imag > 0)])
        lower = _sorted(values[~is_real & (values.imag < 0)].conj())
        if upper.size != lower.size or np.any(np.abs(upper - lower) > 2 * slack):
            remedy = "Use Spectrum(real, pairs) to add the conjugates of complex eigenvalues."
            raise bad_argument("values", values, "a list that is closed under conjugation", remedy)
        return cls(np.sort(values[is_real].real), upper)

    @property
    def units(self) -> int:
        """Number N of eigenvalues; a pair counts as two."""
        return self.real.size + 2 * self.pairs.size

    @property
    def radius(self) -> float:
        """Spectral radius, max |λ|."""
        return float(max(np.abs(self.real).max(initial=0.0), np.abs(self.pairs).max(initial=0.0)))

    @property
    def values(self) -> Array:
        """All N eigenvalues: real eigenvalues first, then each pair as μ, μ̄."""
        both = np.stack([self.pairs, self.pairs.conj()], axis=1).ravel()
        return np.concatenate([self.real.astype(np.complex128), both])

    def leak(self, lr: float) -> Spectrum:
        """Return the spectrum of a leaky reservoir.

            λ' = lr λ + (1 − lr)

        Every eigenvalue moves towards 1, so units become slower and memory longer.
        """
        lr = check_lr(lr)
        if lr == 1:
            return self
        return Spectrum(lr * self.real + (1 - lr), lr * self.pairs + (1 - lr))

    def unleak(self, lr: float) -> Spectrum:
        """Return the spectrum before ``leak`` was applied; the inverse of ``leak``."""
        return Spectrum((self.real - 1 + lr) / lr, (self.pairs - 1 + lr) / lr)

    def scaled(self, sr: float) -> Spectrum:
        """Return the spectrum scaled to radius ``sr``, or unchanged if its radius is 0."""
        sr, radius = check_sr(sr), self.radius
        return self.times(sr / radius) if radius > 0 else self

    def times(self, factor: float) -> Spectrum:
        """Return the spectrum with every eigenvalue multiplied by a factor ≥ 0."""
        return off_axis(factor * self.real, factor * self.pairs)

    def join(self, *others: Spectrum) -> Spectrum:
        """Return all eigenvalues of this and other spectra; warn if some are equal."""
        parts = (self, *others)
        repeated = _repeated([part.values for part in parts])
        if repeated:
            warn(
                f"The {sum(part.units for part in parts)} joined eigenvalues contain "
                f"{counted(repeated, 'duplicate')} up to rounding. With one input, they add no "
                "memory. Join spectra without common eigenvalues, such as rings of distinct radii.",
                IllConditionedWarning,
            )
        real, pairs = zip(*((part.real, part.pairs) for part in parts), strict=True)
        return Spectrum(np.concatenate(real), np.concatenate(pairs))

    @overload
    def __add__(self, other: Spectrum) -> Spectrum: ...
    @overload
    def __add__(self, other: Callable[..., Spectrum]) -> JoinedLaw: ...
    def __add__(self, other: Any) -> Any:
        if isinstance(other, Spectrum):
            return self.join(other)
        return JoinedLaw.of((self, other)) if callable(other) else NotImplemented

    def __radd__(self, other: Callable[..., Spectrum]) -> JoinedLaw:
        return JoinedLaw.of((other, self)) if callable(other) else NotImplemented

    def only(self, modes: Array) -> Spectrum:
        """Return the spectrum of the modes selected by flags (n + m,), real modes first."""
        n = self.real.size
        return Spectrum(self.real[modes[:n]], self.pairs[modes[n:]])

    def columns(self, modes: Array) -> Array:
        """Return the column indices of selected modes in the Q layout; a pair has two columns."""
        n = self.real.size
        pairs = n + 2 * np.flatnonzero(modes[n:])
        return np.concatenate([np.flatnonzero(modes[:n]), np.stack([pairs, pairs + 1], 1).ravel()])

    def __len__(self) -> int:
        return self.units

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Spectrum):
            return NotImplemented
        return np.array_equal(self.real, other.real) and np.array_equal(self.pairs, other.pairs)

    def __hash__(self) -> int:
        # −0.0 equals 0.0, so both need the same hash: adding 0.0 drops the sign.
        return hash(((self.real + 0.0).tobytes(), (self.pairs + 0.0).tobytes()))

    def __repr__(self) -> str:
        return (
            f"Spectrum({self.units} units: {self.real.size} real, {self.pairs.size} pairs, "
            f"radius {self.radius:.6g})"
        )


def off_axis(real: Array, pairs: Array) -> Spectrum:
    """Return a spectrum in which pairs on the real axis are replaced by two real eigenvalues."""
    flat = pairs.imag == 0
    if not np.any(flat):
        return Spectrum(real, pairs)
    return Spectrum(np.concatenate([real, np.repeat(pairs[flat].real, 2)]), pairs[~flat])


def _repeated(parts: Sequence[Array]) -> int:
    """Return the number of eigenvalues that repeat one of an earlier part, up to rounding."""
    slack = SAME * max(np.abs(values).max() for values in parts)
    earlier, count = parts[0], 0
    for values in parts[1:]:
        earlier = earlier[np.argsort(earlier.real)]
        first = np.searchsorted(earlier.real, values.real - slack)
        last = np.searchsorted(earlier.real, values.real + slack, side="right")
        for i in np.flatnonzero(last > first):
            count += bool(np.any(np.abs(earlier[first[i] : last[i]] - values[i]) <= slack))
        earlier = np.concatenate([earlier, values])
    return count


def _frozen(values: Any, name: str, dtype: Any) -> Array:
    array = np.atleast_1d(as_array(values, name, FINITE))
    if array.ndim != 1 or array.dtype.kind not in "fiubc" or not np.all(np.isfinite(array)):
        raise bad_argument(name, values, FINITE)
    array = array.astype(dtype)
    array.setflags(write=False)
    return array


def _sorted(values: Array) -> Array:
    # Rounding makes conjugates compare unequal in their last digits, so sort on rounded keys.
    scale = np.abs(values).max(initial=0.0) or 1.0
    keys = np.round(values / scale, 9)
    return values[np.lexsort((values.imag, values.real, keys.real, keys.imag))]


def real_count(n: int) -> int:
    """Return the expected number of real eigenvalues of a Gaussian matrix, with the parity of n.

    This is ⌊√(2n/π)⌋, plus one if an odd number of eigenvalues would remain for the pairs.
    """
    count = math.isqrt(int(2 * n / math.pi))
    return count + (n - count) % 2
