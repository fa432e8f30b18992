"""Application of the input weights after the recursion."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np

from eigenecho.basis import interleave, separate
from eigenecho.paper.experiment import Cell, Experiment, Key, Results, Section, fit_ridge, listed
from eigenecho.reservoir import Recipe, Reservoir, draw
from eigenecho.types import Array

RADII = {"golden": 0.9, "ring": 0.95}
"""Spectral radius of each spectrum. A ring has nearly independent states."""

EXACT = 1e-12
"""Largest relative difference for which states count as equal."""

SAME_FIT = 1e-8
"""Largest relative difference for which predictions of two least-squares fits count as equal."""

FITS = {
    "recovered": "predictions, W_out recovered by division",
    "refitted": "predictions, W_out fitted to r(t)",
    "ridge": "predictions, both fitted with ridge",
    "condition": "for comparison: condition number of R(t)",
}
"""Row labels in the table of fits with one input, by name of the difference."""


@dataclass(frozen=True)
class WinAfter(Experiment):
    """Application of the input weights after the recursion, for white-noise inputs."""

    name = "win-after"
    title = "Applying the input weights after the recursion"
    paper = "theorem on input weights after the recursion, and appendix on one input"
    quick: ClassVar = dict(seeds=3)

    units: int = 100
    steps: int = 2000
    washout: int = 200
    inputs: tuple[int, ...] = (1, 3)
    ridge: float = 1.0

    def cells(self) -> list[Key]:
        """Return a key for each spectrum, number of inputs and seed."""
        return [*product(RADII, self.inputs, range(self.seeds))]

    def run(self, key: Key) -> Cell:
        """Return the relative differences of states and, for one input, of predictions."""
        spectrum, D_in, seed = key
        u = np.random.default_rng(1000 + seed).uniform(-1, 1, (self.steps, D_in))
        recipe = Recipe(self.units, spectrum, sr=RADII[spectrum], eigenvectors=False)
        reservoir = draw(recipe, D_in, seed=seed).reservoir
        r = _run(reservoir, u)
        n = reservoir.spectrum.real.size

        # In R(t), all input weights are 1, and W_in is applied afterwards.
        ones = interleave(np.ones((1, n)), np.ones((1, (self.units - n) // 2), complex))
        unweighted = Reservoir(reservoir.transition, ones)
        R = [_run(unweighted, u[:, [d]]) for d in range(D_in)]
        W_in = separate(reservoir.W_in, n)
        after = sum(W_in[d] * separate(R[d], n) for d in range(D_in))
        differences = {"states": _difference(separate(r, n), after)}
        if D_in == 1:
            # No linear network fits a nonlinear target exactly.
            y = np.tanh(np.roll(u[:, 0], 3) + 2 * np.roll(u[:, 0], 7) * u[:, 0])
            rows = slice(self.washout, None)
            differences |= _compare_fits(
                self.ridge, r[rows], R[0][rows], reservoir.W_in[0], y[rows], n
            )
        return {name: np.array(value) for name, value in differences.items()}

    def section(self, results: Results) -> Section:
        """Report the largest differences over all seeds."""

        def largest(name: str, D_in: int) -> dict[str, float]:
            return {s: float(results.stack((s, D_in), name).max()) for s in RADII}

        states = {D: largest("states", D) for D in self.inputs}
        fits = {name: largest(name, 1) for name in FITS}
        rows = {f"states, D_in = {D}": differences for D, differences in states.items()}
        rows |= {label: fits[name] for name, label in FITS.items()}
        worst = {D: max(differences.values()) for D, differences in states.items()}
        fit = {s: max(fits["recovered"][s], fits["refitted"][s]) for s in RADII}
        section = Section(
            "The states R(t) are computed from white noise with every input weight set to 1. Then "
            "r(t) = Σ_d row_d(W_in) ⊙ row_d(R(t)) is compared with the states computed with W_in. "
            "With one input, a readout γ is fitted to R(t) without a ridge penalty, and "
            "W_out = γ ⊘ w_in.",
            f"States agree to {max(worst.values()):.0e}, and fits on a ring agree to "
            f"{fit['ring']:.0e}",
            {"states": states, "one_input": fits},
        )
        section.add_table(
            "Largest relative difference between results from R(t) and from r(t), over all seeds",
            ("Compared results", *(f"{s}, radius {sr:g}" for s, sr in RADII.items())),
            [[label, *row.values()] for label, row in rows.items()],
            [".1e"],
            note="The states of a golden reservoir, unlike those of a ring, are so close to "
            "linearly dependent that a fit without a ridge penalty is not determined in double "
            f"precision. A ridge penalty on γ (here {self.ridge:g}) is not equivalent to a ridge "
            "penalty on W_out.",
        )
        section.judge(
            "The input weights can be applied after the recursion",
            "The largest relative difference between the states is "
            + listed(f"{value:.1e} for D_in = {D}" for D, value in worst.items()),
            max(worst.values()) < EXACT,
        )
        section.judge(
            "With one input and no ridge, the readout can be fitted to the states without input "
            "weights, and W_out can then be obtained by division",
            ". ".join(
                f"For {s}, predictions differ by at most {fit[s]:.1e} (condition number "
                f"{fits['condition'][s]:.0e})"
                for s in RADII
            )
            + ". Without a ridge penalty, a fit to ill-conditioned states depends on rounding "
            "errors",
            *(difference < SAME_FIT for difference in fit.values()),
            quote="If no weight in w_in is 0, then the optimization can be performed directly on "
            "the unweighted states R(t). Once the optimal γ* is found, the original output weights "
            "can be uniquely recovered",
            why="The theorem is exact, and the ring confirms it to rounding error. It does not say "
            "how many digits survive: a relative error of 1e-16 in the states is multiplied by "
            f"their condition number, {fits['condition']['golden']:.0e} for golden, so the weights "
            "of two fits to the same data do not agree in any digit. γ* is unique only in exact "
            "arithmetic. A ridge penalty makes the fit unique, but then the two problems differ, "
            "as the paper notes: a penalty on γ is not a penalty on W_out",
        )
        return section


def _run(reservoir: Reservoir, u: Array) -> Array:
    return reservoir.scan(reservoir.drive(u, None))[0]


def _difference(a: Array, b: Array) -> float:
    """Return the largest difference relative to the largest value."""
    return float(np.abs(a - b).max() / np.abs(a).max())


def _compare_fits(
    ridge: float, r: Array, R: Array, w_in: Array, y: Array, n: int
) -> dict[str, float]:
    """Return the differences between predictions from R(t) and from r(t)."""
    gamma = np.linalg.lstsq(R, y, rcond=None)[0]
    direct = np.linalg.lstsq(r, y, rcond=None)[0]

    # w_Re Re r + w_Im Im r = Re((w_Re − i w_Im) r), so weights divide as conjugates.
    divided = (separate(gamma, n).conj() / separate(w_in, n)).conj()
    recovered = interleave(divided[:n].real, divided[n:])

    return {
        "recovered": _difference(R @ gamma, r @ recovered),
        "refitted": _difference(R @ gamma, r @ direct),
        "ridge": _difference(R @ fit_ridge(R, y, ridge), r @ fit_ridge(r, y, ridge)),
        "condition": float(np.linalg.cond(R)),
    }
