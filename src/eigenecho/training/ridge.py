"""Selection of the ridge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eigenecho.errors import IllConditionedWarning, warn
from eigenecho.readout import (
    Gram,
    Penalty,
    SelectedRidge,
    Statistic,
    Triangle,
    check_targets,
    likeliest,
)
from eigenecho.training.gather import Fold, Gathered, check_range
from eigenecho.training.problem import Problem
from eigenecho.training.settings import Settings
from eigenecho.types import Array


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
    found = [problem.gather(kind, fold) for problem in problems]
    for problem, (total, held_out, _) in zip(problems, found, strict=True):
        for statistics in (total, *held_out):
            check_range(statistics, problem.reservoir)
    return found


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
    for problem, known in each:
        squares = None if known.statistics.is_exact else problem.squares(fold.train)
        parts.append(known.statistics.on_host.likelihood(problem.penalty, squares))
    selected = likeliest(parts)
    if settings.solver == "gram" and not selected.is_resolved:
        warn(
            f"normal equations cannot tell ridges below {selected.ridge:.0e} from rounding, and "
            "the targets ask for one: they are nearly free of noise. solver='qr' resolves more.",
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
