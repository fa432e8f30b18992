"""What rows of a series add up to, for readouts of all steps ahead and of the next one."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    ahead_seen : array (B·H,)
        How many of each target were observed. What was not counts for nothing in ``ahead.XtY``.
    following : Gram
        Of rows with one after them, and targets y(t+1) − ℓ(t): (N', 1).
    following_seen : array (1,)
    squares : float
        Of the latter's targets.
    """

    ahead: Gram
    ahead_seen: Array
    following: Gram
    following_seen: Array
    squares: float

    def merge(self, other: Sums) -> Sums:
        """Of both sets of rows."""
        return Sums(
            self.ahead.merge(other.ahead),
            self.ahead_seen + other.ahead_seen,
            self.following.merge(other.following),
            self.following_seen + other.following_seen,
            self.squares + other.squares,
        )

    def of_base(self, number: int, horizon: int) -> Sums:
        """Those of one base alone."""
        columns = slice(number * horizon, (number + 1) * horizon)
        ahead = Gram(self.ahead.XtX, self.ahead.XtY[:, columns], self.ahead.rows)
        return replace(self, ahead=ahead, ahead_seen=self.ahead_seen[columns])


def expected(gram: Gram, seen: Array) -> Gram:
    """Sums over all rows, as those of observed targets let expect: XᵀY · rows / seen."""
    return Gram(gram.XtX, gram.XtY * (gram.rows / np.maximum(seen, 1)), gram.rows)
