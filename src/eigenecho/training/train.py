"""Training a readout, by whichever solver is cheapest and loses no digits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from eigenecho.kernels import costs
from eigenecho.readout import (
    Gram,
    NormalEquations,
    Remainder,
    Triangle,
    check_targets,
    held_out_errors,
    solve,
)
from eigenecho.tensors import to_host
from eigenecho.threads import one_blas_thread
from eigenecho.training.evidence import Evidence
from eigenecho.training.gather import Gathered, check_range
from eigenecho.training.passes import Passes
from eigenecho.training.problem import Block, Fold, Problem, Settings, to_choose_by
from eigenecho.training.refine import Refined, refine
from eigenecho.training.ridges import by_blocks, by_likelihood, warn_if_unresolved
from eigenecho.training.structured import applies
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class Trained:
    """Weights and what led to them, the solver, and the state that the last series ended in.

    ``log_density`` is that of the targets, where the ridge was chosen by it.
    """

    evidence: Evidence
    solver: str
    end: Array
    log_density: float | None = None


def train(problem: Problem, settings: Settings) -> Trained:
    """Weights of a readout; of several ridges, the one that predicts held-out rows best."""
    return train_by(Passes(problem), settings)


@one_blas_thread()
def train_by(passes: Passes, settings: Settings) -> Trained:
    """The same by passes over rows, wherever these lie."""
    problem = passes.problem
    if settings.ridge == "blocks":
        ridge = by_blocks([passes], problem.everything(settings.warmup))
        settings = replace(settings, ridge=ridge)
    fold = _split(problem, settings)
    for solver in _attempts(problem, settings.solver):
        if solver in ("gram", "qr"):
            return _directly(passes, settings, solver, fold)
        found = _refined(passes.in_double, settings, solver, fold)
        if found is not None:
            return found
    raise AssertionError("the last solver that is tried always has an answer")


def _attempts(problem: Problem, solver: str) -> tuple[str, ...]:
    """The solvers to try in turn; a refined one gives up where it cannot reach all digits."""
    if solver in ("gram", "qr"):
        return (solver,)
    if solver == "refined":
        return ("refined", "qr")
    if (solver == "structured" or problem.flops() > costs.QUICK_FLOPS) and applies(problem):
        return ("structured", "qr")
    return ("qr",) if problem.is_small else ("refined", "qr")


def _split(problem: Problem, settings: Settings) -> Fold:
    """Rows to train on, and those at the end by which one of several ridges is chosen."""
    if settings.compares:
        return to_choose_by(problem, settings)
    return Fold(problem.everything(settings.warmup))


def _directly(passes: Passes, settings: Settings, solver: str, fold: Fold) -> Trained:
    """By normal equations as they are, or by an orthogonal factorisation."""
    problem = passes.problem
    total, held_out, ends = passes.gather(Gram if solver == "gram" else Triangle, fold)
    for statistics in (total, *held_out):
        check_range(statistics, problem.reservoir)
    penalty, log_density = problem.penalty, None
    if settings.ridge == "auto":
        chosen = by_likelihood([passes], [total], fold.train)
        warn_if_unresolved(chosen, total)
        ridge, log_density = chosen.ridge, chosen.log_density
    else:
        ridge = settings.ridge[0]
    for last in held_out:
        errors = held_out_errors(total.on_host, last.on_host, penalty, settings.ridge)
        ridge = settings.ridge[lowest(errors)]
        total = total.merge(last.gram() if solver == "gram" else last)
    found = solve(total, penalty, ridge)
    weights = np.ascontiguousarray(to_host(found))
    whole, double = problem.everything(settings.warmup), passes.in_double
    if isinstance(total, Gram):  # from sums the residuals would be differences of large numbers
        left = double.gather(Remainder, Fold(whole), less=found).statistics
        evidence = Evidence(total, penalty, ridge, weights, *to_host((left.EtE, left.XtE)))
    else:
        # Of rounded states, and of weights that no ridge holds, a run alone tells the residuals.
        if ridge == 0 or problem.reservoir.dtype != np.float64:
            scatter = double.round(whole, found).scatter
        else:
            scatter = total.scatter(found)
        evidence = Evidence(total, penalty, ridge, weights, to_host(scatter))
    return Trained(evidence, solver, to_host(ends[-1]), log_density)


def _refined(passes: Passes, settings: Settings, solver: str, fold: Fold) -> Trained | None:
    """By normal equations, refined on true residuals; None where that does not get there."""
    problem, penalty, ridges = passes.problem, passes.problem.penalty, settings.ridge
    total, _, ends = _sums(passes, solver, fold.train)
    check_range(total, problem.reservoir)
    log_density = None
    if ridges == "auto":
        chosen = by_likelihood([passes], [total], fold.train)
        if not chosen.is_resolved:
            return None
        ridges, log_density = (chosen.ridge,), chosen.log_density
    M = penalty.gram(total.XtX) if any(ridges) and penalty.basis is not None else None

    def solved(block: Block, ridge: float) -> Refined | None:
        return _solved(passes, block, total, ridge, M)

    ridge = ridges[0]
    for last in fold.held_out:
        size = passes.squares(last)
        check_targets(size, to_host(total.XtY))
        errors = []
        for candidate in ridges:
            found = solved(fold.train, candidate)
            if found is None:
                return None
            left = to_host(passes.round(last, found.w).squares)
            errors.append(np.mean(left / np.where(size > 0, size, 1.0)))
        ridge = ridges[lowest(errors)]
        more, _, ends = _sums(passes, solver, last)
        total = total.merge(more)
    found = solved(problem.everything(settings.warmup), ridge)
    if found is None:
        return None
    weights, scatter = np.ascontiguousarray(to_host(found.w)), to_host(found.scatter)
    evidence = Evidence(total, penalty, ridge, weights, scatter)
    return Trained(evidence, solver, to_host(ends[-1]), log_density)


def _solved(
    passes: Passes, block: Block, statistics: Gram, ridge: float, M: Array | None
) -> Refined | None:
    """Weights over a block whose statistics are known, refined; ``M`` as in ``NormalEquations``."""
    system = NormalEquations.of(statistics, passes.problem.penalty, ridge, M)
    if system is None or (ridge == 0 and not system.is_regular):
        return None
    return refine(passes.round(block, system.solve(statistics.XtY)), system)


def _sums(passes: Passes, solver: str, block: Block) -> Gathered:
    """Normal equations of a block, from sums over time or from states."""
    if solver == "structured":
        return passes.gather_gram(block)
    return passes.gather(Gram, Fold(block))


def lowest(errors: Sequence[float] | Array) -> int:
    """The place of the smallest error, the first of equals; one that is not a number loses."""
    return int(np.argmin(np.where(np.isnan(errors), np.inf, errors)))
