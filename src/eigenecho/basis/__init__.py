"""Eigenvectors: the change of basis between neurons and eigenmodes. No time here."""

from eigenecho.basis.basis import Basis, block_diagonal, interleave, separate
from eigenecho.basis.eigen import eigendecomposition, random_basis

__all__ = [
    "Basis",
    "block_diagonal",
    "eigendecomposition",
    "interleave",
    "random_basis",
    "separate",
]
