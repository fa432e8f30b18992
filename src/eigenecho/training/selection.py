"""Selection of the ridge: by marginal likelihood, or by errors on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eigenecho.errors import bad_argument
from eigenecho.readout import (
    Gram,
    Penalty,
    SelectedRidge,
    Statistic,
    Triangle,
    check_targets,
    likeliest,
)
from eigenecho.rows import Fold
from eigenecho.training.passes import AbstractProblem, PassResult
from eigenecho.training.settings import Settings
from eigenecho.types import Array

HELD_OUT = 0.2
"""Fraction of each series, at its end, that is held out to compare several ridges."""


def training_fold(problem: AbstractProblem, settings: Settings) -> Fold:
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


def select_ridge(
    problems: Sequence[AbstractProblem], settings: Settings, fold: Fold
) -> SelectedRidge:
    """Return one ridge for all problems, which have the same rows and different outputs.

    Normal equations are computed first, unless rows are few or the solver is "qr".
    """
    if settings.ridge != "auto" and not settings.compares:
        return SelectedRidge(settings.ridge[0])
    if settings.solver != "qr" and not all(problem.is_small for problem in problems):
        selected = best_ridge(problems, settings, fold, _gather(problems, Gram, fold))
        if selected.is_resolved:
            return selected
    return best_ridge(problems, settings, fold, _gather(problems, Triangle, fold))


def _gather(
    problems: Sequence[AbstractProblem], kind: type[Gram | Triangle], fold: Fold
) -> list[PassResult]:
    gathered = [problem.gather(kind, fold) for problem in problems]
    for problem, (total, held_out, _) in zip(problems, gathered, strict=True):
        problem.check_range(total, *held_out)
    return gathered


def best_ridge(
    problems: Sequence[AbstractProblem],
    settings: Settings,
    fold: Fold,
    gathered: Sequence[PassResult],
) -> SelectedRidge:
    """Return the ridge that the settings select, given the statistics of each problem.

    "auto" maximises the likelihood of the training targets; among several ridges, the one with the
    smallest errors on held-out rows is selected.
    """
    if settings.ridge != "auto" and not settings.compares:
        return SelectedRidge(settings.ridge[0])
    pairs = list(zip(problems, gathered, strict=True))
    if settings.ridge != "auto":
        errors = [
            problem.D_out * held_out_errors(total, last, problem.penalty, settings.ridge)
            for problem, (total, (last,), _) in pairs
        ]
        return SelectedRidge(settings.ridge[lowest(np.sum(errors, axis=0))])
    parts = []
    for problem, (total, _, _) in pairs:
        squares = problem.squares(fold.train) if isinstance(total, Gram) else None
        parts.append(total.on_host.likelihood(problem.penalty, squares))
    return likeliest(parts)


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
    errors = held_out.squared_errors(train.factorise(penalty), ridges)[0] / size
    return errors.mean(axis=1)


def lowest(errors: Sequence[float] | Array) -> int:
    """Return the index of the first smallest error, where NaN counts as infinite."""
    return int(np.argmin(np.where(np.isnan(errors), np.inf, errors)))
