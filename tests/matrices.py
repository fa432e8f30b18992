"""Test matrices for conversions, as functions of (N, rng), with a spectral radius of at most 1."""

from __future__ import annotations

import numpy as np


def gaussian(N, rng):
    return rng.normal(size=(N, N))


def sparse(degree):
    def draw(N, rng):
        W = rng.normal(size=(N, N))
        W[rng.random((N, N)) >= degree / N] = 0.0
        return W

    return draw


def orthogonal(N, rng):
    return np.linalg.qr(rng.normal(size=(N, N)))[0]


def permutation(N, rng):
    return np.eye(N)[rng.permutation(N)]


def triangular(N, rng):
    return np.triu(rng.normal(size=(N, N))) / np.sqrt(N)


def jordan(N, rng):
    return 0.5 * np.eye(N) + 0.5 * np.diag(np.ones(N - 1), 1)


def zero(N, rng):
    return np.zeros((N, N))


def low_rank(N, rng):
    return rng.normal(size=(N, 5)) @ rng.normal(size=(5, N))


KINDS = {
    "dense Gaussian": gaussian,
    **{f"sparse, degree {d}": sparse(d) for d in (1, 2, 3, 5, 10, 50)},
    "orthogonal": orthogonal,
    "permutation": permutation,
    "triangular": triangular,
    "Jordan block": jordan,
    "zero": zero,
    "low rank": low_rank,
}

DIAGONAL = ("dense Gaussian", "orthogonal", "sparse, degree 10", "sparse, degree 50")
"""Kinds of matrices that have an eigenbasis."""


def matrix(kind, N, seed=0):
    """Return a matrix of a kind, rescaled to a spectral radius of at most 1."""
    W = KINDS[kind](N, np.random.default_rng(seed))
    return W / max(1.0, np.abs(np.linalg.eigvals(W)).max())
