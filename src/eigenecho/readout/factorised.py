"""Factorisation of the states, which all ridges and input scalings share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, svd

from eigenecho.errors import IllConditionedWarning, warn
from eigenecho.readout.penalty import Penalty
from eigenecho.types import Array

EPS = float(np.finfo(np.float64).eps)

HUGE = 1e300
"""Largest ridge in use. At this ridge, all state weights vanish, however large the states are."""


@dataclass(frozen=True, eq=False)
class Factorisation:
    """Factorisation of the states, for solutions in O(N) for each ridge α and state scale s.

    Rows consist of a few head columns H (the bias, y(t−1)) and states R. Scaling the inputs scales
    R by s. For the weights w of the scaled states, this is equivalent to a penalty β = α / s² on
    the weights v = s w of R. In the coordinates L v, with R L⁻¹ = U diag(S) Vᵀ, the penalised error
    of a target z for the best v is

        z (I − U f Uᵀ) z,   f = S² / (S² + β)

    so the head weights h solve a small system, and L v = V diag(S / (S² + β)) Uᵀ(Y − H h). All
    formulas use 1 − f = β / (S² + β), which avoids cancellation if a head column is nearly equal to
    a state.

    In HᵀH, the difference of nearly parallel head columns, such as 1 and a y(t−1) far from 0, would
    be lost to rounding. So if H itself is known, h is the least-squares solution of

        [H across U; √(1 − f) UᵀH; √α] h = [Y across U; √(1 − f) UᵀY; 0]

    where "H across U" is the component of H orthogonal to U.

    An unpenalised bias is always projected out of the states before they are factorised, so that
    the solution is unique even if α = 0 and the bias is a sum of states.

    ``S`` (N,) and ``V`` (N, N) are the singular values and right singular vectors of the states.
    ``UtH`` (N, k) and ``UtY`` (N, D_out) are the components of head and targets along U, and
    ``HtH`` (k, k) and ``HtY`` (k, D_out) the products of the components orthogonal to U. ``across``
    contains factors H and Y of these products, if the rows are known and there are several head
    columns. The states are H ``lean`` (k, N) plus the factorised states; only the row of ``lean``
    for an unpenalised bias is nonzero. ``head_penalty`` (k,) is 1 for penalised head columns.
    Without a ridge, directions with S² up to ``cutoff`` are treated as rounding errors.
    """

    penalty: Penalty
    S: Array
    V: Array
    UtH: Array
    UtY: Array
    HtH: Array
    HtY: Array
    lean: Array
    head_penalty: Array
    cutoff: float
    across: tuple[Array, Array] | None = None

    def weights(self, ridge: float, scale: float = 1.0) -> Array:
        """Return weights (N', D_out) for states times ``scale``, to be applied to unscaled states.

        If the solution is not unique, the weights have minimum norm.
        """
        h, v = self.coordinates(np.array([ridge]), np.array([scale]))
        w = self.penalty.unroot(self.V @ v[:, 0])
        return np.concatenate([h[:, 0] - self.lean @ w, w])

    def corrections(self, gradient: Array, ridges: Array, scales: Array) -> Array:
        """Return (XᵀX + penalty)⁻¹ gradient for C pairs (α, s) > 0 and C gradients (N', C, D_out).

        As in ``weights``, the coordinates are for unscaled states, penalised by α / s².
        """
        k = len(self.HtY)
        g, beta = gradient[:k], _beta(ridges, scales)
        q = gradient[k:] - np.tensordot(self.lean.T, g, 1)
        # Vᵀ L⁻ᵀ q, with L⁻ᵀ applied from the right to the transposed columns.
        q = self.penalty.unroot_right(q.reshape(len(q), -1).T) @ self.V
        q = q.T.reshape(gradient[k:].shape)
        S, inverse = self.S[:, None], 1 / (self.S[:, None] ** 2 + beta)
        A = self.HtH + np.einsum("nc,ni,nj->cij", beta * inverse, self.UtH, self.UtH)
        A = A + ridges[:, None, None] * np.diag(self.head_penalty)
        c = g - np.einsum("ni,nc,ncd->icd", self.UtH, S * inverse, q)
        h = _symmetric_solve(A, c.transpose(1, 0, 2)).transpose(1, 0, 2)
        z = inverse[:, :, None] * (q - S[:, :, None] * np.tensordot(self.UtH, h, 1))
        w = self.penalty.unroot(self.V @ z.reshape(len(z), -1)).reshape(z.shape)
        return np.concatenate([h - np.tensordot(self.lean, w, 1), w])

    def coordinates(self, ridges: Array, scales: Array) -> tuple[Array, Array]:
        """Return head weights h (k, C, D_out) and Vᵀ L v (N, C, D_out) for C pairs (α, s)."""
        S = self.S[:, None]
        beta = _beta(ridges, scales)
        denominator = S**2 + beta
        # With a ridge, however small, the solution is unique, so no direction is dropped.
        kept = (denominator > self.cutoff) | (beta > 0)
        gain = np.divide(S, denominator, out=np.zeros_like(denominator), where=kept)
        left = np.divide(beta, denominator, out=np.ones_like(denominator), where=kept)
        h = self._head(ridges, left)
        across = self.UtY[:, None] - np.tensordot(self.UtH, h, 1)
        return h, gain[:, :, None] * across

    def _head(self, ridges: Array, left: Array) -> Array:
        """Return head weights (k, C, D_out), given 1 − f for each ridge, (N, C)."""
        if self.across is None:
            A = self.HtH + np.einsum("nc,ni,nj->cij", left, self.UtH, self.UtH)
            A = A + ridges[:, None, None] * np.diag(self.head_penalty)
            c = self.HtY + np.einsum("nc,ni,nd->cid", left, self.UtH, self.UtY)
            return _symmetric_solve(A, c).transpose(1, 0, 2)
        H, Y = self.across
        nothing = np.zeros_like(self.HtY)
        solutions = []
        for ridge, share in zip(ridges, np.sqrt(left).T, strict=True):
            pull = np.diag(np.sqrt(ridge * self.head_penalty))
            rows = np.concatenate([H, share[:, None] * self.UtH, pull])
            targets = np.concatenate([Y, share[:, None] * self.UtY, nothing])
            size = np.linalg.norm(rows, axis=0)
            size[size == 0] = 1.0
            solutions.append(np.linalg.lstsq(rows / size, targets, rcond=None)[0] / size[:, None])
        return np.stack(solutions, axis=1)


def _beta(ridges: Array, scales: Array) -> Array:
    """Return β = α / s², limited to ``HUGE``, at which all state weights vanish."""
    with np.errstate(over="ignore"):
        return np.minimum(ridges / scales**2, HUGE)


def _symmetric_solve(A: Array, c: Array) -> Array:
    """Return A⁻¹ c for symmetric systems (C, k, k), equilibrated if there are several columns.

    Singular systems get the minimum-norm solution.
    """
    if A.shape[-1] < 2:
        return np.linalg.pinv(A, hermitian=True) @ c
    size = np.sqrt(np.abs(np.diagonal(A, axis1=1, axis2=2)))
    size = np.where(size > 0, size, 1.0)[:, :, None]
    inverse = np.linalg.pinv(A / size / size.transpose(0, 2, 1), hermitian=True)
    return inverse @ (c / size) / size


def factorise_sums(
    G: Array, c: Array, rows: int, penalty: Penalty, head: int | None = None
) -> Factorisation:
    """Factorise rows with XᵀX = ``G`` and XᵀY = ``c``, for any ridge and state scale.

    The first ``head`` columns are the head, by default only an unpenalised bias.
    """
    k, lean, head_penalty = _head_of(penalty, head)
    free = slice(penalty.free if rows else 0)
    lean[free] = G[free, k:] / G[0, 0]
    cross, target = G[:k, k:] - G[:k, :k] @ lean, c[k:] - lean.T @ c[:k]
    cross[free] = 0.0
    inner = penalty.unroot_right(G[k:, k:] - lean.T @ G[:k, k:])
    inner = penalty.unroot_right(inner.T)
    s2, V = eigh((inner + inner.T) / 2, check_finite=False)
    # Smaller values are rounding errors. A ridge may be larger, so no direction is dropped here.
    s2 = np.maximum(s2, EPS * s2.max(initial=0.0))
    cutoff = 10 * EPS * max(len(s2), 1) * s2.max(initial=0.0)
    S = np.sqrt(s2)
    inverse = np.divide(1.0, S, out=np.zeros_like(S), where=S > 0)[:, None]
    UtH = inverse * (V.T @ penalty.unroot_right(cross).T)
    UtY = inverse * (V.T @ penalty.unroot_right(target.T).T)
    HtH, HtY = G[:k, :k] - UtH.T @ UtH, c[:k] - UtH.T @ UtY
    return Factorisation(penalty, S, V, UtH, UtY, HtH, HtY, lean, head_penalty, cutoff)


def factorise_rows(
    R: Array, Z: Array, rows: int, penalty: Penalty, head: int | None = None
) -> Factorisation:
    """Factorise rows X = O ``R`` with OᵀY = ``Z``, for any ridge and state scale."""
    k, lean, head_penalty = _head_of(penalty, head)
    free = slice(penalty.free if rows else 0)
    # The first row of a triangle belongs to the bias.
    states = R[:, k:].copy()
    lean[free] = states[free] / R[0, 0]
    states[free] = 0.0
    U, S, Vt = svd(penalty.unroot_right(states), full_matrices=False, check_finite=False)
    cutoff = (EPS * max(rows, len(R)) * S.max(initial=0.0)) ** 2
    UtH, UtY = U.T @ R[:, :k], U.T @ Z
    H, Y = R[:, :k] - U @ UtH, Z - U @ UtY
    across = None
    if k > 1:
        reflections, root = np.linalg.qr(H)
        across = root, reflections.T @ Y
    return Factorisation(
        penalty, S, Vt.T, UtH, UtY, H.T @ H, H.T @ Y, lean, head_penalty, cutoff, across
    )


def _head_of(penalty: Penalty, head: int | None) -> tuple[int, Array, Array]:
    """Return the number k of head columns, zeros (k, N), and the head penalty (k,)."""
    k = penalty.free if head is None else head
    head_penalty = np.ones(k)
    head_penalty[: penalty.free] = 0.0
    return k, np.zeros((k, penalty.size - k)), head_penalty


def warn_singular(ridge: float) -> None:
    """Warn that the minimum-norm readout is used, because the solution is not unique."""
    warn(
        f"The readout system is singular at ridge={ridge:g}, because states are collinear or there "
        "are fewer training rows than weights. The minimum-norm solution is used. Use a larger "
        "ridge to obtain a unique solution.",
        IllConditionedWarning,
    )
