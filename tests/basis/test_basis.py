"""Changes of basis: W Q = Q [W]_Q, and the transforms that follow from it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from eigenecho import spectra
from eigenecho.basis import Basis, eigendecomposition, interleave, random_basis
from eigenecho.spectra import Spectrum
from eigenecho.transition.diagonal import block_diagonal

SIZES = [1, 2, 3, 8, 31, 60]


def matrix(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, n)) / np.sqrt(n)


def drawn(n, seed=0):
    spectrum = spectra.golden(n, sr=0.9, seed=seed)
    return spectrum, random_basis(spectrum, np.random.default_rng(seed))


@pytest.mark.parametrize("n", SIZES)
def test_eigendecomposition_is_block_diagonal(n):
    W = matrix(n)
    spectrum, basis = eigendecomposition(W)
    assert basis.n_real == spectrum.real.size
    np.testing.assert_allclose(W @ basis.Q, basis.Q @ block_diagonal(spectrum), atol=1e-13)
    np.testing.assert_allclose(basis.matrix(block_diagonal(spectrum)), W, atol=1e-12)


@pytest.mark.parametrize("n", SIZES)
def test_P_holds_the_complex_eigenvectors(n):
    W = matrix(n)
    spectrum, basis = eigendecomposition(W)
    np.testing.assert_allclose(W @ basis.P, basis.P * spectrum.values, atol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(basis.P, axis=0), 1.0, rtol=1e-13)


def test_eigendecomposition_of_a_symmetric_matrix_is_real():
    W = matrix(9) + matrix(9).T
    spectrum, basis = eigendecomposition(W)
    assert spectrum.pairs.size == 0
    assert basis.n_real == 9
    assert basis.condition == pytest.approx(1.0, abs=1e-10)
    np.testing.assert_allclose(basis.matrix(block_diagonal(spectrum)), W, atol=1e-12)


def test_interleave_by_hand():
    real, pairs = np.array([[1.0, 2.0]]), np.array([[3 + 4j, 5 + 6j]])
    assert interleave(real, pairs).tolist() == [[1, 2, 3, 4, 5, 6]]
    assert interleave(real[0], pairs[0]).tolist() == [1, 2, 3, 4, 5, 6]
    assert interleave(real[:, :0], pairs).tolist() == [[3, 4, 5, 6]]
    assert interleave(real, pairs[:, :0]).tolist() == [[1, 2]]


# Random eigenvectors


@pytest.mark.parametrize("n", SIZES)
def test_random_basis_equals_the_loop_of_the_paper(n):
    """The algorithm draws Gaussian directions of unit length, the real ones first."""
    spectrum, basis = drawn(n, seed=n)
    rng = np.random.default_rng(n)
    n_real, m = spectrum.real.size, spectrum.pairs.size
    gaussian = rng.normal(size=(n, n_real))
    re, im = rng.normal(size=(n, m)), rng.normal(size=(n, m))
    P = basis.P
    for i in range(n_real):
        v = gaussian[:, i] / np.sqrt(sum(x**2 for x in gaussian[:, i]))
        np.testing.assert_allclose(P[:, i], v, atol=1e-14)
    for k in range(m):
        v = re[:, k] + 1j * im[:, k]
        v = v / np.sqrt(sum(abs(x) ** 2 for x in v))
        np.testing.assert_allclose(P[:, n_real + 2 * k], v, atol=1e-14)
        np.testing.assert_allclose(P[:, n_real + 2 * k + 1], v.conj(), atol=1e-14)


@given(n=st.integers(1, 40), seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=40)
def test_random_basis_has_unit_vectors(n, seed):
    spectrum, basis = drawn(n, seed)
    np.testing.assert_allclose(np.linalg.norm(basis.P, axis=0), 1.0, rtol=1e-13)
    assert basis.units == n
    assert basis.n_real == spectrum.real.size


@pytest.mark.parametrize("n", SIZES)
def test_matrix_of_a_drawn_spectrum_has_this_spectrum(n):
    spectrum, basis = drawn(n, seed=1)
    W = basis.matrix(block_diagonal(spectrum))
    assert W.dtype == np.float64
    values = np.linalg.eigvals(W)
    for value in spectrum.values:
        assert np.abs(values - value).min() < 1e-9 * basis.condition
    np.testing.assert_allclose(
        W @ basis.Q, basis.Q @ block_diagonal(spectrum), atol=1e-12 * basis.condition
    )


def test_directions_are_spread_evenly():
    Q = random_basis(Spectrum(np.zeros(400)), np.random.default_rng(0)).Q
    assert Q.mean() == pytest.approx(0.0, abs=3 / 400 / 20)
    assert np.mean(Q**2) == pytest.approx(1 / 400)
    assert np.mean(Q**4) == pytest.approx(3 / 400**2, rel=0.05)  # Gaussian, not uniform


# Transforms


@given(n=st.integers(1, 25), rows=st.integers(0, 5), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=40)
def test_transforms_are_inverse_to_each_other(n, rows, seed):
    _, basis = drawn(n, seed)
    tol = 1e-13 * basis.condition
    rng = np.random.default_rng(seed)
    r, w = rng.normal(size=(rows, n)), rng.normal(size=(n, rows))
    np.testing.assert_allclose(basis.states_to_neuron(basis.states_to_eigen(r)), r, atol=tol)
    np.testing.assert_allclose(basis.states_to_eigen(basis.states_to_neuron(r)), r, atol=tol)
    np.testing.assert_allclose(basis.weights_to_neuron(basis.weights_to_eigen(w)), w, atol=tol)
    np.testing.assert_allclose(basis.weights_to_eigen(basis.weights_to_neuron(w)), w, atol=tol)
    np.testing.assert_allclose(basis.Q @ basis.solve(w), w, atol=tol)
    # Outputs do not depend on the basis: [r]_Q [w]_Q = r w.
    np.testing.assert_allclose(
        basis.states_to_eigen(r) @ basis.weights_to_eigen(w), r @ w, atol=tol
    )


def test_transforms_accept_one_state_and_stacks():
    _, basis = drawn(7)
    r = np.random.default_rng(0).normal(size=(2, 3, 7))
    back = basis.states_to_neuron(r)
    assert back.shape == (2, 3, 7)
    np.testing.assert_allclose(basis.states_to_neuron(r[1, 2]), back[1, 2], rtol=1e-10)
    np.testing.assert_allclose(back[1, 2], r[1, 2] @ np.linalg.inv(basis.Q), rtol=1e-8)


def test_run_in_the_eigenbasis_equals_run_in_the_neuron_basis():
    rng = np.random.default_rng(3)
    spectrum, basis = drawn(20, seed=3)
    W_in, u = rng.uniform(-1, 1, (2, 20)), rng.normal(size=(50, 2))
    neurons = naive.states(basis.matrix(block_diagonal(spectrum)), W_in, u)
    modes = naive.states(block_diagonal(spectrum), basis.states_to_eigen(W_in), u)
    np.testing.assert_allclose(basis.states_to_neuron(modes), neurons, atol=1e-11)
    np.testing.assert_allclose(basis.states_to_eigen(neurons), modes, atol=1e-11)


# Conditioning, and the Basis class


def test_condition():
    _, basis = drawn(15)
    assert basis.condition == pytest.approx(np.linalg.cond(basis.Q))
    assert Basis(np.eye(4), 2).condition == 1.0
    assert Basis(np.diag([1.0, 1e-3]), 2).condition == pytest.approx(1e3)
    assert Basis(np.diag([1.0, 0.0]), 2).condition == np.inf


def test_a_defective_matrix_has_a_huge_condition():
    _, basis = eigendecomposition(np.diag(np.ones(4), 1))
    assert basis.condition > 1e15


def test_basis_cannot_be_changed():
    Q = np.eye(3)
    basis = Basis(Q, 1)
    Q[0, 0] = 5.0
    assert basis.Q[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        basis.Q[0, 0] = 5.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        basis.Q = Q
    assert repr(basis) == "Basis(3 units, 1 real vectors)"


@pytest.mark.parametrize(
    ("Q", "n_real", "message"),
    [
        (np.ones((2, 3)), 2, "Q[=:]"),
        (np.ones(3), 3, "Q[=:]"),
        (np.ones((0, 0)), 0, "Q[=:]"),
        (np.eye(3), 2, "n_real[=:]"),
        (np.eye(3), -1, "n_real[=:]"),
        (np.eye(3), 5, "n_real[=:]"),
    ],
)
def test_basis_rejects_invalid_arguments(Q, n_real, message):
    with pytest.raises(ValueError, match=message):
        Basis(Q, n_real)
