"""Compare spectra, ridges and numbers of units on the test rows of several tasks.

    which_spectrum.py --hourly ETTh1.csv.gz         # all parts; the hourly task needs this table
    which_spectrum.py --stored --write              # tables and figures of the guide

``spectrum``: every law with the same number of units; the radius is selected on the training rows.
``ridge``: fixed ridges and ``"auto"``. ``units``: several sizes, with the default ridge and with
``"auto"``. The first 70% of the rows of each task are used for training and selection, the others
for testing. Each result is stored in ``results/which_spectrum`` at once, so an interrupted run can
be resumed.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np

import eigenecho as ee
from common import machine, replace_part
from eigenecho.plots.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    VERMILLION,
    legend_above,
    new_figure,
    tidy,
)

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "guides" / "which-spectrum.md"
FIGURES = ROOT / "docs" / "figures"
TRAIN = 0.7
WARMUP = 100
SEEDS = {"spectrum": 10, "ridge": 2, "units": 2}
"""Number of seeds of each part."""

UNITS = 100
RADII = (0.8, 0.95, 0.99, 0.999)
SEASONS = (0.9, 0.98, 0.99, 0.999)
"""Radii of the seasonal modes."""

SIZES = (10, 30, 100, 300)
RIDGES: tuple[float | str, ...] = (1e-8, 1e-3, 1.0, 1e3, "auto")
TINY = 1e-3
"""Tasks with errors below this value are plotted on a logarithmic axis."""

WEEK = 7
SEASONAL = "season before"
"""Name of the seasonal naive baseline in stored results."""

NAMES = ("sines", "chaos", "chaos, noisy", "recall 30", "NARMA10", "daily", "hourly", "EEG")
"""Order of the tasks in the tables."""


class Task(NamedTuple):
    """Inputs and targets of a task, and its kind.

    If the input is the series itself, ``season`` is its period in rows and ``steps`` is the
    forecast horizon.
    """

    X: np.ndarray
    y: np.ndarray
    kind: str
    season: int = 0
    steps: int = 0


def ahead(u: np.ndarray, steps: int, kind: str, season: int = 1) -> Task:
    """Return the task of predicting a series the given number of steps ahead."""
    return Task(u[:-steps], u[steps:], kind, season, steps)


def daily(seed: int, days: int = 6 * 365) -> np.ndarray:
    """Simulate six years of daily data: weekly and yearly cycles, weather and noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(days)
    week = rng.normal(size=WEEK)[t % WEEK]
    year = 1.5 * np.sin(2 * np.pi * t / 365.25 + rng.uniform(0, 2 * np.pi))
    weather = np.zeros(days)
    for i in range(1, days):
        weather[i] = 0.7 * weather[i - 1] + 0.5 * rng.normal()
    return (20 + week + year + weather + 0.3 * rng.normal(size=days))[:, None]


def eeg() -> np.ndarray:
    """Return one channel of Matplotlib's electroencephalogram, shape (800, 1)."""
    from matplotlib import cbook

    with cbook.get_sample_data("eeg.dat") as file:
        return np.frombuffer(file.read(), np.float64).reshape(800, 4)[:, :1].copy()


def tasks(seed: int, hourly: Path | None) -> dict[str, Task]:
    """Return the tasks by name, drawn with the given seed."""
    rng = np.random.default_rng(100 + seed)
    chaos = ee.tasks.mackey_glass(3006, seed=seed)
    X, y = ee.tasks.delayed_recall(3000, [30], seed=seed)
    tasks_by_name = {
        "sines": ahead(ee.tasks.mso(8, steps=3001), 1, "no noise"),
        "chaos": ahead(chaos, 6, "no noise"),
        "chaos, noisy": ahead(chaos + 0.1 * chaos.std() * rng.normal(size=chaos.shape), 6, "noise"),
        "recall 30": Task(X, y + 0.1 * y.std() * rng.normal(size=y.shape), "long memory"),
        "NARMA10": Task(*ee.tasks.narma(10, 3000, seed=seed), "nonlinear"),
        "daily": ahead(daily(10 + seed), 1, "seasons", WEEK),
        "EEG": ahead(eeg(), 1, "real"),
    }
    if hourly is not None:
        import pandas as pd

        rows = pd.read_csv(hourly)[["OT"]].to_numpy(float)[:4001]
        tasks_by_name["hourly"] = ahead(rows, 1, "real", 24)
    return tasks_by_name


