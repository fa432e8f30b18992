"""Immutable collections of the eigenvalues of a real matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from eigenecho.checks import as_array, check_number, check_units, generator
from eigenecho.errors import IllConditionedWarning, Words, bad_argument, counted, warn
from eigenecho.types import Array, ComplexArray, Seed

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
        lr = check_number(lr, "lr", "> 0", "≤ 1")
        if lr == 1:
            return self
        return Spectrum(lr * self.real + (1 - lr), lr * self.pairs + (1 - lr))

    def unleak(self, lr: float) -> Spectrum:
        """Return the spectrum before ``leak`` was applied; the inverse of ``leak``."""
        return Spectrum((self.real - 1 + lr) / lr, (self.pairs - 1 + lr) / lr)

    def scaled(self, sr: float) -> Spectrum:
        """Return the spectrum scaled to radius ``sr``, or unchanged if its radius is 0."""
        sr, radius = check_number(sr, "sr", "≥ 0"), self.radius
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


# Joined laws --------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class JoinedLaw:
    """Law that combines given eigenvalues with laws that draw the remaining eigenvalues.

        Λ(n, sr) = Λ_1 ∪ … ∪ law_1(n_1, sr) ∪ law_2(n_2, sr) ∪ …

    The n_i are proportional to the shares of the laws, and sum to the number of remaining
    eigenvalues. A single law receives the seed itself. Several laws receive independent random
    streams.

    Parameters
    ----------
    terms : tuple of (Spectrum or callable, share)
        Terms in the order of the eigenvalues. Shares of laws are > 0 and need not sum to 1.
        Shares of spectra are ignored.

    See Also
    --------
    eigenecho.spectra.joined : Create a joined law.

    Examples
    --------
    >>> import eigenecho as ee
    >>> law = ee.spectra.ring(24, sr=0.99) + ee.spectra.log_ring
    >>> law.given, law(100, sr=0.999, seed=0).units
    (24, 100)
    """

    terms: tuple[tuple[Any, float], ...]

    @classmethod
    def of(cls, parts: Sequence[Any], shares: Sequence[float | None] | None = None) -> JoinedLaw:
        """Return the law that joins all parts in order. Joined laws are replaced by their terms.

        The default share of a law is 1, and that of a joined law is the sum of its shares, so that
        (a + b) + c equals a + (b + c).
        """
        shares = [None] * len(parts) if shares is None else shares
        return cls(sum(map(_terms, parts, shares), ()))

    @property
    def given(self) -> int:
        """Number of given eigenvalues."""
        return sum(part.units for part, _ in self.terms if not callable(part))

    @property
    def shares(self) -> list[float]:
        """Shares of the laws, in order."""
        return [share for part, share in self.terms if callable(part)]

    def __call__(self, n: int, sr: float = 0.9, seed: Seed = None) -> Spectrum:
        """Return n eigenvalues, including the given eigenvalues."""
        n = check_units(n)
        shares, given = self.shares, self.given
        if n - given < len(shares):
            expected = f"at least {given + len(shares)}, because each law draws at least one"
            raise bad_argument("n", n, expected, "Increase units.")
        seeds = [seed] if len(shares) == 1 else generator(seed).spawn(len(shares))
        draws = zip(whole_parts(n - given, shares), seeds, strict=True)
        first, *others = [
            draw_law(part, *next(draws), sr) if callable(part) else part for part, _ in self.terms
        ]
        return first.join(*others)

    def __add__(self, other: Any) -> JoinedLaw:
        return JoinedLaw.of((self, other)) if _is_part(other) else NotImplemented

    def __radd__(self, other: Any) -> JoinedLaw:
        return JoinedLaw.of((other, self)) if _is_part(other) else NotImplemented

    def __repr__(self) -> str:
        shares = self.shares
        shown = [_name(part) for part, _ in self.terms]
        if len(set(shares)) > 1:
            shown.append(f"share=[{', '.join(f'{share:g}' for share in shares)}]")
        return f"joined({', '.join(shown)})"


def whole_parts(n: int, shares: Sequence[float]) -> list[int]:
    """Return positive integers that sum to n, in proportions as close to the shares as possible."""
    ideal = n * (np.asarray(shares, float) / np.sum(shares))
    parts = np.maximum(np.floor(ideal), 1)
    while parts.sum() < n:
        parts[np.argmax(ideal - parts)] += 1
    while parts.sum() > n:
        parts[np.argmax(np.where(parts > 1, parts - ideal, -np.inf))] -= 1
    return [int(part) for part in parts]


def _is_part(value: Any) -> bool:
    return callable(value) or isinstance(value, Spectrum)


def _terms(part: Any, share: float | None) -> tuple[tuple[Any, float], ...]:
    if isinstance(part, JoinedLaw):
        factor = 1.0 if share is None else share / sum(part.shares)
        return tuple((term, factor * own) for term, own in part.terms)
    return ((part, 1.0 if share is None else float(share)),) if callable(part) else ((part, 0.0),)


def draw_law(law: Callable[..., Spectrum], n: int, seed: Seed, sr: float) -> Spectrum:
    """Draw n eigenvalues from a law, or raise if it does not return n eigenvalues."""
    drawn = law(n, sr=sr, seed=seed)
    with suppress(ValueError):
        spectrum = drawn if isinstance(drawn, Spectrum) else Spectrum.from_values(drawn)
        if spectrum.units == n:
            return spectrum
    got = Words(f"{drawn!r:.80} from {_name(law)}({n})")
    expected = f"{counted(n, 'eigenvalue')}, in a Spectrum or an array with all conjugates"
    raise bad_argument("spectrum", got, expected)


def _name(part: Any) -> str:
    """Return the name of a law for messages, without the memory address of a function."""
    if isinstance(part, partial):
        words = [*map(repr, part.args), *(f"{key}={part.keywords[key]!r}" for key in part.keywords)]
        return f"partial({', '.join([_name(part.func), *words])})"
    return getattr(part, "__name__", None) or repr(part)
