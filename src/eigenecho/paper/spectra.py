"""Eigenvalue distributions in the unit disk, and the readout weights they get by training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, ClassVar

import numpy as np

from eigenecho import metrics, plots, spectra
from eigenecho.estimators import LinearESN
from eigenecho.paper.experiment import Cell, Experiment, Key, Results, Section
from eigenecho.paper.mso import LITERAL
from eigenecho.plots.spectrum import importance
from eigenecho.plots.style import panel_grid
from eigenecho.spectra import Spectrum
from eigenecho.tasks import MSO_FREQUENCIES, mso_split
from eigenecho.types import Array

PAPER: dict[str, Callable[..., Spectrum]] = {
    "Matrix": partial(spectra.sim, sr=1.0),
    "Uniform": partial(spectra.uniform, sr=1.0),
    "Golden": partial(spectra.golden, sr=1.0),
    "Noisy Golden": partial(spectra.noisy_golden, sr=1.0),
}
"""Columns of the paper's figure; the first is the spectrum of a random W."""

OURS: dict[str, Callable[..., Spectrum]] = {
    "Sim, sparse W": partial(spectra.sim, sr=1.0, connectivity=0.02),
    "Ring": spectra.ring,
    "Log ring": spectra.log_ring,
    "Time constants": spectra.time_constants,
    LITERAL: partial(spectra.noisy_golden, sr=1.0, absolute=True),
}
LAWS = PAPER | OURS

MEASURES = ("unevenness", "hole", "density")
"""Measures of how evenly eigenvalues cover the disk."""

GRID = 120
"""Points along the diameter of the disk where the distance to the eigenvalues is measured."""

TRAINED = {"golden": "Golden", "matrix": "Matrix"}
"""Labels of the spectra that are trained."""

WEIGHT_MEASURES = {
    "large": "large",
    "large_at_random": "large, random weights",
    "half": "hold half the weight",
    "near": "distance by weight",
    "near_all": "distance",
    "test_rmse": "test RMSE",
}
"""Headings of the table of readout weights by name of the number."""

LARGE = 0.5
"""Smallest weight, relative to the largest, that counts as large."""

DRAWS = 200
"""Number of random weight vectors that the trained weights are compared with."""


