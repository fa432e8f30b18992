"""Ridge regression with a penalty that is selected by exact leave-one-out errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from eigenecho.types import Array

CONSTANT = 1e-7
"""Largest standard deviation of a constant feature, from rounding in single precision."""

CHUNK_BYTES = 1 << 25
"""Size in bytes of the chunks of features that are converted to double precision."""


class RidgeFit(NamedTuple):
    """Ridge solution: weights (F, K) and intercept (K,) for the original features.

    ``scale`` (F,) contains the standard deviations of the features, ``ridge`` is the selected
    penalty for standardised features, and ``held_out`` (n, K) contains the leave-one-out outputs of
    each row.
    """

    weights: Array
    intercept: Array
    scale: Array
    ridge: float
    held_out: Array


def fit_ridge(features: Array, targets: Array, ridges: Sequence[float]) -> RidgeFit:
    """Regress targets (n, K) on standardised features (n, F), with an unpenalised intercept.

    The leave-one-out residual of row i is its residual in the full fit divided by 1 − h_i, where
    h_i is the leverage of the row, including 1/n for the intercept. All penalties share one
    eigendecomposition, of Z Zᵀ or Zᵀ Z, whichever is smaller. The scales of the features are
    computed once, from all rows.
    """
    n, F = features.shape
    standard = _standardise(features)
    offset = targets.mean(axis=0)
    alphas = np.asarray(ridges, np.float64)
    solve = _solve_dual if n <= F else _solve_primal
    weights, errors, best = solve(standard, targets - offset, alphas)
    weights *= standard.inverse[:, None]
    intercept = offset - standard.mean @ weights
    return RidgeFit(weights, intercept, standard.scale, float(alphas[best]), targets - errors)


class _Standardised(NamedTuple):
    """Features (n, F) with their means and scales (F,). The scale of a constant feature is 0."""

    features: Array
    mean: Array
    scale: Array

    @property
    def inverse(self) -> Array:
        """Inverse scales, with 0 for constant features."""
        return np.divide(1.0, self.scale, out=np.zeros_like(self.scale), where=self.scale > 0)

    def parts(self, axis: int) -> Iterator[tuple[slice, Array]]:
        """Yield chunks of the standardised features along an axis, in double precision."""
        inverse = self.inverse
        for part in _cuts(self.features, axis):
            if axis == 0:
                yield part, (self.features[part] - self.mean) * inverse
            else:
                yield part, (self.features[:, part] - self.mean[part]) * inverse[part]


def _standardise(features: Array) -> _Standardised:
    mean, scale = np.empty(features.shape[1]), np.empty(features.shape[1])
    for part in _cuts(features, 1):
        columns = features[:, part].astype(np.float64)
        mean[part], scale[part] = columns.mean(axis=0), columns.std(axis=0)
    return _Standardised(features, mean, np.where(scale > CONSTANT, scale, 0.0))


def _cuts(features: Array, axis: int) -> list[slice]:
    size = max(1, CHUNK_BYTES // (8 * features.shape[1 - axis]))
    return [slice(start, start + size) for start in range(0, features.shape[axis], size)]


def _solve_dual(standard: _Standardised, Y: Array, alphas: Array) -> tuple[Array, Array, int]:
    """Return the weights and leave-one-out errors of the best penalty, and its index.

    With Z Zᵀ = U S² Uᵀ,   residuals / α = U (UᵀY / (S² + α)) = dual weights,
                           (1 − h) / α = U² / (S² + α), without the constant vector in U.

    The constant vector has the eigenvalue 0 and belongs to the intercept. This eigenvalue is
    replaced by the mean of all eigenvalues, because its rounding error could be comparable to a
    small α.
    """
    n = len(Y)
    gram = np.zeros((n, n))
    for _, Z in standard.parts(axis=1):
        gram += Z @ Z.T
    mean = np.trace(gram) / n
    gram += mean / n
    S2, U = _eigen(gram)
    inverse, inner = 1 / (S2[:, None] + alphas), U.T @ Y
    remaining = U**2 @ inverse - 1 / (mean + alphas) / n

    def solve(i: int) -> tuple[Array, Array]:
        dual = U @ (inner * inverse[:, i, None])
        return dual, dual / remaining[:, i, None]

    best = int(np.argmin([np.sum(solve(i)[1] ** 2) for i in range(len(alphas))]))
    dual, errors = solve(best)
    return np.concatenate([Z.T @ dual for _, Z in standard.parts(axis=1)]), errors, best


def _solve_primal(standard: _Standardised, Y: Array, alphas: Array) -> tuple[Array, Array, int]:
    """Return the weights and leave-one-out errors of the best penalty, and its index.

    With Zᵀ Z = V S² Vᵀ,   residuals = Y − Z V (VᵀZᵀY / (S² + α)),   h = (Z V)² / (S² + α) + 1/n.
    """
    n, F = standard.features.shape
    gram, cross = np.zeros((F, F)), np.zeros((F, Y.shape[1]))
    for rows, Z in standard.parts(axis=0):
        gram += Z.T @ Z
        cross += Z.T @ Y[rows]
    S2, V = _eigen(gram)
    inverse, inner = 1 / (S2[:, None] + alphas), V.T @ cross
    remaining, losses = np.empty((n, len(alphas))), np.zeros(len(alphas))
    for rows, Z in standard.parts(axis=0):
        ZV = Z @ V
        remaining[rows] = 1 - 1 / n - ZV**2 @ inverse
        for i in range(len(alphas)):
            residuals = Y[rows] - ZV @ (inner * inverse[:, i, None])
            losses[i] += np.sum((residuals / remaining[rows, i, None]) ** 2)
    best = int(np.argmin(losses))
    weights = V @ (inner * inverse[:, best, None])
    residuals = Y - np.concatenate([Z @ weights for _, Z in standard.parts(axis=0)])
    return weights, residuals / remaining[:, best, None], best


def _eigen(gram: Array) -> tuple[Array, Array]:
    # The transpose has LAPACK's memory order, so that the eigenvectors can overwrite it.
    values, vectors = eigh(gram.T, driver="evd", overwrite_a=True, check_finite=False)
    return np.maximum(values, 0.0), vectors
