"""Statistics gathered in chunks, in parallel lanes, and for folds with gaps."""

import sys
import time
import tracemalloc

import numpy as np
import pytest

import eigenecho as ee
import naive
from eigenecho.readout import Gram, Penalty, Remainder, Triangle
from eigenecho.reservoir import Recipe, draw
from eigenecho.rows import Fold
from eigenecho.training import Problem
from eigenecho.training.refine import residuals

module = sys.modules["eigenecho.rows"]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    lengths = (700, 430)
    return [rng.normal(size=(T, 1)) for T in lengths], [rng.normal(size=(T, 2)) for T in lengths]


FOLD = Fold([(20, 300), (20, 100)], ([(350, 400), (150, 200)], [(500, 700), (300, 430)]))


def _problem(reservoir, inputs, outputs):
    penalty = Penalty(reservoir.units + 1)
    return Problem(reservoir=reservoir, penalty=penalty, inputs=inputs, outputs=outputs)


def at_once(reservoir, inputs, outputs, block):
    kept = []
    for u, y, (start, stop) in zip(inputs, outputs, block, strict=True):
        r = reservoir.scan(reservoir.drive(u, None))[0]
        kept.append((np.column_stack([np.ones(len(r)), r])[start:stop], y[start:stop]))
    return np.concatenate([X for X, _ in kept]), np.concatenate([Y for _, Y in kept])


@pytest.mark.parametrize("kind", [Gram, Triangle])
@pytest.mark.parametrize("chunk", [1 << 24, 64 * 8 * 13])
@pytest.mark.parametrize("slow", [False, True])
def test_statistics_of_folds_with_gaps(data, monkeypatch, kind, chunk, slow):
    monkeypatch.setattr(module, "CHUNK_BYTES", chunk)
    if slow:
        # A slow lane must not see rows of a later chunk.
        plain = kind.absorb

        def late(self, X, Y):
            time.sleep(0.002)
            return plain(self, X, Y)

        monkeypatch.setattr(kind, "absorb", late)
    inputs, outputs = data
    reservoir = draw(Recipe(units=12), D_in=1, seed=0).reservoir
    total, held_out, _ = _problem(reservoir, inputs, outputs).gather(kind, FOLD)
    for statistics, block in zip((total, *held_out), (FOLD.train, *FOLD.held_out), strict=True):
        X, Y = at_once(reservoir, inputs, outputs, block)
        gram = statistics if isinstance(statistics, Gram) else naive.gram(statistics)
        assert statistics.rows == len(X)
        np.testing.assert_allclose(gram.XtX, X.T @ X, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(gram.XtY, X.T @ Y, rtol=1e-9, atol=1e-9)


def test_statistics_do_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr(module, "CHUNK_BYTES", 1 << 14)
    u = np.random.default_rng(0).normal(size=(5000, 1))
    fits = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("EIGENECHO_NUM_THREADS", threads)
        esn = ee.LinearESN(30, solver="normal", ridge=[1e-3, 1.0], seed=0).fit(u, np.roll(u, 2))
        fits.append(esn.W_out_)
    np.testing.assert_array_equal(fits[0], fits[1])
    np.testing.assert_array_equal(fits[0], fits[2])


@pytest.mark.parametrize("solver", ["qr", "auto"])
def test_wide_targets_are_not_copied(solver):
    """A fit works on pieces of 16 MB and never stores all residuals."""
    rng = np.random.default_rng(0)
    u, Y = rng.normal(size=(10_000, 1)), rng.normal(size=(10_000, 600))
    esn = ee.LinearESN(20, solver=solver, ridge=1e-2, seed=0)
    esn.fit(u[:300], Y[:300])  # compiles
    more = ee.LinearESN(20, solver=solver, ridge=1e-2, seed=0).fit(u[:300], Y[:300])
    for call in (lambda: esn.fit(u, Y), lambda: more.partial_fit(u, Y)):
        tracemalloc.start()
        call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1.4 * Y.nbytes


@pytest.mark.parametrize("sr", [0.5, 0.999])
@pytest.mark.parametrize("start", [0, 300])
def test_residuals_are_squared_piece_by_piece(sr, start, monkeypatch):
    rng = np.random.default_rng(0)
    u, Y = rng.normal(size=(3000, 2)), rng.normal(size=(3000, 3))
    esn = ee.LinearESN(500, sr=sr, ridge=1e-2, seed=0).fit(u, Y)
    problem = _problem(esn.model_.reservoir, [u, u[:700]], [Y, Y[:700]])
    block, w = [(start, 3000), (start, 700)], esn._fitted.evidence.weights
    left = np.concatenate(residuals(problem, block, w))
    whole = problem.with_weights(block, w).scatter
    # 3000 residuals are summed in another order, with other kernels on other CPUs: off-diagonal
    # sums cancel, so errors are relative to the largest entry.
    close = 1e-11 * whole.max()
    np.testing.assert_allclose(whole, left.T @ left, rtol=0, atol=close)
    # Compute the residuals from the states, in pieces.
    monkeypatch.setattr(module, "CHUNK_BYTES", 8 * 501 * 512)
    pieces = problem.gather(Remainder, Fold(block), less=w).statistics.EtE
    np.testing.assert_allclose(pieces, whole, rtol=0, atol=close)
