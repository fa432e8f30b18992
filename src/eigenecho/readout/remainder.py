"""What weights leave of the targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class Remainder:
    """EᵀE (D_out, D_out) and XᵀE (N', D_out) of residuals E = Y − X w, and their rows.

    Summed over the residuals themselves: from XᵀX and XᵀY they would be differences of large
    numbers.
    """

    EtE: Array
    XtE: Array
    rows: int

    @classmethod
    def empty(cls, size: int, outputs: int, xp: Any = np) -> Remainder:
        """The sums over no rows: the neutral element of ``merge``."""
        return cls(xp.zeros((outputs, outputs)), xp.zeros((size, outputs)), 0)

    @staticmethod
    def lanes(rows: int, size: int) -> int:
        """Two: NumPy's products let other threads run."""
        return 2

    def absorb(self, X: Array, E: Array) -> Remainder:
        """The sums with rows X (rows, N') and their residuals E (rows, D_out) added."""
        return Remainder(self.EtE + E.T @ E, self.XtE + X.T @ E, self.rows + len(X))

    def merge(self, other: Remainder) -> Remainder:
        """The sums over both sets of rows."""
        return Remainder(self.EtE + other.EtE, self.XtE + other.XtE, self.rows + other.rows)
