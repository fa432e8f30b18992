"""Marginal likelihood of the targets as a function of the ridge, in O(N) per ridge.

A ridge α corresponds to a prior: the weights of output d are N(0, σ_d²/α (LᵀL)⁻¹), and the targets
are X w plus noise of variance σ_d². Then the targets are Gaussian,

    y_d ~ N(0, σ_d² (I + X (LᵀL)⁻¹ Xᵀ / α))

With X L⁻¹ = U diag(S) Vᵀ, n rows, and the most likely σ_d² = q_d / n,

    log p = −Σ_d n/2 (log(2π q_d / n) + 1) − D/2 Σ_i log(1 + S_i²/α)
    q_d   = min_w ‖y_d − X w‖² + α ‖L w‖²
          = ‖y_d across U‖² + Σ_i (Uᵀy_d)_i² α / (S_i² + α)

An unpenalised bias has no such prior. It is first projected out of rows and targets, which reduces
n by 1: the result is the restricted likelihood.

The prior can be wrong: recalling an input from long ago requires large weights on states that
hardly vary, but the prior expects small weights and attributes the target to noise. So the ridge
must also pass a test without a prior, generalised cross-validation. It estimates the error on new
rows from the squared errors e_d on the training rows and the degrees of freedom γ of the fit,

    Σ_d log [e_d / (1 − ρ γ/n)²],   e_d = ‖y_d across U‖² + Σ_i (Uᵀy_d)_i² (α / (S_i² + α))²

with γ = Σ_i S_i² / (S_i² + α). With ρ = 1 it sometimes overfits; ρ = 1.2 is the usual remedy. The
selected ridge has the largest likelihood among those whose error is within 2% of the smallest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from eigenecho.errors import IllConditionedWarning, UnstableError, warn
from eigenecho.readout.factorised import EPS, Factorisation
from eigenecho.types import Array

HIGHEST = 1e6
"""Largest ridge that is tried, relative to the largest S². All weights vanish there."""

STEPS = 8
"""Number of ridges per decade in the initial grid of the search for the maximum."""

FREEDOM_WEIGHT = 1.2
"""Weight ρ of a degree of freedom in cross-validation."""

ERROR_LIMIT = 1.02
"""Largest cross-validation error of a selected ridge, relative to the smallest error."""

SUMS_FLOOR = 1e-12
"""Fraction of ‖y‖² below which residuals computed from sums are rounding errors."""

ROWS_FLOOR = 1e-30
"""Fraction of ‖y‖² below which residuals of a QR factorisation are rounding errors."""

TINY, SMALLEST = float(np.finfo(np.float64).tiny), float(np.finfo(np.float64).smallest_subnormal)
"""Smallest normal and smallest positive number. Squares below ``TINY`` lose digits."""

TIED = 1e-6
"""Difference of log densities that may be due to rounding, so that ridges are equally likely."""


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Log density of the targets of n rows as a function of the ridge.

    ``s2`` (N,) is S², ``along`` (N, D_out) is (Uᵀy)², ``across`` (D_out,) is the part of ‖y‖²
    orthogonal to U, and ``rows`` is n. Values of the ridge below ``floor``, and of q_d below
    ``least`` (D_out,), are rounding errors.
    """

    s2: Array
    along: Array
    across: Array
    rows: float
    floor: float
    least: Array

    @classmethod
    def of_rows(
        cls, factorised: Factorisation, across: Array, rows: int, squares: Array
    ) -> Likelihood:
        """Return the likelihood for an orthogonal factorisation of rows."""
        s2 = factorised.S**2
        # Fractions of tiny squares would underflow to 0, as if the output were 0.
        least = np.where(squares < TINY, 0.0, np.maximum(ROWS_FLOOR * squares, SMALLEST))
        floor = EPS**2 * s2.max(initial=0.0)
        return cls(s2, factorised.UtY**2, across, rows, floor, least)

    @classmethod
    def of_sums(
        cls, factorised: Factorisation, XtX: Array, XtY: Array, rows: int, squares: Array
    ) -> Likelihood:
        """Return the likelihood for sums of products of rows. ``squares`` (D_out,) are ‖y_d‖²."""
        free, least = factorised.penalty.free, SUMS_FLOOR * squares
        if free:
            squares = squares - XtY[0] ** 2 / XtX[0, 0]
        along = factorised.UtY**2
        across = squares - along.sum(axis=0)
        return cls(factorised.S**2, along, across, rows - free, factorised.cutoff, least)

    def unexplained(self, ridges: Array) -> Array:
        """Return q_d (ridges, D_out), at least ``least``."""
        share = ridges[:, None] / (self.s2 + ridges[:, None])
        return np.maximum(self.across + share @ self.along, self.least)

    def expected_errors(self, ridges: Array) -> Array:
        """Return the expected log error on new rows, averaged over outputs, (ridges,)."""
        share = ridges[:, None] / (self.s2 + ridges[:, None])
        squares = np.maximum(self.across + share**2 @ self.along, self.least)
        free = 1 - FREEDOM_WEIGHT * (1 - share).sum(axis=1) / self.rows
        moved = squares[:, self.least > 0]
        fit = 0.5 * np.log(moved).mean(axis=1) if moved.size else np.zeros(len(ridges))
        return np.where(free > 0, fit - np.log(np.where(free > 0, free, 1.0)), np.inf)

    def __call__(self, ridges: Sequence[float] | Array) -> Array:
        """Return the log density for each ridge > 0. Outputs that are always 0 are ignored."""
        ridges = np.asarray(ridges, np.float64)
        return log_density(self.unexplained(ridges), self.s2, ridges, self.rows)


