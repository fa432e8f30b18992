"""Orthogonal statistics: a running QR factorisation that keeps every digit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import lapack

from eigenecho.arrays import namespace
from eigenecho.checks import check_count, check_shape
from eigenecho.errors import Shown, bad_argument
from eigenecho.readout.gram import Gram
from eigenecho.tensors import is_tensor, to_host
from eigenecho.types import Array

PANEL = 48
"""Columns that LAPACK reflects together."""


@dataclass(frozen=True, eq=False)
class Triangle:
    """The triangular factor of X = O R and the targets turned with it, for rows never kept.

        R (N', N') with RᵀR = XᵀX,   Z = OᵀY (N', D_out),   rest = EᵀE of E = Y − O Z

    So EᵀE = (Z − R w)ᵀ(Z − R w) + rest for E = Y − X w and every w, without squaring any number's
    error.
    """

    R: Array
    Z: Array
    rest: Array
    rows: int

    LANES: ClassVar[int] = 1  # SciPy's LAPACK holds the interpreter lock

    def check(self) -> None:
        """Whether the parts, which may be anybody's, fit each other."""
        check_upper(self.R)
        check_shape(self.Z, "Z", (len(self.R), self.Z.shape[-1]))
        check_shape(self.rest, "rest", 2 * self.Z.shape[1:])
        check_count(self.rows, "rows")

    @classmethod
    def empty(cls, size: int, outputs: int, xp: Any = np) -> Triangle:
        """The statistics of no rows: the neutral element of ``merge``."""
        return cls(
            xp.zeros((size, size)), xp.zeros((size, outputs)), xp.zeros((outputs, outputs)), 0
        )

    def absorb(self, X: Array, Y: Array) -> Triangle:
        """The statistics with rows X (rows, N'), Y (rows, D_out) added."""
        R, Z, left = annihilate(self.R, self.Z, X, Y)
        with np.errstate(over="ignore"):  # it shows in the result, which the caller checks
            return Triangle(R, Z, self.rest + left.T @ left, self.rows + len(X))

    def merge(self, other: Triangle) -> Triangle:
        """The statistics of both sets of rows."""
        R, Z, left = annihilate(self.R, self.Z, other.R, other.Z)
        rest = self.rest + other.rest + left.T @ left
        return Triangle(R, Z, rest, self.rows + other.rows)

    @property
    def on_host(self) -> Triangle:
        """The same in NumPy arrays."""
        return Triangle(to_host(self.R), to_host(self.Z), to_host(self.rest), self.rows)

    def squared_error(self, w: Array) -> Array:
        """‖Y − X w‖² per output, for weights (N', D_out)."""
        return np.sum((self.Z - self.R @ w) ** 2, axis=0) + np.diag(self.rest)

    def scatter(self, w: Array) -> Array:
        """EᵀE (D_out, D_out) of the residuals E = Y − X w."""
        left = self.Z - self.R @ w
        return left.T @ left + self.rest

    @property
    def squares(self) -> Array:
        """‖Y‖² per output."""
        return np.sum(self.Z**2, axis=0) + np.diag(self.rest)

    def gram(self) -> Gram:
        """The same rows as normal-equation statistics."""
        return Gram(self.R.T @ self.R, self.R.T @ self.Z, self.rows)


def check_upper(R: Array) -> None:
    """A square R with nothing below its diagonal, where solvers do not look."""
    check_shape(R, "R", 2 * (len(R),))
    if np.any(np.tril(R, -1)):
        raise bad_argument("R", Shown(f"shape {R.shape}"), "an upper triangle")


def annihilate(R: Array, Z: Array, A: Array, Y: Array) -> tuple[Array, Array, Array]:
    """Reflect the rows [A Y] into the triangle [R Z]: [R Z; A Y] → [R' Z'; 0 left]."""
    if len(A) == 0:
        return R, Z, namespace(Z).empty((0, Z.shape[1]))
    if is_tensor(A):
        return _annihilate_tensors(R, Z, A, Y)
    R = np.array(R, order="F")
    reflected = np.array(A, dtype=np.float64, order="F")
    R, V, T, info = lapack.dtpqrt(
        0, min(PANEL, len(R)), R, reflected, overwrite_a=True, overwrite_b=True
    )
    assert info == 0
    Z, left, info = lapack.dtpmqrt(
        0, V, T, np.array(Z, order="F"), np.array(Y, dtype=np.float64, order="F"),
        trans="T", overwrite_a=True, overwrite_b=True,
    )  # fmt: skip
    assert info == 0
    return R, Z, left


def _annihilate_tensors(R: Any, Z: Any, A: Any, Y: Any) -> tuple[Any, Any, Any]:
    """The same by one factorisation of [R Z; A Y], whose last rows are what is left of Y.

    Of ``left`` only leftᵀ left counts, which is that of the triangle in its place.
    """
    xp, size = namespace(A), len(R)
    joined = xp.concatenate([xp.concatenate([R, Z], axis=1), xp.concatenate([A, Y], axis=1)])
    _, upper = xp.qr(joined)
    return upper[:size, :size], upper[:size, size:], upper[size:, size:]
