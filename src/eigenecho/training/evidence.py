"""What a readout was trained on, kept so that training can continue, and the error of its weights.

With a ridge as a prior (``readout.likelihood``), weights trained with noise of covariance Σ between
the outputs have an error δ with

    cov(x δ, x' δ) = (x A⁻¹ x'ᵀ) Σ,   A = XᵀX + αM = RᵀR

for any two rows x, x' of the readout. For a small ridge that is the covariance of least squares.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from eigenecho.arrays import NUMPY, at, namespace, to_host
from eigenecho.checks import check_not_negative, check_shape
from eigenecho.errors import Shown, bad_argument
from eigenecho.readout import Gram, Penalty, Residuals, Triangle, is_regular, log_density
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array, UnboundedArray

COLUMNS, PROBES = 96, 8
"""Random columns tried first to condense rows, and further ones that test whether they suffice."""

PAYS = 5
"""Condensing pays if there are at least this many times more rows and units than columns."""

MISSED = 1e-11
"""Share of the squares of all rows that condensing may miss."""


@dataclass(frozen=True, eq=False)
class GroupEvidence:
    """Statistics of all training rows, with the penalty, the ridge and the weights (N', D_out).

    The weights are argmin ‖Y − X w‖² + ridge ‖L w‖² in float64, whatever the model's dtype.
    ``scatter`` (D_out, D_out) is EᵀE of their residuals E. ``XtE`` (N', D_out) is stored if the
    weights are not quite the minimum, as for plain normal equations; at the minimum it is
    ridge M w. Statistics may be tensors on the device where they were gathered.
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
        # Without cached properties, which may be on a device.
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
        """The evidence with statistics in NumPy arrays."""
        return replace(self, statistics=self.statistics.on_host)

    @cached_property
    @one_blas_thread()
    def log_density(self) -> float:
        """Log p(Y) of the training targets under the ridge, as ``readout.likelihood`` has it."""
        if self.ridge == 0:
            raise ValueError("log_density is undefined for ridge=0.")
        ridge, free = np.array([self.ridge]), self.penalty.free
        size = self.ridge * np.sum(self.penalty.times_root(self.weights) ** 2, axis=0)
        s2 = self.statistics.on_host.factorise(self.penalty).S ** 2
        q = (np.diag(self.scatter) + size)[None]
        return float(log_density(q, s2, ridge, self.statistics.rows - free)[0])

    def scatter_with(self, weights: Array) -> Array:
        """Return EᵀE of the same rows with other weights."""
        residuals = Residuals(self.weights, self.scatter, self.gradient)
        return to_host(self.statistics.scatter(weights, residuals))

    @property
    def gradient(self) -> Array:
        """XᵀE."""
        if self.XtE is not None:
            return self.XtE
        return self.ridge * self.penalty.apply(self.weights)

    @cached_property
    def triangle(self) -> tuple[Array, Array]:
        """R and Z of the penalised rows: RᵀR = XᵀX + αM and R w = Z."""
        return self.statistics.penalised(self.penalty, self.ridge, self.weights)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Training statistics for each group of outputs with the same missing rows.

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


class Part(NamedTuple):
    """A group of outputs trained on the same rows: columns (k,), R (N', N') and Σ (k, k)."""

    columns: Array
    root: Array
    noise: Array

    def whitened(self, rows: Array) -> Array:
        """Return rows x (T, N') as z = x R⁻¹ (T, N'), so that x A⁻¹ x'ᵀ = z z'ᵀ."""
        root = at(self.root, rows)
        return namespace(rows).solve_triangular(root, rows.T, transposed=True).T

    def condensed(self, rows: Array) -> Array:
        """Return Z (T, k) with Z Zᵀ = z zᵀ for the whitened rows z, in few columns if possible.

        Rows along a forecast span few directions. Let Q be an orthonormal basis of x R⁻¹Ω for
        random columns Ω, and B = Qᵀ x R⁻¹ = L O. Then Z = Q L needs k solutions with R instead of
        T. Further random columns estimate what Q misses.
        """
        rng, (T, N), size = np.random.default_rng(0), rows.shape, COLUMNS
        root = to_host(self.root)
        while PAYS * size < min(T, N):
            shown = rows @ NUMPY.solve_triangular(root, rng.normal(size=(N, size + PROBES)))
            Q, others = np.linalg.qr(shown[:, :size])[0], shown[:, size:]
            if np.sum((others - Q @ (Q.T @ others)) ** 2) <= MISSED * np.sum(others**2):
                B = NUMPY.solve_triangular(root, rows.T @ Q, transposed=True)
                return np.asarray(Q @ np.asarray(np.linalg.qr(B, mode="r")).T)
            size *= 2
        return self.whitened(rows)


@dataclass(frozen=True, eq=False)
class Posterior:
    """Distribution of the weights of all outputs; groups of outputs count as independent.

    ``free`` is the number of rows less the degrees of freedom of the fit.
    """

    parts: tuple[Part, ...]
    free: float

    @classmethod
    def of(cls, evidence: Evidence) -> Posterior | None:
        """Return the posterior of a trained readout; None if its weights are not determined."""
        parts = []
        for group, columns in zip(evidence.groups, evidence.columns, strict=True):
            try:
                R, _ = group.triangle
            except ValueError:  # normal equations cannot resolve so small a ridge
                return None
            if not np.all(np.isfinite(group.scatter)) or not is_regular(R, group.ridge):
                return None
            parts.append(Part(columns, R, evidence.noise[np.ix_(columns, columns)]))
        return cls(tuple(parts), min(group.free_rows for group in evidence.groups))

    @one_blas_thread()
    def variances(self, rows: Array) -> Array:
        """Return variances of outputs at rows (T, N'), with noise: Σ_dd (1 + x A⁻¹ xᵀ)."""
        xp = namespace(rows)
        variances = xp.empty((len(rows), sum(part.columns.size for part in self.parts)))
        for part in self.parts:
            share = (part.whitened(rows) ** 2).sum(axis=1)
            noise = xp.asarray(np.diag(part.noise).copy())
            variances[:, part.columns] = (1 + share)[:, None] * noise
        return variances
