"""Grid search over linear echo state networks, collapsed where the mathematics allows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from eigenecho.errors import bad_argument
from eigenecho.estimators import LinearESN
from eigenecho.estimators.shell import check_inputs, check_outputs
from eigenecho.grid_search.blocks import folds
from eigenecho.grid_search.evaluate import mean_squared_errors
from eigenecho.grid_search.grid import Group, check_names, expand, group
from eigenecho.grid_search.result import SearchResult
from eigenecho.model.rows import Fold
from eigenecho.model.train import check_lengths
from eigenecho.random import generator
from eigenecho.reservoir.memory import Memory
from eigenecho.types import Array

BATCH = 12
"""Reservoirs of one seed that are evaluated together. Fixed, so that results do not depend on
the number of workers."""


def search(
    estimator: LinearESN,
    grid: Any,
    X: Any,
    y: Any,
    *,
    validation: Any = 0.2,
    test: Any = None,
    seeds: Sequence[int] | None = None,
    refit: bool = True,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> SearchResult:
    """Score every combination of a grid on validation blocks, and fit the best.

    The reservoir runs on through training and validation rows in time order. States are computed
    once for all input scalings and ridges, and one factorisation serves them all; eigenvalues of
    random matrices are computed once for all radii and leaking rates. On long series reservoirs
    are trained from lagged correlations, which are computed once for all of them, wherever that
    is accurate enough to choose by. Models with feedback or y(t−1) in the readout are scored
    teacher-forced.

    Parameters
    ----------
    estimator : LinearESN
        Its parameters hold where the grid says nothing. Scores come from the orthogonal solver (or
        normal equations, where that would take minutes); ``solver`` counts when the best is fitted.
    grid : dict of lists, or list of such dicts
        As for scikit-learn's ``ParameterGrid``.
    X, y
        As for ``LinearESN.fit``.
    validation : float or list of (start, stop)
        The share, of the rows after the warmup, at the end of every series; or blocks of rows,
        each trained on all before it.
    test : (start, stop), optional
        Rows scored alongside, with the training rows of the last validation block, and never used
        to choose.
    seeds : sequence of int, optional
        Try each combination with all of them; the score is the mean. By default the estimator's.
    refit : bool
        Fit the best combination on all data, with the first seed.
    workers : int
        Processes, each with one BLAS thread. The numbers do not depend on it.
    progress : callable (done, total), optional
        Called as batches finish.

    Returns
    -------
    SearchResult
    """
    if not isinstance(estimator, LinearESN):
        raise bad_argument("estimator", estimator, "a LinearESN")
    if isinstance(workers, bool) or not isinstance(workers, (int, np.integer)) or workers < 1:
        raise bad_argument("workers", workers, "a number of processes, an int ≥ 1")
    combinations = expand(grid)
    base = estimator.get_params(deep=False)
    check_names(combinations, sorted(base))
    checked = clone(estimator)
    inputs, container = check_inputs(checked, X, reset=True)
    outputs, _ = check_outputs(y, container, estimator.dtype)
    if seeds is not None and not hasattr(seeds, "__len__"):
        raise bad_argument("seeds", seeds, "a list of ints", "range(10) gives ten of them.")
    if seeds is not None and not len(seeds):
        raise bad_argument("seeds", seeds, "at least one seed, or None for the estimator's")
    seeds = [_int_seed(base["seed"])] if seeds is None else list(seeds)
    if X is None:
        raise bad_argument("X", None, "an input series", "Search has no generators without input.")

    groups = group(base, combinations)
    lengths = [len(u) for u in inputs]
    split = []
    for one in groups:
        check_lengths(inputs, outputs, one.params["warmup"])
        split.append(folds(validation, test, lengths, one.params["warmup"]))
    batches = [
        (number, slice(start, start + BATCH))
        for number in range(len(seeds))
        for start in range(0, len(groups), BATCH)
    ]
    tasks = [(seeds[n], groups[part], split[part], inputs, outputs) for n, part in batches]
    blocks = sum(len(fold.held_out) for fold in split[0])
    errors = np.full((len(combinations), len(seeds), blocks), np.inf)
    for done, ((number, part), results) in enumerate(
        zip(batches, _run(tasks, workers), strict=True)
    ):
        for one, mse in zip(groups[part], results, strict=True):
            scalings, ridges = np.array(one.places).T
            errors[list(one.members), number] = np.sqrt(mse[:, scalings, ridges]).T
        if progress is not None:
            progress(done + 1, len(batches))
    test_errors = None
    if test is not None:
        errors, test_errors = errors[..., :-1], errors[..., -1]
    best = int(np.argmin(errors.mean(axis=(1, 2))))
    fitted = None
    if refit:
        params = {"seed": seeds[0]} | combinations[best]
        fitted = clone(estimator).set_params(**params).fit(X, y)
    return SearchResult(combinations, seeds, errors, best, fitted, test_errors)


def _int_seed(seed: Any) -> Any:
    """A seed that gives the same reservoir when it is scored and when it is fitted."""
    if isinstance(seed, (int, np.integer)):
        return seed
    return int(generator(seed).integers(2**31))


def _run(tasks: list[Any], workers: int) -> Iterator[list[Array]]:
    """The result of every task, in order."""
    from joblib import Parallel, delayed, parallel_config

    if workers == 1:
        for task in tasks:
            yield _batch(*task)
        return
    with parallel_config("loky", inner_max_num_threads=1):
        yield from Parallel(n_jobs=workers, return_as="generator")(
            delayed(_batch)(*task) for task in tasks
        )


def _batch(
    seed: Any,
    groups: list[Group],
    split: list[list[Fold]],
    inputs: Sequence[Array],
    outputs: Sequence[Array],
) -> list[Array]:
    memory: Memory = {}
    return [
        mean_squared_errors(one.with_seed(seed), inputs, outputs, fold, memory)
        for one, fold in zip(groups, split, strict=True)
    ]
