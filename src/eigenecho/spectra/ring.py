"""Eigenvalues on a circle, and eigenvalues with geometrically spaced time constants."""

from __future__ import annotations

import math

import numpy as np

from eigenecho.checks import check_number, check_units, generator
from eigenecho.errors import bad_argument
from eigenecho.spectra.spectrum import Spectrum, off_axis
from eigenecho.types import Seed

LARGEST_BELOW_ONE = math.nextafter(1, 0)
"""Largest radius with a finite time constant, which is 9e15 steps."""

VANISHING = 1e-3
"""Time constant, in steps, below which exp(−1/τ) is zero in double precision."""


def ring(n: int, sr: float = 0.95, seed: Seed = None) -> Spectrum:
    """Return eigenvalues evenly spaced on the circle of radius ``sr``, with the longest memory.

        λ_k = sr exp(2πi k / n),   k = 0 … n − 1

    These are the eigenvalues of a weighted cycle of n units. The memory capacity of each of the
    last n inputs is 1 − sr²ⁿ, which decreases as the radius increases. A good choice is
    ``sr=exp(-3 / n)``, for which this capacity is 0.9975.

    Parameters
    ----------
    n : int
        Number of eigenvalues; a pair counts as two.
    sr : float
        Radius of the circle.
    seed : int, Generator or None
        Not used, present for API consistency.

    See Also
    --------
    eigenecho.spectra.log_ring : Pairs with geometrically spaced time constants.
    eigenecho.spectra.joined : Join spectra and laws.
    eigenecho.tasks.memory_capacity : Measure the memory capacity of a trained network.

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.spectra.ring(4, sr=0.5).values.round(3)
    array([ 0.5+0.j , -0.5+0.j ,  0. +0.5j,  0. -0.5j])
    """
    n = check_units(n)
    sr = check_number(sr, "sr", "≥ 0")
    angles = 2 * np.pi * np.arange(1, (n + 1) // 2) / n
    real = [1.0, -1.0] if n % 2 == 0 else [1.0]
    return Spectrum(np.array(real), np.exp(1j * angles)).times(sr)


def log_ring(n: int, sr: float = 0.99, seed: Seed = None, *, shortest: float = 1.0) -> Spectrum:
    """Return eigenvalue pairs with geometrically spaced time constants and golden angles.

        |μ_k| = exp(−1/τ_k),   τ from shortest to −1 / ln sr steps

    Every octave of memory has the same number of modes. The starting angle is random. If ``sr`` is
    1, or its time constant is shorter than ``shortest``, the moduli are those of
    ``time_constants``.

    Parameters
    ----------
    n : int
        Number of eigenvalues; a pair counts as two.
    sr : float
        Modulus of the slowest mode, in (0, 1].
    seed : int, Generator or None
        Seed of the starting angle.
    shortest : float
        Shortest time constant, in steps.

    See Also
    --------
    eigenecho.spectra.ring : Eigenvalues with equal moduli.
    eigenecho.spectra.time_constants : Real eigenvalues with these time constants.

    Examples
    --------
    >>> import eigenecho as ee
    >>> import numpy as np
    >>> spectrum = ee.spectra.log_ring(8, sr=0.99, seed=0)
    >>> (-1 / np.log(np.abs(spectrum.pairs))).round(1)  # steps until a mode has decayed to 1/e
    array([99.5, 21.5,  4.6,  1. ])
    """
    n = check_units(n)
    modulus = _moduli(max(n // 2, 1), sr, shortest)
    golden_angle = math.pi * (math.sqrt(5) - 1) / 2
    start = generator(seed).uniform(0, np.pi)
    m = n // 2
    # All angles are strictly inside the half circle, half a spacing away from the real axis.
    angle = (start + golden_angle * np.arange(m)) % np.pi
    angle = np.clip(angle, np.pi / (4 * max(m, 1)), np.pi * (1 - 1 / (4 * max(m, 1))))
    real = np.full(n % 2, sr)
    return off_axis(real, modulus[:m] * np.exp(1j * angle))


def time_constants(
    n: int, sr: float = 0.99, seed: Seed = None, *, shortest: float = 1.0
) -> Spectrum:
    """Return real eigenvalues with geometrically spaced time constants, as in leaky integrators.

        λ_k = exp(−1/τ_k),   τ from shortest to −1 / ln sr steps

    If the time constant τ(sr) of ``sr`` is shorter than ``shortest``, τ ranges from τ(sr) down to
    τ(sr)² / ``shortest`` instead. If ``sr`` is 1, the largest eigenvalue is 1, and the others are
    computed for the largest floating-point number below 1.

    Parameters
    ----------
    n : int
        Number of eigenvalues.
    sr : float
        Largest eigenvalue, in (0, 1].
    seed : int, Generator or None
        Not used, present for API consistency.
    shortest : float
        Shortest time constant, in steps.

    See Also
    --------
    eigenecho.spectra.log_ring : Conjugate pairs with these time constants.

    Examples
    --------
    >>> import eigenecho as ee
    >>> ee.spectra.time_constants(4, sr=0.99).real.round(3)
    array([0.99 , 0.954, 0.806, 0.368])
    """
    n = check_units(n)
    return Spectrum(_moduli(n, sr, shortest))


def _moduli(n: int, sr: float, shortest: float) -> np.ndarray:
    """Return the moduli exp(−1/τ) in descending order."""
    sr = check_number(sr, "sr", "≥ 0")
    shortest = check_number(shortest, "shortest", "> 0")
    if not 0 < sr <= 1:
        expected = "a spectral radius in (0, 1]"
        remedy = "Other radii do not correspond to a time constant."
        raise bad_argument("sr", sr, expected, remedy)
    longest = -1 / math.log(min(sr, LARGEST_BELOW_ONE))
    if longest < shortest:
        shortest = max(longest * (longest / shortest), VANISHING)
    moduli = np.exp(-1 / np.geomspace(longest, shortest, n))
    if sr == 1:
        moduli[0] = 1.0
    return moduli
