"""How far trained weights may be off: what the rows and the ridge leave open.

Under the belief that a ridge is (``readout.likelihood``), weights that were trained with noise of
covariance Σ between the outputs are off by a δ with

    cov(x δ, x' δ) = (x A⁻¹ x'ᵀ) Σ,   A = XᵀX + αM = RᵀR

for any two rows x, x' of the readout. Of a small ridge it is what least squares has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from eigenecho.arrays import NUMPY, at, namespace, to_host
from eigenecho.readout import is_regular
from eigenecho.threads import one_blas_thread
from eigenecho.training.evidence import Evidence, GroupEvidence
from eigenecho.types import Array

COLUMNS, PROBES = 96, 8
"""Random columns that are tried first to condense rows, and those that say whether they do."""

PAYS = 5
"""Rows and units, over these columns, from which they cost less than the rows as they are."""

MISSED = 1e-11
"""Share of the squares of all rows that may be missed."""


class Part(NamedTuple):
    """Outputs that were trained on the same rows: their columns (k,), R (N', N') and Σ (k, k)."""

    columns: Array
    root: Array
    noise: Array

    def whitened(self, rows: Array) -> Array:
        """Rows x (T, N') as z = x R⁻¹ (T, N'), so that x A⁻¹ x'ᵀ = z z'ᵀ; where the rows are."""
        root = at(self.root, rows)
        return namespace(rows).solve_triangular(root, rows.T, transposed=True).T

    def condensed(self, rows: Array) -> Array:
        """Z (T, k) with the same z z'ᵀ between all rows, in fewer columns where that is enough.

        Rows along a forecast lie in few directions. With Q an orthonormal basis of what random
        columns Ω show of them, x R⁻¹Ω, and B = Qᵀ x R⁻¹ = L O, these are Q L: R is solved with k
        times, not T times. Other random columns say what Q has missed.
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
    """Of all outputs; those that were missing at different rows are taken to be independent.

    ``free`` are the rows less the degrees of freedom of a fit: those that tell the noise.
    """

    parts: tuple[Part, ...]
    free: float

    @classmethod
    def of(cls, evidence: Evidence) -> Posterior | None:
        """Of a readout that was trained; None where rows and ridge leave weights open."""
        parts = []
        for one, which in zip(evidence.groups, evidence.columns, strict=True):
            root = _root(one)
            if root is None:
                return None
            parts.append(Part(which, root, evidence.noise[np.ix_(which, which)]))
        return cls(tuple(parts), min(one.free_rows for one in evidence.groups))

    @one_blas_thread()
    def variances(self, rows: Array) -> Array:
        """Of the outputs at rows (T, N'), the noise of a step included: Σ_dd (1 + x A⁻¹ xᵀ)."""
        xp = namespace(rows)
        found = xp.empty((len(rows), sum(part.columns.size for part in self.parts)))
        for part in self.parts:
            open_ = (part.whitened(rows) ** 2).sum(axis=1)
            found[:, part.columns] = (1 + open_)[:, None] * xp.asarray(np.diag(part.noise).copy())
        return found


def _root(evidence: GroupEvidence) -> Array | None:
    try:
        R, _ = evidence.triangle
    except ValueError:  # a ridge that normal equations cannot tell from none
        return None
    known = np.all(np.isfinite(evidence.scatter)) and is_regular(R, evidence.ridge)
    return R if known else None
