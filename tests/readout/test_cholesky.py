"""Blocked Cholesky factors are correct and do not depend on the number of threads."""

import numpy as np
import pytest

from eigenecho.readout import lapack as tiled


@pytest.fixture(params=[80, 1000], ids=["huge from 80", "none is huge"])
def small_tiles(monkeypatch, request):
    monkeypatch.setattr(tiled, "TILE", 16)
    monkeypatch.setattr(tiled, "LARGE", 17)
    monkeypatch.setattr(tiled, "HUGE", request.param)


def definite(N):
    X = np.random.default_rng(N).normal(size=(N, N))
    return np.asfortranarray(X @ X.T + 1e-3 * np.eye(N))


@pytest.mark.parametrize("N", [1, 16, 17, 32, 75, 100])
def test_factors_multiply_to_the_matrix(N, small_tiles):
    A = definite(N)
    factor, result = tiled.cholesky(A.copy(order="F"))
    L = np.tril(factor)
    assert result
    np.testing.assert_allclose(L @ L.T, A, rtol=0, atol=1e-13 * np.abs(A).max())
    np.testing.assert_allclose(L, np.linalg.cholesky(A), atol=1e-9)


def test_factors_do_not_depend_on_threads(small_tiles, monkeypatch):
    results = []
    for count in ("1", "2", "3", "16"):
        monkeypatch.setenv("EIGENECHO_NUM_THREADS", count)
        results.append(np.tril(tiled.cholesky(definite(100))[0]))
    assert all(np.array_equal(results[0], other) for other in results)


@pytest.mark.parametrize("row", [3, 40, 99])
def test_indefinite_matrix_has_no_factor(row, small_tiles):
    A = definite(100)
    A[row, row] = -1.0
    assert not tiled.cholesky(A)[1]


def test_part_of_a_matrix_is_factorised_in_place():
    rng = np.random.default_rng(0)
    whole = np.asfortranarray(rng.normal(size=(20, 20)))
    L = np.asfortranarray(np.tril(rng.normal(size=(4, 4))) + 4 * np.eye(4))
    before, rows = whole.copy(), slice(3, 10)
    tiled.divide_right(whole[rows, 5:9], L)
    tiled.subtract_product(whole[rows, 12:15], whole[rows, 5:9], whole[:3, 5:9])
    expected = before.copy()
    expected[rows, 5:9] = np.linalg.solve(L, before[rows, 5:9].T).T
    expected[rows, 12:15] -= expected[rows, 5:9] @ expected[:3, 5:9].T
    np.testing.assert_allclose(whole, expected, atol=1e-14)
