"""Base class for the forms of the matrix W that multiplies the states in each step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

from eigenecho.kernels import Form
from eigenecho.spectra import Spectrum
from eigenecho.types import Array


class Transition(ABC):
    """Base class for forms of W in the working basis. Subclasses are immutable.

    Attributes
    ----------
    name : {"diagonal", "sparse", "dense"}
    in_neuron_basis : bool
        True if W, and thus the states, are in the original basis.
    steps_by_blas : bool
        True if a step is a BLAS product, whose rounding depends on the number of threads.
    leaves_zeros_out : bool
        True if a product skips zeros, so that an Inf may not propagate.
    """

    name: ClassVar[str]
    in_neuron_basis: ClassVar[bool] = True
    steps_by_blas: ClassVar[bool] = False
    leaves_zeros_out: ClassVar[bool] = False

    @property
    @abstractmethod
    def units(self) -> int:
        """Number of units N."""

    @property
    @abstractmethod
    def spectrum(self) -> Spectrum:
        """All N eigenvalues."""

    @property
    @abstractmethod
    def matrix(self) -> Any:
        """Matrix [W]_Q (N, N), scipy sparse if the form is sparse."""

    @property
    def dense(self) -> Array:
        """Matrix [W]_Q (N, N) as an array."""
        matrix = self.matrix
        return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()

    @abstractmethod
    def form(self, dtype: DTypeLike = np.float64) -> Form:
        """Return the arrays that the kernels use."""

    @abstractmethod
    def times(self, factor: float) -> Transition:
        """Return the transition of W multiplied by a factor, in the same basis."""

    @abstractmethod
    def leak(self, lr: float) -> Transition:
        """Return the transition of W' = lr W + (1 − lr) I, in the same basis."""

    @abstractmethod
    def padded(self, extra: int) -> Transition:
        """Return the transition with ``extra`` unconnected units before the modes or at the end."""
