"""Warnings point to the line of the user's call, through any layers of the library."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import eigenecho as ee

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 1))


def network(**options):
    return ee.LinearESN(**{"units": 9, "ridge": 1.0, "seed": 0, **options})


def unseeded():
    return np.random.default_rng(0)


def law(n, sr, seed):
    return ee.spectra.golden(n, sr=sr, seed=seed)


JORDAN = 0.5 * np.eye(4) + np.diag(np.ones(3), 1)
GIVEN = JORDAN, np.ones((1, 4)), np.ones((4, 1))
ACYCLIC = {"units": 6, "rc_connectivity": 0.01}
LOUD = {"feedback": True, "output_to_readout": True, "fb_scaling": 3.0, "ridge": 1e-9}
U = RNG.uniform(-1, 1, (2600, 1))
V = np.roll(U, 5, axis=0) + 0.1 * RNG.normal(size=U.shape)
WAVES = ee.tasks.mso(3, 400)
OLD, NEW = slice(0, 2500), slice(2500, None)


@pytest.fixture(scope="module")
def made():
    """Return networks that cause warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "seed": network(seed=unseeded()).fit(X, X),
            "law": network(spectrum=law).fit(X, X),
            "reservoir": ee.DiagonalReservoir(9, seed=unseeded()).fit(X),
            "overfitted": network(units=100, ridge=1e-8).fit(X[:60], X[1:61]),
            "other": network().fit(X, np.roll(X, 4)),
            "loud": network(units=15, **LOUD).fit(X, 5 * np.roll(X, -3)),
            "half": network(units=100, solver="normal", ridge=1e-8).fit(U[OLD], V[OLD]),
            "tiny": network(units=30, solver="normal", ridge=1e-14).fit(WAVES[:-1], WAVES[1:]),
        }


# Each call is on one line, so that the line of the lambda is that of the call.
CALLS = {
    "a seed that no file holds": lambda m, path: m["seed"].save(path),
    "a law that no file holds": lambda m, path: m["law"].save(path),
    "a reservoir's seed": lambda m, path: m["reservoir"].save(path),
    "few rows": lambda m, path: network(units=100, ridge=1e-8).fit(X[:60], X[1:61]),
    "series of single rows": lambda m, path: network().fit(X[:50, None, :], X[:50, None, :]),
    "an unstable network": lambda m, path: network(sr=1.2).fit(X, X),
    "an unstable reservoir": lambda m, path: ee.DiagonalReservoir(9, sr=1.2, seed=0).fit(X),
    "a singular system": lambda m, path: network(ridge=0.0, solver="qr").fit(X[:5], X[:5]),
    "singular sums": lambda m, path: network(ridge=0.0, solver="normal").fit(X[:5], X[:5]),
    "a defective matrix": lambda m, path: network(spectrum=JORDAN).fit(X, X),
    "a defective reservoir": lambda m, path: ee.DiagonalReservoir(spectrum=JORDAN, seed=0).fit(X),
    "radius zero": lambda m, path: network(spectrum="matrix", **ACYCLIC).fit(X, X),
    "radius zero of values": lambda m, path: network(spectrum="sim", **ACYCLIC).fit(X, X),
    "digits lost": lambda m, path: m["half"].partial_fit(U[NEW], V[NEW]),
    "a ridge below rounding": lambda m, path: m["tiny"].partial_fit(WAVES[:-1], WAVES[1:]),
    "narrow intervals": lambda m, path: m["overfitted"].forecast(3, interval=0.9),
    "no next step": lambda m, path: m["other"].forecast(3),
    "a loop that grows": lambda m, path: m["loud"].predict(X),
    "states of a loop that grows": lambda m, path: m["loud"].states(X),
    "a model's loop that grows": lambda m, path: m["loud"].model_.predict(X),
    "a forecast that grows": lambda m, path: m["loud"].model_.forecast(300, X),
    "an estimator's forecast": lambda m, path: m["loud"].forecast(300),
    "no finite score": lambda m, p: ee.search(network(), {"sr": [0.5]}, 1e160 * X, X, refit=False),
    "an unstable winner": lambda m, path: ee.search(network(), {"sr": [1.2]}, X, X),
    "nothing to learn from": lambda m, path: ee.Forecaster(1).fit(X[:5, 0]),
    "origins without rows": lambda m, path: ee.Forecaster(1).backtest(X[:14, 0], origins=4),
    "a basis that is none": lambda m, path: ee.diagonalize(*GIVEN, form="diagonal"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_warning_points_to_the_call(call, made, tmp_path):
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        call(made, tmp_path / "file")
    assert messages
    assert {(w.filename, w.lineno) for w in messages} == {(__file__, call.__code__.co_firstlineno)}
