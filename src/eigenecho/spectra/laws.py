"""The eigenvalue laws by name, and several spectra or laws joined into one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eigenecho.checks import is_finite_number
from eigenecho.errors import bad_argument, unknown_name
from eigenecho.spectra.golden import golden, noisy_golden
from eigenecho.spectra.joined_law import JoinedLaw
from eigenecho.spectra.random import sim, uniform
from eigenecho.spectra.ring import log_ring, ring, time_constants
from eigenecho.spectra.spectrum import Spectrum

Law = Callable[..., Spectrum]
"""``law(n, sr=…, seed=…) -> Spectrum``."""

LAWS: dict[str, Law] = {
    law.__name__: law
    for law in (uniform, golden, noisy_golden, sim, ring, log_ring, time_constants)
}


def law(name: str, *, also: tuple[str, ...] = ()) -> Law:
    """Return the law of a name.

    Parameters
    ----------
    name : str
        One of ``LAWS``.
    also : tuple of str
        Further names for the error message.

    See Also
    --------
    eigenecho.spectra.joined : laws and eigenvalues in one

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.spectra.law("ring")(10, sr=0.9)
    Spectrum(10 units: 2 real, 4 pairs, radius 0.9)
    """
    if name not in LAWS:
        raise unknown_name("spectrum", name, (*LAWS, *also))
    return LAWS[name]


def joined(
    *parts: Spectrum | Callable[..., Spectrum] | str, share: Sequence[float] | None = None
) -> Spectrum | JoinedLaw:
    """Combine all parts: into a Spectrum if all parts are spectra, else into a law.

        joined(a, b, law) = a + b + law

    ``+`` does the same if one side is a Spectrum or a joined law.

    Parameters
    ----------
    *parts : Spectrum, or law by its name or as a callable ``(n, sr=, seed=) -> Spectrum``
    share : list of floats, optional
        Share of the drawn units, one number > 0 for each law; equal by default. Each law draws at
        least one unit.

    Returns
    -------
    Spectrum, or JoinedLaw
        The latter is a law ``(n, sr=, seed=)``. As ``spectrum=``, its ``sr`` acts on the drawn
        eigenvalues.

    Warns
    -----
    IllConditionedWarning
        If parts have eigenvalues in common, which add no memory with one input.

    See Also
    --------
    eigenecho.spectra.JoinedLaw : the result of joining laws
    eigenecho.spectra.ring : evenly on a circle
    eigenecho.spectra.log_ring : time constants from short to long

    Examples
    --------
    >>> from eigenecho.spectra import joined, ring
    >>> joined(ring(24, sr=0.99), "log_ring")(60, sr=0.999, seed=0)
    Spectrum(60 units: 2 real, 29 pairs, radius 0.999)
    """
    terms = [law(part) if isinstance(part, str) else part for part in parts]
    if not terms or not all(callable(part) or isinstance(part, Spectrum) for part in terms):
        expected = "at least one spectrum, or law by name or as a callable"
        raise bad_argument("parts", parts, expected)
    spectra = [part for part in terms if isinstance(part, Spectrum)]
    shares = iter(_checked(share, len(terms) - len(spectra)))
    if len(spectra) == len(terms):
        return spectra[0].join(*spectra[1:])
    return JoinedLaw.of(terms, [next(shares) if callable(part) else None for part in terms])


def _checked(share: Any, laws: int) -> Sequence[Any]:
    """Return one number for each law, or None for each."""
    if share is None:
        return [None] * laws
    fits = hasattr(share, "__len__") and not isinstance(share, str) and len(share) == laws
    if not fits or not all(is_finite_number(value) and value > 0 for value in share):
        expected = f"{laws} numbers > 0, one for each law"
        raise bad_argument("share", share, expected, "Spectra keep their size.")
    return share
