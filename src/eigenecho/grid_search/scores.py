"""Validation errors of combinations that share a reservoir."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eigenecho.arrays import is_on_device
from eigenecho.errors import (
    IllConditionedWarning,
    UnstableError,
    UnstableWarning,
    Words,
    bad_argument,
)
from eigenecho.grid_search import candidates, stacked
from eigenecho.grid_search.candidates import head_eigenvalue
from eigenecho.grid_search.grid import Group
from eigenecho.grid_search.trial import Trial
from eigenecho.model.from_data import learn_spectrum
from eigenecho.model.loop_validation import loop_errors, select_ridge_by_loop
from eigenecho.readout import EPS, Factorisation, Gram, Triangle
from eigenecho.reservoir import Cache
from eigenecho.rows import Fold
from eigenecho.training import Problem, Settings, pose, select_ridge
from eigenecho.types import Array

Data = tuple[list[Array], list[Array]]
"""Inputs and outputs of all series, converted to the dtype of a network."""

HEAD_SUMMED = 1e-5
"""Smallest ``head_eigenvalue`` for which normal equations are accurate."""

SMALLEST = 1e-140
"""Magnitude of states below which squares underflow and no factorisation can be shared."""

COARSE = 1e4
"""Smallest √ridge that a factorisation with y(t−1) resolves, relative to its rounding error."""


def score_group(
    group: Group, seed: Any, data: Data, folds: Sequence[Fold], cache: Cache, score: str
) -> Array:
    """Return the score of each held-out block, (blocks, scalings, ridges).

    The score is the RMSE over rows and outputs or, if ``score`` is "loop", the mean error of
    forecasts. States are computed once per fold, and all scalings and ridges share a factorisation.
    Errors are computed from exact residuals, and are infinite if the reservoir overflows. ``seed``
    is used unless the grid contains seeds.
    """
    compute = _loop_errors if score == "loop" else _score
    shape = len(group.scalings), len(group.ridges)
    errors: list[Array] = []
    with warnings.catch_warnings():
        # Unstable and ill-conditioned combinations have poor scores.
        warnings.simplefilter("ignore", UnstableWarning)
        warnings.simplefilter("ignore", IllConditionedWarning)
        for fold in folds:
            try:
                errors += compute(_trial(group, seed, data, fold, cache))
            except UnstableError:
                errors += [np.full(shape, np.inf) for _ in fold.held_out]
    return np.array(errors)


def _trial(group: Group, seed: Any, data: Data, fold: Fold, cache: Cache) -> Trial:
    """Return the trial of a fold. Spectrum, scaling and ridge depend only on its training rows."""
    settings, seed = Settings.of(group.params), group.params.get("seed", seed)
    until = [stop for _, stop in fold.train]
    if settings.recipe.learns_spectrum:
        settings = learn_spectrum(settings, *data, seed, until=until)
    D_in, D_out = (series[0].shape[1] for series in data)
    problem = pose(settings, settings.draw(D_in, D_out, seed, cache), *data, until=until)
    _check_observed(problem, fold)
    values = group.ridges
    if settings.ridge == "loop":
        values = (select_ridge_by_loop(problem, fold.train),)
    auto = None
    if settings.ridge == "auto" and len(problem.parts) > 1:
        auto, values = settings, (np.nan,)
    elif settings.ridge == "auto":
        values = (select_ridge(problem, settings, Fold(fold.train)).ridge,)
    shape = len(group.scalings), len(group.ridges)
    ridges = np.tile(np.array(values), shape[0])
    scales = np.repeat(np.array(group.scalings), shape[1])
    recipe = settings.recipe
    flags = (settings.standardize, recipe.input_bias, settings.feedback, settings.fit_bias)
    key = (*flags, problem.head, str(np.dtype(recipe.dtype)))
    return Trial(problem, fold, shape, ridges, scales, cache, key, auto)


def _loop_errors(trial: Trial) -> list[Array]:
    """Return the mean error of the forecasts in each held-out block, (scalings, ridges)."""
    problem = trial.problem
    statistics = problem.gather(Triangle, Fold(trial.fold.train)).statistics.on_host
    problem.check_range(statistics)
    factorised = statistics.factorise(problem.penalty, problem.head)
    pairs = zip(trial.ridges, trial.scales, strict=True)
    weights = [factorised.weights(ridge, scale) for ridge, scale in pairs]
    blocks = trial.fold.held_out
    return [loop_errors(problem, block, weights).reshape(trial.shape) for block in blocks]


def _check_observed(problem: Problem, fold: Fold) -> None:
    """Raise if an output has no observed training row, or a held-out block has no observed row."""
    seen = problem.counts(fold.train)
    if not seen.all():
        got = Words(f"only NaN in column {np.argmin(seen)} before the validation block")
        raise bad_argument("y", got, "at least one training observation in each column")
    if not all(problem.counts(block).any() for block in fold.held_out):
        got = Words("only NaN in a validation or test block")
        raise bad_argument("y", got, "at least one observation in each block")


def _score(trial: Trial) -> list[Array]:
    """Return the RMSE of each held-out block, (scalings, ridges), in the original units."""
    if is_on_device(trial.problem.inputs[0]):
        blocks = stacked.errors_from_rows(trial)
    else:
        blocks = candidates.errors_from_lags(trial)
    if blocks is None:
        blocks = _errors_of_parts(trial)
    _, scaling = trial.problem.scalings
    scale = np.ones(trial.problem.D_out) if scaling is None else scaling.scale
    # Dividing by a power of two is exact and prevents overflow and underflow of the squares.
    unit = np.ldexp(1.0, np.frexp(scale.max())[1] - 1)
    return [
        unit * np.sqrt(np.mean(squared * (scale / unit) ** 2, axis=-1) / count).reshape(trial.shape)
        for squared, count in zip(blocks, trial.counts, strict=True)
    ]


def _errors_of_parts(trial: Trial) -> list[Array]:
    """Return squared residuals of each held-out block, (scalings, ridges, D_out).

    Outputs that are missing in different rows are trained separately.
    """
    blocks = [np.empty((*trial.shape, trial.problem.D_out)) for _ in trial.fold.held_out]
    for columns, part in trial.problem.parts:
        ridges = trial.ridges
        if trial.auto is not None:
            fold = Fold(trial.fold.train)
            ridges = np.full(len(ridges), select_ridge(part, trial.auto, fold).ridge)
        errors = _errors_from_states(replace(trial, problem=part, ridges=ridges))
        for block, squared in zip(blocks, errors, strict=True):
            block[..., columns] = squared
    return blocks


def _errors_from_states(trial: Trial) -> list[Array]:
    """Return squared residuals of each held-out block, (scalings, ridges, D_out), from states."""
    problem, head = trial.problem, trial.problem.head
    train, held_out, _ = problem.gather(Triangle if problem.is_small else Gram, trial.fold)
    problem.check_range(train)
    if isinstance(train, Gram) and head_eigenvalue(train, head) < HEAD_SUMMED:
        train, held_out, _ = problem.gather(Triangle, trial.fold)
    train, held_out = train.on_host, [block.on_host for block in held_out]
    problem.check_range(train, *held_out)
    factorised = train.factorise(problem.penalty, head)
    ridges = trial.ridges.reshape(trial.shape)[0]
    scales = trial.scales.reshape(trial.shape)[:, 0]
    blocks = [block.squared_errors(factorised, ridges, scales) for block in held_out]
    if isinstance(train, Triangle):
        for i, j in np.argwhere(_find_coarse(train, factorised, trial)):
            w = _scale_states(train, head, scales[i]).solve(problem.penalty, float(ridges[j]))
            for squared, block in zip(blocks, held_out, strict=True):
                squared[i, j] = _scale_states(block, head, scales[i]).squared_error(w)
    return blocks


def _find_coarse(train: Triangle, factorised: Factorisation, trial: Trial) -> Array:
    """Return a mask (scalings, ridges) of the combinations that must be solved separately.

    The rounding error of a factorisation is proportional to its largest singular value, which is
    large if the mean of the inputs is large. The rounding error of a separate solution depends on
    the size of each column.
    """
    if 0 < train.magnitude(trial.problem.head) < SMALLEST:
        return np.ones(trial.shape, bool)
    if not trial.problem.output_to_readout:
        return np.zeros(trial.shape, bool)
    roots = (np.sqrt(trial.ridges) / trial.scales).reshape(trial.shape)
    return roots < COARSE * EPS * factorised.S.max(initial=0.0)


def _scale_states(statistics: Triangle, head: int, scale: float) -> Triangle:
    """Return the statistics of rows whose states are multiplied by ``scale``."""
    R = statistics.R.copy()
    R[:, head:] *= scale
    return replace(statistics, R=R)
