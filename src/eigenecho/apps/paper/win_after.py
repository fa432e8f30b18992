"""W_in applied after the steps: the paper's theorem, and its special case of one input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from eigenecho.apps.paper.experiment import Cell, Claim, Config, Experiment, Key, Section, TextTable
from eigenecho.basis import interleave
from eigenecho.reservoir import Recipe, Reservoir, draw
from eigenecho.types import Array

RADII = {"golden": 0.9, "ring": 0.95}
"""The paper's spectrum, and one whose states are far from dependent."""

EXACT = 1e-12
"""Relative difference up to which states count as equal."""

SAME_FIT = 1e-8
"""Relative difference up to which predictions of two least-squares fits count as equal."""


@dataclass(frozen=True)
class WinAfterConfig(Config):
    """White noise into reservoirs with one and with several inputs."""

    units: int = 100
    steps: int = 2000
    washout: int = 200
    inputs: tuple[int, ...] = (1, 3)
    ridge: float = 1.0


class WinAfter(Experiment[WinAfterConfig]):
    """W_in after the steps."""

    name = "win-after"
    title = "W_in applied after the steps"
    paper = "theorem on W_in after the steps, and the appendix on one input"
    config = WinAfterConfig()
    quick = WinAfterConfig(seeds=3)

    def cells(self, config: WinAfterConfig) -> list[Key]:
        """One for each spectrum, number of inputs and seed."""
        return [*product(RADII, config.inputs, range(config.seeds))]

    def run(self, config: WinAfterConfig, key: Key) -> Cell:
        """Relative differences between both orders, of states and, for one input, of fits."""
        spectrum, D_in, seed = key
        u = np.random.default_rng(1000 + seed).uniform(-1, 1, (config.steps, D_in))
        recipe = Recipe(config.units, spectrum, sr=RADII[spectrum], eigenvectors=False)
        reservoir = draw(recipe, D_in, seed=seed).reservoir
        r = _run(reservoir, u)
        n = reservoir.spectrum.real.size

        # R(t): each input drives all modes with weight 1, and W_in comes after.
        ones = interleave(np.ones((1, n)), np.ones((1, (config.units - n) // 2), complex))
        unweighted = Reservoir(reservoir.transition, ones)
        R = [_run(unweighted, u[:, [d]]) for d in range(D_in)]
        W_in = _modes(reservoir.W_in, n)
        after = sum(W_in[d] * _modes(R[d], n) for d in range(D_in))
        found = {"states": _difference(_modes(r, n), after)}
        if D_in == 1:
            # A target that no linear network recalls exactly, so that there is a fit to speak of.
            y = np.tanh(np.roll(u[:, 0], 3) + 2 * np.roll(u[:, 0], 7) * u[:, 0])
            rows = slice(config.washout, None)
            found |= _fits(config, r[rows], R[0][rows], reservoir.W_in[0], y[rows], n)
        return {name: np.array(value) for name, value in found.items()}

    def section(self, config: WinAfterConfig, results: Mapping[Key, Cell]) -> Section:
        """The largest differences over all seeds."""

        def worst(spectrum: str, D_in: int, name: str) -> float:
            return max(float(results[spectrum, D_in, s][name]) for s in range(config.seeds))

        states = {D: {s: worst(s, D, "states") for s in RADII} for D in config.inputs}
        fits = {
            name: {s: worst(s, 1, name) for s in RADII}
            for name in ("recovered", "refitted", "ridge", "condition")
        }
        rows = [
            *([f"states, D_in = {D}", *_row(found)] for D, found in states.items()),
            ["predictions, W_out recovered by division", *_row(fits["recovered"])],
            ["predictions, W_out fitted to r(t)", *_row(fits["refitted"])],
            [f"the same, ridge {config.ridge:g} on both", *_row(fits["ridge"])],
            ["condition number of R(t)", *_row(fits["condition"])],
        ]
        largest = max(max(found.values()) for found in states.values())
        fit = {s: max(fits["recovered"][s], fits["refitted"][s]) for s in RADII}
        return Section(
            f"Reservoirs of N = {config.units} on white noise, {config.steps} steps, "
            f"{config.seeds} seeds. R(t) is run with every input weight at 1; afterwards "
            "r(t) = Σ_d row_d(W_in) ⊙ row_d(R(t)) is compared with states that were run with W_in. "
            "For one input a readout γ is fitted to R(t) without ridge, and W_out = γ ⊘ w_in.",
            [
                TextTable(
                    "Largest relative difference over seeds",
                    ("Compared with R(t)", *(f"{s}, radius {sr:g}" for s, sr in RADII.items())),
                    rows,
                    note="The states of a golden reservoir are so nearly dependent that a fit "
                    "without ridge is not determined in double precision; those of a ring are not. "
                    "A ridge on γ is another penalty than one on W_out, as the paper says itself.",
                )
            ],
            claims=[
                Claim.judged(
                    "W_in can be applied after the steps",
                    "largest relative difference of states "
                    + ", ".join(f"{max(f.values()):.1e} for D_in = {D}" for D, f in states.items()),
                    largest < EXACT,
                ),
                Claim.judged(
                    "With one input and no ridge, the readout can be fitted to the unweighted "
                    "states, and W_out follows by division",
                    "; ".join(
                        f"{s}: predictions differ by at most {fit[s]:.1e} (condition number "
                        f"{fits['condition'][s]:.0e})"
                        for s in RADII
                    )
                    + ". Without ridge, badly conditioned states leave the fit open to rounding",
                    max(fit.values()) < SAME_FIT,
                    min(fit.values()) < SAME_FIT,
                ),
            ],
            numbers={"states": {str(D): f for D, f in states.items()}, "one_input": fits},
            headline=f"states equal to {largest:.0e}, fits on a ring to {fit['ring']:.0e}",
        )


def _row(found: Mapping[str, float]) -> list[str]:
    return [f"{found[spectrum]:.1e}" for spectrum in RADII]


def _run(reservoir: Reservoir, u: Array) -> Array:
    return reservoir.scan(reservoir.drive(u, None), reservoir.zero_state())


def _modes(rows: Array, n: int) -> Array:
    """Rows in the Q layout (…, n + 2m) as complex modes (…, n + m), one for each pair."""
    return np.concatenate([rows[..., :n], rows[..., n::2] + 1j * rows[..., n + 1 :: 2]], axis=-1)


def _difference(a: Array, b: Array) -> float:
    return float(np.abs(a - b).max() / np.abs(a).max())


def _fits(
    config: WinAfterConfig, r: Array, R: Array, w_in: Array, y: Array, n: int
) -> dict[str, float]:
    """Differences in prediction between readouts of R(t) and of r(t)."""
    gamma = np.linalg.lstsq(R, y, rcond=None)[0]
    direct = np.linalg.lstsq(r, y, rcond=None)[0]

    # w_Re Re r + w_Im Im r = Re((w_Re − i w_Im) r): weights divide as conjugates.
    divided = (_modes(gamma, n).conj() / _modes(w_in, n)).conj()
    recovered = interleave(divided[:n].real, divided[n:])

    def ridge(X: Array) -> Array:
        root = np.sqrt(config.ridge) * np.eye(X.shape[1])
        stacked = np.concatenate([X, root]), np.concatenate([y, np.zeros(len(root))])
        return X @ np.linalg.lstsq(*stacked, rcond=None)[0]

    return {
        "recovered": _difference(R @ gamma, r @ recovered),
        "refitted": _difference(R @ gamma, r @ direct),
        "ridge": _difference(ridge(R), ridge(r)),
        "condition": float(np.linalg.cond(R)),
    }
