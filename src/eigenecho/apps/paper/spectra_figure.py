"""Eigenvalue distributions in the unit disk: the paper's four, and our other named laws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from eigenecho import plots, spectra
from eigenecho.apps.paper.experiment import Cell, Config, Experiment, Key, Results, mean_over_seeds
from eigenecho.apps.paper.mso import LITERAL
from eigenecho.apps.paper.section import (
    Claim,
    ReportFigure,
    Section,
    TextTable,
    bold_best,
    format_rows,
)
from eigenecho.plots.style import panel_grid
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
GRID = 120
"""Points along the diameter of the disk where the distance to the eigenvalues is measured."""


@dataclass(frozen=True)
class SpectraConfig(Config):
    """Number of eigenvalues per law. Figures show the first seed, tables all of them."""

    units: int = 300


class SpectraFigure(Experiment[SpectraConfig]):
    """Eigenvalue distributions."""

    name = "spectra"
    title = "Eigenvalue distributions"
    paper = "figure of eigenvalue distributions"
    config = SpectraConfig()
    quick = SpectraConfig(seeds=3)

    def cells(self, config: SpectraConfig) -> list[Key]:
        """Return one key per law and seed."""
        return [*product(LAWS, range(config.seeds))]

    def run(self, config: SpectraConfig, key: Key) -> Cell:
        """Return eigenvalues and measures of how evenly they cover the unit disk."""
        law, seed = key
        drawn = LAWS[law](config.units, seed=seed)
        return {"real": drawn.real, "pairs": drawn.pairs} | measure_cover(drawn.values)

    def section(self, config: SpectraConfig, results: Results) -> Section:
        """Show the paper's four spectra, our other laws, and their measures."""
        drawn = {law: Spectrum(results[law, 0]["real"], results[law, 0]["pairs"]) for law in LAWS}
        cover = {law: mean_over_seeds(results, config.seeds, (law,), MEASURES) for law in LAWS}
        rows = {
            law: [*measures.values(), drawn[law].radius, drawn[law].real.size]
            for law, measures in cover.items()
        }
        best = bold_best(np.array([[cover[law][m] for law in PAPER] for m in MEASURES[:2]]), 0)
        return Section(
            f"N = {config.units} eigenvalues per law: the columns of the paper's figure, at radius "
            "1, further laws at their own radii, and the golden law with noise as the paper's "
            f"algorithm states it. Measures are means over {config.seeds} draws.",
            f"unevenness: matrix {cover['Matrix']['unevenness']:.2f}, "
            f"noisy golden {cover['Noisy Golden']['unevenness']:.2f}",
            [
                TextTable(
                    "Evenness of the cover of the unit disk; best of the paper's four in bold",
                    ("Law", "unevenness", "largest hole", "density", "radius", "real"),
                    format_rows(rows, ".3f", ".3f", ".3f", ".3f", "d"),
                    frozenset((row, 1 + column) for column, row in best),
                    "Unevenness: deviation / mean of the distance to the nearest eigenvalue (0 for "
                    "a lattice, 0.52 for independent points). Largest hole: radius of the largest "
                    "empty circle. Density: largest distance between the share of eigenvalues "
                    "within radius r and r², the circular law of large random matrices.",
                )
            ],
            [
                ReportFigure(
                    "spectra",
                    _draw({law: drawn[law] for law in PAPER}, 4),
                    "Eigenvalues in the complex plane, with the unit circle: of a random "
                    "matrix, and drawn from the uniform, the golden and the noisy golden law.",
                ),
                ReportFigure(
                    "spectra-catalogue",
                    _draw({law: drawn[law] for law in OURS}, 3),
                    "The other laws of the library: of a sparse random matrix, on a ring, at "
                    "geometrically spaced time constants with and without rotation, and golden "
                    "with σ = 0.2 taken literally. Values outside the unit circle are red.",
                ),
            ],
            _judge(cover),
            {"cover": cover},
        )


def measure_cover(values: Array) -> Cell:
    """Return measures of how evenly eigenvalues (N,) cover the unit disk."""
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


def _draw(drawn: Mapping[str, Spectrum], columns: int) -> Figure:
    figure, axes = panel_grid(len(drawn), columns, 2.6, 2.75, square=True)
    for ax, (law, spectrum) in zip(axes, drawn.items(), strict=True):
        plots.spectrum(spectrum, ax=ax, title=law, radius=False)
    return figure


def _judge(cover: Mapping[str, Mapping[str, float]]) -> Sequence[Claim]:
    noisy, golden, uniform = (cover[law] for law in ("Noisy Golden", "Golden", "Uniform"))
    beats_uniform = all(noisy[name] < uniform[name] for name in ("unevenness", "hole"))
    beats_golden = all(noisy[name] < golden[name] for name in ("unevenness", "hole"))

    def compare(measure: str) -> str:
        laws = ("Noisy Golden", "Golden", "Uniform", "Matrix")
        return ", ".join(f"{law.lower()} {cover[law][measure]:.2f}" for law in laws)

    return [
        Claim.judge_cases(
            "Noisy golden covers the disk more evenly than uniform and than golden without noise",
            f"unevenness: {compare('unevenness')}; largest hole: {compare('hole')}. "
            + ("More even than uniform" if beats_uniform else "Not more even than uniform")
            + (", and than golden" if beats_golden else "; golden without noise is the most even"),
            (beats_uniform, beats_golden),
        ),
        Claim.judge(
            "Noisy golden matches the spectral density of a random matrix",
            f"distance from the circular law: {compare('density')}",
            noisy["density"] <= 1.5 * cover["Matrix"]["density"],
        ),
    ]
