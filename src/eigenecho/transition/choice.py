"""Selection of the cheapest accurate form of a given matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eigenecho.basis import Basis, eigendecomposition
from eigenecho.checks import check_known
from eigenecho.spectra import Spectrum
from eigenecho.transition.diagonal import Diagonal
from eigenecho.transition.matrix import Dense, compact, compressed
from eigenecho.transition.transition import Transition
from eigenecho.types import Array

FORMS = ("auto", "diagonal", "sparse", "dense")

WELL_CONDITIONED = 1e4
"""Largest cond(Q) for which a change of basis preserves at least twelve digits."""

SMALL_RESIDUAL = 1e-10
"""Largest ‖W Q − Q [W]_Q‖ / ‖W‖ of a decomposition that is considered accurate."""

INDEPENDENT = 1e-6
"""Smallest pivot, relative to the largest, of eigenvectors that are considered independent."""

ROUNDING = 16.0
"""Largest entry of T that is set to zero, relative to ‖W‖ times the machine epsilon."""


@dataclass(frozen=True, eq=False)
class Choice:
    """Chosen transition with its basis (None if unchanged), its eigenvalues, and the reason.

    ``residual`` is ‖W Q − Q [W]_Q‖ / ‖W‖.
    """

    transition: Transition
    basis: Basis | None
    spectrum: Spectrum
    residual: float = 0.0
    reason: str = "as requested"

    @property
    def condition(self) -> float:
        """Condition number of the change of basis; 1 if there is none."""
        return 1.0 if self.basis is None else self.basis.condition

    @property
    def is_accurate(self) -> bool:
        """True if the change of basis loses little precision."""
        return self.condition <= WELL_CONDITIONED and self.residual <= SMALL_RESIDUAL

    @property
    def form(self) -> str:
        """Name of the form: "diagonal", "sparse" or "dense"."""
        return self.transition.name


def choose_form(W: Array, form: str = "auto") -> Choice:
    """Return the cheapest accurate form of a finite real matrix (N, N), or the requested one."""
    check_known(form, "form", FORMS)
    size = float(np.abs(W).max())
    if size == 0 or 1e-100 < size < 1e100:
        return _choose(W, form)
    # W is rescaled because squares of its entries would overflow or underflow.
    exponent = int(np.log2(size))
    choice = _choose(np.ldexp(W, -exponent), form)
    scale = 2.0**exponent
    if not choice.spectrum.radius * scale < np.inf:
        raise ValueError(
            f"The eigenvalues of W overflow, because its largest entry is {size:.3g}. Scale W down."
        )
    return replace(
        choice, transition=choice.transition.times(scale), spectrum=choice.spectrum.times(scale)
    )


def _choose(W: Array, form: str) -> Choice:
    reason = f"the eigenvectors are well conditioned (≤ {WELL_CONDITIONED:.0e})"
    modes = _diagonal(W, *eigendecomposition(W), reason)
    if form in ("auto", "diagonal") and modes.is_accurate:
        return modes
    if form in ("sparse", "dense"):
        return Choice({"sparse": compressed, "dense": Dense}[form](W), None, modes.spectrum)
    reason = "repeated eigenvalues have well-conditioned eigenvectors"
    tidied = _diagonal(W, *_tidied_eigendecomposition(W), reason)
    if tidied.is_accurate:
        return tidied
    why = f"the eigenvectors are nearly parallel (cond(Q) = {modes.condition:.0e})"
    if form == "diagonal":
        return replace(modes, reason=f"as requested, although {why}")
    return Choice(compact(W), None, modes.spectrum, reason=why)


def _diagonal(W: Array, spectrum: Spectrum, basis: Basis, reason: str) -> Choice:
    modes = Diagonal(spectrum)
    return Choice(modes, basis, spectrum, basis.residual(W, modes.matrix), reason)


def _tidied_eigendecomposition(W: Array) -> tuple[Spectrum, Basis]:
    """Return the eigenvalues and eigenvectors of W, orthonormal for repeated real eigenvalues.

    They are computed from the Schur form W = Z T Zᵀ. For a repeated eigenvalue with independent
    eigenvectors, the entries of T above the diagonal are rounding errors, which are set to zero.
    Ratios of rounding errors would result in parallel eigenvectors.
    """
    from scipy.linalg import schur

    T, Z = schur(W, output="real")
    rounding = ROUNDING * np.finfo(np.float64).eps * np.linalg.norm(W)
    clean = np.where(np.abs(T) <= rounding, 0.0, T)
    pair = np.flatnonzero(np.diag(clean, -1))
    clean[pair, pair + 1] = T[pair, pair + 1]
    modes, basis = eigendecomposition(clean)
    Q = np.array(basis.Q)
    values, counts = np.unique(modes.real, return_counts=True)
    for value in values[counts > 1]:
        same = np.flatnonzero(modes.real == value)
        orthonormal, R = np.linalg.qr(Q[:, same])
        pivots = np.abs(np.diag(R))
        if pivots.min() > INDEPENDENT * pivots.max():
            Q[:, same] = orthonormal
    return modes, Basis(Z @ Q, basis.n_real)
