"""LAPACK calls without the GIL equal SciPy's, and parallel triangles equal a single one."""

from importlib import import_module

import numpy as np
import pytest
from scipy.linalg import lapack

import eigenecho as ee
from eigenecho.readout import triangle
from eigenecho.readout.lapack import PANEL, reflect


@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 3, 2), (60, 200, 1), (130, 7, 3), (50, 50, 60)])
def test_reflections_equal_scipy_exactly(shape):
    N, n, D = shape
    rng = np.random.default_rng(0)
    R, Z = np.triu(rng.normal(size=(N, N))), rng.normal(size=(N, D))
    A, Y = rng.normal(size=(n, N)), rng.normal(size=(n, D))
    given = [part.copy() for part in (R, Z, A, Y)]
    result = reflect(R, Z, A, Y)
    upper, V, T, _ = lapack.dtpqrt(0, min(PANEL, N), R, A)
    turned, left, _ = lapack.dtpmqrt(0, V, T, Z, Y, trans="T")
    for one, other in zip(result, (upper, turned, left), strict=True):
        np.testing.assert_array_equal(one, other)
    for part, before in zip((R, Z, A, Y), given, strict=True):
        np.testing.assert_array_equal(part, before)


def fitted(T=3000):
    rng = np.random.default_rng(0)
    u = rng.uniform(-1, 1, (T, 1))
    y = np.roll(u, 3, axis=0) + 0.01 * rng.normal(size=u.shape)
    return ee.LinearESN(20, solver="qr", ridge=1e-3, seed=0).fit(u, y).W_out_


@pytest.fixture
def parallel_triangles(monkeypatch):
    monkeypatch.setattr(triangle, "WORK", 0)
    # Import the module by name, because a function has the same name.
    monkeypatch.setattr(import_module("eigenecho.rows"), "CHUNK_BYTES", 8 * 21 * 100)


def test_parallel_triangles_equal_a_single_one(parallel_triangles, monkeypatch):
    many = fitted()
    monkeypatch.setattr(triangle, "WORK", np.inf)
    np.testing.assert_allclose(many, fitted(), atol=1e-12)


@pytest.mark.parametrize("T", [90, 300, 3000, 3050])
def test_results_do_not_depend_on_threads(T, parallel_triangles, monkeypatch):
    results = []
    for count in ("1", "2", "5", "16"):
        monkeypatch.setenv("EIGENECHO_NUM_THREADS", count)
        results.append(fitted(T))
    assert all(np.array_equal(results[0], other) for other in results)


def test_number_of_lanes_depends_only_on_the_problem():
    lanes = triangle.Triangle.lanes
    assert lanes(100_000, 1001) == 8
    assert lanes(1_000_000, 1001) == 16
    assert lanes(100_000, 101) == 1  # too little work
    assert lanes(20_000, 2001) == 1  # merging would take too long
    assert lanes(10**6, 4097) == 1  # too much memory
