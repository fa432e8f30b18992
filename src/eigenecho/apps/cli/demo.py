"""``eigenecho demo``: three networks, two tasks, a table and two figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table
from threadpoolctl import threadpool_limits

from eigenecho import metrics, plots, tasks
from eigenecho.apps.cli.endings import cannot_write, fail, writable
from eigenecho.apps.shared import bars
from eigenecho.apps.shared.seconds_per_step import seconds_per_step
from eigenecho.apps.shared.terminal import say
from eigenecho.estimators import LinearESN
from eigenecho.plots.style import legend_above, new_figure, tidy
from eigenecho.reservoir import Recipe
from eigenecho.reservoir import draw as draw_reservoir
from eigenecho.types import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NORMAL, EET, DPG = "Normal", "EET", "DPG golden"

METHODS: dict[str, dict[str, Any]] = {
    NORMAL: {"spectrum": "matrix", "basis": "neuron"},
    EET: {"spectrum": "matrix", "basis": "eigen"},
    DPG: {"spectrum": "golden", "basis": "eigen"},
}
"""The paper's standard network, the same one in its eigenbasis, and one drawn there."""

RIDGES = [10.0**-k for k in range(2, 30, 2)]

TIMED_UNITS = 1000
"""N of the timed reservoirs: large enough that O(N) and O(N²) differ."""

TIMED_STEPS = 500

SHOWN_STEPS = 200

STAGES = 3 * len(METHODS) + 1


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the figures.", callback=writable)] = Path(
        "results/demo"
    ),
    units: Annotated[int, typer.Option(min=1, help="N, the size of the reservoirs.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all that is drawn.")] = 0,
) -> None:
    """Train Normal, EET and DPG on MSO5 and Mackey-Glass; print a table, write two figures."""
    console = Console()
    with bars.stages(console, STAGES) as announce:
        trials = run(units, seed, announce)
    console.print(table(trials, units))
    try:
        written = draw(trials, out)
    except OSError as error:
        raise fail(cannot_write(out, error)) from None
    console.print("\nWritten:")
    for path in written:
        say(console, f"  {path}")


@dataclass(frozen=True, eq=False)
class Task:
    """Next-step prediction: X and y (T, 1), which rows to train and test on, and the metric."""

    name: str
    X: Array
    y: Array
    train: slice
    test: slice
    warmup: int
    metric: str


@dataclass(frozen=True, eq=False)
class Trial:
    """One method on one task."""

    task: Task
    method: str
    esn: LinearESN
    y_pred: Array
    seconds: float

    @property
    def error(self) -> float:
        """On the test rows."""
        measure = {"RMSE": metrics.rmse, "NRMSE": metrics.nrmse}[self.task.metric]
        return measure(self.task.y[self.task.test], self.y_pred[self.task.test])


def load_tasks() -> list[Task]:
    """MSO5 in the paper's split, and a Mackey-Glass series."""
    split = tasks.mso_split(5)
    series = tasks.mackey_glass(4001)
    return [
        Task("MSO5", split.X, split.y, split.train, split.test, split.washout, "RMSE"),
        Task(
            "Mackey-Glass", series[:-1], series[1:], slice(0, 3000), slice(3000, 4000), 100, "NRMSE"
        ),
    ]


def run(units: int, seed: int, announce: Callable[[str], None]) -> list[Trial]:
    """Train, test and time every method on every task; ``announce`` hears of each stage."""
    # One core is as fast at these sizes, does not stall on a busy machine, and gives the same
    # digits everywhere.
    with threadpool_limits(1):
        announce("making the series")
        both = load_tasks()
        seconds = {}
        for method in METHODS:
            announce(f"timing {method}, N = {TIMED_UNITS}")
            seconds[method] = _times(method, both, seed)
        trials = []
        for task in both:
            for method in METHODS:
                announce(f"training {method} on {task.name}")
                esn, y_pred = _trained(method, task, units, seed)
                trials.append(Trial(task, method, esn, y_pred, seconds[method][task.name]))
    return trials


