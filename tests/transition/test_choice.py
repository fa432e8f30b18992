"""The cheapest accurate form of a matrix is chosen."""

from __future__ import annotations

import numpy as np
import pytest

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
def test_repeated_eigenvalues_with_eigenvectors_need_no_block(W):
    chosen = choose_form(W)
    assert chosen.form == "diagonal"
    assert chosen.is_accurate()


def test_forms_are_chosen_by_cost_among_the_accurate():
    assert choose_form(matrix("dense Gaussian", 100)).form == "diagonal"
    assert choose_form(matrix("sparse, degree 5", 300)).form == "cascade"
    assert choose_form(matrix("sparse, degree 2", 300)).form == "sparse"
    assert choose_form(matrix("triangular", 100)).form == "dense"


@pytest.mark.parametrize("form", ["diagonal", "cascade", "sparse", "dense"])
def test_form_can_be_requested(form):
    for kind in ("dense Gaussian", "sparse, degree 5", "Jordan block", "zero"):
        W = matrix(kind, 40)
        chosen = choose_form(W, form)
        assert chosen.form == form
        assert chosen.transition.cost >= 0
        if chosen.is_accurate():
            result = chosen.transition.dense
            result = result if chosen.basis is None else chosen.basis.matrix(result)
            np.testing.assert_allclose(result, W, rtol=0, atol=1e-11)


@pytest.mark.parametrize("size", [1e-300, 1e-120, 1e120, 1e300])
def test_entries_at_the_ends_of_the_range(size):
    for kind in ("dense Gaussian", "sparse, degree 5", "triangular"):
        W = matrix(kind, 30)
        chosen = choose_form(size * W)
        assert chosen.form == choose_form(W).form
        assert chosen.is_accurate()
        np.testing.assert_allclose(
            chosen.spectrum.radius / size, np.abs(np.linalg.eigvals(W)).max()
        )
