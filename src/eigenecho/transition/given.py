"""Transitions from what others hold: eigenvalues, a matrix, the arrays of a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenecho.errors import Shown, bad_argument
from eigenecho.spectra import Spectrum
from eigenecho.storage import Tensors, part, take
from eigenecho.transition.cascade import Cascade
from eigenecho.transition.diagonal import Diagonal
from eigenecho.transition.matrix import Dense, Sparse
from eigenecho.transition.transition import Transition


def as_transition(given: Any) -> Transition:
    """Eigenvalues, a dense or scipy sparse matrix (N, N), or a transition, as it is."""
    if isinstance(given, Transition):
        return given
    if isinstance(given, Spectrum):
        return Diagonal(given)
    if hasattr(given, "tocsr"):
        return Sparse(given)
    if isinstance(given, np.ndarray):
        return Dense(given)
    wanted = "a Spectrum or a matrix (N, N), dense or sparse"
    raise bad_argument("transition", Shown(type(given).__name__), wanted)


def unpack(name: str, tensors: Tensors) -> Transition:
    """Take the transition whose ``pack`` gave the arrays of that name out of a file's."""
    arrays = part(tensors, name)
    if "real" in arrays:
        real, re, im = (take(arrays, key) for key in ("real", "re", "im"))
        if re.shape != im.shape:
            raise bad_argument(
                name, Shown(f"shapes {re.shape}, {im.shape}"), "Re and Im of each pair"
            )
        modes = Spectrum(real, re + 1j * im)
        found: Transition = Diagonal(modes)
        if "block" in arrays:
            found = Cascade(take(arrays, "block"), take(arrays, "coupling"), modes)
    elif "indptr" in arrays:
        found = _sparse(name, arrays)
    else:
        found = Dense(take(arrays, ""))
    if arrays:
        raise bad_argument(name, Shown(", ".join(arrays)), f"the arrays of a {found.name} matrix")
    return found


def _sparse(name: str, arrays: Tensors) -> Sparse:
    from scipy.sparse import csr_matrix

    parts = [arrays.pop(key) for key in ("data", "indices", "indptr")]
    data, indices, indptr = parts
    if any(part.ndim != 1 for part in parts) or len(indptr) < 2:
        raise bad_argument(
            name, Shown(f"shapes {[part.shape for part in parts]}"), "a sparse matrix"
        )
    if any(part.dtype not in (np.int32, np.int64) for part in (indices, indptr)):
        raise bad_argument(
            name, Shown(f"indices of dtype {indices.dtype}, {indptr.dtype}"), "int32"
        )
    size = len(indptr) - 1
    return Sparse(csr_matrix((data, indices, indptr), shape=(size, size)))
