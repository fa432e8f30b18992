"""Make the figures of the README and the guides: ``python docs/make_figures.py``.

why.svg         time per step of dense, sparse and diagonal reservoirs, measured on one core (run on
                an idle machine), and a golden spectrum sized by readout weights for MSO5
forecast.svg    the forecast of the front page with its interval
refinement.svg  difference between refined normal equations and the orthogonal solution

Pass names to make only some figures: ``python docs/make_figures.py refinement``.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from scipy import sparse

import eigenecho as ee
from eigenecho.paper.step_times import seconds_per_step
from eigenecho.plots.style import BLACK, BLUE, GREY, LINES, new_figure, tidy
from eigenecho.readout import NormalEquations
from eigenecho.reservoir import Reservoir
from eigenecho.training import Settings, pose
from eigenecho.training.refine import fitted_values, rounds

HERE = Path(__file__).parent / "figures"

SIZES = (30, 100, 300, 1000, 3000)
MARKED = 1000
CONNECTIVITY = 0.1
TITLE = 12
"""Font size of titles, the same in all panels."""

VERMILLION, _, GREEN, *_ = LINES
LOOKS: dict[str, dict[str, Any]] = {
    "dense": {"color": VERMILLION, "marker": "s"},
    "sparse 0.1": {"color": GREEN, "marker": "^"},
    "diagonal": {"color": BLUE, "marker": "o"},
}


def reservoirs(N: int, rng: np.random.Generator) -> dict[str, tuple[Reservoir, int]]:
    """Return a reservoir of each form, and the number of operations per step."""
    W_in = rng.uniform(-1, 1, (1, N))
    W = rng.normal(0, 0.9 / np.sqrt(N), (N, N))
    kept = sparse.random(
        N, N, CONNECTIVITY, "csr", rng=rng, data_rvs=lambda size: rng.normal(0, 1, size)
    )
    thin = kept * (0.9 / np.sqrt(CONNECTIVITY * N))
    return {
        "dense": (Reservoir(W, W_in), N * N),
        "sparse 0.1": (Reservoir(thin, W_in), max(kept.nnz, 1)),
        "diagonal": (Reservoir(ee.spectra.golden(N, seed=rng), W_in), N),
    }


def measure() -> dict[str, list[float]]:
    """Return the microseconds per step for all ``SIZES``, for each form."""
    rng = np.random.default_rng(0)
    times: dict[str, list[float]] = {name: [] for name in LOOKS}
    for N in SIZES:
        for name, (reservoir, operations) in reservoirs(N, rng).items():
            steps = int(np.clip(5e7 / operations, 20, 2000))
            times[name].append(1e6 * seconds_per_step(reservoir, rng.normal(size=(steps, 1))))
            print(f"N = {N:5d}  {name:10s} {times[name][-1]:10.3f} µs per step", flush=True)
    return times


def draw_times(ax: Any, times: dict[str, list[float]]) -> None:
    """Plot the time per step against N, and mark the ratio of dense and diagonal."""
    for (name, look), shift in zip(LOOKS.items(), (5, -5, 0), strict=True):
        ax.loglog(SIZES, times[name], linewidth=2, markersize=6, **look)
        ax.annotate(
            name,
            (SIZES[-1], times[name][-1]),
            xytext=(8, shift),
            textcoords="offset points",
            va="center",
            color=look["color"],
            fontsize=11,
            fontweight="bold",
        )
    i = SIZES.index(MARKED)
    low, high = times["diagonal"][i], times["dense"][i]
    ax.annotate(
        "",
        (MARKED, low * 1.2),
        (MARKED, high / 1.2),
        arrowprops={"arrowstyle": "<->", "color": GREY, "linewidth": 1.2},
    )
    ax.text(
        MARKED * 1.12, 5 * low, f"dense takes\n{high / low:.0f}× the time\nof diagonal", fontsize=10
    )
    ax.set_xlim(SIZES[0] * 0.75, SIZES[-1] * 1.3)
    ax.set_xticks(SIZES, [str(N) for N in SIZES])
    ax.set_xticks([], minor=True)
    ax.set_xlabel("units N", fontsize=11)
    ax.set_ylabel("µs per reservoir step", fontsize=11)
    ax.set_title("A step costs O(N), not O(N²)", fontsize=TITLE)
    ax.tick_params(labelsize=10)


def draw_spectrum(ax: Any) -> None:
    """Plot a golden spectrum sized by readout weights after training on MSO5."""
    split = ee.tasks.mso_split(5)
    esn = ee.LinearESN(100, spectrum="golden", ridge=1e-12, warmup=split.washout, seed=0)
    esn.fit(split.X[split.train], split.y[split.train])
    error = ee.metrics.rmse(split.y[split.test], esn.predict(split.X)[split.test])
    print(f"MSO5, golden, N = 100, ridge = 1e-12: test RMSE {error:.1e}")
    ee.plots.spectrum(esn, weights=True, ax=ax, title="", size=200)
    ax.set_title("Readout weights on MSO5", fontsize=TITLE)
    ax.xaxis.label.set_size(11)
    ax.yaxis.label.set_size(11)
    ax.tick_params(labelsize=10)


def why() -> Any:
    """Make the figure of the README."""
    figure = new_figure(8.8, 3.9)
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
    tidy(left)
    tidy(right, frame=True)
    draw_times(left, measure())
    draw_spectrum(right)
    return figure


def forecast() -> Any:
    """Plot ten years of monthly data and a two-year forecast, as on the front page."""
    t = np.arange(120)
    noise = np.random.default_rng(0).normal(0, 3, 120)
    sales = 100 + t / 2 + 20 * np.sin(t * np.pi / 6) + noise
    forecast = ee.Forecaster(horizon=24).fit(sales).predict(interval=0.9)
    ahead = np.arange(120, 144)
    figure = new_figure(6.4, 2.5)
    ax = figure.subplots()
    tidy(ax)
    ax.plot(t, sales, color=BLACK, linewidth=1.2, label="sales")
    ax.plot(ahead, forecast.mean, color=BLUE, linewidth=2, label="forecast")
    ax.fill_between(
        ahead, forecast.lower, forecast.upper, color=BLUE, alpha=0.25, lw=0, label="90% interval"
    )
    ax.set_xlabel("month", fontsize=11)
    ax.legend(frameon=False, ncols=3, loc="upper left", fontsize=11)
    ax.tick_params(labelsize=10)
    return figure


def refinement() -> Any:
    """Plot the difference from ``qr`` against the rounds of refinement, for several ridges."""
    rng = np.random.default_rng(0)
    u = rng.uniform(-1, 1, (20_000, 1))
    y = np.roll(u, 10, axis=0) + 0.1 * rng.normal(size=u.shape)
    figure = new_figure(6.4, 3.4)
    ax = figure.subplots()
    tidy(ax)
    for ridge, color, marker in zip((1.0, 1e-4, 1e-7, 1e-9), LINES[:4], "o^sd", strict=True):
        esn = ee.LinearESN(200, sr=0.9, ridge=ridge, warmup=100, solver="qr", seed=0).fit(u, y)
        settings = Settings.of(esn.get_params(deep=False))
        problem = pose(settings, settings.draw(1, 1, 0), [u], [y])
        block = problem.everything(settings.warmup)
        exact = fitted_values(problem, block, esn.W_out_)[0]
        total = problem.gather_gram(block).statistics
        system = NormalEquations.of(total.XtX, problem.penalty, ridge)
        first = problem.with_weights(block, system.solve(total.XtY))
        passed = itertools.islice(rounds(first, system), 5)
        refined = [fitted_values(problem, block, now.w)[0] for now, _, _ in passed]
        off = np.abs(refined - exact).max(axis=(1, 2)) / np.abs(exact).max()
        print(f"ridge {ridge:g}: " + ", ".join(f"{value:.1e}" for value in off), flush=True)
        ax.semilogy(off, marker=marker, color=color, label=f"ridge {ridge:g}")
    ax.set_xticks(range(5))
    ax.set_xlabel("rounds of refinement")
    ax.set_ylabel("relative difference from\nthe orthogonal solver")
    ax.legend(frameon=False)
    return figure


FIGURES = {"why": why, "forecast": forecast, "refinement": refinement}


def main() -> None:
    """Write the figures."""
    HERE.mkdir(exist_ok=True)
    for name in sys.argv[1:] or FIGURES:
        path = HERE / f"{name}.svg"
        # A fixed salt and no date make the file reproducible.
        with mpl.rc_context({"svg.hashsalt": "eigenecho"}):
            FIGURES[name]().savefig(path, facecolor="white", metadata={"Date": None})
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
