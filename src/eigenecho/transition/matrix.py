"""Transitions that store W in its original basis, as a dense or a sparse matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from eigenecho.checks import check_finite, check_square
from eigenecho.errors import Words, bad_argument
from eigenecho.kernels import DenseForm, SparseForm, costs
from eigenecho.spectra import Spectrum, from_matrix
from eigenecho.transition.diagonal import Diagonal
from eigenecho.transition.transition import Transition
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class Matrix(Transition):
    """Matrix W (N, N) in its original basis, dense or scipy sparse."""

    W: Any

    def __post_init__(self) -> None:
        check_square(self.W, "W")
        values = self.W if isinstance(self.W, np.ndarray) else self.W.tocsr().data
        check_finite(values, "W")
        if self.W.dtype not in (np.float32, np.float64):
            object.__setattr__(self, "W", self.W.astype(np.float64))

    @property
    def units(self) -> int:
        return int(self.W.shape[0])

    @property
    def matrix(self) -> Any:
        return self.W

    @cached_property
    def spectrum(self) -> Spectrum:
        return from_matrix(self.W)

    def times(self, factor: float) -> Self:
        return type(self)(self.W * factor)


class Dense(Matrix):
    """Dense matrix W, with N² multiplications per step."""

    W: Array

    name = "dense"
    steps_by_blas = True

    def form(self, dtype: DTypeLike = np.float64) -> DenseForm:
        return DenseForm(np.array(self.W, dtype=dtype, order="C"))

    def leak(self, lr: float) -> Dense | Sparse:
        """Return W' = lr W + (1 − lr) I, as a sparse matrix if that is cheaper."""
        return compact(lr * self.W + (1 - lr) * np.eye(self.units))

    def padded(self, extra: int) -> Dense:
        return Dense(np.pad(self.W, (0, extra)))


class Sparse(Matrix):
    """Sparse matrix W, with one multiplication per nonzero entry and step."""

    name = "sparse"
    leaves_zeros_out = True

    def __post_init__(self) -> None:
        check_indices(self.W)
        super().__post_init__()

    @cached_property
    def spectrum(self) -> Spectrum:
        from scipy.sparse import tril

        if not tril(self.W, -1).count_nonzero():  # such as that of a long delay line
            return Spectrum(np.sort(self.W.diagonal()))
        return from_matrix(self.W)

    def form(self, dtype: DTypeLike = np.float64) -> SparseForm:
        transposed = self.W.T.tocsr()
        return SparseForm(
            # With unsigned indices, compiled code need not handle negative ones.
            transposed.indptr.astype(np.uint64),
            transposed.indices.astype(np.uint32),
            transposed.data.astype(dtype),
        )

    def leak(self, lr: float) -> Sparse:
        from scipy.sparse import identity

        return Sparse((lr * self.W + (1 - lr) * identity(self.units)).tocsr())

    def padded(self, extra: int) -> Sparse:
        W = self.W.copy()
        W.resize((self.units + extra,) * 2)
        return Sparse(W)

    def _parts(self) -> dict[str, Array]:
        csr = self.W.tocsr()
        return {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr}

    @classmethod
    def _from_parts(cls, data: Array, indices: Array, indptr: Array) -> Sparse:
        from scipy.sparse import csr_matrix

        size = len(indptr) - 1
        # SciPy would round indices that are not integers; a safe cast raises an error.
        where = (part.astype(np.int64, casting="safe") for part in (indices, indptr))
        return Sparse(csr_matrix((data, *where), shape=(size, size)))


def compact(W: Array) -> Dense | Sparse:
    """Convert a dense matrix to a transition, which is sparse if few entries are nonzero."""
    return compressed(W) if np.mean(W != 0) <= costs.MAX_SPARSE_DENSITY else Dense(W)


def compressed(W: Array) -> Sparse:
    """Convert a dense matrix to a sparse transition."""
    from scipy.sparse import csr_matrix

    return Sparse(csr_matrix(W))


def check_indices(W: Any, name: str = "W") -> None:
    """Raise if indices of a CSR or CSC matrix are out of range.

    SciPy checks only the first and the last index when a matrix is created, and none when it is
    converted. Indices out of range would access memory outside of the matrix.
    """
    if W.format not in ("csr", "csc"):
        return
    rows, columns = W.shape if W.format == "csr" else W.shape[::-1]
    indptr, indices = W.indptr, W.indices
    fits = (
        indptr.shape == (rows + 1,)
        and indices.ndim == 1
        and W.data.shape == indices.shape
        and indptr[0] == 0
        # Compare instead of subtracting, because differences of large integers wrap around.
        and bool(np.all(indptr[1:] >= indptr[:-1]))
        and indptr[-1] <= indices.size
        and (indices.size == 0 or (indices.min() >= 0 and indices.max() < columns))
    )
    if not fits:
        raise ValueError(f"{name} has indices or index pointers outside its shape {W.shape}.")


def as_transition(W: Any) -> Transition:
    """Convert eigenvalues or a dense or scipy sparse matrix (N, N) to a transition."""
    if isinstance(W, Spectrum):
        return Diagonal(W)
    if hasattr(W, "tocsr"):
        return Sparse(W)
    if isinstance(W, np.ndarray):
        return Dense(W)
    got = Words(f"type {type(W).__name__}")
    raise bad_argument("transition", got, "a Spectrum or a matrix")
