"""Readout weights of the eigenvalues after training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from eigenecho import metrics, plots
from eigenecho.apps.paper.experiment import Cell, Config, Experiment, Key, Results, mean_over_seeds
from eigenecho.apps.paper.section import Claim, ReportFigure, Section, TextTable, format_rows
from eigenecho.estimators import LinearESN
from eigenecho.plots.spectrum import importance
from eigenecho.plots.style import panel_grid
from eigenecho.spectra import Spectrum
from eigenecho.tasks import MSO_FREQUENCIES, mso_split

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = {"golden": "Golden", "matrix": "Matrix"}
MEASURES = {
    "large": "large",
    "large_at_random": "large, random weights",
    "half": "hold half the weight",
    "near": "distance by weight",
    "near_all": "distance",
    "test_rmse": "test RMSE",
}
"""Headings of the table by name of the number."""

LARGE = 0.5
"""Smallest weight, relative to the largest, that counts as large."""

DRAWS = 200
"""Number of random weight vectors that the trained weights are compared with."""


@dataclass(frozen=True)
class ImportanceConfig(Config):
    """One reservoir from the middle of the paper's hyperparameter table."""

    units: int = 100
    task: int = 5
    sr: float = 0.9
    lr: float = 1.0
    input_scaling: float = 1.0
    ridge: float = 1e-8


class SpectralImportance(Experiment[ImportanceConfig]):
    """Eigenvalues sized by readout weight."""

    name = "spectral-importance"
    title = "Spectral importance"
    paper = "figure of eigenvalues sized by readout weight"
    config = ImportanceConfig()
    quick = ImportanceConfig(seeds=2)

    def cells(self, config: ImportanceConfig) -> list[Key]:
        """Return one key per spectrum and seed."""
        return [*product(SHOWN, range(config.seeds))]

    def run(self, config: ImportanceConfig, key: Key) -> Cell:
        """Return eigenvalues, readout weights in the Q layout and test RMSE of one network."""
        spectrum, seed = key
        task = mso_split(config.task)
        esn = LinearESN(
            config.units,
            spectrum=spectrum,
            sr=config.sr,
            lr=config.lr,
            input_scaling=config.input_scaling,
            ridge=config.ridge,
            warmup=task.washout,
            solver="qr",
            seed=seed,
        ).fit(task.X[task.train], task.y[task.train])
        modes = esn.model_.spectrum
        # The reference: weights without structure, Gaussian in the Q layout.
        rng = np.random.default_rng(seed)
        random = [
            np.sum(importance(modes, rng.normal(size=config.units)) > LARGE) for _ in range(DRAWS)
        ]
        error = metrics.rmse(task.y[task.test], esn.predict(task.X)[task.test])
        return {
            "real": modes.real,
            "pairs": modes.pairs,
            "weights": esn.model_.readout.weights[0],
            "large_at_random": np.mean(random),
            "test_rmse": np.array(error),
        }

    def section(self, config: ImportanceConfig, results: Results) -> Section:
        """Show the eigenvalues before and after training, and how unequal the weights are."""
        measured = {key: cell | _measure(config, cell) for key, cell in results.items()}
        means = {s: mean_over_seeds(measured, config.seeds, (s,), MEASURES) for s in SHOWN}
        rows = {SHOWN[spectrum]: numbers.values() for spectrum, numbers in means.items()}
        return Section(
            f"N = {config.units}, MSO{config.task}, radius {config.sr:g}, leaking rate "
            f"{config.lr:g}, input scaling {config.input_scaling:g}, ridge {config.ridge:g}; "
            "the paper does not state the values of its figure. The weight of a pair is "
            "√(w_Re² + w_Im²), divided by the largest.",
            f"large weights: {means['golden']['large']:.0f} of {config.units} golden, "
            f"{means['matrix']['large']:.0f} of {config.units} matrix",
            [
                TextTable(
                    f"Inequality of the weights of {config.units} eigenvalues, mean over "
                    f"{config.seeds} seeds",
                    ("Spectrum", *MEASURES.values()),
                    format_rows(rows, ".1f", ".1f", ".1f", ".3f", ".3f", ".2e"),
                    note=f"Large: above {LARGE:.0%} of the largest weight, compared with Gaussian "
                    "weights. Distance: from |angle of λ| to the nearest frequency of the task, in "
                    "radians; mean over eigenvalues with and without the weights.",
                )
            ],
            [
                ReportFigure(
                    "spectral-importance",
                    _draw(config, results),
                    "Eigenvalues with the unit circle, before training (left) and after training "
                    f"on MSO{config.task} (right), where the area shows the readout weight. Ticks "
                    "across the circle: the frequencies of the task.",
                )
            ],
            _judge(config, means),
            {"weights": means},
        )


def _measure(config: ImportanceConfig, result: Cell) -> Cell:
    """Return measures of the readout weights, and of their distance from the task frequencies."""
    spectrum = Spectrum(result["real"], result["pairs"])
    weights = importance(spectrum, result["weights"])
    angles = np.abs(np.angle(spectrum.values))
    frequencies = np.array(MSO_FREQUENCIES[: config.task])
    distance = np.abs(angles[:, None] - frequencies).min(axis=1)
    largest_first = np.cumsum(np.sort(weights)[::-1]) / weights.sum()
    return {
        "large": np.sum(weights > LARGE),
        "half": 1 + np.searchsorted(largest_first, 0.5),
        "near": np.average(distance, weights=weights),
        "near_all": distance.mean(),
    }


def _draw(config: ImportanceConfig, results: Results) -> Figure:
    figure, axes = panel_grid(2 * len(SHOWN), 2, 4.0, 3.9, square=True)
    trained = (False, True)
    for ax, (spectrum, after) in zip(axes, product(SHOWN, trained), strict=True):
        result = results[spectrum, 0]
        when = f"after training on MSO{config.task}" if after else "before training"
        plots.spectrum(
            Spectrum(result["real"], result["pairs"]),
            weights=result["weights"] if after else None,
            ax=ax,
            title=f"{SHOWN[spectrum]}, {when}",
        )
        frequencies = np.array(MSO_FREQUENCIES[: config.task])
        ticks = np.exp(1j * np.concatenate([frequencies, -frequencies])) * [[0.93], [1.1]]
        ax.plot(ticks.real, ticks.imag, color="black", linewidth=0.9)
    return figure


def _judge(config: ImportanceConfig, means: Mapping[str, Mapping[str, float]]) -> list[Claim]:
    share = max(m["large"] / config.units for m in means.values())
    fewer = max(m["large"] / m["large_at_random"] for m in means.values())
    nearer = max(m["near"] / m["near_all"] for m in means.values())
    return [
        Claim.judge(
            "Only a subset of the eigenvalues has large readout weights",
            "; ".join(
                f"{SHOWN[spectrum]}: {m['large']:.0f} of {config.units} above {LARGE:.0%} of the "
                f"largest ({m['large_at_random']:.0f} if weights were Gaussian noise), "
                f"{m['half']:.0f} hold half of all weight"
                for spectrum, m in means.items()
            ),
            share < 0.5 and fewer < 0.75,
            share < 0.5,
        ),
        Claim.judge(
            "The readout selects the frequencies that matter to the task",
            "; ".join(
                f"{SHOWN[spectrum]}: mean distance from a task frequency {m['near']:.2f} rad by "
                f"weight, {m['near_all']:.2f} without"
                for spectrum, m in means.items()
            ),
            nearer < 0.5,
            nearer < 0.9,
        ),
    ]
