"""Every form of W gives the same results as the dense matrix in plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from eigenecho import files, spectra
from eigenecho.kernels import reference
from eigenecho.spectra import Spectrum
from eigenecho.transition import (
    FORMS,
    Dense,
    Diagonal,
    Sparse,
    as_transition,
    compact,
)
from eigenecho.transition.diagonal import block_diagonal

NAMES = {"diagonal": Diagonal, "dense": Dense, "sparse": Sparse}
each_form = pytest.mark.parametrize("name", NAMES)
any_size = given(N=st.integers(1, 12), seed=st.integers(0, 999))
some_examples = settings(deadline=None, max_examples=25)


def modes(N, rng):
    """Return a random spectrum with real eigenvalues and pairs."""
    m = int(rng.integers(0, N // 2 + 1))
    pairs = rng.normal(size=m) + 1j * (0.1 + rng.random(m))
    return Spectrum(rng.normal(size=N - 2 * m), pairs)


def transition(name, N, seed):
    rng = np.random.default_rng([N, seed])
    if name == "diagonal":
        return Diagonal(modes(N, rng))
    W = rng.normal(size=(N, N))
    if name == "dense":
        return Dense(W)
    W[rng.random((N, N)) < 0.7] = 0.0
    return Sparse(sparse.csr_matrix(W))


def plain(one):
    """Return [W]_Q, computed entry by entry."""
    if isinstance(one, Dense):
        return np.asarray(one.W)
    if isinstance(one, Sparse):
        return one.W.toarray()
    W = np.zeros((one.units, one.units))
    for i, value in enumerate(one.modes.real):
        W[i, i] = value
    for i, value in enumerate(one.modes.pairs):
        j = one.modes.real.size + 2 * i
        a, b = value.real, value.imag
        W[j : j + 2, j : j + 2] = [[a, b], [-b, a]]
    return W


def close(actual, expected):
    scale = max(np.abs(expected).max(initial=0.0), 1.0)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-13 * scale)


def assert_same_values(actual, expected):
    """Assert that eigenvalues are equal in any order, with a tolerance for defective matrices."""
    actual, expected = list(actual), list(expected)
    assert len(actual) == len(expected)
    for value in actual:
        nearest = min(expected, key=lambda other: abs(other - value))
        assert abs(nearest - value) < 1e-5 * max(1.0, np.abs(actual).max())
        expected.remove(nearest)


@each_form
@any_size
@some_examples
def test_units_matrix_and_spectrum(name, N, seed):
    one = transition(name, N, seed)
    assert one.units == N
    assert one.name == name
    assert name in FORMS
    assert isinstance(one.dense, np.ndarray)
    close(one.dense, plain(one))
    assert sparse.issparse(one.matrix) == (name == "sparse")
    assert_same_values(one.spectrum.values, np.linalg.eigvals(plain(one)))


@each_form
@pytest.mark.parametrize("factor", [0.0, 0.5, 3.0])
@any_size
@some_examples
def test_times(name, factor, N, seed):
    one = transition(name, N, seed)
    close(one.times(factor).dense, factor * plain(one))
    assert one.times(factor).name == name


@each_form
@pytest.mark.parametrize("lr", [1.0, 0.3])
@any_size
@some_examples
def test_leak(name, lr, N, seed):
    one = transition(name, N, seed)
    leaky = one.leak(lr)
    close(leaky.dense, lr * plain(one) + (1 - lr) * np.eye(N))
    # A dense W with few remaining connections may become sparse.
    assert leaky.name == name or (name, leaky.name) == ("dense", "sparse")


@each_form
@pytest.mark.parametrize("extra", [0, 1, 3])
@any_size
@some_examples
def test_padded_units_have_no_memory_and_no_effect(name, extra, N, seed):
    one = transition(name, N, seed)
    more = one.padded(extra)
    assert more.units == N + extra
    assert more.name == name
    # The new units come after all others, or before the modes.
    first = N if one.in_neuron_basis else 0
    kept = np.delete(np.arange(N + extra), first + np.arange(extra))
    close(more.dense[np.ix_(kept, kept)], plain(one))
    rest = more.dense.copy()
    rest[np.ix_(kept, kept)] = 0.0
    assert not rest.any()


@each_form
@any_size
@some_examples
def test_unpacking_restores_the_transition_exactly(name, N, seed):
    one = transition(name, N, seed)
    kind, arrays, values = files.pack(one)
    assert kind == type(one).__name__
    back = files.unpack(type(one), arrays, values)
    assert type(back) is type(one)
    with pytest.raises(ValueError, match=r"(?i)unknown entries: other"):
        files.unpack(type(one), arrays | {"other": np.ones(1)}, values)
    np.testing.assert_array_equal(back.dense, one.dense)


@each_form
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@any_size
@some_examples
def test_step_of_the_form_equals_that_of_the_matrix(name, dtype, N, seed):
    one = transition(name, N, seed)
    form = one.form(dtype)
    r = np.random.default_rng(seed).normal(size=N).astype(dtype)
    expected = r.astype(float) @ plain(one)
    scale = max(np.abs(expected).max(), np.abs(plain(one)).max(), 1.0)
    actual = reference.advance(form, r)
    assert actual.dtype == dtype
    tol = 1e-13 if dtype == "float64" else 1e-5
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tol * scale)


def test_as_transition_converts_spectra_and_matrices():
    rng = np.random.default_rng(0)
    W, spectrum = rng.normal(size=(6, 6)), spectra.golden(6, seed=0)
    assert as_transition(spectrum) == Diagonal(spectrum)
    assert isinstance(as_transition(W), Dense)
    np.testing.assert_array_equal(as_transition(W).dense, W)
    for kind in (sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix):
        result = as_transition(kind(W))
        assert isinstance(result, Sparse)
        np.testing.assert_array_equal(result.dense, W)
    for other in ([[1.0]], 0.5, None, "golden"):
        with pytest.raises(ValueError, match=r"transition: got type.*a Spectrum or a matrix"):
            as_transition(other)


@pytest.mark.parametrize("dtype", [int, bool, np.float32, np.float64])
def test_matrices_are_converted_to_floats(dtype):
    kept = dtype if dtype in (np.float32, np.float64) else np.float64
    for W in (np.eye(3, dtype=dtype), sparse.csr_matrix(np.eye(3, dtype=dtype))):
        assert as_transition(W).matrix.dtype == kept


def test_matrix_with_few_connections_becomes_sparse():
    assert isinstance(compact(np.eye(5)), Sparse)
    assert isinstance(compact(np.eye(4)), Dense)
    np.testing.assert_array_equal(compact(np.eye(5)).dense, np.eye(5))


# The block-diagonal matrix of a spectrum


def test_block_diagonal_by_hand():
    blocks = block_diagonal(Spectrum([0.5], [2 + 3j]))
    assert blocks.tolist() == [[0.5, 0, 0], [0, 2, 3], [0, -3, 2]]


@pytest.mark.parametrize("n", [1, 2, 3, 8, 31, 60])
def test_block_diagonal_has_the_eigenvalues(n):
    spectrum = spectra.uniform(n, seed=n)
    result = spectra.from_matrix(block_diagonal(spectrum))
    np.testing.assert_allclose(result.real, np.sort(spectrum.real), atol=1e-14)
    np.testing.assert_allclose(
        np.sort_complex(result.pairs), np.sort_complex(spectrum.pairs), atol=1e-14
    )
