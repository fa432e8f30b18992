"""Compare readouts from sums with ridge regression on rows and with dense likelihoods."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import naive
from eigenecho.forecasting.baselines import Baseline
from eigenecho.forecasting.candidates import RIDGES, direct, recursive, solve_likeliest
from eigenecho.forecasting.rows import ViewRows
from eigenecho.forecasting.views import Filter, View
from eigenecho.spectra import Spectrum
from filtered_rows import all_rows, batch_of

FILTER = Filter(Spectrum([0.8, -0.3], [0.3 + 0.6j]))
H, T, FIRST = 4, 60, 1
LEVEL = Baseline("level")


def rows_of(y):
    return ViewRows.of(View("", FILTER), batch_of(y))


def series(seed=0):
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=T)
    for t in range(1, T):
        steps[t] -= 0.6 * steps[t - 1]
    return 10 + steps.cumsum()


@pytest.mark.parametrize("ridge", [RIDGES[0], RIDGES[5], RIDGES[-1]])
def test_direct_weights_are_a_ridge_regression_for_each_step(ridge):
    y = series()
    rows = rows_of(y)
    weights = direct(rows.sums([LEVEL], H, 0, T, unit=np.full(1, 2.0)))[0, RIDGES.index(ridge)]
    stop = T - H
    x = all_rows(rows.rows)[FIRST:stop, 1:] / 2.0
    Y = np.stack([y[FIRST + h : stop + h] - y[FIRST:stop] for h in range(1, H + 1)], 1) / 2.0
    assert_allclose(weights[1:], naive.ridge(x, Y, ridge), rtol=1e-8, atol=1e-10)
    assert np.all(weights[0] == 0)


def test_each_base_has_its_own_weights():
    rows, season = rows_of(series()), Baseline("season", 3)
    both = direct(rows.sums([LEVEL, season], H, 0, T, np.ones(1)), (1.0,))[0, 0]
    # Both start at the first row that the more demanding base can use.
    sums = rows.sums([season], H, 0, T, np.ones(1))
    assert_allclose(both[:, H:], direct(sums, (1.0,))[0, 0])


def dense(y, drifts):
    """Return rows (n, N) and one-step targets (n,), without what a free constant explains."""
    rows = rows_of(y)
    x, target = all_rows(rows.rows)[FIRST:-1], np.diff(y)[FIRST:]
    if not drifts:
        return x[:, 1:], target, None
    c = x[:, :1] / np.linalg.norm(x[:, 0])
    basis = np.linalg.qr(np.concatenate([c, np.eye(len(c))], axis=1))[0][:, 1:]  # orthogonal to c
    return basis.T @ x[:, 1:], basis.T @ target, (x, target)


@pytest.mark.parametrize("drifts", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_one_step_readout_uses_the_likeliest_ridge(drifts, seed):
    y = series(seed) + seed * 0.3 * np.arange(T)
    X, target, whole = dense(y, drifts)
    evidences = [naive.evidence(X, target, alpha) for alpha in RIDGES]
    best = RIDGES[int(np.argmax(evidences))]
    if whole is None:
        wanted = np.concatenate([[0.0], naive.ridge(X, target[:, None], best)[:, 0]])
    else:
        x, step = whole
        wanted = naive.ridge(x, step[:, None], best, penalise_bias=False)[:, 0]
    sums = rows_of(y).sums([LEVEL], H, 0, T, np.ones(1))
    found = recursive(sums, FILTER, drifts)[0]
    assert_allclose(found[:, 0], wanted, rtol=1e-7, atol=1e-9)
    assert_allclose(found, FILTER.closed_loop(wanted, H), rtol=1e-7, atol=1e-8)


def test_series_of_different_evidence_have_different_ridges():
    found = set()
    for seed in range(8):
        X, target, _ = dense(series(seed) if seed % 2 else np.cumsum(
            np.random.default_rng(seed).normal(size=T)), False)  # fmt: skip
        found.add(int(np.argmax([naive.evidence(X, target, alpha) for alpha in RIDGES])))
    assert len(found) > 1  # otherwise the test above would be too easy


def test_weights_are_zero_without_information():
    sums = rows_of(np.full(T, 3.0)).sums([LEVEL], H, 0, T, np.ones(1))
    for drifts in (False, True):
        assert np.all(recursive(sums, FILTER, drifts) == 0)
    assert np.all(direct(sums) == 0)
    none = rows_of(series()).sums([LEVEL], H, 0, 1, np.ones(1))
    assert np.all(recursive(none, FILTER, True) == 0)


def test_side_columns_are_not_iterated():
    side = Filter(Spectrum([0.5]))
    y = series()
    batch = batch_of(y, past=y[None, :, None])
    beside = ViewRows.of(View("", FILTER, side=side), batch)
    sums = beside.sums([LEVEL], H, 0, T, np.ones(1))
    found = recursive(sums, FILTER, False)[0]
    assert found.shape == (FILTER.size + 1, H)
    assert np.all(found[-1] == 0)
    alone = rows_of(y).sums([LEVEL], H, 0, T, np.ones(1))
    assert_allclose(found[:-1], recursive(alone, FILTER, False)[0])


def test_likeliest_weights_of_zero_targets_are_zero():
    x = np.random.default_rng(0).normal(size=(30, 3))
    found = solve_likeliest((x.T @ x)[None], np.zeros((1, 3)), np.zeros(1), np.full(1, 30))
    assert np.all(found == 0)


def test_likeliest_ridge_of_a_single_row_is_the_largest():
    # Every ridge is equally likely for any values.
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(1, 3)), rng.normal(size=(1, 1))
        found = solve_likeliest((x.T @ x)[None], (x.T @ y).T, y[0] ** 2, np.ones(1))
        assert_allclose(found[0], naive.ridge(x, y, RIDGES[-1])[:, 0])
