"""The eigenvalue laws by their names."""

from __future__ import annotations

from collections.abc import Callable

from eigenecho.errors import unknown_name
from eigenecho.spectra.golden import golden, noisy_golden
from eigenecho.spectra.ring import log_ring, ring, time_constants
from eigenecho.spectra.sim import sim
from eigenecho.spectra.spectrum import Spectrum
from eigenecho.spectra.uniform import uniform

Law = Callable[..., Spectrum]
"""``law(n, sr=…, seed=…) -> Spectrum``."""

LAWS: dict[str, Law] = {
    law.__name__: law
    for law in (uniform, golden, noisy_golden, sim, ring, log_ring, time_constants)
}


def law(name: str, *, also: tuple[str, ...] = ()) -> Law:
    """The law of that name; ``also`` names what the caller knows besides.

    Parameters
    ----------
    name : str
        One of ``LAWS``.
    also : tuple of str
        Further names for the message of an error.

    See Also
    --------
    eigenecho.spectra.joined : laws and eigenvalues in one

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.spectra.law("ring")(10, sr=0.9)
    Spectrum(10 units: 2 real, 4 pairs, radius 0.9)
    """
    try:
        return LAWS[name]
    except KeyError:
        raise unknown_name("spectrum", name, (*LAWS, *also)) from None
