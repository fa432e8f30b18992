"""What a readout was trained on, kept so that more of it can be added."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from eigenecho.arrays import namespace, to_host
from eigenecho.checks import check_not_negative, check_shape
from eigenecho.errors import Shown, bad_argument
from eigenecho.readout import Gram, Penalty, Residuals, Triangle, log_density
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array, UnboundedArray


@dataclass(frozen=True, eq=False)
class GroupEvidence:
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
        """Raise if the parts, which may come from a file, do not fit each other."""
        statistics = self.statistics
        size, D = statistics.size, statistics.outputs
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
                share = namespace(R).solve_triangular(R, self.penalty.root(R).T, transposed=True)
            except ValueError:  # a ridge too small to count
                return freedom
            freedom -= self.ridge * float((share**2).sum())
        return max(freedom, 0.0)

    @property
    def free_rows(self) -> float:
        """Rows less degrees of freedom, at least 1."""
        return max(self.statistics.rows - self.freedom, 1.0)

    @property
    def on_host(self) -> GroupEvidence:
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
        s2 = self.statistics.on_host.factorise(self.penalty).S ** 2
        q = (np.diag(self.scatter) + size)[None]
        return float(log_density(q, s2, ridge, self.statistics.rows - free)[0])

    def scatter_with(self, weights: Array) -> Array:
        """Return EᵀE of the same rows with other weights."""
        known = Residuals(self.weights, self.scatter, self.gradient)
        return to_host(self.statistics.scatter(weights, known))

    @property
    def gradient(self) -> Array:
        """XᵀE."""
        if self.XtE is not None:
            return self.XtE
        return self.ridge * self.penalty.apply(self.weights)

    @cached_property
    def triangle(self) -> tuple[Array, Array]:
        """R and Z of the penalised rows, where the statistics are: RᵀR = XᵀX + αM and R w = Z."""
        return self.statistics.penalised(self.penalty, self.ridge, self.weights)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a readout was trained on, for each group of outputs with the same missing rows.

    All groups have one ridge. ``columns`` are the outputs of each group, and ``scatter``
    (D_out, D_out) is EᵀE of all residuals E, which are 0 where targets are missing.
    """

    groups: tuple[GroupEvidence, ...]
    columns: tuple[Array, ...]
    scatter: Array

    @classmethod
    def of_one(cls, group: GroupEvidence) -> Evidence:
        """Return the evidence of outputs that are all observed at the same rows."""
        return cls((group,), (np.arange(len(group.scatter)),), group.scatter)

    @property
    def single(self) -> GroupEvidence | None:
        """The only group, or None if outputs are missing at different rows."""
        return self.groups[0] if len(self.groups) == 1 else None

    @property
    def ridge(self) -> float:
        """The ridge in use."""
        return self.groups[0].ridge

    @property
    def weights(self) -> Array:
        """Weights of all outputs, (N', D_out)."""
        if len(self.groups) == 1:
            return self.groups[0].weights
        order = np.argsort(np.concatenate(self.columns))
        return np.concatenate([group.weights for group in self.groups], axis=1)[:, order]

    @property
    def noise(self) -> Array:
        """Covariance of one-step errors: EᵀE / √(f fᵀ), f rows less degrees of freedom (D_out,).

        Two outputs contribute as far as they are observed together, so that it is a covariance
        whatever is missing.
        """
        if len(self.groups) == 1:
            return self.scatter / self.groups[0].free_rows
        free = np.empty(len(self.scatter))
        for columns, group in zip(self.columns, self.groups, strict=True):
            free[columns] = group.free_rows
        return self.scatter / np.sqrt(np.outer(free, free))

    @property
    def log_density(self) -> float:
        """Log p(Y) of all targets under the ridge."""
        return sum(group.log_density for group in self.groups)
