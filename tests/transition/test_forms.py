"""Arrays that the kernels use for each transition, and validation of sparse indices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from eigenecho import spectra
from eigenecho.kernels import compiled
from eigenecho.reservoir import Reservoir
from eigenecho.transition import Dense, Diagonal, Sparse
from eigenecho.transition.diagonal import block_diagonal


def test_forms_hold_contiguous_arrays_of_one_dtype():
    spectrum = spectra.golden(9, seed=0)
    W = block_diagonal(spectrum)
    for dtype in ("float64", "float32"):
        diagonal = Diagonal(spectrum).form(dtype)
        assert all(a.dtype == dtype and a.flags.c_contiguous for a in diagonal)
        assert Dense(np.asfortranarray(W)).form(dtype).W.flags.c_contiguous
        gathered = Sparse(sparse.csc_matrix(W)).form(dtype)
        assert gathered.data.dtype == dtype
        assert (gathered.indices.dtype, gathered.indptr.dtype) == (np.uint32, np.uint64)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array])
def test_sparse_form_gathers_columns(kind):
    W = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 3.0], [5.0, 0.0, 7.0]])
    form = Sparse(kind(W)).form()
    state = np.array([1.0, 10.0, 100.0])
    expected = state @ W
    actual = compiled.step(form, np.zeros((1, 3)), np.zeros(1), state)
    np.testing.assert_array_equal(actual, expected)


# Sparse matrices with arrays made by hand


def compressed(indptr, indices, kind=sparse.csr_matrix):
    """Return a sparse (4, 4) matrix with any indices; SciPy checks them only at construction."""
    W = kind((np.ones(len(indices)), np.array([0] * len(indices)), np.array([0, 0, 0, 0, 0])),
             shape=(4, 4))  # fmt: skip
    W.indptr, W.indices = np.array(indptr, np.int32), np.array(indices, np.int32)
    W.data = np.ones(len(indices))
    return W


BROKEN = {
    "too large": ([0, 1, 2, 2, 2], [0, 4]),
    "far too large": ([0, 1, 2, 2, 2], [0, 2**31 - 1]),
    "negative": ([0, 1, 2, 2, 2], [0, -1]),
    "pointers that go back": ([0, 2, 1, 2, 2], [0, 1]),
    "pointers that wrap around": ([0, 2**31 - 1, -(2**31), 0, 0], [0, 1]),
    "pointers of nothing": ([0, 5, -3, 0, 0], []),
    "pointers past the end": ([0, 1, 2, 2, 9], [0, 1]),
    "pointers that start late": ([1, 1, 2, 2, 2], [0, 1]),
    "too few pointers": ([0, 1, 2, 2], [0, 1]),
}


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize("parts", BROKEN.values(), ids=BROKEN)
def test_indices_of_a_sparse_matrix(parts, kind):
    with pytest.raises(ValueError, match="W has indices or index pointers outside"):
        Reservoir(compressed(*parts, kind), np.ones((1, 4)))
    with pytest.raises(ValueError, match="W has indices or index pointers outside"):
        Sparse(compressed(*parts, kind))


def test_sparse_matrix_may_have_unsorted_and_duplicate_indices():
    W = sparse.csr_matrix((np.arange(1.0, 5.0), [3, 1, 1, 0], [0, 3, 3, 4, 4]), shape=(4, 4))
    form = Sparse(W).form()
    assert form.indptr.tolist() == [0, 1, 3, 3, 4]
    for transition in (W, W.tocoo(), W.tocsc()):
        reservoir = Reservoir(0.1 * transition, np.ones((1, 4)))
        dense = Reservoir(0.1 * W.toarray(), np.ones((1, 4)))
        drive = np.ones((5, 1))
        actual, expected = (r.scan(drive)[0] for r in (reservoir, dense))
        np.testing.assert_allclose(actual, expected)
