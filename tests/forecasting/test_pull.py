"""Weights of one series shrunk to those of all, against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenecho.forecasting.baselines import Baseline
from eigenecho.forecasting.candidates import PULL, Candidate
from eigenecho.forecasting.rows import ViewRows
from eigenecho.forecasting.views import Filter, View
from eigenecho.spectra import Spectrum
from filtered_rows import all_rows, batch_of

FILTER = Filter(Spectrum([0.8], [0.3 + 0.6j]))
VIEW, LEVEL, H, T = View("", FILTER), Baseline("level"), 3, 50


@pytest.fixture
def rows():
    y = np.random.default_rng(0).normal(size=T).cumsum()
    return ViewRows.of(VIEW, batch_of(y))


def near(x, Y, shared, pull):
    """Return argmin ‖Y − X W‖² + κ ‖W − W_shared‖², with the first row of W fixed."""
    stacked = np.concatenate([x[:, 1:], np.sqrt(pull) * np.eye(x.shape[1] - 1)])
    left = Y - x[:, :1] @ shared[:1]
    targets = np.concatenate([left, np.sqrt(pull) * shared[1:]])
    return np.concatenate([shared[:1], np.linalg.lstsq(stacked, targets, rcond=None)[0]])


def test_direct_weights(rows):
    shared = np.random.default_rng(1).normal(size=(FILTER.size, H))
    candidate = Candidate(VIEW, LEVEL, "direct", 1.0)
    found = candidate.solve_near(rows.sums([LEVEL], H, 0, T, np.ones(1)), shared)[0]
    x, y = all_rows(rows.rows)[1 : T - H], rows.values[0]
    Y = np.stack([y[1 + h : T - H + h] - y[1 : T - H] for h in range(1, H + 1)], axis=1)
    assert_allclose(found, near(x, Y, shared, PULL), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("kind", ["recursive", "drifting"])
def test_one_step_weights_are_shrunk_and_iterated(rows, kind):
    one = 0.1 * np.random.default_rng(1).normal(size=FILTER.size)
    shared = FILTER.closed_loop(one, H)
    sums = rows.sums([LEVEL], H, 0, T, np.ones(1))
    found = Candidate(VIEW, LEVEL, kind).solve_near(sums, shared)[0]
    x, y = all_rows(rows.rows)[1 : T - 1], np.diff(rows.values[0])[1:, None]
    own = near(x, y, one[:, None], PULL)[:, 0]
    assert_allclose(found, FILTER.closed_loop(own, H), rtol=1e-8, atol=1e-9)
    assert not np.allclose(found, shared)


@pytest.mark.parametrize("kind", ["direct", "recursive"])
def test_weights_are_shared_without_rows(rows, kind):
    shared = FILTER.closed_loop(np.full(FILTER.size, 0.1), H)
    candidate = Candidate(VIEW, LEVEL, kind, 1.0 if kind == "direct" else None)
    nothing = rows.sums([LEVEL], H, 0, 1, np.ones(1))
    assert_allclose(candidate.solve_near(nothing, shared)[0], shared, rtol=1e-12)
