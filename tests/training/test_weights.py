"""Integer weights of rows are equivalent to repeated rows, and weights of 0 to missing targets."""

from __future__ import annotations

import numpy as np
import pytest

import eigenecho as ee
import naive

RNG = np.random.default_rng(0)
T, WARMUP = 300, 10
X = RNG.normal(size=(T, 2))
Y = np.column_stack([np.roll(X[:, 0], 1), np.roll(X[:, 1], 2)]) + 0.1 * RNG.normal(size=(T, 2))
COUNTS = RNG.integers(0, 4, T)
SOLVERS = ["qr", "normal"]


def network(**options):
    return ee.LinearESN(20, **{"ridge": 1e-2, "warmup": WARMUP, "seed": 0} | options)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("basis", ["eigen", "neuron"])
@pytest.mark.parametrize("penalty", ["neuron", "identity"])
@pytest.mark.parametrize("ridge", [0.0, 1e-2, "auto"])
@pytest.mark.parametrize("penalize_bias", [False, True])
def test_integer_weights_equal_repeated_rows(solver, basis, penalty, ridge, penalize_bias):
    esn = network(
        solver=solver, basis=basis, penalty=penalty, ridge=ridge, penalize_bias=penalize_bias
    ).fit(X, Y, sample_weight=COUNTS)
    repeated = np.repeat(np.arange(T), COUNTS)
    rows = naive.extended(esn.transform(X))[repeated[repeated >= WARMUP]]
    targets = Y[repeated[repeated >= WARMUP]]
    M = np.eye(21)
    if penalty == "neuron" and basis == "eigen":
        Q = np.array(esn.model_.basis.Q)
        M[1:, 1:] = Q.T @ Q
    M[0, 0] = penalize_bias
    A = rows.T @ rows + esn.ridge_ * M
    expected = np.linalg.solve(A, rows.T @ targets)
    size = np.abs(targets).max()
    np.testing.assert_allclose(rows @ esn.W_out_, rows @ expected, rtol=0, atol=1e-10 * size)
    left = targets - rows @ expected
    free = len(rows) - np.trace(np.linalg.solve(A, rows.T @ rows))
    np.testing.assert_allclose(esn.noise_covariance_, left.T @ left / free, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(
    "options", [{"ridge": "auto"}, {"features": "quadratic"}, {"dtype": "float32"}], ids=str
)
def test_repeated_rows_of_a_network_without_memory(options):
    base = ee.LinearESN(2, **{"spectrum": np.zeros(2), "ridge": 1e-2, "seed": 0} | options)
    rows = np.repeat(np.arange(T), COUNTS)
    repeated = base.fit(X[rows], Y[rows])
    expected, noise, ridge = repeated.predict(X), repeated.noise_, repeated.ridge_
    weighted = base.fit(X, Y, sample_weight=COUNTS)
    # The search for the ridge ends at a relative accuracy of 1e-6.
    digits = 1e-9 if "features" in options else 1e-5
    np.testing.assert_allclose(weighted.predict(X), expected, atol=digits)
    np.testing.assert_allclose(weighted.noise_, noise, rtol=100 * digits)
    assert weighted.ridge_ == pytest.approx(ridge, rel=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("standardize", [False, True])
def test_zero_weights_equal_missing_targets(solver, standardize):
    weights, gappy = np.ones(T), Y.copy()
    weights[50:80], gappy[50:80] = 0.0, np.nan
    options = {"solver": solver, "standardize": standardize}
    actual = network(**options).fit(X, Y, sample_weight=weights)
    expected = network(missing="skip", **options).fit(X, gappy)
    np.testing.assert_allclose(actual.W_out_, expected.W_out_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(actual.noise_, expected.noise_, rtol=1e-10)
    both = network(missing="skip", **options).fit(X, gappy, sample_weight=weights)
    np.testing.assert_allclose(both.W_out_, expected.W_out_, rtol=0, atol=1e-10)


@pytest.mark.parametrize("options", [{"feedback": True}, {"output_to_readout": True}])
def test_targets_of_weight_zero_are_still_fed_back(options):
    weights = np.ones(T)
    weights[50:80] = 0.0
    esn = network(**options).fit(X, Y, sample_weight=weights)
    m, kept = esn.matrices(), np.arange(T)[weights > 0]
    before = np.vstack([np.zeros((1, 2)), Y[:-1]])
    fed_back = {"W_fb": m.W_fb, "y_previous": before} if esn.feedback else {}
    states = naive.states(m.W, m.W_in, X, **fed_back)
    rows = naive.extended(states, before, previous=esn.output_to_readout)
    rows, targets = rows[kept[kept >= WARMUP]], Y[kept[kept >= WARMUP]]
    expected = naive.ridge(rows, targets, 1e-2)
    np.testing.assert_allclose(m.W_out, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("solver", SOLVERS)
def test_partial_fits_and_several_series(solver):
    cuts = [(0, 120), (120, 300)]
    X2, Y2, W2 = ([a[i:j] for i, j in cuts] for a in (X, Y, COUNTS))
    whole = network(solver=solver).fit(X2, Y2, sample_weight=W2)
    parts = network(solver=solver)
    for u, y, w in zip(X2, Y2, W2, strict=True):
        parts.partial_fit(u, y, w)
    np.testing.assert_allclose(parts.W_out_, whole.W_out_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(parts.noise_, whole.noise_, rtol=1e-8)
    stack = network(solver=solver).fit(X.reshape(3, 100, 2), Y.reshape(3, 100, 2),
                                       sample_weight=COUNTS.reshape(3, 100))  # fmt: skip
    items = network(solver=solver).fit(list(X.reshape(3, 100, 2)), list(Y.reshape(3, 100, 2)),
                                       sample_weight=list(COUNTS.reshape(3, 100)))  # fmt: skip
    np.testing.assert_array_equal(stack.W_out_, items.W_out_)


def test_weights_disable_sums_over_time(prefer_sums):
    prefer_sums(True)
    assert network(sr=0.5).fit(X, Y).solver_ == "normal"
    assert network(sr=0.5).fit(X, Y, sample_weight=COUNTS).solver_ == "qr"


@pytest.mark.parametrize(
    "weights", [np.ones(T - 1), -np.ones(T), np.full(T, np.nan), np.zeros(T), np.ones((T, 2)), "x"]
)
def test_invalid_weights(weights):
    esn = network()
    with pytest.raises(ValueError, match="sample_weight"):
        esn.fit(X, Y, sample_weight=weights)
    assert not hasattr(esn, "model_")


def test_outputs_with_different_gaps():
    gappy = Y.copy()
    gappy[30:60, 0] = gappy[90:140, 1] = np.nan
    esn = network(missing="skip").fit(X, gappy, sample_weight=COUNTS)
    for column in range(2):
        one = network(missing="skip").fit(X, gappy[:, [column]], sample_weight=COUNTS)
        np.testing.assert_allclose(esn.W_out_[:, [column]], one.W_out_, rtol=0, atol=1e-10)


def test_robust_and_quantile_readouts():
    """Reweighting in rounds solves other losses, as in the guide."""
    rng = np.random.default_rng(1)
    y = X[:, :1] + 0.1 * rng.normal(size=(T, 1))
    y[rng.random(T) < 0.1] += 20.0
    plain, weights = network().fit(X, y), np.ones(T)
    for _ in range(10):
        robust = network().fit(X, y, sample_weight=weights)
        error = np.abs(y - robust.predict(X))[:, 0]
        weights = 1 / np.maximum(1, error / 0.3)
    clean = X[:, :1]
    errors = [np.abs(esn.predict(X) - clean)[WARMUP:].mean() for esn in (plain, robust)]
    assert errors[1] < 0.2 * errors[0]
    for share in (0.1, 0.5, 0.9):
        noisy, weights = X[:, :1] + rng.normal(size=(T, 1)), np.ones(T)
        for _ in range(60):
            quantile = network(ridge=1e-3).fit(X, noisy, sample_weight=weights)
            error = (noisy - quantile.predict(X))[:, 0]
            weights = np.where(error > 0, share, 1 - share) / np.maximum(np.abs(error), 1e-3)
        below = np.mean(error[WARMUP:] < 0)
        assert below == pytest.approx(share, abs=0.04)  # some errors are nearly 0


def test_weights_of_one_change_nothing():
    gappy = Y.copy()
    gappy[50:150] = np.nan
    for targets, options in (
        (gappy, {"missing": "skip"}),
        (gappy, {"missing": "skip", "ridge": "auto"}),
        (gappy, {"missing": "skip", "features": "quadratic"}),
        (Y, {"standardize": True}),
    ):
        expected = network(**options).fit(X, targets)
        actual = network(**options).fit(X, targets, sample_weight=np.ones(T))
        np.testing.assert_allclose(actual.predict(X), expected.predict(X), rtol=0, atol=1e-9)
        np.testing.assert_allclose(actual.noise_, expected.noise_, rtol=1e-9)
        assert actual.ridge_ == pytest.approx(expected.ridge_)


@pytest.mark.parametrize("options", [{"features": "quadratic"}, {"standardize": True}])
def test_only_ratios_of_weights_to_the_ridge_count(options):
    weights = RNG.uniform(0.1, 2, T)
    series = [X[:100], X[100:]], [Y[:100], Y[100:]]
    expected = network(**options).fit(*series, sample_weight=[weights[:100], weights[100:]])
    small = network(**options | {"ridge": 1e-8})
    with pytest.warns(UserWarning, match="weights of the rows sum to"):
        small.fit(*series, sample_weight=[1e-6 * weights[:100], 1e-6 * weights[100:]])
    np.testing.assert_allclose(small.predict(X), expected.predict(X), rtol=0, atol=1e-8)


def test_series_of_zero_weights_equals_a_series_of_missing_targets():
    inputs, outputs = [X[:100], X[100:]], [Y[:100], Y[100:]]
    gone = [np.full((100, 2), np.nan), Y[100:]]
    options = {"features": "quadratic", "missing": "skip"}
    actual = network(**options).fit(inputs, outputs, sample_weight=[np.zeros(100), np.ones(200)])
    expected = network(**options).fit(inputs, gone)
    np.testing.assert_allclose(actual.predict(X), expected.predict(X), rtol=0, atol=1e-9)
    assert np.isfinite(actual.model_.output_range).all()


@pytest.mark.parametrize("options", [{"ridge": "loop"}, {"spectrum": "data"}])
def test_choices_that_do_not_use_weights(options):
    with pytest.raises(ValueError, match="sample_weight"):
        network(**options).fit(Y[:-1, :1], Y[1:, :1], sample_weight=COUNTS[1:])
