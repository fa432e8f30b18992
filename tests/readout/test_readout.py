"""Merged statistics and ridge solutions equal least squares on all rows at once."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eigenecho as ee
import naive
from eigenecho import spectra
from eigenecho.basis import random_basis
from eigenecho.errors import IllConditionedWarning
from eigenecho.readout import Gram, Penalty, Triangle
from eigenecho.reservoir import Recipe, draw
from eigenecho.training import held_out_errors, lowest

KINDS = [Gram, Triangle]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=["gram", "triangle"])

N = 9
BASIS = random_basis(spectra.golden(N, seed=1), np.random.default_rng(1))
PENALTIES = {
    "identity": Penalty(N),
    "neuron": Penalty(N, 0, BASIS),
    "bias": Penalty(1 + N, 0, BASIS),
    "free bias": Penalty(1 + N, 1, BASIS),
    "free bias, identity": Penalty(1 + N, 1),
    "free bias and y(t-1)": Penalty(3 + N, 1, BASIS),
}
each_penalty = pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES.keys())


def data(rows, size, outputs=2, seed=0, bias=False):
    rng = np.random.default_rng([seed, rows, size])
    X = rng.normal(size=(rows, size)) * np.geomspace(1, 0.1, size)
    if bias:
        X[:, 0] = 1.0
    Y = X @ rng.normal(size=(size, outputs)) + 0.3 * rng.normal(size=(rows, outputs)) + 0.5
    return X, Y


def collect(kind, X, Y):
    return kind.empty(X.shape[1], Y.shape[1]).absorb(X, Y)


def least_squares(X, Y, penalty, ridge):
    """Return argmin ‖Y − X w‖² + ridge ‖L w‖² for ridge > 0, from the stacked system."""
    stacked = np.concatenate([X, np.sqrt(ridge) * penalty.root()])
    target = np.concatenate([Y, np.zeros((penalty.size, Y.shape[1]))])
    return np.linalg.lstsq(stacked, target, rcond=0.0)[0]


def minimum_norm(X, Y, penalty):
    """Return the least-squares solution with the smallest ‖L w‖; a free bias column holds ones."""
    k = penalty.free
    L = penalty.root()[k:, k:]
    mean_x, mean_y = (X[:, k:].mean(axis=0), Y.mean(axis=0)) if k else (0.0, 0.0)
    w = np.linalg.solve(L, np.linalg.pinv((X[:, k:] - mean_x) @ np.linalg.inv(L), rcond=1e-10))
    w = w @ (Y - mean_y)
    return np.concatenate([(mean_y - mean_x @ w)[None], w]) if k else w


def assert_same_statistics(a, b, tol=1e-12):
    if isinstance(a, Triangle):
        np.testing.assert_array_equal(a.R, np.triu(a.R))
        scale = max(np.abs(b.rest).max(), 1.0)
        np.testing.assert_allclose(a.rest, b.rest, rtol=0, atol=tol * scale)
        assert_same_statistics(naive.gram(a), naive.gram(b), tol)
        return
    assert a.rows == b.rows
    scale = max(np.abs(b.XtX).max(), np.abs(b.XtY).max(), 1.0)
    np.testing.assert_allclose(a.XtX, b.XtX, rtol=0, atol=tol * scale)
    np.testing.assert_allclose(a.XtY, b.XtY, rtol=0, atol=tol * scale)


# Statistics merge


@each_kind
def test_statistics_of_all_rows_at_once(kind):
    X, Y = data(50, 7)
    statistics = collect(kind, X, Y)
    assert statistics.rows == 50
    gram = statistics if kind is Gram else naive.gram(statistics)
    np.testing.assert_allclose(gram.XtX, X.T @ X, rtol=0, atol=1e-12)
    np.testing.assert_allclose(gram.XtY, X.T @ Y, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(gram.XtX, gram.XtX.T)


@pytest.mark.parametrize("rows", [1, 3, 7, 8, 60])
def test_triangle_is_a_qr_factorisation(rows):
    X, Y = data(rows, 7)
    statistics = collect(Triangle, X, Y)
    _, R = np.linalg.qr(np.concatenate([X, np.zeros((7, 7))]))
    np.testing.assert_allclose(np.abs(statistics.R), np.abs(R), rtol=0, atol=1e-12)
    residual = Y - X @ np.linalg.pinv(X) @ Y
    np.testing.assert_allclose(statistics.rest, residual.T @ residual, rtol=0, atol=1e-11)


@st.composite
def pieces(draw):
    """Draw the lengths of pieces, some empty, and the pairs of neighbours to merge in turn."""
    lengths = draw(st.lists(st.integers(0, 12), min_size=1, max_size=6))
    merges = [draw(st.integers(0, k)) for k in range(len(lengths) - 2, -1, -1)]
    return lengths, merges, draw(st.permutations(range(len(lengths))))


@each_kind
@given(how=pieces(), size=st.integers(1, 8), outputs=st.integers(1, 3), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=60)
def test_any_chunking_and_any_order_of_merges(kind, how, size, outputs, seed):
    lengths, merges, order = how
    X, Y = data(sum(lengths), size, outputs, seed)
    whole = collect(kind, X, Y)
    borders = np.cumsum([0, *lengths])
    chunks = [slice(a, b) for a, b in itertools.pairwise(borders)]

    one_after_another = kind.empty(size, outputs)
    for chunk in chunks:
        one_after_another = one_after_another.absorb(X[chunk], Y[chunk])
    assert_same_statistics(one_after_another, whole)

    apart = [collect(kind, X[chunks[i]], Y[chunks[i]]) for i in order]
    for i in merges:
        apart[i : i + 2] = [apart[i].merge(apart[i + 1])]
    assert_same_statistics(apart[0], whole)


@each_kind
def test_empty_is_neutral(kind):
    X, Y = data(20, 4)
    statistics, empty = collect(kind, X, Y), kind.empty(4, 2)
    assert empty.rows == 0
    assert_same_statistics(statistics.merge(empty), statistics)
    assert_same_statistics(empty.merge(statistics), statistics)
    assert_same_statistics(statistics.absorb(X[:0], Y[:0]), statistics)
    assert_same_statistics(empty.merge(empty), empty)


def test_statistics_do_not_modify_their_inputs():
    X, Y = data(20, 4)
    before = X.copy(), Y.copy()
    a, b = collect(Triangle, X, Y), collect(Triangle, X[:5], Y[:5])
    held = [np.copy(part) for part in vars(a).values()]
    a.absorb(X, Y)
    a.merge(b)
    a.solve(Penalty(4), 0.1)
    a.factorise(Penalty(4)).weights(0.1)
    for part, was in zip(vars(a).values(), held, strict=True):
        np.testing.assert_array_equal(part, was)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(Y, before[1])


@each_kind
@pytest.mark.parametrize("layout", ["F", "strided", "float32", "more columns than a panel"])
def test_rows_of_any_layout(kind, layout):
    X, Y = data(200, 100 if layout.startswith("more") else 6)
    given = {
        "F": lambda A: np.asfortranarray(A),
        "strided": lambda A: np.repeat(A, 2, axis=1)[:, ::2],
        "float32": lambda A: A.astype(np.float32),
    }.get(layout, lambda A: A)
    expected = collect(kind, *(given(A).astype(np.float64) for A in (X, Y)))
    tol = 1e-6 if layout == "float32" else 1e-13
    assert_same_statistics(collect(kind, given(X), given(Y)), expected, tol)


# Penalties


@each_penalty
def test_penalty(penalty):
    L, k = penalty.root(), penalty.free
    assert L.shape == (penalty.size, penalty.size)
    np.testing.assert_allclose(penalty.gram(), L.T @ L, rtol=0, atol=1e-15)
    A = np.random.default_rng(0).normal(size=(penalty.size - k, 3))
    np.testing.assert_allclose(L[k:, k:] @ penalty.unroot(A), A, rtol=0, atol=1e-11)
    np.testing.assert_allclose(penalty.unroot_right(A.T) @ L[k:, k:], A.T, rtol=0, atol=1e-11)


def test_penalty_by_hand():
    penalty = Penalty(2 + N, 1, BASIS)
    expected = np.zeros((2 + N, 2 + N))
    expected[1, 1] = 1.0
    expected[2:, 2:] = BASIS.Q
    np.testing.assert_array_equal(penalty.root(), expected)
    np.testing.assert_array_equal(Penalty(3).root(), np.eye(3))


# Solutions


@each_penalty
@pytest.mark.parametrize("ridge", [1e-6, 1e-2, 10.0])
def test_solve_equals_least_squares_on_the_stacked_rows(penalty, ridge):
    X, Y = data(120, penalty.size, bias=True)
    solution = collect(Triangle, X, Y).solve(penalty, ridge)
    expected = least_squares(X, Y, penalty, ridge)
    assert solution.shape == expected.shape
    np.testing.assert_allclose(solution, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("ridge", [1e-3, 1.0])
def test_fewer_rows_than_weights(ridge):
    penalty = PENALTIES["free bias"]
    X, Y = data(5, penalty.size, bias=True)
    result = collect(Triangle, X, Y).solve(penalty, ridge)
    np.testing.assert_allclose(result, least_squares(X, Y, penalty, ridge), rtol=0, atol=1e-9)


@pytest.mark.parametrize("penalise_bias", [True, False])
@given(ridge=st.floats(1e-6, 1e3), seed=st.integers(0, 50))
@settings(deadline=None, max_examples=20)
def test_neuron_penalty_equals_plain_ridge_in_the_neuron_basis(penalise_bias, ridge, seed):
    rng = np.random.default_rng(seed)
    neurons, Y = rng.normal(size=(80, N)), rng.normal(size=(80, 2)) + 1.0
    modes = naive.extended(BASIS.states_to_eigen(neurons))
    penalty = Penalty(1 + N, 0 if penalise_bias else 1, BASIS)
    actual = collect(Triangle, modes, Y).solve(penalty, ridge)
    expected = naive.ridge(naive.extended(neurons), Y, ridge, penalise_bias)
    actual = np.concatenate([actual[:1], BASIS.weights_to_neuron(actual[1:])])
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9)


def test_free_bias_absorbs_a_shift_of_the_targets():
    X, Y = data(60, 1 + N, bias=True)
    for free, follows in ((1, True), (0, False)):
        penalty = Penalty(1 + N, free, BASIS)
        w = collect(Triangle, X, Y).solve(penalty, 100.0)
        shifted = collect(Triangle, X, Y + 1000.0).solve(penalty, 100.0)
        difference = shifted - w
        assert np.allclose(difference[0], 1000.0, rtol=1e-9) is follows
        assert np.allclose(difference[1:], 0.0, atol=1e-8) is follows


def test_full_rank_without_a_ridge_gives_least_squares_without_a_warning():
    X, Y = data(60, 7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = collect(Triangle, X, Y).solve(Penalty(7), 0.0)
    np.testing.assert_allclose(result, np.linalg.lstsq(X, Y)[0], rtol=0, atol=1e-11)


def test_rcond_does_not_depend_on_units_of_the_states():
    """Columns of very different sizes do not count as collinear."""
    X, Y = data(60, 7)
    scales = np.geomspace(1, 1e12, 7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = collect(Triangle, X * scales, Y).solve(Penalty(7), 0.0)
    np.testing.assert_allclose(
        solution * scales[:, None], np.linalg.lstsq(X, Y)[0], rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("unit", [1e-180, 1e-250])
@pytest.mark.parametrize("ridge", [0.0, 1e-3])
def test_targets_whose_squares_underflow_cause_no_warning(unit, ridge):
    X, Y = data(60, 5)
    penalty = Penalty(5)
    with warnings.catch_warnings():
        warnings.simplefilter("error", IllConditionedWarning)
        actual = collect(Triangle, X, Y * unit).solve(penalty, ridge)
    expected = least_squares(X, Y, penalty, ridge)
    np.testing.assert_allclose(actual / unit, expected, rtol=1e-10)


def ill_conditioned(singular_values, rows=200, seed=0):
    """Return rows X, noise-free targets Y and the weights that generated them."""
    rng = np.random.default_rng(seed)
    n = len(singular_values)
    U = np.linalg.qr(rng.normal(size=(rows, n)))[0]
    V = np.linalg.qr(rng.normal(size=(n, n)))[0]
    X, w = U * singular_values @ V.T, rng.normal(size=(n, 1))
    return X, X @ w, w


def test_triangle_keeps_the_digits_that_gram_loses():
    X, Y, w = ill_conditioned(np.geomspace(1, 1e-6, 12))
    errors = {}
    for kind in KINDS:
        statistics = kind.empty(12, 1)
        for start in range(0, len(X), 37):
            statistics = statistics.absorb(X[start : start + 37], Y[start : start + 37])
        result = statistics.factorise(Penalty(12)).weights(1e-24)
        errors[kind] = np.abs(result - w).max()
    assert errors[Triangle] < 1e-9
    assert errors[Gram] > 1e-7
    assert errors[Gram] > 100 * errors[Triangle]


def test_triangle_does_not_warn_of_a_tiny_ridge():
    X, Y, _ = ill_conditioned(np.geomspace(1, 1e-12, 12))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = collect(Triangle, X, Y).solve(Penalty(12), 1e-28)
    assert np.abs(Y - X @ result).max() < 1e-12


# Singular systems

RANK_DEFICIENT = {
    "fewer rows than weights": lambda rng, n: rng.normal(size=(n // 2, n)),
    "a column twice": lambda rng, n: rng.normal(size=(50, n))[:, [*range(n - 1), 1]],
    "a sum of columns": lambda rng, n: (
        rng.normal(size=(50, n)) @ np.diag(np.r_[np.ones(n - 1), 0]) @ (np.eye(n) + np.eye(n, k=1))
    ),
    "low rank": lambda rng, n: rng.normal(size=(50, 3)) @ rng.normal(size=(3, n)),
    "a column of zeros": lambda rng, n: rng.normal(size=(50, n)) * np.r_[np.ones(n - 1), 0.0],
}


@each_penalty
@pytest.mark.parametrize("make", RANK_DEFICIENT.values(), ids=RANK_DEFICIENT.keys())
def test_no_ridge_and_deficient_rank_give_the_minimum_norm(penalty, make):
    rng = np.random.default_rng(0)
    X = make(rng, penalty.size - penalty.free)
    if penalty.free:
        X = np.concatenate([np.ones((len(X), 1)), X], axis=1)
    Y = rng.normal(size=(len(X), 2)) + 1.0
    with pytest.warns(IllConditionedWarning, match=r"singular at ridge=0.*minimum-norm"):
        solution = collect(Triangle, X, Y).solve(penalty, 0.0)
    expected = minimum_norm(X, Y, penalty)
    np.testing.assert_allclose(solution, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("size", [4, 20, pytest.param(60, marks=pytest.mark.slow)])
def test_identical_columns_are_detected_despite_rounding(size):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(3 * size, size))
        X[:, -1] = X[:, 0]
        Y = rng.normal(size=(3 * size, 1))
        with pytest.warns(IllConditionedWarning):
            w = collect(Triangle, X, Y).solve(Penalty(size), 0.0)
        assert w[-1, 0] == pytest.approx(w[0, 0], abs=1e-8)


def test_free_bias_with_a_constant_state():
    """The unpenalised bias alone fits the constant, with and without a ridge."""
    rng = np.random.default_rng(0)
    X = np.concatenate([np.ones((60, 1)), rng.normal(size=(60, 5)), np.full((60, 1), 0.7)], axis=1)
    Y = rng.normal(size=(60, 2)) + 5.0
    penalty = Penalty(7, 1)
    with pytest.warns(IllConditionedWarning):
        w = collect(Triangle, X, Y).solve(penalty, 0.0)
    np.testing.assert_allclose(w, minimum_norm(X, Y, penalty), rtol=0, atol=1e-7)
    for ridge in (1e-6, 1.0):
        w = collect(Triangle, X, Y).factorise(penalty).weights(ridge)
        tol = 1e-8
        np.testing.assert_allclose(
            w, least_squares(X, Y, penalty, ridge), rtol=0, atol=max(tol, 1e-8)
        )


def test_no_rows_at_all():
    with pytest.warns(IllConditionedWarning):
        w = Triangle.empty(4, 2).solve(Penalty(4), 0.0)
    np.testing.assert_array_equal(w, np.zeros((4, 2)))


# One factorisation for many ridges


@each_penalty
def test_factorised_equals_solve_for_every_ridge(penalty):
    X, Y = data(120, penalty.size, bias=True)
    statistics = collect(Triangle, X, Y)
    factorised = statistics.factorise(penalty)
    for ridge in (1e-8, 1e-4, 1e-2, 1.0, 1e4):
        np.testing.assert_allclose(
            factorised.weights(ridge),
            statistics.solve(penalty, ridge),
            rtol=0,
            atol=1e-9,
        )


def reservoir_rows(spectrum, u, units=100):
    """Return rows [1, r] of a reservoir in its eigenbasis, and the neuron penalty."""
    drawn = draw(Recipe(units, spectrum=spectrum, sr=0.9), 1, seed=0)
    states, _ = drawn.reservoir.scan(u)
    return naive.extended(states), Penalty(1 + units, 0, drawn.basis)


@pytest.mark.parametrize("head", [0, 1])
def test_factorised_loses_no_more_digits_than_solve(head):
    """States that remember 30 steps have singular values over ten orders of magnitude."""
    u = np.random.default_rng(0).normal(size=(700, 1))
    X, penalty = reservoir_rows("ring", u)
    X, Y = X[100:], u[70:-30]
    statistics = collect(Triangle, X[:300], Y[:300])
    factorised = statistics.factorise(penalty, head)
    for ridge in (1e-2, 1e-4, 1e-6, 1e-8):
        errors = [
            np.linalg.norm(Y[300:] - X[300:] @ w)
            for w in (factorised.weights(ridge), statistics.solve(penalty, ridge))
        ]
        assert errors[0] == pytest.approx(errors[1], rel=0.01)


def test_factorised_follows_a_tiny_ridge():
    u = sum(np.sin(a * np.arange(701.0)) for a in (0.2, 0.331, 0.42, 0.51, 0.63))[:, None]
    X, penalty = reservoir_rows("golden", u[:-1])
    train = collect(Triangle, X[100:400], u[101:401])
    held_out = collect(Triangle, X[400:], u[401:])
    factorised = train.factorise(penalty)
    for ridge in (1e-16, 1e-20, 1e-24, 1e-28):
        by_svd, by_qr = (
            np.sqrt(held_out.squared_error(w)[0] / 300)
            for w in (factorised.weights(ridge), train.solve(penalty, ridge))
        )
        # Below 1e-12 of outputs of size 5, both errors are rounding and depend on the machine.
        assert by_svd < 10 * max(by_qr, 1e-12)


@each_kind
def test_factorised_with_fewer_rows_than_weights(kind):
    penalty = PENALTIES["free bias"]
    X, Y = data(6, penalty.size, bias=True)
    factorised = collect(kind, X, Y).factorise(penalty)
    for ridge in (1e-3, 1.0):
        expected = least_squares(X, Y, penalty, ridge)
        np.testing.assert_allclose(factorised.weights(ridge), expected, rtol=0, atol=1e-8)


@each_kind
@pytest.mark.parametrize("free", [0, 1])
@pytest.mark.parametrize("head", [1, 3])
def test_one_factorisation_serves_every_scale_of_the_states(kind, free, head):
    """One factorisation of unscaled states gives the weights of newly solved, scaled states."""
    penalty = Penalty(3 + N, free, BASIS)
    X, Y = data(120, 3 + N, bias=True)
    factorised = collect(kind, X, Y).factorise(penalty, head=head)
    for scale in (0.01, 1.0, 5.0):
        scaled = X.copy()
        scaled[:, head:] *= scale
        for ridge in (1e-4, 1.0):
            w = least_squares(scaled, Y, penalty, ridge)
            w[head:] *= scale
            np.testing.assert_allclose(factorised.weights(ridge, scale), w, rtol=0, atol=1e-8)


# Errors on rows, and the choice of a ridge


@given(rows=st.integers(1, 40), size=st.integers(1, 8), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_squared_error_equals_the_error_of_the_rows(rows, size, seed):
    X, Y = data(rows, size, 2, seed)
    w = np.random.default_rng(seed).normal(size=(size, 2))
    actual = collect(Triangle, X[: rows // 2], Y[: rows // 2]).absorb(
        X[rows // 2 :], Y[rows // 2 :]
    )
    expected = np.sum((Y - X @ w) ** 2, axis=0)
    np.testing.assert_allclose(actual.squared_error(w), expected, rtol=1e-11, atol=1e-20)


def test_squared_error_resolves_tiny_residuals():
    X, Y = data(500, 8)
    w = np.linalg.lstsq(X, Y)[0]
    Y = X @ w + 1e-9 * np.random.default_rng(5).normal(size=Y.shape)
    direct = np.sum((Y - X @ w) ** 2, axis=0)
    np.testing.assert_allclose(collect(Triangle, X, Y).squared_error(w), direct, rtol=1e-4)


@each_kind
@each_penalty
def test_factorised_errors_equal_the_errors_of_its_weights(kind, penalty):
    X, Y = data(160, penalty.size, bias=True)
    held_out = collect(Triangle, X[120:], Y[120:])
    factorised = collect(kind, X[:120], Y[:120]).factorise(penalty)
    ridges, scales = (1e-6, 1.0, 30.0), (0.5, 1.0)
    actual = held_out.squared_errors(factorised, ridges, scales)
    assert actual.shape == (2, 3, 2)
    for i, scale in enumerate(scales):
        for j, ridge in enumerate(ridges):
            w = factorised.weights(ridge, scale)
            expected = np.sum((Y[120:] - X[120:] @ w) ** 2, axis=0)
            np.testing.assert_allclose(actual[i, j], expected, rtol=1e-9)


@each_kind
@each_penalty
@pytest.mark.parametrize("seed", range(4))
def test_held_out_errors_find_the_ridge_that_predicts_best(kind, penalty, seed):
    rng = np.random.default_rng(seed)
    X, Y = data(60, penalty.size, 2, seed, bias=True)
    Y = Y + 2 * rng.normal(size=Y.shape)
    Y[:, 1] *= 1e3  # each output counts relative to its own size
    train, held_out = slice(0, 25), slice(25, None)
    ridges = np.geomspace(1e-4, 1e4, 17)
    errors = []
    for ridge in ridges:
        w = least_squares(X[train], Y[train], penalty, ridge)
        left = Y[held_out] - X[held_out] @ w
        errors.append(np.mean(np.sum(left**2, axis=0) / np.sum(Y[held_out] ** 2, axis=0)))
    expected = ridges[int(np.argmin(errors))]
    assert ridges[0] < expected  # otherwise the first ridge would be the best
    statistics = collect(kind, X[train], Y[train])
    rest = collect(Triangle, X[held_out], Y[held_out])
    actual = held_out_errors(statistics, rest, penalty, ridges)
    np.testing.assert_allclose(actual, errors, rtol=1e-6)
    assert ridges[lowest(actual)] == expected


@each_kind
def test_held_out_errors_survive_zero_targets_and_one_candidate(kind):
    X, Y = data(40, 4)
    Y[:, 1] = 0.0
    train, held_out = collect(kind, X[:20], Y[:20]), collect(Triangle, X[20:], Y[20:])
    assert lowest(held_out_errors(train, held_out, Penalty(4), [0.5])) == 0
    assert lowest(held_out_errors(train, held_out, Penalty(4), [1e6, 1e-6])) == 1


def test_noise_on_collinear_states_at_a_tiny_ridge_gives_sensible_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    X = np.concatenate([X, X[:, :1]], axis=1)
    Y = rng.normal(size=(60, 1))
    statistics = Triangle.empty(6, 1).absorb(X, Y)
    with pytest.warns(IllConditionedWarning, match="minimum-norm"):
        w = statistics.solve(Penalty(6), 1e-28)
    np.testing.assert_allclose(w, np.linalg.pinv(X) @ Y, atol=1e-10)


def test_ridge_with_nan_error_is_not_selected():
    assert lowest([np.nan, np.inf, 2.0, 1.0, np.nan]) == 3
    assert lowest([np.nan, np.inf]) == 0


@pytest.mark.parametrize("solver", ["qr", "normal"])
def test_ridge_selection_with_targets_whose_squares_overflow(solver):
    """Targets are rescaled, so squared errors are finite."""
    u = np.random.default_rng(0).normal(size=(400, 1))
    y = 1e155 * np.roll(u, 1, axis=0)
    esn = ee.LinearESN(20, warmup=50, seed=0, ridge=[1e6, 1e-6], solver=solver)
    assert esn.fit(u, y).ridge_ == 1e-6
    assert esn.set_params(standardize=True).fit(u, y).ridge_ == 1e-6


def test_triangles_of_few_rows_use_only_as_many_rows():
    X, Y = data(20, 60)
    few, penalty = collect(Triangle, X, Y), Penalty(60, 0)
    # The last rows contain rounding errors. If they were used, these numbers would be, too.
    R, Z = few.R.copy(), few.Z.copy()
    R[20:], Z[20:] = np.triu(np.full((60, 60), 7.0))[20:], 7.0
    other = Triangle(R, Z, few.rest, few.rows)
    for ridge in (1e-3, 1.0):
        expected = naive.ridge(X, Y, ridge)
        np.testing.assert_allclose(other.factorise(penalty).weights(ridge), expected, atol=1e-10)
    start = collect(Triangle, *data(80, 60))
    np.testing.assert_array_equal(start.merge(other).R, start.merge(few).R)
    np.testing.assert_array_equal(start.merge(other).Z, start.merge(few).Z)
