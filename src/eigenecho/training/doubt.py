"""How many digits a change of weights has where XᵀX holds half of those of X.

Let A = XᵀX + αM be known as A + E. A change of weights Δ that is right for A + E is, to first
order, off by A⁻¹ E Δ. The entries of E are rounding, |E_ij| ≈ ε d_i d_j with d² the diagonal of
XᵀX, and its signs are anybody's guess: so E Δ ≈ ε ‖D Δ‖ d with signs that are drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from eigenecho.checks import check_count
from eigenecho.errors import IllConditionedWarning, Shown, bad_argument, warn
from eigenecho.readout import Gram
from eigenecho.types import Array

LOST = 1e-8
"""Error of outputs over their size from which digits count as lost."""

EAGER = 64
"""Steps at each of which a learner is judged: what is new to it comes early."""


def scale_of(statistics: Gram) -> Array:
    """The roots d of diag XᵀX, (N',)."""
    return np.sqrt(np.maximum(np.diag(statistics.XtX), 0.0))


def doubt(scale: Array, change: Array, solve: Callable[[Array], Array]) -> Array:
    """A⁻¹ E Δ (N', D_out) for d = ``scale`` (N',), Δ = ``change`` and A⁻¹ by ``solve``."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], len(scale))
    rounding = np.finfo(np.float64).eps * np.linalg.norm(scale[:, None] * change, axis=0)
    return solve((signs * scale)[:, None] * rounding)


def warn_if_lost(error: float, ridge: float, dtype: np.dtype) -> bool:
    """Warn where outputs are off by more than ``dtype`` would have them; whether that was so."""
    if not error > max(LOST, float(np.finfo(dtype).eps)):
        return False
    warn(
        f"the statistics that were kept hold too few digits at a ridge of {ridge:g}: what the new "
        f"rows change puts outputs off by about {error:.0e} of their size. Fit with solver='qr' to "
        "train further to all digits, or with a larger ridge.",
        IllConditionedWarning,
    )
    return True


class Doubt(NamedTuple):
    """What a learner that starts from normal equations keeps to judge its digits by.

    ``scale`` (N',) the roots of diag XᵀX, ``start`` (N', D_out) the weights it started from,
    ``size`` (D_out,) of the outputs, ``rows`` (k, N') some of those seen, after ``steps`` steps.
    """

    scale: Array
    start: Array
    size: Array
    rows: Array
    steps: int = 0

    @classmethod
    def of(cls, statistics: Gram, weights: Array) -> Doubt:
        """Of a learner that knows these statistics and has seen no row of its own."""
        squares = np.einsum("ie,ij,je->e", weights, statistics.XtX, weights, optimize=True)
        size = np.sqrt(np.maximum(squares, 0.0) / max(statistics.rows, 1))
        size[size == 0] = 1.0
        rows = np.empty((0, len(weights)))
        return cls(scale_of(statistics), weights.copy(), size, rows)

    def check(self, size: int, outputs: int) -> None:
        """Whether it is of a readout of N' = ``size`` rows and so many outputs."""
        shapes = (size,), (size, outputs), (outputs,), (len(self.rows), size)
        for name, part, shape in zip(self._fields[:4], self[:4], shapes, strict=True):
            if np.shape(part) != shape:
                raise bad_argument(name, Shown(f"shape {np.shape(part)}"), f"shape {shape}")
        if not np.all(self.size > 0):
            raise bad_argument("size", self.size, "numbers > 0")
        check_count(self.steps, "steps")

    @property
    def is_due(self) -> bool:
        """Whether to judge now: at each of the first steps, then at powers of two."""
        return self.steps <= EAGER or self.steps & (self.steps - 1) == 0

    def after(self, x: Array) -> Doubt:
        """After one more row (N',), which is kept if it is time to judge."""
        new = self._replace(steps=self.steps + 1)
        return new._replace(rows=np.vstack([self.rows, x])) if new.is_due else new

    def error(self, R: Array, weights: Array, faded: float) -> float:
        """How far off the rows kept are, over the size of the outputs.

        For RᵀR = A and ``weights`` (N', D_out) of now; ``faded`` is the weight that XᵀX has left.
        """

        def solve(b: Array) -> Array:
            half = solve_triangular(R, b, trans="T", check_finite=False)
            return solve_triangular(R, half, check_finite=False)

        off = faded * doubt(self.scale, weights - self.start, solve)
        return float(np.max(np.abs(self.rows @ off) / self.size, initial=0.0))
