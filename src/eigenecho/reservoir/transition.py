"""What a transition may be, Spectrum, Cascade or matrix, and its algebra: scaled and leaky."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenecho import kernels
from eigenecho.basis import Cascade
from eigenecho.errors import bad_argument
from eigenecho.spectra import Spectrum

SPARSE_BELOW = 0.2
"""Density up to which a compiled sparse product is cheaper than BLAS."""


def is_matrix(transition: Any) -> bool:
    """Whether it is a matrix in the neuron basis, rather than modes in another."""
    return not isinstance(transition, (Spectrum, Cascade))


def check_matrix(W: Any, name: str = "W") -> None:
    """A real, finite, square matrix (N, N), N ≥ 1, dense or sparse with indices within it."""
    is_sparse = hasattr(W, "tocsr")
    if not (is_sparse or isinstance(W, np.ndarray)):
        raise bad_argument(name, f"<{type(W).__name__}>", "a matrix (N, N), dense or scipy sparse")
    if len(W.shape) != 2 or W.shape[0] != W.shape[1] or W.shape[0] == 0:
        raise bad_argument(name, f"<shape {W.shape}>", "a square matrix (N, N) with N ≥ 1")
    if W.dtype.kind not in "fiub":
        raise bad_argument(name, f"<dtype {W.dtype}>", "real numbers")
    if is_sparse:
        kernels.check_compressed(W, name)
        W = W.tocsr().data
    if not np.all(np.isfinite(W)):
        raise bad_argument(name, "<NaN or Inf>", "finite numbers")


def times(transition: Any, factor: float) -> Any:
    """The transition of factor · W, in the same basis."""
    return transition * factor if is_matrix(transition) else transition.times(factor)


def leaky(transition: Any, lr: float) -> Any:
    """W' = lr W + (1 − lr) I; a matrix is sparse where it came so, or where that is cheaper."""
    from scipy import sparse

    if not is_matrix(transition):
        return transition.leak(lr)
    if sparse.issparse(transition):
        return (lr * transition + (1 - lr) * sparse.identity(transition.shape[0])).tocsr()
    return compact(lr * transition + (1 - lr) * np.eye(len(transition)))


def compact(W: Any) -> Any:
    """A dense matrix as it is, or compressed where few of its entries are not zero."""
    return as_csr(W) if np.mean(W != 0) <= SPARSE_BELOW else W


def as_csr(W: Any) -> Any:
    """A dense matrix in compressed rows."""
    from scipy.sparse import csr_matrix

    return csr_matrix(W)
