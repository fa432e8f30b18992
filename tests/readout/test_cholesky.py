"""Cholesky factors in tiles: right, and the same on any number of threads."""

import numpy as np
import pytest

from eigenecho.readout import cholesky as tiled


@pytest.fixture
def small_tiles(monkeypatch):
    monkeypatch.setattr(tiled, "TILE", 16)
    monkeypatch.setattr(tiled, "LARGE", 17)


def definite(N):
    X = np.random.default_rng(N).normal(size=(N, N))
    return np.asfortranarray(X @ X.T + 1e-3 * np.eye(N))


@pytest.mark.parametrize("N", [1, 16, 17, 32, 75, 100])
def test_factors_multiply_to_the_matrix(N, small_tiles):
    A = definite(N)
    factor, found = tiled.cholesky(A.copy(order="F"))
    L = np.tril(factor)
    assert found
    np.testing.assert_allclose(L @ L.T, A, rtol=0, atol=1e-13 * np.abs(A).max())
    np.testing.assert_allclose(L, np.linalg.cholesky(A), atol=1e-9)


def test_bits_do_not_depend_on_threads(small_tiles, monkeypatch):
    found = []
    for count in ("1", "2", "3", "16"):
        monkeypatch.setenv("EIGENECHO_NUM_THREADS", count)
        found.append(np.tril(tiled.cholesky(definite(100))[0]))
    assert all(np.array_equal(found[0], other) for other in found)


@pytest.mark.parametrize("row", [3, 40, 99])
def test_a_matrix_that_is_not_definite_has_none(row, small_tiles):
    A = definite(100)
    A[row, row] = -1.0
    assert not tiled.cholesky(A)[1]
