"""Orthogonal statistics: a running QR factorisation that keeps all digits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lapack

from eigenecho.arrays import namespace, to_host
from eigenecho.checks import check_shape
from eigenecho.errors import Words, bad_argument
from eigenecho.readout.factorised import EPS, Factorisation, factorise_rows, warn_singular
from eigenecho.readout.lapack import reflect
from eigenecho.readout.likelihood import Likelihood, check_targets
from eigenecho.readout.penalty import Penalty
from eigenecho.readout.statistic import Accumulator, Residuals
from eigenecho.types import Array, Count, UnboundedArray

MOST, WORK, ROWS, NUMBERS = 16, 1e11, 12, 1 << 24
"""Limits for gathering triangles in parallel: their largest number, the smallest number of
operations, the smallest number of rows of each, relative to its columns, and the largest total
number of their entries."""

LARGEST = 1e150
"""Largest entry of R; squares of larger entries overflow."""

BLOWN_UP = 1e9
"""Largest contribution of a weight times its state, relative to the size of the targets.

For noise-free sines, the contributions are up to 1e4.
"""


@dataclass(frozen=True, eq=False)
class Triangle(Accumulator):
    """Triangular factor of X = O R and rotated targets, without the rows themselves.

        R (N', N') with RᵀR = XᵀX,   Z = OᵀY (N', D_out),   rest = EᵀE of E = Y − O Z

    Then EᵀE = (Z − R w)ᵀ(Z − R w) + rest for E = Y − X w and every w, without squaring rounding
    errors.
    """

    R: Array
    Z: Array
    rest: UnboundedArray
    rows: Count

    def check(self) -> None:
        """Raise if the parts, which may come from a file, are inconsistent."""
        check_upper(self.R)
        check_shape(self.Z, "Z", (len(self.R), self.Z.shape[-1]))
        check_shape(self.rest, "rest", 2 * self.Z.shape[1:])

    @classmethod
    def empty(cls, size: int, outputs: int, xp: Any = np) -> Triangle:
        """Return empty statistics, the neutral element of ``merge``."""
        return cls(
            xp.zeros((size, size)), xp.zeros((size, outputs)), xp.zeros((outputs, outputs)), 0
        )

    def absorb(self, X: Array, Y: Array) -> Triangle:
        """Return the statistics with rows X (rows, N'), Y (rows, D_out) added."""
        R, Z, left = annihilate(self.R, self.Z, X, Y)
        # The caller checks the result for overflow.
        with np.errstate(over="ignore", invalid="ignore"):
            return Triangle(R, Z, self.rest + left.T @ left, self.rows + len(X))

    def merge(self, other: Triangle) -> Triangle:
        """Return the statistics of both sets of rows."""
        R, Z, left = annihilate(self.R, self.Z, *other._filled)
        with np.errstate(over="ignore", invalid="ignore"):
            rest = self.rest + other.rest + left.T @ left
        return Triangle(R, Z, rest, self.rows + other.rows)

    @staticmethod
    def lanes(rows: int, size: int) -> int:
        """Return the number of triangles to gather in parallel, which is larger for long series."""
        many = min(MOST, NUMBERS // size**2, rows // (ROWS * size))
        return max(1, many) if 2.0 * rows * size**2 >= WORK else 1

    @property
    def size(self) -> int:
        """Number of columns N'."""
        return len(self.R)

    @property
    def _filled(self) -> tuple[Array, Array]:
        """R and Z; fewer rows than columns leave only rounding errors in their last rows."""
        filled = max(min(self.rows, self.size), 1)
        return self.R[:filled], self.Z[:filled]

    @property
    def outputs(self) -> int:
        """Number of targets D_out."""
        return self.Z.shape[1]

    @property
    def XtY(self) -> Array:
        """Products XᵀY (N', D_out)."""
        return self.R.T @ self.Z

    @property
    def overflows(self) -> bool:
        """True if squares of the rows overflow."""
        return not (self.R.max() < LARGEST and self.R.min() > -LARGEST)

    def magnitude(self, head: int) -> float:
        """Return an estimate of the norm of the columns past ``head``, up to a factor of N'."""
        return float(np.abs(self.R[:, head:]).max())

    def factorise(self, penalty: Penalty, head: int | None = None) -> Factorisation:
        """Factorise once for many ridges, and for many scales of all columns past ``head``.

        By default, the head consists of the unpenalised bias, if there is one.
        """
        return factorise_rows(*self._filled, self.rows, penalty, head)

    def solve(self, penalty: Penalty, ridge: float) -> Array:
        """Return argmin ‖Y − X w‖² + ridge ‖L w‖², (N', D_out), on the device of the statistics.

        The system is solved on [R; √ridge L], so that L is never inverted. If it is numerically
        singular, warn and return its minimum-norm solution.
        """
        R, Z = self.R, self.Z
        if ridge > 0:
            R, Z = self.penalised(penalty, ridge)
        if is_regular(R, ridge):
            w = namespace(R).solve_triangular(R, Z)
            if not _is_blown_up(w, self, penalty):
                return w
        warn_singular(ridge)
        return namespace(self.Z).asarray(self.on_host.factorise(penalty).weights(0.0))

    def likelihood(self, penalty: Penalty, squares: Array | None = None) -> Likelihood:
        """Return the log density of Y as a function of the ridge; ``squares`` is not used."""
        # The first row of a triangle belongs to the unpenalised bias.
        k = penalty.free
        left = Triangle(self.R[k:, k:], self.Z[k:], self.rest, max(self.rows - k, 0))
        own = left.squares
        check_targets(own, left.Z)
        factorised = left.factorise(Penalty(penalty.size - k, 0, penalty.basis))
        return Likelihood.of_rows(factorised, np.diag(self.rest), left.rows, own)

    def penalised(
        self, penalty: Penalty, ridge: float, weights: Array | None = None
    ) -> tuple[Array, Array]:
        """Return R and Z of the rows with √ridge L below them: RᵀR = XᵀX + ridge M."""
        L = np.sqrt(ridge) * penalty.root(self.R)
        R, Z, _ = annihilate(self.R, self.Z, L, namespace(self.Z).zeros_like(self.Z))
        return R, Z

    def squared_error(self, w: Array) -> Array:
        """Return the squared error ‖Y − X w‖² of each output, for weights (N', D_out)."""
        return ((self.Z - self.R @ w) ** 2).sum(axis=0) + self.rest.diagonal()

    def squared_errors(
        self,
        factorised: Factorisation,
        ridges: Sequence[float] | Array,
        scales: Sequence[float] | Array = (1.0,),
    ) -> Array:
        """Return ‖Y − X w‖², (scales, ridges, D_out), of weights trained on other rows."""
        k, D = factorised.HtY.shape
        h, v = factorised.coordinates(np.tile(ridges, len(scales)), np.repeat(scales, len(ridges)))
        states = self.R[:, k:] - self.R[:, :k] @ factorised.lean
        rows = factorised.penalty.unroot_right(states) @ factorised.V
        left = self.Z[:, None] - np.tensordot(self.R[:, :k], h, 1) - np.tensordot(rows, v, 1)
        return np.sum(left**2, axis=0).reshape(len(scales), len(ridges), D) + np.diag(self.rest)

    def scatter(self, weights: Array, known: Residuals | None = None) -> Array:
        """Return EᵀE (D_out, D_out) of the residuals E = Y − X w."""
        left = self.Z - self.R @ namespace(self.R).asarray(weights)
        return left.T @ left + self.rest

    @property
    def squares(self) -> Array:
        """Sum of squares ‖y_d‖² of each target."""
        with np.errstate(over="ignore"):
            return (self.Z**2).sum(axis=0) + self.rest.diagonal()

    def root(self) -> Array:
        """Return the triangle R, with RᵀR = XᵀX."""
        return self.R


def check_upper(R: Array) -> None:
    """Raise unless R is square and zero below its diagonal, which solvers ignore."""
    check_shape(R, "R", 2 * (len(R),))
    if np.any(np.tril(R, -1)):
        raise bad_argument("R", Words("entries below the diagonal"), "an upper triangular matrix")


def annihilate(R: Array, Z: Array, A: Array, Y: Array) -> tuple[Array, Array, Array]:
    """Reflect the rows [A Y] into the triangle [R Z]: [R Z; A Y] → [R' Z'; 0 rest]."""
    if len(A) == 0:
        return R, Z, namespace(Z).empty((0, Z.shape[1]))
    if not namespace(A).is_host:
        return _annihilate_tensors(R, Z, A, Y)
    return reflect(R, Z, A, Y)


def _annihilate_tensors(R: Any, Z: Any, A: Any, Y: Any) -> tuple[Any, Any, Any]:
    """Reflect rows by one QR factorisation of [R Z; A Y].

    Instead of the rest of Y, the function returns a triangle with the same product restᵀ rest.
    """
    xp, size = namespace(A), len(R)
    joined = xp.concatenate([xp.concatenate([R, Z], axis=1), xp.concatenate([A, Y], axis=1)])
    upper = xp.triangle(joined)
    return upper[:size, :size], upper[:size, size:], upper[size:, size:]


def is_regular(R: Array, ridge: float) -> bool:
    """Return True if the triangle of rows and ridge is not singular.

    The test uses 1/cond after all columns are scaled to length 1.
    """
    xp = namespace(R)
    scale = xp.linalg.norm(R, axis=0)
    if not xp.all(scale > 0):
        return False
    rcond, info = lapack.dtrcon(to_host(R / scale), norm="1", uplo="U", diag="N")
    # With a ridge, however small, the solution is unique, so only a breakdown is rejected.
    return bool(info == 0 and rcond >= (EPS**2 if ridge else len(R) * EPS))


def _is_blown_up(w: Array, statistics: Triangle, penalty: Penalty) -> bool:
    """Return True if the contribution of a single state is far larger than the targets.

    In this case, the weights use rounding errors of the states to fit noise in the targets, and the
    ridge is too small to prevent it. Contributions of modes with nearly parallel eigenvectors are
    large and cancel, so contributions are also computed in the neuron basis.
    """
    # Squares of tiny numbers underflow to 0.
    targets = np.maximum(
        to_host(statistics.squares**0.5), np.abs(to_host(statistics.Z)).max(axis=0, initial=0.0)
    )

    def exceed(w: Array, columns: Array) -> bool:
        contributions = (
            np.abs(w) * to_host(namespace(columns).linalg.norm(columns, axis=0))[:, None]
        )
        return bool(np.any(contributions > BLOWN_UP * targets))

    w = to_host(w)
    if not exceed(w, statistics.R):
        return False
    basis, statistics = penalty.basis, statistics.on_host
    if basis is None:
        return True
    head = len(w) - basis.units
    neurons = np.concatenate([w[:head], basis.weights_to_neuron(w[head:])])
    return exceed(neurons, penalty.unroot_right(statistics.R))
