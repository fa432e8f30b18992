"""Selection of the cheapest accurate form of a given matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eigenecho.basis import Basis, eigendecomposition
from eigenecho.checks import check_known
from eigenecho.kernels import costs
from eigenecho.spectra import Spectrum
from eigenecho.transition.cascade import SMALL, cascade_decomposition, step_cost
from eigenecho.transition.diagonal import Diagonal
from eigenecho.transition.matrix import Dense, compact, compressed
from eigenecho.transition.transition import Transition
from eigenecho.types import Array

FORMS = ("auto", "diagonal", "cascade", "sparse", "dense")

WELL_CONDITIONED = 1e4
"""Largest cond(Q) for which a change of basis preserves at least twelve digits."""

SMALL_RESIDUAL = 1e-10
"""Largest ‖W Q − Q [W]_Q‖ / ‖W‖ of a decomposition that is considered accurate."""


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

    def is_accurate(self, condition: float = WELL_CONDITIONED) -> bool:
        """Return True if the change of basis loses little precision."""
        return self.condition <= condition and self.residual <= SMALL_RESIDUAL

    @property
    def form(self) -> str:
        """Name of the form: "diagonal", "cascade", "sparse" or "dense"."""
        return self.transition.name


def choose_form(W: Array, form: str = "auto", condition: float = WELL_CONDITIONED) -> Choice:
    """Return the cheapest accurate form of a finite real matrix (N, N), or the requested one.

    A form in another basis is considered accurate only if cond(Q) ≤ ``condition``.
    """
    check_known(form, "form", FORMS)
    size = float(np.abs(W).max())
    if size == 0 or 1e-100 < size < 1e100:
        return _choose(W, form, condition)
    # W is rescaled because squares of its entries would overflow or underflow.
    exponent = int(np.log2(size))
    choice = _choose(np.ldexp(W, -exponent), form, condition)
    scale = 2.0**exponent
    if not choice.spectrum.radius * scale < np.inf:
        raise ValueError(
            f"The eigenvalues of W overflow, because its largest entry is {size:.3g}. Scale W down."
        )
    return replace(
        choice, transition=choice.transition.times(scale), spectrum=choice.spectrum.times(scale)
    )


def _choose(W: Array, form: str, condition: float) -> Choice:
    spectrum, basis = eigendecomposition(W)
    modes = Diagonal(spectrum)
    plain = Choice(modes, basis, spectrum, basis.residual(W, modes.matrix))
    if form in ("auto", "diagonal") and plain.is_accurate(condition):
        return replace(plain, reason=f"the eigenvectors are well conditioned (≤ {condition:.0e})")
    kept = Choice({"sparse": compressed, "dense": Dense}.get(form, compact)(W), None, spectrum)
    if form in ("sparse", "dense"):
        return kept

    why = f"the eigenvectors are nearly parallel (cond(Q) = {basis.condition:.0e})"
    worth = costs.MAX_CASCADE_COST * kept.transition.cost
    # The largest block for which a step of the cascade costs less than ``worth``.
    affordable = int(np.count_nonzero(step_cost(np.arange(len(W)), len(W)) < worth)) - 1
    largest = {"diagonal": 0, "cascade": len(W)}.get(form, affordable)
    if form == "auto" and kept.form == "sparse":
        kept = replace(
            kept, reason=f"{why}, and W has only {kept.transition.matrix.nnz} connections"
        )
        if np.count_nonzero(np.abs(spectrum.values) <= SMALL * spectrum.radius) > largest:
            return kept
    value, new = cascade_decomposition(W, condition, largest)
    k = len(value.block)
    split = Choice(value, new, spectrum, new.residual(W, value.matrix))
    if form == "cascade":
        return split
    if k == 0 and split.is_accurate(condition):
        reason = "repeated eigenvalues have well-conditioned eigenvectors"
        return Choice(Diagonal(value.modes), new, value.modes, split.residual, reason)
    if form == "diagonal":
        return plain
    if split.is_accurate(condition) and split.transition.cost < worth:
        return replace(split, reason=f"{why}, except in a dense block of {k} dimensions")
    if kept.form == "sparse":
        return kept
    return replace(kept, reason=f"{why}, and no cheaper form is accurate")
