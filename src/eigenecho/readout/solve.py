"""Ridge solutions from either kind of statistics."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, lapack, solve_triangular, svd

from eigenecho.errors import IllConditionedWarning
from eigenecho.readout.gram import Gram
from eigenecho.readout.penalty import Penalty
from eigenecho.readout.triangle import Triangle, annihilate
from eigenecho.types import Array

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Solution:
    """Readout weights (N', D_out), and 1/cond of the system they solve."""

    weights: Array
    rcond: float


def solve(statistics: Gram | Triangle, penalty: Penalty, ridge: float) -> Solution:
    """Argmin ‖Y − X w‖² + ridge ‖L w‖².

    A system that is singular in floating point gets its minimum-norm answer and a warning.
    """
    if isinstance(statistics, Gram):
        solution = _cholesky(statistics, penalty, ridge)
    else:
        solution = _orthogonal(statistics, penalty, ridge)
    if solution is not None:
        return solution
    warnings.warn(
        f"the readout system is singular at ridge={ridge:g} (collinear states, or fewer training "
        "rows than weights): the minimum-norm readout was taken. A larger ridge makes the answer "
        + ("unique." if isinstance(statistics, Triangle) else "unique; solver='qr' resolves more."),
        IllConditionedWarning,
        stacklevel=3,
    )
    return Solution(factorise(statistics, penalty).weights(ridge), 0.0)


def _cholesky(statistics: Gram, penalty: Penalty, ridge: float) -> Solution | None:
    A = statistics.XtX + ridge * penalty.gram
    scale = np.sqrt(np.diag(A))
    if not np.all(scale > 0):
        return None
    # Equilibrated, so that rcond speaks of collinear states and not of their units.
    A = A / scale[:, None] / scale
    factor, info = lapack.dpotrf(A, lower=1)
    if info != 0:
        return None
    rcond, info = lapack.dpocon(factor, np.abs(A).sum(axis=0).max(), uplo="L")
    if info != 0 or rcond < EPS:
        return None
    w, info = lapack.dpotrs(factor, statistics.XtY / scale[:, None], lower=1)
    return Solution(w / scale[:, None], float(rcond))


def _orthogonal(statistics: Triangle, penalty: Penalty, ridge: float) -> Solution | None:
    R, Z = statistics.R, statistics.Z
    if ridge > 0:
        R, Z, _ = annihilate(R, Z, np.sqrt(ridge) * penalty.root, np.zeros_like(Z))
    scale = np.linalg.norm(R, axis=0)
    if not np.all(scale > 0):
        return None
    rcond, info = lapack.dtrcon(R / scale, norm="1", uplo="U", diag="N")
    # With a ridge the answer is unique however small the ridge: only breakdown stops it.
    if info != 0 or rcond < (EPS if ridge == 0 else EPS**2):
        return None
    return Solution(solve_triangular(R, Z, check_finite=False), float(rcond))


@dataclass(frozen=True, eq=False)
class Factorised:
    """One factorisation that answers for every ridge.

    In the coordinates v = L w the penalty is the identity; with singular values s and right
    vectors V of the states there,

        w(α) = L⁻¹ V diag(1 / (s² + α)) c

    An unpenalised bias is eliminated first and comes back at the end: w_0 = head − row · w.
    """

    penalty: Penalty
    V: Array
    s2: Array
    c: Array
    cutoff: float
    head: tuple[Array, Array] | None

    def weights(self, ridge: float) -> Array:
        """The readout (N', D_out) for one ridge; minimum-norm where the ridge leaves it open."""
        denominator = self.s2 + ridge
        kept = denominator > self.cutoff
        shrink = np.divide(1.0, denominator, out=np.zeros_like(denominator), where=kept)
        w = self.penalty.unroot(self.V @ (shrink[:, None] * self.c))
        if self.head is None:
            return w
        offset, row = self.head
        return np.concatenate([offset - row @ w, w])


def factorise(statistics: Gram | Triangle, penalty: Penalty) -> Factorised:
    """Factorise once for many ridges."""
    if isinstance(statistics, Gram):
        return _factorise_gram(statistics, penalty)
    return _factorise_triangle(statistics, penalty)


def _factorise_triangle(statistics: Triangle, penalty: Penalty) -> Factorised:
    R, Z, head = statistics.R, statistics.Z, None
    if penalty.free:
        # The first row of R holds the bias alone: whatever w is, the bias can zero that row.
        head = (Z[:1] / R[0, 0], R[:1, 1:] / R[0, 0])
        R, Z = R[1:, 1:], Z[1:]
    U, s, Vt = svd(penalty.unroot_right(R), check_finite=False, lapack_driver="gesvd")
    cutoff = (EPS * max(statistics.rows, len(R)) * s.max(initial=0.0)) ** 2
    return Factorised(penalty, Vt.T, s**2, s[:, None] * (U.T @ Z), cutoff, head)


def _factorise_gram(statistics: Gram, penalty: Penalty) -> Factorised:
    G, c, head = statistics.XtX, statistics.XtY, None
    if penalty.free:
        row = G[:1, 1:] / G[0, 0]
        head = (c[:1] / G[0, 0], row)
        G, c = G[1:, 1:] - np.outer(G[1:, 0], row), c[1:] - G[1:, :1] @ head[0]
    G = penalty.unroot_right(penalty.unroot_right(G).T)
    s2, V = eigh((G + G.T) / 2, check_finite=False)
    s2 = np.maximum(s2, 0.0)
    c = V.T @ penalty.unroot_right(c.T).T
    return Factorised(penalty, V, s2, c, EPS * len(G) * s2.max(initial=0.0), head)


def best_ridge(
    train: Gram | Triangle, held_out: Triangle, penalty: Penalty, ridges: Sequence[float]
) -> float:
    """The ridge whose readout, trained on ``train``, predicts the held-out rows best.

    Errors are true residuals of the held-out rows, each output relative to its size there.
    """
    factorised = factorise(train, penalty)
    size = np.sum(held_out.Z**2, axis=0) + held_out.rest
    size[size == 0] = 1.0
    errors = [np.mean(held_out.squared_error(factorised.weights(a)) / size) for a in ridges]
    return float(ridges[int(np.argmin(errors))])
