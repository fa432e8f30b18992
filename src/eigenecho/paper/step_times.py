"""Experiment on the durations of generation, reservoir steps and readout steps against N."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from time import process_time
from timeit import timeit
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from eigenecho.kernels.compiled.scans import MIN_THREADED_STATES
from eigenecho.pages import format_duration, format_ratio
from eigenecho.paper.claims import Interval, exact, mean_interval
from eigenecho.paper.experiment import Cell, Experiment, Key, Results, Section
from eigenecho.plots.style import BLACK, BLUE, GREEN, VERMILLION, panel_grid
from eigenecho.reservoir import Cache, Recipe, Reservoir, draw
from eigenecho.spectra import random_matrix
from eigenecho.spectra.spectrum import real_count
from eigenecho.types import Array

GENERATION, STEP, TRAINING, SEARCH = "generation", "reservoir step", "training", "search"

METHODS: dict[str, tuple[str, ...]] = {
    GENERATION: ("Normal", "Diagonalization", "DPG: Λ, P and W_in P", "DPG: Λ only"),
    STEP: ("Dense", "Sparse", "Diagonal"),
    TRAINING: ("readout step, neuron", "readout step, Q", "training, neuron", "training, Q"),
}
"""Rows of the table and curves of the figure, by panel."""

OVERHEAD = "DPG: Λ only"
"""Method whose time is mostly overhead, so that it has no exponent."""

LINES = ((BLACK, "o", "-"), (VERMILLION, "s", "--"), (BLUE, "^", "-."), (GREEN, "D", ":"))
"""Colour, marker and line style of the methods of a panel, in order."""

RECIPES: tuple[dict[str, Any], ...] = (
    {"spectrum": "matrix", "basis": "neuron"},
    {"spectrum": "matrix"},
    {"spectrum": "golden"},
    {"spectrum": "golden", "eigenvectors": False},
)
"""Networks that are generated, in the order of ``METHODS``."""

STATES = 1 << 17
"""Number of states (units times steps) in a timed run, which take one megabyte."""

PRODUCTS = 1 << 26
"""Largest number of multiplications in a timed run with a matrix."""

SCALES = (0.01, 0.1, 1.0)
"""Input scalings of the paper's search."""

UPPER = 3
"""Number of largest sizes to which slopes are fitted, because overheads matter least there."""


