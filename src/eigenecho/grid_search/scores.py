"""Validation errors of all combinations that share a reservoir."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenecho.arrays import to_host
from eigenecho.errors import (
    IllConditionedWarning,
    Shown,
    UnstableError,
    UnstableWarning,
    bad_argument,
    place,
)
from eigenecho.grid_search import lagged, stacked
from eigenecho.grid_search.grid import Group
from eigenecho.kernels import costs
from eigenecho.model.from_data import learn_spectrum
from eigenecho.readout import EPS, Factorised, Gram, Lags, Statistic, Triangle
from eigenecho.reservoir import Cache, Drawn
from eigenecho.threads import one_blas_thread
from eigenecho.training import Fold, Problem, Settings, check_range, gather, pose, select_ridge
from eigenecho.training.structured import applies, lags
from eigenecho.types import Array

Data = tuple[list[Array], list[Array]]
"""Inputs and outputs of all series, in the dtype of a network."""

HEAD_SUMMED = 1e-5
"""Smallest eigenvalue of the head's HᵀH, columns of length 1, that plain sums resolve."""

LARGEST = 1e150
"""States whose squares come near the end of the range."""

SMALLEST = 1e-140
"""States whose squares vanish, so that no factorisation of them can be shared."""

LARGE = 1 << 25
"""Numbers (rows times candidates) from which the outputs of all candidates take much memory."""

COARSE = 1e4
"""Root of the ridge, in roundings of the factorisation, that it resolves beside y(t−1)."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A problem, the rows held out, and what is tried on them.

    ``ridges`` and ``scales`` (C,) are those of all combinations, ridges varying fastest; ``shape``
    is (scalings, ridges). Trials that see the same rows share a ``cache``, where ``key`` is all
    that the rows depend on besides the reservoir.
    """

    problem: Problem
    fold: Fold
    shape: tuple[int, int]
    ridges: Array
    scales: Array
    cache: Cache
    key: tuple[Any, ...]

    @property
    def counts(self) -> list[float]:
        """The number of rows in each held-out block, those that are there; a mean over outputs."""
        return [float(self.problem.counts(block).mean()) for block in self.fold.held_out]

    @property
    def is_long(self) -> bool:
        """Whether a factorisation of the states is to be avoided, and can be."""
        problem, steps = self.problem, sum(stop for _, stop in self.fold.train)
        if problem.flops(steps) < costs.QUICK_FLOPS or not applies(problem):
            return False
        ridges = self.ridges
        return steps * ridges.size * problem.D_out <= LARGE and not np.any(ridges <= 0)

    def lags(self, K: int) -> Lags:
        """Correlations of the training rows over at least K lags."""
        known = self._once("lags", dict)
        if "lags" not in known or len(known["lags"].rho) < K:
            # A power of two, so that reservoirs a little slower need no correlations of their own.
            enough = 1 << (K - 1).bit_length()
            known["lags"] = lags(self.problem.in_double, self.fold.train, enough)
        return known["lags"]

    @property
    def head_eigenvalue(self) -> float:
        """The smallest eigenvalue of HᵀH over the training rows, columns of the head at length 1.

        1 for a single column. Of 1 and a y(t−1) with mean m and deviation σ it is about (σ/m)²,
        which sums have to tell from their rounding.
        """
        if self.problem.head < 2:
            return 1.0
        return self._once("head", self._smallest)

    def _smallest(self) -> float:
        block = enumerate(self.fold.train)
        parts = [to_host(self.problem.columns(i)[1][a:b]) for i, (a, b) in block]
        columns = np.concatenate(parts)
        for size in (np.abs(columns).max(axis=0), np.linalg.norm(columns, axis=0)):
            columns /= np.where(size > 0, size, 1.0)
        R = np.linalg.qr(columns, mode="r")
        return float(np.linalg.svd(R, compute_uv=False)[-1] ** 2)

    def check_scaled(self, statistics: Statistic) -> None:
        """States that stay in range under the inputs as they are may not under larger ones."""
        problem, scale = self.problem, self.scales.max()
        largest = min(LARGEST, float(np.finfo(problem.reservoir.dtype).max))
        if scale > 1 and not scale * statistics.magnitude(problem.head) < largest:
            raise problem.reservoir.overflowed("scaled states")

    def _once(self, name: str, make: Any) -> Any:
        rows = tuple(map(tuple, self.fold.train))
        return self.cache.once((name, self.key, rows), make)


@one_blas_thread()
def root_mean_squared_errors(
    group: Group, data: Data, folds: Sequence[Fold], cache: Cache
) -> Array:
    """RMSE of each held-out block, (blocks, scalings, ridges), over rows and outputs.

    The reservoir runs once a fold; one factorisation answers for all scalings and ridges. Errors
    are true residuals. A reservoir that overflows scores infinity.
    """
    settings = Settings.of(group.params)
    D_in, D_out = (series[0].shape[1] for series in data)
    with warnings.catch_warnings():
        # A search tries unstable and ill-conditioned corners on purpose; their scores tell.
        warnings.simplefilter("ignore", UnstableWarning)
        warnings.simplefilter("ignore", IllConditionedWarning)
        seed, drawn = group.params["seed"], None
        errors: list[Array] = []
        for fold in folds:
            if settings.recipe.is_learnt:  # from the rows before validation
                until = [stop for _, stop in fold.train]
                learned = learn_spectrum(settings, *data, seed, until=until)
                drawn = learned.draw(D_in, D_out, seed, cache)
            elif drawn is None:
                drawn = settings.draw(D_in, D_out, seed, cache)
            try:
                errors += _errors(_trial(settings, drawn, group, data, fold, cache))
            except UnstableError:
                errors += _one_by_one(group, data, fold, cache)
    return np.array(errors)


