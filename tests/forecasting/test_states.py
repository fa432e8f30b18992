"""Rows with random access equal those of one run for any blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenecho.forecasting import states
from eigenecho.forecasting.signals import steps
from eigenecho.forecasting.views import Filter
from eigenecho.spectra import Spectrum
from filtered_rows import all_rows

FILTER = Filter(Spectrum([0.9, 0.1], [0.3 + 0.6j]))
SIDE = Filter(Spectrum([0.5]))


def rows_of(count, seed=0):
    y, column = np.random.default_rng(seed).normal(size=(2, count)).cumsum(axis=1)
    rows = FILTER.run(y[None])
    beside = (SIDE.reservoir, steps(column[None]))
    return replace(rows, runs=[*rows.runs, beside])


def loop(rows):
    """Return all rows, computed step by step."""
    parts = [rows.head.T]
    for reservoir, drive in rows.runs:
        state, W, B = np.zeros(reservoir.units), reservoir.transition.matrix, reservoir.B
        made = []
        for u in drive[0]:
            state = state @ W + u * B[0]
            made.append(state)
        parts.append(np.array(made))
    return np.concatenate(parts, axis=1)


@pytest.mark.parametrize("block", [1, 7, 40, 1000])
def test_rows_equal_those_of_a_loop(monkeypatch, block):
    rows = rows_of(40)
    monkeypatch.setattr(states, "BLOCK", block * rows.size)
    expected = loop(rows)
    np.testing.assert_allclose(all_rows(rows), expected, rtol=0, atol=1e-12)
    assert rows.size == expected.shape[1] == 6


@given(st.integers(1, 30), st.integers(0, 30), st.integers(0, 30), st.integers(1, 12))
def test_blocks_and_single_rows_equal_the_whole_exactly(count, first, last, block):
    first, last = sorted((min(first, count), min(last, count)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(states, "BLOCK", 10**6)
        whole = all_rows(rows_of(count))
        patch.setattr(states, "BLOCK", 6 * block)
        rows = rows_of(count)
        blocks = list(rows.blocks(first, last))
        assert sum(x.shape[1] for _, x in blocks) == last - first
        assert all(x.shape[1] <= block for _, x in blocks)
        assert all(np.array_equal(x[0], whole[t : t + x.shape[1]]) for t, x in blocks)
        some = np.random.default_rng(0).integers(count, size=5)
        assert np.array_equal(rows.at(some)[0], whole[some])


def test_rows_do_not_depend_on_later_rows(monkeypatch):
    monkeypatch.setattr(states, "BLOCK", 60)
    y = np.random.default_rng(0).normal(size=95)
    rows, first = FILTER.run(y[None]), FILTER.run(y[None, :8])
    assert np.array_equal(rows.at(np.arange(8))[0], all_rows(first))