def seconds_per_step(
    reservoir: Reservoir, u: Array, *, least: int = 5, seconds: float = 0.2
) -> float:
    """Return the median CPU time of a step over repeated scans on one core.

    All forms of a reservoir use one core, because BLAS threads that wait for a busy core could make
    a dense step appear a hundred times slower.

    Parameters
    ----------
    reservoir : Reservoir
        A reservoir without feedback.
    u : array (T, D_in)
        Inputs. Only as many rows are used as a scan processes on one thread.
    least : int
        Smallest number of repetitions.
    seconds : float
        Shortest total duration of the repetitions.
    """
    u = u[: max(1, (MIN_THREADED_STATES - 1) // reservoir.units)]
    drive = reservoir.drive(np.asarray(u, reservoir.dtype), None)
    out = np.empty((len(drive), reservoir.units), reservoir.dtype)
    with threadpool_limits(1):
        times = _time_calls(lambda: reservoir.scan(drive, out=out), seconds, least, np.inf)
    return float(np.median(times)) / len(drive)


def _time_calls(
    call: Callable[[], object], seconds: float, least: int = 1, longest: float = 1.0
) -> Array:
    """Return the CPU times of repeated calls, without the first one if it is short.

    The first call may compile code. If it takes longer than ``longest``, it is not repeated.
    """
    times = [timeit(call, number=1, timer=process_time)]
    if times[0] > longest:
        return np.array(times)
    del times[0]
    while len(times) < least or sum(times) < seconds:
        times.append(timeit(call, number=1, timer=process_time))
    return np.array(times)


@dataclass(frozen=True)
class StepTimes(Experiment):
    """Durations, in several rounds that take the place of seeds.

    Each call is repeated for ``seconds``. Only the first round generates networks with more than
    ``repeated`` units.
    """

    name = "timing"
    version = 3
    exclusive = True

    seeds: int = 5
    sizes: tuple[int, ...] = (100, 200, 400, 700, 1000, 1400, 2000, 2800, 4000)
    large: tuple[int, ...] = (250, 500, 1000, 2000, 4000)
    repeated: int = 2000
    trained: tuple[int, ...] = (100, 200, 400, 800)
    inputs: tuple[int, ...] = (1, 4, 16, 64)
    connectivity: float = 0.1
    seconds: float = 0.05

    def cells(self) -> list[Key]:
        """Return a key for each panel and round."""
        return [*product((*METHODS, SEARCH), range(self.seeds))]

    def run(self, key: Key) -> Cell:
        """Return the seconds of each method and size. Methods are timed in turn."""
        panel, number = key
        with threadpool_limits(1):
            return {"seconds": np.array(getattr(self, f"_time_{panel.split()[-1]}")(number))}

    def _time_generation(self, number: int) -> list[list[float]]:
        def time(N: int, params: dict[str, Any]) -> float:
            if number > 0 and self.repeated < N:
                return np.nan
            call = partial(draw, Recipe(units=N, **params), 1, seed=number)
            return float(np.median(_time_calls(call, self.seconds)))

        return np.transpose([[time(N, p) for p in RECIPES] for N in self.large]).tolist()

    def _time_step(self, number: int) -> list[Any]:
        """Return seconds per step (inputs, methods, sizes)."""
        rng = np.random.default_rng(number)
        out = np.empty((len(self.inputs), len(METHODS[STEP]), len(self.sizes)))
        for (k, N), (j, method) in product(enumerate(self.sizes), enumerate(METHODS[STEP])):
            for i, D_in in enumerate(self.inputs):
                reservoir = self._draw_reservoir(method, N, D_in)
                # A run must be long enough to be timed, and short enough to be repeated.
                steps = STATES // N
                steps = max(2, steps if method == "Diagonal" else min(steps, PRODUCTS // N**2))
                u = rng.uniform(-1, 1, (steps, D_in))
                out[i, j, k] = seconds_per_step(reservoir, u, least=3, seconds=self.seconds)
        return out.tolist()

    def _draw_reservoir(self, method: str, N: int, D_in: int) -> Reservoir:
        """Return a reservoir with random weights, which do not affect the duration of a step."""
        if method == "Diagonal":
            return draw(Recipe(units=N, **RECIPES[3]), D_in, seed=0).reservoir
        W_in = np.random.default_rng(1).uniform(-1, 1, (D_in, N))
        share = self.connectivity if method == "Sparse" else 1.0
        W = 0.9 * random_matrix(N, 0, connectivity=share) / np.sqrt(share * N)
        return Reservoir(csr_matrix(W) if method == "Sparse" else W, W_in)

    def _time_training(self, number: int) -> list[Any]:
        """Return seconds (methods, sizes) of a readout step, and of the paper's formulas."""
        out = []
        for N in self.trained:
            u = np.random.default_rng(number).uniform(-1, 1, (5 * N, 1))
            cache, times = Cache(), []
            for params in RECIPES[:2]:
                drawn = draw(Recipe(units=N, sr=0.9, **params), 1, seed=number, cache=cache)
                X = drawn.reservoir.scan(u)[0]
                w = np.ones((N, 1))
                readout = _time_calls(partial(np.matmul, X, w), self.seconds)
                train = _time_calls(partial(_train, X, u, drawn.basis), self.seconds)
                times.append((np.median(readout) / len(X), np.median(train)))
            out.append(np.ravel(times, order="F"))
        return np.transpose(out).tolist()

    def _time_search(self, number: int) -> list[float]:
        """Return seconds for the states of three input scalings, with and without W_in after."""
        reservoir = self._draw_reservoir("Diagonal", 100, 1)
        u = np.random.default_rng(number).uniform(-1, 1, (STATES // 100, 1))
        out, scaled = np.empty((2, len(u), 100))

        def run(scale: float = 1.0) -> Array:
            return reservoir.scan(scale * u, out=out)[0]

        calls: list[Callable[[], object]] = [
            lambda: [run(scale) for scale in SCALES],
            run,
            lambda: [run(), *(np.multiply(out, scale, out=scaled) for scale in SCALES)],
        ]
        return [float(np.median(_time_calls(call, self.seconds, 5))) for call in calls]

    def section(self, results: Results) -> Section:
        """Report the durations in three panels with fitted exponents, as in the paper."""
        seconds = {p: results.stack((p,), "seconds") for p in (*METHODS, SEARCH)}
        curves = {
            (p, m): (self.large if p == GENERATION else self.trained, seconds[p][:, i])
            for p in (GENERATION, TRAINING)
            for i, m in enumerate(METHODS[p])
        }
        curves |= {
            (STEP, f"{m}, D_in = {D}"): (self.sizes, seconds[STEP][:, k, i])
            for (k, D), (i, m) in product(enumerate(self.inputs), enumerate(METHODS[STEP]))
        }
        exponents = {key: _fit_exponents(*curve) for key, curve in curves.items()}
        gain = seconds[STEP][:, :, 0] / seconds[STEP][:, :, 2]
        small, large = self.sizes[0], self.sizes[-1]
        first, last = (format_ratio(np.median(gain[:, 0, k])) for k in (0, -1))
        section = self.start(gain=last, N=large)
        for p in METHODS:
            chosen = {m: curve for (panel, m), curve in curves.items() if panel == p}
            sizes = next(iter(chosen.values()))[0]
            section.add_table(
                "panel",
                ("Method", *(f"N\u00a0=\u00a0{N}" for N in sizes), "exponent"),
                [
                    (
                        m,
                        *map(format_duration, np.nanmedian(times, axis=0)),
                        self._show(exponents, p, m),
                    )
                    for m, (_, times) in chosen.items()
                ],
                panel=p,
            )
        section.add_figure("timing", self._draw(curves, exponents))
        cases: dict[str, dict[str, Interval]] = {"growth": {}}
        for (k, D), m in product(enumerate(self.inputs), ("Dense", "Diagonal")):
            where, count = f"D_in = {D}", np.array([[_count(m, N, D) for N in self.sizes]])
            time = exponents[STEP, f"{m}, {where}"]
            exponent = exact(_fit_exponents(self.sizes, count)[0])
            cases.setdefault(f"{m.lower()}-count", {})[where] = exponent
            cases.setdefault(f"{m.lower()}-time", {})[where] = mean_interval(time)
            cases["growth"][where] = mean_interval(gain[:, k, -1] / gain[:, k, 0], log=True)
        near, far = 1e9 * np.median(seconds[STEP][:, 0, 0], axis=0)[[0, -1]]
        facts = {"first": first, "last": last, "small": small, "large": large}
        facts |= {"near": near / small**2, "far": far / large**2, "size": 8 * large**2 / 1e6}
        section.judge("steps", cases, **facts)
        self._judge(section, seconds, exponents)
        return section

    def _show(self, exponents: Any, panel: str, method: str) -> str:
        return "–" if method == OVERHEAD else mean_interval(exponents[panel, method]).show(".2f")

    def _judge(self, section: Section, rounds: Any, exponents: Any) -> None:
        _, eig, dpg, law = np.moveaxis(rounds[GENERATION], 1, 0)
        repeated = max(N for N in self.large if self.repeated >= N)
        k = self.large.index(repeated)
        names = METHODS[GENERATION]
        difference = exponents[GENERATION, names[1]] - exponents[GENERATION, names[2]]
        section.judge(
            "generation",
            {
                "ratio": {f"N = {repeated}": mean_interval(eig[:, k] / dpg[:, k], log=True)},
                "exponent": {"": mean_interval(difference)},
            },
            N=self.large[-1],
            eig=format_duration(eig[0, -1]),
            dpg=format_duration(dpg[0, -1]),
            law=format_duration(law[0, -1]),
            faster=format_ratio(eig[0, -1] / dpg[0, -1]),
        )
        times = rounds[TRAINING][:, :, -1]
        ratios = {"readout step": times[:, 1] / times[:, 0], "training": times[:, 3] / times[:, 2]}
        section.judge(
            "training",
            {name: mean_interval(ratio, log=True) for name, ratio in ratios.items()},
            N=self.trained[-1],
        )
        thrice, once, scaled = np.transpose(rounds[SEARCH])
        section.judge(
            "search",
            {"": mean_interval(thrice / once, log=True)},
            products=np.median(scaled / once),
        )

    def _draw(self, curves: Any, exponents: Any) -> Any:
        figure, axes = panel_grid(len(METHODS), len(METHODS), 3.6, 3.9)
        for ax, (panel, methods) in zip(axes, METHODS.items(), strict=True):
            for i, method in enumerate(methods):
                name = f"{method}, D_in = {self.inputs[0]}" if panel == STEP else method
                exponent = (
                    "" if method == OVERHEAD else f", $N^{{{exponents[panel, name].mean():.2f}}}$"
                )
                sizes, times = curves[panel, name]
                line: dict[str, Any] = dict(zip(("color", "marker", "ls"), LINES[i], strict=True))
                ax.plot(sizes, np.nanmedian(times, axis=0), label=method + exponent, ms=4.5, **line)
            ax.set(xscale="log", yscale="log", xlabel="reservoir size N", ylabel="seconds")
            ax.set_xticks(sizes[::2], map(str, sizes[::2]))
            ax.xaxis.set_minor_formatter("")
            ax.set_title(panel, fontsize=11)
            low, high = ax.get_ylim()
            ax.set_ylim(low, high * (high / low) ** 0.45)
            ax.legend(loc="upper left", frameon=False, fontsize=8)
        return figure


def _fit_exponents(sizes: Sequence[int], seconds: Array) -> Array:
    """Return the exponent of each row (rounds, sizes) for the largest sizes measured in all."""
    x, y = np.log(sizes), np.log(seconds)
    complete = np.flatnonzero(np.isfinite(y).all(axis=0))[-UPPER:]
    return np.polyfit(x[complete], y[:, complete].T, 1)[0]


def _count(method: str, N: int, D_in: int) -> int:
    """Return the number of multiplications of a step; a pair of modes takes four."""
    pairs = (N - real_count(N)) // 2
    return (N**2 if method == "Dense" else N + 2 * pairs) + N * D_in


def _train(X: Array, y: Array, basis: Any) -> Array:
    """Return the readout weights by the formula of the paper."""
    M = np.eye(X.shape[1]) if basis is None else basis.Q.T @ basis.Q
    return np.linalg.solve(X.T @ X + 1e-8 * M, X.T @ y)
