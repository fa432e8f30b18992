"""Eigenvalue distributions in the unit disk: the paper's four, and the rest of our catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho import plots, spectra
from eigenecho.apps.paper.experiment import Cell, Claim, Config, Experiment, Key, Section, TextTable
from eigenecho.apps.paper.methods import LITERAL
from eigenecho.plots.style import new_figure, tidy
from eigenecho.spectra import Spectrum
from eigenecho.types import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER: dict[str, Callable[..., Spectrum]] = {
    "Matrix": partial(spectra.sim, sr=1.0),
    "Uniform": partial(spectra.uniform, sr=1.0),
    "Golden": partial(spectra.golden, sr=1.0),
    "Noisy Golden": partial(spectra.noisy_golden, sr=1.0),
}
"""The columns of the paper's figure; the first is the spectrum of a random W."""

OURS: dict[str, Callable[..., Spectrum]] = {
    "Sim, sparse W": partial(spectra.sim, sr=1.0, connectivity=0.02),
    "Ring": spectra.ring,
    "Log ring": spectra.log_ring,
    "Time constants": spectra.time_constants,
    LITERAL: partial(spectra.noisy_golden, sr=1.0, absolute=True),
}
LAWS = PAPER | OURS
MEASURES = ("unevenness", "hole", "density")
GRID = 120
"""Points along the diameter of the disk at which holes are looked for."""


@dataclass(frozen=True)
class SpectraConfig(Config):
    """``units`` eigenvalues of each law; the first seed is drawn, all are measured."""

    units: int = 300


class Spectra(Experiment[SpectraConfig]):
    """Eigenvalue distributions."""

    name = "spectra"
    title = "Eigenvalue distributions"
    paper = "figure of eigenvalue distributions"
    config = SpectraConfig()
    quick = SpectraConfig(seeds=3)

    def cells(self, config: SpectraConfig) -> list[Key]:
        """One for each law and seed."""
        return [(law, seed) for law in LAWS for seed in range(config.seeds)]

    def run(self, config: SpectraConfig, key: Key) -> Cell:
        """Eigenvalues, and how evenly they cover the unit disk."""
        law, seed = key
        drawn = LAWS[law](config.units, seed=seed)
        return {"real": drawn.real, "pairs": drawn.pairs} | coverage(drawn.values)

    def section(self, config: SpectraConfig, results: Mapping[Key, Cell]) -> Section:
        """The four columns of the paper, our other laws, and the cover in numbers."""
        drawn = {law: Spectrum(results[law, 0]["real"], results[law, 0]["pairs"]) for law in LAWS}
        found = {}
        for law in LAWS:
            each = [results[law, s] for s in range(config.seeds)]
            found[law] = {name: float(np.mean([m[name] for m in each])) for name in MEASURES}
        rows = [
            [law, f"{m['unevenness']:.3f}", f"{m['hole']:.3f}", f"{m['density']:.3f}",
             f"{drawn[law].radius:.3f}", str(drawn[law].real.size)]
            for law, m in found.items()
        ]  # fmt: skip
        bold = {
            (i, 1 + j)
            for j, measure in enumerate(("unevenness", "hole"))
            for i in [int(np.argmin([found[law][measure] for law in PAPER]))]
        }
        return Section(
            f"N = {config.units} eigenvalues of each law. The first four are the columns of the "
            "paper's figure, at radius 1; the others are further laws of the catalogue at their "
            "own radii, and the noise of the golden law as the paper's algorithm writes it. "
            f"Measures are means over {config.seeds} draws.",
            [
                TextTable(
                    "How evenly the unit disk is covered; the best of the paper's four in bold",
                    ("Law", "unevenness", "largest hole", "density", "radius", "real"),
                    rows,
                    frozenset(bold),
                    "Unevenness: deviation over mean of the distance to the nearest other "
                    "eigenvalue (0 for a lattice, 0.52 for independent points). Largest hole: "
                    "radius of the largest empty circle centred in the disk. Density: largest "
                    "distance between the share of eigenvalues within radius r and r², the "
                    "circular law of large random matrices. Radius and number of real eigenvalues "
                    "are those of the draw shown.",
                )
            ],
            {
                "spectra": _panels({law: drawn[law] for law in PAPER}, 4),
                "spectra-catalogue": _panels({law: drawn[law] for law in OURS}, 3),
            },
            {
                "spectra": "Eigenvalues in the complex plane, with the unit circle: of a random "
                "matrix, and drawn by the uniform, the golden and the noisy golden law.",
                "spectra-catalogue": "The other laws of the catalogue: of a sparse random matrix, "
                "on a ring, at geometrically spaced time constants with and without rotation, and "
                "golden with σ = 0.2 taken literally. Outside the unit circle in red.",
            },
            _claims(found),
            {"cover": found},
            f"unevenness: matrix {found['Matrix']['unevenness']:.2f}, "
            f"noisy golden {found['Noisy Golden']['unevenness']:.2f}",
        )


