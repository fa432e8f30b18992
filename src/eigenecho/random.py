"""Seeds: explicit everywhere, and one separate stream for each thing that is drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenecho.errors import bad_argument

Seed = int | np.random.Generator | None


class Streams(NamedTuple):
    """Independent generators, so that changing one option does not redraw the others."""

    spectrum: np.random.Generator
    eigenvectors: np.random.Generator
    W_in: np.random.Generator
    W_fb: np.random.Generator
    bias: np.random.Generator


def generator(seed: Seed) -> np.random.Generator:
    """A Generator from an int, a Generator (used as it is) or None (fresh entropy)."""
    if isinstance(seed, np.random.Generator):
        return seed
    if seed is None:
        return np.random.default_rng()
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and seed >= 0:
        return np.random.default_rng(int(seed))
    raise bad_argument("seed", seed, "a non-negative int, a numpy Generator or None")


def streams(seed: Seed) -> Streams:
    """Spawn one generator for each thing that a reservoir draws."""
    return Streams(*generator(seed).spawn(len(Streams._fields)))
