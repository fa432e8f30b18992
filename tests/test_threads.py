"""The number of threads, the division of work between them, and errors in threads."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenecho import threads


@given(count=st.integers(0, 100), parts=st.integers(1, 9), start=st.integers(0, 50))
def test_even_split_covers_everything_once(count, parts, start):
    split = threads.even_split(count, parts, start)
    assert (split[0][0], split[-1][1]) == (start, start + count)
    assert all(a[1] == b[0] for a, b in itertools.pairwise(split))
    lengths = [b - a for a, b in split]
    assert max(lengths) - min(lengths) <= 1
    assert len(split) <= parts


def test_thread_count_reads_the_environment(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("EIGENECHO_NUM_THREADS", "5")
    assert threads.thread_count() == 5
    monkeypatch.setenv("EIGENECHO_NUM_THREADS", "")
    assert threads.thread_count() == 3
    for invalid in ("0", "many", "-2", "²"):
        monkeypatch.setenv("EIGENECHO_NUM_THREADS", invalid)
        with pytest.raises(ValueError, match=f"EIGENECHO_NUM_THREADS='{invalid}'"):
            threads.thread_count()
    monkeypatch.delenv("EIGENECHO_NUM_THREADS")
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert threads.thread_count() >= 1


def test_error_in_a_thread_is_raised():
    def task(start, stop):
        if start == 5:
            raise ZeroDivisionError

    for pieces in ([(5, 9)], [(0, 5), (5, 9)]):
        with pytest.raises(ZeroDivisionError):
            threads.run(task, pieces)
