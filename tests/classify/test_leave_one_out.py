"""Leave-one-out errors equal those of refitting, for both forms; probabilities are calibrated."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax, softmax
from sklearn.linear_model import RidgeClassifierCV
from sklearn.preprocessing import StandardScaler

import naive
from eigenecho.classify import ridge as ridge_module
from eigenecho.classify.classifier import calibrate, fit_classifier
from eigenecho.classify.ridge import fit_ridge

ALPHAS = (1e-10, 1e-2, 1.0, 30.0, 1e6)


def drawn(n, F, K, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, F)).astype(np.float32)
    X[:, 0] = 0.25  # a constant feature
    codes = np.concatenate([np.arange(K), rng.integers(K, size=n - K)])
    return X, codes, np.where(codes[:, None] == np.arange(K), 1.0, -1.0)


SHAPES = [(12, 40, 3), (12, 200, 3), (40, 12, 3), (15, 15, 2), (2, 5, 2), (30, 1, 4), (9, 2, 9)]


@pytest.mark.parametrize(("n", "F", "K"), SHAPES)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_one_ridge_equals_refitting(n, F, K, alpha, monkeypatch):
    monkeypatch.setattr(ridge_module, "CHUNK_BYTES", 8 * 7 * min(n, F))  # several parts
    X, _, Y = drawn(n, F, K)
    fit = fit_ridge(X, Y, [alpha])
    scale = X.std(axis=0, dtype=float)
    Z = np.where(scale > 1e-6, (X - X.mean(axis=0, dtype=float)) / np.maximum(scale, 1e-6), 0)
    weights = naive.ridge(np.column_stack([np.ones(n), Z]), Y, alpha, penalise_bias=False)
    outputs = np.column_stack([np.ones(n), Z]) @ weights
    np.testing.assert_allclose(X @ fit.weights + fit.intercept, outputs, atol=1e-9)
    np.testing.assert_allclose(fit.held_out, naive.leave_one_out(Z, Y, alpha), atol=1e-7)
    assert fit.ridge == alpha
    np.testing.assert_allclose(fit.scale, np.where(scale > 1e-6, scale, 0), atol=1e-12)
    assert (fit.weights[scale < 1e-6] == 0).all()


@pytest.mark.parametrize(("n", "F", "K"), SHAPES)
def test_best_ridge_is_chosen(n, F, K):
    X, _, Y = drawn(n, F, K)
    fits = [fit_ridge(X, Y, [alpha]) for alpha in ALPHAS]
    errors = [np.mean((Y - fit.held_out) ** 2) for fit in fits]
    best = fits[int(np.argmin(errors))]
    together = fit_ridge(X, Y, ALPHAS)
    assert together.ridge == best.ridge
    np.testing.assert_allclose(together.weights, best.weights, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("n", "F", "K"), [(30, 50, 3), (60, 20, 2)])
def test_predictions_equal_scikit_learn(n, F, K):
    X, codes, _ = drawn(n, F, K)
    X[:, 1] += codes
    ours = fit_classifier(X, codes, ALPHAS)
    Z = StandardScaler().fit_transform(X.astype(float))
    theirs = RidgeClassifierCV(ALPHAS).fit(Z, codes)
    assert ours.ridge == theirs.alpha_
    decisions = ours.decide(X)
    expected = theirs.decision_function(Z).reshape(decisions.shape)
    np.testing.assert_allclose(decisions, expected, atol=1e-6)


def test_features_that_are_all_constant():
    X = np.full((6, 3), 0.5, np.float32)
    classifier = fit_classifier(X, np.array([0, 0, 0, 0, 1, 1]), ALPHAS)
    np.testing.assert_allclose(classifier.decide(X), -1 / 3)
    assert np.isfinite(classifier.probabilities(classifier.decide(X))).all()


@pytest.mark.parametrize("K", [2, 4])
def test_calibration_minimises_the_smoothed_log_loss(K):
    rng = np.random.default_rng(0)
    n = 300
    codes = rng.integers(K, size=n)
    decisions = np.eye(K)[codes] + rng.normal(0, 0.7, (n, K))
    best = calibrate(decisions, codes)
    targets = (n * np.eye(K)[codes] + 1) / (n + K)

    def loss(sharpness):
        return -np.mean(np.sum(targets * log_softmax(sharpness * decisions, axis=1), axis=1))

    assert loss(best) < min(loss(best * 1.05), loss(best / 1.05), loss(1.0))


def test_calibration_of_perfect_and_of_useless_decisions():
    codes = np.arange(20) % 2
    perfect = np.where(codes[:, None] == np.arange(2), 1.0, -1.0)
    # Platt's smoothing: the largest probability is 21 / 22.
    sharpness = calibrate(perfect, codes)
    np.testing.assert_allclose(softmax(sharpness * perfect, axis=1).max(), 21 / 22)
    assert 0 < calibrate(-perfect, codes) < 0.01


def test_probabilities_are_calibrated_on_new_series():
    rng = np.random.default_rng(1)
    codes = rng.integers(2, size=2000)
    X = (rng.normal(size=(2000, 30)) + 0.4 * codes[:, None] * (np.arange(30) < 6)).astype(
        np.float32
    )
    classifier = fit_classifier(X[:300], codes[:300], np.logspace(-2, 6, 17))
    P = classifier.probabilities(classifier.decide(X[300:]))
    confidence, correct = P.max(axis=1), P.argmax(axis=1) == codes[300:]
    assert abs(confidence.mean() - correct.mean()) < 0.05
    np.testing.assert_allclose(P.sum(axis=1), 1)
