"""Blocks left out, against refits without them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from eigenecho import spectra
from eigenecho.basis import random_basis
from eigenecho.readout import LeftOut, Penalty, Triangle, steadiest

N = 6
BASIS = random_basis(spectra.golden(N, seed=1), np.random.default_rng(1))
RIDGES = np.array([1e-6, 0.3, 100.0])


def data(rows, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 1 + N)) * np.geomspace(1, 0.1, 1 + N)
    X[:, 0] = 1.0
    return X, X @ rng.normal(size=(1 + N, 2)) + noise * rng.normal(size=(rows, 2))


def parts(X, Y, edges):
    cuts = itertools.pairwise(edges)
    return [Triangle.empty(1 + N, 2).absorb(X[a:b], Y[a:b]) for a, b in cuts]


def refitted(X, Y, edges, penalty, ridge):
    total = np.zeros(2)
    for a, b in itertools.pairwise(edges):
        kept = np.r_[0:a, b : len(X)]
        A = X[kept].T @ X[kept] + ridge * penalty.gram()
        w = np.linalg.solve(A, X[kept].T @ Y[kept])
        total += np.sum((Y[a:b] - X[a:b] @ w) ** 2, axis=0)
    return total


@pytest.mark.parametrize("edges", [(0, 25, 50), (0, 3, 20, 21, 50), (0, 10, 10, 50)])
@pytest.mark.parametrize("free", [0, 1])
@pytest.mark.parametrize("basis", [None, BASIS])
def test_errors_are_those_of_refits(edges, free, basis):
    X, Y = data(50)
    penalty = Penalty(1 + N, free, basis)
    found = LeftOut.of(parts(X, Y, edges), penalty).squared_errors(RIDGES)
    wanted = [refitted(X, Y, edges, penalty, ridge) for ridge in RIDGES]
    np.testing.assert_allclose(found, wanted, rtol=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_the_steadiest_is_the_best_of_a_fine_grid(seed):
    X, Y = data(60, seed, noise=3.0)
    edges, penalty = range(0, 61, 6), Penalty(1 + N)
    left_out = LeftOut.of(parts(X, Y, list(edges)), penalty)
    found = steadiest([left_out])
    grid = np.geomspace(1e-4, 1e6, 1000)

    def score(ridges):
        return np.log(left_out.squared_errors(ridges)).sum(axis=1)

    assert score([found])[0] <= score(grid).min() + 1e-3


def test_groups_share_one_ridge():
    X, Y = data(60, noise=3.0)
    edges, penalty = list(range(0, 61, 6)), Penalty(1 + N)
    one = LeftOut.of(parts(X, Y, edges), penalty)
    assert steadiest([one, one]) == pytest.approx(steadiest([one]))


def test_no_states_at_all():
    X, Y = data(20)
    assert np.isfinite(steadiest([LeftOut.of(parts(0 * X, Y, [0, 10, 20]), Penalty(1 + N))]))
