"""Recursive least squares, updated row by row, equals a batch solution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from eigenecho import spectra
from eigenecho.basis import random_basis
from eigenecho.errors import UnstableError
from eigenecho.readout import Gram, Penalty, Triangle
from eigenecho.training import Evidence, RecursiveLeastSquares, TrainingState
from eigenecho.training.recursive import LEAST_RIDGE
from eigenecho.training.update import RoundingError

N, D = 6, 2
BASIS = random_basis(spectra.golden(N - 1, seed=0), np.random.default_rng(0))
PENALTIES = {
    "identity": Penalty(N),
    "free bias": Penalty(N, 1),
    "neurons": Penalty(N, 0, BASIS),
    "neurons, free bias": Penalty(N, 1, BASIS),
}
each_penalty = pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES)


def rows(count, seed=0):
    rng = np.random.default_rng([seed, count])
    X = rng.normal(size=(count, N))
    X[:, 0] = 1.0
    return X, rng.normal(size=(count, D)) + X @ rng.normal(size=(N, D))


def learn(squares, X, Y):
    for x, y in zip(X, Y, strict=True):
        squares.learn(x.copy(), y.copy())  # both arrays are overwritten
    return squares


def nothing(penalty, ridge, forgetting=1.0, centre=None):
    W_out = np.zeros((N, D)) if centre is None else centre
    training_state = TrainingState.initial(W_out, penalty, ridge)
    return RecursiveLeastSquares(training_state, penalty, ridge, forgetting)


def roots(penalty, ridge, forgetting, steps):
    """Return √α L after every step: its rows decay, and one row is renewed at each step."""
    L, share, result = penalty.root(), np.ones(N), []
    cycle = int(np.log(LEAST_RIDGE) / np.log(forgetting)) if forgetting < 1 else 0
    for t in range(steps):
        share = share * forgetting
        if cycle:
            s = t % cycle
            share[N * s // cycle : N * (s + 1) // cycle] = 1.0
        result.append(np.sqrt(ridge * share)[:, None] * L)
    return result


def assert_close(actual, expected, tol=1e-9):
    np.testing.assert_allclose(
        actual, expected, rtol=0, atol=tol * max(np.abs(expected).max(), 1.0)
    )


@each_penalty
@given(count=st.integers(1, 40), ridge=st.floats(1e-4, 10.0), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=25)
def test_row_by_row_equals_batch(penalty, count, ridge, seed):
    X, Y = rows(count, seed)
    squares = learn(nothing(penalty, ridge), X, Y)
    assert squares.rows == count
    expected = Triangle.empty(N, D).absorb(X, Y).solve(penalty, ridge)
    assert_close(squares.weights.T, expected, 1e-8)


@each_penalty
@pytest.mark.parametrize("forgetting", [1.0, 0.95, 0.6])
def test_every_row_equals_a_new_regression(penalty, forgetting):
    X, Y = rows(50)
    centre = np.random.default_rng(1).normal(size=(N, D))
    squares = nothing(penalty, 0.5, forgetting, centre)
    assert_close(squares.weights.T, centre, 1e-12)
    expected = naive.recursive_least_squares(
        X, Y, roots(penalty, 0.5, forgetting, 50), forgetting, centre
    )
    for t in range(50):
        learn(squares, X[t : t + 1], Y[t : t + 1])
        assert_close(squares.weights.T, expected[t], 1e-8)


@each_penalty
@pytest.mark.parametrize("kind", [Gram, Triangle])
def test_learning_continues_from_a_batch_solution(penalty, kind):
    X, Y = rows(60)
    first = kind.empty(N, D).absorb(X[:40], Y[:40])
    weights = first.factorise(penalty).weights(0.1)
    E = Y[:40] - X[:40] @ weights
    training_state = TrainingState.of(Evidence(first, penalty, 0.1, weights, E.T @ E, first.rows))
    assert (training_state.rounding_error is not None) == (kind is Gram)
    squares = learn(RecursiveLeastSquares(training_state, penalty, 0.1, 1.0), X[40:], Y[40:])
    expected = Triangle.empty(N, D).absorb(X, Y).solve(penalty, 0.1)
    assert_close(squares.weights.T, expected)
    assert squares.rows == 20


def test_triangle_holds_all_rows_and_the_penalty():
    penalty = PENALTIES["neurons"]
    X, Y = rows(30)
    training_state = learn(nothing(penalty, 0.3), X, Y).training_state
    L = np.sqrt(0.3) * penalty.root()
    assert_close(training_state.R.T @ training_state.R, X.T @ X + L.T @ L, 1e-12)
    assert_close(training_state.R @ training_state.weights.T, training_state.Z, 1e-12)
    np.testing.assert_array_equal(training_state.R, np.triu(training_state.R))


@pytest.mark.parametrize("forgetting", [1.0, 0.9])
def test_earlier_results_are_not_changed_by_later_rows(forgetting):
    penalty, (X, Y) = PENALTIES["identity"], rows(40)
    squares = learn(nothing(penalty, 0.1, forgetting), X[:25], Y[:25])
    training_state = squares.training_state
    held = [np.copy(part) for part in training_state[:4]]
    again = RecursiveLeastSquares(training_state, penalty, 0.1, forgetting)
    for one in (squares, again):
        learn(one, X[25:], Y[25:])
    for part, was in zip(training_state[:4], held, strict=True):
        np.testing.assert_array_equal(part, was)
    np.testing.assert_array_equal(again.weights, squares.weights)
    assert again.rows == squares.rows == 40


def test_directions_that_no_row_excites_remain_bounded():
    """With forgetting alone, the triangle would decay to zero in these directions."""
    squares = nothing(PENALTIES["identity"], 0.1, 0.8)
    x = np.eye(N)[0]
    for _ in range(500):
        squares.learn(x.copy(), np.ones(D))
    assert np.linalg.cond(squares.training_state.R) < 1e3
    assert_close(squares.weights[:, 1:], np.zeros((D, N - 1)), 1e-12)


@pytest.mark.parametrize("place", ["row", "target"])
def test_overflowing_squares_are_rejected(place):
    squares = nothing(PENALTIES["identity"], 0.1)
    x, y = np.ones(N), np.ones(D)
    (x if place == "row" else y)[0] = 1e155
    with pytest.raises(UnstableError, match="squares of the states"):
        squares.learn(x, y)
    assert squares.rows == 0


@pytest.mark.parametrize(
    ("ridge", "forgetting", "words"),
    [(0.0, 1.0, "ridge=0.0"), (-1.0, 1.0, "ridge=-1.0"), (np.inf, 1.0, "ridge=inf"),
     (1.0, 0.0, "forgetting=0.0"), (1.0, 1.1, "forgetting=1.1"), (1.0, "1", "forgetting='1'")],
)  # fmt: skip
def test_invalid_rates(ridge, forgetting, words):
    training_state = TrainingState.initial(np.zeros((N, D)), Penalty(N), 1.0)
    with pytest.raises(ValueError, match=words):
        RecursiveLeastSquares(training_state, Penalty(N), ridge, forgetting)


@pytest.mark.parametrize("scale", [2.0**-560, 2.0**560])
def test_the_size_of_outputs_does_not_overflow(scale):
    """The size of outputs is finite although the squares of the weights overflow or underflow."""
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(50, 6)), rng.normal(size=(6, 2))
    gram = Gram.empty(6, 2).absorb(X, X @ weights)
    expected = np.sqrt(np.mean((X @ weights) ** 2, axis=0))
    np.testing.assert_allclose(RoundingError.of(gram, weights).size, expected)
    np.testing.assert_allclose(RoundingError.of(gram, scale * weights).size / scale, expected)
