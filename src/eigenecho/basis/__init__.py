"""Eigenvectors: the change of basis between neurons and eigenmodes. No time here."""

from eigenecho.basis.basis import Basis, block_diagonal, interleave, matrix_at_work, separate
from eigenecho.basis.cascade import Cascade, cascade_decomposition, check_layout
from eigenecho.basis.eigen import eigendecomposition, random_basis

__all__ = [
    "Basis",
    "Cascade",
    "block_diagonal",
    "cascade_decomposition",
    "check_layout",
    "eigendecomposition",
    "interleave",
    "matrix_at_work",
    "random_basis",
    "separate",
]
