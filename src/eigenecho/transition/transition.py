"""What a step multiplies the states by, in whatever form is cheapest."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

from eigenecho.kernels import Form
from eigenecho.spectra import Spectrum
from eigenecho.types import Array


class Transition(ABC):
    """W in the basis at work. Each form of W is a subclass, an immutable value.

    Attributes
    ----------
    name : {"diagonal", "cascade", "sparse", "dense"}
    steps_by_blas : bool
        Whether a step is a product by BLAS, whose rounding depends on its threads.
    leaves_zeros_out : bool
        Whether a product skips zeros, so that an Inf may pass and leave no trace.
    """

    name: ClassVar[str]
    steps_by_blas: ClassVar[bool] = False
    leaves_zeros_out: ClassVar[bool] = False

    @property
    @abstractmethod
    def units(self) -> int:
        """N."""

    @property
    @abstractmethod
    def spectrum(self) -> Spectrum:
        """All N eigenvalues."""

    @property
    @abstractmethod
    def matrix(self) -> Any:
        """[W]_Q (N, N), scipy sparse where it is kept so."""

    @property
    @abstractmethod
    def layout(self) -> tuple[int, int] | None:
        """Columns of a block and of real modes in Q, before the pairs; None in W's own basis."""

    @property
    def in_neuron_basis(self) -> bool:
        """Whether the states are those of W's own units."""
        return self.layout is None

    @property
    @abstractmethod
    def cost(self) -> float:
        """Nanoseconds a step, by counting operations."""

    @property
    def dense(self) -> Array:
        """[W]_Q (N, N) as an array."""
        return np.asarray(self.matrix)

    @abstractmethod
    def form(self, dtype: DTypeLike = np.float64) -> Form:
        """What the kernels take."""

    @abstractmethod
    def times(self, factor: float) -> Transition:
        """The transition of factor · W, in the same basis."""

    @abstractmethod
    def leak(self, lr: float) -> Transition:
        """W' = lr W + (1 − lr) I, in the same basis."""

    @abstractmethod
    def padded(self, extra: int) -> Transition:
        """``extra`` more units that forget at once: after all others, or, as modes, before them."""
