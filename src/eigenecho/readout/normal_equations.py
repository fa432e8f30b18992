"""The normal equations, factorised once for any number of right-hand sides."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from eigenecho.arrays import namespace
from eigenecho.readout.cholesky import cholesky
from eigenecho.readout.factorised import EPS
from eigenecho.readout.gram import Gram
from eigenecho.readout.penalty import Penalty
from eigenecho.tensors import is_tensor, to_host
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """XᵀX + ridge M = D L Lᵀ D, equilibrated: the diagonal of L Lᵀ is 1."""

    factor: Array
    scale: Array
    norm: float
    penalty: Penalty
    ridge: float

    @classmethod
    def of(
        cls, statistics: Gram, penalty: Penalty, ridge: float, M: Array | None = None
    ) -> NormalEquations | None:
        """The factors, or None where the matrix is not positive definite in floating point.

        ``M`` is ``penalty.gram()``, for who has it already.
        """
        xp = namespace(statistics.XtX)
        if ridge:
            A = ridge * (penalty.gram(statistics.XtX) if M is None else M)
        else:
            A = xp.zeros_like(statistics.XtX)
        A += statistics.XtX
        diagonal = xp.diag(A)
        if not xp.all(diagonal > 0):
            return None
        scale = xp.sqrt(diagonal)
        A /= scale[:, None]
        A /= scale
        if xp is not np:
            factor, failed = xp.cholesky(A)
            norm = 0.0 if ridge else float(xp.abs(A).sum(1).max())
            return None if failed else cls(factor, scale, norm, penalty, ridge)
        # The largest row sum, a few rows at a time: another N'×N' array would cost more than that.
        norm = max(float(np.abs(A[i : i + 64]).sum(axis=1).max()) for i in range(0, len(A), 64))
        # Symmetric, so that its transpose is what LAPACK reads without a copy.
        factor, definite = cholesky(A.T)
        return cls(factor, scale, norm, penalty, ridge) if definite else None

    @cached_property
    def is_regular(self) -> bool:
        """Whether its answers can be taken as they are.

        1/cond speaks of collinear states and not of their units, by the equilibration.
        """
        rcond, info = lapack.dpocon(to_host(self.factor), self.norm, uplo="L")
        # Rounding of XᵀX can make collinear states look a little independent.
        return bool(info == 0 and rcond >= EPS * (1 if self.ridge else 10 * len(self.scale)))

    def solve(self, rhs: Array) -> Array:
        """(XᵀX + ridge M)⁻¹ rhs, for rhs (N', D_out)."""
        if is_tensor(rhs):
            xp = namespace(rhs)
            return xp.cholesky_solve(rhs / self.scale[:, None], self.factor) / self.scale[:, None]
        w, _ = lapack.dpotrs(self.factor, rhs / self.scale[:, None], lower=1)
        return w / self.scale[:, None]

    def pull(self, w: Array) -> Array:
        """Ridge M w: the gradient of the penalty."""
        return self.ridge * self.penalty.apply(w)
