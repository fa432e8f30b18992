"""What a readout was trained on, kept so that more of it can be added."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from eigenecho.arrays import namespace, solve_triangular, upper
from eigenecho.checks import check_not_negative, check_shape
from eigenecho.errors import Shown, bad_argument
from eigenecho.readout import Gram, Penalty, Triangle, annihilate, factorise, log_density
from eigenecho.tensors import to_host
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array, UnboundedArray


@dataclass(frozen=True, eq=False)
class Evidence:
    """Statistics of all training rows, the ridge and penalty at work, and weights (N', D_out).

    The weights are argmin ‖Y − X w‖² + ridge ‖L w‖² in float64, whatever the model's dtype.
    ``scatter`` (D_out, D_out) is EᵀE of their residuals E. ``XtE`` (N', D_out) is kept where the
    weights fall short of the minimum, as those from plain normal equations do; at the minimum it
    is ridge M w. Statistics may be tensors on a device, where N'² numbers were gathered.
    """

    statistics: Gram | Triangle
    penalty: Penalty
    ridge: float
    weights: Array
    scatter: UnboundedArray
    XtE: Array | None = None

    def check(self) -> None:
        """Whether the parts, which may be anybody's, fit each other."""
        statistics = self.statistics
        size, D = (statistics.Z if isinstance(statistics, Triangle) else statistics.XtY).shape
        check_shape(self.weights, "weights", (size, D), ", as the statistics have")
        check_shape(self.scatter, "scatter", (D, D), ", as the statistics have")
        if self.XtE is not None:
            check_shape(self.XtE, "XtE", (size, D), ", as the statistics have")
        if self.penalty.size != size:
            raise bad_argument("penalty", Shown(f"of {self.penalty.size} rows"), f"{size} rows")
        check_not_negative(self.ridge, "ridge")

    def __getstate__(self) -> dict[str, Any]:
        # Without what was found on the way, which may be on a device.
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @cached_property
    @one_blas_thread()
    def freedom(self) -> float:
        """Degrees of freedom that the fit has taken up, tr(X (XᵀX + αM)⁻¹ Xᵀ).

        N' − α ‖L R⁻¹‖²,   RᵀR = XᵀX + αM
        """
        freedom = float(len(self.weights))
        if self.ridge > 0:
            try:
                R, _ = self.triangle
                share = solve_triangular(R, self.penalty.root(R).T, transposed=True)
            except ValueError:  # a ridge too small to count
                return freedom
            freedom -= self.ridge * float((share**2).sum())
        return max(freedom, 0.0)

    @property
    def noise(self) -> Array:
        """The covariance of single steps, EᵀE / (rows − degrees of freedom)."""
        return self.scatter / max(self.statistics.rows - self.freedom, 1.0)

    @property
    def on_host(self) -> Evidence:
        """The same with statistics in NumPy arrays, wherever they were gathered."""
        return replace(self, statistics=self.statistics.on_host)

    @cached_property
    @one_blas_thread()
    def log_density(self) -> float:
        """Log p(Y) of the training targets under the ridge, as ``readout.likelihood`` has it."""
        if self.ridge == 0:
            raise ValueError("ridge=0 believes nothing: no targets are likely under it.")
        ridge, free = np.array([self.ridge]), self.penalty.free
        size = self.ridge * np.sum(self.penalty.times_root(self.weights) ** 2, axis=0)
        s2 = factorise(self.statistics.on_host, self.penalty).S ** 2
        q = (np.diag(self.scatter) + size)[None]
        return float(log_density(q, s2, ridge, self.statistics.rows - free)[0])

    def scatter_with(self, weights: Array) -> Array:
        """EᵀE of the same rows with other weights.

        With Δ the change of weights, E becomes E − X Δ.
        """
        if isinstance(self.statistics, Triangle):
            here = namespace(self.statistics.R).asarray(weights)
            return to_host(self.statistics.scatter(here))
        change, XtX = weights - self.weights, self.statistics.XtX
        cross = change.T @ self.gradient
        moved = change.T @ to_host(XtX @ namespace(XtX).asarray(change))
        return _without_negatives(self.scatter - cross - cross.T + moved)

    @property
    def gradient(self) -> Array:
        """XᵀE."""
        if self.XtE is not None:
            return self.XtE
        return self.ridge * self.penalty.apply(self.weights)

    @cached_property
    def triangle(self) -> tuple[Array, Array]:
        """R and Z of the penalised rows, where the statistics are: RᵀR = XᵀX + αM and R w = Z."""
        statistics, w = self.statistics, self.weights
        if isinstance(statistics, Triangle):
            R, Z = statistics.R, statistics.Z
            L = np.sqrt(self.ridge) * self.penalty.root(R)
            R, Z, _ = annihilate(R, Z, L, namespace(Z).zeros_like(Z))
            return R, Z
        A = statistics.XtX + self.ridge * self.penalty.gram(statistics.XtX)
        try:
            R = upper(A)
        except (np.linalg.LinAlgError, ValueError):  # indefinite, or beyond the range of numbers
            raise bad_argument(
                "ridge", self.ridge, "a ridge that makes the normal equations definite",
                "Fit with a larger one, or with solver='qr'.",
            ) from None  # fmt: skip
        return R, R @ namespace(R).asarray(w)


def _without_negatives(scatter: Array) -> Array:
    """Negative eigenvalues, which are rounding where residuals are far smaller, made zero."""
    values, vectors = np.linalg.eigh((scatter + scatter.T) / 2)
    if values[0] >= 0:
        return scatter
    return (vectors * np.maximum(values, 0.0)) @ vectors.T
