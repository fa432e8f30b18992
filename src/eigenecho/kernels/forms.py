"""The forms of W as plain arrays, which all kernels take.

Each form is a tuple of contiguous, writable arrays, made by ``transition``; numbers have one dtype.
"""

from __future__ import annotations

from typing import NamedTuple

from eigenecho.types import Array


class DiagonalForm(NamedTuple):
    """Eigenvalues: ``real`` (n,), and the parts ``re``, ``im`` (m,) of one of each pair."""

    real: Array
    re: Array
    im: Array


class DenseForm(NamedTuple):
    """W (N, N)."""

    W: Array


class CascadeForm(NamedTuple):
    """A ``block`` (k, k) kept dense that drives modes through a ``coupling`` (k, n + 2m)."""

    block: Array
    coupling: Array
    real: Array
    re: Array
    im: Array


class SparseForm(NamedTuple):
    """Wᵀ in compressed rows: unit j gathers ``data[k] * r[indices[k]]``, k in its row."""

    indptr: Array
    indices: Array
    data: Array


Form = DiagonalForm | CascadeForm | DenseForm | SparseForm


class Readout(NamedTuple):
    """y(t) = offset + y(t−1) previous + r(t) weightsᵀ.

    ``offset`` (D_out,), ``previous`` (D_out, D_out), ``weights`` (D_out, N), one row per output.
    """

    offset: Array
    previous: Array
    weights: Array


class Loop(NamedTuple):
    """How an output y is fed back as y(t−1): (y scale + mean − mean) / scale, rounded in between.

    ``start`` is the column of the drive where y(t−1) begins, or its end; ``mean`` and ``scale``
    (D_out,) lead to the caller's units.
    """

    start: int
    mean: Array
    scale: Array
