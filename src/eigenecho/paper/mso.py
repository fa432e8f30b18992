"""Experiments on multiple superimposed oscillators (MSO)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product
from typing import Any, ClassVar, NamedTuple

import numpy as np

from eigenecho.estimators import LinearESN
from eigenecho.grid_search import search
from eigenecho.grid_search.grid import folds
from eigenecho.pages import format_ratio
from eigenecho.paper.experiment import Cell, Experiment, Key, Results, Section
from eigenecho.plots.style import BLACK, BLUE, GREEN, PURPLE, panel_grid
from eigenecho.readout import Triangle
from eigenecho.reservoir import Cache, Recipe
from eigenecho.spectra import noisy_golden
from eigenecho.tasks import MSO_FREQUENCIES, mso_split
from eigenecho.training import Settings, pose
from eigenecho.types import Array

LITERAL = "Noisy Golden, literal"
"""Method with the noise stated in the paper: its standard deviation σ does not depend on N."""

METHODS: dict[str, dict[str, Any]] = {
    "Normal": {"spectrum": "matrix", "basis": "neuron"},
    "Diagonalized": {"spectrum": "matrix"},
    "Uniform": {"spectrum": "uniform"},
    "Golden": {"spectrum": "golden"},
    "Noisy Golden": {"spectrum": "noisy_golden"},
    "Sim": {"spectrum": "sim"},
    LITERAL: {"spectrum": partial(noisy_golden, absolute=True)},
}
"""Parameters of ``LinearESN`` for each method."""

PAPER_METHODS = ("Normal", "Diagonalized", "Uniform", "Golden", "Noisy Golden", "Sim")
"""Columns of the table in the paper."""

PAPER_RMSE: dict[int, tuple[float, ...]] = {
    1: (1.65e-14, 1.58e-14, 5.85e-14, 2.49e-14, 4.77e-14, 3.56e-14),
    2: (2.55e-13, 2.78e-13, 2.28e-13, 1.45e-13, 2.39e-13, 2.44e-13),
    3: (5.42e-12, 9.14e-12, 4.49e-12, 9.07e-12, 6.14e-12, 8.37e-12),
    4: (1.39e-10, 5.77e-10, 3.64e-10, 7.22e-11, 6.93e-11, 2.28e-10),
    5: (2.75e-09, 4.03e-08, 2.95e-08, 5.24e-10, 1.63e-09, 1.87e-08),
    6: (7.38e-09, 2.54e-08, 2.07e-08, 1.07e-08, 1.18e-08, 6.16e-08),
    7: (2.96e-08, 9.48e-08, 7.16e-08, 5.98e-08, 5.36e-08, 8.55e-08),
    8: (2.75e-08, 9.68e-08, 3.57e-07, 1.15e-07, 6.44e-08, 1.41e-07),
    9: (4.98e-08, 2.69e-07, 4.33e-07, 1.69e-07, 1.03e-07, 1.63e-07),
    10: (4.65e-07, 3.32e-07, 4.15e-07, 2.31e-07, 1.61e-07, 2.73e-07),
    11: (5.62e-07, 7.38e-07, 1.85e-06, 7.49e-07, 3.16e-07, 3.71e-07),
    12: (9.71e-07, 2.98e-06, 1.34e-06, 1.01e-06, 8.44e-07, 2.63e-06),
}
"""Test RMSE for MSO1 to MSO12 in the paper, in the order of ``PAPER_METHODS``."""

PARTS = {"washout": BLUE, "train": BLUE, "validation": GREEN, "test": PURPLE}
"""Colours of the parts of the series."""


@dataclass(frozen=True)
class MSOSignal(Experiment):
    """The MSO5 series, with its training, validation and test rows."""

    name = "mso-signal"
    title = "The MSO5 series"
    paper = "figure of the MSO5 series"
    quick: ClassVar = {}

    task: int = 5

    def cells(self) -> list[Key]:
        """Return a single key, for the series."""
        return [(self.task,)]

    def run(self, key: Key) -> Cell:
        """Return the inputs, and the end of each part."""
        split = mso_split(key[0])
        ends = [split.washout, split.train.stop, split.valid.stop, split.test.stop]
        return {"signal": split.X[:, 0], "ends": np.array(ends)}

    def section(self, results: Results) -> Section:
        """Report the series, with its parts as shaded areas."""
        signal, ends = (results[(self.task,)][name] for name in ("signal", "ends"))
        rows = dict(zip(PARTS, pairwise([0, *ends.tolist()]), strict=True))
        figure, (ax,) = panel_grid(1, 1, 9.6, 2.7)
        for part, (start, end) in rows.items():
            is_washout = part == "washout"
            hatch: Any = {"hatch": "///", "edgecolor": "white"} if is_washout else {}
            ax.axvspan(start, end, facecolor=PARTS[part], alpha=0.28, linewidth=0, **hatch)
            steps = np.arange(start, min(end + 1, len(signal)))
            dashes = (0, (3, 1.5)) if is_washout else "-"
            ax.plot(steps, signal[steps], color=BLACK, linestyle=dashes, linewidth=0.9)
            # With labels above the parts, readers need not distinguish colours.
            place = ((start + end) / 2, 1.02)
            ax.annotate(part, place, xycoords=("data", "axes fraction"), ha="center")
        ax.set(xlim=(0, len(signal)), xlabel="time step t", ylabel=f"$U_{{{self.task}}}(t)$")
        section = Section(
            f"U_K(t) = Σ sin(α_k t), summed over the first K = {self.task} frequencies, is "
            "predicted one step ahead. The series starts at t = 0; the paper does not state where "
            "it starts.",
            f"The series has {ends[3]} steps and is split as in the paper",
            {"rows": rows},
        )
        section.add_table(
            "Frequencies of the twelve tasks, in radians per step",
            ("", *(f"α{k + 1}" for k in range(len(MSO_FREQUENCIES)))),
            [["paper and eigenecho", *MSO_FREQUENCIES]],
            ["g"],
        )
        section.add_figure(
            "mso-signal",
            figure,
            f"The MSO{self.task} series of {ends[3]} steps. As in the paper, it is split into "
            f"washout ({ends[0]} steps, which update the state but are not fitted), training (to "
            f"step {ends[1]}), validation (to step {ends[2]}) and test (to step {ends[3]}).",
        )
        return section


class SelectedCombinations(NamedTuple):
    """Selected combination of each task, and its mean test RMSE over seeds.

    ``test_per_seed`` is the mean test RMSE if a combination is selected for each seed.
    """

    numbers: Array
    test: Array
    test_per_seed: Array


@dataclass(frozen=True)
class MSO(Experiment):
    """The table of MSO results, for 12 tasks and the hyperparameter grid of the paper."""

    name = "mso"
    title = "Multiple superimposed oscillators"
    paper = "table of MSO results"
    quick: ClassVar = dict(
        seeds=2, tasks=(1, 3, 5, 8, 12), lrs=(0.5, 0.9, 1.0), srs=(0.5, 0.7, 0.9)
    )
    methods: ClassVar = tuple(METHODS)

    units: int = 100
    tasks: tuple[int, ...] = tuple(range(1, 13))
    input_scalings: tuple[float, ...] = (0.01, 0.1, 1.0)
    lrs: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
    srs: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
    ridges: tuple[float, ...] = tuple(10.0**k for k in range(-11, 1))

    @property
    def paper_rmse(self) -> Array:
        """RMSE (tasks, methods) in the paper, for the tasks of this experiment."""
        return np.array([PAPER_RMSE[k] for k in self.tasks])

    @property
    def grid(self) -> dict[str, tuple[float, ...]]:
        """Values of each hyperparameter, by name."""
        values = (self.input_scalings, self.lrs, self.srs, self.ridges)
        return dict(zip(("input_scaling", "lr", "sr", "ridge"), values, strict=True))

    def cells(self) -> list[Key]:
        """Return a key for each method and seed. A cell contains all tasks."""
        return [*product(self.methods, range(self.seeds))]

    def run(self, key: Key) -> Cell:
        """Return the validation and test RMSE of every combination, (tasks, combinations).

        Steps 100 to 400 of the series are for training, 400 to 700 for validation, and 700 to
        1000 for testing.
        """
        method, seed = key
        valid, test = [], []
        for task in map(mso_split, self.tasks):
            result = search(
                LinearESN(self.units, warmup=task.washout, seed=seed, **METHODS[method]),
                self.grid,
                task.X,
                task.y,
                validation=[task.valid],
                test=task.test,
                refit=False,
            )
            assert result.test_errors is not None
            valid.append(result.errors[:, 0, 0])
            test.append(result.test_errors[:, 0])
        return {"valid": np.array(valid), "test": np.array(test)}

    def select(self, results: Results, method: str) -> SelectedCombinations:
        """Select combinations by validation error, averaged over seeds and for each seed."""
        valid, test = (results.stack((method,), name) for name in ("valid", "test"))
        numbers = np.argmin(valid.mean(axis=0), axis=1)
        rows = np.arange(len(numbers))
        own = np.take_along_axis(test, np.argmin(valid, axis=2)[:, :, None], axis=2)[:, :, 0]
        return SelectedCombinations(numbers, test[:, rows, numbers].mean(axis=0), own.mean(axis=0))

    def section(self, results: Results) -> Section:
        """Compare the results with those of the paper, and judge the claims about them."""
        selected = {method: self.select(results, method) for method in METHODS}
        by_method = {method: selected[method].test for method in PAPER_METHODS}
        ours = np.transpose([*by_method.values()])
        ratio = geometric_mean(ours / self.paper_rmse)
        headline = f"On average (geometric mean), errors are {ratio:.2f} times those of the paper"
        section = Section(
            f"Series are predicted one step ahead with N = {self.units} units and {self.seeds} "
            "seeds. Networks are trained on 400 steps, including 100 washout steps. The "
            "hyperparameters with the smallest validation RMSE on the next 300 steps, averaged "
            "over seeds, are tested on the last 300 steps. The solver is orthogonal, and the "
            f"readout bias is penalised. {headline}.",
            headline,
            {
                "test_rmse": {
                    method: dict(zip(self.tasks, combination.test, strict=True))
                    for method, combination in selected.items()
                },
                "geometric_mean_ratio": ratio,
                "best_ratio_per_task": ours.min(axis=1) / self.paper_rmse.min(axis=1),
            },
        )
        tasks = [f"MSO{k}" for k in self.tasks]
        numbers = np.stack([ours, self.paper_rmse], axis=1).reshape(-1, len(PAPER_METHODS))
        labels = [label for task in tasks for label in ((task, "eigenecho"), ("", "paper"))]
        section.add_table(
            "Test RMSE (best of each row in bold)",
            ("Task", "", *PAPER_METHODS),
            [(*label, *row) for label, row in zip(labels, numbers, strict=True)],
            [".2e"],
            {(i, 2 + row.argmin()) for i, row in enumerate(numbers)},
        )
        per_seed = [*(selected[m].test_per_seed for m in METHODS), selected[LITERAL].test]
        section.add_table(
            "Test RMSE if the hyperparameters are selected for each seed",
            ("Task", *METHODS, f"{LITERAL}, one selection for all seeds"),
            zip(tasks, *per_seed, strict=True),
            [".2e"],
            note="Hyperparameters that are selected for each seed adapt to the random draw, so the "
            "errors are smaller than in the first table. In the “literal” columns, σ = 0.2 is the "
            "standard deviation of the noise. In the last column, one combination is selected for "
            "all seeds, as in the first table.",
        )
        grid = [*product(*self.grid.values())]
        combinations = [
            ["{:g} / {:g} / {:g} / {:.0e}".format(*grid[i]) for i in selected[method].numbers]
            for method in PAPER_METHODS
        ]
        section.add_table(
            "Selected hyperparameters: input scaling / leaking rate / spectral radius / ridge",
            ("Task", *PAPER_METHODS),
            zip(tasks, *combinations, strict=True),
        )
        noisy, golden, normal = (by_method[m] for m in ("Noisy Golden", "Golden", "Normal"))
        best_dpg = ours[:, 2:].min(axis=1)
        best_ratio, noisy_ratio = geometric_mean(best_dpg / normal), geometric_mean(noisy / normal)
        section.judge(
            "DPG performs at least as well as the standard network on MSO",
            f"On average (geometric mean), the error of noisy golden is {noisy_ratio:.2f} times "
            "that of the standard network, and the error of the best DPG method is "
            f"{best_ratio:.2f} times that of the standard network. Noisy golden is better than the "
            f"standard network on {np.sum(noisy < normal)} of {len(tasks)} tasks",
            noisy_ratio < 2,
            best_ratio < 2,
        )
        gain, beats_golden = geometric_mean(noisy / golden), np.sum(noisy < golden)
        section.judge(
            "Adding noise to the golden distribution reduces the error",
            f"The error is smaller on {beats_golden} of {len(tasks)} tasks. On average (geometric "
            f"mean), it is {gain:.2f} times the error without noise",
            beats_golden > len(tasks) / 2,
            gain < 1,
        )
        return section


def geometric_mean(ratios: Array) -> float:
    """Return exp(mean(log(ratios)))."""
    return float(np.exp(np.log(ratios).mean()))


@dataclass(frozen=True)
class MSOAccurate(MSO):
    """MSO at the accuracy limit of double precision, with ridges down to 1e-30.

    Normal equations cannot resolve such ridges, so the solver is orthogonal. Only a few
    well-conditioned reservoirs are used.
    """

    name = "mso-accurate"
    title = "MSO at the limit of double precision"
    paper = "not in the paper"
    quick: ClassVar = dict(seeds=2, tasks=(1, 3, 5, 8, 12), lrs=(1.0,), srs=(0.9,))
    methods: ClassVar = ("Normal", "Uniform", "Golden", "Noisy Golden")

    input_scalings: tuple[float, ...] = (1.0,)
    lrs: tuple[float, ...] = (0.7, 0.9, 1.0)
    srs: tuple[float, ...] = (0.7, 0.9, 1.0)
    ridges: tuple[float, ...] = tuple(10.0**k for k in range(-30, -10, 2))

    def run(self, key: Key) -> Cell:
        """Return the validation and test RMSE of every combination, each from a separate QR."""
        method, seed = key
        cache = Cache()
        errors: list[list[list[float]]] = []  # by task, combination and block
        for task in map(mso_split, self.tasks):
            (fold,) = folds([task.valid], task.test, [len(task.X)], task.washout)
            errors.append([])
            for lr, sr in product(self.lrs, self.srs):
                settings = Settings(Recipe(units=self.units, sr=sr, lr=lr, **METHODS[method]))
                drawn = settings.draw(1, 1, seed, cache)
                problem = pose(settings, drawn, [task.X], [task.y])
                train, blocks, _ = problem.gather(Triangle, fold)
                for ridge in self.ridges:
                    w = train.solve(problem.penalty, ridge)
                    errors[-1].append([np.sqrt(b.squared_error(w)[0] / b.rows) for b in blocks])
        valid, test = np.moveaxis(np.array(errors), -1, 0)
        return {"valid": valid, "test": test}

    def section(self, results: Results) -> Section:
        """Compare the test errors with the best results in the paper."""
        errors = np.transpose([self.select(results, method).test for method in self.methods])
        theirs = self.paper_rmse.min(axis=1)
        gain = theirs / errors.min(axis=1)
        hard = gain[np.array(self.tasks) >= 5]
        smallest, largest = format_ratio(hard.min()), format_ratio(hard.max())
        section = Section(
            f"The tasks and their splits are the same as in the previous section; {self.seeds} "
            "seeds are used. The readout is computed by a QR decomposition of the states stacked "
            "on top of √α times the penalty matrix, with ridge values α down to "
            f"{min(self.ridges):.0e}. The normal equations square the condition number and cannot "
            "resolve such small ridge values.",
            f"On MSO5 to MSO12, errors are {smallest} to {largest} times smaller than the paper's",
            {
                "test_rmse": {
                    method: dict(zip(self.tasks, rmse, strict=True))
                    for method, rmse in zip(self.methods, errors.T, strict=True)
                },
                "better_than_paper": gain,
            },
        )
        section.add_table(
            "Test RMSE (our best in bold)",
            ("Task", *self.methods, "best in the paper", "improvement factor"),
            [
                (f"MSO{k}", *row, best, format_ratio(times))
                for k, row, best, times in zip(self.tasks, errors, theirs, gain, strict=True)
            ],
            [".2e"],
            {(i, 1 + row.argmin()) for i, row in enumerate(errors)},
        )
        section.judge(
            "Not in the paper: with an orthogonal solver, the error on MSO5 to MSO12 is at least "
            "1000 times smaller than the best result in the paper",
            f"The error is {smallest} to {largest} times smaller",
            hard.min() >= 1000,
        )
        return section
