"""Eigenvalues drawn uniformly from a disk, and eigenvalues of random or given matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenecho.checks import as_square, check_number, check_units, generator
from eigenecho.spectra.spectrum import Spectrum, real_count
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array, Seed


def uniform(n: int, sr: float = 0.9, seed: Seed = None) -> Spectrum:
    """Draw eigenvalues uniformly from the disk of radius ``sr``.

        λ ~ U(−sr, sr),   μ = sr √U(0, 1) exp(i U(0, π))

    The eigenvalues are not rescaled, so their radius is slightly smaller than ``sr``.

    Parameters
    ----------
    n : int
        Number of eigenvalues; a pair counts as two.
    sr : float
        Radius of the disk.
    seed : int, Generator or None
        Seed for drawing the eigenvalues.

    See Also
    --------
    eigenecho.spectra.golden : Eigenvalues that cover the disk evenly.
    eigenecho.spectra.sim : Eigenvalues of a random matrix.

    Examples
    --------
    >>> import eigenecho as ee
    >>> spectrum = ee.spectra.uniform(100, sr=0.9, seed=0)
    >>> spectrum.units, bool(spectrum.radius <= 0.9)
    (100, True)
    """
    n = check_units(n)
    sr = check_number(sr, "sr", "≥ 0")
    rng = generator(seed)
    n_real = real_count(n)
    m = (n - n_real) // 2
    real = rng.uniform(-1, 1, n_real)
    modulus = np.sqrt(rng.uniform(0, 1, m))
    angle = np.pi * (1 - rng.uniform(0, 1, m))  # in (0, π], never exactly on the positive axis
    # sin π is 1e-16 in floating point, so the upper end is also above the axis.
    return Spectrum(real, modulus * np.exp(1j * angle)).times(sr)


def sim(n: int, sr: float = 0.9, seed: Seed = None, *, connectivity: float = 1.0) -> Spectrum:
    """Return the eigenvalues of a random Gaussian matrix, scaled to radius ``sr``.

    Parameters
    ----------
    n : int
        Number of eigenvalues; a pair counts as two.
    sr : float
        Spectral radius.
    seed : int, Generator or None
        Seed of the matrix.
    connectivity : float
        Probability that an entry is nonzero.

    See Also
    --------
    eigenecho.spectra.from_matrix : Eigenvalues of a given matrix.
    eigenecho.spectra.random_matrix : Draw a random matrix.

    Examples
    --------
    >>> import eigenecho as ee
    >>> round(ee.spectra.sim(100, sr=0.9, seed=0).radius, 6)
    0.9
    """
    sr = check_number(sr, "sr", "≥ 0")
    return from_matrix(random_matrix(n, seed, connectivity=connectivity)).scaled(sr)


@one_blas_thread()
def from_matrix(W: Any) -> Spectrum:
    """Return the eigenvalues of a real square matrix, which may be sparse.

    Parameters
    ----------
    W : array or scipy sparse matrix (N, N)
        Real and finite matrix.

    See Also
    --------
    eigenecho.diagonalize : Convert a network to its eigenbasis.
    eigenecho.spectra.from_values : Create a spectrum from a list of eigenvalues.

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.spectra.from_matrix([[0.0, 0.5], [-0.5, 0.0]]).values
    array([0.+0.5j, 0.-0.5j])
    """
    values = np.linalg.eigvals(as_square(W))
    # LAPACK returns exact conjugates for a real matrix, so the signs of Im λ identify the pairs.
    return Spectrum(np.sort(values[values.imag == 0].real), values[values.imag > 0])


def random_matrix(n: int, seed: Seed = None, *, connectivity: float = 1.0) -> Array:
    """Draw an (n, n) matrix of N(0, 1) entries, each kept with probability ``connectivity``.

    Parameters
    ----------
    n : int
        Number of rows and columns.
    seed : int, Generator or None
        Seed of the matrix. Nonzero entries equal those of the dense matrix with the same seed.
    connectivity : float
        Probability in (0, 1] that an entry is nonzero.

    See Also
    --------
    eigenecho.spectra.sim : Eigenvalues of a random matrix.

    Examples
    --------
    >>> import eigenecho as ee
    >>> W = ee.spectra.random_matrix(100, seed=0, connectivity=0.1)
    >>> W.shape, bool((W != 0).mean() < 0.2)
    ((100, 100), True)
    """
    n = check_units(n)
    connectivity = check_number(connectivity, "connectivity", "> 0", "≤ 1")
    rng = generator(seed)
    W = rng.normal(size=(n, n))
    if connectivity < 1:
        # The mask is drawn after the weights, which thus equal those of the dense matrix.
        W[rng.random((n, n)) >= connectivity] = 0.0
    return W
