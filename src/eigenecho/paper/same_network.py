"""Theorem on the change of basis: the standard network, EWT and EET give the same outputs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from eigenecho.basis import eigendecomposition, interleave
from eigenecho.convert import diagonalize
from eigenecho.errors import IllConditionedWarning
from eigenecho.estimators import LinearESN
from eigenecho.paper.claims import USABLE, show, spread
from eigenecho.paper.experiment import Cell, Experiment, Key, Results, Section, listed, run_loop
from eigenecho.spectra import random_matrix
from eigenecho.types import Array

PLAIN = {"EWT": "EWT", "Q": "EET in Q", "P": "EET in P"}
"""Labels of the methods computed by NumPy alone."""

LIBRARY = {"diagonalize": "eigenecho, EWT", "fit": "eigenecho, EET"}
METHODS = PLAIN | LIBRARY

LOOPS = {"open": "no feedback", "closed": "W_fb and y(t−1)"}
"""Labels of the networks without and with feedback."""


@dataclass(frozen=True)
class SameNetwork(Experiment):
    """Outputs on test rows after training by the formulas of the paper, in the three bases."""

    name = "same-network"

    units: int = 100
    steps: int = 1500
    train: int = 1000
    washout: int = 100
    ridge: float = 1e-8
    connectivities: tuple[float, ...] = (1.0, 0.2, 0.1, 0.05, 0.03, 0.02)
    radii: tuple[float, ...] = (0.5, 0.9, 1.0)

    def cells(self) -> list[Key]:
        """Return a key for each connectivity, radius and seed."""
        return [*product(self.connectivities, self.radii, range(self.seeds))]

    def run(self, key: Key) -> Cell:
        """Return the condition number of Q, and the differences from the standard network."""
        connectivity, radius, seed = key
        rng = np.random.default_rng(1000 + seed)
        u = rng.uniform(-1, 1, (self.steps, 1))
        # No linear network fits a nonlinear target exactly.
        y = np.tanh(np.roll(u, 3) + 2 * np.roll(u, 7) * u)
        W = random_matrix(self.units, seed, connectivity=connectivity)
        spectrum, basis = eigendecomposition(W)
        scale = radius / (spectrum.radius or 1.0)
        W, spectrum = scale * W, spectrum.times(scale)
        W_in, W_fb = rng.uniform(-1, 1, (2, 1, self.units))
        cell = {"condition": np.array(basis.condition)}
        bases = {"Q": (basis.Q, spectrum), "P": (basis.P, spectrum)}
        for loop, fb in (("open", 0.0), ("closed", 0.1)):
            previous = np.vstack([np.zeros((1, 1)), y[:-1]])
            head = np.hstack([np.ones_like(y), *[previous] * (fb > 0)])
            drive = u @ W_in + fb * previous @ W_fb
            X = np.hstack([head, run_loop(lambda r: r @ W, drive)])
            W_out = self._train(X, y, np.eye(self.units))
            normal = X @ W_out
            outputs: dict[str, Any] = {}
            for name, (B, modes) in bases.items():
                X_B = np.hstack([head, run_loop(_step(modes, B), drive @ B)])
                with np.errstate(all="ignore"):
                    outputs[name] = X_B @ self._train(X_B, y, B.T @ B)
                    if name == "P":
                        states = _solve(B, W_out[head.shape[1] :].astype(complex))
                        outputs["EWT"] = X_B @ np.vstack([W_out[: head.shape[1]], states])
            outputs |= self._run_library(u, y, previous, W, W_in, fb * W_fb, W_out)
            for name in METHODS:
                reference = outputs["neuron"] if name == "fit" else normal
                cell[f"{name} {loop}"] = self._compare(reference, outputs[name])
        return cell

    def _train(self, X: Array, y: Array, M: Array) -> Array:
        """Return (XᵀX + α blkdiag(I, M))⁻¹ Xᵀ y from the training rows."""
        rows = slice(self.washout, self.train)
        penalty = block_diag(np.eye(X.shape[1] - self.units), M)
        return _solve(X[rows].T @ X[rows] + self.ridge * penalty, X[rows].T @ y[rows])

    def _compare(self, reference: Array, outputs: Array) -> Array:
        """Return the RMS difference of the outputs on test rows, relative to the RMS output."""
        rows = slice(self.train, None)
        with np.errstate(all="ignore"):
            error, size = (np.mean(np.abs(x[rows]) ** 2) for x in (outputs - reference, reference))
        return np.sqrt(error / size) if np.isfinite(error) else np.array(np.inf)

    def _run_library(
        self, u: Array, y: Array, previous: Array, W: Array, W_in: Array, W_fb: Array, W_out: Array
    ) -> dict[str, Array]:
        closed = bool(W_fb.any())
        y_previous = previous if closed else None
        options: dict[str, Any] = {"W_fb": W_fb, "feedback": True, "output_to_readout": True}
        params = options if closed else {}
        outputs = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IllConditionedWarning)
            converted = diagonalize(
                W, W_in, W_out, W_fb if closed else None, output_to_readout=closed
            )
            outputs["diagonalize"] = converted.predict(u, y_previous=y_previous)
            for name, basis in (("fit", "eigen"), ("neuron", "neuron")):
                esn = LinearESN(spectrum=W, W_in=W_in, basis=basis, ridge=self.ridge, **params)
                esn.set_params(warmup=self.washout).fit(u[: self.train], y[: self.train])
                outputs[name] = esn.predict(u, y_previous=y_previous)
        return outputs

    def section(self, results: Results) -> Section:
        """Report the differences for usable eigenbases, and for all connectivities."""
        shape = len(self.connectivities), -1
        cells = results.values()
        condition = np.reshape([cell["condition"] for cell in cells], shape)
        differences = {
            m: np.reshape(
                [[c[f"{m} {loop}"] for loop in LOOPS] for c in cells], (*shape, len(LOOPS))
            )
            for m in METHODS
        }
        usable = condition <= USABLE
        worst = max(x[usable].max() for x in differences.values())
        plain = np.max([differences[m] for m in PLAIN], axis=(0, 3))
        section = self.start(worst=worst, tested=self.steps - self.train, usable=USABLE)
        largest = np.array([x.max(axis=(1, 2)) for x in differences.values()]).T
        shares = [f"{share:.0%}" for share in usable.mean(axis=1)]
        section.add_table(
            "differences",
            ("connectivity", "usable eigenbases", *METHODS.values()),
            [
                (f"{c:g}", s, *x)
                for c, s, x in zip(self.connectivities, shares, largest, strict=True)
            ],
            [".1e"],
        )
        cases: dict[str, Any] = {"same": {}, "trained": {}}
        for (m, label), (k, loop) in product(METHODS.items(), enumerate(LOOPS.values())):
            rule = "trained" if m in ("Q", "P") else "same"
            cases[rule][f"{label}, {loop}"] = spread(differences[m][usable][:, k])
        section.judge("same", cases)
        names = [f"connectivity {c:g}" for c in self.connectivities]
        medians = zip(names, np.median(condition, axis=1), strict=True)
        section.judge(
            "stable",
            {name: spread(x) for name, x in zip(names, plain, strict=True)},
            conditions=listed(f"{show(x, '.0e')} ({n})" for n, x in medians),
            threshold=np.log(self.units) / self.units,
        )
        return section


def _step(modes: Any, B: Array) -> Callable[[Array], Array]:
    """Return the product with [W]_Q or [W]_P, by element-wise multiplication."""
    n, pairs = modes.real.size, modes.pairs
    if np.iscomplexobj(B):
        values = np.concatenate([modes.real, np.column_stack([pairs, pairs.conj()]).ravel()])
        return lambda r: r * values
    return lambda r: interleave(r[:n] * modes.real, (r[n::2] + 1j * r[n + 1 :: 2]) * pairs)


def _solve(A: Array, b: Array) -> Array:
    """Return A⁻¹ b, or NaN if A is singular."""
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        return np.full(b.shape, np.nan)