def spectra(task: Task) -> dict[str, Any]:
    """Return the spectra to compare: every law, and seasonal modes joined with ``log_ring``."""
    laws: dict[str, Any] = {name: name for name in ee.spectra.LAWS}
    laws["data"] = "data"
    laws["season + log_ring"] = [
        ee.spectra.joined(ee.spectra.ring(max(task.season, 1), sr=sr), "log_ring") for sr in SEASONS
    ]
    return laws


# Measuring ----------------------------------------------------------------------------------------


def evaluate(task: Task, units: int, seed: int, spectrum: Any, ridge: Any) -> dict[str, Any]:
    """Select the radius on the training rows and return the relative error on the test rows."""
    cut = int(TRAIN * len(task.X))
    X, y = task.X[:cut], task.y[:cut]
    esn = ee.LinearESN(units, standardize=True, penalty="identity", warmup=WARMUP, seed=seed)
    spectra = spectrum if isinstance(spectrum, list) else [spectrum]
    grid = {"spectrum": spectra, "sr": RADII, "ridge": [ridge]}
    best = ee.search(esn, grid, X, y).best_estimator
    error = _rms(best.predict(task.X)[cut:] - task.y[cut:]) / float(task.y[cut:].std())
    return {"error": error, "sr": float(best.sr), "ridge": float(best.ridge_)}


def naive(task: Task) -> float:
    """Return the relative error of the seasonal naive baseline on the test rows."""
    cut, back = int(TRAIN * len(task.X)), task.season * -(-task.steps // task.season)
    before = task.y[cut - back : -back]
    return _rms(before - task.y[cut:]) / float(task.y[cut:].std())


def _rms(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(x**2)))


Case = tuple[dict[str, Any], Callable[[], dict[str, Any]]]


def cases(part: str, hourly: Path | None) -> Iterator[Case]:
    """Yield the description of each measurement and a function that performs it."""
    for seed in range(SEEDS[part]):
        for name, task in tasks(seed, hourly).items():
            case = {"part": part, "task": name, "kind": task.kind, "seed": seed}
            if part == "spectrum" and task.season:
                yield case | {"law": SEASONAL}, lambda t=task: {"error": naive(t)}
            for more, units, spectrum, ridge in _settings(part, task):
                yield (
                    case | more,
                    lambda t=task, n=units, s=seed, a=spectrum, r=ridge: evaluate(t, n, s, a, r),
                )


def _settings(part: str, task: Task) -> Iterator[tuple[dict[str, Any], int, Any, Any]]:
    if part == "spectrum":
        for law, spectrum in spectra(task).items():
            yield {"law": law}, UNITS, spectrum, "auto"
    elif part == "ridge":
        for ridge in RIDGES:
            yield {"given": _name(ridge)}, 2 * UNITS, "log_ring", ridge
    else:
        for units in SIZES:
            for ridge in (1e-8, "auto"):
                yield {"units": units, "given": _name(ridge)}, units, "log_ring", ridge


def _name(ridge: float | str) -> str:
    return ridge if isinstance(ridge, str) else f"{ridge:g}"


def measure(part: str, hourly: Path | None, path: Path) -> None:
    """Run all measurements that are not stored yet."""
    done = {_key(row) for row in stored(path)}
    for case, run in cases(part, hourly):
        if _key(case) in done:
            continue
        row = case | run()
        with path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)


