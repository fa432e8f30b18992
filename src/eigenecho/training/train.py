"""Training a readout, by whichever solver is cheapest and loses no digits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eigenecho.arrays import to_host
from eigenecho.errors import bad_argument
from eigenecho.kernels import costs
from eigenecho.readout import Gram, NormalEquations, Remainder, Triangle, check_targets
from eigenecho.threads import one_blas_thread
from eigenecho.training.evidence import Evidence, GroupEvidence
from eigenecho.training.gather import Block, Fold, Gathered, check_range
from eigenecho.training.problem import Problem, hold_out
from eigenecho.training.refine import Refined, refine
from eigenecho.training.ridge import lowest, select_ridge
from eigenecho.training.settings import Settings
from eigenecho.training.structured import applies
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained readout: its evidence, the solver, and the last state of the last series.

    ``log_density`` is that of the targets, where the ridge was selected by it.
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
        raise bad_argument(
            "solver",
            "structured",
            "another solver where targets are missing: sums over time leave no row out",
            "solver='auto' takes one.",
        )
    columns, parts = zip(*problem.parts, strict=True)
    if len(parts) == 1:
        return _train_group(problem, settings)
    selected = select_ridge(parts, settings, _split(problem, settings))
    settings = replace(settings, ridge=selected.ridge)
    trained = [_train_group(part, settings) for part in parts]
    groups = tuple(one.evidence.groups[0] for one in trained)
    evidence = Evidence(groups, columns, np.empty(0))
    left = problem.in_double.round(problem.everything(settings.warmup), evidence.weights)
    # A solver that gave up and fell back would do so again.
    solver = next((one.solver for one in trained if one.solver != "qr"), "qr")
    return Trained(replace(evidence, scatter=to_host(left.scatter)), solver, trained[-1].end)


def _train_group(problem: Problem, settings: Settings) -> Trained:
    """Train outputs that are observed at the same rows."""
    fold = _split(problem, settings)
    for solver in _attempts(problem, settings.solver):
        if solver in ("gram", "qr"):
            return _directly(problem, settings, solver, fold)
        found = _refined(problem.in_double, settings, solver, fold)
        if found is not None:
            return found
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


def _directly(problem: Problem, settings: Settings, solver: str, fold: Fold) -> Trained:
    """Solve normal equations as they are, or an orthogonal factorisation."""
    gathered = problem.gather(Gram if solver == "gram" else Triangle, fold)
    total, held_out, ends = gathered
    for statistics in (total, *held_out):
        check_range(statistics, problem.reservoir)
    selected = select_ridge([problem], settings, fold, [gathered])
    penalty, ridge = problem.penalty, selected.ridge
    for last in held_out:
        total = total.merge_triangle(last)
    found = total.solve(penalty, ridge)
    weights = np.ascontiguousarray(to_host(found))
    whole, double = problem.everything(settings.warmup), problem.in_double
    XtE = None
    if not total.is_exact:  # from sums the residuals would be differences of large numbers
        left = double.gather(Remainder, Fold(whole), less=found).statistics
        scatter, XtE = to_host((left.EtE, left.XtE))
    elif ridge == 0 or problem.reservoir.dtype != np.float64:
        # Of rounded states, and of weights that no ridge holds, only a run tells the residuals.
        scatter = to_host(double.round(whole, found).scatter)
    else:
        scatter = to_host(total.scatter(found))
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

    def solved(block: Block, ridge: float) -> Refined | None:
        return _solved(problem, block, total, ridge, M)

    ridge = ridges[0]
    for last in fold.held_out:
        size = problem.squares(last)
        more, _, ends = _sums(problem, solver, last)
        check_targets(size, to_host(more.XtY))
        errors = []
        for candidate in ridges:
            found = solved(fold.train, candidate)
            if found is None:
                return None
            left = to_host(problem.round(last, found.w).squares)
            errors.append(np.mean(left / np.where(size > 0, size, 1.0)))
        ridge = ridges[lowest(errors)]
        total = total.merge(more)
    found = solved(problem.everything(settings.warmup), ridge)
    if found is None:
        return None
    weights, scatter = np.ascontiguousarray(to_host(found.w)), to_host(found.scatter)
    evidence = Evidence.of_one(GroupEvidence(total, penalty, ridge, weights, scatter))
    return Trained(evidence, solver, to_host(ends[-1]), log_density)


def _solved(
    problem: Problem, block: Block, statistics: Gram, ridge: float, M: Array | None
) -> Refined | None:
    """Return refined weights from the statistics of a block; ``M`` as in ``NormalEquations``."""
    system = NormalEquations.of(statistics.XtX, problem.penalty, ridge, M)
    if system is None or (ridge == 0 and not system.is_regular):
        return None
    return refine(problem.round(block, system.solve(statistics.XtY)), system)


def _sums(problem: Problem, solver: str, block: Block) -> Gathered:
    """Return normal equations of a block, from sums over time or from states."""
    if solver == "structured":
        return problem.gather_gram(block)
    return problem.gather(Gram, Fold(block))
