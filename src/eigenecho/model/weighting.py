"""What counts when a network is made smaller, and what an error is then."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from eigenecho.model.plant import Plant
from eigenecho.reduction import Balanced, Smaller


class Weighting(Protocol):
    """Balanced states, and the error of a smaller system in the units of ``tol``."""

    @property
    def name(self) -> str:
        """As a certificate has it."""

    @property
    def remedy(self) -> str:
        """What to do about a ``tol`` that is out of reach."""

    @property
    def plant(self) -> Plant:
        """What is made smaller."""

    @property
    def balanced(self) -> Balanced:
        """The states in the order in which they count."""

    def first(self, tol: float) -> int:
        """The order from which on the smallest is looked for."""

    def error(self, found: Smaller) -> float:
        """What is compared with ``tol``."""

    def said(self, found: Smaller) -> dict[str, float | None]:
        """What the certificate says of it."""


def passed(balanced: Balanced, tol: float) -> int:
    """How many singular values are above ``tol`` of the largest."""
    return int(np.count_nonzero(balanced.values > tol * balanced.values[0]))
