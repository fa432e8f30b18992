"""The methods EWT, EET and the neuron basis agree with the textbook network."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest

import eigenecho as ee
import naive

TOLERANCE = 1e-8
RIDGE = 1e-6


class Case(NamedTuple):
    N: int
    feedback: bool
    fit_bias: bool
    previous: bool
    input_bias: bool
    lr: float
    D_in: int
    D_out: int
    several: bool


CHECKS = (0b11111111, 0b11110000, 0b11001100, 0b10101010)
"""Parities that divide the 256 combinations of eight options into 16 parts of 16.

They are an extended Hamming code and its cosets: each part contains all eight combinations of any
three options, twice. A part omits only repeats and combinations of four options or more.
"""
ALWAYS_RUN = {1: {0}, 2: {5}, 7: {0, 6, 11, 13}, 100: {10}}
"""Parts that are always run, by the number of units; the others are slow."""


def part(i):
    """Return the part that combination ``i`` belongs to."""
    return sum(((i & check).bit_count() % 2) << bit for bit, check in enumerate(CHECKS))


def pairs():
    """Return six combinations of eight options that contain all four values of any two options.

    Each option is on in three of the six, including the first, and no two in the same three.
    """
    on = list(itertools.islice(itertools.combinations(range(6), 3), 8))
    return {sum((row in rows) << bit for bit, rows in enumerate(on)) for row in range(6)}


def cases():
    """Yield all combinations; for each size, all but a covering part are marked as slow."""
    both = (False, True)
    options = list(itertools.product(both, both, both, both, (0.3, 1.0), (1, 3), (1, 2), both))
    for N in (1, 2, 7, 100, 300):
        for i, option in enumerate(options):
            often = i in pairs() if N == 300 else part(i) in ALWAYS_RUN[N]
            marks = [] if often else [pytest.mark.slow]
            yield pytest.param(Case(N, *option), marks=marks, id=f"N{N}-{i}")


def test_cases_that_always_run_cover_the_others():
    def covered(chosen, options):
        bits = itertools.combinations(range(8), options)
        return all(len({tuple(i >> b & 1 for b in some) for i in chosen}) == 2**options
                   for some in bits)  # fmt: skip

    for one in range(16):
        chosen = [i for i in range(256) if part(i) == one]
        assert len(chosen) == 16
        assert covered(chosen, 3)
    assert covered(pairs(), 2)


def network(case):
    rng = np.random.default_rng([case.N, case.D_in, case.D_out])
    W = rng.normal(size=(case.N, case.N))
    W *= 0.9 / np.abs(np.linalg.eigvals(W)).max()
    lengths = (120, 61, 90) if case.several else (150,)
    series = [(rng.normal(size=(T, case.D_in)), rng.normal(size=(T, case.D_out))) for T in lengths]
    return W, series, rng


def assert_close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=TOLERANCE * np.abs(expected).max())


def parameters_of(case, W):
    """Return parameters of an estimator that equals the textbook network."""
    return dict(
        spectrum=W, lr=case.lr, input_bias=case.input_bias, feedback=case.feedback,
        fb_scaling=0.1, fit_bias=case.fit_bias, output_to_readout=case.previous,
        ridge=RIDGE, solver="qr", warmup=10, seed=1,
    )  # fmt: skip


@pytest.mark.parametrize("case", list(cases()))
def test_every_method_equals_the_textbook_network(case):
    W, series, rng = network(case)
    inputs, outputs = [u for u, _ in series], [y for _, y in series]
    parameters = parameters_of(case, W)
    data = (inputs, outputs) if case.several else (inputs[0], outputs[0])
    neuron = ee.LinearESN(**parameters, basis="neuron").fit(*data)
    eigen = ee.LinearESN(**parameters, basis="eigen").fit(*data)

    # Pass the drawn weights, before the leak, to the textbook.
    drawn = neuron.matrices()
    W_in = drawn.W_in / case.lr
    bias = drawn.bias / case.lr if case.input_bias else None
    W_fb = drawn.W_fb / case.lr if case.feedback else None
    weights = dict(lr=case.lr, bias=bias, W_fb=W_fb)
    readout = dict(fit_bias=case.fit_bias, output_to_readout=case.previous)
    W_out = naive.fit(W, W_in, series, **weights, **readout, warmup=10, alpha=RIDGE)
    converted = ee.diagonalize(
        W, W_in, W_out, **weights, output_to_readout=case.previous, readout_bias=case.fit_bias
    )
    models = {"neuron": neuron, "EET": eigen, "EWT": converted}

    u = rng.normal(size=(80, case.D_in))
    before = rng.normal(size=(80, case.D_out)) if case.feedback or case.previous else None
    expected = naive.predict(W, W_in, W_out, u, **weights, **readout, y_previous=before)
    for model in models.values():
        assert_close(model.predict(u, y_previous=before), expected)

    if before is not None:
        closed = naive.predict(W, W_in, W_out, u, **weights, **readout)
        if np.abs(closed).max() < 100:  # only stable loops, since unstable ones amplify rounding
            for model in models.values():
                assert_close(model.predict(u), closed)


def test_enough_closed_loops_are_stable():
    # The comparison above skips unstable loops; make sure that it does not skip all loops.
    stable = 0
    for case in (
        Case(7, True, True, p, False, lr, 1, 1, False) for p in (False, True) for lr in (0.3, 1)
    ):
        W, series, rng = network(case)
        esn = ee.LinearESN(
            spectrum=W, lr=case.lr, feedback=True, fb_scaling=0.1, ridge=RIDGE, seed=1,
            output_to_readout=case.previous,
        ).fit(*series[0])  # fmt: skip
        stable += np.abs(esn.predict(rng.normal(size=(80, 1)))).max() < 100
    assert stable >= 3


@pytest.mark.parametrize("spectrum", ["golden", "uniform", "sim", "ring", "matrix"])
@pytest.mark.parametrize("lr", [0.3, 1.0])
def test_bases_agree_for_every_spectrum(spectrum, lr):
    X = ee.tasks.mso(4, 400)
    parameters = dict(spectrum=spectrum, lr=lr, ridge=1e-6, solver="qr", warmup=50, seed=3)
    eigen = ee.LinearESN(60, **parameters).fit(X[:-1], X[1:])
    neuron = ee.LinearESN(60, **parameters, basis="neuron").fit(X[:-1], X[1:])
    assert_close(eigen.predict(X), neuron.predict(X))
    np.testing.assert_allclose(eigen.states(X, basis="neuron"), neuron.transform(X), atol=1e-9)
    np.testing.assert_allclose(eigen.effective_radius_, neuron.effective_radius_, rtol=1e-9)


def test_error_is_far_below_that_of_the_paper():
    # The paper's best on MSO12 is 8.4e-7.
    task = ee.tasks.mso_split(12)
    for parameters in (dict(spectrum="golden"), dict(spectrum="matrix", basis="neuron")):
        esn = ee.LinearESN(
            100, sr=0.9, lr=1.0, ridge=1e-28, solver="qr", warmup=task.washout, seed=0, **parameters
        ).fit(task.X[task.train], task.y[task.train])
        error = ee.metrics.rmse(task.y[task.test], esn.predict(task.X)[task.test])
        assert error < 1e-9