@dataclass(frozen=True)
class SpectraFigure(Experiment):
    """Eigenvalue distributions. Figures show the first seed, tables all of them."""

    name = "spectra"
    title = "Eigenvalue distributions"
    paper = "figure of eigenvalue distributions"
    quick: ClassVar = dict(seeds=3)

    units: int = 300

    def cells(self) -> list[Key]:
        """Return one key per law and seed."""
        return [*product(LAWS, range(self.seeds))]

    def run(self, key: Key) -> Cell:
        """Return eigenvalues and measures of how evenly they cover the unit disk."""
        law, seed = key
        drawn = LAWS[law](self.units, seed=seed)
        return {"real": drawn.real, "pairs": drawn.pairs} | measure_cover(drawn.values)

    def section(self, results: Results) -> Section:
        """Show the paper's four spectra, our other laws, and their measures."""
        drawn = {law: Spectrum(results[law, 0]["real"], results[law, 0]["pairs"]) for law in LAWS}
        cover = {law: results.means((law,), MEASURES) for law in LAWS}
        best = [min(PAPER, key=lambda law: cover[law][measure]) for measure in MEASURES[:2]]
        section = Section(
            f"N = {self.units} eigenvalues per law: the columns of the paper's figure, at radius "
            "1, further laws at their own radii, and the golden law with noise as the paper's "
            f"algorithm states it. Measures are means over {self.seeds} draws.",
            f"unevenness: matrix {cover['Matrix']['unevenness']:.2f}, "
            f"noisy golden {cover['Noisy Golden']['unevenness']:.2f}",
            {"cover": cover},
        )
        section.add_table(
            "Evenness of the cover of the unit disk; best of the paper's four in bold",
            ("Law", "unevenness", "largest hole", "density", "radius", "real"),
            [[law, *cover[law].values(), drawn[law].radius, drawn[law].real.size] for law in LAWS],
            [".3f", ".3f", ".3f", ".3f", "d"],
            {([*LAWS].index(law), 1 + column) for column, law in enumerate(best)},
            "Unevenness: deviation / mean of the distance to the nearest eigenvalue (0 for a "
            "lattice, 0.52 for independent points). Largest hole: radius of the largest empty "
            "circle. Density: largest distance between the share of eigenvalues within radius r "
            "and r², the circular law of large random matrices.",
        )
        section.add_figure(
            "spectra",
            _draw_spectra({law: drawn[law] for law in PAPER}, 4),
            "Eigenvalues in the complex plane, with the unit circle: of a random matrix, and drawn "
            "from the uniform, the golden and the noisy golden law.",
        )
        section.add_figure(
            "spectra-catalogue",
            _draw_spectra({law: drawn[law] for law in OURS}, 3),
            "The other laws of the library: of a sparse random matrix, on a ring, at geometrically "
            "spaced time constants with and without rotation, and golden with σ = 0.2 taken "
            "literally. Values outside the unit circle are red.",
        )
        noisy, golden, uniform = (cover[law] for law in ("Noisy Golden", "Golden", "Uniform"))
        beats_uniform = all(noisy[name] < uniform[name] for name in MEASURES[:2])
        beats_golden = all(noisy[name] < golden[name] for name in MEASURES[:2])
        compared = {
            measure: ", ".join(
                f"{law.lower()} {cover[law][measure]:.2f}"
                for law in ("Noisy Golden", "Golden", "Uniform", "Matrix")
            )
            for measure in MEASURES
        }
        section.judge(
            "Noisy golden covers the disk more evenly than uniform and than golden without noise",
            f"unevenness: {compared['unevenness']}; largest hole: {compared['hole']}. "
            + ("More even than uniform" if beats_uniform else "Not more even than uniform")
            + (", and than golden" if beats_golden else "; golden without noise is the most even"),
            beats_uniform,
            beats_golden,
        )
        section.judge(
            "Noisy golden matches the spectral density of a random matrix",
            f"distance from the circular law: {compared['density']}",
            noisy["density"] <= 1.5 * cover["Matrix"]["density"],
        )
        return section


def _draw_spectra(drawn: Mapping[str, Spectrum], columns: int) -> Any:
    figure, axes = panel_grid(len(drawn), columns, 2.6, 2.75, square=True)
    for ax, (law, spectrum) in zip(axes, drawn.items(), strict=True):
        plots.spectrum(spectrum, ax=ax, title=law, radius=False)
    return figure


def measure_cover(values: Array) -> Cell:
    """Return measures of how evenly eigenvalues (N,) cover the unit disk."""
    from scipy.spatial import cKDTree
    from scipy.stats import kstest

    points = np.column_stack([values.real, values.imag])
    tree = cKDTree(points)
    nearest = tree.query(points, k=2)[0][:, 1]
    x, y = np.meshgrid(np.linspace(-1, 1, GRID), np.linspace(-1, 1, GRID))
    disk = np.column_stack([x.ravel(), y.ravel()])[(x**2 + y**2).ravel() <= 1]
    distance = kstest(np.abs(values), lambda r: np.minimum(r, 1) ** 2).statistic
    return {
        "unevenness": np.array(nearest.std() / nearest.mean()),
        "hole": np.array(tree.query(disk)[0].max()),
        "density": np.array(distance),
    }


