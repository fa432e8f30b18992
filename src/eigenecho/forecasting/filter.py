"""What a series leaves behind, row by row: a level and the states of a diagonal reservoir."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from eigenecho.basis import interleave, separate
from eigenecho.errors import bad_argument
from eigenecho.forecasting.trail import Trail
from eigenecho.reservoir import Reservoir
from eigenecho.series import shifted
from eigenecho.spectra import Spectrum
from eigenecho.transition import Diagonal
from eigenecho.types import Array, NonNegative

SHORTEST_FADE = 1e-6
"""The least 1 − |λ|² by which modes are weighed: beyond it they hardly fade within a series."""


LARGEST_GROWTH = 250.0
"""The logarithm of how far modes may grow over a series: squares of states are numbers then."""


class Filtered(NamedTuple):
    """The level (T,) and rows x = [c, r], (T, N + 1), after each value of a series."""

    level: Array
    trail: Trail


@dataclass(frozen=True, eq=False)
class Filter:
    """A running mean, and a reservoir that is driven by what the mean did not foresee.

        u(t) = y(t) − ℓ(t−1),   ℓ(t) = ℓ(t−1) + (1 − a) u(t),   a = exp(−1/τ)
        r(t) = r(t−1) Λ + u(t) b

    With τ = 0 the level is the last value and u the steps from row to row. A constant goes along,
    for drifts: c, the size of steps so far. Nothing here depends on a later row, or on the units
    of the series: x = [c, r] is as large as y, and blind to what is added to it. Nothing is drawn
    either: |b|² = 1 − |λ|² gives each mode the variance 1 under white noise, and the sign of b is a
    matter of the readout's.

    Parameters
    ----------
    memory : float
        τ, in rows.
    spectrum : Spectrum
        Λ.
    """

    memory: NonNegative
    spectrum: Spectrum

    @property
    def keep(self) -> float:
        """The share a of the level that stays."""
        return float(np.exp(-1 / self.memory)) if self.memory > 0 else 0.0

    @property
    def size(self) -> int:
        """Columns of its rows, N + 1."""
        return self.spectrum.units + 1

    @cached_property
    def reservoir(self) -> Reservoir:
        """Λ and b."""
        real, pairs = self.spectrum.real, self.spectrum.pairs

        def weight(modes: Array) -> Array:
            return np.sqrt(np.maximum(1 - np.abs(modes) ** 2, SHORTEST_FADE))

        b = interleave(weight(real)[None], np.sqrt(2) * weight(pairs)[None].astype(complex))
        return Reservoir(Diagonal(self.spectrum), b)

    def drive(self, y: Array) -> tuple[Array, Array]:
        """ℓ and u (T,) of a series (T,) without gaps; the level begins with the first value."""
        a = self.keep
        level = y if a == 0 else lfilter([1 - a], [1, -a], y - y[0]) + y[0]
        return level, y - shifted(level, y[0])

    def run(self, y: Array) -> Filtered:
        """Level and rows of a series (T,) without gaps."""
        level, u = self.drive(y)
        return Filtered(level, Trail(mean_step(y), [(self.reservoir, u)]))

    def closed_loop(self, weights: Array, horizon: int) -> Array:
        """Weights (N + 1, H) of all steps ahead that one-step weights (N + 1,) lead to.

        The forecast of one step is the next value, and so on:

            û_h = x o_h,   o_1 = w,   o_{h+1} = Λ o_h + (b·o_h) w
            ŷ_h − ℓ = x (o_h + (1 − a) Σ_{j<h} o_j)

        Loops that grow beyond the range of numbers give what is not finite.
        """
        n = self.spectrum.real.size + 1  # the constant, and real modes
        modes = np.concatenate([[1.0], self.spectrum.real, self.spectrum.pairs.conj()])
        w = separate(weights, n)
        b = separate(np.concatenate([[0.0], self.reservoir.B[0]]), n).conj()
        steps, step = np.empty((horizon, w.size), complex), w
        with np.errstate(over="ignore", invalid="ignore"):
            for h in range(horizon):
                steps[h] = step
                step = modes * step + (b @ step).real * w
            out = interleave(steps[:, :n].real, steps[:, n:])
            out[1:] += (1 - self.keep) * np.cumsum(out[:-1], axis=0)
        return out.T


def check_growth(spectrum: Spectrum, rows: int, name: str = "spectrum") -> None:
    """Raise where states would run out of the range of numbers within so many rows."""
    if spectrum.radius > 1 and np.log(spectrum.radius) * rows > LARGEST_GROWTH:
        raise bad_argument(
            name, spectrum, f"modes that do not run out of the range of numbers in {rows} rows",
            "Eigenvalues inside the unit circle never do.",
        )  # fmt: skip


def mean_step(y: Array) -> Array:
    """The root mean square of the steps so far, (T,); 0 before the first."""
    steps = shifted(y, y[0]) - y
    return np.sqrt(np.cumsum(steps**2) / np.maximum(np.arange(len(y)), 1))
