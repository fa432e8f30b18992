"""Eigenvalue laws that join given eigenvalues with other laws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.checks import check_units, generator
from eigenecho.errors import Words, bad_argument, counted
from eigenecho.types import Seed

if TYPE_CHECKING:
    from eigenecho.spectra.spectrum import Spectrum


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
    return callable(value) or hasattr(value, "pairs")


def _terms(part: Any, share: float | None) -> tuple[tuple[Any, float], ...]:
    if isinstance(part, JoinedLaw):
        factor = 1.0 if share is None else share / sum(part.shares)
        return tuple((term, factor * own) for term, own in part.terms)
    return ((part, 1.0 if share is None else float(share)),) if callable(part) else ((part, 0.0),)


def draw_law(law: Callable[..., Spectrum], n: int, seed: Seed, sr: float) -> Spectrum:
    """Draw n eigenvalues from a law, or raise if it does not return a Spectrum of this size."""
    spectrum = law(n, sr=sr, seed=seed)
    if getattr(spectrum, "units", None) != n:
        got = Words(f"{spectrum!r:.80} from {_name(law)}({n})")
        expected = f"a Spectrum of {counted(n, 'eigenvalue')}"
        remedy = "Use Spectrum.from_values to convert a list of eigenvalues."
        raise bad_argument("spectrum", got, expected, remedy)
    return spectrum


def _name(part: Any) -> str:
    """Return the name of a law for messages, without the memory address of a function."""
    if isinstance(part, partial):
        words = [*map(repr, part.args), *(f"{key}={part.keywords[key]!r}" for key in part.keywords)]
        return f"partial({', '.join([_name(part.func), *words])})"
    return getattr(part, "__name__", None) or repr(part)
