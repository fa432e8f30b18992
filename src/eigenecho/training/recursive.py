"""Recursive least squares, which updates a readout with each row in O(N'²) operations.

After each row, the weights equal the batch solution,

    argmin Σ_t λ^(T−t) ‖y(t) − x(t) w‖² + α ‖L (w − w₀)‖²

The learner rotates each new row into a triangle R. This algorithm neither forms XᵀX, which would
lose half of the digits, nor accumulates errors.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from eigenecho import kernels
from eigenecho.checks import check_shape, is_finite_number
from eigenecho.errors import Words, bad_argument, counted, overflowed
from eigenecho.readout import Gram, Penalty, annihilate, check_upper
from eigenecho.threads import one_blas_thread
from eigenecho.training.evidence import Evidence
from eigenecho.training.update import RoundingError, warn_if_lost
from eigenecho.types import Array, Count

LEAST_RIDGE = 0.1
"""Smallest fraction of the ridge that remains in effect despite forgetting."""

FIRST_ROWS = 64
"""Number of first rows for which the rounding error is estimated after each row."""

LARGE = 1e150
"""Largest number that can be learned; squares of larger numbers may overflow."""


class TrainingState(NamedTuple):
    """State of a learner: R w = Z, where RᵀR is Σ λ^(T−t) x(t)ᵀx(t) plus the penalty.

    ``R`` (N', N') is upper triangular, ``Z`` is (N', D_out) and ``weights`` (D_out, N'). The ridge
    penalises the difference from ``centre`` (N', D_out), and ``rows`` is the number of rows
    learned. ``rounding_error`` is set if R was computed from normal equations, which have half of
    the digits.
    """

    R: Array
    Z: Array
    weights: Array
    centre: Array
    rows: Count = 0
    rounding_error: RoundingError | None = None

    @classmethod
    @one_blas_thread()
    def initial(cls, W_out: Array, penalty: Penalty, ridge: float) -> TrainingState:
        """Return the state before the first row, with the penalty ridge ‖L (w − W_out)‖²."""
        centre = np.array(W_out, np.float64)
        L = np.sqrt(ridge) * penalty.root()
        R, Z = L, L @ centre
        if penalty.basis is not None:
            R, Z, _ = annihilate(np.zeros_like(L), np.zeros_like(centre), L, Z)
        return cls(R, Z, centre.T, centre)

    @classmethod
    @one_blas_thread()
    def of(cls, evidence: Evidence) -> TrainingState:
        """Return the state after the rows on which a readout was trained."""
        R, Z = evidence.triangle
        w, statistics = evidence.weights, evidence.statistics
        rounding_error = RoundingError.of(statistics, w) if isinstance(statistics, Gram) else None
        return cls(R, Z, w.T, np.zeros_like(w), rounding_error=rounding_error)

    def check_fit(self, penalty: Penalty) -> None:
        """Raise if shapes are inconsistent, because compiled code does not check them."""
        size, D = np.shape(self.centre)
        if penalty.size != size:
            raise bad_argument("penalty", Words(counted(penalty.size, "row")), counted(size, "row"))
        shapes = {"R": (size, size), "Z": (size, D), "weights": (D, size), "centre": (size, D)}
        for name, shape in shapes.items():
            check_shape(getattr(self, name), name, shape)
        check_upper(self.R)
        if self.rounding_error is not None:
            for name, shape in {"scale": (size,), "start": (size, D), "size": (D,)}.items():
                check_shape(getattr(self.rounding_error, name), name, shape)


class RecursiveLeastSquares:
    """Readout weights (D_out, N') that are updated with each new row.

    Forgetting does not remove the ridge. The rows of the penalty are renewed in turn, so that the
    effective ridge stays between α/10 and α, and weights that the data do not determine stay
    bounded. ``forgetting`` is λ in (0, 1]; the memory is about 1/(1 − λ) rows long.
    """

    def __init__(
        self, start: TrainingState, penalty: Penalty, ridge: float, forgetting: float
    ) -> None:
        check_rates(ridge, forgetting)
        start.check_fit(penalty)
        self.penalty, self.ridge, self.forgetting = penalty, float(ridge), float(forgetting)
        self._R, self._Z, self.weights, self._centre = (
            np.array(part, np.float64, order="C") for part in start[:4]
        )
        self.rows, self.rounding_error = start.rows, start.rounding_error
        self._kernels = kernels.backend(self._R)
        self._cycle = 0
        if forgetting < 1:
            self._cycle = max(1, int(math.log(LEAST_RIDGE) / math.log(forgetting)))

    @cached_property
    def _root(self) -> Array:
        return self.penalty.root()

    @cached_property
    def _pull(self) -> Array:
        return np.einsum("ij,jk->ik", self._root, self._centre)

    @property
    def training_state(self) -> TrainingState:
        """Copy of the current state, which later rows do not change."""
        R, Z, weights = self._R.copy(), self._Z.copy(), self.weights.copy()
        return TrainingState(R, Z, weights, self._centre, self.rows, self.rounding_error)

    def learn(self, x: Array, target: Array) -> None:
        """Update the weights with a row (N',) and its target.

        Both arguments are overwritten.
        """
        if not max(np.abs(x).max(), np.abs(target).max()) < LARGE:
            raise overflowed("squares of the states", None)
        self._kernels.absorb_row(self._R, self._Z, math.sqrt(self.forgetting), x, target)
        if self._cycle:
            self._renew_ridge()
        self._kernels.back_substitute(self._R, self._Z, self.weights)
        self.rows += 1

    def judge(self, x: Array, dtype: np.dtype) -> None:
        """Warn once if rounding of the initial normal equations affects the output at a row (N',).

        The estimate costs as much as learning a row, so it is computed for the first rows and then
        at powers of two.
        """
        is_due = self.rows <= FIRST_ROWS or self.rows & (self.rows - 1) == 0
        if self.rounding_error is not None and is_due:
            decay = self.forgetting**self.rows
            error = self.rounding_error.error(x, self._R, self.weights.T, decay)
            if warn_if_lost(error, self.ridge, dtype):
                self.rounding_error = None

    def _renew_ridge(self) -> None:
        """Restore some rows of the penalty to the full ridge, in turn."""
        step, n = self.rows % self._cycle, len(self._R)
        age = min(self.rows + 1, self._cycle)
        weight = math.sqrt(-self.ridge * math.expm1(age * math.log(self.forgetting)))
        for i in range(n * step // self._cycle, n * (step + 1) // self._cycle):
            L, pull = self._root[i], self._pull[i]
            self._kernels.absorb_row(self._R, self._Z, 1.0, weight * L, weight * pull)


def check_rates(ridge: Any, forgetting: Any) -> None:
    """Raise unless the ridge and the forgetting factor are valid."""
    if not is_finite_number(ridge) or ridge <= 0:
        remedy = "The ridge keeps the weights bounded before enough rows are learned."
        raise bad_argument("ridge", ridge, "a single finite number > 0", remedy)
    if not is_finite_number(forgetting) or not 0 < forgetting <= 1:
        raise bad_argument(
            "forgetting", forgetting, "a number in (0, 1]", "Use 1 to keep all rows."
        )
