"""Random eigenvectors that are known by their seed, and drawn when they are first used."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eigenecho.basis.basis import Basis, random_basis, random_vectors
from eigenecho.checks import check_count
from eigenecho.errors import bad_argument
from eigenecho.schema import stands_for
from eigenecho.spectra import Spectrum
from eigenecho.types import Array

POOL = 4
"""Words that a SeedSequence mixes its entropy into by default, which files do not keep."""


class DrawnBasis(Basis):
    """What ``random_basis`` gives for ``n_real`` real eigenvalues and ``pairs``, by a seed."""

    pairs: int
    seed: np.random.SeedSequence

    def __init__(self, n_real: int, pairs: int, seed: np.random.SeedSequence) -> None:
        vars(self).update(n_real=n_real, block=0, pairs=pairs, seed=seed)

    @property
    def units(self) -> int:
        """N."""
        return self.n_real + 2 * self.pairs

    @cached_property
    def Q(self) -> Array:
        """The eigenvectors."""
        Q = random_vectors(self.n_real, self.pairs, self.generator())
        Q.setflags(write=False)
        return Q

    def generator(self) -> np.random.Generator:
        """Return the generator of the eigenvectors, as it was when they were drawn."""
        return np.random.Generator(np.random.PCG64(self.seed))


def drawn_basis(spectrum: Spectrum, rng: np.random.Generator) -> Basis:
    """Random eigenvectors for a spectrum, by a generator that has drawn nothing yet."""
    bits = rng.bit_generator
    seed: Any = bits.seed_seq
    plain = type(bits) is np.random.PCG64 and type(seed) is np.random.SeedSequence
    if plain and type(seed.entropy) is int and seed.pool_size == POOL:
        return DrawnBasis(spectrum.real.size, spectrum.pairs.size, seed)
    return random_basis(spectrum, rng)


@stands_for(DrawnBasis)
@dataclass(frozen=True)
class StoredDraw:
    """The sizes and the seed of random eigenvectors.

    ``first`` are the first numbers of their generator: NumPy may come to draw others.
    """

    n_real: int
    pairs: int
    entropy: str
    spawn_key: tuple[int, ...]
    first: tuple[float, ...]

    @classmethod
    def of(cls, basis: DrawnBasis) -> StoredDraw:
        """Return those of a basis."""
        seed = basis.seed
        first = tuple(basis.generator().normal(size=3))
        return cls(basis.n_real, basis.pairs, f"{seed.entropy:x}", seed.spawn_key, first)

    def restored(self) -> DrawnBasis:
        """Return the basis, if this NumPy draws the same numbers."""
        for name, count in (("n_real", self.n_real), ("pairs", self.pairs)):
            check_count(count, name, "a number of eigenvectors")
        seed = np.random.SeedSequence(int(self.entropy, 16), spawn_key=self.spawn_key)
        basis = DrawnBasis(self.n_real, self.pairs, seed)
        drawn = basis.generator().normal(size=3)
        if len(self.first) != 3 or not np.allclose(self.first, drawn, rtol=1e-9, atol=0):
            wanted = "the first numbers that this version of NumPy draws from the seed"
            raise bad_argument("first", self.first, wanted, "Load it with the one that saved it.")
        return basis