def coverage(values: Array) -> Cell:
    """Measures of how evenly eigenvalues (N,) lie in the unit disk."""
    from scipy.spatial import cKDTree

    points = np.column_stack([values.real, values.imag])
    tree = cKDTree(points)
    nearest = tree.query(points, k=2)[0][:, 1]
    x, y = np.meshgrid(np.linspace(-1, 1, GRID), np.linspace(-1, 1, GRID))
    disk = np.column_stack([x.ravel(), y.ravel()])[(x**2 + y**2).ravel() <= 1]
    modulus = np.sort(np.abs(values))
    share = np.arange(1, len(values) + 1) / len(values)
    expected = np.minimum(modulus, 1) ** 2
    below = share - 1 / len(values)
    return {
        "unevenness": np.array(nearest.std() / nearest.mean()),
        "hole": np.array(tree.query(disk)[0].max()),
        "density": np.max(np.maximum(np.abs(share - expected), np.abs(below - expected))),
    }


def _panels(drawn: Mapping[str, Spectrum], columns: int) -> Figure:
    rows = -(-len(drawn) // columns)
    figure = new_figure(2.6 * columns, 2.75 * rows + 0.2, layout="compressed")
    axes: Any = figure.subplots(rows, columns, squeeze=False)
    for ax, (law, found) in zip(axes.flat, drawn.items(), strict=False):
        tidy(ax, frame=True)
        plots.spectrum(found, ax=ax, title=law, radius=False)
    for ax in axes.flat[len(drawn) :]:
        ax.set_axis_off()
    return figure


def _claims(found: Mapping[str, Mapping[str, float]]) -> Sequence[Claim]:
    noisy, plain, independent, matrix = (
        found[law] for law in ("Noisy Golden", "Golden", "Uniform", "Matrix")
    )
    measures = ("unevenness", "hole")
    beats_uniform = all(noisy[m] < independent[m] for m in measures)
    beats_golden = all(noisy[m] < plain[m] for m in measures)

    def listed(measure: str) -> str:
        return (
            f"noisy golden {noisy[measure]:.2f}, golden {plain[measure]:.2f}, uniform "
            f"{independent[measure]:.2f}, matrix {matrix[measure]:.2f}"
        )

    return [
        Claim.judged(
            "Noisy golden covers the disk more evenly than uniform and than golden without noise",
            f"unevenness: {listed('unevenness')}; largest hole: {listed('hole')}. "
            + ("More even than uniform" if beats_uniform else "Not more even than uniform")
            + (", and than golden" if beats_golden else "; golden without noise is the most even"),
            beats_uniform and beats_golden,
            beats_uniform or beats_golden,
        ),
        Claim.judged(
            "Noisy golden matches the spectral density of a random matrix",
            f"distance from the circular law: {listed('density')}",
            noisy["density"] <= 1.5 * matrix["density"],
        ),
    ]
