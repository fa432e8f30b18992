"""What counts when a network is made smaller, and what an error is then."""

from __future__ import annotations

from typing import Any, Protocol

from eigenecho.model.plant import Plant
from eigenecho.reduction import Balanced, Smaller
from eigenecho.types import Array


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

    @property
    def least(self) -> Array:
        """Errors of orders 0 … k that are no larger than theirs, or not by much."""

    @property
    def expected(self) -> Array:
        """Errors that fall with the order as theirs are likely to."""

    def error(self, found: Smaller) -> float:
        """What is compared with ``tol``."""

    def said(self, found: Smaller, error: float) -> dict[str, Any]:
        """What the certificate says of it, whose error is known."""
