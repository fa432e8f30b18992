"""Data and networks used by several jobs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import eigenecho as ee

Array = np.ndarray

CONNECTIVITY = 0.1
RADIUS = 0.9
WARMUP = 100


def random_W(N: int, *, scaled: bool = True) -> Array:
    """Return a sparse random matrix of radius 0.9, approximately so if not ``scaled``."""
    rng = np.random.default_rng(N)
    W = rng.normal(size=(N, N)) * (rng.random((N, N)) < CONNECTIVITY)
    if scaled:
        return W * (RADIUS / np.abs(np.linalg.eigvals(W)).max())
    return W * (RADIUS / np.sqrt(CONNECTIVITY * N))


def white(T: int) -> tuple[Array, Array]:
    """Return white noise, and its value ten steps ago with noise."""
    rng = np.random.default_rng(0)
    u = rng.uniform(-1, 1, (T, 1))
    return u, np.roll(u, 10, axis=0) + 0.1 * rng.normal(size=u.shape)


class TrainedNetwork(NamedTuple):
    """A network trained in the eigenbasis of a sparse W, and its weights in the neuron basis."""

    esn: ee.LinearESN
    W: Any
    W_in: Array
    W_out: Array


def trained(N: int, X: Array, y: Array, ridge: float = 1e-6) -> TrainedNetwork:
    """Train a network with a sparse random W, and return its weights for other libraries."""
    W = random_W(N)
    esn = ee.LinearESN(spectrum=W, ridge=ridge, warmup=WARMUP, seed=0).fit(X, y)
    weights = esn.matrices("neuron")
    return TrainedNetwork(esn, sparse.csr_matrix(W), weights.W_in, weights.W_out)
