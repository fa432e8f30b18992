"""Tapped delay lines: states that are earlier inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from eigenecho.checks import check_count
from eigenecho.errors import bad_argument
from eigenecho.kernels import SparseForm
from eigenecho.spectra import Spectrum
from eigenecho.transition.transition import Transition
from eigenecho.types import Array, PositiveInt


@dataclass(frozen=True)
class DelayLine(Transition):
    """Chains of units that delay each input, with taps that the readout uses.

        r_c(t) = [u_c(t), u_c(t−1), …, u_c(t−L+1)],   L = (taps − 1) spacing + 1

    W shifts the units of each chain by one. It is nilpotent, so it has no eigenbasis.

    Parameters
    ----------
    taps : int
        Number of units per chain that the readout uses.
    spacing : int
        Number of steps between taps.
    chains : int
        Number of chains, one for each column that drives the reservoir.

    See Also
    --------
    eigenecho.delay_line : Create a delay line.
    """

    taps: PositiveInt
    spacing: PositiveInt = 1
    chains: PositiveInt = 1

    name = "delay line"
    leaves_zeros_out = True

    def __post_init__(self) -> None:
        for name, what in (("taps", "taps"), ("spacing", "steps"), ("chains", "chains")):
            count = check_count(getattr(self, name), name, f"a number of {what}", 1)
            object.__setattr__(self, name, count)

    @property
    def length(self) -> int:
        """Number of units per chain, L."""
        return (self.taps - 1) * self.spacing + 1

    @property
    def units(self) -> int:
        return self.chains * self.length

    @property
    def seen(self) -> Array:
        """Indices of the units that the readout uses."""
        first = self.length * np.arange(self.chains)
        return (first[:, None] + self.spacing * np.arange(self.taps)).ravel()

    @property
    def weights(self) -> Array:
        """Input weights (chains, N): 1 for the first unit of each chain."""
        return np.kron(np.eye(self.chains), np.eye(1, self.length))

    @property
    def spectrum(self) -> Spectrum:
        return Spectrum(np.zeros(self.units))

    @property
    def matrix(self) -> Any:
        from scipy.sparse import csr_matrix

        form = self.form()
        return csr_matrix(
            (form.data, form.indices, form.indptr), (self.units, self.units)
        ).T.tocsr()

    def form(self, dtype: DTypeLike = np.float64) -> SparseForm:
        passed = np.arange(self.units) % self.length > 0
        counts = np.concatenate([[0], np.cumsum(passed)])
        before = np.flatnonzero(passed) - 1
        data = np.ones(before.size, dtype)
        return SparseForm(counts.astype(np.uint64), before.astype(np.uint32), data)

    def times(self, factor: float) -> DelayLine:
        raise ValueError("A delay line cannot be scaled.")

    def leak(self, lr: float) -> DelayLine:
        if lr != 1:
            raise bad_argument("lr", lr, "1, because a delay line does not support leaking")
        return self

    def padded(self, extra: int) -> DelayLine:
        raise ValueError("A delay line cannot be extended.")


def delay_line(taps: int, spacing: int = 1) -> DelayLine:
    """Return a delay line, to be used as the ``spectrum`` of a network.

    The states are the last inputs: u(t), u(t − spacing), …, u(t − (taps − 1) spacing) for each
    column of the input. ``units``, ``sr`` and the connectivities of the network are ignored.

    Parameters
    ----------
    taps : int
        Number of rows that the readout uses, including the current one.
    spacing : int
        Number of steps between these rows.

    See Also
    --------
    eigenecho.features.cosines : Nonlinear features of the states.

    Examples
    --------
    >>> import eigenecho as ee
    >>> series = ee.tasks.mackey_glass(500)
    >>> line, cosines = ee.delay_line(7, spacing=3), ee.features.cosines(100)
    >>> esn = ee.LinearESN(spectrum=line, features=cosines, warmup=20, seed=0)
    >>> esn.fit(series[:-1], series[1:]).transform(series).shape
    (500, 7)
    """
    return DelayLine(taps, spacing)
