"""Time our own jobs, to compare a change with earlier runs: ``make bench-compare``.

Results are checked in ``benchmarks/suite``; this takes a minute because it only measures times.
"""

from __future__ import annotations

import numpy as np
import pytest

import eigenecho as ee
from suite.jobs.fit import network
from suite.jobs.predict import random_model
from suite.networks import white

pytestmark = pytest.mark.speed

N = 1000


@pytest.fixture(scope="module")
def reservoir():
    return ee.DiagonalReservoir(N, seed=0).fit(white(10)[0])


@pytest.fixture(scope="module")
def trained():
    series = ee.tasks.mso(5, steps=4000)
    return ee.LinearESN(N, ridge=1e-10, warmup=100, seed=0).fit(series[:-1], series[1:])


def test_states(benchmark, reservoir):
    benchmark(reservoir.transform, white(20_000)[0])


def test_states_into_out(benchmark, reservoir):
    u, out = white(20_000)[0], np.full((20_000, N), 0.0)
    benchmark(reservoir.transform, u, out=out)


@pytest.mark.parametrize("solver", ["auto", "normal", "qr"])
def test_fit(benchmark, solver):
    u, y = white(10_000)
    benchmark.pedantic(lambda: network(N, solver).fit(u, y), rounds=5, warmup_rounds=1)


def test_fit_long(benchmark):
    u, y = white(100_000)
    benchmark.pedantic(lambda: network(N).fit(u, y), rounds=3, warmup_rounds=1)


@pytest.mark.parametrize("sr", [0.9, 0.9999], ids=["convolution", "scan"])
def test_predict(benchmark, sr):
    benchmark(random_model(N, sr).predict, white(100_000)[0])


def test_forecast(benchmark, trained):
    benchmark(trained.forecast, 10_000)


def test_stream_step(benchmark, trained):
    benchmark(trained.stream().step, np.array([0.5]))


def test_search(benchmark):
    u, y = white(1000)
    grid = {"sr": [0.5, 0.9], "input_scaling": [0.1, 1.0], "ridge": [1e-8, 1e-4, 1.0]}
    esn = ee.LinearESN(100, warmup=100, seed=0)
    benchmark.pedantic(lambda: ee.search(esn, grid, u, y), rounds=5, warmup_rounds=1)
