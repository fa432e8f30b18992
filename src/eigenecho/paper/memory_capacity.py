"""Experiments on memory capacity against delay and against the connectivity of W."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from eigenecho.errors import IllConditionedWarning
from eigenecho.estimators import LinearESN
from eigenecho.metrics import squared_correlation
from eigenecho.model import LinearModel
from eigenecho.paper.claims import (
    USABLE,
    Interval,
    bootstrap_interval,
    mean_interval,
    seed_weights,
    share_interval,
    spread,
)
from eigenecho.paper.experiment import Cell, Experiment, Key, Results, Section, listed
from eigenecho.paper.mso import METHODS
from eigenecho.plots import style
from eigenecho.reservoir import Recipe, draw
from eigenecho.spectra import law, memory_curve
from eigenecho.tasks import delayed_recall, memory_capacity
from eigenecho.training import Settings, pose, train
from eigenecho.transition import Diagonal
from eigenecho.types import Array

LINE_STYLES = {
    "Normal": (style.BLACK, "-"),
    "Uniform": (style.ORANGE, "--"),
    "Golden": (style.VERMILLION, "-"),
    "Sim": (style.BLUE, ":"),
}
"""Colour and line style of each method."""

FALL = (0.9, 0.1)
"""Capacities between which the width of the fall of a curve is measured."""

EXACT_RADIUS, EXACT_DELAY = 0.99, 0.8
"""Radius of the spectra whose exact capacity is stated, and the delay as a share of N."""

FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "normal": ("Normal", {"color": style.BLACK, "lw": 1.5}),
    "diagonalised": ("Diagonalization", {"color": style.VERMILLION, "ls": "--", "lw": 1.5}),
    # The robust and normal curves coincide; with a wide line, both are visible.
    "robust": ("Robust", {"color": style.BLUE, "lw": 4.5, "alpha": 0.5, "zorder": 1}),
}
"""Label and line style of each form of the same network."""


@dataclass(frozen=True)
class MCDelay(Experiment):
    """Memory capacity against delay.

    The spectral radius is 1, there is no leak, and the input is i.i.d. uniform. Half of the steps
    after the warmup are used for testing.
    """

    name = "mc-delay"
    version = 2

    sizes: tuple[int, ...] = (100, 300, 600, 1000)
    steps: tuple[int, ...] = (6000, 6000, 9000, 13000)
    warmup: int = 1000
    ridge: float = 1e-12

    def cells(self) -> list[Key]:
        """Return a key for each size, network and seed. Large sizes come first."""
        sizes = sorted(self.sizes, reverse=True)
        return [*product(sizes, LINE_STYLES, range(self.seeds))]

    def run(self, key: Key) -> Cell:
        """Return a capacity curve for delays up to 1.25 N."""
        N, network, seed = key
        curve = self.curve(N, seed, N + N // 4, **METHODS[network] | {"sr": 1.0})
        cell = {"capacity": curve}
        if network in ("Sim", "Golden") and min(self.sizes) == N:
            modes = law(network.lower())(N, sr=EXACT_RADIUS, seed=seed)
            cell["exact"] = np.array(memory_curve(modes, N)[int(EXACT_DELAY * N)])
        return cell

    def curve(self, N: int, seed: int, delays: int, **params: Any) -> Array:
        """Return MC_k on the test steps for k = 1 … delays."""
        esn = LinearESN(N, ridge=self.ridge, solver="qr", seed=seed, **params)
        steps = self.steps[self.sizes.index(N)]
        return memory_capacity(
            esn, steps=steps, warmup=self.warmup, delays=delays, seed=1000 + seed
        ).capacity

    def section(self, results: Results) -> Section:
        """Report the curves and total capacities, and judge the claims about them."""
        curves = {
            N: {m: results.stack((N, m), "capacity") for m in LINE_STYLES} for N in self.sizes
        }
        totals = {N: {m: c.sum(axis=1) for m, c in curves[N].items()} for N in self.sizes}
        largest = max(self.sizes)
        section = self.start(golden=totals[largest]["Golden"].mean(), N=largest)
        section.add_table(
            "total",
            ("N", *LINE_STYLES),
            [
                [str(N), *(f"{t.mean():.1f} ± {t.std():.1f}" for t in row.values())]
                for N, row in totals.items()
            ],
        )
        figure, axes = style.panel_grid(len(self.sizes), 2, 4.8, 3.4, sharey=True)
        for N, ax in zip(self.sizes, axes, strict=True):
            for method, (colour, dashes) in LINE_STYLES.items():
                curve = curves[N][method]
                delays = np.arange(1, curve.shape[1] + 1)
                _draw_capacity(ax, delays, curve, color=colour, ls=dashes, lw=1.6, label=method)
            ax.set_title(f"N = {N}", fontsize=11)
            ax.set(xlabel="delay k (steps)", ylabel="memory capacity $MC_k$")
        style.legend_above(figure, axes[0])
        section.add_figure("mc-delay", figure)

        def compare(method: str) -> dict[str, Interval]:
            ratios = {N: t[method] / t["Normal"] for N, t in totals.items()}
            return {f"N = {N}": mean_interval(x, log=True) for N, x in ratios.items()}

        N = min(self.sizes)
        section.judge(
            "golden-memory",
            compare("Golden"),
            radius=EXACT_RADIUS,
            N=N,
            delay=int(EXACT_DELAY * N),
            golden=results.stack((N, "Golden"), "exact").mean(),
            sim=results.stack((N, "Sim"), "exact").mean(),
        )
        gaps = {N: np.abs(np.mean(c["Sim"] - c["Normal"], axis=0)).max() for N, c in curves.items()}
        section.judge(
            "sim-memory",
            compare("Sim"),
            gaps=listed(f"{gap:.3f} (N = {N})" for N, gap in gaps.items()),
        )
        falls = {N: (_fall(c["Uniform"]), _fall(c["Normal"])) for N, c in curves.items()}
        section.judge(
            "uniform-memory",
            {
                "width": {
                    f"N = {N}": mean_interval(a / b, log=True) for N, (a, b) in falls.items()
                },
                "crossing": {
                    f"N = {N}": self._bootstrap_crossing(c["Uniform"], c["Normal"])
                    for N, c in curves.items()
                },
            },
            widths=listed(
                f"{a.mean():.0f} and {b.mean():.0f} (N = {N})" for N, (a, b) in falls.items()
            ),
        )
        return section

    def _bootstrap_crossing(self, uniform: Array, normal: Array) -> Interval:
        weights = seed_weights(self.seeds)
        pairs = zip(weights @ uniform, weights @ normal, strict=True)
        return bootstrap_interval(np.array([_find_crossing(a, b) for a, b in pairs]), self.seeds)


def _fall(curves: Array) -> Array:
    """Return the number of delays in which each curve (seeds, delays) falls between ``FALL``."""
    start, end = (np.argmax(curves < level, axis=1) for level in FALL)
    end = np.where((curves < FALL[1]).any(axis=1), end, curves.shape[1])
    return np.maximum(end - start, 1)


def _draw_capacity(ax: Any, x: Any, capacities: Array, *, color: str, **line: Any) -> None:
    """Draw the mean of capacities (seeds, x), with one standard deviation as a shaded area."""
    mean, deviation = capacities.mean(axis=0), capacities.std(axis=0)
    ax.plot(x, mean, color=color, **line)
    ax.fill_between(x, mean - deviation, mean + deviation, color=color, alpha=0.15, lw=0)


def _find_crossing(uniform: Array, normal: Array) -> float:
    """Return the capacity at which smoothed curves (delays,) cross, or NaN if they do not cross."""
    width = max(1, len(uniform) // 50)
    kernel = np.ones(width) / width
    a, b = (np.convolve(curve, kernel, mode="valid") for curve in (uniform, normal))
    middle = (b < 0.95) & (b > 0.05)
    sign = np.sign(a - b)
    changes = np.flatnonzero((sign[:-1] < 0) & (sign[1:] > 0) & middle[:-1])
    return float(b[changes[0]]) if changes.size else np.nan


@dataclass(frozen=True)
class MCConnectivity(MCDelay):
    """Memory capacity against connectivity, at which plain diagonalisation of W can fail.

    ``degrees`` are the mean numbers of connections per unit.
    """

    name = "mc-connectivity"
    version = 5

    degrees: tuple[float, ...] = (1, 1.5, 2, 3, 4, 5, 7, 10, 20, 50)

    def connectivities(self, N: int) -> list[float]:
        """Return the connectivities for a size, which range from 1/N to 1."""
        return sorted({min(degree / N, 1.0) for degree in self.degrees} | {1.0})

    def cells(self) -> list[Key]:
        """Return a key for each size, connectivity and seed. Large sizes come first."""
        sizes = sorted(self.sizes, reverse=True)
        nets = [(N, connectivity) for N in sizes for connectivity in self.connectivities(N)]
        return [(*net, seed) for net in nets for seed in range(self.seeds)]

    def run(self, key: Key) -> Cell:
        """Return the capacity curves of a random W in all forms, and its condition number.

        A W that eigenecho does not run as modes is the standard network.
        """
        N, connectivity, seed = key
        params = {"spectrum": "matrix", "sr": 1.0, "rc_connectivity": connectivity}
        delays = max(N // 2, 100)
        with warnings.catch_warnings():
            # Ill-conditioned eigenvectors of sparse matrices are the subject of this experiment.
            warnings.simplefilter("ignore", IllConditionedWarning)
            warnings.filterwarnings("ignore", message="The random W has spectral radius 0")
            drawn = draw(Recipe(N, **params), 1, seed=seed).reservoir
            modes = isinstance(drawn.transition, Diagonal)
            normal = self.curve(N, seed, delays, **params, basis="neuron")
            plain, condition = self.plain_curve(N, seed, delays, **params)
            return {
                "modes": np.array(modes),
                "condition": np.array(condition),
                "normal": normal,
                "diagonalised": plain,
                "robust": self.curve(N, seed, delays, **params) if modes else normal,
            }

    def plain_curve(self, N: int, seed: int, delays: int, **params: Any) -> tuple[Array, float]:
        """Return MC_k of W in its eigenbasis and the condition number of this basis.

        The basis is used even if it is ill-conditioned.
        """
        steps = self.steps[self.sizes.index(N)]
        u, targets = delayed_recall(steps, delays, seed=1000 + seed)
        split = self.warmup + (steps - self.warmup) // 2
        recipe = Recipe(units=N, even_defective=True, **params)
        settings = Settings(recipe, ridge=self.ridge, solver="qr", warmup=self.warmup)
        drawn = settings.draw(1, delays, seed)
        problem = pose(settings, drawn, [u[:split]], [targets[:split]])
        model = LinearModel.of(problem, train(problem, settings).evidence.weights)
        assert drawn.basis is not None
        capacity = squared_correlation(targets[split:], model.predict(u)[split:])
        return capacity, drawn.basis.condition

    def section(self, results: Results) -> Section:
        """Report the forms at the delay at which the dense network has a capacity of about 0.5."""
        figure, axes = style.panel_grid(2 * len(self.sizes), len(self.sizes), 3.1, 2.9)
        rows: list[Any] = []
        cases: dict[str, dict[str, Interval]] = {"lost": {}, "kept": {}, "broken": {}, "sound": {}}
        robust, delays = {}, {}
        for i, N in enumerate(self.sizes):
            x = np.array(self.connectivities(N))
            # Capacities (connectivities, seeds, delays); the dense network is the last one.
            curves = {f: np.array([results.stack((N, c), f) for c in x]) for f in FORMS}
            k = int(np.argmin(np.abs(curves["normal"][-1].mean(axis=0) - 0.5)))
            delays[N] = k + 1
            totals = {form: curve.sum(axis=2) for form, curve in curves.items()}
            whole = np.maximum(totals["normal"].mean(axis=1, keepdims=True), 1e-12)
            losses = [*map(mean_interval, (totals["normal"] - totals["diagonalised"]) / whole)]
            bad = np.array([results.stack((N, c), "condition") for c in x]) > USABLE
            below = x < np.log(N) / N
            for c, is_below, loss in zip(x, below, losses, strict=True):
                cases["lost" if is_below else "kept"][f"N = {N}, c = {c:.3g}"] = loss
            cases["broken"][f"N = {N}"] = share_interval(bad[below])
            cases["sound"][f"N = {N}"] = share_interval(bad[~below])
            # A cell that runs as W is the standard network, so it cannot differ from it.
            modes = np.array([results.stack((N, c), "modes") for c in x])
            gap = np.abs(curves["robust"] - curves["normal"])[modes].max(axis=-1, initial=0.0)
            robust[f"N = {N}"] = spread(gap)
            means = [curve[:, :, k].mean(axis=1) for curve in curves.values()]
            labels = [str(N), *[""] * (len(x) - 1)]
            texts = [loss.show("z.1%") for loss in losses]
            rows += zip(labels, x, x * N, *means, texts, bad.mean(axis=1), strict=True)
            at_delay = {f: v[:, :, k] for f, v in curves.items()}, f"$MC_k$, k = {delays[N]}"
            for ax, shown in zip(
                axes[i :: len(self.sizes)], (at_delay, (totals, "total capacity")), strict=True
            ):
                _draw_forms(ax, x, *shown)
                ax.axvline(np.log(N) / N, color=style.GREY, lw=1, ls=":", label="ln N/N")
                ax.set_title(f"N = {N}", fontsize=11)
        style.legend_above(figure, axes[0])
        section = self.start(
            delays=listed(f"{k} for N = {N}" for N, k in delays.items()),
            usable=USABLE,
            unusable=np.mean([cell["condition"] > USABLE for cell in results.values()]),
        )
        forms = [form for form, _ in FORMS.values()]
        section.add_table(
            "loss",
            ("N", "connectivity", "degree", *forms, "loss with 95% interval", "unusable"),
            rows,
            [".4g", ".4g", ".3f", ".3f", ".3f", ".0%"],
        )
        section.add_figure("mc-connectivity", figure)
        section.judge(
            "threshold", cases, degrees=listed(f"{np.log(N):.1f} for N = {N}" for N in self.sizes)
        )
        section.judge("robust", robust)
        return section


def _draw_forms(ax: Any, x: Array, capacities: Mapping[str, Array], label: str) -> None:
    """Draw capacities (connectivities, seeds) of each form."""
    for form, (name, line) in FORMS.items():
        _draw_capacity(ax, x, capacities[form].T, marker="o", ms=3, label=name, **line)
    ax.set(xscale="log", xlabel="connectivity of W", ylabel=label)
