"""Sums of products of rows: the normal equations, and statistics of residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lapack

from eigenecho.arrays import namespace, to_host
from eigenecho.checks import check_shape
from eigenecho.errors import bad_argument
from eigenecho.readout.factorised import Factorisation, factorise_sums
from eigenecho.readout.likelihood import Likelihood, check_targets
from eigenecho.readout.penalty import Penalty
from eigenecho.readout.statistic import Accumulator, Residuals
from eigenecho.types import Array, Count

LARGEST = 1e300
"""Largest sum of squares; products of larger numbers may overflow."""


@dataclass(frozen=True, eq=False)
class Gram(Accumulator):
    """Sums XᵀX (N', N') and XᵀY (N', D_out) over rows, and the number of rows."""

    XtX: Array
    XtY: Array
    rows: Count

    def check(self) -> None:
        """Raise if the parts, which may come from a file, are inconsistent."""
        check_shape(self.XtX, "XtX", 2 * (len(self.XtX),))
        check_shape(self.XtY, "XtY", (len(self.XtX), self.XtY.shape[-1]))

    @classmethod
    def empty(cls, size: int, outputs: int, xp: Any = np) -> Gram:
        """Return empty statistics, the neutral element of ``merge``."""
        return cls(xp.zeros((size, size)), xp.zeros((size, outputs)), 0)

    def absorb(self, X: Array, Y: Array) -> Gram:
        """Return the statistics with rows X (rows, N'), Y (rows, D_out) added."""
        X, Y = (namespace(rows).asarray(rows, np.float64) for rows in (X, Y))
        # NumPy detects that both factors are one array and computes half of the product. The
        # caller checks the result for overflow.
        with np.errstate(over="ignore", invalid="ignore"):
            return Gram(self.XtX + X.T @ X, self.XtY + X.T @ Y, self.rows + len(X))

    @property
    def size(self) -> int:
        """Number of columns N'."""
        return len(self.XtX)

    @property
    def outputs(self) -> int:
        """Number of targets D_out."""
        return self.XtY.shape[1]

    @property
    def overflows(self) -> bool:
        """True if squares of the rows overflow."""
        return not (self.XtX.max() < LARGEST and self.XtX.min() > -LARGEST)

    def factorise(self, penalty: Penalty, head: int | None = None) -> Factorisation:
        """Factorise once for many ridges, and for many scales of all columns past ``head``.

        By default, the head consists of the unpenalised bias, if there is one.
        """
        return factorise_sums(self.XtX, self.XtY, self.rows, penalty, head)

    def likelihood(self, penalty: Penalty, squares: Array | None) -> Likelihood:
        """Return the log density of Y as a function of the ridge; ``squares`` are ‖y_d‖²."""
        assert squares is not None
        check_targets(squares, self.XtY)
        return Likelihood.of_sums(self.factorise(penalty), self.XtX, self.XtY, self.rows, squares)

    def penalised(self, penalty: Penalty, ridge: float, weights: Array) -> tuple[Array, Array]:
        """Return R and Z with RᵀR = XᵀX + ridge M and R w = Z, for the trained weights w."""
        try:
            A = self.XtX + ridge * penalty.gram(self.XtX)
            R = namespace(A).upper_cholesky(A)
        except (np.linalg.LinAlgError, ValueError):  # indefinite or overflowed
            raise bad_argument(
                "ridge", ridge, "a ridge that makes the normal equations positive definite",
                "Fit with a larger ridge or with solver='qr'.",
            ) from None  # fmt: skip
        return R, R @ namespace(R).asarray(weights)

    def scatter(self, weights: Array, known: Residuals | None = None) -> Array:
        """Return EᵀE (D_out, D_out) for ``weights``, from the ``known`` residuals of other weights.

        A change Δ of the weights changes E to E − X Δ. Without ``known``, EᵀE would be a
        difference of large numbers.
        """
        assert known is not None
        change = weights - known.weights
        cross = change.T @ known.XtE
        moved_by = change.T @ to_host(self.XtX @ namespace(self.XtX).asarray(change))
        return _without_negatives(known.EtE - cross - cross.T + moved_by)

    def root(self) -> Array:
        """Return rows R with RᵀR = XᵀX up to rounding errors, by pivoted factorisation."""
        factor, pivots, rank, _ = lapack.dpstrf(self.XtX, lower=0)
        R = np.triu(factor)[:rank]
        out = np.empty_like(R)
        out[:, pivots - 1] = R
        return out


def _without_negatives(scatter: Array) -> Array:
    """Return EᵀE with negative eigenvalues, which are rounding errors, replaced by zero."""
    values, vectors = np.linalg.eigh((scatter + scatter.T) / 2)
    if values[0] >= 0:
        return scatter
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


@dataclass(frozen=True, eq=False)
class Remainder(Accumulator):
    """Sums EᵀE (D_out, D_out) and XᵀE (N', D_out) over residuals E = Y − X w of rows.

    The sums are computed from the residuals themselves. Computed from XᵀX and XᵀY, they would be
    differences of large numbers.
    """

    EtE: Array
    XtE: Array
    rows: int

    @classmethod
    def empty(cls, size: int, outputs: int, xp: Any = np) -> Remainder:
        """Return empty sums, the neutral element of ``merge``."""
        return cls(xp.zeros((outputs, outputs)), xp.zeros((size, outputs)), 0)

    def absorb(self, X: Array, E: Array) -> Remainder:
        """Return the sums with rows X (rows, N') and their residuals E (rows, D_out) added."""
        return Remainder(self.EtE + E.T @ E, self.XtE + X.T @ E, self.rows + len(X))