@dataclass(frozen=True)
class SpectralImportance(Experiment):
    """Eigenvalues sized by readout weight.

    One reservoir from the middle of the paper's hyperparameter table.
    """

    name = "spectral-importance"
    title = "Spectral importance"
    paper = "figure of eigenvalues sized by readout weight"
    quick: ClassVar = dict(seeds=2)

    units: int = 100
    task: int = 5
    sr: float = 0.9
    lr: float = 1.0
    input_scaling: float = 1.0
    ridge: float = 1e-8

    def cells(self) -> list[Key]:
        """Return one key per spectrum and seed."""
        return [*product(TRAINED, range(self.seeds))]

    def run(self, key: Key) -> Cell:
        """Return eigenvalues, readout weights in the Q layout and test RMSE of one network."""
        spectrum, seed = key
        task = mso_split(self.task)
        esn = LinearESN(
            self.units,
            spectrum=spectrum,
            sr=self.sr,
            lr=self.lr,
            input_scaling=self.input_scaling,
            ridge=self.ridge,
            warmup=task.washout,
            solver="qr",
            seed=seed,
        ).fit(task.X[task.train], task.y[task.train])
        modes = esn.model_.spectrum
        # The reference: weights without structure, Gaussian in the Q layout.
        rng = np.random.default_rng(seed)
        random = [
            np.sum(importance(modes, rng.normal(size=self.units)) > LARGE) for _ in range(DRAWS)
        ]
        error = metrics.rmse(task.y[task.test], esn.predict(task.X)[task.test])
        return {
            "real": modes.real,
            "pairs": modes.pairs,
            "weights": esn.model_.readout.weights[0],
            "large_at_random": np.mean(random),
            "test_rmse": np.array(error),
        }

    def section(self, results: Results) -> Section:
        """Show the eigenvalues before and after training, and how unequal the weights are."""
        measured = Results(
            {key: cell | _measure_weights(self.task, cell) for key, cell in results.items()}
        )
        means = {s: measured.means((s,), WEIGHT_MEASURES) for s in TRAINED}
        section = Section(
            f"N = {self.units}, MSO{self.task}, radius {self.sr:g}, leaking rate {self.lr:g}, "
            f"input scaling {self.input_scaling:g}, ridge {self.ridge:g}; the paper does not state "
            "the values of its figure. The weight of a pair is √(w_Re² + w_Im²), divided by the "
            "largest.",
            f"large weights: {means['golden']['large']:.0f} of {self.units} golden, "
            f"{means['matrix']['large']:.0f} of {self.units} matrix",
            {"weights": means},
        )
        section.add_table(
            f"Inequality of the weights of {self.units} eigenvalues, mean over {self.seeds} seeds",
            ("Spectrum", *WEIGHT_MEASURES.values()),
            [[TRAINED[spectrum], *numbers.values()] for spectrum, numbers in means.items()],
            [".1f", ".1f", ".1f", ".3f", ".3f", ".2e"],
            note=f"Large: above {LARGE:.0%} of the largest weight, compared with Gaussian "
            "weights. Distance: from |angle of λ| to the nearest frequency of the task, in "
            "radians; mean over eigenvalues with and without the weights.",
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
        section.add_figure(
            "spectral-importance",
            figure,
            "Eigenvalues with the unit circle, before training (left) and after training on "
            f"MSO{self.task} (right), where the area shows the readout weight. Ticks across the "
            "circle: the frequencies of the task.",
        )
        share = max(m["large"] / self.units for m in means.values())
        fewer = max(m["large"] / m["large_at_random"] for m in means.values())
        section.judge(
            "Only a subset of the eigenvalues has large readout weights",
            "; ".join(
                f"{TRAINED[spectrum]}: {m['large']:.0f} of {self.units} above {LARGE:.0%} of the "
                f"largest ({m['large_at_random']:.0f} if weights were Gaussian noise), "
                f"{m['half']:.0f} hold half of all weight"
                for spectrum, m in means.items()
            ),
            share < 0.5 and fewer < 0.75,
            share < 0.5,
        )
        nearer = max(m["near"] / m["near_all"] for m in means.values())
        section.judge(
            "The readout selects the frequencies that matter to the task",
            "; ".join(
                f"{TRAINED[spectrum]}: mean distance from a task frequency {m['near']:.2f} rad by "
                f"weight, {m['near_all']:.2f} without"
                for spectrum, m in means.items()
            ),
            nearer < 0.5,
            nearer < 0.9,
        )
        return section


def _measure_weights(task: int, result: Cell) -> Cell:
    """Return measures of the readout weights, and of their distance from the task frequencies."""
    spectrum = Spectrum(result["real"], result["pairs"])
    weights = importance(spectrum, result["weights"])
    angles = np.abs(np.angle(spectrum.values))
    frequencies = np.array(MSO_FREQUENCIES[:task])
    distance = np.abs(angles[:, None] - frequencies).min(axis=1)
    largest_first = np.cumsum(np.sort(weights)[::-1]) / weights.sum()
    return {
        "large": np.sum(weights > LARGE),
        "half": 1 + np.searchsorted(largest_first, 0.5),
        "near": np.average(distance, weights=weights),
        "near_all": distance.mean(),
    }
