"""The number of threads, the division of work between them, and errors in threads."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import blas
import eigenecho as ee
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


# BLAS --------------------------------------------------------------------------------------------

NOISY = ee.tasks.mso(8, steps=1200) + 0.01 * np.random.default_rng(0).normal(size=(1200, 1))


def fitted(**options):
    esn = ee.LinearESN(300, ridge=1e-3, warmup=100, seed=0, **options)
    return esn.fit(NOISY[:-1], NOISY[1:])


def after_noise(esn):
    assert esn.noise_ > 0
    return esn.predict(NOISY, return_std=True)[1]


@pytest.mark.parametrize(
    "call",
    [
        lambda: fitted().predict(NOISY, return_std=True)[1],
        lambda: after_noise(fitted()),
        lambda: np.array(fitted().forecast(50, interval=0.9)),
        lambda: np.array(fitted().forecast(50, [NOISY] * 40)),
        lambda: fitted(spectrum="matrix", basis="neuron").spectrum_.values,
        lambda: ee.spectra.sim(500, seed=0).values,
        lambda: ee.spectra.from_matrix(ee.spectra.random_matrix(500, seed=0)).values,
    ],
)
def test_results_do_not_depend_on_the_number_of_blas_threads(call):
    expected = call()
    with blas.several():
        np.testing.assert_array_equal(call(), expected)
