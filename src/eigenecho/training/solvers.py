"""Training of readouts, and its solvers: refined normal equations, and a QR factorisation.

Both have the signature solver(problem, settings, fold) → TrainedReadout. ``normal`` returns the
reason instead if it is not accurate; ``qr`` always is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenecho.arrays import to_host
from eigenecho.errors import IllConditionedWarning, warn
from eigenecho.kernels import costs
from eigenecho.readout import Gram, NormalEquations, Triangle, check_targets
from eigenecho.rows import Block, Fold
from eigenecho.threads import one_blas_thread
from eigenecho.training.evidence import Evidence
from eigenecho.training.passes import AbstractProblem, PassResult
from eigenecho.training.refine import RefinedWeights, refine
from eigenecho.training.selection import best_ridge, lowest, training_fold
from eigenecho.training.settings import Settings
from eigenecho.training.sums import applies, relative_costs, sums_pay
from eigenecho.types import Array

REFINABLE = 2e-17
"""Smallest 1/cond of equilibrated normal equations from which refinement usually converges."""

CHEAP = 0.1
"""Cost of a refinement, relative to QR, up to which it is tried for any condition number."""


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
    """Train a readout by the solver of the settings, or by QR if this is not accurate.

        w = argmin Σ_t ω(t) ‖y(t) − x(t) w‖² + α ‖L w‖²

    The sum is over the rows in which all outputs are observed. "auto" tries normal equations if
    sums over time are expected to be faster than QR, or if there are too many rows for QR. If later
    updates need all digits, QR may take longer.
    """
    fold, tried = training_fold(problem, settings), settings.solver == "normal"
    if settings.solver == "auto":
        quick = settings.updates and problem.qr_flops <= costs.QUICK_QR_FLOPS
        tried = not problem.is_small or (sums_pay(problem) and not quick)
    if not tried:
        return qr(problem, settings, fold)
    trained = normal(problem, settings, fold)
    if isinstance(trained, TrainedReadout):
        return trained
    if settings.solver == "normal":
        warn(f"solver='normal' was replaced by 'qr', because {trained}.", IllConditionedWarning)
    return qr(problem, settings, fold)


def qr(problem: AbstractProblem, settings: Settings, fold: Fold) -> TrainedReadout:
    """Train a readout by an orthogonal factorisation of its rows."""
    gathered = problem.gather(Triangle, fold)
    total, held_out, ends = gathered
    problem.check_range(total, *held_out)
    selected = best_ridge(problem, settings, fold, gathered)
    penalty, ridge = problem.penalty, selected.ridge
    for last in held_out:
        total = total.merge(last)
    solution = total.solve(penalty, ridge)
    weights = np.ascontiguousarray(to_host(solution))
    if ridge == 0 or problem.reservoir.dtype != np.float64:
        # For rounded states, and for weights without a ridge, the residuals need another pass.
        whole = problem.everything(settings.warmup)
        scatter = to_host(problem.in_double.with_weights(whole, solution).scatter)
    else:
        scatter = to_host(total.scatter(solution))
    count = problem.effective_rows(problem.everything(settings.warmup), total.rows)
    evidence = Evidence(total, penalty, ridge, weights, scatter, count)
    return TrainedReadout(evidence, "qr", to_host(ends[-1]), selected.log_density)


def normal(problem: AbstractProblem, settings: Settings, fold: Fold) -> TrainedReadout | str:
    """Train a readout by refined normal equations, or return the reason why this failed."""
    problem = problem.in_double
    penalty, ridges, log_density = problem.penalty, settings.ridge, None
    gathered = _sums(problem, fold.train)
    total, _, ends = gathered
    problem.check_range(total)
    if ridges == "auto":
        selected = best_ridge(problem, settings, fold, gathered)
        if not selected.is_resolved:
            return "the ridge is not larger than the rounding errors of normal equations"
        ridges, log_density = (selected.ridge,), selected.log_density
    M = penalty.gram(total.XtX) if any(ridges) and penalty.basis is not None else None
    is_cheap = relative_costs(problem)[1] <= CHEAP

    def refined(block: Block, ridge: float) -> RefinedWeights | None:
        system = NormalEquations.of(total.XtX, penalty, ridge, M)
        if system is None or not _may_converge(system, is_cheap):
            return None
        return refine(problem.with_weights(block, system.solve(total.XtY)), system)

    failed = "the normal equations have too few digits"
    ridge = ridges[0]
    for last in fold.held_out:
        size = problem.squares(last)
        more, _, ends = _sums(problem, last)
        check_targets(size, to_host(more.XtY))
        errors = []
        for candidate in ridges:
            trial = refined(fold.train, candidate)
            if trial is None:
                return failed
            left = to_host(problem.with_weights(last, trial.w).squares)
            errors.append(np.mean(left / np.where(size > 0, size, 1.0)))
        ridge = ridges[lowest(errors)]
        total = total.merge(more)
    solution = refined(problem.everything(settings.warmup), ridge)
    if solution is None:
        return failed
    weights, scatter = np.ascontiguousarray(to_host(solution.w)), to_host(solution.scatter)
    count = problem.effective_rows(problem.everything(settings.warmup), total.rows)
    evidence = Evidence(total, penalty, ridge, weights, scatter, count)
    return TrainedReadout(evidence, "normal", to_host(ends[-1]), log_density)


def _may_converge(system: NormalEquations, is_cheap: bool) -> bool:
    """Return True if a refinement is worth a try; a cheap one is, whatever the condition."""
    if system.ridge == 0:
        return system.is_regular
    # For many units, estimating the condition takes as long as a refinement.
    return is_cheap or system.rcond >= REFINABLE


def _sums(problem: AbstractProblem, block: Block) -> PassResult:
    """Return the normal equations of a block, from sums over time or else from states."""
    if applies(problem):
        return problem.gather_gram(block)
    return problem.gather(Gram, Fold(block))
