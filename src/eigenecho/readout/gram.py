"""Normal-equation statistics: cheap, mergeable, half the digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.arrays import moved, namespace
from eigenecho.checks import check_count, check_shape
from eigenecho.tensors import to_host
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class Gram:
    """XᵀX (N', N'), XᵀY (N', D_out) and the number of rows they were summed over."""

    XtX: Array
    XtY: Array
    rows: int

    def check(self) -> None:
        """Whether the parts, which may be anybody's, fit each other."""
        check_shape(self.XtX, "XtX", 2 * (len(self.XtX),))
        check_shape(self.XtY, "XtY", (len(self.XtX), self.XtY.shape[-1]))
        check_count(self.rows, "rows")

    @classmethod
    def empty(cls, size: int, outputs: int, xp: Any = np) -> Gram:
        """The statistics of no rows: the neutral element of ``merge``."""
        return cls(xp.zeros((size, size)), xp.zeros((size, outputs)), 0)

    @staticmethod
    def lanes(rows: int, size: int) -> int:
        """Two: NumPy's products let other threads run."""
        return 2

    def absorb(self, X: Array, Y: Array) -> Gram:
        """The statistics with rows X (rows, N'), Y (rows, D_out) added."""
        X, Y = (namespace(rows).asarray(rows, np.float64) for rows in (X, Y))
        # NumPy sees that both factors are one array and computes half of the product. Squares
        # that overflow show in the result, which the caller checks.
        with np.errstate(over="ignore", invalid="ignore"):
            return Gram(self.XtX + X.T @ X, self.XtY + X.T @ Y, self.rows + len(X))

    @property
    def on_host(self) -> Gram:
        """The same in NumPy arrays."""
        return Gram(to_host(self.XtX), to_host(self.XtY), self.rows)

    def __reduce__(self) -> Any:
        # A pickle is read on machines without the device.
        return Gram, (to_host(self.XtX), to_host(self.XtY), self.rows)

    def where(self, like: Array) -> Gram:
        """The same where an array or tensor is."""
        XtX, XtY = moved((self.XtX, self.XtY), like)
        return Gram(XtX, XtY, self.rows)

    def merge(self, other: Gram) -> Gram:
        """The statistics of both sets of rows."""
        return Gram(self.XtX + other.XtX, self.XtY + other.XtY, self.rows + other.rows)
