"""Which eigenvalues a trained readout uses: the readout weight figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho import metrics, plots
from eigenecho.apps.paper.experiment import Cell, Claim, Config, Experiment, Key, Section, TextTable
from eigenecho.estimators import LinearESN
from eigenecho.plots.spectrum import importance
from eigenecho.plots.style import new_figure, tidy
from eigenecho.spectra import Spectrum
from eigenecho.tasks import MSO_FREQUENCIES, mso_split
from eigenecho.types import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = {"golden": "Golden", "matrix": "Matrix"}
LARGE = 0.5
"""Weight, relative to the largest, from which it counts as large."""

DRAWS = 200
"""Random weights that the trained ones are held against."""


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
        """One for each spectrum and seed."""
        return [(spectrum, seed) for spectrum in SHOWN for seed in range(config.seeds)]

    def run(self, config: ImportanceConfig, key: Key) -> Cell:
        """Eigenvalues, readout weights in the Q layout and the test RMSE of one network."""
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
        at_work = esn.model_.spectrum
        # What weights without any structure look like: Gaussian in the Q layout.
        rng = np.random.default_rng(seed)
        random = [
            np.sum(importance(at_work, rng.normal(size=config.units)) > LARGE) for _ in range(DRAWS)
        ]
        error = metrics.rmse(task.y[task.test], esn.predict(task.X)[task.test])
        weights = esn.model_.readout.weights[0]
        return {
            "real": at_work.real,
            "pairs": at_work.pairs,
            "weights": weights,
            "large_at_random": np.mean(random),
            "test_rmse": np.array(error),
        }

    def section(self, config: ImportanceConfig, results: Mapping[Key, Cell]) -> Section:
        """The same points before and after training, and how unequal the weights are."""
        found = {}
        for name in SHOWN:
            each = [_measures(config, results[name, s]) for s in range(config.seeds)]
            found[name] = {key: float(np.mean([m[key] for m in each])) for key in each[0]}
        rows = [
            [SHOWN[name], f"{m['large']:.1f}", f"{m['large_at_random']:.1f}", f"{m['half']:.1f}",
             f"{m['near']:.3f}", f"{m['near_all']:.3f}", f"{m['test_rmse']:.2e}"]
            for name, m in found.items()
        ]  # fmt: skip
        return Section(
            f"N = {config.units}, MSO{config.task}, radius {config.sr:g}, leaking rate "
            f"{config.lr:g}, input scaling {config.input_scaling:g}, ridge {config.ridge:g}; "
            "the paper does not say which values its figure has. The weight of a pair is "
            "√(w_Re² + w_Im²), divided by the largest.",
            [
                TextTable(
                    f"How unequal the weights are, of {config.units} eigenvalues, mean over "
                    f"{config.seeds} seeds",
                    ("Spectrum", "large", "large, random weights", "hold half the weight",
                     "distance by weight", "distance", "test RMSE"),
                    rows,
                    note=f"Large: over {LARGE:.0%} of the largest weight; beside it the number for "
                    "Gaussian weights without structure. Distance: from |angle of λ| to the "
                    "nearest of the task's frequencies, in radians, the mean over eigenvalues with "
                    "and without the weights.",
                )
            ],
            {"spectral-importance": _figure(config, results)},
            {
                "spectral-importance": "Eigenvalues in the complex plane with the unit circle. "
                "Left: before training, all of one size. Right: the same points after training on "
                f"MSO{config.task}, area by readout weight from 0 to 1; a grey dot marks those "
                "that have shrunk. Ticks across the circle: the frequencies of the task."
            },
            _claims(config, found),
            {"weights": found},
            f"large weights: {found['golden']['large']:.0f} of {config.units} golden, "
            f"{found['matrix']['large']:.0f} of {config.units} matrix",
        )  # fmt: skip


def _spectrum(result: Cell) -> Spectrum:
    return Spectrum(result["real"], result["pairs"])


def _measures(config: ImportanceConfig, result: Cell) -> dict[str, float]:
    spectrum = _spectrum(result)
    weights = importance(spectrum, result["weights"])
    angles = np.abs(np.angle(spectrum.values))
    frequencies = np.array(MSO_FREQUENCIES[: config.task])
    distance = np.abs(angles[:, None] - frequencies).min(axis=1)
    largest_first = np.cumsum(np.sort(weights)[::-1]) / weights.sum()
    return {
        "large": float(np.sum(weights > LARGE)),
        "large_at_random": float(result["large_at_random"]),
        "half": float(1 + np.searchsorted(largest_first, 0.5)),
        "near": float(np.average(distance, weights=weights)),
        "near_all": float(distance.mean()),
        "test_rmse": float(result["test_rmse"]),
    }


def _figure(config: ImportanceConfig, results: Mapping[Key, Cell]) -> Figure:
    figure = new_figure(8.0, 3.9 * len(SHOWN), layout="compressed")
    panels: Any = figure.subplots(len(SHOWN), 2, squeeze=False)
    for row, (name, label) in zip(panels, SHOWN.items(), strict=True):
        result = results[name, 0]
        shown: tuple[tuple[str, Array | None], ...] = (
            ("before training", None),
            (f"after training on MSO{config.task}", result["weights"]),
        )
        for ax, (when, weights) in zip(row, shown, strict=True):
            tidy(ax, frame=True)
            plots.spectrum(_spectrum(result), weights=weights, ax=ax, title=f"{label}, {when}")
            for frequency in MSO_FREQUENCIES[: config.task]:
                x, y = np.cos(frequency), np.sin(frequency)
                for sign in (1, -1):
                    ax.plot(
                        [0.93 * x, 1.1 * x], [0.93 * sign * y, 1.1 * sign * y],
                        color="black", linewidth=0.9,
                    )  # fmt: skip
    return figure


def _claims(config: ImportanceConfig, found: Mapping[str, Mapping[str, float]]) -> list[Claim]:
    share = [m["large"] / config.units for m in found.values()]
    fewer = [m["large"] / m["large_at_random"] for m in found.values()]
    nearer = [m["near"] / m["near_all"] for m in found.values()]
    return [
        Claim.judged(
            "Only a subset of the eigenvalues has large readout weights",
            "; ".join(
                f"{SHOWN[name]}: {m['large']:.0f} of {config.units} above {LARGE:.0%} of the "
                f"largest ({m['large_at_random']:.0f} if weights were Gaussian noise), "
                f"{m['half']:.0f} hold half of all weight"
                for name, m in found.items()
            ),
            max(share) < 0.5 and max(fewer) < 0.75,
            max(share) < 0.5,
        ),
        Claim.judged(
            "The readout selects the frequencies that matter to the task",
            "; ".join(
                f"{SHOWN[name]}: mean distance from a task frequency {m['near']:.2f} rad by "
                f"weight, {m['near_all']:.2f} without"
                for name, m in found.items()
            ),
            max(nearer) < 0.5,
            max(nearer) < 0.9,
        ),
    ]