def check_targets(squares: Array, sums: Array) -> None:
    """Raise or warn if the squares ‖y_d‖² of targets cannot be used to compare ridges.

    ``sums`` (N', D_out) are linear in the targets. They distinguish targets that are 0 from targets
    whose squares underflow.
    """
    if not np.all(np.isfinite(squares)):
        raise UnstableError(
            "The squared targets, which are needed to compare ridges, overflowed. Scale the "
            "targets, or use standardize=True."
        )
    if np.any((squares < TINY) & np.any(sums != 0, axis=0)):
        warn(
            "Some targets are so small that their squares underflow. They are ignored when the "
            "ridge is selected. Scale the targets, or use standardize=True.",
            IllConditionedWarning,
        )


def log_density(q: Array, s2: Array, ridges: Array, rows: float) -> Array:
    """Return the log density of Y for each ridge, given q_d (ridges, D_out) and S² (N,)."""
    moved = np.any(q > 0, axis=0)
    if not moved.any():
        return np.zeros(len(ridges))
    spread = np.log1p(s2 / ridges[:, None]).sum(axis=1)
    with np.errstate(divide="ignore"):  # the density is infinite without noise
        fit = np.log(2 * np.pi * q[:, moved] / rows) + 1
    return -0.5 * (rows * fit.sum(axis=1) + moved.sum() * spread)


class SelectedRidge(NamedTuple):
    """Ridge and, if it was selected by likelihood, the log density of the targets.

    ``is_resolved`` is False if the ridge or the noise is not larger than rounding errors.
    """

    ridge: float
    log_density: float | None = None
    is_resolved: bool = True


def likeliest(likelihood: Likelihood, ridges: Sequence[float] | None = None) -> SelectedRidge:
    """Return the ridge with the largest likelihood among those that pass cross-validation.

    The best ridge of a grid is refined between its neighbours. Without noise, the result is the
    smallest ridge above rounding errors.

    If ``ridges`` are given, in ascending order, return the likeliest of them, or the largest if
    several are equally likely, as for a single row.
    """
    from scipy.optimize import minimize_scalar

    if ridges is not None:
        densities = likelihood(np.asarray(ridges))
        best = int(np.flatnonzero(~(densities < densities.max() - TIED))[-1])
        return SelectedRidge(ridges[best], float(densities[best]))
    largest, lowest = float(likelihood.s2.max(initial=0.0)), likelihood.floor
    if not 0 < lowest < largest or not np.any(likelihood.least > 0):
        return SelectedRidge(max(HIGHEST * largest, 1.0), 0.0, True)  # nothing to learn from
    grid = ladder(lowest, HIGHEST * largest, STEPS)
    errors = likelihood.expected_errors(grid)
    passes = errors <= errors.min() + np.log(ERROR_LIMIT)
    best = int(np.argmax(np.where(passes, likelihood(grid), -np.inf)))
    ridge = float(grid[best])
    around = slice(max(best - 1, 0), best + 2)
    if np.all(passes[around]):
        minimum = minimize_scalar(
            lambda x: -float(likelihood(np.exp([x]))[0]), method="bounded",
            bounds=np.log(grid[around][[0, -1]]), options={"xatol": 1e-6},
        )  # fmt: skip
        ends = np.array([ridge, np.exp(minimum.x)])
        ridge = float(ends[int(np.argmax(likelihood(ends)))])
    at = np.array([ridge])
    clear = bool(np.all((likelihood.unexplained(at) > likelihood.least) | (likelihood.least == 0)))
    return SelectedRidge(ridge, float(likelihood(at)[0]), best > 0 and clear)


def ladder(lowest: float, highest: float, steps: int) -> Array:
    """Return a geometric grid of ridges, with ``steps`` per decade.

    The grid starts at the highest ridge, so that its values do not depend on the lowest.
    """
    count = 1 + int(steps * np.log10(highest / lowest))
    return highest * 10.0 ** (-np.arange(count)[::-1] / steps)
