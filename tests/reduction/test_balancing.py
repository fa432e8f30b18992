"""Balanced truncation against the textbook: dense Gramians of a Lyapunov solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import cholesky, solve_discrete_lyapunov

from eigenecho import spectra
from eigenecho.reduction import (
    System,
    balance,
    balancing,
    essential,
    largest_gain,
    promised,
    smaller,
    smallest,
)
from eigenecho.reduction.balancing import singular_values
from eigenecho.transition import Diagonal


def system(n=12, inputs=1, outputs=1, sr=0.8, seed=0):
    rng = np.random.default_rng(seed)
    spectrum = spectra.uniform(n, sr=sr, seed=seed)
    return System(spectrum, rng.normal(size=(inputs, n)), rng.normal(size=(n, outputs)))


def dense(one):
    """Λ as a matrix that rows of states are multiplied by."""
    return Diagonal(one.spectrum).matrix


def textbook(one, order):
    """Square-root balanced truncation with Gramians from a solver: σ, and Λ, B, C of the order."""
    A, B, C = dense(one), one.B, one.C
    P = solve_discrete_lyapunov(A.T, B.T @ B)  # P = Aᵀ P A + BᵀB
    Q = solve_discrete_lyapunov(A, C @ C.T)  # Q = A Q Aᵀ + C Cᵀ
    F, G = cholesky(P, lower=True), cholesky(Q, lower=True)
    U, values, Vt = np.linalg.svd(F.T @ G)
    root = np.sqrt(values[:order])
    T, S = G @ Vt[:order].T / root, (U[:, :order].T @ F.T) / root[:, None]
    return values, S @ A @ T, B @ T, S @ C


def gains(A, B, C, frequencies):
    eye = np.eye(len(A))
    return np.array([B @ np.linalg.solve(eye - A * np.exp(-1j * w), C) for w in frequencies])


SIZES = [(1, 1), (3, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize(("inputs", "outputs"), SIZES)
def test_gramians_and_gains_are_those_of_the_dense_system(inputs, outputs):
    one = system(inputs=inputs, outputs=outputs)
    A = dense(one)
    P = solve_discrete_lyapunov(A.T, one.B.T @ one.B)
    Q = solve_discrete_lyapunov(A, one.C @ one.C.T)
    np.testing.assert_allclose(one.reachability @ one.reachability.T, P, atol=1e-12 * P.max())
    np.testing.assert_allclose(one.observability @ one.observability.T, Q, atol=1e-12 * Q.max())
    at = np.array([0.0, 0.4, 2.0, np.pi])
    np.testing.assert_allclose(one.response(at), gains(A, one.B, one.C, at), rtol=1e-11)
    np.testing.assert_allclose(one.steady, one.B @ np.linalg.inv(np.eye(len(A)) - A))
    rows = np.random.default_rng(3).normal(size=(len(A), 4))
    np.testing.assert_allclose(one.advance(rows), A @ rows)
    np.testing.assert_allclose(one.advanced(rows[:, 0]), rows[:, 0] @ A)


def gain(one):
    return largest_gain(one.response(one.frequencies))


@pytest.mark.parametrize(("inputs", "outputs"), SIZES)
@pytest.mark.parametrize("order", [3, 6, 12])
def test_white_reduction_is_the_textbooks(inputs, outputs, order):
    one = system(inputs=inputs, outputs=outputs, seed=2)
    values, *wanted = textbook(one, order)
    found = balance(one, lambda: [one.reachability.T])
    np.testing.assert_allclose(found.values[: len(values)], values, atol=1e-10 * values[0])
    small = smaller(found, order)
    at = one.frequencies
    np.testing.assert_allclose(small.system.response(at), gains(*wanted, at), atol=1e-7 * gain(one))
    assert small.system.spectrum.radius < 1
    error = largest_gain(one.response(at) - small.system.response(at))
    assert error <= found.tails[order] + 1e-12 * gain(one)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["golden", "ring", "log_ring"])
def test_every_order_is_stable_and_within_the_bound(name, seed):
    rng = np.random.default_rng(seed)
    spectrum = spectra.law(name)(24, sr=0.97, seed=seed)
    one = System(spectrum, rng.normal(size=(1, 24)), rng.normal(size=(24, 1)))
    found, at = balance(one, lambda: [one.reachability.T]), one.frequencies
    whole = one.response(at)
    for order in range(1, found.order + 1):
        small = smaller(found, order)
        assert small is not None
        error = largest_gain(whole - small.system.response(at))
        assert error <= found.tails[order] + 1e-11 * gain(one)


def states(one, u):
    r, A = np.zeros(one.units), dense(one)
    rows = np.empty((len(u), one.units))
    for t in range(len(u)):
        r = r @ A + u[t] @ one.B
        rows[t] = r
    return rows


def test_rows_in_pieces_are_rows_in_one():
    one = system(n=10, outputs=2)
    rows = states(one, np.random.default_rng(5).normal(size=(500, 1)))
    whole = balance(one, lambda: [rows])
    parts = balance(one, lambda: np.array_split(rows, 7))
    np.testing.assert_allclose(parts.values, whole.values, rtol=1e-9)
    np.testing.assert_allclose(parts.S @ parts.T, np.eye(parts.order), atol=1e-8)
    at = one.frequencies
    for order in (2, 5):
        a, b = (smaller(found, order).system.response(at) for found in (whole, parts))
        np.testing.assert_allclose(a, b, atol=1e-8 * gain(one))


@pytest.mark.parametrize("order", [1, 3, 6, 9])
@pytest.mark.parametrize("colour", [0.0, 0.9])
def test_promises_hold_for_the_rows_that_they_were_made_of(order, colour):
    one = system(n=12, outputs=2, sr=0.9, seed=4)
    noise = np.random.default_rng(6).normal(size=(800, 1))
    for t in range(1, len(noise)):
        noise[t] += colour * noise[t - 1]
    rows = states(one, noise)
    found = balance(one, lambda: [rows])
    small = smaller(found, order)
    error = rows @ one.C - states(small.system, noise) @ small.system.C
    said = promised(found, small, lambda: [rows])
    measured = np.linalg.norm(error, axis=0)
    assert np.all(measured <= said * (1 + 1e-9))
    assert np.all(said < 100 * measured)


@pytest.mark.parametrize("factor", [1e-3, 0.3, 1.0, 30.0, 1e9])
def test_the_smallest_order_that_does_is_found(factor):
    falling = np.exp(-0.2 * np.arange(41) ** 1.2)
    for wanted in (1, 2, 17, 39, 40):
        tried = []

        def error(order, tried=tried):
            tried.append(order)
            return falling[order]

        assert smallest(error, falling[wanted], factor * falling) == wanted
        assert len(set(tried)) == len(tried) <= 12


def test_orders_are_found_whatever_is_expected_of_them():
    def steps(does):
        return lambda order: float(not does(order))

    for expected in (np.zeros(41), np.ones(41), np.linspace(2, 0, 41)):
        for wanted in (1, 2, 17, 39, 40):
            assert smallest(steps(lambda k, w=wanted: k >= w), 0.5, expected) == wanted
        assert smallest(lambda order: np.inf, 0.5, expected) is None
        # One that fails among those that do is passed over, and a smaller one beyond it found.
        assert smallest(steps(lambda k: k >= 10 and k != 12), 0.5, expected) in (10, 11, 13)
    # Where rounding spoils the largest, those between are found.
    assert 23 <= smallest(steps(lambda k: 23 <= k < 31), 0.5, np.zeros(41)) < 31


def test_few_orders_are_tried_where_errors_fall_as_expected():
    expected, tried = np.exp(-0.1 * np.arange(301)), []

    def error(order):
        tried.append(order)
        return 7.0 * expected[order] * (1 + 0.1 * np.sin(order))

    found = smallest(error, 1e-6, expected)
    assert error(found) <= 1e-6 < error(found - 1)
    assert len(tried) <= 8


def test_values_that_are_rounding_are_left_out_of_large_ones(monkeypatch):
    monkeypatch.setattr(balancing, "JACOBI", 0)
    rng = np.random.default_rng(0)
    A = rng.normal(size=(50, 40)) * 10.0 ** -np.arange(40)[rng.permutation(40)]
    U, found, Vt = singular_values(A)
    assert 16 <= found.size < 20
    np.testing.assert_allclose(found[:12], np.linalg.svd(A)[1][:12], rtol=1e-3)
    np.testing.assert_allclose((U * found) @ Vt, A, atol=1e-14)
    assert singular_values(np.zeros((5, 3)))[1].size == 0


def test_essential_states_are_the_whole_system():
    one = system(40, inputs=2, outputs=2)
    T, S = essential(one, 1e-13)
    assert T.shape[1] == len(S) < 40
    np.testing.assert_allclose(S @ T, np.eye(len(S)), atol=1e-8)
    small, step = one.B @ T, S @ one.advance(T)
    whole, ahead = one.B, one.C
    for _ in range(30):
        np.testing.assert_allclose(small @ (S @ one.C), whole @ ahead, atol=1e-9)
        small, ahead = small @ step, one.advance(ahead)
