"""Memory capacity against connectivity: where plain diagonalisation fails, and what does not."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.apps.paper.cell_store import Result
from eigenecho.apps.paper.experiment import Claim, Experiment, Key, Section, Table
from eigenecho.apps.paper.mc_delay import MemoryConfig, capacity_curve
from eigenecho.errors import IllConditionedWarning
from eigenecho.metrics import squared_correlation
from eigenecho.model import Options, train
from eigenecho.model.run import run
from eigenecho.plots.style import BLACK, BLUE, GREY, VERMILLION, new_figure, tidy
from eigenecho.reservoir import Recipe, draw
from eigenecho.tasks import delayed_recall
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

    def run(self, config: ConnectivityConfig, key: Key) -> Result:
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

    def section(self, config: ConnectivityConfig, results: Mapping[Key, Result]) -> Section:
        """The curves at the delay where a dense network recalls half, and their differences."""
        found, delays = {}, {}
        for N in config.sizes:
            seeds = range(config.seeds)
            dense = np.mean([results[N, 1.0, s]["normal"] for s in seeds], axis=0)
            delays[N] = 1 + int(np.argmin(np.abs(dense - 0.5)))
            found[N] = {
                form: np.array(
                    [
                        [results[N, c, s][form][delays[N] - 1] for s in seeds]
                        for c in config.connectivities(N)
                    ]
                )
                for form in FORMS
            }
        lost = {N: _lost(config, results, N) for N in config.sizes}
        # The verdict is by the figure's own measure, at its delay; totals are told beside it.
        gaps = {N: (f["normal"] - f["diagonalised"]).mean(axis=1) for N, f in found.items()}
        thresholds = {N: _threshold(config.connectivities(N), gaps[N]) for N in config.sizes}
        totals = {N: _threshold(config.connectivities(N), lost[N]) for N in config.sizes}
        rows = []
        for N in config.sizes:
            for i, c in enumerate(config.connectivities(N)):
                normal = found[N]["normal"][i].mean()
                diagonalised = found[N]["diagonalised"][i].mean()
                rows.append(
                    [
                        str(N) if i == 0 else "",
                        f"{c:.4g}",
                        f"{c * N:.3g}",
                        f"{normal:.3f}",
                        f"{diagonalised:.3f}",
                        f"{found[N]['robust'][i].mean():.3f}",
                        f"{abs(normal - diagonalised):.3f}",
                        f"{lost[N][i]:.1%}",
                    ]
                )
        text = (
            "The same random W, run in its own basis (Normal), in its eigenbasis whatever its "
            "condition (Diagonalization), and in the cheapest form that is accurate (Robust): "
            "diagonal, a cascade, or W itself. Differences and losses are of Diagonalization. "
            f"Radius 1, no leak, {config.seeds} seeds, trained as in the figure "
            "before. The delay is where the dense network recalls half: "
            + ", ".join(f"k = {delays[N]} for N = {N}" for N in config.sizes)
            + "."
        )
        dense_gap = max(
            float(np.abs(f["normal"].mean(axis=1) - f["diagonalised"].mean(axis=1))[-1])
            for f in found.values()
        )
        fails = {N: c for N, c in thresholds.items() if c is not None}
        claim = Claim(
            "Below a connectivity that depends on N diagonalisation loses memory; above it matches",
            "at the figure's delay it loses more than 0.05 "
            + (", ".join(f"up to {c:.3g} (N = {N})" for N, c in fails.items()) or "nowhere")
            + "; of the total capacity it loses more than 5 % "
            + ", ".join(f"up to {c:.3g} (N = {N})" for N, c in totals.items() if c is not None)
            + f"; difference at connectivity 1 at most {dense_gap:.1e}",
            "holds"
            if len(fails) == len(found) and dense_gap < 0.01
            else "holds in part"
            if fails
            else "does not hold",
        )
        return Section(
            text,
            [
                Table(
                    "Memory capacity at that delay, and the share of the total that is lost",
                    (
                        "N",
                        "connectivity",
                        "degree",
                        "Normal",
                        "Diagonalization",
                        "Robust",
                        "difference",
                        "total lost",
                    ),
                    rows,
                )
            ],
            {"mc-connectivity": _figure(config, found, delays)},
            {
                "mc-connectivity": "Memory capacity against connectivity: mean over seeds, shaded "
                "± one deviation. A sparse W has eigenvectors too close to each other to invert."
            },
            [claim, _robust_claim(config, results, found)],
            {
                "delay": {str(N): delays[N] for N in config.sizes},
                "fails_up_to": {str(N): thresholds[N] for N in config.sizes},
            },
            "plain diagonalisation fails up to mean degree "
            + ", ".join(f"{c * N:.3g} (N = {N})" for N, c in fails.items()),
        )


def _robust_claim(
    config: ConnectivityConfig,
    results: Mapping[Key, Result],
    found: Mapping[int, Mapping[str, Array]],
) -> Claim:
    """Every seed and connectivity counts by itself, at the figure's delay and at all others."""
    shown = {N: float(np.abs(f["robust"] - f["normal"]).max()) for N, f in found.items()}
    delays = {
        N: max(
            float(np.abs(results[N, c, s]["robust"] - results[N, c, s]["normal"]).max())
            for c in config.connectivities(N)
            for s in range(config.seeds)
        )
        for N in found
    }
    matching = [N for N in found if delays[N] <= MATCHES]
    return Claim(
        "Ours: the robust form matches Normal within 0.01 at every connectivity",
        "largest difference of any seed, at the figure's delay and over all delays: "
        + ", ".join(f"{shown[N]:.1e} and {delays[N]:.1e} (N = {N})" for N in found),
        "holds"
        if len(matching) == len(found)
        else "holds in part"
        if any(gap <= MATCHES for gap in shown.values())
        else "does not hold",
    )


