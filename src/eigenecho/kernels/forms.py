"""Forms of W as plain arrays, which are the input of all kernels.

Each form is a tuple of contiguous, writable arrays, created by a ``Transition``. All floating-point
arrays of a form have the same dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from eigenecho.types import Array


class DiagonalForm(NamedTuple):
    """Eigenvalues of a diagonal W: real ones (n,), and ``re`` and ``im`` (m,) of one per pair."""

    real: Array
    re: Array
    im: Array


class DenseForm(NamedTuple):
    """Dense matrix W (N, N)."""

    W: Array


class SparseForm(NamedTuple):
    """Transposed sparse matrix Wᵀ in compressed rows.

    Unit j sums ``data[k] * r[indices[k]]`` over all k in row j.
    """

    indptr: Array
    indices: Array
    data: Array


Form = DiagonalForm | DenseForm | SparseForm


class FeatureForm(NamedTuple):
    """Features z (M,) of a state r, which are the inputs of a readout.

        z = [s, products, cos(s A + b), tanh(s C + d)],   s = (r[columns] − mean) / scale

    ``columns``, ``mean`` and ``scale`` are (n,). Row k of ``products`` (P, 2) contains the indices
    of two earlier entries of z, whose product is entry n + k. A (n, K) and b (K,) are
    ``cos_weights`` and ``cos_offsets``; C (n, L) and d (L,) are ``tanh_weights`` and
    ``tanh_offsets``.
    """

    columns: Array
    mean: Array
    scale: Array
    products: Array
    cos_weights: Array
    cos_offsets: Array
    tanh_weights: Array
    tanh_offsets: Array

    @property
    def size(self) -> int:
        """Number of features."""
        drawn = self.cos_offsets.size + self.tanh_offsets.size
        return self.columns.size + len(self.products) + drawn


class CustomForm(NamedTuple):
    """Features [z, function(s)], with z and s of a ``builtin`` form.

    ``function`` maps arrays (T, n) to arrays (T, K). Only ``reference`` accepts this form.
    """

    builtin: FeatureForm
    function: Callable[[Array], Array]


class Readout(NamedTuple):
    """Readout y(t) = offset + y(t−1) previous + z(t) weightsᵀ, with the features z of the states.

    ``offset`` (D_out,), ``previous`` (D_out, D_out), ``weights`` (D_out, M), one row per output.
    Without ``features``, z = r. ``run_closed_loop`` is for modes without features.
    """

    offset: Array
    previous: Array
    weights: Array
    features: FeatureForm | CustomForm | None = None


class Feedback(NamedTuple):
    """Conversion of an output y to the next y(t−1), through the units of the caller.

        y(t−1) = (output − mean) / scale,   output = y scale + mean, rounded to its dtype

    ``start`` is the first column of y(t−1) in the drive, or the number of columns if the drive does
    not include y(t−1). ``mean`` and ``scale`` are (D_out,). Outputs below ``low`` or above
    ``high``, both (D_out,), end the run, or are replaced by these bounds if ``clip`` is True.
    """

    start: int
    mean: Array
    scale: Array
    low: Array
    high: Array
    clip: bool = False
