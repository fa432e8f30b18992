"""Application of the input weights after the recursion."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from itertools import product
from typing import Any

import numpy as np

from eigenecho.basis import interleave, separate
from eigenecho.estimators import DiagonalReservoir
from eigenecho.model import LinearModel
from eigenecho.paper.claims import spread
from eigenecho.paper.experiment import (
    Cell,
    Experiment,
    Key,
    Results,
    Section,
    fit_ridge,
    listed,
    run_loop,
)
from eigenecho.types import Array

RADII = {"golden": 0.9, "ring": 0.95}
"""Spectral radius of each spectrum. A ring has nearly independent states."""

FITS = {
    "exact": "W_out in 60-digit arithmetic",
    "recovered": "predictions, W_out recovered by division",
    "refitted": "predictions, W_out fitted to r(t)",
    "ridge": "predictions, both fitted with ridge",
    "condition": "for comparison: condition number of R(t)",
}
"""Row labels in the table of fits with one input, by name of the difference."""

DIGITS = 60
"""Precision of the exact fits."""

SMALL = 20
"""Number of units of the exact fits."""


@dataclass(frozen=True)
class WinAfter(Experiment):
    """Application of the input weights after the recursion, for white-noise inputs."""

    name = "win-after"
    version = 2

    units: int = 100
    steps: int = 2000
    washout: int = 200
    inputs: tuple[int, ...] = (1, 3)
    ridge: float = 1.0

    def cells(self) -> list[Key]:
        """Return a key for each spectrum, number of inputs and seed."""
        return [*product(RADII, self.inputs, range(self.seeds))]

    def run(self, key: Key) -> Cell:
        """Return the relative differences of states and, for one input, of readouts."""
        spectrum, D_in, seed = key
        rng = np.random.default_rng(1000 + seed)
        u = rng.uniform(-1, 1, (self.steps, D_in))
        params: dict[str, Any] = {"spectrum": spectrum, "sr": RADII[spectrum], "seed": seed}
        unweighted = DiagonalReservoir(self.units, W_in="ones", **params).fit(u[:, :1])
        R = [unweighted.transform(u[:, [d]]) for d in range(D_in)]
        modes = unweighted.spectrum_
        W_in = rng.uniform(-1, 1, (D_in, self.units))
        n, values = modes.real.size, np.concatenate([modes.real, modes.pairs])
        r = run_loop(lambda state: state * values, u @ separate(W_in, n))
        after = np.sum(
            [separate(w, n) * separate(x, n) for w, x in zip(W_in, R, strict=True)], axis=0
        )
        differences = {"states": _difference(r, after)}
        if D_in == 1:
            # No linear network fits a nonlinear target exactly.
            y = np.tanh(np.roll(u[:, 0], 3) + 2 * np.roll(u[:, 0], 7) * u[:, 0])
            r = interleave(r[:, :n].real, r[:, n:])
            rows = slice(self.washout, None)
            differences |= self._compare_fits(r[rows], R[0][rows], y[rows], unweighted, W_in)
            small = DiagonalReservoir(min(self.units, SMALL), **params).fit(u).spectrum_
            differences["exact"] = _compare_exactly(
                small, u[: 4 * SMALL], y[: 4 * SMALL], W_in[0, : small.units]
            )
        return {name: np.array(value) for name, value in differences.items()}

    def _compare_fits(
        self, r: Array, R: Array, y: Array, unweighted: DiagonalReservoir, W_in: Array
    ) -> dict[str, float]:
        """Return the differences between predictions from R(t) and from r(t)."""
        gamma = np.linalg.lstsq(R, y, rcond=None)[0]
        trained = LinearModel(unweighted.reservoir_, gamma[:, None], readout_bias=False)
        recovered = trained.with_input_weights(W_in).W_out[:, 0]
        direct = np.linalg.lstsq(r, y, rcond=None)[0]
        ridges = (X @ fit_ridge(X, y, self.ridge) for X in (R, r))
        return {
            "recovered": _difference(R @ gamma, r @ recovered),
            "refitted": _difference(R @ gamma, r @ direct),
            "ridge": _difference(*ridges),
            "condition": float(np.linalg.cond(R)),
        }

    def section(self, results: Results) -> Section:
        """Report the largest differences over all seeds, and judge the theorems."""
        states = {D: {s: results.stack((s, D), "states") for s in RADII} for D in self.inputs}
        fits = {name: {s: results.stack((s, 1), name) for s in RADII} for name in FITS}
        rows = {f"states, D_in = {D}": differences for D, differences in states.items()}
        rows |= {label: fits[name] for name, label in FITS.items()}
        worst = {label: {s: float(x.max()) for s, x in row.items()} for label, row in rows.items()}
        section = self.start(
            worst=max(x.max() for row in states.values() for x in row.values()),
            digits=DIGITS,
            small=SMALL,
        )
        section.add_table(
            "differences",
            ("Compared results", *(f"{s}, radius {sr:g}" for s, sr in RADII.items())),
            [[label, *row.values()] for label, row in worst.items()],
            [".1e"],
        )
        section.judge(
            "after",
            {f"{s}, D_in = {D}": spread(x) for D, row in states.items() for s, x in row.items()},
        )
        section.judge("division", {s: spread(x) for s, x in fits["exact"].items()})
        section.judge(
            "division-double",
            {
                f"{s}, {name}": spread(fits[name][s])
                for s, name in product(RADII, ("recovered", "refitted"))
            },
            conditions=listed(f"{np.median(x):.0e} ({s})" for s, x in fits["condition"].items()),
        )
        return section


def _difference(a: Array, b: Array) -> float:
    """Return the largest difference relative to the largest value."""
    return float(np.abs(a - b).max() / np.abs(a).max())


def _compare_exactly(modes: Any, u: Array, y: Array, w_in: Array) -> float:
    """Return the difference between W_out fitted to r(t), and recovered from R(t), exactly."""
    exactly = np.vectorize(lambda x: Decimal(float(x)), otypes=[object])
    n, values = modes.real.size, np.concatenate([modes.real, modes.pairs])
    ones = interleave(np.ones(n), np.ones(modes.pairs.size) + 0j)
    W, weights = (exactly(_multiplication(x, n)) for x in (values, separate(w_in, n)))
    with localcontext(prec=DIGITS):
        R, r = (run_loop(lambda x: x @ W, exactly(u) * exactly(b)) for b in (ones, w_in))
        gamma, direct = (_solve_exactly(X, exactly(y)) for X in (R, r))
        recovered = _solve_exactly(weights, gamma)
        return float(max(abs(recovered - direct)) / max(abs(direct)))


def _multiplication(values: Array, n: int) -> Array:
    """Return the matrix that multiplies states in the Q layout by complex numbers (n + m,)."""
    product = separate(np.eye(2 * len(values) - n), n) * values
    return interleave(product[:, :n].real, product[:, n:])


def _solve_exactly(X: Array, y: Array) -> Array:
    """Return the least-squares weights by Gaussian elimination of the normal equations."""
    A = np.column_stack([X.T @ X, X.T @ y])
    for k in range(len(A)):
        A[k] = A[k] / A[k, k]
        others = np.arange(len(A)) != k
        A[others] = A[others] - A[others, k : k + 1] * A[k]
    return A[:, -1]
