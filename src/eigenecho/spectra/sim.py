"""Eigenvalues of random matrices, and of given ones."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from eigenecho.errors import bad_argument
from eigenecho.random import Seed, generator
from eigenecho.spectra.spectrum import Spectrum, check_n, check_sr
from eigenecho.types import Array


def sim(n: int, sr: float = 0.9, seed: Seed = None, *, connectivity: float = 1.0) -> Spectrum:
    """The eigenvalues of a random Gaussian matrix, scaled to radius ``sr``."""
    check_sr(sr)
    return from_matrix(random_matrix(n, seed, connectivity=connectivity)).scaled(sr)


def from_matrix(W: Any) -> Spectrum:
    """The eigenvalues of a real square matrix, dense or scipy sparse, as they are."""
    return _eigenvalues(as_square(W))


def random_matrix(n: int, seed: Seed = None, *, connectivity: float = 1.0) -> Array:
    """An (n, n) matrix of N(0, 1) entries, each kept with probability ``connectivity``."""
    check_n(n)
    check_connectivity(connectivity)
    rng = generator(seed)
    W = rng.normal(size=(n, n))
    if connectivity < 1:
        # Drawn after the weights: the kept ones are those of the dense matrix of this seed.
        W[rng.random((n, n)) >= connectivity] = 0.0
    return W


def check_connectivity(connectivity: float, name: str = "connectivity") -> None:
    """A connectivity is the probability of a connection."""
    if not (isinstance(connectivity, Real) and 0 < connectivity <= 1):
        raise bad_argument(name, connectivity, "a probability in ]0, 1]")


def as_square(W: Any, name: str = "W") -> Array:
    """``W`` as a dense float64 matrix, after checking that it is real, finite and square."""
    if hasattr(W, "toarray"):
        W = W.toarray()
    W = np.asarray(W)
    if W.ndim != 2 or W.shape[0] != W.shape[1] or W.size == 0:
        raise bad_argument(name, f"<shape {W.shape}>", "a square matrix (N, N) with N ≥ 1")
    if W.dtype.kind not in "fiub":
        raise bad_argument(name, f"<dtype {W.dtype}>", "real numbers")
    W = W.astype(np.float64)
    if not np.all(np.isfinite(W)):
        raise bad_argument(name, "<NaN or Inf>", "finite numbers", "Clean the matrix first.")
    return W


def _eigenvalues(W: Array) -> Spectrum:
    values = np.linalg.eigvals(W)
    # LAPACK returns the conjugates of a real matrix exactly, so the signs decide.
    return Spectrum(np.sort(values[values.imag == 0].real), values[values.imag > 0])