def plainly_diagonalised(
    config: MemoryConfig, N: int, seed: int, delays: int, **params: Any
) -> Array:
    """MC_k of W in its eigenbasis whatever its condition, where the library would keep W."""
    drawn = draw(Recipe(units=N, even_defective=True, **params), D_in=1, seed=seed)
    steps = config.steps_of(N)
    u, targets = delayed_recall(steps, delays, seed=1000 + seed)
    split = config.warmup + (steps - config.warmup) // 2
    options = Options(ridge=(config.ridge,), solver="qr", warmup=config.warmup)
    trained = train(drawn.reservoir, [u[:split]], [targets[:split]], options, basis=drawn.basis)
    recalled, _ = run(trained.model, u)
    return squared_correlation(targets[split:], recalled[split:])


def _lost(config: ConnectivityConfig, results: Mapping[Key, Result], N: int) -> Array:
    """Share of the total capacity that diagonalisation loses at each connectivity."""

    def totals(form: str) -> Array:
        return np.array(
            [
                np.mean([results[N, c, s][form].sum() for s in range(config.seeds)])
                for c in config.connectivities(N)
            ]
        )

    normal = totals("normal")
    return (normal - totals("diagonalised")) / np.maximum(normal, 1e-12)


def _threshold(connectivities: list[float], lost: Array) -> float | None:
    """The largest connectivity at which diagonalisation still fails."""
    failing = [c for c, loss in zip(connectivities, lost, strict=True) if loss > FAILS]
    return max(failing) if failing else None


def _figure(
    config: ConnectivityConfig, found: Mapping[int, Mapping[str, Array]], delays: Mapping[int, int]
) -> Figure:
    columns = 2
    rows = (len(found) + 1) // columns
    figure = new_figure(9.6, 3.4 * rows + 0.4)
    panels: Any = figure.subplots(rows, columns, squeeze=False, sharey=True)
    for ax, (N, curves) in zip(panels.flat, found.items(), strict=False):
        tidy(ax)
        x = config.connectivities(N)
        for form, (label, colour, line) in FORMS.items():
            mean, spread = curves[form].mean(axis=1), curves[form].std(axis=1)
            # The robust curve lies on the normal one: drawn around it, both are seen.
            look = {"lw": 4.5, "alpha": 0.5, "zorder": 1} if form == "robust" else {"lw": 1.5}
            ax.plot(x, mean, color=colour, linestyle=line, marker="o", ms=3.5, label=label, **look)
            low, high = np.clip([mean - spread, mean + spread], 0, 1)
            ax.fill_between(x, low, high, color=colour, alpha=0.15, lw=0)
        gap = np.abs(curves["normal"].mean(axis=1) - curves["diagonalised"].mean(axis=1))
        ax.plot(x, gap, color=GREY, linestyle=":", marker="s", ms=3, label="difference")
        ax.set_xscale("log")
        ax.set_title(f"N = {N}, delay {delays[N]}", fontsize=11)
        ax.set_xlabel("connectivity of W")
        ax.set_ylabel("memory capacity MC_k")
        ax.set_ylim(bottom=-0.02)
    for ax in panels.flat[len(found) :]:
        ax.set_visible(False)
    lines, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside upper center", ncols=len(names), frameon=False)
    return figure
