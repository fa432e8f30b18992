"""Exact memory capacity of a set of eigenvalues."""

from __future__ import annotations

import numpy as np

from eigenecho.checks import check_count
from eigenecho.errors import bad_argument
from eigenecho.spectra.spectrum import SAME, Spectrum
from eigenecho.types import Array


def memory_curve(spectrum: Spectrum, delays: int) -> Array:
    """Compute the exact memory capacity MC_k of each delay, for white noise as input.

        MC_k = c_kᵀ Γ⁻¹ c_k,   Γ = E[rᵀr],   c_k = E[u(t − k) r(t)] = λᵏ

    The capacity does not depend on the input weights, provided that none of them is zero. Its sum
    over all delays is the number of units N. Γ is too ill-conditioned to be inverted, so the curve
    is computed from the Takenaka-Malmquist basis, an orthonormal basis of the impulse responses λᵏ.
    The n-th function is the response of a mode after the all-pass filters of all previous modes.
    With its z-transform h_n(z) and its values h_n(k),

        h_n(z) = √(1 − |λ_n|²) / (1 − λ_n/z) · Π_{m<n} (1/z − λ̄_m) / (1 − λ_m/z)
        MC_k = Σ_n |h_n(k)|²

    Parameters
    ----------
    spectrum : Spectrum
        Distinct eigenvalues with |λ| < 1.
    delays : int
        Largest delay K.

    Returns
    -------
    array (K + 1,)
        MC_0, …, MC_K, in [0, 1].

    See Also
    --------
    eigenecho.tasks.memory_capacity : Measure the memory capacity of a trained network.

    Examples
    --------
    >>> import eigenecho as ee
    >>> curve = ee.spectra.memory_curve(ee.spectra.ring(30, sr=0.9), 2000)
    >>> round(float(curve.sum()), 6)  # the number of units
    30.0
    >>> round(float(curve[29]), 3)
    0.998
    """
    if not isinstance(spectrum, Spectrum):
        raise bad_argument("spectrum", spectrum, "a Spectrum, such as spectra.golden(30, sr=0.9)")
    delays = check_count(delays, "delays", "a number of delays")
    values = spectrum.values
    if not spectrum.radius < 1:
        expected = "eigenvalues inside the unit circle, so that the states are stationary"
        raise bad_argument("spectrum", spectrum, expected)
    distances = np.abs(values[:, None] - values) + np.eye(len(values))
    if distances.min() <= SAME * spectrum.radius:
        raise bad_argument("spectrum", spectrum, "distinct eigenvalues")
    curve, passed = np.zeros(delays + 1), np.zeros(delays + 1, complex)
    passed[0] = 1.0
    for value in values:
        mode, delayed = 0.0j, 0.0j
        response = np.empty_like(passed)
        for k, x in enumerate(passed.tolist()):
            response[k] = mode = value * mode + x
            # The all-pass filter is (1/z − λ̄) times the response of the mode.
            passed[k], delayed = delayed - value.conjugate() * mode, mode
        curve += (1 - abs(value) ** 2) * np.abs(response) ** 2
    return curve
