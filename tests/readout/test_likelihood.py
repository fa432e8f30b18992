"""Marginal likelihoods of ridges equal dense Gaussian densities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from eigenecho import spectra
from eigenecho.basis import random_basis
from eigenecho.readout import Gram, Penalty, Triangle, likeliest

N = 6
BASIS = random_basis(spectra.golden(N, seed=1), np.random.default_rng(1))
PENALTIES = {
    "identity": Penalty(N),
    "neuron": Penalty(N, 0, BASIS),
    "bias": Penalty(1 + N, 0, BASIS),
    "free bias": Penalty(1 + N, 1, BASIS),
    "free bias, identity": Penalty(1 + N, 1),
}
each_penalty = pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES.keys())
RIDGES = np.array([1e-3, 0.3, 7.0, 1e3])


def data(rows, size, seed=0, noise=(0.3, 3.0)):
    rng = np.random.default_rng([seed, rows, size])
    X = rng.normal(size=(rows, size)) * np.geomspace(1, 0.1, size)
    X[:, 0] = 1.0
    Y = X @ rng.normal(size=(size, len(noise))) + np.array(noise) * rng.normal(size=(rows, 1))
    return X, Y


def likelihood(kind, X, Y, penalty):
    statistics = kind.empty(X.shape[1], Y.shape[1]).absorb(X, Y)
    return statistics.likelihood(penalty, np.sum(Y**2, axis=0))


def dense(X, Y, penalty, ridge):
    """Return the log density of all columns at their likeliest noise, without a free bias."""
    k, L = penalty.free, penalty.root()
    if k:  # an orthonormal basis of the vectors that sum to zero
        beside = np.linalg.qr(np.column_stack([X[:, 0], np.eye(len(X))]))[0][:, 1:].T
        X, Y = beside @ X, beside @ Y
    root = X[:, k:] @ np.linalg.inv(L[k:, k:])
    covariance = np.eye(len(X)) + root @ root.T / ridge
    total = 0.0
    for y in Y.T:
        noise = y @ np.linalg.solve(covariance, y) / len(y)
        total += multivariate_normal.logpdf(y, cov=noise * covariance)
    return total


@pytest.mark.parametrize("kind", [Gram, Triangle])
@pytest.mark.parametrize("rows", [4, 40])
@each_penalty
def test_densities_are_gaussian(kind, rows, penalty):
    X, Y = data(rows, penalty.size)
    actual = likelihood(kind, X, Y, penalty)(RIDGES)
    expected = [dense(X, Y, penalty, ridge) for ridge in RIDGES]
    np.testing.assert_allclose(actual, expected, rtol=1e-7)


@pytest.mark.parametrize("kind", [Gram, Triangle])
@each_penalty
def test_unexplained_part_is_the_minimum_of_the_penalised_sum(kind, penalty):
    X, Y = data(50, penalty.size)
    statistics = kind.empty(*X.shape[1:], 2).absorb(X, Y)
    actual = statistics.likelihood(penalty, np.sum(Y**2, axis=0)).unexplained(RIDGES)
    for ridge, q in zip(RIDGES, actual, strict=True):
        w = statistics.factorise(penalty).weights(ridge)
        expected = np.sum((Y - X @ w) ** 2 + 0, axis=0)
        expected += ridge * np.sum(penalty.times_root(w) ** 2, axis=0)
        np.testing.assert_allclose(q, expected, rtol=1e-9)


def leaving_one_out(X, Y, ridge):
    """Return generalised cross-validation scores, with degrees of freedom counted 1.2 times."""
    H = X @ np.linalg.solve(X.T @ X + ridge * np.eye(X.shape[1]), X.T)
    errors = np.sqrt(np.sum((Y - H @ Y) ** 2, axis=0))
    return np.mean(np.log(errors)) - np.log(1 - 1.2 * np.trace(H) / len(X))


def test_expected_errors_equal_cross_validation():
    X, Y = data(50, N)
    result = likelihood(Triangle, X, Y, PENALTIES["identity"]).expected_errors(RIDGES)
    np.testing.assert_allclose(result, [leaving_one_out(X, Y, a) for a in RIDGES], rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
@each_penalty
def test_likeliest_ridge_is_the_best_accepted_ridge_of_a_fine_grid(penalty, seed):
    X, Y = data(60, penalty.size, seed)
    exact, sums = (likelihood(kind, X, Y, penalty) for kind in (Triangle, Gram))
    actual = likeliest(exact)
    assert actual.is_resolved
    assert likeliest(sums).ridge == pytest.approx(actual.ridge, rel=1e-4)
    assert actual.log_density == pytest.approx(float(exact([actual.ridge])[0]))
    grid = np.geomspace(1e-6, 1e6, 2000)
    errors = exact.expected_errors(np.array([*grid, actual.ridge]))
    assert errors[-1] <= errors.min() + np.log(1.02) + 1e-3
    stands = errors[:-1] <= errors.min() + np.log(1.02)
    # The limit of the accepted ridges is resolved to an eighth of a decade.
    assert actual.log_density >= np.max(exact(grid)[stands]) - 0.5


def test_units_of_the_targets_do_not_matter():
    X, Y = data(60, N)
    one = likeliest(likelihood(Triangle, X, Y, Penalty(N)))
    other = likeliest(likelihood(Triangle, X, Y * [1e-6, 1e7], Penalty(N)))
    assert other.ridge == pytest.approx(one.ridge, rel=1e-5)
    moved = 60 * np.log(1e-6 * 1e7)
    assert other.log_density == pytest.approx(one.log_density - moved, rel=1e-6)


def test_noise_free_targets_select_the_smallest_ridge():
    X, Y = data(60, N, noise=(0.0, 0.0))
    exact, sums = (likeliest(likelihood(kind, X, Y, Penalty(N))) for kind in (Triangle, Gram))
    assert exact.ridge < 1e-20
    assert not sums.is_resolved
    assert 1e-16 < sums.ridge < 1e-8


@pytest.mark.parametrize("kind", [Gram, Triangle])
def test_constant_targets_do_not_resolve_the_ridge(kind):
    X, Y = data(60, N)
    quiet = np.column_stack([Y, np.zeros(60)])
    one, other = (likeliest(likelihood(kind, X, y, Penalty(N))) for y in (Y, quiet))
    assert other.ridge == pytest.approx(one.ridge, rel=1e-6)
    alone = likeliest(likelihood(kind, X, np.zeros((60, 1)), Penalty(N)))
    assert np.isfinite(alone.ridge)
    assert np.isfinite(likeliest(likelihood(kind, 0 * X, Y, Penalty(N))).ridge)
