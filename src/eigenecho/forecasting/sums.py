"""What rows of a series add up to, for readouts of all steps ahead and of the next one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenecho.readout import Gram
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class Sums:
    """A statistic of rows x(t) and the values that follow them; it merges.

    Attributes
    ----------
    ahead : Gram
        Of rows with H rows after them, and targets y(t+h) − base(t, h): (N', B·H) for B bases.
    seen : array (B·H,)
        How many of each target were observed. What was not counts for nothing in ``ahead.XtY``.
    following : Gram
        Of rows with an observed one after them, and targets y(t+1) − ℓ(t): (N', 1).
    squares : float
        Of the latter's targets.
    """

    ahead: Gram
    seen: Array
    following: Gram
    squares: float

    @classmethod
    def empty(cls, size: int, targets: int, own: int | None = None) -> Sums:
        """Of no rows; ``own`` are the columns of the series itself."""
        following = Gram.empty(size if own is None else own, 1)
        return cls(Gram.empty(size, targets), np.zeros(targets), following, 0.0)

    def merge(self, other: Sums) -> Sums:
        """Of both sets of rows."""
        return Sums(
            self.ahead.merge(other.ahead),
            self.seen + other.seen,
            self.following.merge(other.following),
            self.squares + other.squares,
        )

    @property
    def expected(self) -> Gram:
        """Sums over all rows, as those of observed targets let expect: XᵀY · rows / seen."""
        share = self.ahead.rows / np.maximum(self.seen, 1)
        return Gram(self.ahead.XtX, self.ahead.XtY * share, self.ahead.rows)
