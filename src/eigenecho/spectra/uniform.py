"""Eigenvalues uniform over the disk."""

from __future__ import annotations

import numpy as np

from eigenecho.checks import check_sr, check_units, generator
from eigenecho.spectra.spectrum import Spectrum, real_count
from eigenecho.types import Seed


def uniform(n: int, sr: float = 0.9, seed: Seed = None) -> Spectrum:
    """Draw eigenvalues uniformly over the disk of radius ``sr``.

        λ ~ U(−sr, sr),   μ = sr √U(0, 1) exp(i U(0, π))

    The draw is not rescaled: its radius is a little below ``sr``.

    Parameters
    ----------
    n : int
        Number of eigenvalues; a pair counts as two.
    sr : float
        The radius of the disk.
    seed : int, Generator or None
        Seed of the draw.

    See Also
    --------
    eigenecho.spectra.golden : an even cover, without clusters and holes
    eigenecho.spectra.sim : eigenvalues of a random matrix

    Examples
    --------
    >>> import eigenecho as ee
    >>> spectrum = ee.spectra.uniform(100, sr=0.9, seed=0)
    >>> spectrum.units, bool(spectrum.radius <= 0.9)
    (100, True)
    """
    check_units(n)
    check_sr(sr)
    rng = generator(seed)
    n_real = real_count(n)
    m = (n - n_real) // 2
    real = rng.uniform(-1, 1, n_real)
    modulus = np.sqrt(rng.uniform(0, 1, m))
    angle = np.pi * (1 - rng.uniform(0, 1, m))  # in ]0, π]: never exactly on the positive axis
    # sin π is 1e-16 in floating point, so the upper end is safely above the axis too.
    return Spectrum(real, modulus * np.exp(1j * angle)).times(sr)
