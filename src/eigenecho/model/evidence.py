"""What a readout was trained on, kept so that more of it can be added."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from eigenecho.errors import bad_argument
from eigenecho.readout import Gram, Penalty, Triangle
from eigenecho.readout.triangle import annihilate
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class Evidence:
    """Statistics of all training rows, the ridge and penalty at work, and weights (N', D_out).

    The weights are argmin ‖Y − X w‖² + ridge ‖L w‖² in float64, whatever the model's dtype.
    ``scatter`` (D_out, D_out) is EᵀE of their residuals E.
    """

    statistics: Gram | Triangle
    penalty: Penalty
    ridge: float
    weights: Array
    scatter: Array

    @cached_property
    def noise(self) -> Array:
        """The covariance of single steps, EᵀE / (rows − degrees of freedom).

        A ridge fit has tr(X (XᵀX + αM)⁻¹ Xᵀ) = N' − α ‖L R⁻¹‖² of them, RᵀR = XᵀX + αM.
        """
        freedom = float(len(self.weights))
        if self.ridge > 0:
            try:
                R, _ = self.triangle()
            except ValueError:  # a ridge too small to count
                pass
            else:
                share = solve_triangular(R, self.penalty.root.T, trans="T", check_finite=False)
                freedom -= self.ridge * float(np.sum(share**2))
        return self.scatter / max(self.statistics.rows - max(freedom, 0.0), 1.0)

    def triangle(self) -> tuple[Array, Array]:
        """R and Z of the penalised rows: RᵀR = XᵀX + ridge M and R w = Z."""
        statistics, w = self.statistics, self.weights
        if isinstance(statistics, Triangle):
            L = np.sqrt(self.ridge) * self.penalty.root
            R, Z, _ = annihilate(statistics.R, statistics.Z, L, np.zeros_like(w))
            return R, Z
        try:
            R = cholesky(statistics.XtX + self.ridge * self.penalty.gram)
        except np.linalg.LinAlgError:
            raise bad_argument(
                "ridge", self.ridge, "a ridge that makes the normal equations definite",
                "Fit with a larger one, or with solver='qr'.",
            ) from None  # fmt: skip
        return R, R @ w
