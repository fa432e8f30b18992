"""Products of the factors of Cauchy matrices, and their relative accuracy."""

from __future__ import annotations

import numpy as np
import pytest

from eigenecho import spectra
from eigenecho.basis import separate
from eigenecho.reduction import System, balance
from eigenecho.reduction.cauchy import cauchy_factor, one_minus
from eigenecho.spectra import Spectrum

LAWS = ("golden", "ring", "log_ring", "uniform", "time_constants")


def weights(spectrum, seed=0):
    values = np.random.default_rng(seed).normal(size=spectrum.units)
    return separate(values, spectrum.real.size)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_products_equal_the_sums_over_time(name, n):
    spectrum = spectra.law(name)(n, sr=0.9, seed=1)
    a, modes = weights(spectrum), np.concatenate([spectrum.real, spectrum.pairs])
    F = cauchy_factor(spectrum, a)
    signals = a[:, None] * modes[:, None] ** np.arange(2000)
    scale = np.abs(signals @ signals.conj().T).max()
    np.testing.assert_allclose(F @ F.conj().T, signals @ signals.conj().T, atol=1e-12 * scale)
    # Without the conjugate: the signals are real, so one row of a pair represents both.
    np.testing.assert_allclose(F @ F.T, signals @ signals.T, atol=1e-12 * scale)


def test_pairs_near_the_axis_keep_the_digits_of_their_difference():
    # The second column of such a pair is tiny: 1 − |ρ| cancels unless computed from the pivots.
    pair = 0.5 + 1e-9j
    F = cauchy_factor(Spectrum([], [pair]), np.array([1.0 + 0.3j]))
    modes, a = np.array([pair, np.conj(pair)]), np.array([1 + 0.3j, 1 - 0.3j])
    rows = np.concatenate([F, F.conj()])
    P = np.outer(a, a.conj()) / (1 - np.outer(modes, modes.conj()))
    np.testing.assert_allclose(rows @ rows.conj().T, P, rtol=1e-14)
    # The second column has det P = |a|⁴ |λ − λ̄|² / ((1 − |λ|²)² |1 − λ²|²).
    gaps = (1 - abs(pair) ** 2) ** 2 * abs(1 - pair**2) ** 2
    expected = abs(a[0]) ** 4 * abs(2 * pair.imag) ** 2 / gaps
    actual = abs(np.linalg.det(rows)) ** 2
    assert actual == pytest.approx(expected, rel=1e-6)


def test_one_minus_a_product_is_accurate_near_the_circle():
    from fractions import Fraction

    value = complex(1 - 2**-30, 2**-31)
    actual = one_minus(value, value)[0].real
    exact = 1 - Fraction(value.real) ** 2 - Fraction(value.imag) ** 2
    assert actual == pytest.approx(float(exact), rel=1e-15)


def test_zero_weights_give_an_empty_factor():
    spectrum = spectra.golden(5, sr=0.9, seed=0)
    assert cauchy_factor(spectrum, np.zeros(spectrum.real.size + spectrum.pairs.size)).shape[1] == 0


def test_singular_values_are_accurate_to_all_digits():
    mp = pytest.importorskip("mpmath")
    spectrum = spectra.golden(40, sr=0.95, seed=0)
    rng = np.random.default_rng(0)
    system = System(spectrum, rng.normal(size=(1, 40)), rng.normal(size=(40, 1)))
    actual = balance(system, lambda: [system.reachability.T], 0.0).values
    with mp.workdps(70):
        values = [mp.mpc(v) for v in spectrum.values]

        def both(rows, n):
            """Return the weights of all eigenvalues, each pair as (μ, μ̄)."""
            z = [mp.mpc(v) for v in rows[:n]]
            for v in rows[n:]:
                z += [mp.mpc(v), mp.conj(mp.mpc(v))]
            return z

        n = spectrum.real.size
        b = both(system.inputs[0], n)
        c = [v / (1 if i < n else 2) for i, v in enumerate(both(system.outputs[0], n))]
        N = len(values)
        P, Q = mp.matrix(N, N), mp.matrix(N, N)
        for i in range(N):
            for j in range(N):
                P[i, j] = mp.conj(b[i]) * b[j] / (1 - mp.conj(values[i]) * values[j])
                Q[i, j] = c[i] * mp.conj(c[j]) / (1 - values[i] * mp.conj(values[j]))
        L = mp.cholesky(Q)
        M = L.transpose_conj() * P * L
        squares = mp.eighe((M + M.transpose_conj()) / 2, eigvals_only=True)
        expected = sorted((mp.sqrt(v) for v in squares), reverse=True)
        small = [i for i in range(N) if expected[i] > mp.mpf("1e-14") * expected[0]]
        assert expected[small[-1]] < mp.mpf("1e-12") * expected[0]
        errors = [abs(mp.mpf(float(actual[i])) - expected[i]) / expected[i] for i in small]
    assert float(max(errors)) < 1e-11
