"""Networks as linear systems from the drive to the output, as in control theory.

    r(t) = r(t−1) Λ + a(t) B,   y(t) = r(t) C,   G(ζ) = B (I − Λ/ζ)⁻¹ C

Its Gramians under a white drive have closed forms in the eigenvalues,

    P = Σ_k (B Λ^k)ᵀ (B Λ^k),   Q = Σ_k (Λ^k C) (Λ^k C)ᵀ

which are sums of Cauchy matrices over inputs or outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eigenecho.basis import interleave, separate
from eigenecho.reduction.cauchy import cauchy_factor
from eigenecho.spectra import Spectrum
from eigenecho.types import Array

GRID = 1024
"""Number of evenly spaced frequencies in [0, π] for gains, in addition to those of the modes."""

CHUNK = 256
"""Number of frequencies that are computed at a time."""


@dataclass(frozen=True, eq=False)
class System:
    """Linear system with eigenvalues inside the unit circle, and B (D, N), C (N, E) in Q layout."""

    spectrum: Spectrum
    B: Array
    C: Array

    @property
    def units(self) -> int:
        """Number of units N."""
        return self.spectrum.units

    @property
    def modes(self) -> Array:
        """Real eigenvalues, then one eigenvalue of each pair, as a complex array (n + m,)."""
        return np.concatenate([self.spectrum.real, self.spectrum.pairs])

    @property
    def inputs(self) -> Array:
        """Complex input weights b of the modes, (D, n + m): z(t) = λ z(t−1) + a(t) b."""
        return separate(self.B, self.spectrum.real.size)

    @property
    def outputs(self) -> Array:
        """Complex output weights w − i v of the modes, (E, n + m): y = Re(z (w − i v))."""
        return separate(self.C.T, self.spectrum.real.size).conj()

    @cached_property
    def reachability(self) -> Array:
        """Factor F (N, k) of the reachability Gramian P = F Fᵀ."""
        return _compact([self._in_layout(cauchy_factor(self.spectrum, b)) for b in self.inputs])

    @cached_property
    def observability(self) -> Array:
        """Factor F (N, k) of the observability Gramian Q = F Fᵀ."""
        return _compact(
            [self._in_layout(cauchy_factor(self.spectrum, c).conj()) for c in self.outputs]
        )

    def _in_layout(self, F: Array) -> Array:
        """Return complex rows of modes as rows of the Q layout, (N, k)."""
        n = self.spectrum.real.size
        return np.ascontiguousarray(interleave(F[:n].real.T, F[n:].T).T)

    def advance(self, rows: Array) -> Array:
        """Return the product Λ X for ``rows`` X (N, k) in the Q layout."""
        n, out = self.spectrum.real.size, np.empty_like(rows)
        a, b = self.spectrum.pairs.real[:, None], self.spectrum.pairs.imag[:, None]
        out[:n] = self.spectrum.real[:, None] * rows[:n]
        # Each pair is multiplied by [[a, b], [−b, a]].
        out[n::2] = a * rows[n::2] + b * rows[n + 1 :: 2]
        out[n + 1 :: 2] = a * rows[n + 1 :: 2] - b * rows[n::2]
        return out

    def advanced(self, states: Array) -> Array:
        """Return the product r Λ for states r (…, N) in the Q layout."""
        n = self.spectrum.real.size
        ahead = separate(states, n) * self.modes
        return interleave(ahead[..., :n].real, ahead[..., n:])

    @property
    def steady(self) -> Array:
        """Steady states B (I − Λ)⁻¹ (D, N) under constant drives."""
        n, settled = self.spectrum.real.size, self.inputs / (1 - self.modes)
        return interleave(settled[:, :n].real, settled[:, n:])

    @property
    def frequencies(self) -> Array:
        """Test frequencies in [0, π]: an evenly spaced grid and the resonances of the modes."""
        return np.concatenate([np.linspace(0, np.pi, GRID + 1), np.angle(self.spectrum.pairs)])

    def response(self, frequencies: Array) -> Array:
        """Return the frequency response G(e^{iω}), (frequencies, D, E)."""
        n = self.spectrum.real.size
        b, c = self.inputs, self.outputs
        # For a pair, Re(z c) is half of z c and half of its conjugate.
        values = np.concatenate([self.modes, self.modes[n:].conj()])
        b = np.concatenate([b, b[:, n:].conj()], axis=1)
        c = np.concatenate([c[:, :n], 0.5 * c[:, n:], 0.5 * c[:, n:].conj()], axis=1)
        weights = (b[:, None, :] * c[None]).reshape(-1, values.size).T
        responses = [
            (1 / (1 - np.exp(-1j * chunk)[:, None] * values)) @ weights
            for chunk in np.array_split(frequencies, max(1, len(frequencies) // CHUNK))
        ]
        return np.concatenate(responses).reshape(len(frequencies), len(self.B), -1)

    @property
    def amplitude(self) -> float:
        """Sum of the amplitudes of all modes under white noise: the scale of rounding errors."""
        sizes = np.abs(self.inputs).sum(axis=0) * np.abs(self.outputs).sum(axis=0)
        return float(np.sum(sizes / np.sqrt(1 - np.abs(self.modes) ** 2)))


def largest_gain(response: Array) -> float:
    """Return the largest singular value of matrices (frequencies, D, E)."""
    if 1 in response.shape[1:]:
        return float(np.sqrt(np.sum(np.abs(response) ** 2, axis=(1, 2)).max(initial=0.0)))
    return float(np.linalg.svd(response, compute_uv=False).max(initial=0.0))


def _compact(factors: Sequence[Array]) -> Array:
    """Return a factor of the sum of F Fᵀ over ``factors``, with at most as many columns as rows."""
    F = np.concatenate(factors, axis=1)
    if len(factors) == 1 or F.shape[1] <= len(F):
        return F
    return np.asarray(np.linalg.qr(F.T, mode="r")).T
