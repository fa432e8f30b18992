"""How long generation, a reservoir step and a readout step take, against N."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.apps.paper.experiment import Cell, Claim, Config, Experiment, Key, Section, TextTable
from eigenecho.apps.shared.durations import factor, human
from eigenecho.apps.shared.seconds_per_step import seconds_per_step
from eigenecho.plots.style import BLACK, BLUE, GREEN, VERMILLION, new_figure, tidy
from eigenecho.reservoir import Recipe, Reservoir, draw
from eigenecho.spectra import random_matrix
from eigenecho.types import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GENERATION, STEP, READOUT = "generation", "reservoir step", "readout step"

PANELS: dict[str, tuple[str, ...]] = {
    GENERATION: ("Normal", "Diagonalization", "DPG"),
    STEP: ("Dense", "Sparse", "Diagonal"),
    READOUT: ("All methods",),
}
LOOKS = {
    "Normal": (BLACK, "o", "-"),
    "Dense": (BLACK, "o", "-"),
    "Diagonalization": (VERMILLION, "s", "--"),
    "Sparse": (VERMILLION, "s", "--"),
    "DPG": (BLUE, "^", "-."),
    "Diagonal": (BLUE, "^", "-."),
    "All methods": (GREEN, "D", "-"),
}
RECIPES: dict[str, dict[str, Any]] = {
    "Normal": {"spectrum": "matrix", "basis": "neuron"},
    "Diagonalization": {"spectrum": "matrix"},
    "DPG": {"spectrum": "golden", "eigenvectors": False},
}
STATES = 1 << 17
"""Units times steps of one timed run: a megabyte of states."""

LONG = 10
"""Times the seconds of a cell: what takes longer is not repeated."""

PRODUCTS = 1 << 26
"""Multiplications of one timed run with a matrix."""

UPPER = 3
"""Sizes, the largest, that slopes are fitted to: overheads count least there."""


@dataclass(frozen=True)
class StepTimesConfig(Config):
    """Sizes, and how often to repeat: for ``seconds`` a cell, no more than ``repeats`` times."""

    sizes: tuple[int, ...] = (100, 200, 400, 700, 1000, 1400, 2000, 2800, 4000)
    connectivity: float = 0.1
    seconds: float = 1.0
    repeats: int = 1000


@dataclass(frozen=True, eq=False)
class Durations:
    """Median seconds of one method at each size."""

    sizes: Array
    seconds: Array

    @cached_property
    def slope(self) -> float:
        """The exponent p of N^p, fitted to the largest sizes."""
        upper = np.log(self.sizes[-UPPER:]), np.log(self.seconds[-UPPER:])
        return float(np.polyfit(*upper, 1)[0])

    @property
    def fitted(self) -> Array:
        """N^p at the largest sizes."""
        upper = self.sizes[-UPPER:]
        middle = np.exp(np.mean(np.log(self.seconds[-UPPER:])))
        return middle * (upper / np.exp(np.mean(np.log(upper)))) ** self.slope


Found = Mapping[tuple[str, str], Durations]
"""By panel and method."""


class StepTimes(Experiment[StepTimesConfig]):
    """Step durations."""

    name = "timing"
    title = "Step durations"
    paper = "figure of step durations"
    config = StepTimesConfig()
    quick = StepTimesConfig(sizes=(100, 200, 400, 600, 800, 1000), seconds=0.1)
    exclusive = True

    def cells(self, config: StepTimesConfig) -> list[Key]:
        """One for each panel, method and size."""
        return [
            (panel, method, N)
            for panel, methods in PANELS.items()
            for method in methods
            for N in config.sizes
        ]

    def run(self, config: StepTimesConfig, key: Key) -> Cell:
        """Seconds of every repeat; of steps, the median for a single one."""
        panel, method, N = key
        if panel == GENERATION:
            recipe = Recipe(units=N, **RECIPES[method])
            return {"seconds": _repeated(lambda: draw(recipe, 1, seed=0), config)}
        if panel == STEP:
            reservoir = _reservoir(method, N, config.connectivity)
            u = np.random.default_rng(0).uniform(-1, 1, (_steps(method, N), 1))
            seconds = seconds_per_step(reservoir, u, least=3, seconds=config.seconds)
            return {"seconds": np.array([seconds])}
        rng = np.random.default_rng(0)
        states = rng.normal(size=(max(1, STATES // N), N))
        W_out, out = rng.normal(size=(N, 1)), np.empty((len(states), 1))
        each = _repeated(lambda: np.matmul(states, W_out, out=out), config)
        return {"seconds": each / len(states)}

    def section(self, config: StepTimesConfig, results: Mapping[Key, Cell]) -> Section:
        """Three panels with fitted slopes, as in the paper."""
        sizes, found = np.array(config.sizes), {}
        for panel, method in ((panel, m) for panel, methods in PANELS.items() for m in methods):
            each = [np.median(results[panel, method, N]["seconds"]) for N in config.sizes]
            found[panel, method] = Durations(sizes, np.array(each))
        gain = _ratios(found, STEP, "Dense", "Diagonal")
        table = TextTable(
            "Median durations, and the exponent p of N^p fitted to "
            f"N = {sizes[-UPPER:][0]} to {sizes[-1]}",
            ("", "Method", *(f"N\u00a0=\u00a0{N}" for N in config.sizes), "exponent"),
            [
                [panel if method == PANELS[panel][0] else "", method,
                 *map(human, times.seconds), f"{times.slope:.2f}"]
                for (panel, method), times in found.items()
            ],
        )  # fmt: skip
        return Section(
            "Normal draws W and scales it by its spectral radius (all eigenvalues, as the library "
            "does); Diagonalization draws W and diagonalises it; DPG draws eigenvalues and input "
            "weights in the eigenbasis and builds no matrix. Sparse keeps a share of "
            f"{config.connectivity:g} of the connections. A step is the mean over a run of many "
            "steps with one input, states kept; the readout has one output. Compiled code or BLAS "
            "throughout, one thread, nothing else of ours running. A dense step grows faster than "
            "N² between sizes whose W fits into the cache and those whose W does not; the claim on "
            "steps holds as a whole where its exponent is within 0.4 of 2, and that of diagonal "
            "steps within 0.3 of 1. DPG draws a few N numbers: nearly all of its time is that of "
            "the calls around them, and its exponent says no more than that. The paper gives no "
            "numbers for this figure.",
            [table],
            {"timing": _figure(found)},
            {
                "timing": "Duration against reservoir size, logarithmic axes: generating a "
                "reservoir, one reservoir step, one readout step. Points are medians; lines are "
                "fits to the three largest sizes, with their exponents in the legend."
            },
            _claims(found),
            {
                "seconds": {
                    f"{panel}: {method}": dict(
                        zip(map(str, sizes), times.seconds.tolist(), strict=True)
                    )
                    for (panel, method), times in found.items()
                },
                "exponent": {f"{panel}: {m}": times.slope for (panel, m), times in found.items()},
            },
            f"a diagonal step is {factor(gain[-1])} × faster than a dense one at N = {sizes[-1]}",
        )


def _repeated(call: Callable[[], object], config: StepTimesConfig) -> Array:
    """Seconds of each call; a first one that warms up does not count, a long one is enough."""

    def once() -> float:
        start = perf_counter()
        call()
        return perf_counter() - start

    first = once()
    if first > LONG * config.seconds:
        return np.array([first])
    times = [once()]
    while sum(times) < config.seconds and len(times) < config.repeats:
        times.append(once())
    return np.array(times)


def _steps(method: str, N: int) -> int:
    """As many as make a run long enough to time, and short enough to repeat."""
    return max(2, STATES // N if method == "Diagonal" else min(STATES // N, PRODUCTS // N**2))


def _reservoir(method: str, N: int, connectivity: float) -> Reservoir:
    """Weights at random: what they are does not matter to the time of a step."""
    if method == "Diagonal":
        return draw(Recipe(units=N, spectrum="golden", eigenvectors=False), 1, seed=0).reservoir
    W_in = np.random.default_rng(1).uniform(-1, 1, (1, N))
    share = connectivity if method == "Sparse" else 1.0
    W = 0.9 * random_matrix(N, 0, connectivity=share) / np.sqrt(share * N)
    if method == "Sparse":
        from scipy.sparse import csr_matrix

        return Reservoir(csr_matrix(W), W_in)
    return Reservoir(W, W_in)


def _ratios(found: Found, panel: str, slow: str, fast: str) -> Array:
    """How many times faster one method is than the other, at each size."""
    return found[panel, slow].seconds / found[panel, fast].seconds


def _figure(found: Found) -> Figure:
    figure = new_figure(10.6, 4.2)
    axes: Any = figure.subplots(1, len(PANELS), squeeze=False)
    for ax, (panel, methods) in zip(axes.flat, PANELS.items(), strict=True):
        tidy(ax)
        for method in methods:
            colour, marker, line = LOOKS[method]
            times = found[panel, method]
            ax.plot(
                times.sizes, times.seconds, color=colour, marker=marker, ms=4.5, linestyle="none"
            )
            ax.plot(times.sizes[-UPPER:], times.fitted, color=colour, linestyle=line, linewidth=1.4)
            # Nothing drawn, for a legend that shows marker and line together.
            label = f"{method}, $N^{{{times.slope:.2f}}}$"
            ax.plot([], [], color=colour, marker=marker, ms=4.5, linestyle=line, label=label)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("reservoir size N")
        ax.set_ylabel(f"seconds a {panel}" if panel != GENERATION else "seconds to generate")
        ax.set_title(panel, fontsize=11)
        low, high = ax.get_ylim()
        ax.set_ylim(low, high * (high / low) ** 0.35)
        ax.legend(loc="upper left", frameon=False, fontsize=9)
    return figure


def _claims(found: Found) -> Sequence[Claim]:
    gain = _ratios(found, STEP, "Dense", "Diagonal")
    saved = _ratios(found, GENERATION, "Diagonalization", "DPG")
    dense, sparse, diagonal = (found[STEP, m].slope for m in PANELS[STEP])
    normal, diagonalised, dpg = (found[GENERATION, m].slope for m in PANELS[GENERATION])
    readout = found[READOUT, "All methods"].slope
    first, *_, last = found[STEP, "Dense"].sizes
    quadratic, linear = abs(dense - 2) < 0.4, abs(diagonal - 1) < 0.3
    return [
        Claim.judged(
            "The cost of a reservoir step falls from quadratic to linear",
            f"N^{dense:.2f} dense, N^{sparse:.2f} sparse, N^{diagonal:.2f} "
            f"diagonal; diagonal is {factor(gain[0])} times faster than dense at N = {first}, "
            f"{factor(gain[-1])} times at N = {last}",
            quadratic and linear and gain.min() > 1,
            diagonal < dense and gain[-1] > 1,
        ),
        Claim.judged(
            "Direct generation avoids the cubic cost of a diagonalisation",
            f"N^{normal:.2f} with W and its radius, N^{diagonalised:.2f} with its "
            f"diagonalisation, N^{dpg:.2f} directly; {factor(saved[-1])} times faster than "
            f"diagonalising at N = {last}",
            dpg < 1.4 and diagonalised - dpg > 1,
            True,
        ),
        Claim.judged(
            "The cost of a readout step is linear, and no higher in the eigenbasis",
            f"N^{readout:.2f}; readout weights are real and as many in "
            "either basis, so that one curve stands for all",
            abs(readout - 1) < 0.3,
            True,
        ),
    ]
