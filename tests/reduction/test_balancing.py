"""Compare balanced truncation with the textbook: dense Gramians from a Lyapunov solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import cholesky, solve_discrete_lyapunov

from eigenecho import spectra
from eigenecho.reduction import (
    System,
    balance,
    balancing,
    error_bound,
    essential,
    largest_gain,
    smaller,
    smallest,
)
from eigenecho.reduction.balancing import singular_values
from eigenecho.transition import Diagonal


def system(n=12, inputs=1, outputs=1, sr=0.8, seed=0):
    rng = np.random.default_rng(seed)
    spectrum = spectra.uniform(n, sr=sr, seed=seed)
    return System(spectrum, rng.normal(size=(inputs, n)), rng.normal(size=(n, outputs)))


def dense(full):
    """Return Λ as a matrix that acts on rows of states."""
    return Diagonal(full.spectrum).matrix


def textbook(full, order):
    """Return σ and the Λ, B, C of square-root balanced truncation, with Gramians from a solver."""
    A, B, C = dense(full), full.B, full.C
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
def test_gramians_and_gains_equal_those_of_the_dense_system(inputs, outputs):
    full = system(inputs=inputs, outputs=outputs)
    A = dense(full)
    P = solve_discrete_lyapunov(A.T, full.B.T @ full.B)
    Q = solve_discrete_lyapunov(A, full.C @ full.C.T)
    np.testing.assert_allclose(full.reachability @ full.reachability.T, P, atol=1e-12 * P.max())
    np.testing.assert_allclose(full.observability @ full.observability.T, Q, atol=1e-12 * Q.max())
    at = np.array([0.0, 0.4, 2.0, np.pi])
    np.testing.assert_allclose(full.response(at), gains(A, full.B, full.C, at), rtol=1e-11)
    np.testing.assert_allclose(full.steady, full.B @ np.linalg.inv(np.eye(len(A)) - A))
    rows = np.random.default_rng(3).normal(size=(len(A), 4))
    np.testing.assert_allclose(full.advance(rows), A @ rows)
    np.testing.assert_allclose(full.advanced(rows[:, 0]), rows[:, 0] @ A)


def gain(full):
    return largest_gain(full.response(full.frequencies))


@pytest.mark.parametrize(("inputs", "outputs"), SIZES)
@pytest.mark.parametrize("order", [3, 6, 12])
def test_white_reduction_equals_the_textbook(inputs, outputs, order):
    full = system(inputs=inputs, outputs=outputs, seed=2)
    values, *expected = textbook(full, order)
    actual = balance(full, lambda: [full.reachability.T])
    np.testing.assert_allclose(actual.values[: len(values)], values, atol=1e-10 * values[0])
    small = smaller(actual, order)
    at = full.frequencies
    np.testing.assert_allclose(
        small.system.response(at), gains(*expected, at), atol=1e-7 * gain(full)
    )
    assert small.system.spectrum.radius < 1
    error = largest_gain(full.response(at) - small.system.response(at))
    assert error <= actual.tails[order] + 1e-12 * gain(full)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["golden", "ring", "log_ring"])
def test_every_order_is_stable_and_within_the_bound(name, seed):
    rng = np.random.default_rng(seed)
    spectrum = spectra.law(name)(24, sr=0.97, seed=seed)
    full = System(spectrum, rng.normal(size=(1, 24)), rng.normal(size=(24, 1)))
    result, at = balance(full, lambda: [full.reachability.T]), full.frequencies
    whole = full.response(at)
    for order in range(1, result.order + 1):
        small = smaller(result, order)
        assert small is not None
        error = largest_gain(whole - small.system.response(at))
        assert error <= result.tails[order] + 1e-11 * gain(full)


def states(full, u):
    r, A = np.zeros(full.units), dense(full)
    rows = np.empty((len(u), full.units))
    for t in range(len(u)):
        r = r @ A + u[t] @ full.B
        rows[t] = r
    return rows


def test_rows_in_pieces_give_the_same_reduction():
    full = system(n=10, outputs=2)
    rows = states(full, np.random.default_rng(5).normal(size=(500, 1)))
    whole = balance(full, lambda: [rows])
    parts = balance(full, lambda: np.array_split(rows, 7))
    np.testing.assert_allclose(parts.values, whole.values, rtol=1e-9)
    np.testing.assert_allclose(parts.S @ parts.T, np.eye(parts.order), atol=1e-8)
    at = full.frequencies
    for order in (2, 5):
        a, b = (smaller(result, order).system.response(at) for result in (whole, parts))
        np.testing.assert_allclose(a, b, atol=1e-8 * gain(full))


@pytest.mark.parametrize("order", [1, 3, 6, 9])
@pytest.mark.parametrize("colour", [0.0, 0.9])
def test_error_bounds_hold_for_their_own_rows(order, colour):
    full = system(n=12, outputs=2, sr=0.9, seed=4)
    noise = np.random.default_rng(6).normal(size=(800, 1))
    for t in range(1, len(noise)):
        noise[t] += colour * noise[t - 1]
    rows = states(full, noise)
    result = balance(full, lambda: [rows])
    small = smaller(result, order)
    error = rows @ full.C - states(small.system, noise) @ small.system.C
    bound = error_bound(full, small, lambda: [rows])
    measured = np.linalg.norm(error, axis=0)
    assert np.all(measured <= bound * (1 + 1e-9))
    assert np.all(bound < 100 * measured)


@pytest.mark.parametrize("factor", [1e-3, 0.3, 1.0, 30.0, 1e9])
def test_smallest_sufficient_order_is_found(factor):
    falling = np.exp(-0.2 * np.arange(41) ** 1.2)
    for expected in (1, 2, 17, 39, 40):
        tried = []

        def error(order, tried=tried):
            tried.append(order)
            return falling[order]

        assert smallest(error, falling[expected], factor * falling) == expected
        assert len(set(tried)) == len(tried) <= 12


def test_order_is_found_for_any_expected_errors():
    def steps(does):
        return lambda order: float(not does(order))

    for expected in (np.zeros(41), np.ones(41), np.linspace(2, 0, 41)):
        for wanted in (1, 2, 17, 39, 40):
            assert smallest(steps(lambda k, w=wanted: k >= w), 0.5, expected) == wanted
        assert smallest(lambda order: np.inf, 0.5, expected) is None
        # A failing order is skipped, and a smaller one beyond it is found.
        assert smallest(steps(lambda k: k >= 10 and k != 12), 0.5, expected) in (10, 11, 13)
    # If rounding makes the largest orders fail, the search finds one below them.
    assert 23 <= smallest(steps(lambda k: 23 <= k < 31), 0.5, np.zeros(41)) < 31


def test_few_orders_are_tried_if_errors_decrease_as_expected():
    expected, tried = np.exp(-0.1 * np.arange(301)), []

    def error(order):
        tried.append(order)
        return 7.0 * expected[order] * (1 + 0.1 * np.sin(order))

    actual = smallest(error, 1e-6, expected)
    assert error(actual) <= 1e-6 < error(actual - 1)
    assert len(tried) <= 8


def test_singular_values_below_rounding_are_omitted(monkeypatch):
    monkeypatch.setattr(balancing, "JACOBI", 0)
    rng = np.random.default_rng(0)
    A = rng.normal(size=(50, 40)) * 10.0 ** -np.arange(40)[rng.permutation(40)]
    U, result, Vt = singular_values(A)
    assert 16 <= result.size < 20
    np.testing.assert_allclose(result[:12], np.linalg.svd(A)[1][:12], rtol=1e-3)
    np.testing.assert_allclose((U * result) @ Vt, A, atol=1e-14)
    assert singular_values(np.zeros((5, 3)))[1].size == 0


def test_essential_states_reproduce_the_whole_system():
    full = system(40, inputs=2, outputs=2)
    T, S = essential(full, 1e-13)
    assert T.shape[1] == len(S) < 40
    np.testing.assert_allclose(S @ T, np.eye(len(S)), atol=1e-8)
    small, step = full.B @ T, S @ full.advance(T)
    whole, ahead = full.B, full.C
    for _ in range(30):
        np.testing.assert_allclose(small @ (S @ full.C), whole @ ahead, atol=1e-9)
        small, ahead = small @ step, full.advance(ahead)
