"""Grid of modes for pooled features, and the channel mixes that drive them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenecho.errors import Words, bad_argument
from eigenecho.types import Array, PositiveArray

SHORTEST = 1.0
"""Shortest time constant, in steps."""

LONGEST = 0.2
"""Longest time constant, as a fraction of the length of a series."""

SMALLEST_RANGE = 4.0
"""Lower bound of the longest time constant, in steps, which applies to very short series."""

CYCLES = (0.1, 2.0)
"""Lowest and highest frequency, in cycles per time constant."""

HIGHEST = 0.5
"""Highest frequency, in cycles per step."""

MOST_STEPS = 1e9
"""Largest time constant, in steps, with steady states in the range of single precision."""

MOST_CHANNELS = 9
"""Largest number of channels in a mix."""


@dataclass(frozen=True, eq=False)
class ModeGrid:
    """Grid of modes λ = exp(−1/τ + 2πi f), with A time constants and B frequencies for each.

    ``time_constants`` (A,) are in steps, and ``frequencies`` (A, B) are in cycles per step.
    """

    time_constants: PositiveArray
    frequencies: PositiveArray

    def __post_init__(self) -> None:
        tau, frequencies = self.time_constants, self.frequencies
        if tau.ndim != 1 or frequencies.ndim != 2 or len(frequencies) != len(tau) or not self.size:
            got = Words(f"shapes {tau.shape} and {frequencies.shape}")
            raise bad_argument("time_constants and frequencies", got, "shapes (A,) and (A, B)")
        if tau.min() < SHORTEST or tau.max() > MOST_STEPS or frequencies.max() > HIGHEST:
            got = Words("numbers out of range")
            bounds = f"{SHORTEST:g} to {MOST_STEPS:g} steps and up to {HIGHEST} cycles per step"
            raise bad_argument("time_constants and frequencies", got, bounds)

    @classmethod
    def of(cls, time_constants: int, frequencies: int, length: float) -> ModeGrid:
        """Return a logarithmic grid for series of the given length."""
        longest = max(LONGEST * length, SMALLEST_RANGE)
        tau = np.geomspace(SHORTEST, longest, time_constants)
        lowest, highest = (cycles / tau for cycles in CYCLES)
        return cls(tau, np.geomspace(lowest, np.minimum(highest, HIGHEST), frequencies, axis=1))

    @property
    def size(self) -> int:
        """Number of modes."""
        return self.frequencies.size

    @property
    def rates(self) -> Array:
        """Rates λ − 1 of all modes (A·B,), computed without cancellation for slow modes."""
        return np.expm1(-1 / self.time_constants[:, None] + 2j * np.pi * self.frequencies).ravel()


def draw_mixes(modes: int, channels: int, rng: np.random.Generator) -> Array:
    """Draw the channel weights (2, modes, channels) of the forward and backward modes.

    A single channel has weight 1. With several channels, each mode uses a few random channels
    with random signs.
    """
    if channels == 1:
        return np.ones((2, modes, 1), np.float32)
    mixes = np.zeros((2 * modes, channels), np.float32)
    for mix in mixes:
        count = int(2 ** rng.uniform(0, np.log2(min(channels, MOST_CHANNELS) + 1)))
        mix[rng.permutation(channels)[:count]] = rng.choice([-1.0, 1.0], count) / np.sqrt(count)
    return mixes.reshape(2, modes, channels)
