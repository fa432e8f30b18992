"""Training a readout by the cheapest solver that loses no digits, and selecting its ridge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from eigenecho.arrays import to_host
from eigenecho.errors import IllConditionedWarning, bad_argument, warn
from eigenecho.kernels import costs
from eigenecho.readout import (
    Gram,
    NormalEquations,
    Penalty,
    Remainder,
    SelectedRidge,
    Statistic,
    Triangle,
    check_targets,
    likeliest,
)
from eigenecho.threads import one_blas_thread
from eigenecho.training.evidence import Evidence, GroupEvidence
from eigenecho.training.gather import Block, Fold, Gathered, check_range
from eigenecho.training.problem import Problem, Settings
from eigenecho.training.refine import Refined, refine
from eigenecho.training.structured import applies
from eigenecho.types import Array

HELD_OUT = 0.2
"""Share of each series, at its end, on which several ridges are compared."""


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained readout: its evidence, the solver, and the last state of the last series.

    ``log_density`` is the log density of the targets, if the ridge was selected by it.
    """

    evidence: Evidence
    solver: str
    end: Array
    log_density: float | None = None


@one_blas_thread()
def train(problem: Problem, settings: Settings) -> Trained:
    """Train a readout, each output on the rows where it is observed.

        w_d = argmin Σ_{t: y_d(t) is observed} (y_d(t) − x(t) w)² + α ‖L w‖²

    One ridge is selected for all outputs. Outputs with the same missing rows are trained together.
    """
    if problem.observed is not None and settings.solver == "structured":
        expected = "another solver if targets are missing: sums over time cannot leave rows out"
        raise bad_argument("solver", "structured", expected, "Use solver='auto'.")
    columns, parts = zip(*problem.parts, strict=True)
    if len(parts) == 1:
        return _train_group(problem, settings)
    selected = select_ridge(parts, settings, _split(problem, settings))
    settings = replace(settings, ridge=selected.ridge)
    trained = [_train_group(part, settings) for part in parts]
    groups = tuple(each.evidence.groups[0] for each in trained)
    evidence = Evidence(groups, columns, np.empty(0))
    left = problem.in_double.round(problem.everything(settings.warmup), evidence.weights)
    # A solver that failed and fell back to QR would do so again.
    solver = next((each.solver for each in trained if each.solver != "qr"), "qr")
    return Trained(replace(evidence, scatter=to_host(left.scatter)), solver, trained[-1].end)


def _train_group(problem: Problem, settings: Settings) -> Trained:
    """Train outputs that are observed at the same rows."""
    fold = _split(problem, settings)
    for solver in _attempts(problem, settings.solver):
        if solver in ("gram", "qr"):
            return _directly(problem, settings, solver, fold)
        trained = _refined(problem.in_double, settings, solver, fold)
        if trained is not None:
            return trained
    raise AssertionError("the last solver that is tried always has an answer")


def _attempts(problem: Problem, solver: str) -> tuple[str, ...]:
    """Return the solvers to try in turn; a refined one gives up if it cannot reach all digits."""
    if solver in ("gram", "qr"):
        return (solver,)
    if solver == "refined":
        return ("refined", "qr")
    if (solver == "structured" or problem.flops() > costs.QUICK_FLOPS) and applies(problem):
        return ("structured", "qr")
    return ("qr",) if problem.is_small else ("refined", "qr")


def _split(problem: Problem, settings: Settings) -> Fold:
    """Return the rows to train on, and the last rows held out if ridges are compared."""
    if settings.compares:
        return hold_out(problem, settings)
    return Fold(problem.everything(settings.warmup))


def hold_out(problem: Problem, settings: Settings) -> Fold:
    """Return all rows after the warmup, the last fifth of each series held out."""
    everything = problem.everything(settings.warmup)
    cuts = [stop - round(HELD_OUT * (stop - start)) for start, stop in everything]
    train = [(start, cut) for (start, _), cut in zip(everything, cuts, strict=True)]
    last = [(cut, stop) for (_, stop), cut in zip(everything, cuts, strict=True)]
    if not (problem.counts(train).all() and problem.counts(last).any()):
        expected = "one value: the series are too short to hold out rows and choose among several"
        raise bad_argument("ridge", settings.ridge, expected)
    return Fold(train, (last,))


def _directly(problem: Problem, settings: Settings, solver: str, fold: Fold) -> Trained:
    """Solve normal equations without refinement, or an orthogonal factorisation."""
    gathered = problem.gather(Gram if solver == "gram" else Triangle, fold)
    total, held_out, ends = gathered
    for statistics in (total, *held_out):
        check_range(statistics, problem.reservoir)
    selected = select_ridge([problem], settings, fold, [gathered])
    penalty, ridge = problem.penalty, selected.ridge
    for last in held_out:
        total = total.merge_triangle(last)
    solution = total.solve(penalty, ridge)
    weights = np.ascontiguousarray(to_host(solution))
    whole, double = problem.everything(settings.warmup), problem.in_double
    XtE = None
    if not total.is_exact:  # from sums the residuals would be differences of large numbers
        left = double.gather(Remainder, Fold(whole), less=solution).statistics
        scatter, XtE = to_host((left.EtE, left.XtE))
    elif ridge == 0 or problem.reservoir.dtype != np.float64:
        # For rounded states, and for weights without a ridge, the residuals need another pass.
        scatter = to_host(double.round(whole, solution).scatter)
    else:
        scatter = to_host(total.scatter(solution))
    group = GroupEvidence(total, penalty, ridge, weights, scatter, XtE)
    return Trained(Evidence.of_one(group), solver, to_host(ends[-1]), selected.log_density)


