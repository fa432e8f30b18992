"""Tapped delay lines: states that are earlier inputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenecho.checks import check_count
from eigenecho.transition.matrix import Sparse
from eigenecho.types import Array, PositiveInt


@dataclass(frozen=True)
class DelayLine:
    """Chains of units that delay each input, with taps that the readout uses.

        r_c(t) = [u_c(t), u_c(t−1), …, u_c(t−L+1)],   L = (taps − 1) spacing + 1

    Parameters
    ----------
    taps : int
        Number of units per chain that the readout uses.
    spacing : int
        Number of steps between taps.

    See Also
    --------
    eigenecho.delay_line : Create a delay line.
    """

    taps: PositiveInt
    spacing: PositiveInt = 1

    def __post_init__(self) -> None:
        for name, what in (("taps", "taps"), ("spacing", "steps")):
            count = check_count(getattr(self, name), name, f"a number of {what}", 1)
            object.__setattr__(self, name, count)

    @property
    def length(self) -> int:
        """Number of units per chain, L."""
        return (self.taps - 1) * self.spacing + 1

    def shift(self, chains: int) -> Sparse:
        """Return W, which moves the states of each chain on by one unit."""
        from scipy.sparse import csr_matrix, eye, kron

        return Sparse(csr_matrix(kron(eye(chains), eye(self.length, k=1))))

    def weights(self, chains: int) -> Array:
        """Return the input weights (chains, N): 1 for the first unit of each chain."""
        return np.kron(np.eye(chains), np.eye(1, self.length))

    def seen(self, chains: int) -> Array:
        """Return the indices of the units that the readout uses."""
        first = self.length * np.arange(chains)
        return (first[:, None] + self.spacing * np.arange(self.taps)).ravel()


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