def _trial(
    settings: Settings, drawn: Drawn, group: Group, data: Data, fold: Fold, cache: Cache
) -> Trial:
    """The scaling comes from the rows before validation alone."""
    problem = pose(settings, drawn, *data, until=[stop for _, stop in fold.train])
    _check_observed(problem, fold)
    recipe = settings.recipe
    flags = (settings.standardize, recipe.input_bias, settings.feedback, settings.fit_bias)
    shape = len(group.scalings), len(group.ridges)
    given = group.ridges
    if "ridge" in group.params:  # the rows before validation choose it
        parts = [part for _, part in problem.parts]
        given = (select_ridge(parts, settings, Fold(fold.train)).ridge,)
    ridges = np.tile(np.array(given), shape[0])
    scales = np.repeat(np.array(group.scalings), shape[1])
    key = (*flags, problem.head, str(np.dtype(recipe.dtype)))
    return Trial(problem, fold, shape, ridges, scales, cache, key)


def _check_observed(problem: Problem, fold: Fold) -> None:
    """Raise where nothing is there to train an output on, or to score any of them by."""
    seen = problem.counts(fold.train)
    if not seen.all():
        got = Shown(f"nothing but NaN {place(column=int(np.argmin(seen)))} before validation")
        raise bad_argument("y", got, "at least one observation in each column to train on")
    if not all(problem.counts(block).any() for block in fold.held_out):
        got = Shown("nothing but NaN in a block of validation or test")
        raise bad_argument("y", got, "at least one observation in each block")


def _errors(trial: Trial) -> list[Array]:
    """RMSE of each held-out block, (scalings, ridges), in the caller's units."""
    found = None
    if stacked.stays(trial):
        found = stacked.squared_errors(trial)
    elif trial.is_long:
        found = lagged.squared_errors(trial)
    if found is None:
        found = _by_parts(trial)
    _, scaling = trial.problem.scalings
    scale = np.ones(trial.problem.D_out) if scaling is None else scaling.scale
    # A power of two, so that squares of the scale neither overflow nor vanish.
    unit = np.ldexp(1.0, np.frexp(scale.max())[1] - 1)
    return [
        unit * np.sqrt(np.mean(squared * (scale / unit) ** 2, axis=2) / count)
        for squared, count in zip(found, trial.counts, strict=True)
    ]


def _by_parts(trial: Trial) -> list[Array]:
    """The same by outputs that are missing at the same rows, (scalings, ridges, D_out)."""
    parts = trial.problem.parts
    if len(parts) == 1:
        return _by_states(trial)
    found = [np.empty((*trial.shape, trial.problem.D_out)) for _ in trial.fold.held_out]
    for columns, part in parts:
        for whole, squared in zip(found, _by_states(replace(trial, problem=part)), strict=True):
            whole[..., columns] = squared
    return found


def _by_states(trial: Trial) -> list[Array]:
    """Squared residuals of each held-out block, (scalings, ridges, D_out), from the states."""
    problem, head = trial.problem, trial.problem.head
    summed = not problem.is_small and trial.head_eigenvalue >= HEAD_SUMMED
    train, held_out, _ = gather(problem, Gram if summed else Triangle, trial.fold)
    train, held_out = train.on_host, [block.on_host for block in held_out]
    for statistics in (train, *held_out):
        check_range(statistics, problem.reservoir)
        trial.check_scaled(statistics)
    factorised = train.factorise(problem.penalty, head)
    ridges = trial.ridges.reshape(trial.shape)[0]
    scales = trial.scales.reshape(trial.shape)[:, 0]
    found = [factorised.squared_errors(block, ridges, scales) for block in held_out]
    if train.is_exact:
        for i, j in np.argwhere(_is_coarse(train, factorised, trial)):
            w = _times(train, head, scales[i]).solve(problem.penalty, float(ridges[j]))
            for squared, block in zip(found, held_out, strict=True):
                squared[i, j] = _times(block, head, scales[i]).squared_error(w)
    return found


def _is_coarse(train: Triangle, factorised: Factorised, trial: Trial) -> Array:
    """Which combinations, (scalings, ridges), one factorisation cannot answer for.

    It rounds by the largest of its singular values, which a level of the inputs that is large
    beside their changes makes large too; a solution of its own by each column.
    """
    if 0 < train.magnitude(trial.problem.head) < SMALLEST:
        return np.ones(trial.shape, bool)
    if not trial.problem.output_to_readout:
        return np.zeros(trial.shape, bool)
    roots = (np.sqrt(trial.ridges) / trial.scales).reshape(trial.shape)
    return roots < COARSE * EPS * factorised.S.max(initial=0.0)


def _times(statistics: Triangle, head: int, scale: float) -> Triangle:
    """The statistics of the same rows with all states multiplied."""
    R = statistics.R.copy()
    R[:, head:] *= scale
    return replace(statistics, R=R)


def _one_by_one(group: Group, data: Data, fold: Fold, cache: Cache) -> list[Array]:
    """Errors of each held-out block where states overflow at one scaling, perhaps not at others.

    A reservoir that overflows by itself scores infinity.
    """
    if group.scalings == (1.0,):
        return [np.full((1, len(group.ridges)), np.inf) for _ in fold.held_out]
    alone = [group.alone(scale) for scale in group.scalings]
    each = [root_mean_squared_errors(one, data, [fold], cache) for one in alone]
    return list(np.concatenate(each, axis=1))
