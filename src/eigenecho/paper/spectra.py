"""Experiments on eigenvalue distributions, and on the readout weights of eigenvalues."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, ClassVar

import numpy as np

from eigenecho import metrics, plots, spectra
from eigenecho.estimators import LinearESN
from eigenecho.paper.experiment import Cell, Experiment, Key, Results, Section, fit_ridge, listed
from eigenecho.paper.mso import LITERAL
from eigenecho.plots.spectrum import importance
from eigenecho.plots.style import panel_grid
from eigenecho.spectra import Spectrum
from eigenecho.tasks import MSO_FREQUENCIES, MSOSplit, mso_split
from eigenecho.types import Array

PAPER: dict[str, Callable[..., Spectrum]] = {
    "Matrix": partial(spectra.sim, sr=1.0),
    "Uniform": partial(spectra.uniform, sr=1.0),
    "Golden": partial(spectra.golden, sr=1.0),
    "Noisy Golden": partial(spectra.noisy_golden, sr=1.0),
}
"""Spectra in the figure of the paper. The first is that of a random W."""

OURS: dict[str, Callable[..., Spectrum]] = {
    "Sim, sparse W": partial(spectra.sim, sr=1.0, connectivity=0.02),
    "Ring": spectra.ring,
    "Log ring": spectra.log_ring,
    "Time constants": spectra.time_constants,
    LITERAL: partial(spectra.noisy_golden, sr=1.0, absolute=True),
}
LAWS = PAPER | OURS

MEASURES = ("unevenness", "hole", "density")
"""Names of the measures of how evenly eigenvalues cover the disk."""

GRID = 120
"""Number of grid points along the diameter of the disk, from which distances are measured."""

TRAINED = {"golden": "Golden", "matrix": "Matrix"}
"""Labels of the spectra for which networks are trained."""

WEIGHT_MEASURES = {
    "large": "large weights",
    "large_at_random": "large weights if Gaussian",
    "half": "eigenvalues with half of the weight",
    "large_shares": "large contributions",
    "near": "distance by weight",
    "near_shares": "by contribution",
    "near_all": "unweighted",
    "test_rmse": "test RMSE",
}
"""Column headings in the table of readout weights, by name of the measure."""

HALVES = {
    "largest": "largest weights",
    "smallest": "smallest weights",
    "nearest": "nearest to the task frequencies",
    "farthest": "farthest from them",
}
"""Halves of the eigenvalues to which a readout is fitted, by name of its test RMSE."""

LARGE = 0.5
"""Smallest weight that counts as large, relative to the largest weight."""

DRAWS = 200
"""Number of random weight vectors with which the trained weights are compared."""


@dataclass(frozen=True)
class SpectraFigure(Experiment):
    """Eigenvalue distributions. Figures show the first seed, and tables average over all seeds."""

    name = "spectra"
    title = "Eigenvalue distributions"
    paper = "figure of eigenvalue distributions"
    quick: ClassVar = dict(seeds=3)

    units: int = 300

    def cells(self) -> list[Key]:
        """Return a key for each law and seed."""
        return [*product(LAWS, range(self.seeds))]

    def run(self, key: Key) -> Cell:
        """Return eigenvalues, and measures of how evenly they cover the unit disk."""
        law, seed = key
        drawn = LAWS[law](self.units, seed=seed)
        return {"real": drawn.real, "pairs": drawn.pairs} | measure_cover(drawn.values)

    def section(self, results: Results) -> Section:
        """Report the spectra of the paper and of other laws, with their measures."""
        drawn = {law: Spectrum(results[law, 0]["real"], results[law, 0]["pairs"]) for law in LAWS}
        cover = {law: results.means((law,), MEASURES) for law in LAWS}
        best = [min(PAPER, key=lambda law: cover[law][measure]) for measure in MEASURES[:2]]
        section = Section(
            f"A law is a rule that generates eigenvalues; here, N = {self.units}. The figures show "
            "the laws of the paper at radius 1, other laws at their own radii, and noisy golden "
            "with the noise exactly as stated in the paper. The measures in the table are means "
            f"over {self.seeds} draws.",
            f"The unevenness is {cover['Noisy Golden']['unevenness']:.2f} for noisy golden and "
            f"{cover['Matrix']['unevenness']:.2f} for a random matrix",
            {"cover": cover},
        )
        section.add_table(
            "How evenly the eigenvalues cover the unit disk (best of the paper's four laws in "
            "bold)",
            ("Law", "unevenness", "largest hole", "density error", "radius", "real eigenvalues"),
            [[law, *cover[law].values(), drawn[law].radius, drawn[law].real.size] for law in LAWS],
            [".3f", ".3f", ".3f", ".3f", "d"],
            {([*LAWS].index(law), 1 + column) for column, law in enumerate(best)},
            "The unevenness is the standard deviation of the distance from an eigenvalue to its "
            "nearest neighbour, divided by the mean of this distance (0 for a lattice, 0.52 for "
            "independent points). The largest hole is the radius of the largest empty circle. The "
            "density error is the largest difference between the fraction of eigenvalues within "
            "radius r and the fraction r² given by the circular law for large random matrices. The "
            "last two columns describe the first draw.",
        )
        section.add_figure(
            "spectra",
            _draw_spectra({law: drawn[law] for law in PAPER}, 4),
            "Eigenvalues of a random matrix, and of the uniform, golden and noisy golden laws, in "
            "the complex plane with the unit circle.",
        )
        section.add_figure(
            "spectra-catalogue",
            _draw_spectra({law: drawn[law] for law in OURS}, 3),
            "Other spectra of the library: a sparse random matrix, a ring, geometrically spaced "
            "time constants with and without rotation, and noisy golden with σ = 0.2 taken "
            "literally. Eigenvalues outside the unit circle are red.",
        )
        noisy, golden, uniform = (cover[law] for law in ("Noisy Golden", "Golden", "Uniform"))
        beats_uniform = all(noisy[name] < uniform[name] for name in MEASURES[:2])
        beats_golden = all(noisy[name] < golden[name] for name in MEASURES[:2])
        compared = {
            name: listed(f"{cover[law][name]:.2f} for {law.lower()}" for law in reversed(PAPER))
            for name in MEASURES
        }
        section.judge(
            "Noisy golden covers the disk more evenly than both uniform and golden without noise",
            f"The unevenness is {compared['unevenness']}; the largest hole is {compared['hole']}. "
            f"Noisy golden is {'' if beats_uniform else 'not '}more even than uniform "
            f"{'and' if beats_uniform == beats_golden else 'but'} "
            f"{'' if beats_golden else 'not '}more even than golden without noise",
            beats_uniform,
            beats_golden,
            quote="We observe that the Noisy Golden distribution (right) achieves a significantly "
            "more homogeneous coverage of the unit disk than the Uniform Distribution or its "
            "non-noisy counterpart",
            why="The points of the golden spiral are nearly as far apart as those of a lattice, so "
            "independent noise can only make their distances less equal: the unevenness grows "
            f"from {golden['unevenness']:.3f} without noise to {noisy['unevenness']:.3f} with a "
            f"standard deviation of 0.2/√N, and to {cover[LITERAL]['unevenness']:.3f} with the "
            "standard deviation of 0.2 that the text states, which is more than for independent "
            "points. The claim is made in the caption of a figure, without a measure. It holds "
            "for the comparison with uniform only",
        )
        section.judge(
            "Noisy golden matches the spectral density of a random matrix",
            f"The largest difference from the circular law is {compared['density']}",
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
    """Readout weights of the eigenvalues.

    The hyperparameters are in the middle of those in the table of the paper.
    """

    name = "spectral-importance"
    title = "Which eigenvalues get large readout weights?"
    paper = "figure of eigenvalues sized by readout weight"
    version = 2
    quick: ClassVar = dict(seeds=2)

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
        return {
            "real": modes.real,
            "pairs": modes.pairs,
            "weights": esn.model_.readout.weights[0],
            "shares": _contributions(esn, task),
            "large_at_random": np.mean(random),
            "test_rmse": np.array(error),
            **self._refit_halves(task, esn),
        }

    def _refit_halves(self, task: MSOSplit, esn: LinearESN) -> Cell:
        """Return the test RMSE of readouts that are fitted to half of the eigenvalues."""
        modes, states = esn.model_.spectrum, esn.transform(task.X)
        weights = importance(modes, esn.model_.readout.weights[0])
        distance = _distance_to_task(modes, self.task)
        rows = np.arange(len(states))[task.train][task.washout :]
        errors = {}
        for name, order in zip(HALVES, (-weights, weights, distance, -distance), strict=True):
            half = np.argsort(order, kind="stable")[: self.units // 2]
            X = np.column_stack([np.ones(len(states)), states[:, half]])
            w = fit_ridge(X[rows], task.y[rows], self.ridge)
            errors[name] = np.array(metrics.rmse(task.y[task.test], X[task.test] @ w))
        return errors

    def section(self, results: Results) -> Section:
        """Report the eigenvalues before and after training, and how unequal the weights are."""
        measured = Results(
            {key: cell | _measure_weights(self.task, cell) for key, cell in results.items()}
        )
        means = {s: measured.means((s,), WEIGHT_MEASURES) for s in TRAINED}
        halves = {
            s: {name: np.exp(np.log(results.stack((s,), name)).mean()) for name in HALVES}
            for s in TRAINED
        }
        section = Section(
            f"Networks are trained on MSO{self.task} with the parameters listed at the end of this "
            "section; the paper does not state the parameters used for its figure. The weight of a "
            "pair of eigenvalues is √(w_Re² + w_Im²), divided by the largest weight.",
            f"Of {self.units} eigenvalues, {means['golden']['large']:.0f} (golden) and "
            f"{means['matrix']['large']:.0f} (matrix) have large weights",
            {"weights": means, "halves": halves},
        )
        section.add_table(
            f"How unequal the weights of {self.units} eigenvalues are (means over {self.seeds} "
            "seeds)",
            ("Spectrum", *WEIGHT_MEASURES.values()),
            [[TRAINED[spectrum], *numbers.values()] for spectrum, numbers in means.items()],
            [".1f", ".1f", ".1f", ".1f", ".3f", ".3f", ".3f", ".2e"],
            note=f"A weight is large if it exceeds {LARGE:.0%} of the largest weight. For "
            "comparison, the third column is the number of large weights if all weights are "
            "Gaussian. The contribution of an eigenvalue is the root mean square of its state "
            "times its weight. Distances, in radians, are measured from |angle of λ| to the "
            "nearest frequency of the task and averaged over the eigenvalues, weighted by readout "
            "weight, by contribution, and unweighted.",
        )
        section.add_table(
            "Test RMSE of readouts that are fitted to half of the eigenvalues (geometric means)",
            ("Spectrum", *HALVES.values()),
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
        section.add_figure(
            "spectral-importance",
            figure,
            "Eigenvalues and the unit circle, before training (left) and after training on "
            f"MSO{self.task} (right), where the area of a marker shows the readout weight. Ticks "
            "across the circle mark the frequencies of the task.",
        )
        share = max(m["large"] / self.units for m in means.values())
        fewer = max(m["large"] / m["large_at_random"] for m in means.values())
        section.judge(
            "Only a subset of the eigenvalues has large readout weights",
            ". ".join(
                f"For {spectrum}, {m['large']:.0f} of {self.units} weights exceed {LARGE:.0%} of "
                f"the largest weight ({m['large_at_random']:.0f} would be expected for Gaussian "
                f"weights), and {m['half']:.0f} eigenvalues account for half of the total weight"
                for spectrum, m in means.items()
            ),
            share < 0.5 and fewer < 0.75,
            share < 0.5,
            quote="Only a subset of eigenvalues is associated with large output weights",
            why="A readout weight has the scale of its mode: if the input weight of a mode is "
            "halved, its readout weight doubles and the output stays the same, by the paper's "
            "theorem on input weights. The input weights are random, so the readout weights are as "
            "unequal as random numbers: the golden spectrum has nearly as many large weights as "
            "expected by chance. The contribution of a mode, which is the product of its weight "
            "and its state, has no arbitrary scale. The claim holds for contributions: "
            + listed(f"{m['large_shares']:.0f} ({s})" for s, m in means.items())
            + f" of {self.units} eigenvalues have at least half of the largest contribution",
        )
        nearer = max(m["near"] / m["near_all"] for m in means.values())
        section.judge(
            "The readout selects the frequencies that matter to the task",
            ". ".join(
                f"For {spectrum}, the mean distance to the nearest task frequency is "
                f"{m['near']:.2f} rad if weighted by readout weight and {m['near_all']:.2f} rad if "
                "unweighted"
                for spectrum, m in means.items()
            ),
            nearer < 0.5,
            nearer < 0.9,
            quote="The readout mechanism naturally selects the specific frequency components or "
            "decay rates relevant to the task",
            why=f"A sum of {self.task} sines obeys a linear recurrence of order {2 * self.task}, "
            f"so {2 * self.task} modes suffice, and the series does not determine how the weight "
            f"is divided among {self.units} modes. Large weights do not identify the useful modes: "
            "the test error of a readout that is fitted to only half of the eigenvalues is "
            + listed(
                f"{e['largest']:.0e} for those with the largest weights and {e['smallest']:.0e} "
                f"for those with the smallest weights ({spectrum})"
                for spectrum, e in halves.items()
            )
            + ". The eigenvalues near the task frequencies are useful nevertheless: the error is "
            + listed(
                f"{e['nearest']:.0e} for the nearest half and {e['farthest']:.0e} for the "
                f"farthest half ({spectrum})"
                for spectrum, e in halves.items()
            ),
        )
        return section


def _measure_weights(task: int, result: Cell) -> Cell:
    """Return measures of the readout weights and of their distances from the task frequencies."""
    spectrum = Spectrum(result["real"], result["pairs"])
    weights = importance(spectrum, result["weights"])
    distance = _distance_to_task(spectrum, task)
    largest_first = np.cumsum(np.sort(weights)[::-1]) / weights.sum()
    shares = result["shares"]
    return {
        "large": np.sum(weights > LARGE),
        "half": 1 + np.searchsorted(largest_first, 0.5),
        "large_shares": np.sum(shares > LARGE * shares.max()),
        "near": np.average(distance, weights=weights),
        "near_shares": np.average(distance, weights=shares),
        "near_all": distance.mean(),
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
