"""Cascades of matrices without an eigenbasis, and networks that use them."""

from __future__ import annotations

import importlib
import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import eigenecho as ee
import naive
from eigenecho import kernels
from eigenecho.basis import Basis
from eigenecho.errors import IllConditionedWarning
from eigenecho.reservoir import Cache, Recipe, draw
from eigenecho.threads import one_blas_thread
from eigenecho.transition import Cascade, cascade_decomposition, choose_form
from eigenecho.transition.cascade import ordered, real_schur
from matrices import KINDS, matrix

DEGREE_3 = matrix("sparse, degree 3", 60)


@pytest.fixture(autouse=True)
def one_thread():
    """Use one thread, because the problems are small."""
    with one_blas_thread():
        yield


def dense(W):
    return W.toarray() if scipy.sparse.issparse(W) else W


# The decomposition


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("N", [1, 2, 3, 40])
def test_every_matrix_is_a_cascade(kind, N):
    W = matrix(kind, N)
    cascade, basis = cascade_decomposition(W, 1e4, N)
    k = len(cascade.block)
    assert cascade.units == basis.units == N
    assert (basis.block, basis.n_real) == (k, cascade.modes.real.size)
    assert k < N
    assert basis.condition <= 1e4
    assert basis.residual(W, cascade.matrix) < 1e-13
    scale = max(np.linalg.norm(W, 2), 1e-3)
    np.testing.assert_allclose(basis.matrix(cascade.matrix), W, rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(basis.Q[:, :k].T @ basis.Q[:, :k], np.eye(k), rtol=0, atol=1e-13)


def test_block_holds_the_defective_part():
    """Two Jordan blocks, one far from 0, are combined with a matrix that has an eigenbasis."""
    W = np.zeros((40, 40))
    W[:36, :36] = matrix("dense Gaussian", 36)
    W[36:38, 36:38] = [[0.7, 1.0], [0.0, 0.7]]
    W[38:, 38:] = [[0.0, 1.0], [0.0, 0.0]]
    rotation = matrix("orthogonal", 40)
    cascade, basis = cascade_decomposition(rotation.T @ W @ rotation, 1e4, 40)
    assert basis.condition <= 1e4
    kept = np.abs(np.linalg.eigvals(cascade.block))
    assert 3 <= len(kept) <= 6
    assert np.sum(kept < 1e-7) == 2
    assert np.any(np.abs(kept - 0.7) < 1e-6)


@given(N=st.integers(1, 12), seed=st.integers(0, 10_000), share=st.floats(0, 1))
@settings(deadline=None, max_examples=60)
def test_any_choice_of_eigenvalues_can_come_first(N, seed, share):
    rng = np.random.default_rng(seed)
    schur = real_schur(rng.normal(size=(N, N)))
    chosen = schur.with_partners(rng.random(N) < share)
    first = ordered(schur, chosen)
    assert first is not None
    k = int(chosen.sum())
    np.testing.assert_allclose(first.T[k:, :k], 0)
    np.testing.assert_allclose(
        first.Z @ first.T @ first.Z.T, schur.Z @ schur.T @ schur.Z.T, rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(
        np.sort_complex(np.round(np.linalg.eigvals(first.T[:k, :k]), 6)),
        np.sort_complex(np.round(schur.values[chosen], 6)),
        atol=1e-5,
    )


# The value


def test_scaled_and_leaky_cascades_keep_their_basis():
    cascade, basis = cascade_decomposition(DEGREE_3, 1e4, 60)
    assert len(cascade.block)
    for lr in (1.0, 0.3):
        W = lr * 0.7 * DEGREE_3 + (1 - lr) * np.eye(60)
        changed = cascade.times(0.7).leak(lr)
        np.testing.assert_allclose(basis.matrix(changed.matrix), W, rtol=0, atol=1e-11)
    with pytest.raises(ValueError, match="lr=0"):
        cascade.leak(0.0)


def test_spectrum_equals_that_of_the_matrix():
    cascade, _ = cascade_decomposition(DEGREE_3, 1e4, 60)
    result = np.sort_complex(np.round(cascade.spectrum.values, 6))
    np.testing.assert_allclose(
        np.sort(np.abs(result)), np.sort(np.abs(np.linalg.eigvals(cascade.matrix))), atol=1e-4
    )
    assert cascade.spectrum.radius == pytest.approx(1.0)
    assert "Cascade(60 units: a block of" in repr(cascade)


def test_inconsistent_parts_are_rejected():
    modes = ee.Spectrum([0.5, 0.2])
    for block, coupling in (
        (np.ones((2, 3)), np.ones((2, 2))),
        (np.ones((2, 2)), np.ones((2, 3))),
        (np.ones((2, 2)), np.ones((1, 2))),
        (np.ones(2), np.ones((2, 2))),
        (np.full((2, 2), np.nan), np.ones((2, 2))),
    ):
        with pytest.raises(ValueError, match=r"^Invalid "):
            Cascade(block, coupling, modes)
    with pytest.raises(ValueError, match=r"n_real, block=\(0, 9\)"):
        Basis(np.eye(4), 0, 9)


def test_basis_of_a_cascade_has_no_eigenvector_matrix():
    _, basis = cascade_decomposition(DEGREE_3, 1e4, 60)
    with pytest.raises(ValueError, match="matrix of a cascade"):
        basis.P  # noqa: B018


# Trained networks


U = np.random.default_rng(0).uniform(-1, 1, (500, 1))
Y = np.column_stack([np.roll(U[:, 0], k) for k in (1, 5)])


DRAWING = importlib.import_module("eigenecho.reservoir")


def in_form(form, monkeypatch):
    """Make draws use the given form, even if another form is cheaper."""
    monkeypatch.setattr(DRAWING, "choose_form", lambda W: choose_form(W, form))


@pytest.mark.parametrize("lr", [1.0, 0.4])
@pytest.mark.parametrize("form", ["cascade", "sparse"])
def test_network_gives_the_same_results_in_every_form(form, lr, monkeypatch):
    options = dict(spectrum="matrix", rc_connectivity=0.06, sr=0.9, lr=lr, seed=1, warmup=50)
    options |= dict(ridge=1e-6, input_bias=True, standardize=True)
    normal = ee.LinearESN(50, basis="neuron", **options).fit(U, Y)
    in_form(form, monkeypatch)
    esn = ee.LinearESN(50, **options).fit(U, Y)
    assert esn.model_.reservoir.transition.name == form
    # The condition number of the rows is up to 2e6, so weights and outputs have a relative accuracy
    # of 1e-9. Outputs during the warmup are a hundred times larger than the training targets.
    expected = normal.predict(U)
    close = 1e-8 * np.abs(expected).max()
    np.testing.assert_allclose(esn.predict(U), expected, rtol=0, atol=close)
    np.testing.assert_allclose(esn.states(U), normal.states(U), rtol=0, atol=1e-10)
    assert esn.transform(U).shape == (500, 50)
    for actual, expected in zip(esn.matrices(), normal.matrices(), strict=True):
        if expected is not None:
            scale = np.abs(dense(expected)).max()
            np.testing.assert_allclose(dense(actual), dense(expected), rtol=0, atol=1e-7 * scale)
    assert esn.effective_radius_ == pytest.approx(normal.effective_radius_, rel=1e-9)


def test_closed_loop_stream_and_forecast_of_a_cascade(monkeypatch):
    waves = ee.tasks.mso(2, 500)
    options = dict(spectrum="matrix", rc_connectivity=0.06, seed=1, warmup=50, ridge=1e-6)
    options |= dict(feedback=True, fb_scaling=0.1, output_to_readout=True)
    in_form("cascade", monkeypatch)
    esn = ee.LinearESN(50, **options).fit(waves[:-1], waves[1:])
    assert isinstance(esn.model_.reservoir.form, kernels.CascadeForm)
    W, W_in, bias, W_fb, W_out = esn.matrices()
    network = dict(bias=bias, W_fb=W_fb, output_to_readout=True)
    np.testing.assert_allclose(
        esn.predict(waves), naive.predict(W, W_in, W_out, waves, **network), rtol=0, atol=1e-8
    )
    np.testing.assert_allclose(
        esn.forecast(50, waves),
        naive.forecast(W, W_in, W_out, 50, context=waves, **network),
        rtol=0,
        atol=1e-7,
    )
    stream = esn.stream()
    np.testing.assert_allclose([stream.step(u) for u in waves], esn.predict(waves), atol=1e-10)
    assert esn.closed_loop_radius_ > 0


def test_sparse_matrix_keeps_its_memory():
    """The cascade keeps the memory capacity that the paper's method loses."""
    options = dict(spectrum="matrix", sr=1.0, rc_connectivity=0.03, seed=0, ridge=1e-12)
    capacity = [
        ee.tasks.memory_capacity(ee.LinearESN(100, basis=basis, **options), seed=0, delays=40)
        for basis in ("neuron", "eigen")
    ]
    assert capacity[0].total > 5
    np.testing.assert_allclose(capacity[1].capacity, capacity[0].capacity, atol=1e-6)


def test_only_inaccurate_forms_cause_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in ("sparse, degree 2", "sparse, degree 5", "low rank"):
            draw(Recipe(spectrum=matrix(kind, 200)), 1, seed=0)
    with pytest.warns(IllConditionedWarning, match="nearly defective.*N² operations"):
        draw(Recipe(spectrum=matrix("triangular", 60)), 1, seed=0)


def test_radius_and_leak_share_one_decomposition(monkeypatch):
    calls = []

    def counted(W):
        calls.append(1)
        return choose_form(W, "cascade")

    monkeypatch.setattr(DRAWING, "choose_form", counted)
    cache = Cache()
    for sr in (0.5, 0.9):
        for lr in (0.3, 1.0):
            recipe = Recipe(40, spectrum="matrix", rc_connectivity=0.08, sr=sr, lr=lr)
            drawn = draw(recipe, 1, seed=0, cache=cache)
            alone = draw(recipe, 1, seed=0)
            np.testing.assert_array_equal(
                drawn.reservoir.transition.matrix, alone.reservoir.transition.matrix
            )
            assert drawn.spectrum.radius == pytest.approx(sr)
    assert len(calls) == 1 + 4


def test_search_over_cascades_equals_separate_fits(monkeypatch):
    in_form("cascade", monkeypatch)
    esn = ee.LinearESN(40, spectrum="matrix", rc_connectivity=0.08, warmup=20)
    grid = {"sr": [0.5, 0.9], "lr": [0.5, 1.0], "input_scaling": [0.1, 1.0], "ridge": [1e-6, 1e-2]}
    result = ee.search(esn, grid, U, Y, seeds=[0])
    cut = 500 - round(0.2 * 480)
    best = result.best_index
    fitted = ee.LinearESN(**(esn.get_params() | result.params[best] | {"seed": 0}))
    fitted.fit(U[:cut], Y[:cut])
    error = np.sqrt(np.mean((fitted.predict(U)[cut:] - Y[cut:]) ** 2))
    assert result.best_error == pytest.approx(error, rel=1e-6)
    assert isinstance(result.best_estimator.model_.reservoir.form, kernels.CascadeForm)
