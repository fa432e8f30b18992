"""Conversion of given networks, and the certificate that comes with it."""

import numpy as np
import pytest
import scipy.sparse

import eigenecho as ee
import naive

RNG = np.random.default_rng(5)


def gaussian(N, radius=0.9):
    W = RNG.normal(size=(N, N))
    return W * (radius / np.abs(np.linalg.eigvals(W)).max())


def test_certificate_is_true():
    N = 60
    W, W_in, W_out = gaussian(N), RNG.normal(size=(2, N)), RNG.normal(size=(N + 1, 3))
    model = ee.diagonalize(W, W_in, W_out)
    certificate = model.certificate
    assert certificate.form == "diagonal"
    assert certificate.condition == pytest.approx(np.linalg.cond(model.basis.Q))
    u = RNG.uniform(-1, 1, (certificate.steps, 2))
    wanted = naive.predict(W, W_in, W_out, u)
    measured = np.abs(model.predict(u) - wanted).max() / np.abs(wanted).max()
    assert measured < 1e-12
    assert certificate.difference < 1e-12
    assert certificate.residual < 1e-13
    for word in ("diagonal", "cond(Q)", "difference", "faster"):
        assert word in str(certificate)


@pytest.mark.parametrize("previous", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_input_to_readout(previous, bias):
    N, D_in, D_out = 20, 2, 1
    W, W_in = gaussian(N), RNG.normal(size=(D_in, N))
    W_out = RNG.normal(size=(bias + previous * D_out + N + D_in, D_out)) / N
    u = RNG.normal(size=(50, D_in))
    before = RNG.normal(size=(50, D_out)) if previous else None
    model = ee.diagonalize(
        W, W_in, W_out, lr=0.7, output_to_readout=previous, input_to_readout=True
    )
    wanted = u @ W_out[-D_in:] + naive.predict(
        W, W_in, W_out[:-D_in], u, lr=0.7, fit_bias=bias, output_to_readout=previous,
        y_previous=before,
    )  # fmt: skip
    np.testing.assert_allclose(model.predict(u, y_previous=before), wanted, atol=1e-11)
    assert model.readout_bias == bias


def test_leak_of_each_unit():
    N = 12
    W, W_in, W_out = gaussian(N), RNG.normal(size=(1, N)), RNG.normal(size=(N, 1))
    rates = RNG.uniform(0.2, 1, N)
    model = ee.diagonalize(W, W_in, W_out, lr=rates, bias=np.ones(N))
    r, wanted = np.zeros(N), []
    u = RNG.normal(size=(40, 1))
    for row in u:
        r = (1 - rates) * r + rates * (r @ W + row @ W_in + 1)
        wanted.append(r @ W_out)
    np.testing.assert_allclose(model.predict(u), wanted, atol=1e-11)


def test_without_readout_the_outputs_are_the_states():
    W, W_in = gaussian(9), RNG.normal(size=(1, 9))
    u = RNG.normal(size=(30, 1))
    np.testing.assert_allclose(
        ee.diagonalize(W, W_in).predict(u), naive.states(W, W_in, u), atol=1e-12
    )


@pytest.mark.parametrize(
    ("name", "W"),
    [
        ("jordan", np.diag(np.ones(9), 1) + 0.5 * np.eye(10)),
        ("nilpotent", np.diag(np.ones(9), 1)),
        ("zero", np.zeros((4, 4))),
        ("identity", np.eye(4)),
        ("rotation", np.array([[0.6, -0.8], [0.8, 0.6]])),
        ("permutation", np.roll(np.eye(7), 1, axis=1)),
        ("one unit", np.array([[0.5]])),
        ("integers", np.array([[0, 1], [1, 0]])),
        ("sparse", scipy.sparse.random(80, 80, 0.02, random_state=0, format="csr")),
        ("triangular", np.triu(np.full((30, 30), 0.1))),
        ("radius 3", gaussian(8, 3.0)),
    ],
)
def test_every_matrix_converts(name, W):
    N = W.shape[0]
    W_in, W_out = RNG.normal(size=(1, N)), RNG.normal(size=(N, 1))
    model = ee.diagonalize(W, W_in, W_out)
    u = RNG.normal(size=(40, 1))
    dense = W.toarray() if scipy.sparse.issparse(W) else W
    wanted = naive.predict(dense, W_in, W_out, u, fit_bias=False)
    np.testing.assert_allclose(model.predict(u), wanted, atol=1e-9 * np.abs(wanted).max())
    defective = name in ("jordan", "nilpotent", "sparse", "triangular")
    assert (model.certificate.form == "diagonal") == (not defective)
    assert model.certificate.difference < 1e-9


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(W=np.ones((2, 3))), "W=.*square"),
        (dict(W=np.full((3, 3), np.nan)), "W=.*finite"),
        (dict(W=np.ones((3, 3), complex)), "W=.*real"),
        (dict(W=np.array([["a"]])), "W=.*real"),
        (dict(W=np.empty((0, 0))), "W=.*square"),
        (dict(W_in=np.ones((1, 4))), "W_in=.*column per unit"),
        (dict(W_fb=np.ones((2, 3))), "W_fb=.*D_out = 1"),
        (dict(W_out=np.ones((5, 1))), "W_out=.*3 rows, for 3 states"),
        (dict(W_out=np.ones((3, 1)), readout_bias=True), "W_out=.*4 rows, for a bias"),
        (dict(W_out=np.full((3, 1), np.inf)), "W_out=.*finite"),
        (dict(lr=0.0), "lr=.*]0, 1]"),
        (dict(lr=[0.5, 0.5]), "lr=.*each of 3 units"),
        (dict(bias=np.ones(2)), "bias=.*column per unit"),
    ],
)
def test_bad_input_is_refused_with_a_reason(change, words):
    given = dict(W=np.eye(3) * 0.5, W_in=np.ones((1, 3)), W_out=np.ones((3, 1))) | change
    with pytest.raises(ValueError, match=words):
        ee.diagonalize(**given)


def test_a_converted_network_forecasts_streams_and_saves(tmp_path):
    X = ee.tasks.mso(2, 300)
    esn = ee.LinearESN(30, basis="neuron", spectrum="matrix", warmup=50, seed=0, solver="qr")
    esn.fit(X[:-1], X[1:])
    W, W_in, _, _, W_out = esn.matrices()
    model = ee.diagonalize(W, W_in, W_out)
    np.testing.assert_allclose(model.forecast(20, X), esn.forecast(20, X), atol=1e-8)
    stream = model.stream()
    np.testing.assert_allclose([stream.step(u) for u in X], model.predict(X), atol=1e-12)
    model.save(tmp_path / "model.safetensors")
    loaded = ee.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.certificate == model.certificate
