"""The cheapest accurate form of a matrix is chosen."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import eigenecho as ee
from eigenecho.errors import IllConditionedWarning
from eigenecho.threads import one_blas_thread
from eigenecho.transition import choose_form
from matrices import matrix


@pytest.fixture(autouse=True)
def one_thread():
    """Use one thread, because the problems are small."""
    with one_blas_thread():
        yield


@pytest.mark.parametrize(
    "W",
    [
        np.eye(50) - 2 * np.outer(*2 * [np.ones(50) / 50**0.5]),
        matrix("low rank", 200),
        0.5 * matrix("low rank", 200) + 0.5 * np.eye(200),
        np.kron(np.eye(10), matrix("dense Gaussian", 5)),
    ],
    ids=["reflection", "low rank", "leaky low rank", "copies"],
)
def test_repeated_eigenvalues_with_eigenvectors_form_modes(W):
    chosen = choose_form(W)
    assert chosen.form == "diagonal"
    assert chosen.is_accurate


def test_matrices_without_accurate_eigenvectors_run_as_they_are():
    assert choose_form(matrix("dense Gaussian", 100)).form == "diagonal"
    for kind, form in (("sparse, degree 5", "sparse"), ("triangular", "dense")):
        W = matrix(kind, 100)
        model = ee.diagonalize(W, np.ones((1, 100)))
        assert model.certificate.form == form
        assert model.certificate.difference == 0
        assert "nearly parallel" in model.certificate.reason
        np.testing.assert_array_equal(model.reservoir.transition.dense, W)


@pytest.mark.parametrize("lr", [1.0, 0.4])
def test_sparse_networks_are_the_same_in_both_bases(lr):
    """In the eigenbasis, a plain diagonalisation would lose most of their memory."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (500, 1))
    y = np.column_stack([np.roll(X[:, 0], k) for k in (1, 5)])
    options = dict(spectrum="matrix", rc_connectivity=0.06, lr=lr, seed=1, warmup=50)
    options |= dict(ridge=1e-6, input_bias=True, standardize=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        normal, modes = (ee.LinearESN(50, basis=b, **options) for b in ("neuron", "eigen"))
        expected = normal.fit(X, y).predict(X)
        close = 1e-8 * np.abs(expected).max()
        np.testing.assert_allclose(modes.fit(X, y).predict(X), expected, rtol=0, atol=close)
    assert modes.model_.reservoir.transition.name == "sparse"


def test_dense_matrix_without_eigenvectors_causes_a_warning():
    W = matrix("triangular", 60)
    with pytest.warns(IllConditionedWarning, match=r"nearly defective.*N² operations"):
        ee.DiagonalReservoir(spectrum=W, seed=0).fit(np.ones((9, 1)))


@pytest.mark.parametrize("form", ["diagonal", "sparse", "dense"])
def test_form_can_be_requested(form):
    for kind in ("dense Gaussian", "sparse, degree 5", "Jordan block", "zero"):
        W = matrix(kind, 40)
        chosen = choose_form(W, form)
        assert chosen.form == form
        if chosen.is_accurate:
            result = chosen.transition.dense
            result = result if chosen.basis is None else chosen.basis.matrix(result)
            np.testing.assert_allclose(result, W, rtol=0, atol=1e-11)


@pytest.mark.parametrize("size", [1e-300, 1e-120, 1e120, 1e300])
def test_entries_at_the_ends_of_the_range(size):
    for kind in ("dense Gaussian", "sparse, degree 5", "triangular"):
        W = matrix(kind, 30)
        chosen = choose_form(size * W)
        assert chosen.form == choose_form(W).form
        assert chosen.is_accurate
        np.testing.assert_allclose(
            chosen.spectrum.radius / size, np.abs(np.linalg.eigvals(W)).max()
        )
