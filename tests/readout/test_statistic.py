"""Every statistic is a monoid: of(A ∪ B) = of(A).merge(of(B)) for any split of the rows."""

from __future__ import annotations

import itertools
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from eigenecho import spectra
from eigenecho.readout import Gram, Lags, Moments, Remainder, Triangle
from eigenecho.transition import Diagonal

ACCUMULATED = [Gram, Triangle, Remainder]
each_accumulated = pytest.mark.parametrize("kind", ACCUMULATED)
KINDS = [*ACCUMULATED, Moments, Lags]
each_kind = pytest.mark.parametrize("kind", KINDS)

K = 7
"""Number of lags that are correlated."""

SPECTRUM = spectra.golden(5, sr=0.8, seed=0)
B = np.random.default_rng(1).normal(size=(2, 5))


def numbers(statistic):
    """Return the unique values of a statistic by name, because signs of R and Z are arbitrary."""
    if isinstance(statistic, Triangle):
        R, Z = statistic.R, statistic.Z
        return {"RtR": R.T @ R, "RtZ": R.T @ Z, "rest": statistic.rest, "rows": statistic.rows}
    return vars(statistic)


def assert_same(actual, expected, tol=1e-12):
    assert type(actual) is type(expected)
    for name, value in numbers(expected).items():
        here = numbers(actual)[name]
        several = value if isinstance(value, tuple) else (value,)
        for a, b in zip(here if isinstance(value, tuple) else (here,), several, strict=True):
            scale = max(np.abs(b).max(initial=0.0), 1.0)
            np.testing.assert_allclose(a, b, rtol=0, atol=tol * scale, err_msg=name)


def series(rows, seed):
    """Return rows X (rows, 5), two targets, and two columns that drive a reservoir."""
    rng = np.random.default_rng([seed, rows])
    return tuple(rng.normal(size=(rows, columns)) for columns in (5, 2, 2))


def statistic_of(kind, X, Y, drive):
    """Return the statistic of one series; the last two kinds store where it begins and ends."""
    if kind is Lags:
        return Lags.of(drive, np.concatenate([drive, Y], axis=1), 0, K)
    if kind is Moments:
        r = naive.states(Diagonal(SPECTRUM).matrix, B, drive)
        side = np.concatenate([drive, Y], axis=1)
        return Moments(side.T @ r, side.T @ side, np.zeros((1, 5)), r[-1:], len(r))
    return kind.empty(5, 2).absorb(X, Y)


@st.composite
def cuts(draw):
    """Draw the lengths of parts, some empty, and the pairs of neighbours to merge in turn."""
    lengths = draw(st.lists(st.integers(0, 12), min_size=1, max_size=6))
    return lengths, [draw(st.integers(0, k)) for k in range(len(lengths) - 2, -1, -1)]


@each_accumulated
@given(cut=cuts(), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=50)
def test_parts_merge_to_the_whole(kind, cut, seed):
    lengths, order = cut
    X, Y, _ = series(sum(lengths), seed)
    borders = itertools.pairwise(np.cumsum([0, *lengths]))
    parts = [kind.empty(5, 2).absorb(X[a:b], Y[a:b]) for a, b in borders]
    for i in order:
        parts[i : i + 2] = [parts[i].merge(parts[i + 1])]
    assert_same(parts[0], kind.empty(5, 2).absorb(X, Y))


@given(cut=st.lists(st.integers(1, 30), min_size=1, max_size=4), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=50)
def test_lags_of_parts_merge_to_lags_of_the_series(cut, seed):
    """Each part of the series also receives the drive before its first row."""
    _, Y, drive = series(sum(cut), seed)
    borders = list(itertools.pairwise(np.cumsum([0, *cut])))
    whole = Lags.of(drive, Y, 0, K)
    merged = reduce(Lags.merge, (Lags.of(drive[:b], Y[a:b], a, K) for a, b in borders))
    assert merged.rows == whole.rows
    np.testing.assert_allclose(merged.rho, whole.rho, rtol=0, atol=1e-11)
    np.testing.assert_allclose(merged.S, whole.S, rtol=0, atol=1e-11)
    # Each part ends where the next one begins, and the last part ends where the series ends.
    for end, start in zip(merged.until[:-1], merged.before[1:], strict=True):
        np.testing.assert_array_equal(end, start)
    np.testing.assert_array_equal(merged.until[-1], whole.until[-1])


