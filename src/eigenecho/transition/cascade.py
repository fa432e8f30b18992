"""Cascades: dense blocks that drive modes, for matrices without a usable eigenbasis.

Every real W has a Schur form W = Z T Zᵀ, with Z orthogonal and T block triangular, in which the
eigenvalues can have any order. If the eigenvalues without independent eigenvectors come first, and
the remaining block C is diagonalised, then

    Zᵀ W Z = [[A, B], [0, C]],   C Q_C = Q_C Λ,   Q = Z blkdiag(I, Q_C),
    [W]_Q = [[A, B Q_C], [0, Λ]]

The block and the modes are not decoupled, because decoupling would lose precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from eigenecho.basis import Basis, eigendecomposition
from eigenecho.checks import check_finite, check_lr, check_real, check_shape
from eigenecho.kernels import CascadeForm, costs
from eigenecho.spectra import Spectrum, from_matrix
from eigenecho.transition.diagonal import Diagonal, block_diagonal
from eigenecho.transition.transition import Transition
from eigenecho.types import Array

SMALL = 1e-2
"""Largest modulus, relative to the radius, of eigenvalues that are included in the block first.

Sparse matrices have chains of units outside any cycle, whose zero eigenvalues are scattered by
rounding errors.
"""

PARALLEL = 0.1
"""Smallest share in the singular directions of Q_C, relative to the largest share, for which a mode
is included in the block."""

INDEPENDENT = 1e-6
"""Smallest pivot, relative to the largest, of eigenvectors that are considered independent."""

ROUNDING = 16.0
"""Largest entry of T that is set to zero, relative to ‖W‖ times the machine epsilon."""

ROUNDS = 6
"""Maximum number of times that the block is enlarged."""


@dataclass(frozen=True, eq=False, repr=False)
class Cascade(Transition):
    """Cascade form [W]_Q = [[A, B], [0, Λ]], in which a small dense block drives modes.

        z(t) = z(t−1) A,   m(t) = m(t−1) ⊙ λ + z(t−1) B

    ``block`` is A (k, k). ``coupling`` is B (k, N − k), with columns in the Q layout of the modes.
    """

    block: Array
    coupling: Array
    modes: Spectrum

    name = "cascade"
    steps_by_blas = True

    def __post_init__(self) -> None:
        k = len(np.atleast_1d(self.block))
        for name, columns in (("block", k), ("coupling", self.modes.units)):
            value = np.asarray(getattr(self, name))
            check_real(value, name)
            check_shape(value, name, (k, columns))
            part = np.array(value, dtype=np.float64, order="C")
            check_finite(part, name)
            part.setflags(write=False)
            object.__setattr__(self, name, part)

    @property
    def units(self) -> int:
        return len(self.block) + self.modes.units

    @property
    def spectrum(self) -> Spectrum:
        """All N eigenvalues, beginning with those of the block."""
        if not len(self.block):
            return self.modes
        kept = from_matrix(self.block)
        return Spectrum(
            np.concatenate([kept.real, self.modes.real]),
            np.concatenate([kept.pairs, self.modes.pairs]),
        )

    @property
    def matrix(self) -> Array:
        k = len(self.block)
        W = np.zeros((self.units, self.units))
        W[:k, :k], W[:k, k:], W[k:, k:] = self.block, self.coupling, block_diagonal(self.modes)
        return W

    @property
    def layout(self) -> tuple[int, int]:
        return len(self.block), self.modes.real.size

    @property
    def cost(self) -> float:
        return step_cost(len(self.block), self.units)

    def form(self, dtype: DTypeLike = np.float64) -> CascadeForm:
        block, coupling = (
            np.array(part, dtype=dtype, order="C") for part in (self.block, self.coupling)
        )
        return CascadeForm(block, coupling, *Diagonal(self.modes).form(dtype))

    def padded(self, extra: int) -> Cascade:
        coupling = np.pad(self.coupling, ((0, 0), (extra, 0)))
        return Cascade(self.block, coupling, Diagonal(self.modes).padded(extra).modes)

    def times(self, factor: float) -> Cascade:
        return Cascade(factor * self.block, factor * self.coupling, self.modes.times(factor))

    def leak(self, lr: float) -> Cascade:
        check_lr(lr)
        if lr == 1:
            return self
        block = lr * self.block + (1 - lr) * np.eye(len(self.block))
        return Cascade(block, lr * self.coupling, self.modes.leak(lr))

    def __repr__(self) -> str:
        return f"Cascade({self.units} units: a block of {len(self.block)}, {self.modes!r})"


def step_cost(block: Any, units: int) -> Any:
    """Return the time per step, in nanoseconds, with a block of the given size."""
    modes = units - block
    dense = costs.DENSE_ENTRY_NS * block * block + costs.COUPLING_ENTRY_NS * block * modes
    return costs.BLOCK_NS + dense + costs.MODE_NS * modes


def cascade_decomposition(W: Array, condition: float, largest: int) -> tuple[Cascade, Basis]:
    """Return the first cascade of W with cond(Q) ≤ ``condition``, or the best-conditioned one.

    The block is empty at first. It is extended by small eigenvalues, and then by eigenvalues with
    nearly parallel eigenvectors, up to ``largest`` dimensions.
    """
    splits = []
    for split in _splits(real_schur(W), condition, largest):
        splits.append(split)
        if split[1].condition <= condition:
            break
    return min(splits, key=lambda split: split[1].condition)


def _splits(schur: Schur, condition: float, largest: int) -> Iterator[tuple[Cascade, Basis]]:
    """Yield cascades with blocks of increasing size, beginning with W in its eigenbasis."""
    chosen = np.zeros(len(schur.T), dtype=bool)
    split, modes = _split(schur, 0)
    yield split
    chosen |= np.abs(schur.values) <= SMALL * np.abs(schur.values).max()
    for _ in range(ROUNDS):
        chosen = schur.with_partners(chosen)
        if chosen.all():  # at least one mode must remain
            chosen[schur.last :] = False
        k = int(chosen.sum())
        if k > largest:
            return
        first = ordered(schur, chosen) if k else schur
        if k and first is not None:
            split, modes = _split(first, k)
            yield split
        for value in _nearly_parallel(modes, condition):
            distance = np.where(chosen, np.inf, np.abs(schur.values - value))
            chosen[int(np.argmin(distance))] = True


Modes = tuple[Spectrum, Basis]


def _split(schur: Schur, k: int) -> tuple[tuple[Cascade, Basis], Modes]:
    """Return the cascade whose block is the first k rows and columns of T."""
    T, Z = schur.T, schur.Z
    modes, basis = _tidied(*eigendecomposition(T[k:, k:]))
    Q = np.concatenate([Z[:, :k], Z[:, k:] @ basis.Q], axis=1)
    value = Cascade(T[:k, :k], T[:k, k:] @ basis.Q, modes)
    return (value, Basis(Q, basis.n_real, k)), (modes, basis)


def _tidied(modes: Spectrum, basis: Basis) -> Modes:
    """Orthonormalise the eigenvectors of repeated real eigenvalues if they are independent."""
    Q = np.array(basis.Q)
    values, counts = np.unique(modes.real, return_counts=True)
    for value in values[counts > 1]:
        same = np.flatnonzero(modes.real == value)
        orthonormal, R = np.linalg.qr(Q[:, same])
        pivots = np.abs(np.diag(R))
        if pivots.min() > INDEPENDENT * pivots.max():
            Q[:, same] = orthonormal
    return modes, Basis(Q, basis.n_real)


def _nearly_parallel(modes: Modes, condition: float) -> Array:
    """Return the eigenvalues of the modes that make Q_C nearly singular."""
    spectrum, basis = modes
    _, sizes, directions = np.linalg.svd(basis.Q)
    singular = directions[sizes * condition <= 3 * sizes[0]]
    if not len(singular):
        singular = directions[-1:]
    share = np.sum(singular**2, axis=0)
    return spectrum.values[share > PARALLEL * share.max()]


# The real Schur form ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Schur:
    """Schur form W = Z T Zᵀ: Z is orthogonal, T upper triangular except for 2×2 blocks of pairs."""

    T: Array
    Z: Array

    @cached_property
    def values(self) -> Array:
        """Eigenvalues in the order of the diagonal."""
        values = np.diag(self.T).astype(np.complex128)
        for i in np.flatnonzero(np.diag(self.T, -1)):
            values[i : i + 2] = np.linalg.eigvals(self.T[i : i + 2, i : i + 2])
        return values

    @property
    def last(self) -> int:
        """Index at which the last eigenvalue, or the last pair, begins."""
        return len(self.T) - (2 if len(self.T) > 1 and self.T[-1, -2] else 1)

    def with_partners(self, chosen: Array) -> Array:
        """Return the flags (N,), with both flags of a pair set if either is set."""
        first = np.flatnonzero(np.diag(self.T, -1))
        both = chosen.copy()
        both[first] = both[first + 1] = chosen[first] | chosen[first + 1]
        return both


def real_schur(W: Array) -> Schur:
    """Return the real Schur form, with rounding errors in T set to zero.

    For a repeated eigenvalue with independent eigenvectors, the entries above the diagonal are
    rounding errors. Ratios of rounding errors would result in parallel eigenvectors.
    """
    from scipy.linalg import schur

    T, Z = schur(W, output="real")
    rounding = ROUNDING * np.finfo(np.float64).eps * np.linalg.norm(W)
    clean = np.where(np.abs(T) <= rounding, 0.0, T)
    pair = np.flatnonzero(np.diag(clean, -1))
    clean[pair, pair + 1] = T[pair, pair + 1]
    return Schur(clean, Z)


def ordered(schur: Schur, chosen: Array) -> Schur | None:
    """Return the form with the chosen eigenvalues first; None if rounding prevents a swap."""
    from scipy.linalg.lapack import dtrsen

    T, Z, *_, failed = dtrsen(chosen.astype(np.int32), schur.T, schur.Z, job="N", lwork=len(chosen))
    return None if failed else Schur(np.ascontiguousarray(T), np.ascontiguousarray(Z))
