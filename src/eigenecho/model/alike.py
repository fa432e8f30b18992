"""Networks made smaller for every input there may be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from eigenecho.errors import Shown, bad_argument
from eigenecho.model.plant import Plant
from eigenecho.reduction import EPS, Balanced, Smaller, largest_gain
from eigenecho.types import Array

RUN = 16
"""Roundings of a mode's part in an output, over a run."""


@dataclass(frozen=True, eq=False)
class White:
    """All inputs alike: ‖y − ŷ‖₂ ≤ tol ‖G‖∞ ‖u‖₂."""

    plant: Plant
    name = "white"
    remedy = "It is below what rounding leaves of any smaller network."

    @property
    def balanced(self) -> Balanced:
        """By the Hankel singular values."""
        return self.plant.minimal

    @cached_property
    def _response(self) -> tuple[Array, Array]:
        at = self.plant.system.frequencies
        return at, self.plant.system.response(at)

    @cached_property
    def _gain(self) -> float:
        """A lower bound of ‖G‖∞, so that what is measured by it is measured by ‖G‖∞."""
        gain = largest_gain(self._response[1][:, : self.plant.drives])
        if not gain > 0:
            got = Shown("no gain from its inputs")
            raise bad_argument("model", got, "a trained network that answers to its inputs")
        return gain

    @property
    def least(self) -> Array:
        """The bounds."""
        return self.balanced.tails[: self.balanced.order + 1] / self._gain

    @property
    def expected(self) -> Array:
        """The bounds: rounding alone is above them."""
        return self.least

    def error(self, found: Smaller) -> float:
        """The bound, or what rounding has made of it: the largest difference of gains.

        What rounding does to runs of both networks comes on top of it.
        """
        at, whole = self._response
        bound = self.balanced.tails[found.system.units]
        measured = largest_gain(whole - found.system.response(at))
        rounding = RUN * EPS * (self.plant.system.amplitude + found.system.amplitude)
        return (float(max(bound, measured)) + rounding) / self._gain

    def said(self, found: Smaller, error: float) -> dict[str, float | None]:
        """The bound."""
        known = {"promise": None, "rows_error": None, "held_out_error": None}
        return {"bound": error, **known}
