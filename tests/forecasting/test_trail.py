"""Recomputed rows equal those of one run for any split."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenecho.forecasting import trail as trail_module
from eigenecho.forecasting.filter import Filter
from eigenecho.forecasting.trail import Trail
from eigenecho.spectra import Spectrum

FILTER = Filter(2.0, Spectrum([0.9, 0.1], [0.3 + 0.6j]))
SIDE = Filter(0.0, Spectrum([0.5]))


def trail_of(rows, seed=0):
    y, column = np.random.default_rng(seed).normal(size=(2, rows)).cumsum(axis=1)
    own = FILTER.run(y).trail
    return Trail(own.constant, [*own.runs, (SIDE.reservoir, SIDE.drive(column)[1])])


def loop(trail):
    """Compute all rows step by step."""
    parts = [trail.constant[:, None]]
    for reservoir, u in trail.runs:
        state, W, b = np.zeros(reservoir.units), reservoir.transition.matrix, reservoir.B[0]
        rows = []
        for one in u:
            state = state @ W + one * b
            rows.append(state)
        parts.append(np.reshape(rows, (len(u), -1)))
    return np.concatenate(parts, axis=1)


@pytest.mark.parametrize("block", [1, 7, 40, 1000])
def test_rows_equal_those_of_a_loop(monkeypatch, block):
    trail = trail_of(40)
    monkeypatch.setattr(trail_module, "BLOCK", block * trail.width)
    expected = loop(trail)
    np.testing.assert_allclose(trail.between(0, 40), expected, rtol=0, atol=1e-12)
    assert trail.width == expected.shape[1] == 6
    assert len(trail) == 40


@given(st.integers(1, 30), st.integers(0, 30), st.integers(0, 30), st.integers(1, 12))
def test_pieces_and_single_rows_equal_the_whole_exactly(rows, first, last, block):
    first, last = sorted((min(first, rows), min(last, rows)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trail_module, "BLOCK", 10**6)
        whole = trail_of(rows).between(0, rows)
        patch.setattr(trail_module, "BLOCK", block * 6)
        trail = trail_of(rows)
        assert np.array_equal(trail.between(first, last), whole[first:last])
        pieces = list(trail.pieces(first, last))
        assert sum(len(x) for _, x in pieces) == last - first
        assert all(len(x) <= block for _, x in pieces)
        assert all(np.array_equal(x, whole[start : start + len(x)]) for start, x in pieces)
        some = np.random.default_rng(0).integers(rows, size=5)
        assert np.array_equal(trail.at(some), whole[some])


def test_rows_do_not_depend_on_later_rows(monkeypatch):
    monkeypatch.setattr(trail_module, "BLOCK", 60)
    y = np.random.default_rng(0).normal(size=95)
    assert np.array_equal(FILTER.run(y).trail.between(0, 8), FILTER.run(y[:8]).trail.between(0, 8))
