"""Eigenvalue laws by name, and joined spectra and laws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eigenecho.checks import is_finite_number
from eigenecho.errors import bad_argument, counted, unknown_name
from eigenecho.spectra.golden import golden, noisy_golden
from eigenecho.spectra.random import sim, uniform
from eigenecho.spectra.ring import log_ring, ring, time_constants
from eigenecho.spectra.spectrum import JoinedLaw, Spectrum

Law = Callable[..., Spectrum]
"""Callable ``law(n, sr=…, seed=…) -> Spectrum``."""

LAWS: dict[str, Law] = {
    law.__name__: law
    for law in (uniform, golden, noisy_golden, sim, ring, log_ring, time_constants)
}


def law(name: str, *, also: tuple[str, ...] = ()) -> Law:
    """Return the law with a given name.

    Parameters
    ----------
    name : str
        One of ``LAWS``.
    also : tuple of str
        Further valid names, which are listed in the error message.

    See Also
    --------
    eigenecho.spectra.joined : Join spectra and laws.

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
    """Join all parts into a Spectrum, or into a law if any part is a law.

        joined(a, b, law) = a + b + law

    The ``+`` operator is equivalent if one operand is a Spectrum or a joined law.

    Parameters
    ----------
    *parts : Spectrum, str or callable
        Eigenvalues, names of laws, or laws ``(n, sr=, seed=) -> Spectrum``.
    share : list of floats, optional
        Shares of the drawn units, one number > 0 per law; equal by default. Each law draws at least
        one unit.

    Returns
    -------
    Spectrum, or JoinedLaw
        A JoinedLaw is called with ``(n, sr=, seed=)``. As the ``spectrum`` of a network, it applies
        ``sr`` only to the drawn eigenvalues.

    Warns
    -----
    IllConditionedWarning
        If parts have common eigenvalues, which add no memory if there is only one input.

    See Also
    --------
    eigenecho.spectra.JoinedLaw : Law that joins other laws.
    eigenecho.spectra.ring : Eigenvalues evenly spaced on a circle.
    eigenecho.spectra.log_ring : Pairs with geometrically spaced time constants.

    Examples
    --------
    >>> from eigenecho.spectra import joined, ring
    >>> joined(ring(24, sr=0.99), "log_ring")(60, sr=0.999, seed=0)
    Spectrum(60 units: 2 real, 29 pairs, radius 0.999)
    """
    terms = [law(part) if isinstance(part, str) else part for part in parts]
    if not terms or not all(callable(part) or isinstance(part, Spectrum) for part in terms):
        expected = "one or more parts, each a Spectrum, the name of a law, or a callable"
        raise bad_argument("parts", parts, expected)
    spectra = [part for part in terms if isinstance(part, Spectrum)]
    shares = iter(_checked(share, len(terms) - len(spectra)))
    if len(spectra) == len(terms):
        return spectra[0].join(*spectra[1:])
    return JoinedLaw.of(terms, [next(shares) if callable(part) else None for part in terms])


def _checked(share: Any, laws: int) -> Sequence[Any]:
    """Return one share per law, or None for each law if no shares are given."""
    if share is None:
        return [None] * laws
    fits = hasattr(share, "__len__") and not isinstance(share, str) and len(share) == laws
    if not fits or not all(is_finite_number(value) and value > 0 for value in share):
        expected = f"a list of {counted(laws, 'positive number')}, one for each law"
        remedy = "Parts that are Spectrum objects have no share."
        raise bad_argument("share", share, expected if laws else "None", remedy)
    return share
