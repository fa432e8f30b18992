"""Memory capacity against connectivity: where plain diagonalisation fails, and what does not."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.apps.paper.capacity_panels import capacity_panels, draw_capacity
from eigenecho.apps.paper.experiment import Cell, Claim, Experiment, Key, Section, TextTable
from eigenecho.apps.paper.mc_delay import MemoryConfig, capacity_curve
from eigenecho.errors import IllConditionedWarning
from eigenecho.metrics import squared_correlation
from eigenecho.model import LinearModel
from eigenecho.model.predict import run
from eigenecho.plots.style import BLACK, BLUE, GREY, VERMILLION, legend_above
from eigenecho.reservoir import Recipe
from eigenecho.tasks import delayed_recall
from eigenecho.training import Settings, pose, train
from eigenecho.types import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MATCHES = 0.01
"""Largest difference of two capacities that count as equal."""

FORMS = {
    "normal": ("Normal", BLACK, "-"),
    "diagonalised": ("Diagonalization", VERMILLION, "--"),
    "robust": ("Robust", BLUE, "-"),
}
"""What is compared: the name, colour and line of each."""

FAILS = 0.05
"""Loss that counts as failing: of capacity at the figure's delay, and of the share of the total."""


@dataclass(frozen=True)
class ConnectivityConfig(MemoryConfig):
    """As for memory against delay; connectivity as the mean number of connections of a unit."""

    degrees: tuple[float, ...] = (1, 1.5, 2, 3, 4, 5, 7, 10, 20, 50)
    ring_radii: tuple[float, ...] = ()

    def connectivities(self, N: int) -> list[float]:
        """From 1/N to 1."""
        return sorted({min(degree / N, 1.0) for degree in self.degrees} | {1.0})


