"""Experiments on eigenvalue distributions, and on the readout weights of eigenvalues."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from eigenecho import metrics, plots, spectra
from eigenecho.estimators import LinearESN
from eigenecho.paper.claims import Interval, bootstrap_interval, mean_interval, seed_weights
from eigenecho.paper.experiment import Cell, Experiment, Key, Results, Section, fit_ridge, listed
from eigenecho.paper.mso import LITERAL
from eigenecho.plots.spectrum import importance
from eigenecho.plots.style import panel_grid
from eigenecho.spectra import Spectrum, random_matrix
from eigenecho.tasks import MSO_FREQUENCIES, MSOSplit, mso_split
from eigenecho.types import Array

LAWS: dict[str, Callable[..., Spectrum]] = {
    "Matrix": partial(spectra.sim, sr=1.0),
    "Uniform": partial(spectra.uniform, sr=1.0),
    "Golden": partial(spectra.golden, sr=1.0),
    "Noisy Golden": partial(spectra.noisy_golden, sr=1.0),
    LITERAL: partial(spectra.noisy_golden, sr=1.0, absolute=True),
}
"""Spectra in the figure of the paper, and noise that is taken literally."""

MEASURES = ("unevenness", "hole")
"""Names of the measures of how evenly eigenvalues cover the disk."""

RADII = np.linspace(0, 1.5, 301)
"""Radii at which distributions of moduli are compared."""

COUNTED = 20
"""Number of random matrices per seed whose real eigenvalues are counted."""

GRID = 120
"""Number of grid points along the diameter of the disk, from which distances are measured."""

TRAINED = {"golden": "Golden", "matrix": "Matrix"}
"""Labels of the spectra for which networks are trained."""

LARGE = 0.5
"""Smallest weight that counts as large, relative to the largest weight."""

OUTER = 0.9
"""Smallest modulus that is close to the circle, relative to the spectral radius."""

DRAWS = 200
"""Number of random weight vectors with which the trained weights are compared."""


@dataclass(frozen=True)
class SpectraFigure(Experiment):
    """Eigenvalue distributions. Figures show the first seed, and tables average over all seeds."""

    name = "spectra"
    version = 2

    units: int = 300

    def cells(self) -> list[Key]:
        """Return a key for each law and seed."""
        return [*product(LAWS, range(self.seeds))]

    def run(self, key: Key) -> Cell:
        """Return eigenvalues, and measures of how evenly they cover the unit disk."""
        law, seed = key
        drawn = LAWS[law](self.units, seed=seed)
        cell = {"real": drawn.real, "pairs": drawn.pairs} | measure_cover(drawn.values)
        if law == "Matrix":
            seeds = COUNTED * seed + np.arange(COUNTED)
            counts = [np.isreal(np.linalg.eigvals(random_matrix(self.units, s))) for s in seeds]
            cell["real_count"] = np.array(np.sum(counts) / COUNTED)
        return cell

    def section(self, results: Results) -> Section:
        """Report the spectra of the paper and of other laws, with their measures."""
        drawn = {law: Spectrum(results[law, 0]["real"], results[law, 0]["pairs"]) for law in LAWS}
        cover = {law: results.means((law,), MEASURES) for law in LAWS}
        # Distance between the distributions of moduli of each law and of random matrices.
        inside = {
            law: seed_weights(self.seeds)
            @ [_count_inside(results[law, seed]) for seed in range(self.seeds)]
            for law in LAWS
        }
        distance = {law: np.abs(inside[law] - inside["Matrix"]).max(axis=1) for law in LAWS}
        samples = {law: {m: results.stack((law,), m) for m in MEASURES} for law in LAWS}
        laws = zip(("matrix", "uniform", "golden", "noisy", "literal"), LAWS, strict=True)
        uneven = {name: cover[law]["unevenness"] for name, law in laws}
        section = self.start(**uneven, count=COUNTED * self.seeds)
        section.add_table(
            "cover",
            ("Law", "unevenness", "largest hole", "distance", "radius", "real eigenvalues"),
            [
                [law, *cover[law].values(), distance[law][0], one.radius, one.real.size]
                for law, one in drawn.items()
            ],
            [".3f", ".3f", ".3f", ".3f", "d"],
        )
        section.add_figure("spectra", _draw_spectra(drawn, 5))
        noisy = samples["Noisy Golden"]
        section.judge(
            "cover",
            {
                f"{m}, {law.lower()}": mean_interval(noisy[m] / samples[law][m], log=True)
                for law, m in product(("Uniform", "Golden"), MEASURES)
            },
        )
        near = bootstrap_interval(distance["Noisy Golden"], self.seeds)
        others = {law.lower(): distance[law][0] for law in ("Golden", "Uniform")}
        section.judge("density", {"": near}, **others)
        matrix, golden, noise = (
            seed_weights(self.seeds) @ samples[law]["unevenness"]
            for law in ("Matrix", "Golden", "Noisy Golden")
        )
        ratio = {"": bootstrap_interval(abs((noise - matrix) / (golden - matrix)), self.seeds)}
        section.judge("closer", {"more": ratio, "much": ratio})
        share = results.stack(("Matrix",), "real_count") / np.sqrt(2 * self.units / np.pi)
        section.judge("real", {f"N = {self.units}": mean_interval(share)})
        return section


def _count_inside(cell: Cell) -> Array:
    """Return the share of eigenvalues within each of ``RADII``."""
    moduli = np.abs(Spectrum(cell["real"], cell["pairs"]).values)
    return np.searchsorted(np.sort(moduli), RADII, side="right") / len(moduli)


def _draw_spectra(drawn: Mapping[str, Spectrum], columns: int) -> Any:
    figure, axes = panel_grid(len(drawn), columns, 2.6, 2.75, square=True)
    for ax, (law, spectrum) in zip(axes, drawn.items(), strict=True):
        plots.spectrum(spectrum, ax=ax, title=law, radius=False)
    return figure


def measure_cover(values: Array) -> Cell:
    """Return measures of how evenly eigenvalues (N,) cover the unit disk."""
    from scipy.spatial import cKDTree

    points = np.column_stack([values.real, values.imag])
    tree = cKDTree(points)
    nearest = tree.query(points, k=2)[0][:, 1]
    x, y = np.meshgrid(np.linspace(-1, 1, GRID), np.linspace(-1, 1, GRID))
    disk = np.column_stack([x.ravel(), y.ravel()])[(x**2 + y**2).ravel() <= 1]
    return {
        "unevenness": np.array(nearest.std() / nearest.mean()),
        "hole": np.array(tree.query(disk)[0].max()),
    }


@dataclass(frozen=True)
class SpectralImportance(Experiment):
    """Readout weights of the eigenvalues.

    The hyperparameters are in the middle of those in the table of the paper.
    """

    name = "spectral-importance"
    version = 3

    units: int = 100
    task: int = 5
    sr: float = 0.9
    lr: float = 1.0
    input_scaling: float = 1.0
    ridge: float = 1e-8

    def cells(self) -> list[Key]:
        """Return a key for each spectrum and seed."""
        return [*product(TRAINED, range(self.seeds))]

    def run(self, key: Key) -> Cell:
        """Return the eigenvalues, readout weights in the Q layout and test RMSE of a network."""
        spectrum, seed = key
        task = mso_split(self.task)
        params: dict[str, Any] = {"sr": self.sr, "lr": self.lr, "ridge": self.ridge}
        params |= {"input_scaling": self.input_scaling, "warmup": task.washout, "seed": seed}
        esn = LinearESN(self.units, spectrum=spectrum, solver="qr", **params)
        esn.fit(task.X[task.train], task.y[task.train])
        modes = esn.model_.spectrum
        # For comparison, draw Gaussian weights in the Q layout.
        rng = np.random.default_rng(seed)
        random = [
            np.sum(importance(modes, rng.normal(size=self.units)) > LARGE) for _ in range(DRAWS)
        ]
        error = metrics.rmse(task.y[task.test], esn.predict(task.X)[task.test])
        shares = _contributions(esn, task)
        return {
            "real": modes.real,
            "pairs": modes.pairs,
            "weights": esn.model_.readout.weights[0],
            "shares": shares,
            "large_at_random": np.mean(random),
            "test_rmse": np.array(error),
            **self._refit_halves(task, esn, shares),
        }

    def _refit_halves(self, task: MSOSplit, esn: LinearESN, shares: Array) -> Cell:
        """Return the test RMSE of readouts that are fitted to half of the eigenvalues."""
        modes, states = esn.model_.spectrum, esn.transform(task.X)
        weights = importance(modes, esn.model_.readout.weights[0])
        distance = _distance_to_task(modes, self.task)
        rows = np.arange(len(states))[task.train][task.washout :]
        errors = {}
        orders = (-weights, weights, -shares, shares, distance, -distance)
        for name, order in zip(self.columns("halves"), orders, strict=True):
            half = np.argsort(order, kind="stable")[: self.units // 2]
            X = np.column_stack([np.ones(len(states)), states[:, half]])
            w = fit_ridge(X[rows], task.y[rows], self.ridge)
            errors[name] = np.array(metrics.rmse(task.y[task.test], X[task.test] @ w))
        return errors

    def section(self, results: Results) -> Section:
        """Report the eigenvalues before and after training, and how unequal the weights are."""
        measured = Results(
            {key: cell | self._measure_weights(cell) for key, cell in results.items()}
        )
        means = {s: measured.means((s,), self.columns("weights")) for s in TRAINED}
        halves = {
            s: {
                name: np.exp(np.log(results.stack((s,), name)).mean())
                for name in self.columns("halves")
            }
            for s in TRAINED
        }
        section = self.start(**{s: m["large"] for s, m in means.items()})
        section.add_table(
            "weights",
            ["Spectrum"],
            [[TRAINED[spectrum], *numbers.values()] for spectrum, numbers in means.items()],
            [".1f", ".1f", ".1f", ".2f", ".2f", ".2f", ".2e"],
        )
        section.add_table(
            "halves",
            ["Spectrum"],
            [[TRAINED[spectrum], *errors.values()] for spectrum, errors in halves.items()],
            [".1e"],
        )
        figure, axes = panel_grid(2 * len(TRAINED), 2, 4.0, 3.9, square=True)
        times = ("before training", f"after training on MSO{self.task}")
        frequencies = np.array(MSO_FREQUENCIES[: self.task])
        ticks = np.exp(1j * np.concatenate([frequencies, -frequencies])) * [[0.93], [1.1]]
        for ax, (spectrum, time) in zip(axes, product(TRAINED, times), strict=True):
            result = results[spectrum, 0]
            plots.spectrum(
                Spectrum(result["real"], result["pairs"]),
                weights=None if time == times[0] else result["weights"],
                ax=ax,
                title=f"{TRAINED[spectrum]}, {time}",
            )
            ax.plot(ticks.real, ticks.imag, color="black", linewidth=0.9)
        section.add_figure("spectral-importance", figure)

        def compare(name: str, over: str = "", *, log: bool = False) -> dict[str, Interval]:
            """Return intervals of a measure of weights and contributions, or of a ratio."""
            intervals = {}
            for (kind, suffix), s in product(
                {"weights": "", "contributions": "_shares"}.items(), means
            ):
                ratio = measured.stack((s,), name + suffix)
                if over:
                    ratio = ratio / measured.stack((s,), over.format(suffix))
                intervals[f"{kind}, {s}"] = mean_interval(ratio, log=log)
            return intervals

        section.judge("subset", compare("large", "large_at_random"))
        section.judge(
            "frequencies",
            {"near": compare("near"), "refit": compare("largest", "smallest{}", log=True)},
            order=2 * self.task,
            halves=listed(
                f"{errors['nearest']:.0e}, and {errors['farthest']:.0e} for the farthest half ({s})"
                for s, errors in halves.items()
            ),
        )
        section.judge("outer", {s: mean_interval(measured.stack((s,), "outer")) for s in means})
        return section

    def _measure_weights(self, result: Cell) -> Cell:
        """Return measures of the readout weights, and of the eigenvalues that have them."""
        spectrum = Spectrum(result["real"], result["pairs"])
        weights = importance(spectrum, result["weights"])
        distance = _distance_to_task(spectrum, self.task)
        shares = result["shares"]
        outer = np.abs(spectrum.values) >= OUTER * spectrum.radius
        return {
            "large": np.sum(weights > LARGE),
            "large_shares": np.sum(shares > LARGE * shares.max()),
            "near": np.average(distance, weights=weights) / distance.mean(),
            "near_shares": np.average(distance, weights=shares) / distance.mean(),
            "outer": weights[outer].mean() / weights[~outer].mean(),
        }


def _contributions(esn: LinearESN, task: MSOSplit) -> Array:
    """Return the RMS contribution of each eigenvalue or pair to the output, (N,)."""
    parts = esn.transform(task.X[task.train])[task.washout :] * esn.model_.readout.weights[0]
    n = esn.model_.spectrum.real.size
    pairs = np.repeat(parts[:, n::2] + parts[:, n + 1 :: 2], 2, axis=1)
    return np.sqrt(np.square(np.hstack([parts[:, :n], pairs])).mean(axis=0))


def _distance_to_task(spectrum: Spectrum, task: int) -> Array:
    """Return the distance between the angle of each eigenvalue and the nearest task frequency."""
    angles = np.abs(np.angle(spectrum.values))
    return np.abs(angles[:, None] - np.array(MSO_FREQUENCIES[:task])).min(axis=1)
