"""Ridge regression with its penalty chosen by exact leave-one-out errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from eigenecho.types import Array

CONSTANT = 1e-7
"""Standard deviation up to which a feature is constant: that of rounding in single precision."""

CHUNK_BYTES = 1 << 25
"""Size of the parts of the features that are converted to double precision at a time."""


class RidgeFit(NamedTuple):
    """Weights (F, K) and intercept (K,) for features as given.

    ``scale`` (F,) are the standard deviations of the features, ``ridge`` is the chosen penalty of
    standardised ones, and ``held_out`` (n, K) are the outputs for each row of a fit without it.
    """

    weights: Array
    intercept: Array
    scale: Array
    ridge: float
    held_out: Array


def fit_ridge(features: Array, targets: Array, ridges: Sequence[float]) -> RidgeFit:
    """Fit standardised features (n, F) to targets (n, K), with an intercept without penalty.

    Without row i, the residual of row i is that of the fit of all rows divided by 1 − h_i, where
    h_i is the leverage of the row, 1/n for the intercept included. With the centred features
    Z = U S Vᵀ, all penalties share one eigendecomposition, of the smaller of two matrices:

        Z Zᵀ = U S² Uᵀ:   residuals U (α / (S² + α)) Uᵀ Y,   1 − h = U² (α / (S² + α)) − 1/n
        Zᵀ Z = V S² Vᵀ:   residuals Y − Z V (VᵀZᵀY / (S² + α)),   h = (Z V)² / (S² + α) + 1/n

    The scales of the features are those of all rows.
    """
    n, F = features.shape
    standard = _standardise(features)
    offset = targets.mean(axis=0)
    Y, alphas = targets - offset, np.asarray(ridges, np.float64)
    weights = np.empty((F, Y.shape[1]))
    if n <= F:
        gram = np.zeros((n, n))
        for _, Z in standard.parts(axis=1):
            gram += Z @ Z.T
        S2, U = _eigen(gram)
        kept, inner = alphas / (S2[:, None] + alphas), U.T @ Y
        errors = _over_ridges(U, kept, inner) / (U**2 @ kept - 1 / n).T[:, :, None]
        best = _best(errors)
        dual = U @ (inner / (S2 + alphas[best])[:, None])
        for columns, Z in standard.parts(axis=1):
            weights[columns] = Z.T @ dual
    else:
        gram, cross = np.zeros((F, F)), np.zeros_like(weights)
        for rows, Z in standard.parts(axis=0):
            gram += Z.T @ Z
            cross += Z.T @ Y[rows]
        S2, V = _eigen(gram)
        inverse, inner = 1 / (S2[:, None] + alphas), V.T @ cross
        errors = np.empty((len(alphas), *Y.shape))
        for rows, Z in standard.parts(axis=0):
            ZV = Z @ V
            residuals = Y[rows] - _over_ridges(ZV, inverse, inner)
            errors[:, rows] = residuals / (1 - 1 / n - ZV**2 @ inverse).T[:, :, None]
        best = _best(errors)
        weights[:] = V @ (inner * inverse[:, best, None])
    weights *= standard.inverse[:, None]
    intercept = offset - standard.mean @ weights
    return RidgeFit(weights, intercept, standard.scale, float(alphas[best]), targets - errors[best])


class _Standardised(NamedTuple):
    """Features (n, F), and their moments (F,); the scale of a constant feature is 0."""

    features: Array
    mean: Array
    scale: Array

    @property
    def inverse(self) -> Array:
        """1 / scale, and 0 for a constant feature."""
        return np.divide(1.0, self.scale, out=np.zeros_like(self.scale), where=self.scale > 0)

    def parts(self, axis: int) -> Iterator[tuple[slice, Array]]:
        """Yield parts of the standardised features in double precision, cut along an axis."""
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


def _eigen(gram: Array) -> tuple[Array, Array]:
    values, vectors = eigh(gram, driver="evd", overwrite_a=True, check_finite=False)
    return np.maximum(values, 0.0), vectors


def _over_ridges(rows: Array, factors: Array, inner: Array) -> Array:
    """Return rows (n, m) @ (factor · inner (m, K)) for each column of factors: (ridges, n, K)."""
    return np.stack([rows @ (factor[:, None] * inner) for factor in factors.T])


def _best(errors: Array) -> int:
    """Return the position of the ridge with the smallest mean squared error."""
    return int(np.argmin(np.mean(errors**2, axis=(1, 2))))
