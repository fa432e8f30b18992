"""Normal-equation statistics: cheap, mergeable, half the digits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class Gram:
    """XᵀX (N', N'), XᵀY (N', D_out) and the number of rows they were summed over."""

    XtX: Array
    XtY: Array
    rows: int

    @classmethod
    def empty(cls, size: int, outputs: int) -> Gram:
        """The statistics of no rows: the neutral element of ``merge``."""
        return cls(np.zeros((size, size)), np.zeros((size, outputs)), 0)

    def absorb(self, X: Array, Y: Array) -> Gram:
        """The statistics with rows X (rows, N'), Y (rows, D_out) added."""
        # X is C-contiguous, so Xᵀ is what BLAS calls contiguous: no copy is made.
        lower = blas.dsyrk(1.0, np.asarray(X, np.float64).T, lower=1)
        XtX = np.tril(lower) + np.tril(lower, -1).T
        return Gram(self.XtX + XtX, self.XtY + X.T @ Y, self.rows + len(X))

    def merge(self, other: Gram) -> Gram:
        """The statistics of both sets of rows."""
        return Gram(self.XtX + other.XtX, self.XtY + other.XtY, self.rows + other.rows)