def _refined(problem: Problem, settings: Settings, solver: str, fold: Fold) -> Trained | None:
    """Refine normal equations on true residuals; return None if that does not converge."""
    penalty, ridges = problem.penalty, settings.ridge
    gathered = _sums(problem, solver, fold.train)
    total, _, ends = gathered
    check_range(total, problem.reservoir)
    log_density = None
    if ridges == "auto":
        selected = select_ridge([problem], settings, fold, [gathered])
        if not selected.is_resolved:
            return None
        ridges, log_density = (selected.ridge,), selected.log_density
    M = penalty.gram(total.XtX) if any(ridges) and penalty.basis is not None else None

    def solve(block: Block, ridge: float) -> Refined | None:
        system = NormalEquations.of(total.XtX, penalty, ridge, M)
        if system is None or (ridge == 0 and not system.is_regular):
            return None
        return refine(problem.round(block, system.solve(total.XtY)), system)

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
            left = to_host(problem.round(last, refined.w).squares)
            errors.append(np.mean(left / np.where(size > 0, size, 1.0)))
        ridge = ridges[lowest(errors)]
        total = total.merge(more)
    refined = solve(problem.everything(settings.warmup), ridge)
    if refined is None:
        return None
    weights, scatter = np.ascontiguousarray(to_host(refined.w)), to_host(refined.scatter)
    evidence = Evidence.of_one(GroupEvidence(total, penalty, ridge, weights, scatter))
    return Trained(evidence, solver, to_host(ends[-1]), log_density)


def _sums(problem: Problem, solver: str, block: Block) -> Gathered:
    """Return normal equations of a block, from sums over time or from states."""
    if solver == "structured":
        return problem.gather_gram(block)
    return problem.gather(Gram, Fold(block))


# Selection of the ridge --------------------------------------------------------------------------


def select_ridge(
    problems: Sequence[Problem],
    settings: Settings,
    fold: Fold,
    gathered: Sequence[Gathered] | None = None,
) -> SelectedRidge:
    """Return one ridge for all problems, which have the same rows and different outputs.

    "auto" is the ridge under which the training targets are likeliest; of several ridges, the one
    with the smallest errors on held-out rows is selected. ``gathered`` are the statistics of the
    fold; if they are not given, they are gathered as the solver needs them.
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


def _gather(problems: Sequence[Problem], kind: type[Statistic], fold: Fold) -> list[Gathered]:
    gathered = [problem.gather(kind, fold) for problem in problems]
    for problem, (total, held_out, _) in zip(problems, gathered, strict=True):
        for statistics in (total, *held_out):
            check_range(statistics, problem.reservoir)
    return gathered


def _select(
    problems: Sequence[Problem], settings: Settings, fold: Fold, gathered: Sequence[Gathered]
) -> SelectedRidge:
    each = list(zip(problems, gathered, strict=True))
    if settings.ridge != "auto":
        errors = [
            problem.D_out * held_out_errors(total, last, problem.penalty, settings.ridge)
            for problem, (total, (last,), _) in each
        ]
        return SelectedRidge(settings.ridge[lowest(np.sum(errors, axis=0))])
    parts = []
    for problem, (total, _, _) in each:
        squares = None if total.is_exact else problem.squares(fold.train)
        parts.append(total.on_host.likelihood(problem.penalty, squares))
    selected = likeliest(parts)
    if settings.solver == "gram" and not selected.is_resolved:
        warn(
            f"normal equations cannot resolve ridges below {selected.ridge:.0e}, and the targets, "
            "which have little noise, need a smaller one. Use solver='qr'.",
            IllConditionedWarning,
        )
    return selected


def held_out_errors(
    train: Statistic, held_out: Triangle, penalty: Penalty, ridges: Sequence[float]
) -> Array:
    """Return mean squared errors on held-out rows, (ridges,), of readouts trained on ``train``.

    They are true residuals, each output relative to its size there.
    """
    train, held_out = train.on_host, held_out.on_host
    size = held_out.squares
    check_targets(size, held_out.Z)
    size[size == 0] = 1.0
    errors = train.factorise(penalty).squared_errors(held_out, ridges)[0] / size
    return errors.mean(axis=1)


def lowest(errors: Sequence[float] | Array) -> int:
    """Return the place of the smallest error, the first of equals; NaN counts as infinite."""
    return int(np.argmin(np.where(np.isnan(errors), np.inf, errors)))