class MCConnectivity(Experiment[ConnectivityConfig]):
    """Memory capacity against connectivity."""

    name = "mc-connectivity"
    title = "Memory capacity against connectivity"
    paper = "figure of memory capacity against connectivity"
    version = 3
    config = ConnectivityConfig(seeds=5)
    quick = ConnectivityConfig(
        seeds=2, sizes=(50, 100), steps=(3000, 4000), degrees=(1, 2, 3, 5, 10, 20)
    )

    def cells(self, config: ConnectivityConfig) -> list[Key]:
        """One for each size, connectivity and seed; large sizes first."""
        return [
            (N, connectivity, seed)
            for N in sorted(config.sizes, reverse=True)
            for connectivity in config.connectivities(N)
            for seed in range(config.seeds)
        ]

    def run(self, config: ConnectivityConfig, key: Key) -> Cell:
        """Capacity curves of one W: as it is, diagonalised as the paper does, and as we choose."""
        N, connectivity, seed = key
        params = {"spectrum": "matrix", "sr": 1.0, "rc_connectivity": connectivity}
        delays = max(N // 2, 100)
        with warnings.catch_warnings():
            # That sparse matrices have bad eigenvectors is what this shows.
            warnings.simplefilter("ignore", IllConditionedWarning)
            warnings.filterwarnings("ignore", message="the random W has spectral radius 0")
            return {
                "normal": capacity_curve(config, N, seed, delays, **params, basis="neuron"),
                "diagonalised": plainly_diagonalised(config, N, seed, delays, **params),
                "robust": capacity_curve(config, N, seed, delays, **params),
            }

    def section(self, config: ConnectivityConfig, results: Mapping[Key, Cell]) -> Section:
        """The curves at the delay where a dense network recalls half, and their differences."""
        measured = [Measured.of(config, results, N) for N in config.sizes]
        fails = [(m.N, m.largest_failing(m.lost)) for m in measured]
        return Section(
            "The same random W, run in its own basis (Normal), in its eigenbasis whatever its "
            "condition (Diagonalization), and in the cheapest form that is accurate (Robust): "
            "diagonal, a cascade, or W itself. "
            f"Radius 1, no leak, {config.seeds} seeds, trained as in the figure "
            "before. The delay is where the dense network recalls half: "
            + ", ".join(f"k = {m.delay} for N = {m.N}" for m in measured)
            + ". A sparse W recalls little of so long ago, and what is not there cannot be lost: "
            "the total over delays tells more of it.",
            [
                TextTable(
                    "Memory capacity at that delay, and the share of the total that is lost",
                    ("N", "connectivity", "degree", "Normal", "Diagonalization", "Robust",
                     "difference", "total lost"),
                    [row for m in measured for row in _rows(m)],
                    note="Difference and loss: of Diagonalization, from Normal. Eigenvectors that "
                    "cannot be inverted make another network, which may also recall more: then "
                    "the loss is negative.",
                )
            ],
            {"mc-connectivity": _figure(measured)},
            {
                "mc-connectivity": "Memory capacity against connectivity: mean over seeds, shaded "
                "± one deviation. A sparse W has eigenvectors too close to each other to invert."
            },
            [_loses_claim(measured), _robust_claim(measured)],
            {
                "delay": {str(m.N): m.delay for m in measured},
                "fails_up_to": {str(m.N): m.fails_up_to for m in measured},
            },
            "plain diagonalisation loses memory up to mean degree "
            + ", ".join(f"{c * N:.3g} (N = {N})" for N, c in fails if c is not None),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Measured:
    """Capacities for one N, (connectivities, seeds, delays) by form."""

    N: int
    connectivities: list[float]
    curves: Mapping[str, Array]

    @classmethod
    def of(cls, config: ConnectivityConfig, results: Mapping[Key, Cell], N: int) -> Measured:
        """Stored cells, put together."""
        all_c, seeds = config.connectivities(N), range(config.seeds)
        curves = {
            form: np.array([[results[N, c, s][form] for s in seeds] for c in all_c])
            for form in FORMS
        }
        return cls(N, all_c, curves)

    @cached_property
    def delay(self) -> int:
        """Where the dense network, the last, recalls half."""
        dense = self.curves["normal"][-1].mean(axis=0)
        return 1 + int(np.argmin(np.abs(dense - 0.5)))

    def at_delay(self, form: str) -> Array:
        """(connectivities, seeds)"""
        return self.curves[form][:, :, self.delay - 1]

    @property
    def gap(self) -> Array:
        """Between the means of Normal and Diagonalization at the delay, one a connectivity."""
        means = (self.at_delay(form).mean(axis=1) for form in ("normal", "diagonalised"))
        return np.abs(np.subtract(*means))

    @property
    def lost(self) -> Array:
        """Share of the total capacity that diagonalisation loses at each connectivity."""
        normal, diagonalised = (
            self.curves[form].sum(axis=2).mean(axis=1) for form in ("normal", "diagonalised")
        )
        return (normal - diagonalised) / np.maximum(normal, 1e-12)

    @property
    def fails_up_to(self) -> float | None:
        """The largest connectivity at which diagonalisation fails, at the figure's delay."""
        losses = (self.at_delay("normal") - self.at_delay("diagonalised")).mean(axis=1)
        return self.largest_failing(losses)

    def largest_failing(self, losses: Array) -> float | None:
        """The largest connectivity with a loss that counts."""
        pairs = zip(self.connectivities, losses, strict=True)
        return max((c for c, loss in pairs if loss > FAILS), default=None)


def _rows(m: Measured) -> list[list[str]]:
    means = np.transpose([m.at_delay(form).mean(axis=1) for form in FORMS])
    return [
        [
            "" if i else str(m.N),
            f"{c:.4g}",
            f"{c * m.N:.4g}",
            *(f"{mean:.3f}" for mean in means[i]),
            f"{m.gap[i]:.3f}",
            f"{m.lost[i]:z.1%}",
        ]
        for i, c in enumerate(m.connectivities)
    ]


def _loses_claim(measured: Sequence[Measured]) -> Claim:
    """By the figure's own measure, at its delay; totals are told beside it."""
    dense_gap = max(float(m.gap[-1]) for m in measured)
    fails = [m.fails_up_to is not None for m in measured]
    return Claim.judged(
        "Below a connectivity that depends on N diagonalisation loses memory; above it matches",
        "at the figure's delay it loses more than 0.05 "
        + (_up_to((m.N, m.fails_up_to) for m in measured) or "nowhere")
        + "; of the total capacity it loses more than 5 % "
        + _up_to((m.N, m.largest_failing(m.lost)) for m in measured)
        + f"; difference at connectivity 1 at most {dense_gap:.1e}",
        all(fails) and dense_gap < 0.01,
        any(fails),
    )


def _up_to(found: Iterable[tuple[int, float | None]]) -> str:
    return ", ".join(f"up to {c:.3g} (N = {N})" for N, c in found if c is not None)


def _robust_claim(measured: Sequence[Measured]) -> Claim:
    """Every seed and connectivity counts by itself, at the figure's delay and at all others."""
    shown = [np.abs(m.at_delay("robust") - m.at_delay("normal")).max() for m in measured]
    everywhere = [np.abs(m.curves["robust"] - m.curves["normal"]).max() for m in measured]
    return Claim.judged(
        "Ours: the robust form matches Normal within 0.01 at every connectivity",
        "largest difference of any seed, at the figure's delay and over all delays: "
        + ", ".join(
            f"{at_delay:.1e} and {largest:.1e} (N = {m.N})"
            for m, at_delay, largest in zip(measured, shown, everywhere, strict=True)
        ),
        np.max(everywhere) <= MATCHES,
        np.min(shown) <= MATCHES,
    )


def plainly_diagonalised(
    config: MemoryConfig, N: int, seed: int, delays: int, **params: Any
) -> Array:
    """MC_k of W in its eigenbasis whatever its condition, where the library would keep W."""
    steps = config.steps_of(N)
    u, targets = delayed_recall(steps, delays, seed=1000 + seed)
    split = config.warmup + (steps - config.warmup) // 2
    recipe = Recipe(units=N, even_defective=True, **params)
    settings = Settings(recipe, ridge=config.ridge, solver="qr", warmup=config.warmup)
    drawn = settings.draw(1, delays, seed)
    problem = pose(settings, drawn, [u[:split]], [targets[:split]])
    model = LinearModel.of(problem, train(problem, settings).evidence.weights)
    recalled, _ = run(model, u)
    return squared_correlation(targets[split:], recalled[split:])


def _figure(measured: Sequence[Measured]) -> Figure:
    figure, panels = capacity_panels([m.N for m in measured])
    for m, ax in zip(measured, panels.values(), strict=True):
        for form, (label, colour, line) in FORMS.items():
            look: dict[str, Any] = {"linestyle": line, "marker": "o", "ms": 3.5, "label": label}
            # The robust curve lies on the normal one: drawn around it, both are seen.
            look |= {"lw": 4.5, "alpha": 0.5, "zorder": 1} if form == "robust" else {"lw": 1.5}
            draw_capacity(ax, m.connectivities, m.at_delay(form).T, colour, **look)
        look = {"linestyle": ":", "marker": "s", "ms": 3, "label": "difference"}
        ax.plot(m.connectivities, m.gap, color=GREY, **look)
        ax.set_xscale("log")
        ax.set_title(f"N = {m.N}, delay {m.delay}", fontsize=11)
        ax.set_xlabel("connectivity of W")
        ax.set_ylim(bottom=-0.02)
    legend_above(figure, next(iter(panels.values())))
    return figure
