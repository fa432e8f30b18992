"""The eigenbasis of a given matrix."""

from __future__ import annotations

import numpy as np

from eigenecho.basis.basis import Basis, interleave
from eigenecho.spectra import Spectrum
from eigenecho.types import Array


def eigendecomposition(W: Array) -> tuple[Spectrum, Basis]:
    """Eigenvalues and real eigenbasis of a real square matrix.

    W Q = Q [W]_Q
    """
    values, vectors = np.linalg.eig(W)
    real = values.imag == 0
    upper = values.imag > 0
    spectrum = Spectrum(values[real].real, values[upper])
    Q = interleave(vectors[:, real].real, vectors[:, upper].astype(np.complex128))
    return spectrum, Basis(Q, int(real.sum()))
