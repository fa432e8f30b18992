"""Eigenvalues of random matrices, and of given ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenecho.checks import as_square, check_connectivity, check_sr, check_units, generator
from eigenecho.spectra.spectrum import Spectrum
from eigenecho.types import Array, Seed


def sim(n: int, sr: float = 0.9, seed: Seed = None, *, connectivity: float = 1.0) -> Spectrum:
    """The eigenvalues of a random Gaussian matrix, scaled to radius ``sr``."""
    check_sr(sr)
    return from_matrix(random_matrix(n, seed, connectivity=connectivity)).scaled(sr)


def from_matrix(W: Any) -> Spectrum:
    """The eigenvalues of a real square matrix, dense or scipy sparse, as they are."""
    values = np.linalg.eigvals(as_square(W))
    # LAPACK returns the conjugates of a real matrix exactly, so the signs decide.
    return Spectrum(np.sort(values[values.imag == 0].real), values[values.imag > 0])


def random_matrix(n: int, seed: Seed = None, *, connectivity: float = 1.0) -> Array:
    """An (n, n) matrix of N(0, 1) entries, each kept with probability ``connectivity``."""
    check_units(n)
    check_connectivity(connectivity)
    rng = generator(seed)
    W = rng.normal(size=(n, n))
    if connectivity < 1:
        # Drawn after the weights: the kept ones are those of the dense matrix of this seed.
        W[rng.random((n, n)) >= connectivity] = 0.0
    return W