def stored(path: Path) -> list[dict[str, Any]]:
    """Return the stored results."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in ("part", "task", "seed", "law", "given", "units"))


# Showing ------------------------------------------------------------------------------------------


def table(rows: list[dict[str, Any]], column: str) -> tuple[list[str], list[str], np.ndarray]:
    """Return the tasks, the values of a column, and means over seeds, shape (tasks, values)."""
    names = [name for name in NAMES if any(row["task"] == name for row in rows)]
    values = list(dict.fromkeys(row[column] for row in rows))
    values.sort(key=lambda value: value == SEASONAL)
    means = np.array(
        [
            [
                np.mean(
                    [row["error"] for row in rows if (row["task"], row[column]) == (name, value)]
                    or np.nan
                )
                for value in values
            ]
            for name in names
        ]
    )
    return names, values, means


def format_intervals(rows: list[dict[str, Any]]) -> list[str]:
    """Return means and 95% t intervals by law.

    Errors are bold if they are at most 5% larger than the smallest one and the paired interval of
    the difference contains 0, or if they are below 1e-9.
    """
    from scipy.stats import t

    names, laws, errors = table(rows, "law")
    lines = format_table(rows, "law")[:2]
    kinds = {row["task"]: row["kind"] for row in rows}
    for name, line in zip(names, errors, strict=True):
        samples = [
            np.array([row["error"] for row in rows if (row["task"], row["law"]) == (name, law)])
            for law in laws
        ]
        best, cells = samples[int(np.nanargmin(line))], []
        for x in samples:
            if not len(x):
                cells.append("–")
                continue
            width = t.ppf(0.975, len(x) - 1) / np.sqrt(len(x))
            text = f"{x.mean():.3g} ± {width * x.std(ddof=1):.1g}"
            lead = (x - best).mean() - width * (x - best).std(ddof=1)
            is_best = lead <= 0 and x.mean() <= 1.05 * best.mean()
            cells.append(f"**{text}**" if is_best or x.mean() < 1e-9 else text)
        lines.append(f"| {name} | {kinds[name]} | " + " | ".join(cells) + " |")
    return lines


def format_table(rows: list[dict[str, Any]], column: str) -> list[str]:
    """Return a table; values within 2% of the best of their row, or below 1e-9, are bold."""
    names, values, errors = table(rows, column)
    kinds = {row["task"]: row["kind"] for row in rows}
    heads = ["seasonal naive" if value == SEASONAL else f"`{value}`" for value in values]
    lines = [
        "| task | kind | " + " | ".join(heads) + " |",
        "|---|---|" + "---|" * len(values),
    ]
    for name, line in zip(names, errors, strict=True):
        good = max(1.02 * np.nanmin(line), 1e-9)
        cells = [f"**{e:.3g}**" if e <= good else f"{e:.3g}" for e in line]
        cells = ["–" if cell == "nan" else cell for cell in cells]
        lines.append(f"| {name} | {kinds[name]} | " + " | ".join(cells) + " |")
    return lines


def show_spectrum(rows: list[dict[str, Any]]) -> list[str]:
    """Return errors by law, and plot them relative to the best law."""
    names, laws, errors = table([row for row in rows if row["law"] != SEASONAL], "law")
    figure = new_figure(8, 3.6)
    ax = figure.subplots()
    shares = np.clip(np.maximum(errors, 1e-9) / np.maximum(errors.min(axis=1), 1e-9)[:, None], 1, 2)
    image = ax.imshow(shares.T, cmap="cividis_r", vmin=1, vmax=1.5, aspect="auto")
    ax.set_xticks(range(len(names)), [name.replace(" ", "\n") for name in names], fontsize=9)
    ax.set_yticks(range(len(laws)), laws, fontsize=9)
    for i, j in np.ndindex(shares.shape):
        light = shares[i, j] > 1.25
        text = "≥ 2" if shares[i, j] >= 2 else f"{shares[i, j]:.2f}"
        ax.text(i, j, text, ha="center", va="center", fontsize=8, color="w" if light else "k")
    figure.colorbar(image, ax=ax, label="error relative to the best law", extend="max")
    save(figure, "which-spectrum")
    return format_intervals(rows)


def show_ridge(rows: list[dict[str, Any]]) -> list[str]:
    """Return errors by ridge."""
    return format_table(rows, "given")


def show_units(rows: list[dict[str, Any]]) -> list[str]:
    """Return errors by number of units with ``ridge="auto"``, and plot the default ridge too."""
    names, _, _ = table(rows, "units")
    figure = new_figure(8, 4.2)
    axes = figure.subplots(2, 4, sharex=True).ravel()
    for ax, name in zip(axes, names, strict=False):
        for given, color in (("1e-08", VERMILLION), ("auto", BLUE)):
            selected = [row for row in rows if (row["task"], row["given"]) == (name, given)]
            _, sizes, errors = table(selected, "units")
            ax.semilogx(sizes, errors[0], "o-", color=color, markersize=3, label=f"ridge {given}")
        ax.set_title(name, fontsize=9)
        ax.minorticks_off()
        ax.set_xticks(SIZES, map(str, SIZES))
        if errors.min() < TINY:
            ax.set_yscale("log")
        else:
            ax.set_ylim(bottom=0)
        tidy(ax)
    for ax in axes[len(names) :]:
        ax.set_visible(False)
    legend_above(figure, axes[0])
    figure.supxlabel("units", fontsize=9)
    figure.supylabel("test error", fontsize=9)
    save(figure, "which-units")
    return format_table([row for row in rows if row["given"] == "auto"], "units")


def gallery() -> None:
    """Plot the eigenvalues of each law."""
    figure = new_figure(8, 4.2, "compressed")
    drawn = {name: law(60, sr=0.95, seed=0) for name, law in ee.spectra.LAWS.items()}
    season = ee.spectra.ring(WEEK, sr=0.99)
    drawn["season + log_ring"] = ee.spectra.joined(season, "log_ring")(60, sr=0.95, seed=0)
    around = np.exp(1j * np.linspace(0, 2 * np.pi, 200))
    for ax, (name, spectrum) in zip(figure.subplots(2, 4).ravel(), drawn.items(), strict=True):
        ax.plot(around.real, around.imag, color=GREY, linewidth=0.6)
        values, color = spectrum.values, GREEN if "season" in name else BLUE
        ax.scatter(values.real, values.imag, s=5, color=color)
        if "season" in name:
            ax.scatter(season.values.real, season.values.imag, s=14, color=ORANGE)
        ax.set_title(name, fontsize=9)
        ax.set_aspect("equal")
        ax.axis("off")
    save(figure, "which-laws")


def save(figure: Any, name: str) -> None:
    """Save a figure as an SVG file that is identical in every run."""
    with mpl.rc_context({"svg.hashsalt": "eigenecho"}):
        figure.savefig(FIGURES / f"{name}.svg", metadata={"Date": None})


PARTS = {"spectrum": show_spectrum, "ridge": show_ridge, "units": show_units}


def main() -> int:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--hourly", type=Path, help="CSV file such as ETTh1.csv, with a column OT")
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "which_spectrum")
    parser.add_argument("--stored", action="store_true", help="use stored results")
    parser.add_argument("--write", action="store_true", help="write tables and figures to docs")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print(machine("numpy", "scipy"))
    args.results.mkdir(parents=True, exist_ok=True)
    for name in args.only:
        path = args.results / f"{name}.jsonl"
        if not args.stored:
            measure(name, args.hourly, path)
        lines = PARTS[name](stored(path)) if args.write else []
        print("\n".join(lines))
        if args.write:
            PAGE.write_text(replace_part(PAGE.read_text(), name, lines))
    if args.write:
        gallery()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
