"""Normal equations, factorised once for any number of right-hand sides."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from eigenecho.arrays import namespace, to_host
from eigenecho.readout.factorised import EPS
from eigenecho.readout.penalty import Penalty
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """Factorisation XᵀX + ridge M = D L Lᵀ D, where the diagonal of L Lᵀ is 1."""

    factor: Array
    scale: Array
    norm: float
    penalty: Penalty
    ridge: float

    @classmethod
    def of(
        cls, XtX: Array, penalty: Penalty, ridge: float, M: Array | None = None
    ) -> NormalEquations | None:
        """Return the factorisation, or None if the matrix is not numerically positive definite.

        Callers that have computed ``penalty.gram()`` can pass it as ``M``.
        """
        xp = namespace(XtX)
        if ridge and M is None and penalty.basis is not None:
            M = penalty.gram(XtX)
        own = penalty.diagonal(XtX) if M is None else xp.diagonal(M)
        diagonal = xp.diagonal(XtX) + ridge * own
        if xp.is_host:
            if not np.all(diagonal > 0):
                return None
            scale = np.sqrt(diagonal)
            A = (XtX if M is None else XtX + ridge * M) / scale
            A /= scale[:, None]
            np.fill_diagonal(A, diagonal / scale / scale)
            norm = lapack.dlange("1", A.T)
            # The matrix is symmetric, so LAPACK reads its transpose without a copy.
            factor, info = lapack.dpotrf(A.T, lower=1, overwrite_a=True)
            return None if info else cls(factor, scale, norm, penalty, ridge)
        A = xp.array(XtX) if M is None else ridge * M + XtX
        xp.diagonal(A)[...] = diagonal
        pair = factors(A)
        norm = float(xp.linalg.norm(A, axis=1, ord=1).max())
        return None if pair is None else cls(*pair, norm, penalty, ridge)

    @cached_property
    def rcond(self) -> float:
        """Estimate of 1/cond after equilibration, which is small if states are collinear."""
        rcond, info = lapack.dpocon(to_host(self.factor), self.norm, uplo="L")
        return float(rcond) if info == 0 else 0.0

    @property
    def is_regular(self) -> bool:
        """True if solutions are accurate without refinement."""
        # Because of rounding errors in XᵀX, collinear states can seem slightly independent.
        return self.rcond >= EPS * (1 if self.ridge else 10 * len(self.scale))

    def solve(self, rhs: Array) -> Array:
        """Return (XᵀX + ridge M)⁻¹ rhs for rhs (N', D_out)."""
        if not namespace(rhs).is_host:
            return solved(self.factor, self.scale, rhs)
        w, _ = lapack.dpotrs(self.factor, rhs / self.scale[:, None], lower=1)
        return w / self.scale[:, None]

    def pull(self, w: Array) -> Array:
        """Return the gradient ridge M w of the penalty."""
        return self.ridge * self.penalty.apply(w)


def factors(A: Array) -> tuple[Array, Array] | None:
    """Factorise matrices A = D L Lᵀ D on a device; return L and the diagonal of D.

    A is overwritten with D⁻¹ A D⁻¹. The result is None if any matrix of a stack is not numerically
    positive definite.
    """
    xp = namespace(A)
    diagonal = xp.diagonal(A, axis1=-2, axis2=-1)
    if not xp.all(diagonal > 0):
        return None
    scale = xp.sqrt(diagonal)
    A /= scale[..., :, None]
    A /= scale[..., None, :]
    factor, failed = xp.cholesky(A)
    return None if failed else (factor, scale)


def solved(factor: Array, scale: Array, rhs: Array) -> Array:
    """Return A⁻¹ rhs (…, N', D_out), given the factors of A from ``factors``."""
    scale = scale[..., None]
    return namespace(rhs).cholesky_solve(rhs / scale, factor) / scale
