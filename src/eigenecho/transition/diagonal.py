"""Diagonal transitions, which multiply each mode by its eigenvalue."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from eigenecho.kernels import DiagonalForm
from eigenecho.spectra import Spectrum
from eigenecho.transition.transition import Transition
from eigenecho.types import Array


@dataclass(frozen=True)
class Diagonal(Transition):
    """Diagonal form [W]_Q = Λ, with N multiplications per step."""

    modes: Spectrum

    name = "diagonal"
    in_neuron_basis = False

    @property
    def spectrum(self) -> Spectrum:
        return self.modes

    @property
    def units(self) -> int:
        return self.modes.units

    @property
    def matrix(self) -> Array:
        return block_diagonal(self.modes)

    def form(self, dtype: DTypeLike = np.float64) -> DiagonalForm:
        parts = self.modes.real, self.modes.pairs.real, self.modes.pairs.imag
        return DiagonalForm(*(part.astype(dtype) for part in parts))

    def times(self, factor: float) -> Diagonal:
        return Diagonal(self.modes.times(factor))

    def leak(self, lr: float) -> Diagonal:
        return Diagonal(self.modes.leak(lr))

    def padded(self, extra: int) -> Diagonal:
        real = np.concatenate([np.zeros(extra), self.modes.real])
        return Diagonal(Spectrum(real, self.modes.pairs))


def block_diagonal(spectrum: Spectrum) -> Array:
    """Return [W]_Q: real eigenvalues, then a block [[a, b], [−b, a]] for each pair a ± ib."""
    n = spectrum.real.size
    W = np.zeros((spectrum.units, spectrum.units))
    W[np.arange(n), np.arange(n)] = spectrum.real
    i = n + 2 * np.arange(spectrum.pairs.size)
    W[i, i] = W[i + 1, i + 1] = spectrum.pairs.real
    W[i, i + 1] = spectrum.pairs.imag
    W[i + 1, i] = -spectrum.pairs.imag
    return W
