"""Training of readouts with the cheapest accurate solver, and selection of the ridge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from eigenecho.arrays import namespace, to_host
from eigenecho.checks import check_shape
from eigenecho.errors import IllConditionedWarning, Words, bad_argument, warn
from eigenecho.kernels import costs
from eigenecho.readout import (
    Gram,
    NormalEquations,
    PassResult,
    Penalty,
    Remainder,
    Residuals,
    SelectedRidge,
    Statistic,
    Triangle,
    check_targets,
    likeliest,
    log_density,
)
from eigenecho.rows import Block, Fold
from eigenecho.threads import one_blas_thread
from eigenecho.training.problem import AbstractProblem
from eigenecho.training.refine import RefinedWeights, refine
from eigenecho.training.settings import Settings
from eigenecho.training.structured import applies
from eigenecho.types import Array, NonNegative, UnboundedArray

HELD_OUT = 0.2
"""Fraction of each series, at its end, that is held out to compare several ridges."""


@dataclass(frozen=True, eq=False)
class GroupEvidence:
    """Statistics of all training rows, with the penalty, the ridge and the weights (N', D_out).

    The weights are argmin ‖Y − X w‖² + ridge ‖L w‖² in float64, for any dtype of the model.
    ``scatter`` (D_out, D_out) is EᵀE of their residuals E. ``XtE`` (N', D_out) is stored if the
    weights are not exactly the minimum, as for plain normal equations; at the minimum it equals
    ridge M w. Statistics may be tensors on the device on which they were gathered.
    """

    statistics: Statistic
    penalty: Penalty
    ridge: NonNegative
    weights: Array
    scatter: UnboundedArray
    XtE: Array | None = None

    def check(self) -> None:
        """Raise if the parts, which may come from a file, are inconsistent."""
        statistics = self.statistics
        size, D = statistics.size, statistics.outputs
        check_shape(self.weights, "weights", (size, D), ", like the statistics")
        check_shape(self.scatter, "scatter", (D, D), ", like the statistics")
        if self.XtE is not None:
            check_shape(self.XtE, "XtE", (size, D), ", like the statistics")
        if self.penalty.size != size:
            raise bad_argument("penalty", Words(f"{self.penalty.size} rows"), f"{size} rows")

    def __getstate__(self) -> dict[str, Any]:
        # Cached properties are not stored, because they may be on a device.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    @one_blas_thread()
    def freedom(self) -> float:
        """Degrees of freedom of the fit, tr(X (XᵀX + αM)⁻¹ Xᵀ).

        N' − α ‖L R⁻¹‖²,   RᵀR = XᵀX + αM
        """
        freedom = float(len(self.weights))
        if self.ridge > 0:
            try:
                R, _ = self.triangle
                share = namespace(R).solve_triangular(R, self.penalty.root(R).T, transposed=True)
            except ValueError:  # the ridge is too small to have an effect
                return freedom
            freedom -= self.ridge * float((share**2).sum())
        return max(freedom, 0.0)

    @property
    def free_rows(self) -> float:
        """Number of rows minus degrees of freedom, at least 1."""
        return max(self.statistics.rows - self.freedom, 1.0)

    @property
    def on_host(self) -> GroupEvidence:
        """Copy of the evidence with statistics in NumPy arrays."""
        return replace(self, statistics=self.statistics.on_host)

    @cached_property
    @one_blas_thread()
    def log_density(self) -> float:
        """Logarithm of the density p(Y) of the training targets, as in ``readout.likelihood``."""
        if self.ridge == 0:
            raise ValueError("log_density is undefined for ridge=0. Use a ridge > 0.")
        ridge, free = np.array([self.ridge]), self.penalty.free
        size = self.ridge * np.sum(self.penalty.times_root(self.weights) ** 2, axis=0)
        s2 = self.statistics.on_host.factorise(self.penalty).S ** 2
        q = (np.diag(self.scatter) + size)[None]
        return float(log_density(q, s2, ridge, self.statistics.rows - free)[0])

    def scatter_with(self, weights: Array) -> Array:
        """Return EᵀE of the residuals of other weights on these rows."""
        residuals = Residuals(self.weights, self.scatter, self.gradient)
        return to_host(self.statistics.scatter(weights, residuals))

    @property
    def gradient(self) -> Array:
        """Products XᵀE of rows and residuals, (N', D_out)."""
        if self.XtE is not None:
            return self.XtE
        return self.ridge * self.penalty.apply(self.weights)

    @cached_property
    def triangle(self) -> tuple[Array, Array]:
        """Triangle R and targets Z of the penalised rows: RᵀR = XᵀX + αM and R w = Z."""
        return self.statistics.penalised(self.penalty, self.ridge, self.weights)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Training statistics for each group of outputs with the same missing rows.

    All groups have the same ridge. ``columns`` are the outputs of each group, and ``scatter``
    (D_out, D_out) is EᵀE of all residuals E, which are 0 for missing targets.
    """

    groups: tuple[GroupEvidence, ...]
    columns: tuple[Array, ...]
    scatter: Array

    @classmethod
    def of_one(cls, group: GroupEvidence) -> Evidence:
        """Return the evidence of outputs that are observed in the same rows."""
        return cls((group,), (np.arange(len(group.scatter)),), group.scatter)

    @property
    def single(self) -> GroupEvidence | None:
        """Evidence of the only group, or None if there are several groups."""
        return self.groups[0] if len(self.groups) == 1 else None

    @property
    def ridge(self) -> float:
        """Ridge of all groups."""
        return self.groups[0].ridge

    @property
    def weights(self) -> Array:
        """Weights of all outputs, (N', D_out)."""
        order = np.argsort(np.concatenate(self.columns))
        return np.concatenate([group.weights for group in self.groups], axis=1)[:, order]

    @property
    def noise(self) -> Array:
        """Covariance of one-step errors: EᵀE / √(f fᵀ), with f = ``free_rows`` (D_out,).

        Covariances use the rows in which both outputs are observed, so that the matrix is always
        positive semidefinite.
        """
        free = np.empty(len(self.scatter))
        for columns, group in zip(self.columns, self.groups, strict=True):
            free[columns] = group.free_rows
        return self.scatter / np.sqrt(np.outer(free, free))

    @property
    def log_density(self) -> float:
        """Logarithm of the density p(Y) of the targets of all groups."""
        return sum(group.log_density for group in self.groups)


@dataclass(frozen=True, eq=False)
class TrainedReadout:
    """Trained readout: its evidence, the solver, and the last state of the last series.

    ``log_density`` is the log density of the targets, if it was used to select the ridge.
    """

    evidence: Evidence
    solver: str
    end: Array
    log_density: float | None = None


@one_blas_thread()
def train(problem: AbstractProblem, settings: Settings) -> TrainedReadout:
    """Train a readout, using for each output the rows in which it is observed.

        w_d = argmin Σ_{t: y_d(t) is observed} (y_d(t) − x(t) w)² + α ‖L w‖²

    One ridge is selected for all outputs. Outputs with the same missing rows are trained together.
    """
    if problem.has_gaps and settings.solver == "structured":
        raise ValueError(
            "solver='structured' does not support missing targets, because it cannot skip rows. "
            "Use solver='auto'."
        )
    columns, parts = zip(*problem.parts, strict=True)
    if len(parts) == 1:
        return _train_group(problem, settings)
    selected = select_ridge(parts, settings, _split(problem, settings))
    settings = replace(settings, ridge=selected.ridge)
    trained = [_train_group(part, settings) for part in parts]
    groups = tuple(result.evidence.groups[0] for result in trained)
    evidence = Evidence(groups, columns, np.empty(0))
    left = problem.in_double.with_weights(problem.everything(settings.warmup), evidence.weights)
    # A solver that failed and fell back to QR would do so again.
    solver = next((result.solver for result in trained if result.solver != "qr"), "qr")
    return TrainedReadout(replace(evidence, scatter=to_host(left.scatter)), solver, trained[-1].end)


def _train_group(problem: AbstractProblem, settings: Settings) -> TrainedReadout:
    """Train outputs that are observed in the same rows."""
    fold, solver = _split(problem, settings), _select_solver(problem, settings.solver)
    if solver in ("refined", "structured"):
        trained = _refined(problem.in_double, settings, solver, fold)
        if trained is not None:
            return trained
        solver = "qr"
    return _directly(problem, settings, solver, fold)


def _select_solver(problem: AbstractProblem, solver: str) -> str:
    """Return the solver to try first; "qr" is the fallback if it is not accurate."""
    if solver not in ("auto", "structured"):
        return solver
    if problem.reservoir.features is not None:
        return "qr"
    if (solver == "structured" or problem.flops() > costs.QUICK_QR_FLOPS) and applies(problem):
        return "structured"
    return "qr" if problem.is_small else "refined"


def _split(problem: AbstractProblem, settings: Settings) -> Fold:
    """Return the training rows, with the last rows held out if ridges are compared."""
    if settings.compares:
        return hold_out(problem, settings)
    return Fold(problem.everything(settings.warmup))


def hold_out(problem: AbstractProblem, settings: Settings) -> Fold:
    """Return all rows after the warmup, with the last fifth of each series held out."""
    everything = problem.everything(settings.warmup)
    cuts = [stop - round(HELD_OUT * (stop - start)) for start, stop in everything]
    train = [(start, cut) for (start, _), cut in zip(everything, cuts, strict=True)]
    last = [(cut, stop) for (_, stop), cut in zip(everything, cuts, strict=True)]
    if not (problem.counts(train).all() and problem.counts(last).any()):
        expected = "a single number, because the series are too short to hold out rows"
        raise bad_argument("ridge", settings.ridge, expected)
    return Fold(train, (last,))


def _directly(
    problem: AbstractProblem, settings: Settings, solver: str, fold: Fold
) -> TrainedReadout:
    """Train a readout by normal equations without refinement, or by QR factorisation."""
    gathered = problem.gather(Gram if solver == "gram" else Triangle, fold)
    total, held_out, ends = gathered
    problem.check_range(total, *held_out)
    selected = select_ridge([problem], settings, fold, [gathered])
    penalty, ridge = problem.penalty, selected.ridge
    for last in held_out:
        total = total.merge(last if total.is_exact else last.gram())
    solution = total.solve(penalty, ridge)
    weights = np.ascontiguousarray(to_host(solution))
    whole, double = problem.everything(settings.warmup), problem.in_double
    XtE = None
    if not total.is_exact:  # residuals from sums would be differences of large numbers
        left = double.gather(Remainder, Fold(whole), less=solution).statistics.on_host
        scatter, XtE = left.EtE, left.XtE
    elif ridge == 0 or problem.reservoir.dtype != np.float64:
        # For rounded states, and for weights without a ridge, the residuals need another pass.
        scatter = to_host(double.with_weights(whole, solution).scatter)
    else:
        scatter = to_host(total.scatter(solution))
    group = GroupEvidence(total, penalty, ridge, weights, scatter, XtE)
    return TrainedReadout(Evidence.of_one(group), solver, to_host(ends[-1]), selected.log_density)


def _refined(
    problem: AbstractProblem, settings: Settings, solver: str, fold: Fold
) -> TrainedReadout | None:
    """Train a readout by refined normal equations; return None without convergence."""
    penalty, ridges = problem.penalty, settings.ridge
    gathered = _sums(problem, solver, fold.train)
    total, _, ends = gathered
    problem.check_range(total)
    log_density = None
    if ridges == "auto":
        selected = select_ridge([problem], settings, fold, [gathered])
        if not selected.is_resolved:
            return None
        ridges, log_density = (selected.ridge,), selected.log_density
    M = penalty.gram(total.XtX) if any(ridges) and penalty.basis is not None else None

    def solve(block: Block, ridge: float) -> RefinedWeights | None:
        system = NormalEquations.of(total.XtX, penalty, ridge, M)
        if system is None or (ridge == 0 and not system.is_regular):
            return None
        return refine(problem.with_weights(block, system.solve(total.XtY)), system)

    ridge = ridges[0]
    for last in fold.held_out:
        size = problem.squares(last)
        more, _, ends = _sums(problem, solver, last)
        check_targets(size, to_host(more.XtY))
        errors = []
        for candidate in ridges:
            refined = solve(fold.train, candidate)
            if refined is None:
                return None
            left = to_host(problem.with_weights(last, refined.w).squares)
            errors.append(np.mean(left / np.where(size > 0, size, 1.0)))
        ridge = ridges[lowest(errors)]
        total = total.merge(more)
    refined = solve(problem.everything(settings.warmup), ridge)
    if refined is None:
        return None
    weights, scatter = np.ascontiguousarray(to_host(refined.w)), to_host(refined.scatter)
    evidence = Evidence.of_one(GroupEvidence(total, penalty, ridge, weights, scatter))
    return TrainedReadout(evidence, solver, to_host(ends[-1]), log_density)


def _sums(problem: AbstractProblem, solver: str, block: Block) -> PassResult:
    """Return the normal equations of a block, computed from sums over time or from states."""
    if solver == "structured":
        return problem.gather_gram(block)
    return problem.gather(Gram, Fold(block))


# Selection of the ridge --------------------------------------------------------------------------


def select_ridge(
    problems: Sequence[AbstractProblem],
    settings: Settings,
    fold: Fold,
    gathered: Sequence[PassResult] | None = None,
) -> SelectedRidge:
    """Return one ridge for all problems, which have the same rows and different outputs.

    "auto" maximises the likelihood of the training targets; among several ridges, the one with the
    smallest errors on held-out rows is selected. ``gathered`` are the statistics of the fold. If
    omitted, the statistics that the solver requires are computed.
    """
    if settings.ridge != "auto" and not settings.compares:
        return SelectedRidge(settings.ridge[0])
    if gathered is None:
        exact = settings.solver == "qr" or all(problem.is_small for problem in problems)
        if settings.solver == "gram" or not exact:
            selected = _select(problems, settings, fold, _gather(problems, Gram, fold))
            if settings.solver == "gram" or selected.is_resolved:
                return selected
        gathered = _gather(problems, Triangle, fold)
    return _select(problems, settings, fold, gathered)


def _gather(
    problems: Sequence[AbstractProblem], kind: type[Statistic], fold: Fold
) -> list[PassResult]:
    gathered = [problem.gather(kind, fold) for problem in problems]
    for problem, (total, held_out, _) in zip(problems, gathered, strict=True):
        problem.check_range(total, *held_out)
    return gathered


def _select(
    problems: Sequence[AbstractProblem],
    settings: Settings,
    fold: Fold,
    gathered: Sequence[PassResult],
) -> SelectedRidge:
    pairs = list(zip(problems, gathered, strict=True))
    if settings.ridge != "auto":
        errors = [
            problem.D_out * held_out_errors(total, last, problem.penalty, settings.ridge)
            for problem, (total, (last,), _) in pairs
        ]
        return SelectedRidge(settings.ridge[lowest(np.sum(errors, axis=0))])
    parts = []
    for problem, (total, _, _) in pairs:
        squares = None if total.is_exact else problem.squares(fold.train)
        parts.append(total.on_host.likelihood(problem.penalty, squares))
    selected = likeliest(parts)
    if settings.solver == "gram" and not selected.is_resolved:
        warn(
            f"The normal equations cannot resolve ridges below {selected.ridge:.0e}, but the "
            "targets have so little noise that a smaller ridge is needed. Use solver='qr'.",
            IllConditionedWarning,
        )
    return selected


def held_out_errors(
    train: Statistic, held_out: Triangle, penalty: Penalty, ridges: Sequence[float]
) -> Array:
    """Return mean squared errors on held-out rows, (ridges,), of readouts trained on ``train``.

    The errors are true residuals, relative to the size of each output in the held-out rows.
    """
    train, held_out = train.on_host, held_out.on_host
    size = held_out.squares
    check_targets(size, held_out.Z)
    size[size == 0] = 1.0
    errors = train.factorise(penalty).squared_errors(held_out, ridges)[0] / size
    return errors.mean(axis=1)


def lowest(errors: Sequence[float] | Array) -> int:
    """Return the index of the first smallest error, where NaN counts as infinite."""
    return int(np.argmin(np.where(np.isnan(errors), np.inf, errors)))
