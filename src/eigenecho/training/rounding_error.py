"""How many digits a change of weights has where XᵀX holds half of those of X.

Let A = XᵀX + αM be known as A + E. A change of weights Δ that is right for A + E is, to first
order, off by A⁻¹ E Δ. The entries of E are rounding, |E_ij| ≈ ε d_i d_j with d² the diagonal of
XᵀX, and its signs are anybody's guess: so E Δ ≈ ε ‖D Δ‖ d with signs that are drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve

from eigenecho.arrays import namespace
from eigenecho.checks import check_shape
from eigenecho.errors import IllConditionedWarning, bad_argument, warn
from eigenecho.readout import EPS, Gram
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array

LOST = 1e-8
"""Error of outputs over their size from which digits count as lost."""


def scale_of(statistics: Gram) -> Array:
    """The roots d of diag XᵀX, (N',)."""
    xp = namespace(statistics.XtX)
    return xp.sqrt(xp.maximum(xp.diagonal(statistics.XtX), 0.0))


def doubt(scale: Array, change: Array, solve: Callable[[Array], Array]) -> Array:
    """A⁻¹ E Δ (N', D_out) for d = ``scale`` (N',), Δ = ``change`` and A⁻¹ by ``solve``."""
    xp = namespace(scale)
    signs = xp.asarray(np.random.default_rng(0).choice([-1.0, 1.0], len(scale)))
    rounding = EPS * xp.linalg.norm(scale[:, None] * change, axis=0)
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


class RoundingError(NamedTuple):
    """What a learner that starts from normal equations keeps to judge its digits by.

    ``scale`` (N',) the roots of diag XᵀX, ``start`` (N', D_out) the weights it started from,
    ``size`` (D_out,) of the outputs.
    """

    scale: Array
    start: Array
    size: Array

    @classmethod
    def of(cls, statistics: Gram, weights: Array) -> RoundingError:
        """Of a learner that knows these statistics and has learnt no row of its own."""
        # Squares of very large or small weights would leave the range of numbers.
        unit = np.abs(weights).max(axis=0)
        unit[unit == 0] = 1.0
        w = weights / unit
        squares = np.einsum("ie,ij,je->e", w, statistics.XtX, w, optimize=True)
        size = unit * np.sqrt(np.maximum(squares, 0.0) / max(statistics.rows, 1))
        size[size == 0] = 1.0
        return cls(scale_of(statistics), weights.copy(), size)

    def check_shapes(self, size: int, outputs: int) -> None:
        """Whether it is of a readout of N' = ``size`` rows and so many outputs."""
        shapes = (size,), (size, outputs), (outputs,)
        for name, part, shape in zip(self._fields, self, shapes, strict=True):
            check_shape(part, name, shape)
        if not np.all(self.size > 0):
            raise bad_argument("size", self.size, "numbers > 0")

    @one_blas_thread()
    def error(self, x: Array, R: Array, weights: Array, faded: float) -> float:
        """How far off the output at a row (N',) is, over the size of the outputs.

        For RᵀR = A and ``weights`` (N', D_out) of now; ``faded`` is the weight that XᵀX has left.
        """
        solve = partial(cho_solve, (R, False), check_finite=False)
        off = faded * doubt(self.scale, weights - self.start, solve)
        return float(np.max(np.abs(x @ off) / self.size))