def _times(method: str, both: list[Task], seed: int) -> dict[str, float]:
    """Seconds per step of one large reservoir, driven by each task."""
    recipe = Recipe(units=TIMED_UNITS, eigenvectors=False, **METHODS[method])
    reservoir = draw_reservoir(recipe, D_in=1, seed=seed).reservoir
    return {task.name: seconds_per_step(reservoir, task.X[:TIMED_STEPS]) for task in both}


def _trained(method: str, task: Task, units: int, seed: int) -> tuple[LinearESN, Array]:
    """A network fitted to the training rows, and its outputs over the whole series."""
    # Of the ridges the best on the last fifth of the training rows is kept.
    esn = LinearESN(units, ridge=RIDGES, warmup=task.warmup, seed=seed, **METHODS[method])
    esn.fit(task.X[task.train], task.y[task.train])
    # One run from the start, so that the test rows find a reservoir in motion.
    return esn, esn.predict(task.X)


def table(trials: list[Trial], units: int) -> Table:
    """Errors and times of all trials."""
    numbers = ("test error", f"µs/step, N = {TIMED_UNITS}", "speed-up")
    shown = Table(
        "task",
        "method",
        *(Column(heading, justify="right") for heading in numbers),
        title=f"Next-step prediction with {units} units",
        caption=(
            "Error on test rows, ridge chosen on training rows. Time of a reservoir step at "
            f"N = {TIMED_UNITS}: median of repeats. All in this run, on one core."
        ),
    )
    normal = {r.task.name: r.seconds for r in trials if r.method == NORMAL}
    for i, trial in enumerate(trials):
        task = trial.task
        shown.add_row(
            task.name if trial.method == NORMAL else "",
            trial.method,
            f"{task.metric} {trial.error:.2e}",
            f"{1e6 * trial.seconds:.2f}",
            f"{normal[task.name] / trial.seconds:.0f} ×",
            end_section=i + 1 < len(trials) and trials[i + 1].method == NORMAL,
        )
    return shown


def draw(trials: list[Trial], out: Path) -> list[Path]:
    """Write both figures as PNG and SVG; the paths."""
    written = []
    for name, figure in (("prediction", predictions(trials)), ("spectrum", spectra(trials))):
        for kind in ("png", "svg"):
            path = out / f"{name}.{kind}"
            figure.savefig(path, dpi=150)
            written.append(path)
    return written


def predictions(trials: list[Trial]) -> Figure:
    """Truth, predictions and errors, one column per task."""
    by_task = [list(group) for _, group in groupby(trials, key=lambda trial: trial.task.name)]
    figure = new_figure(11.0, 4.6)
    panels: Any = figure.subplots(
        2, len(by_task), sharex="col", height_ratios=(2, 1), squeeze=False
    )
    for (ax, error_ax), group in zip(panels.T, by_task, strict=True):
        task = group[0].task
        rows = slice(task.test.start, task.test.start + SHOWN_STEPS)
        tidy(ax)
        tidy(error_ax)
        plots.prediction(
            task.y[rows],
            {r.method: r.y_pred[rows] for r in group},
            start=rows.start,
            ax=ax,
            error_ax=error_ax,
            legend=False,
            title=f"{task.name}, test",
        )
    legend_above(figure, panels[0, 0])
    return figure


def spectra(trials: list[Trial]) -> Figure:
    """Eigenvalues sized by readout weight after the first task, drawn and diagonalised."""
    first = trials[0].task
    shown = [r for r in trials if r.task is first and r.method != NORMAL]
    figure = new_figure(4.3 * len(shown), 4.6, layout="compressed")
    panels: Any = figure.subplots(1, len(shown), sharey=True, squeeze=False)
    for ax, trial in zip(panels.flat, shown, strict=True):
        tidy(ax, frame=True)
        plots.spectrum(trial.esn, weights=True, ax=ax, title=f"{trial.method}, {first.name}")
        ax.label_outer()
    figure.suptitle("Eigenvalues, area by readout weight", fontsize=12)
    return figure
