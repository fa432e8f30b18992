"""How a given matrix steps: the cheapest form that is accurate enough."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenecho.basis import Basis, Cascade, cascade_decomposition, eigendecomposition
from eigenecho.basis.cascade import SMALL
from eigenecho.errors import bad_argument, unknown_name
from eigenecho.reservoir.transition import as_csr, compact, times
from eigenecho.spectra import Spectrum
from eigenecho.types import Array

FORMS = ("auto", "diagonal", "cascade", "sparse", "dense")

WELL_CONDITIONED = 1e4
"""cond(Q) up to which a change of basis keeps at least twelve digits."""

SMALL_RESIDUAL = 1e-10
"""‖W Q − Q [W]_Q‖ / ‖W‖ up to which LAPACK has done its work."""

# Nanoseconds, measured once: their ratios decide, and the same everywhere, so that a choice never
# depends on what else a machine is doing.
MODE_NS = 0.6
"""A mode."""

CONNECTION_NS, UNIT_NS = 0.6, 1.0
"""A connection of a sparse W, and a unit of it."""

ENTRY_NS = 0.3
"""An entry of a dense matrix that meets one state at a time."""

COUPLING_NS = 0.1
"""An entry of a dense matrix that meets a chunk of states at once."""


STAGE_NS = 120.0
"""Having a block at all."""

WORTH = 0.5
"""Cost of a cascade, over that of W itself, from which it is not worth a change of basis."""


@dataclass(frozen=True, eq=False)
class Choice:
    """A transition, the basis it is in, and why.

    Attributes
    ----------
    form : {"diagonal", "cascade", "sparse", "dense"}
    transition : Spectrum, Cascade, scipy sparse matrix or array (N, N)
    basis : Basis or None
        None where the matrix stays in the basis that it came in.
    spectrum : Spectrum
        The eigenvalues.
    residual : float
        ‖W Q − Q [W]_Q‖ / ‖W‖.
    reason : str
    """

    form: str
    transition: Any
    basis: Basis | None
    spectrum: Spectrum
    residual: float = 0.0
    reason: str = "as asked for"

    @property
    def condition(self) -> float:
        """cond(Q) of the change of basis; 1 where there is none."""
        return 1.0 if self.basis is None else self.basis.condition

    def is_accurate(self, condition: float = WELL_CONDITIONED) -> bool:
        """Whether the change of basis costs few digits."""
        return self.condition <= condition and self.residual <= SMALL_RESIDUAL

    @property
    def cost(self) -> float:
        """Nanoseconds a step, by counting operations."""
        return cost(self.transition)


def choose(W: Array, form: str = "auto", condition: float = WELL_CONDITIONED) -> Choice:
    """The cheapest accurate form of a finite real matrix (N, N), or the one that is asked for.

    A form in another basis is accurate up to cond(Q) = ``condition``.
    """
    if form not in FORMS:
        raise unknown_name("form", form, FORMS)
    size = float(np.abs(W).max())
    if size == 0 or 1e-100 < size < 1e100:
        return _choose(W, form, condition)
    # Squares of the entries would overflow, or vanish.
    exponent = int(np.log2(size))
    found = _choose(np.ldexp(W, -exponent), form, condition)
    scale = 2.0**exponent
    if not found.spectrum.radius * scale < np.inf:
        raise bad_argument(
            "W",
            f"<largest entry {size:.3g}>",
            "a matrix whose eigenvalues are within the range of floating point",
        )
    return replace(
        found, transition=times(found.transition, scale), spectrum=found.spectrum.times(scale)
    )


def _choose(W: Array, form: str, condition: float) -> Choice:
    spectrum, basis = eigendecomposition(W)
    plain = Choice("diagonal", spectrum, basis, spectrum, basis.residual(W, spectrum))
    if form in ("auto", "diagonal") and plain.is_accurate(condition):
        return replace(plain, reason=f"the eigenvectors are well conditioned (≤ {condition:.0e})")
    kept = _kept(W, spectrum, form)
    if form in ("sparse", "dense"):
        return kept

    why = f"the eigenvectors are nearly parallel (cond(Q) = {basis.condition:.0e})"
    largest = {"diagonal": 0, "cascade": len(W)}.get(form, _largest_block(W, kept))
    if form == "auto" and kept.form == "sparse":
        kept = replace(kept, reason=f"{why}, and {kept.transition.nnz} connections cost least")
        if np.count_nonzero(np.abs(spectrum.values) <= SMALL * spectrum.radius) > largest:
            return kept
    value, new = cascade_decomposition(W, condition, largest)
    k = len(value.block)
    split = Choice("cascade", value, new, spectrum, new.residual(W, value))
    if form == "cascade":
        return split
    if k == 0 and split.is_accurate(condition):
        reason = "repeated eigenvalues have well-conditioned eigenvectors"
        return Choice("diagonal", value.modes, new, value.modes, split.residual, reason)
    if form == "diagonal":
        return plain
    if split.is_accurate(condition) and split.cost < WORTH * kept.cost:
        return replace(split, reason=f"{why}, but not those beside a block of {k} kept dense")
    if kept.form == "sparse":
        return kept
    return replace(kept, reason=f"{why}, and no cheaper form is accurate")


def _kept(W: Array, spectrum: Spectrum, form: str) -> Choice:
    """W in its own basis, as asked for or as is cheaper."""
    matrix = as_csr(W) if form == "sparse" else W if form == "dense" else compact(W)
    return Choice("dense" if isinstance(matrix, np.ndarray) else "sparse", matrix, None, spectrum)


def _largest_block(W: Array, kept: Choice) -> int:
    """The largest block with which a cascade costs less than W itself."""
    sizes = np.arange(len(W))
    return int(np.count_nonzero(_cascade_cost(sizes, len(W)) < WORTH * kept.cost)) - 1


def cost(transition: Any) -> float:
    """Nanoseconds a step, by counting operations."""
    if isinstance(transition, Spectrum):
        return MODE_NS * transition.units
    if isinstance(transition, Cascade):
        return _cascade_cost(len(transition.block), transition.units)
    N = transition.shape[0]
    if hasattr(transition, "tocsr"):
        return CONNECTION_NS * transition.nnz + UNIT_NS * N
    return ENTRY_NS * N * N


def _cascade_cost(k: Any, N: int) -> Any:
    return STAGE_NS + ENTRY_NS * k * k + COUPLING_NS * k * (N - k) + MODE_NS * (N - k)
