"""Selection of the ridge: by marginal likelihood, or by errors on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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
        expected = (
            "a single number, because the series are too short to hold out rows, or an output is "
            "missing in the last fifth or in all other rows"
        )
        raise bad_argument("ridge", settings.ridge, expected)
    return Fold(train, (last,))


def select_ridge(problem: AbstractProblem, settings: Settings, fold: Fold) -> SelectedRidge:
    """Return the ridge that the settings select on the training rows of a fold.

    Normal equations are computed first, unless rows are few or the solver is "qr".
    """
    if settings.solver != "qr" and not problem.is_small:
        selected = best_ridge(problem, settings, fold, _gather(problem, Gram, fold))
        if selected.is_resolved:
            return selected
    return best_ridge(problem, settings, fold, _gather(problem, Triangle, fold))


def _gather(problem: AbstractProblem, kind: type[Gram | Triangle], fold: Fold) -> PassResult:
    gathered = problem.gather(kind, fold)
    problem.check_range(gathered.statistics, *gathered.held_out)
    return gathered


def best_ridge(
    problem: AbstractProblem, settings: Settings, fold: Fold, gathered: PassResult
) -> SelectedRidge:
    """Return the ridge that the settings select, given the statistics of a problem.

    "auto" maximises the likelihood of the training targets; among several ridges, the one with the
    smallest errors on held-out rows is selected.
    """
    total, held_out, _ = gathered
    if settings.ridge == "auto":
        squares = problem.squares(fold.train) if isinstance(total, Gram) else None
        likelihood = total.on_host.likelihood(problem.penalty, squares)
        extra = problem.effective_rows(fold.train, total.rows) - total.rows
        return likeliest(replace(likelihood, rows=likelihood.rows + extra))
    if not settings.compares:
        return SelectedRidge(settings.ridge[0])
    (last,) = held_out
    errors = held_out_errors(total, last, problem.penalty, settings.ridge)
    return SelectedRidge(settings.ridge[lowest(errors)])


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