@given(cut=st.lists(st.integers(1, 30), min_size=1, max_size=4), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=50)
def test_moments_of_parts_give_the_gram_of_the_series(cut, seed):
    _, Y, drive = series(sum(cut), seed)
    r = naive.states(Diagonal(SPECTRUM).matrix, B, drive)
    before = np.concatenate([np.zeros((1, 5)), r])
    side = np.concatenate([drive, Y], axis=1)
    parts = [
        Moments(
            side[a:b].T @ r[a:b], side[a:b].T @ side[a:b], before[a][None], before[b][None], b - a
        )
        for a, b in itertools.pairwise(np.cumsum([0, *cut]))
    ]
    result = reduce(Moments.merge, parts).gram(SPECTRUM, B, 2)
    assert_same(result, Gram(r.T @ r, r.T @ Y, len(r)), 1e-11)


@each_kind
@given(lengths=st.tuples(*3 * [st.integers(1, 20)]), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=30)
def test_merge_is_associative(kind, lengths, seed):
    a, b, c = (statistic_of(kind, *series(n, seed + i)) for i, n in enumerate(lengths))
    assert_same(a.merge(b).merge(c), a.merge(b.merge(c)))
    assert a.merge(b).merge(c).rows == sum(lengths)


@each_kind
def test_merge_modifies_neither_statistic(kind):
    a, b = (statistic_of(kind, *series(n, n)) for n in (6, 9))
    held = [{name: np.copy(v) for name, v in numbers(s).items() if name != "rows"
             and not isinstance(v, tuple)} for s in (a, b)]  # fmt: skip
    a.merge(b)
    for statistic, was in zip((a, b), held, strict=True):
        for name, value in was.items():
            np.testing.assert_array_equal(numbers(statistic)[name], value)


@each_accumulated
@given(rows=st.integers(0, 20), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=20)
def test_empty_is_neutral(kind, rows, seed):
    some, none = statistic_of(kind, *series(rows, seed)), kind.empty(5, 2)
    assert none.rows == 0
    assert_same(some.merge(none), some)
    assert_same(none.merge(some), some)


@given(rows=st.integers(0, 30), outputs=st.integers(1, 3), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=50)
def test_triangle_gives_the_scatter_of_any_weights(rows, outputs, seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(rows, 5)), rng.normal(size=(rows, outputs))
    triangle = Triangle.empty(5, outputs).absorb(X[: rows // 2], Y[: rows // 2])
    triangle = triangle.merge(Triangle.empty(5, outputs).absorb(X[rows // 2 :], Y[rows // 2 :]))
    assert triangle.rest.shape == (outputs, outputs)
    for size in (0.0, 1.0, 10.0):
        w = size * rng.normal(size=(5, outputs))
        E = Y - X @ w
        scale = max(np.abs(E.T @ E).max(initial=0.0), 1.0)
        np.testing.assert_allclose(triangle.scatter(w), E.T @ E, rtol=0, atol=1e-12 * scale)
        np.testing.assert_allclose(
            triangle.squared_error(w), np.sum(E**2, axis=0), rtol=0, atol=1e-12 * scale
        )
    np.testing.assert_allclose(triangle.squares, np.sum(Y**2, axis=0), rtol=0, atol=1e-12 * rows)


@given(rows=st.integers(1, 30), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=30)
def test_remainder_holds_the_products_of_residuals(rows, seed):
    X, Y, _ = series(rows, seed)
    E = Y - X @ np.random.default_rng(seed).normal(size=(5, 2))
    result = Remainder.empty(5, 2).absorb(X, E)
    np.testing.assert_allclose(result.EtE, E.T @ E, rtol=0, atol=1e-11)
    np.testing.assert_allclose(result.XtE, X.T @ E, rtol=0, atol=1e-11)
