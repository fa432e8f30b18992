"""Eigenbases of given matrices, and random ones."""

from __future__ import annotations

import numpy as np

from eigenecho.basis.basis import Basis, interleave
from eigenecho.spectra import Spectrum
from eigenecho.types import Array


def eigendecomposition(W: Array) -> tuple[Spectrum, Basis]:
    """Eigenvalues and real eigenbasis of a real square matrix.

    W Q = Q [W]_Q
    """
    values, vectors = np.linalg.eig(W)
    real = values.imag == 0
    upper = values.imag > 0
    spectrum = Spectrum(values[real].real, values[upper])
    Q = interleave(vectors[:, real].real, vectors[:, upper].astype(np.complex128))
    return spectrum, Basis(Q, int(real.sum()))


def random_basis(spectrum: Spectrum, rng: np.random.Generator) -> Basis:
    """Random eigenvectors of unit length for a spectrum: Gaussian directions.

    Real for real eigenvalues, complex for pairs. The real ones are drawn first.
    """
    N, n, m = spectrum.units, spectrum.real.size, spectrum.pairs.size
    real = _unit(rng.normal(size=(N, n)))
    pairs = _unit(rng.normal(size=(N, m)) + 1j * rng.normal(size=(N, m)))
    return Basis(interleave(real, pairs), n)


def _unit(vectors: Array) -> Array:
    return vectors / np.linalg.norm(vectors, axis=0)
