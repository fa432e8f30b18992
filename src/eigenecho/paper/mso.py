"""Experiments on multiple superimposed oscillators (MSO)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import block_diag

from eigenecho.estimators import LinearESN
from eigenecho.grid_search import search
from eigenecho.grid_search.grid import folds
from eigenecho.pages import format_ratio
from eigenecho.paper.claims import Interval, bootstrap_interval, mean_interval, seed_weights
from eigenecho.paper.experiment import Cell, Experiment, Key, Results, Section, listed, run_loop
from eigenecho.plots.style import BLACK, BLUE, GREEN, PURPLE, panel_grid
from eigenecho.readout import Triangle
from eigenecho.reservoir import Cache, Recipe, draw
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

SWEEP: dict[str, dict[str, Any]] = {
    f"σ = {s:g}": {"spectrum": partial(noisy_golden, sigma=s, absolute=True)}
    for s in (0.005, 0.01, 0.05, 0.1)
}
"""Golden spectra with noise of other standard deviations."""

SWEPT = (5, 9, 12)
"""Tasks in the figure of the noise."""

SIGMA = 0.2
"""Noise of the paper, which ``noisy_golden`` divides by √N."""

SELECTIONS = ("one selection for all seeds", "a selection for each seed")
"""Ways to select hyperparameters."""

PARTS = {"washout": BLUE, "train": BLUE, "validation": GREEN, "test": PURPLE}
"""Colours of the parts of the series."""


@dataclass(frozen=True)
class MSOSignal(Experiment):
    """The MSO5 series, with its training, validation and test rows."""

    name = "mso-signal"

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
        parts = dict(zip(PARTS, ends.tolist(), strict=True))
        section = self.start(**parts, end=ends[3], frequencies=listed(map(str, MSO_FREQUENCIES)))
        section.add_figure("mso-signal", figure)
        return section


class SelectedCombinations(NamedTuple):
    """Test RMSE of the selected combinations of hyperparameters.

    ``both`` contains means over seeds (selections, resamples, tasks), for each of ``SELECTIONS``
    and each row of ``seed_weights``. ``own`` are the errors (seeds, tasks) of a selection for each
    seed, and ``numbers`` the combinations (tasks,) that are selected for all seeds.
    """

    both: Array
    own: Array
    numbers: Array


@dataclass(frozen=True)
class MSO(Experiment):
    """The table of MSO results, for 12 tasks and the hyperparameter grid of the paper."""

    name = "mso"
    methods: ClassVar = tuple(METHODS | SWEEP)

    units: int = 100
    tasks: tuple[int, ...] = tuple(range(1, 13))
    input_scalings: tuple[float, ...] = (0.01, 0.1, 1.0)
    lrs: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
    srs: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
    ridges: tuple[float, ...] = tuple(10.0**k for k in range(-11, 1))

    @property
    def paper_rmse(self) -> Array:
        """RMSE (tasks, methods) in the paper, for the tasks of this experiment."""
        return np.array(MSO().texts["rmse"])[np.array(self.tasks) - 1]

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
        params = (METHODS | SWEEP)[method]
        valid, test = [], []
        for task in map(mso_split, self.tasks):
            esn = LinearESN(self.units, warmup=task.washout, seed=seed, **params)
            rows: Any = {"validation": [task.valid], "test": task.test}
            result = search(esn, self.grid, task.X, task.y, **rows, refit=False)
            assert result.test_errors is not None
            valid.append(result.errors[:, 0, 0])
            test.append(result.test_errors[:, 0])
        return {"valid": np.array(valid), "test": np.array(test)}

    def select(self, results: Results, method: str) -> SelectedCombinations:
        """Select combinations by validation error, averaged over seeds and for each seed."""
        # States of unstable combinations overflow.
        valid, test = (
            np.minimum(results.stack((method,), name), 1e200) for name in ("valid", "test")
        )
        own = np.take_along_axis(test, np.argmin(valid, axis=2)[:, :, None], axis=2)[:, :, 0]
        rows, joint = np.arange(len(self.tasks)), []
        for weights in seed_weights(self.seeds):
            numbers = np.argmin(np.tensordot(weights, valid, 1), axis=1)
            joint.append(weights @ test[:, rows, numbers])
        numbers = np.argmin(valid.mean(axis=0), axis=1)
        both = np.array([joint, seed_weights(self.seeds) @ own])
        return SelectedCombinations(both, own, numbers)

    def section(self, results: Results) -> Section:
        """Compare the results with those of the paper, and judge the claims about them."""
        selected = {method: self.select(results, method) for method in self.methods}
        ours, own = np.stack([selected[m].both[:, 0] for m in PAPER_METHODS], axis=2)
        ratio = geometric_mean((ours / self.paper_rmse).ravel())
        misfit = [np.sqrt(np.mean(np.log10(x / self.paper_rmse) ** 2)) for x in (ours, own)]
        reading = SIGMA / np.sqrt(self.units)
        section = self.start(ratio=ratio, misfit=misfit, reading=reading)
        tasks = [f"MSO{k}" for k in self.tasks]
        rows = np.stack([ours, self.paper_rmse], axis=1).reshape(-1, len(PAPER_METHODS))
        labels = [label for task in tasks for label in ((task, "eigenecho"), ("", "paper"))]
        section.add_table(
            "joint",
            ("Task", "", *PAPER_METHODS),
            [(*label, *row) for label, row in zip(labels, rows, strict=True)],
            [".2e"],
            {(i, 2 + row.argmin()) for i, row in enumerate(rows)},
        )
        columns = [*(selected[m].both[1, 0] for m in METHODS), selected[LITERAL].both[0, 0]]
        section.add_table(
            "per_seed",
            ("Task", *METHODS, f"{LITERAL}, one selection for all seeds"),
            zip(tasks, *columns, strict=True),
            [".2e"],
        )
        grid = ["{:g} / {:g} / {:g} / {:.0e}".format(*row) for row in product(*self.grid.values())]
        section.add_table(
            "selected",
            ("Task", *PAPER_METHODS),
            zip(
                tasks, *([grid[i] for i in selected[m].numbers] for m in PAPER_METHODS), strict=True
            ),
        )
        section.add_figure("mso-noise", self._draw_sweep(selected, reading))
        self._judge(section, selected)
        return section

    def interval(self, values: Any) -> dict[str, Interval]:
        """Return the intervals of a statistic for both selections."""
        pairs = zip(SELECTIONS, values, strict=True)
        return {label: bootstrap_interval(x, self.seeds) for label, x in pairs}

    def ratio(self, a: SelectedCombinations, b: SelectedCombinations) -> dict[str, Interval]:
        """Return the intervals of the ratio of errors, geometric means over tasks."""
        return self.interval(geometric_mean(a.both / b.both))

    def _judge(self, section: Section, selected: Mapping[str, SelectedCombinations]) -> None:
        normal, golden, noisy = (selected[m] for m in ("Normal", "Golden", "Noisy Golden"))
        theirs = geometric_mean(self.paper_rmse[:, 1] / self.paper_rmse[:, 0])
        section.judge("diagonalized", self.ratio(selected["Diagonalized"], normal), theirs=theirs)
        dpg = {
            f"{name}, {label}": interval
            for name, method in (("golden", golden), ("noisy golden", noisy))
            for label, interval in self.ratio(method, normal).items()
        }
        on_logs = mean_interval(geometric_mean(noisy.own / normal.own), log=True)
        section.judge("dpg", dpg, on_logs=on_logs.show(".2f"))
        wins = np.mean(noisy.both < normal.both, axis=2)
        section.judge("tie", self.interval(wins), tasks=len(self.tasks))
        errors = np.array([selected[m].both for m in PAPER_METHODS])
        first = np.argmin(errors, axis=0) == PAPER_METHODS.index("Sim")
        section.judge("sim-first", self.interval(first.sum(axis=-1)), tasks=len(self.tasks))
        literal, read = (
            geometric_mean(x.both[0, 0] / self.paper_rmse[:, 4]) for x in (selected[LITERAL], noisy)
        )
        section.judge("noise", self.ratio(noisy, golden), literal=literal, read=read)

    def _draw_sweep(self, selected: Mapping[str, SelectedCombinations], reading: float) -> Any:
        noises = {reading: "Noisy Golden", SIGMA: LITERAL}
        noises |= {float(m.removeprefix("σ = ")): m for m in SWEEP}
        x = sorted(noises)
        figure, (ax,) = panel_grid(1, 1, 6.0, 3.4)
        colors = dict(zip(SWEPT, (BLUE, GREEN, PURPLE), strict=True))
        for j, k in enumerate(self.tasks):
            if k not in colors:
                continue
            none = selected["Golden"].both[0, :, j]
            ratios = [selected[noises[s]].both[0, :, j] / none for s in x]
            intervals = [bootstrap_interval(ratio, self.seeds) for ratio in ratios]
            ax.plot(x, [i.value for i in intervals], "o-", color=colors[k], ms=4, label=f"MSO{k}")
            low, high = ([getattr(i, edge) for i in intervals] for edge in ("low", "high"))
            if np.isfinite(high).all():
                ax.fill_between(x, low, high, color=colors[k], alpha=0.15, lw=0)
        ax.axhline(1, color=BLACK, lw=0.8)
        ax.axvline(reading, color=BLACK, lw=0.8, ls=":")
        ax.set(xscale="log", yscale="log", xlabel="standard deviation of the noise")
        ax.set_ylabel("RMSE relative to no noise")
        ax.legend(frameon=False)
        return figure


def geometric_mean(ratios: Array) -> Any:
    """Return exp(mean(log(ratios))) over the last axis."""
    return np.exp(np.log(ratios).mean(axis=-1))


@dataclass(frozen=True)
class MSONormalEquations(MSO):
    """MSO by the normal equations of the paper in double precision, without the library's solver.

    The columns Normal and Diagonalized are the same network, so they differ by rounding only.
    """

    name = "mso-normal-equations"
    methods: ClassVar = ("Normal", "Diagonalized")

    def run(self, key: Key) -> Cell:
        """Return the validation and test RMSE of every combination, by NumPy alone."""
        method, seed = key
        cache = Cache()
        shape = len(self.lrs), len(self.srs)
        errors = np.empty((2, len(self.tasks), len(self.input_scalings), *shape, len(self.ridges)))
        for (i, lr), (j, sr) in product(enumerate(self.lrs), enumerate(self.srs)):
            recipe = Recipe(units=self.units, sr=sr, lr=lr, **METHODS[method])
            drawn = draw(recipe, 1, seed=seed, cache=cache)
            W, W_in = np.asarray(drawn.reservoir.transition.dense), drawn.reservoir.W_in[0]
            Q = np.eye(self.units) if drawn.basis is None else drawn.basis.Q
            M = block_diag(1.0, Q.T @ Q)
            for number, task in enumerate(map(mso_split, self.tasks)):
                states = run_loop(W.T.dot, task.X * W_in)
                for s, scale in enumerate(self.input_scalings):
                    X = np.column_stack([np.ones(len(states)), scale * states])
                    A = X[task.train][task.washout :]
                    b = A.T @ task.y[task.train][task.washout :]
                    G = A.T @ A + np.array(self.ridges)[:, None, None] * M
                    outputs = X @ np.linalg.solve(G, np.broadcast_to(b, (len(G), *b.shape)))
                    for e, rows in zip(errors, (task.valid, task.test), strict=True):
                        difference = outputs[:, rows] - task.y[rows]
                        e[number, s, i, j] = np.sqrt(np.mean(difference**2, axis=(1, 2)))
        valid, test = errors.reshape(2, len(self.tasks), -1)
        return {"valid": valid, "test": test}

    def section(self, results: Results) -> Section:
        """Compare both columns with each other and with those of the paper."""
        normal, diagonalized = (self.select(results, method) for method in self.methods)
        columns = self.paper_rmse.T / self.paper_rmse[:, 0]
        ratios = [columns[1], *(diagonalized.both / normal.both)[:, 0]]
        theirs, joint, _ = map(geometric_mean, ratios)
        section = self.start(theirs=theirs, joint=joint)
        labels = ("paper", *(f"normal equations, {label}" for label in SELECTIONS))
        section.add_table(
            "ratio",
            ("", *(f"MSO{k}" for k in self.tasks), "geometric mean"),
            [(s, *row, geometric_mean(row)) for s, row in zip(labels, ratios, strict=True)],
            [".2f"],
        )
        worst = int(np.argmax(ratios[0]))
        others = geometric_mean(columns[2:])
        section.judge(
            "diagonalized-plain",
            self.ratio(diagonalized, normal),
            worst=ratios[0][worst],
            task=self.tasks[worst],
            joint=ratios[1][worst],
            own=ratios[2][worst],
            least=others.min(),
            most=others.max(),
        )
        return section


@dataclass(frozen=True)
class MSOAccurate(MSO):
    """MSO at the accuracy limit of double precision, with ridges down to 1e-30.

    Only a few well-conditioned reservoirs are used.
    """

    name = "mso-accurate"
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
        selected = [self.select(results, method).both[0] for method in self.methods]
        errors, theirs = np.transpose([rmse[0] for rmse in selected]), self.paper_rmse.min(axis=1)
        gains = theirs / np.min(selected, axis=0)
        # Combinations with the largest ridge, which is close to the smallest one in the paper.
        shape = len(self.tasks), -1, len(self.ridges)
        large = Results(
            {k: {n: a.reshape(shape)[..., -1] for n, a in r.items()} for k, r in results.items()}
        )
        limited = np.min([self.select(large, method).both[0, 0] for method in self.methods], axis=0)
        hard = [j for j, k in enumerate(self.tasks) if k >= 5]
        section = self.start(
            smallest=format_ratio(gains[0, hard].min()),
            largest=format_ratio(gains[0, hard].max()),
            least=min(self.ridges),
        )
        section.add_table(
            "errors",
            ("Task", *self.methods, "best in the paper", "improvement factor"),
            [
                (f"MSO{k}", *row, best, format_ratio(times))
                for k, row, best, times in zip(self.tasks, errors, theirs, gains[0], strict=True)
            ],
            [".2e"],
            {(i, 1 + row.argmin()) for i, row in enumerate(errors)},
        )
        section.judge(
            "tiny-ridge",
            {f"MSO{self.tasks[j]}": bootstrap_interval(gains[:, j], self.seeds) for j in hard},
            largest=max(self.ridges),
            limited=geometric_mean(theirs[hard] / limited[hard]),
            free=geometric_mean(gains[0, hard]),
        )
        return section
