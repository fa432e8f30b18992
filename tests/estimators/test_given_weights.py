"""Networks with given input and feedback weights, and without input weights."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import eigenecho as ee
import naive

RNG = np.random.default_rng(0)
N, RIDGE = 12, 1e-3
U = RNG.uniform(-1, 1, (200, 2))
Y = np.column_stack([np.roll(U[:, 0], 2) + U[:, 1], np.roll(U[:, 1], 1)])
W_IN, W_FB = RNG.normal(size=(2, N)), 0.05 * RNG.normal(size=(2, N))
SPECTRA = ["golden", "ring", "matrix", 0.2 * RNG.normal(size=(N, N))]
MODES = ee.spectra.golden(N, sr=0.9, seed=0)


@pytest.mark.parametrize("basis", ["eigen", "neuron"])
@pytest.mark.parametrize("spectrum", SPECTRA, ids=str)
def test_network_with_given_weights_equals_the_textbook(spectrum, basis):
    options = {"spectrum": spectrum, "basis": basis, "lr": 0.7, "ridge": RIDGE, "seed": 1}
    esn = ee.LinearESN(N, W_in=W_IN, W_fb=W_FB, feedback=True, fb_scaling=0.5, **options)
    esn = clone(esn).fit(U, Y)
    drawn = ee.LinearESN(N, feedback=True, **options).fit(U, Y).matrices()
    W = esn.matrices().W
    np.testing.assert_allclose(W, drawn.W, atol=1e-12)
    W = (W - 0.3 * np.eye(N)) / 0.7
    weights = {"lr": 0.7, "W_fb": 0.5 * W_FB}
    states = naive.states(W, W_IN, U, y_previous=naive.shifted(Y), **weights)
    W_out = naive.ridge(naive.extended(states), Y, RIDGE)
    expected = naive.extended(states) @ W_out
    np.testing.assert_allclose(esn.predict(U, y_previous=naive.shifted(Y)), expected, atol=1e-9)


def test_given_weights_do_not_depend_on_the_penalty():
    esn = ee.LinearESN(N, W_in=W_IN, penalty="identity", seed=1).fit(U, Y)
    np.testing.assert_allclose(esn.matrices().W_in, W_IN, atol=1e-12)


def test_search_scales_given_weights():
    esn = ee.LinearESN(N, W_in=W_IN, seed=1)
    found = ee.search(
        esn, {"input_scaling": [0.1], "ridge": [RIDGE]}, U, Y, validation=[(150, 200)]
    )
    scaled = ee.LinearESN(N, W_in=0.1 * W_IN, ridge=RIDGE, seed=1).fit(U[:150], Y[:150])
    expected = ee.metrics.rmse(Y[150:], scaled.predict(U)[150:])
    np.testing.assert_allclose(found.errors.ravel()[0], expected, rtol=1e-6)


@pytest.mark.parametrize("make", [ee.DiagonalReservoir, ee.LinearESN])
def test_states_without_input_weights(make):
    for d in range(2):
        reservoir = make(N, spectrum=MODES, W_in="ones").fit(U[:, [d]], Y)
        modes = np.concatenate([MODES.real, MODES.pairs])
        R, expected = np.zeros(len(modes), complex), []
        for u in U[:, d]:
            R = R * modes + u
            n = MODES.real.size
            pairs = np.column_stack([R[n:].real, R[n:].imag]).ravel()
            expected.append(np.concatenate([R[:n].real, pairs]))
        np.testing.assert_allclose(reservoir.transform(U[:, [d]]), expected, atol=1e-12)


@pytest.mark.parametrize("lr", [1.0, 0.6])
@pytest.mark.parametrize("first", ["ones", None])
def test_input_weights_can_be_exchanged_after_training(first, lr):
    u = U[:, :1]
    esn = ee.LinearESN(N, spectrum=MODES, W_in=first, lr=lr, standardize=True, seed=0).fit(u, Y)
    W_in = RNG.uniform(0.5, 2, (1, N))
    model = esn.model_.with_input_weights(W_in)
    np.testing.assert_allclose(model.predict(u), esn.predict(u), atol=1e-10)
    np.testing.assert_array_equal(model.matrices("work").W_in, W_in)
    back = model.with_input_weights(esn.matrices("work").W_in)
    np.testing.assert_allclose(back.W_out, esn.W_out_, rtol=1e-10)


def test_recovered_readout_is_the_quotient():
    u, n = U[:, :1], MODES.real.size
    esn = ee.LinearESN(N, spectrum=MODES, W_in="ones").fit(u, Y[:, 0])
    w_in = RNG.uniform(0.5, 2, N)
    W_out = esn.model_.with_input_weights(w_in[None]).W_out[1:, 0]
    gamma, complete = esn.coef_, []
    for i in range(n):
        complete.append(gamma[i] / w_in[i])
    for i in range(n, N, 2):  # [c, c̄] of γ = c r + c̄ r̄ is divided by [w, w̄]
        c = (gamma[i] - 1j * gamma[i + 1]) / 2 / (w_in[i] + 1j * w_in[i + 1])
        complete += [2 * c.real, -2 * c.imag]
    np.testing.assert_allclose(W_out, complete, rtol=1e-10)


def test_share_of_feedback_connections():
    esn = ee.LinearESN(500, spectrum="matrix", basis="neuron", feedback=True, fb_scaling=1e-3)
    esn.set_params(fb_connectivity=0.1, ridge=1.0, seed=0).fit(U, Y)
    assert 0.05 < np.mean(esn.matrices().W_fb != 0) < 0.15
    assert (esn.matrices().W_in != 0).all()


def test_given_weights_are_saved(tmp_path):
    esn = ee.LinearESN(N, W_in=W_IN, W_fb=W_FB, feedback=True, ridge=RIDGE, seed=1).fit(U, Y)
    esn.save(tmp_path / "esn")
    loaded = ee.load(tmp_path / "esn")
    np.testing.assert_array_equal(loaded.W_in, W_IN)
    np.testing.assert_array_equal(loaded.W_fb, W_FB)
    np.testing.assert_allclose(loaded.fit(U, Y).predict(U), esn.predict(U), rtol=1e-12)
    ones = ee.DiagonalReservoir(N, W_in="ones", seed=0).fit(U[:, :1])
    ones.save(tmp_path / "ones")
    assert ee.load(tmp_path / "ones").W_in == "ones"
    reduced = ee.LinearESN(N, W_in=W_IN, seed=0).fit(U, Y).reduce(units=6)
    assert reduced.W_in is None


def test_spectrum_can_be_learned_with_given_weights():
    u = ee.tasks.mso(3, steps=401)
    esn = ee.LinearESN(N, spectrum="data", W_in=W_IN[:1], seed=0).fit(u[:-1], u[1:])
    np.testing.assert_allclose(esn.matrices().W_in, W_IN[:1], atol=1e-10)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"W_in": "one"}, r"W_in='one'.*'ones' or None"),
        ({"W_in": np.ones(N)}, r"W_in.*\(D_in, N\)"),
        ({"W_in": np.ones((1, N))}, rf"W_in.*\(1, {N}\).*\(2, {N}\)"),
        ({"W_in": np.full((2, N), np.nan)}, "W_in.*finite"),
        ({"W_in": 1j * W_IN}, "W_in"),
        ({"W_in": "ones", "basis": "neuron"}, "W_in='ones'.*modes"),
        ({"W_in": "ones", "spectrum": ee.delay_line(3)}, "W_in.*delay line"),
        ({"W_fb": W_FB}, "W_fb.*feedback=True"),
        ({"W_fb": "ones", "feedback": True}, "W_fb='ones'"),
        ({"W_fb": W_FB[:1], "feedback": True}, rf"W_fb.*\(1, {N}\).*one row for each output"),
        ({"fb_connectivity": 0.0}, "fb_connectivity"),
    ],
)
def test_invalid_weights(options, words):
    with pytest.raises(ValueError, match=words):
        ee.LinearESN(N, **options).fit(U, Y)


def test_input_weights_that_cannot_be_exchanged():
    one = ee.LinearESN(N, spectrum="ring", seed=0).fit(U[:, :1], Y)
    with pytest.raises(ValueError, match=r"W_in.*0"):
        one.model_.with_input_weights(np.zeros((1, N)))
    with pytest.raises(ValueError, match=r"W_in.*shape"):
        one.model_.with_input_weights(np.ones((2, N)))
    for options in ({}, {"basis": "neuron"}, {"feedback": True, "fb_scaling": 1e-3}):
        u = U[:, :1] if options else U
        model = ee.LinearESN(N, ridge=1.0, **options, seed=0).fit(u, Y).model_
        with pytest.raises(ValueError, match="single input"):
            model.with_input_weights(np.ones((1, N)))


def test_weights_of_one_are_refused_for_several_inputs():
    X = np.random.default_rng(0).normal(size=(50, 2))
    for estimator in (ee.LinearESN(5, W_in="ones"), ee.DiagonalReservoir(5, W_in="ones")):
        with pytest.raises(ValueError, match="W_in='ones'"):
            estimator.fit(X, X)


@pytest.mark.parametrize(
    "W_in", ["ones", np.ones((1, 5)) + 1j, np.ones(5), np.full((1, 5), 1e-320), np.zeros((1, 5))]
)
def test_invalid_input_weights(W_in):
    X = np.random.default_rng(0).normal(size=(50, 1))
    model = ee.LinearESN(5, W_in="ones", ridge=1e-3).fit(X, X).model_
    with pytest.raises(ValueError, match=r"W_in|W_out"):
        model.with_input_weights(W_in)
