"""Eigenvalues on a golden-angle spiral, with and without noise."""

from __future__ import annotations

import math

import numpy as np

from eigenecho.checks import check_number, check_units, generator
from eigenecho.spectra.spectrum import Spectrum, real_count
from eigenecho.types import Seed


def golden(n: int, sr: float = 0.9, seed: Seed = None) -> Spectrum:
    """Return eigenvalues whose pairs lie on a phyllotaxis spiral, which covers the disk evenly.

        μ_k = √(k / 2m) exp(iπ v_k),   v_k = v_0 + k (3 − √5) mod 2,   kept where v_k < 1

    The few real eigenvalues are drawn from a uniform distribution, and the starting angle is
    random. The radius is exactly ``sr``.

    Parameters
    ----------
    n : int
        Number of eigenvalues; a pair counts as two.
    sr : float
        Spectral radius.
    seed : int, Generator or None
        Seed of the real eigenvalues and the starting angle.

    See Also
    --------
    eigenecho.spectra.noisy_golden : Golden spectrum with noise, similar to a random matrix.
    eigenecho.spectra.ring : Eigenvalues with the longest memory.
    eigenecho.spectra.uniform : Eigenvalues drawn at random.

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.spectra.golden(100, sr=0.9, seed=0)
    Spectrum(100 units: 8 real, 46 pairs, radius 0.9)
    """
    n = check_units(n)
    rng = generator(seed)
    n_real = real_count(n)
    m = (n - n_real) // 2
    real = rng.uniform(-1, 1, n_real)
    # About half of the angles are in the upper half plane. The sequence is equidistributed, so
    # slightly more than 2m angles always include m of them.
    k = np.arange(1, 2 * m + 16)
    v = (rng.uniform(0, 2) + k * (3 - math.sqrt(5))) % 2
    upper = np.flatnonzero((v > 0) & (v < 1))[:m]
    pairs = np.sqrt(k[upper] / (2 * max(m, 1))) * np.exp(1j * np.pi * v[upper])
    return Spectrum(real, pairs).scaled(sr)


def noisy_golden(
    n: int,
    sr: float = 0.9,
    seed: Seed = None,
    *,
    sigma: float = 0.2,
    absolute: bool = False,
    rescale: bool = False,
) -> Spectrum:
    """Return a golden spectrum with Gaussian noise on its pairs, similar to a random matrix.

        μ + N(0, s²) + i N(0, s²),   s = σ / √N

    The noise is added after the scaling, so the radius can exceed ``sr``.

    Parameters
    ----------
    n : int
        Number of eigenvalues; a pair counts as two.
    sr : float
        Spectral radius before the noise is added.
    seed : int, Generator or None
        Seed of the golden spectrum and of the noise.
    sigma : float
        Standard deviation of the noise, relative to the spacing of the eigenvalues.
    absolute : bool
        Use ``sigma`` itself as the standard deviation, as in the text of the paper.
    rescale : bool
        Rescale the result to radius ``sr``.

    See Also
    --------
    eigenecho.spectra.golden : Golden spectrum without noise.
    eigenecho.spectra.sim : Eigenvalues of a random matrix.

    Examples
    --------
    >>> import eigenecho as ee
    >>> noisy = ee.spectra.noisy_golden(100, sr=0.9, seed=0)
    >>> bool(noisy.radius > 0.9)
    True
    >>> round(ee.spectra.noisy_golden(100, sr=0.9, seed=0, rescale=True).radius, 6)
    0.9
    """
    sigma = check_number(sigma, "sigma", "≥ 0")
    rng = generator(seed)
    base = golden(n, sr, rng)
    s = sigma if absolute else sigma / math.sqrt(n)
    noise = s * (rng.normal(size=base.pairs.size) + 1j * rng.normal(size=base.pairs.size))
    moved = base.pairs + noise
    # Replace values below the real axis by their conjugates, which belong to the same pairs.
    above = moved.real + 1j * np.maximum(np.abs(moved.imag), np.finfo(float).tiny)
    noisy = Spectrum(base.real, above)
    return noisy.scaled(sr) if rescale else noisy
