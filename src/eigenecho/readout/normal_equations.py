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
    """XᵀX + ridge M = D L Lᵀ D, equilibrated: the diagonal of L Lᵀ is 1.

    On a device also a stack of them, (…, N', N'), factorised together.
    """

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

        ``M`` is ``penalty.gram()``, for who has it already; or, on a device, a stack of what is
        added to XᵀX, with a ridge of 1.
        """
        xp = namespace(statistics.XtX)
        if ridge:
            A = ridge * (penalty.gram(statistics.XtX) if M is None else M)
        else:
            A = xp.zeros_like(statistics.XtX)
        A += statistics.XtX
        diagonal = xp.diagonal(A, axis1=-2, axis2=-1)
        if not xp.all(diagonal > 0):
            return None
        scale = xp.sqrt(diagonal)
        A /= scale[..., :, None]
        A /= scale[..., None, :]
        if xp is not np:
            norm = 0.0 if A.ndim > 2 else float(xp.linalg.norm(A, axis=1, ord=1).max())
            factor, failed = xp.cholesky(A)
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
        """(XᵀX + ridge M)⁻¹ rhs, for rhs (…, N', D_out)."""
        if is_tensor(rhs):
            xp, scale = namespace(rhs), self.scale[..., None]
            return xp.cholesky_solve(rhs / scale, self.factor) / scale
        w, _ = lapack.dpotrs(self.factor, rhs / self.scale[:, None], lower=1)
        return w / self.scale[:, None]

    def pull(self, w: Array) -> Array:
        """Ridge M w: the gradient of the penalty."""
        return self.ridge * self.penalty.apply(w)
