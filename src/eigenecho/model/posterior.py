"""Uncertainty of trained weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.arrays import NUMPY, namespace, to_host, to_like
from eigenecho.errors import bad_argument
from eigenecho.readout import is_regular
from eigenecho.threads import one_blas_thread
from eigenecho.training import Evidence
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class Posterior:
    """Distribution of the weights, with a ridge as a prior (``readout.likelihood``).

    Weights trained with noise of covariance Σ between the outputs have an error δ with

        cov(x δ, x' δ) = (x A⁻¹ x'ᵀ) Σ,   A = XᵀX + αM = RᵀR

    for any two rows x, x' of the readout. For a small ridge, this is the covariance of the
    least-squares weights. ``root`` is R (N', N'), ``noise`` is Σ (D_out, D_out), and ``free`` is
    ``Evidence.free_rows``.
    """

    root: Array
    noise: Array
    free: float

    @classmethod
    @one_blas_thread()
    def of(cls, evidence: Evidence) -> Posterior | None:
        """Return the posterior of a trained readout; None if its weights are not unique."""
        try:
            R, _ = evidence.triangle
        except ValueError:  # the ridge is too small for normal equations
            return None
        if not np.all(np.isfinite(evidence.scatter)) or not is_regular(R, evidence.ridge):
            return None
        return cls(R, evidence.noise, evidence.free_rows)

    @one_blas_thread()
    def variances(self, rows: Array) -> Array:
        """Return the variances of outputs at rows x (T, N'), with noise: Σ_dd (1 + x A⁻¹ xᵀ)."""
        xp, root = namespace(rows), to_like(self.root, rows)
        share = (xp.solve_triangular(root, rows.T, transposed=True) ** 2).sum(axis=0)
        return (1 + share)[:, None] * xp.asarray(np.diag(self.noise).copy())

    def draw(self, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return draws of s (count,), and of δ / s (count, N', D_out) for Σ = I."""
        size = len(self.root)
        spread = np.sqrt(self.free / rng.chisquare(self.free, count))
        normal = rng.normal(size=(size, count * len(self.noise)))
        errors = NUMPY.solve_triangular(to_host(self.root), normal)
        return spread, np.moveaxis(errors.reshape(size, count, -1), 0, 1)


def check_noise(noise: Any, D: int) -> Array:
    """Validate a covariance and return it as an array (D, D); a number is accepted if D is 1."""
    expected = f"a finite, symmetric covariance of one-step errors with shape ({D}, {D})"
    try:
        covariance = np.atleast_2d(np.asarray(to_host(noise), np.float64))
    except (TypeError, ValueError):
        raise bad_argument("noise", noise, expected) from None
    valid = covariance.shape == (D, D) and np.all(np.isfinite(covariance))
    if not valid or not np.allclose(covariance, covariance.T) or np.any(np.diag(covariance) < 0):
        raise bad_argument("noise", noise, expected)
    return covariance
