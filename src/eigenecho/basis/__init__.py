"""Eigenvectors: the change of basis between neurons and eigenmodes. No time here."""

from eigenecho.basis.basis import Basis, interleave, random_basis, separate
from eigenecho.basis.drawn import DrawnBasis, drawn_basis
from eigenecho.basis.eigen import eigendecomposition
from eigenecho.basis.schur import Schur, ordered, real_schur
