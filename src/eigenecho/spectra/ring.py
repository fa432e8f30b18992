"""Eigenvalues on a circle, and by geometrically spaced time constants."""

from __future__ import annotations

import math

import numpy as np

from eigenecho.checks import check_number, check_sr, check_units, generator
from eigenecho.errors import bad_argument
from eigenecho.spectra.spectrum import Spectrum, off_axis
from eigenecho.types import Seed

LARGEST_BELOW_ONE = math.nextafter(1, 0)
"""The radius with the longest finite time constant: 9e15 steps."""

VANISHING = 1e-3
"""Time constant, in steps, below which exp(−1/τ) is zero in double precision."""


def ring(n: int, sr: float = 0.95, seed: Seed = None) -> Spectrum:
    """Return eigenvalues evenly spaced on the circle of radius ``sr``: the longest memory.

        λ_k = sr exp(2πi k / n),   k = 0 … n − 1

    These are the eigenvalues of a weighted cycle of n units. Nothing is drawn: ``seed`` is
    accepted for the common signature. Each of the last n inputs is recalled with a memory capacity
    of 1 − sr²ⁿ, so that ``sr=exp(-3 / n)`` is a good choice, and larger radii recall less.

    Parameters
    ----------
    n : int
        Number of eigenvalues; a pair counts as two.
    sr : float
        The radius of the circle.
    seed : int, Generator or None
        Not used.

    See Also
    --------
    eigenecho.spectra.log_ring : time constants from short to long
    eigenecho.spectra.joined : several spectra in one
    eigenecho.tasks.memory_capacity : how long the memory is

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.spectra.ring(4, sr=0.5).values.round(3)
    array([ 0.5+0.j , -0.5+0.j ,  0. +0.5j,  0. -0.5j])
    """
    check_units(n)
    check_sr(sr)
    angles = 2 * np.pi * np.arange(1, (n + 1) // 2) / n
    real = [1.0, -1.0] if n % 2 == 0 else [1.0]
    return Spectrum(np.array(real), np.exp(1j * angles)).times(sr)


def log_ring(n: int, sr: float = 0.99, seed: Seed = None, *, shortest: float = 1.0) -> Spectrum:
    """Return pairs with geometrically spaced time constants, at multiples of the golden angle.

        |μ_k| = exp(−1/τ_k),   τ from shortest to −1 / ln sr steps

    Every octave of memory gets the same number of modes. The seed draws the starting angle.
    ``sr`` in ]0, 1] is the modulus of the slowest mode; see ``time_constants`` for the others if
    it is 1, or decays within ``shortest``.

    Parameters
    ----------
    n : int
        Number of eigenvalues; a pair counts as two.
    sr : float
        The modulus of the slowest mode, in ]0, 1].
    seed : int, Generator or None
        Seed of the starting angle.
    shortest : float
        The shortest time constant, in steps.

    See Also
    --------
    eigenecho.spectra.ring : one modulus for all
    eigenecho.spectra.time_constants : real eigenvalues only

    Examples
    --------
    >>> import eigenecho as ee
    >>> import numpy as np
    >>> spectrum = ee.spectra.log_ring(8, sr=0.99, seed=0)
    >>> (-1 / np.log(np.abs(spectrum.pairs))).round(1)  # steps until a mode has decayed to 1/e
    array([99.5, 21.5,  4.6,  1. ])
    """
    check_units(n)
    modulus = _moduli(max(n // 2, 1), sr, shortest)
    golden_angle = math.pi * (math.sqrt(5) - 1) / 2
    start = generator(seed).uniform(0, np.pi)
    m = n // 2
    # Angles stay strictly inside the half circle, half a spacing away from the real axis.
    angle = (start + golden_angle * np.arange(m)) % np.pi
    angle = np.clip(angle, np.pi / (4 * max(m, 1)), np.pi * (1 - 1 / (4 * max(m, 1))))
    real = np.full(n % 2, sr)
    return off_axis(real, modulus[:m] * np.exp(1j * angle))


def time_constants(
    n: int, sr: float = 0.99, seed: Seed = None, *, shortest: float = 1.0
) -> Spectrum:
    """Return real eigenvalues with geometrically spaced time constants: leaky integrators.

        λ_k = exp(−1/τ_k),   τ from shortest to −1 / ln sr steps

    ``sr`` in ]0, 1] is the slowest of them. If its time constant is shorter than ``shortest``, τ
    decreases by the same factor instead, to τ(sr)² / ``shortest``. If sr = 1, one mode is 1, and
    the others are those of the largest number below 1.

    Nothing is drawn: ``seed`` is accepted for the common signature.

    Parameters
    ----------
    n : int
        Number of eigenvalues; a pair counts as two.
    sr : float
        The slowest of them, in ]0, 1].
    seed : int, Generator or None
        Not used.
    shortest : float
        The shortest time constant, in steps.

    See Also
    --------
    eigenecho.spectra.log_ring : pairs that oscillate, with the same time constants

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.spectra.time_constants(4, sr=0.99).real.round(3)
    array([0.99 , 0.954, 0.806, 0.368])
    """
    check_units(n)
    return Spectrum(_moduli(n, sr, shortest))


def _moduli(n: int, sr: float, shortest: float) -> np.ndarray:
    """Return exp(−1/τ), the slowest first."""
    check_sr(sr)
    check_number(shortest, "shortest", above=0)
    if not 0 < sr <= 1:
        expected = "a radius in ]0, 1], the modulus of the slowest mode"
        remedy = "Laws of time constants have no growing and no zero modes."
        raise bad_argument("sr", sr, expected, remedy)
    longest = -1 / math.log(min(sr, LARGEST_BELOW_ONE))
    if longest < shortest:
        shortest = max(longest * (longest / shortest), VANISHING)
    moduli = np.exp(-1 / np.geomspace(longest, shortest, n))
    if sr == 1:
        moduli[0] = 1.0
    return moduli
