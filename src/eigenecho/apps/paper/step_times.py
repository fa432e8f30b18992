"""Durations of generation, of a reservoir step and of a readout step, against N."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from eigenecho.apps.paper.experiment import Cell, Config, Experiment, Key, Results
from eigenecho.apps.paper.section import Claim, ReportFigure, Section, TextTable
from eigenecho.apps.shared.pages import format_duration, format_ratio
from eigenecho.kernels.compiled.scans import WORTH_THREADS
from eigenecho.plots.style import BLACK, BLUE, GREEN, VERMILLION, panel_grid
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
CURVES = [(panel, method) for panel, methods in PANELS.items() for method in methods]

MARKERS = ((BLACK, "o", "-"), (VERMILLION, "s", "--"), (BLUE, "^", "-."))
"""Colour, marker and line style of the methods of a panel, in order."""

RECIPES: dict[str, dict[str, Any]] = {
    "Normal": {"spectrum": "matrix", "basis": "neuron"},
    "Diagonalization": {"spectrum": "matrix"},
    "DPG": {"spectrum": "golden", "eigenvectors": False},
}
STATES = 1 << 17
"""Units times steps of one timed run: a megabyte of states."""

LONG = 10
"""Calls that take longer than this many times ``seconds`` are not repeated."""

PRODUCTS = 1 << 26
"""Number of multiplications of one timed run with a matrix."""

UPPER = 3
"""Number of sizes, the largest ones, that slopes are fitted to: overheads matter least there."""


def seconds_per_step(
    reservoir: Reservoir, u: Array, *, least: int = 5, seconds: float = 0.2
) -> float:
    """Return the median duration of a step over repeated scans, on one core.

    Threads of BLAS that wait for a busy core can make a dense step look a hundred times slower
    than it is, so all forms of a reservoir run on one core.

    Parameters
    ----------
    reservoir : Reservoir
        Without feedback.
    u : array (T, D_in)
        Inputs. Only the first rows are used, as many as one thread runs at a time.
    least : int
        Smallest number of repeats.
    seconds : float
        Repeat for at least this long.
    """
    u = u[: max(1, (WORTH_THREADS - 1) // reservoir.units)]
    drive = reservoir.drive(np.asarray(u, reservoir.dtype), None)
    out = np.empty((len(drive), reservoir.units), reservoir.dtype)
    with threadpool_limits(1):
        times = _time_calls(
            lambda: reservoir.scan(drive, reservoir.zero_state(), out), seconds, least
        )
    return float(np.median(times)) / len(drive)


def _time_calls(
    call: Callable[[], object],
    seconds: float,
    least: int = 1,
    most: float = np.inf,
    longest: float = np.inf,
) -> Array:
    """Return the durations of repeated calls, without the first, which compiles and warms up.

    If the first call takes more than ``longest`` seconds, there are no others.
    """

    def time_once() -> float:
        start = perf_counter()
        call()
        return perf_counter() - start

    first = time_once()
    if first > longest:
        return np.array([first])
    times: list[float] = []
    while len(times) < least or (sum(times) < seconds and len(times) < most):
        times.append(time_once())
    return np.array(times)


@dataclass(frozen=True)
class StepTimesConfig(Config):
    """Sizes; each cell repeats for ``seconds``, but no more than ``repeats`` times."""

    sizes: tuple[int, ...] = (100, 200, 400, 700, 1000, 1400, 2000, 2800, 4000)
    connectivity: float = 0.1
    seconds: float = 1.0
    repeats: int = 1000


@dataclass(frozen=True, eq=False)
class DurationCurve:
    """Median durations of one method, in seconds, by size."""

    sizes: Array
    seconds: Array

    @cached_property
    def slope(self) -> float:
        """The exponent p of N^p, fitted to the largest sizes."""
        upper = np.log(self.sizes[-UPPER:]), np.log(self.seconds[-UPPER:])
        return float(np.polyfit(*upper, 1)[0])

    @property
    def fitted(self) -> Array:
        """Fitted durations at the largest sizes."""
        upper = self.sizes[-UPPER:]
        middle = np.exp(np.mean(np.log(self.seconds[-UPPER:])))
        return middle * (upper / np.exp(np.mean(np.log(upper)))) ** self.slope


Curves = Mapping[tuple[str, str], DurationCurve]
"""Duration curves by panel and method."""


class StepTimes(Experiment[StepTimesConfig]):
    """Step durations."""

    name = "timing"
    title = "Step durations"
    paper = "figure of step durations"
    config = StepTimesConfig()
    quick = StepTimesConfig(sizes=(100, 200, 400, 600, 800, 1000), seconds=0.1)
    exclusive = True

    def cells(self, config: StepTimesConfig) -> list[Key]:
        """Return one key per panel, method and size."""
        return [(*curve, N) for curve in CURVES for N in config.sizes]

    def run(self, config: StepTimesConfig, key: Key) -> Cell:
        """Return the duration of every repeat, or the median duration of a reservoir step."""
        panel, method, N = key
        limit: dict[str, Any] = {"most": config.repeats, "longest": LONG * config.seconds}
        if panel == GENERATION:
            recipe = Recipe(units=N, **RECIPES[method])
            return {
                "seconds": _time_calls(lambda: draw(recipe, 1, seed=0), config.seconds, **limit)
            }
        if panel == STEP:
            reservoir = _draw_reservoir(method, N, config.connectivity)
            u = np.random.default_rng(0).uniform(-1, 1, (_step_count(method, N), 1))
            seconds = seconds_per_step(reservoir, u, least=3, seconds=config.seconds)
            return {"seconds": np.array([seconds])}
        rng = np.random.default_rng(0)
        states = rng.normal(size=(max(1, STATES // N), N))
        W_out, out = rng.normal(size=(N, 1)), np.empty((len(states), 1))
        times = _time_calls(lambda: np.matmul(states, W_out, out=out), config.seconds, **limit)
        return {"seconds": times / len(states)}

    def section(self, config: StepTimesConfig, results: Results) -> Section:
        """Show three panels with fitted slopes, as in the paper."""
        sizes = np.array(config.sizes)
        curves = {}
        for curve in CURVES:
            medians = [np.median(results[(*curve, N)]["seconds"]) for N in config.sizes]
            curves[curve] = DurationCurve(sizes, np.array(medians))
        gain = format_ratio(_speed_up(curves, STEP, "Dense", "Diagonal")[-1])
        return Section(
            "Normal draws W and scales it by its spectral radius, Diagonalization also "
            "diagonalises it, and DPG draws eigenvalues and input weights without any matrix. "
            f"Sparse keeps {config.connectivity:.0%} of the connections. A step is the mean over a "
            "run of many steps with one input and one output, in compiled code or BLAS with one "
            "thread. The exponent of dense steps may be above 2 because W leaves the cache; the "
            "claim holds if it is within 0.4 of 2, and that of diagonal steps within 0.3 of 1. The "
            "time of DPG is mostly overhead. The paper gives no numbers for this figure.",
            f"a diagonal step is {gain} × faster than a dense one at N = {sizes[-1]}",
            [
                TextTable(
                    "Median durations, and the exponent p of N^p fitted to "
                    f"N = {sizes[-UPPER:][0]} to {sizes[-1]}",
                    ("", "Method", *(f"N\u00a0=\u00a0{N}" for N in config.sizes), "exponent"),
                    [
                        [
                            panel if method == PANELS[panel][0] else "",
                            method,
                            *map(format_duration, curve.seconds),
                            f"{curve.slope:.2f}",
                        ]
                        for (panel, method), curve in curves.items()
                    ],
                )
            ],
            [
                ReportFigure(
                    "timing",
                    _draw(curves),
                    "Duration against reservoir size: generation of a reservoir, one reservoir "
                    "step, one readout step. Points are medians; lines are fits to the three "
                    "largest sizes, with their exponents in the legend.",
                )
            ],
            _judge(curves),
            {
                "seconds": {
                    f"{panel}: {method}": dict(
                        zip(map(str, sizes), curve.seconds.tolist(), strict=True)
                    )
                    for (panel, method), curve in curves.items()
                },
                "exponent": {f"{panel}: {m}": curve.slope for (panel, m), curve in curves.items()},
            },
        )


def _step_count(method: str, N: int) -> int:
    """Return a number of steps that is long enough to time and short enough to repeat."""
    return max(2, STATES // N if method == "Diagonal" else min(STATES // N, PRODUCTS // N**2))


def _draw_reservoir(method: str, N: int, connectivity: float) -> Reservoir:
    """Return a reservoir with random weights, whose values do not affect the time of a step."""
    if method == "Diagonal":
        return draw(Recipe(units=N, **RECIPES["DPG"]), 1, seed=0).reservoir
    W_in = np.random.default_rng(1).uniform(-1, 1, (1, N))
    share = connectivity if method == "Sparse" else 1.0
    W = 0.9 * random_matrix(N, 0, connectivity=share) / np.sqrt(share * N)
    if method == "Sparse":
        from scipy.sparse import csr_matrix

        return Reservoir(csr_matrix(W), W_in)
    return Reservoir(W, W_in)


def _speed_up(curves: Curves, panel: str, slow: str, fast: str) -> Array:
    """Return how many times faster one method is than another, at each size."""
    return curves[panel, slow].seconds / curves[panel, fast].seconds


def _draw(curves: Curves) -> Figure:
    figure, axes = panel_grid(len(PANELS), len(PANELS), 3.5, 3.9)
    for ax, (panel, methods) in zip(axes, PANELS.items(), strict=True):
        markers = MARKERS if len(methods) > 1 else ((GREEN, "D", "-"),)
        for method, (colour, marker, dashes) in zip(methods, markers, strict=True):
            curve = curves[panel, method]
            points: dict[str, Any] = {"color": colour, "marker": marker, "ms": 4.5}
            ax.plot(curve.sizes, curve.seconds, linestyle="none", **points)
            ax.plot(curve.sizes[-UPPER:], curve.fitted, color=colour, ls=dashes, lw=1.4)
            # An empty line, for a legend that shows marker and line together.
            ax.plot([], [], ls=dashes, label=f"{method}, $N^{{{curve.slope:.2f}}}$", **points)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("reservoir size N")
        ax.set_ylabel(f"seconds per {panel}")
        ax.set_title(panel, fontsize=11)
        low, high = ax.get_ylim()
        ax.set_ylim(low, high * (high / low) ** 0.35)
        ax.legend(loc="upper left", frameon=False, fontsize=9)
    return figure


def _judge(curves: Curves) -> Sequence[Claim]:
    gain = _speed_up(curves, STEP, "Dense", "Diagonal")
    saved = _speed_up(curves, GENERATION, "Diagonalization", "DPG")
    normal, diagonalised, dpg, dense, sparse, diagonal, readout = (
        curves[curve].slope for curve in CURVES
    )
    first, *_, last = curves[STEP, "Dense"].sizes
    quadratic, linear = abs(dense - 2) < 0.4, abs(diagonal - 1) < 0.3
    return [
        Claim.judge(
            "The cost of a reservoir step falls from quadratic to linear",
            f"N^{dense:.2f} dense, N^{sparse:.2f} sparse, N^{diagonal:.2f} "
            f"diagonal; diagonal is {format_ratio(gain[0])} times faster than dense at "
            f"N = {first}, {format_ratio(gain[-1])} times at N = {last}",
            quadratic and linear and gain.min() > 1,
            diagonal < dense and gain[-1] > 1,
        ),
        Claim.judge(
            "Direct generation avoids the cubic cost of a diagonalisation",
            f"N^{normal:.2f} with W and its radius, N^{diagonalised:.2f} with its "
            f"diagonalisation, N^{dpg:.2f} directly; {format_ratio(saved[-1])} times faster than "
            f"diagonalising at N = {last}",
            dpg < 1.4 and diagonalised - dpg > 1,
            True,
        ),
        Claim.judge(
            "The cost of a readout step is linear, and no higher in the eigenbasis",
            f"N^{readout:.2f}; both bases have the same number of real readout weights, so one "
            "curve stands for all",
            abs(readout - 1) < 0.3,
            True,
        ),
    ]
