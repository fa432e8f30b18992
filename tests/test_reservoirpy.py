"""reservoirpy gives equal states for equal weights, and equal predictions for equal fits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from eigenecho import LinearESN
from eigenecho.basis import eigendecomposition
from eigenecho.reservoir import Reservoir

reservoirpy = pytest.importorskip("reservoirpy")
nodes = pytest.importorskip("reservoirpy.nodes")

N = 100
T = 400
STATES = 1e-10
PREDICTIONS = 1e-8


def weights(connectivity, D_in, bias, seed=0):
    """Return W (N, N) of radius 0.9, W_in (D_in, N) and bias (N,) or None, in our convention."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(N, N)) * (rng.random((N, N)) < connectivity)
    W *= 0.9 / np.abs(np.linalg.eigvals(W)).max()
    return W, rng.uniform(-1, 1, (D_in, N)), rng.uniform(-1, 1, N) if bias else None


def theirs(W, W_in, bias, lr=1.0, form=np.asarray):
    """Return a node of reservoirpy, whose matrices are ours transposed: its states are W @ s."""
    return nodes.Reservoir(
        W=form(W.T), Win=form(W_in.T), bias=0.0 if bias is None else bias, lr=lr,
        activation="identity",
    )  # fmt: skip


def series(D_in, seed=1):
    return np.random.default_rng(seed).normal(size=(T, D_in))


def assert_close(actual, expected, tolerance):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


CASES = pytest.mark.parametrize(
    ("connectivity", "lr", "D_in", "bias"),
    [(c, lr, D, b) for c in (0.1, 1.0) for lr in (0.3, 1.0) for D in (1, 3) for b in (False, True)],
)


def test_reservoirpy_version():
    assert reservoirpy.__version__ == "0.4.2"


@CASES
def test_states_of_a_bare_reservoir(connectivity, lr, D_in, bias):
    W, W_in, b = weights(connectivity, D_in, bias)
    u = series(D_in)
    expected = theirs(W, W_in, b, lr, sparse.csr_array).run(u)
    assert expected.shape == (T, N)

    def states(transition, change=lambda A: A):
        reservoir = Reservoir(transition, change(lr * W_in), None if b is None else change(lr * b))
        return reservoir.scan(reservoir.drive(u, None))[0]

    leaky = lr * W + (1 - lr) * np.eye(N)
    assert_close(states(leaky), expected, STATES)
    assert_close(states(sparse.csr_matrix(leaky)), expected, STATES)
    spectrum, basis = eigendecomposition(W)
    in_eigenbasis = states(spectrum.leak(lr), basis.states_to_eigen)
    assert_close(basis.states_to_neuron(in_eigenbasis), expected, STATES)


@CASES
@pytest.mark.parametrize("basis", ["eigen", "neuron"])
def test_states_of_a_network(connectivity, lr, D_in, bias, basis):
    W, _, _ = weights(connectivity, D_in, bias)
    u = series(D_in)
    esn = LinearESN(
        spectrum=W, basis=basis, lr=lr, input_bias=bias, input_scaling=0.5, ridge=1e-4, seed=0
    ).fit(u, u[:, 0])
    drawn = esn.matrices("neuron")  # leak and scaling included
    dense = drawn.W.toarray() if sparse.issparse(drawn.W) else drawn.W
    assert_close(dense, lr * W + (1 - lr) * np.eye(N), 1e-11)
    assert_close(
        esn.states(u, basis="neuron"), theirs(dense, drawn.W_in, drawn.bias).run(u), STATES
    )
    # Also let reservoirpy apply the leak: our weights are lr times theirs.
    undone = None if drawn.bias is None else drawn.bias / lr
    leaking = theirs(W, drawn.W_in / lr, undone, lr)
    assert_close(esn.states(u, basis="neuron"), leaking.run(u), STATES)


def test_transposing_matters():
    W, W_in, _ = weights(1.0, 1, False)
    u = series(1)
    wrong = nodes.Reservoir(W=W, Win=W_in.T, bias=0.0, activation="identity").run(u)
    right = theirs(W, W_in, None).run(u)
    assert np.abs(wrong - right).max() > 0.1 * np.abs(right).max()


@pytest.mark.parametrize("fit_bias", [True, False])
@pytest.mark.parametrize("D_out", [1, 2])
@pytest.mark.parametrize("basis", ["eigen", "neuron"])
@pytest.mark.parametrize("connectivity", [0.1, 1.0])
def test_complete_fit(fit_bias, D_out, basis, connectivity):
    W, _, _ = weights(connectivity, 2, False)
    u = series(2)
    # The offset needs a bias, which the ridge of reservoirpy does not penalise.
    y = 3.0 + np.stack([np.convolve(u[:, d], [1.0, 0.5, 0.25])[:T] for d in range(D_out)], axis=1)
    esn = LinearESN(
        spectrum=W, basis=basis, lr=0.3, ridge=1e-2, fit_bias=fit_bias, penalize_bias=False,
        solver="qr", warmup=50, seed=0,
    ).fit(u, y)  # fmt: skip
    drawn = esn.matrices("neuron")
    node = theirs(W, drawn.W_in / 0.3, None, 0.3)
    model = node >> nodes.Ridge(ridge=1e-2, fit_bias=fit_bias)
    model.fit(u, y, warmup=50)
    node.reset()
    expected = model.run(u)
    assert_close(esn.predict(u), expected, PREDICTIONS)
    readout = model.nodes[-1]
    assert_close(drawn.W_out[int(fit_bias) :], readout.Wout, 1e-6)
    if fit_bias:
        assert_close(esn.intercept_, readout.bias, 1e-6)
        penalised = LinearESN(spectrum=W, basis=basis, lr=0.3, ridge=1e-2, warmup=50, seed=0)
        difference = penalised.fit(u, y).predict(u) - expected
        assert np.abs(difference).max() > 100 * PREDICTIONS * np.abs(expected).max()
