"""Compare exact memory curves with 200-digit arithmetic and with measured capacities."""

from __future__ import annotations

import numpy as np
import pytest

import eigenecho as ee
from eigenecho import spectra

mp = pytest.importorskip("mpmath")

SPECTRA = {
    "uniform": spectra.uniform(30, sr=0.9, seed=0),
    "golden": spectra.golden(30, sr=0.9, seed=0),
    "log ring": spectra.log_ring(30, sr=0.9, seed=0),
    "ring": spectra.ring(30, sr=0.9),
    "time constants": spectra.time_constants(12, sr=0.99),
    "near the unit circle": spectra.ring(20, sr=0.999),
    "one": spectra.from_values([0.5]),
    "with zero": spectra.from_values([0.0, 0.5, -0.3]),
}


def oracle(spectrum, delay):
    """Return cᵀ Γ⁻¹ c for one delay, with Γ = 1 / (1 − λ_i λ_j) and c = λᵏ."""
    with mp.workdps(200):
        values = [mp.mpc(value) for value in spectrum.values]
        gram = mp.matrix([[1 / (1 - a * b) for b in values] for a in values])
        c = mp.matrix([value**delay for value in values])
        x = mp.lu_solve(gram, c)
        return float(mp.re(sum(c[i] * x[i] for i in range(len(values)))))


@pytest.mark.parametrize("name", SPECTRA)
def test_curves_equal_200_digit_arithmetic(name):
    spectrum = SPECTRA[name]
    curve = spectra.memory_curve(spectrum, 60)
    for delay in (0, 1, 2, 29, 60):
        assert curve[delay] == pytest.approx(oracle(spectrum, delay), abs=1e-13)


def test_known_values():
    # N = 30, sr = 0.9, k = 29
    known = {"uniform": 0.346, "golden": 0.377, "log ring": 0.715, "ring": 0.998}
    for name, value in known.items():
        assert spectra.memory_curve(SPECTRA[name], 29)[29] == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize("name", SPECTRA)
def test_total_is_the_number_of_units(name):
    spectrum = SPECTRA[name]
    steps = int(-40 / np.log(spectrum.radius)) + 1
    curve = spectra.memory_curve(spectrum, steps)
    assert curve.sum() == pytest.approx(spectrum.units, abs=1e-9)
    assert np.all((curve >= 0) & (curve <= 1 + 1e-12))


def test_trained_networks_approach_the_curve():
    spectrum = spectra.golden(10, sr=0.8, seed=1)
    esn = ee.LinearESN(spectrum=spectrum, ridge=1e-10, warmup=100, seed=0)
    memory = ee.tasks.memory_capacity(esn, steps=40_000, warmup=100, delays=20, seed=0)
    curve = spectra.memory_curve(spectrum, 20)
    np.testing.assert_allclose(memory.capacity, curve[1:], atol=0.01)


@pytest.mark.parametrize(
    ("spectrum", "delays", "match"),
    [
        (spectra.ring(4, sr=1.0), 5, "inside the unit circle"),
        (spectra.from_values([0.5, 0.5]), 5, "distinct eigenvalues"),
        ("golden", 5, "expected a Spectrum"),
        (spectra.ring(4, sr=0.9), -1, "delays=-1"),
    ],
)
def test_bad_input(spectrum, delays, match):
    with pytest.raises(ValueError, match=match):
        spectra.memory_curve(spectrum, delays)
