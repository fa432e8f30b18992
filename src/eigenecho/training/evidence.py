"""Evidence: the statistics of the training rows, with which training can be continued."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from eigenecho.arrays import namespace, to_host
from eigenecho.checks import check_shape
from eigenecho.errors import Words, bad_argument
from eigenecho.readout import Penalty, Residuals, Statistic, log_density
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array, NonNegative, UnboundedArray


@dataclass(frozen=True, eq=False)
class Evidence:
    """Statistics of all training rows, with the penalty, the ridge and the weights (N', D_out).

    The weights are argmin ‖Y − X w‖² + ridge ‖L w‖² in float64, for any dtype of the model.
    ``scatter`` (D_out, D_out) is EᵀE of their residuals E, and ``count`` is the number of rows, or
    the sum of their weights. ``XtE`` (N', D_out) is stored if the
    weights are not exactly the minimum, as after an update; at the minimum it equals ridge M w.
    Statistics may be tensors on the device on which they were gathered.
    """

    statistics: Statistic
    penalty: Penalty
    ridge: NonNegative
    weights: Array
    scatter: UnboundedArray
    count: NonNegative
    XtE: Array | None = None

    def check(self) -> None:
        """Raise if the parts, which may come from a file, are inconsistent."""
        statistics = self.statistics
        size, D = statistics.size, statistics.outputs
        check_shape(self.weights, "weights", (size, D), ", like the statistics")
        check_shape(self.scatter, "scatter", (D, D), ", like the statistics")
        if self.XtE is not None:
            check_shape(self.XtE, "XtE", (size, D), ", like the statistics")
        if self.penalty.size != size:
            raise bad_argument("penalty", Words(f"{self.penalty.size} rows"), f"{size} rows")

    def __getstate__(self) -> dict[str, Any]:
        # Cached properties are not stored, because they may be on a device.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    @one_blas_thread()
    def freedom(self) -> float:
        """Degrees of freedom of the fit, tr(X (XᵀX + αM)⁻¹ Xᵀ).

        N' − α ‖L R⁻¹‖²,   RᵀR = XᵀX + αM
        """
        freedom = float(len(self.weights))
        if self.ridge > 0:
            try:
                R, _ = self.triangle
                share = namespace(R).solve_triangular(R, self.penalty.root(R).T, transposed=True)
            except ValueError:  # the ridge is too small to have an effect
                return freedom
            freedom -= self.ridge * float((share**2).sum())
        return max(freedom, 0.0)

    @property
    def free_rows(self) -> float:
        """Number of rows, or sum of their weights, minus degrees of freedom; at least 1."""
        return max(self.count - self.freedom, 1.0)

    @property
    def noise(self) -> Array:
        """Covariance of one-step errors, EᵀE / ``free_rows``."""
        return self.scatter / self.free_rows

    @property
    def on_host(self) -> Evidence:
        """Copy of the evidence with statistics in NumPy arrays."""
        return replace(self, statistics=self.statistics.on_host)

    @cached_property
    @one_blas_thread()
    def log_density(self) -> float:
        """Logarithm of the density p(Y) of the training targets, as in ``readout.likelihood``."""
        if self.ridge == 0:
            raise ValueError("log_density is undefined for ridge=0. Use a ridge > 0.")
        ridge, free = np.array([self.ridge]), self.penalty.free
        size = self.ridge * np.sum(self.penalty.times_root(self.weights) ** 2, axis=0)
        s2 = self.statistics.on_host.factorise(self.penalty).S ** 2
        q = (np.diag(self.scatter) + size)[None]
        return float(log_density(q, s2, ridge, self.count - free)[0])

    def scatter_with(self, weights: Array) -> Array:
        """Return EᵀE of the residuals of other weights on these rows."""
        residuals = Residuals(self.weights, self.scatter, self.gradient)
        return to_host(self.statistics.scatter(weights, residuals))

    @property
    def gradient(self) -> Array:
        """Products XᵀE of rows and residuals, (N', D_out)."""
        if self.XtE is not None:
            return self.XtE
        return self.ridge * self.penalty.apply(self.weights)

    @cached_property
    def triangle(self) -> tuple[Array, Array]:
        """Triangle R and targets Z of the penalised rows: RᵀR = XᵀX + αM and R w = Z."""
        return self.statistics.penalised(self.penalty, self.ridge, self.weights)
