"""What ``r(t−1) W`` is, as plain arrays that both kinds of kernel take.

Each form is a tuple of contiguous, writable arrays of one floating dtype.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from eigenecho.errors import bad_argument
from eigenecho.spectra import Spectrum
from eigenecho.types import Array


class Diagonal(NamedTuple):
    """Eigenvalues: ``real`` (n,), and the parts ``re``, ``im`` (m,) of one of each pair."""

    real: Array
    re: Array
    im: Array


class Dense(NamedTuple):
    """W (N, N)."""

    W: Array


class Cascade(NamedTuple):
    """A ``block`` (k, k) kept dense that drives modes through a ``coupling`` (k, n + 2m)."""

    block: Array
    coupling: Array
    real: Array
    re: Array
    im: Array


class Sparse(NamedTuple):
    """Wᵀ in compressed rows: unit j gathers ``data[k] * r[indices[k]]``, k in its row."""

    indptr: Array
    indices: Array
    data: Array


Form = Diagonal | Cascade | Dense | Sparse


class Readout(NamedTuple):
    """y(t) = offset + y(t−1) previous + r(t) weightsᵀ.

    ``offset`` (D_out,), ``previous`` (D_out, D_out), ``weights`` (D_out, N), one row per output.
    """

    offset: Array
    previous: Array
    weights: Array


class Loop(NamedTuple):
    """How an output y comes back as y(t−1): (y scale + mean − mean) / scale, rounded in between.

    ``start`` is the column of the drive where y(t−1) begins, or its end; ``mean`` and ``scale``
    (D_out,) are those of the units that the output is told in.
    """

    start: int
    mean: Array
    scale: Array


def diagonal(spectrum: Spectrum, dtype: DTypeLike = np.float64) -> Diagonal:
    """The form of a spectrum."""
    return Diagonal(
        spectrum.real.astype(dtype),
        spectrum.pairs.real.astype(dtype),
        spectrum.pairs.imag.astype(dtype),
    )


def cascade(
    block: Array, coupling: Array, modes: Spectrum, dtype: DTypeLike = np.float64
) -> Cascade:
    """The form of a block (k, k), its coupling (k, N − k) and the N − k modes that it drives."""
    return Cascade(dense(block, dtype).W, dense(coupling, dtype).W, *diagonal(modes, dtype))


def dense(W: Array, dtype: DTypeLike = np.float64) -> Dense:
    """The form of a dense matrix."""
    return Dense(np.array(W, dtype=dtype, order="C"))


def sparse(W: Any, dtype: DTypeLike = np.float64) -> Sparse:
    """The form of a scipy sparse matrix, whose indices compiled code takes on trust from here."""
    check_compressed(W)
    transposed = W.T.tocsr()
    return Sparse(
        # Unsigned: the compiler need not provide for negative indices.
        transposed.indptr.astype(np.uint64),
        transposed.indices.astype(np.uint32),
        transposed.data.astype(dtype),
    )


def check_compressed(W: Any, name: str = "W") -> None:
    """Whether the indices of a CSR or CSC matrix stay within it.

    SciPy looks at the ends of them alone when a matrix is made, and not at all when it is
    converted: indices out of range read, and write, memory that is not the matrix's.
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
        # Compared, not subtracted: differences of the largest ints wrap around.
        and bool(np.all(indptr[1:] >= indptr[:-1]))
        and indptr[-1] <= indices.size
        and (indices.size == 0 or (indices.min() >= 0 and indices.max() < columns))
    )
    if not fits:
        raise bad_argument(
            name, f"<{W.format} matrix {W.shape}>", "indices and index pointers within the matrix"
        )
