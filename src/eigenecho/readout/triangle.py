"""Orthogonal statistics: a running QR factorisation that keeps every digit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.arrays import moved, namespace
from eigenecho.checks import check_count, check_shape
from eigenecho.errors import Shown, bad_argument
from eigenecho.readout.gram import Gram
from eigenecho.readout.reflections import reflect
from eigenecho.tensors import is_tensor, to_host
from eigenecho.types import Array

MOST, WORK, ROWS, NUMBERS = 16, 1e11, 12, 1 << 24
"""Triangles that are gathered side by side, at most; operations and rows of each over its columns
from which that pays; and numbers that all of them may take."""


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
        # Overflow shows in the result, which the caller checks.
        with np.errstate(over="ignore", invalid="ignore"):
            return Triangle(R, Z, self.rest + left.T @ left, self.rows + len(X))

    def merge(self, other: Triangle) -> Triangle:
        """The statistics of both sets of rows."""
        R, Z, left = annihilate(self.R, self.Z, other.R, other.Z)
        with np.errstate(over="ignore", invalid="ignore"):
            rest = self.rest + other.rest + left.T @ left
        return Triangle(R, Z, rest, self.rows + other.rows)

    @staticmethod
    def lanes(rows: int, size: int) -> int:
        """Several for long series, which merging them is little beside."""
        many = min(MOST, NUMBERS // size**2, rows // (ROWS * size))
        return max(1, many) if 2.0 * rows * size**2 >= WORK else 1

    @property
    def on_host(self) -> Triangle:
        """The same in NumPy arrays."""
        return Triangle(to_host(self.R), to_host(self.Z), to_host(self.rest), self.rows)

    def __reduce__(self) -> Any:
        # A pickle is read on machines without the device.
        return Triangle, (to_host(self.R), to_host(self.Z), to_host(self.rest), self.rows)

    def where(self, like: Array) -> Triangle:
        """The same where an array or tensor is."""
        R, Z, rest = moved((self.R, self.Z, self.rest), like)
        return Triangle(R, Z, rest, self.rows)

    def squared_error(self, w: Array) -> Array:
        """‖Y − X w‖² per output, for weights (N', D_out)."""
        return ((self.Z - self.R @ w) ** 2).sum(axis=0) + self.rest.diagonal()

    def scatter(self, w: Array) -> Array:
        """EᵀE (D_out, D_out) of the residuals E = Y − X w."""
        left = self.Z - self.R @ w
        return left.T @ left + self.rest

    @property
    def squares(self) -> Array:
        """‖Y‖² per output."""
        with np.errstate(over="ignore"):
            return (self.Z**2).sum(axis=0) + self.rest.diagonal()

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
    return reflect(R, Z, A, Y)


def _annihilate_tensors(R: Any, Z: Any, A: Any, Y: Any) -> tuple[Any, Any, Any]:
    """The same by one factorisation of [R Z; A Y], whose last rows are what is left of Y.

    Of ``left`` only leftᵀ left counts, which is that of the triangle in its place.
    """
    xp, size = namespace(A), len(R)
    joined = xp.concatenate([xp.concatenate([R, Z], axis=1), xp.concatenate([A, Y], axis=1)])
    upper = xp.triangle(joined)
    return upper[:size, :size], upper[:size, size:], upper[size:, size:]
