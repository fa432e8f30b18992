"""Grid search in which combinations share states and factorisations."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from eigenecho.arrays import call_on_device, find_device, is_off_host, namespace, to_host
from eigenecho.checks import check_count, check_flag, check_known
from eigenecho.errors import UnstableWarning, bad_argument, warn
from eigenecho.estimators import LinearESN
from eigenecho.estimators.validation import check_target, target_kind, training_series
from eigenecho.grid_search.grid import Group, Params, expand, folds, group_combinations, int_seed
from eigenecho.grid_search.result import SearchResult
from eigenecho.grid_search.scores import Data, score_group
from eigenecho.progress import Report
from eigenecho.reservoir import Cache, per_feature
from eigenecho.rows import Fold
from eigenecho.threads import one_blas_thread
from eigenecho.training import Settings, check_lengths, lowest, parameters_of
from eigenecho.types import Array

BATCH = 12
"""Number of reservoirs per task. It is constant, so that results do not depend on the number of
workers."""


def search(
    estimator: LinearESN,
    grid: Any,
    X: Any,
    y: Any,
    *,
    validation: Any = 0.2,
    test: Any = None,
    seeds: Sequence[int] | None = None,
    score: str = "rmse",
    refit: bool = True,
    workers: int = 1,
    progress: Report | None = None,
) -> SearchResult:
    """Score every combination of a grid on validation blocks, and fit the best combination.

    Training and validation rows are processed in temporal order. States are computed once for all
    input scalings and ridges, which share a factorisation. The eigenvalues of random matrices are
    computed once for all radii and leaking rates. On long series, reservoirs are trained from
    lagged correlations of the inputs, which are computed once, if these are accurate enough. Models
    with feedback or y(t−1) in the readout are scored with teacher forcing. A score of NaN counts as
    infinite.

    Parameters
    ----------
    estimator : LinearESN
        Estimator that provides all parameters that are not in the grid. Scores are computed by the
        orthogonal solver, or by normal equations if these are accurate enough and the orthogonal
        solver would take minutes. ``solver`` is used to fit the best combination.
    grid : dict of lists, or list of such dicts
        Values of each parameter, as in ``ParameterGrid`` of scikit-learn. Pass a single value, such
        as a matrix or a ``Spectrum``, as a list with one element. A ``seed`` that is None or a
        Generator is converted to an int. A grid with seeds cannot be combined with ``seeds``.
    X, y : arrays or lists of arrays
        Inputs and targets, as in ``LinearESN.fit``. X may be None if all combinations have
        ``feedback``. Tensors are processed on their device, for all ridges and scalings of a
        reservoir together.
    validation : float or list of (start, stop)
        Fraction of the rows after the warmup, taken from the end of every series, or a list of
        blocks of rows. Each block is scored after training on all rows before it.
    test : (start, stop), optional
        Rows that are scored with the training rows of the last validation block, but are not used
        for the selection.
    seeds : sequence of int, optional
        Seeds with which each combination is trained. The score of a combination is the mean over
        the seeds. By default, only the seed of the estimator is used.
    score : {"rmse", "loop"}
        "rmse" is the error of one-step predictions. "loop" is the error of forecasts that start at
        several rows of each validation block, for networks that predict their own next input. It
        is the root mean square over outputs, in standard deviations of the targets and at most 1,
        averaged over steps and forecasts.
    refit : bool
        If True, fit the best combination to all data with the first seed.
    workers : int
        Number of processes, which does not affect the results. Inside a context such as
        ``joblib.parallel_config("dask")``, the workers of this backend are used. Tensors on a
        device are scored in this process.
    progress : callable (done, total), optional
        Function that is called when a batch of reservoirs is finished.

    Returns
    -------
    SearchResult
        The scores of all combinations, and the best estimator.

    See Also
    --------
    eigenecho.grid_search.SearchResult : Result of a search.
    eigenecho.LinearESN : ``ridge="auto"`` selects the ridge without a search.

    Examples
    --------
    >>> import eigenecho as ee
    >>> series = ee.tasks.mso(3, steps=400)
    >>> grid = {"sr": [0.5, 0.9], "ridge": [1e-10, 1e-2]}
    >>> result = ee.search(ee.LinearESN(50, warmup=50, seed=0), grid, series[:-1], series[1:])
    >>> result.best_params["ridge"]
    1e-10
    """
    if not isinstance(estimator, LinearESN):
        raise bad_argument("estimator", estimator, "a LinearESN")
    check_count(workers, "workers", "a number of processes", 1)
    check_known(score, "score", ("rmse", "loop"))
    check_flag(refit, "refit")
    combinations = expand(grid)
    if seeds is not None and any("seed" in combination for combination in combinations):
        raise bad_argument("seeds", seeds, "None, because the grid contains seeds")
    base = parameters_of(estimator)
    for name in dict.fromkeys(itertools.chain(*combinations)):
        check_known(name, "grid", sorted(base))
    seeds = _seeds(seeds, base.pop("seed"))
    device = find_device({"X": X, "y": y})
    apart = is_off_host(device)
    data = (X, y) if apart else to_host((X, y))

    def compute() -> Array:
        plan = _plan(base, combinations, data, validation, test)
        if score == "loop":
            check_target(target_kind(*plan[0][1]), "score='loop'")
        batches = partial(_run_batches, plan, score, 1 if apart else workers)
        return _score_plan(plan, seeds, len(combinations), batches, progress)

    errors = call_on_device(device, compute) if apart else compute()
    test_errors = None
    if test is not None:
        errors, test_errors = errors[..., :-1], errors[..., -1]
    scores = errors.mean(axis=(1, 2))
    best, fitted = lowest(scores), None
    _warn_if_useless(scores)
    if refit:
        fitted = clone(estimator)
        for name, value in ({"seed": seeds[0]} | combinations[best]).items():
            setattr(fitted, name, value)
        fitted.fit(X, y)
    return SearchResult(combinations, seeds, errors, best, fitted, test_errors)


Planned = tuple[Group, Data, list[Fold]]
"""A group of combinations, its data, and its folds."""

Batch = tuple[Any, slice]
"""A seed, and the part of the plan to score with this seed."""


def _plan(
    base: Params, combinations: list[Params], series: tuple[Any, Any], validation: Any, test: Any
) -> list[Planned]:
    """Return the groups of combinations that share a reservoir, with their data and folds."""
    X, y = series
    distinct = _with_every_value(base, combinations)
    for params in distinct:
        Settings.of(params)
    if X is None and not all(params["feedback"] for params in distinct):
        remedy = "A model without inputs requires feedback=True in every combination."
        raise bad_argument("X", None, "an input series", remedy)
    cache = Cache()

    def data(params: Params) -> Data:
        # The data depend on the dtype and on whether targets may be missing.
        drives = params["feedback"] or params["output_to_readout"]
        key = np.dtype(params["dtype"]), params["missing"] == "skip" and not drives
        return cache.once(key, lambda: training_series(Settings.of(params), X, y)[:2])

    inputs, outputs = data(distinct[0])
    for params in distinct:
        per_feature(params["input_scaling"], inputs[0].shape[1])
    xp = namespace(inputs[0])
    largest = max(float(xp.max(xp.abs(u), initial=0.0)) for u in inputs)
    plan = []
    for group in group_combinations(base, combinations, largest or 1.0):
        warmup = group.params["warmup"]
        check_lengths(inputs, outputs, warmup)
        split = folds(validation, test, [len(u) for u in inputs], warmup)
        plan.append((group, data(group.params), split))
    return plan


def _score_plan(
    plan: list[Planned],
    seeds: list[Any],
    combinations: int,
    run: Callable[[list[Batch]], Iterator[list[Array]]],
    progress: Report | None,
) -> Array:
    """Return the score of every combination, seed and block; test rows are the last block."""
    parts = [slice(start, start + BATCH) for start in range(0, len(plan), BATCH)]
    batches = [*itertools.product(enumerate(seeds), parts)]
    blocks = sum(len(fold.held_out) for fold in plan[0][2])
    errors = np.full((combinations, len(seeds), blocks), np.inf)
    results = run([(seed, part) for (_, seed), part in batches])
    for done, (((i, _), part), scores) in enumerate(zip(batches, results, strict=True), 1):
        for (group, _, _), blocks_of_group in zip(plan[part], scores, strict=True):
            members, scalings, ridges = np.transpose(group.members)
            errors[members, i] = blocks_of_group[:, scalings, ridges].T
        if progress is not None:
            progress(done, len(batches))
    return errors


def _seeds(seeds: Any, default: Any) -> list[Any]:
    """Return the seeds as a list of ints; the default is the seed of the estimator."""
    if seeds is None:
        return [int_seed(default)]
    if not hasattr(seeds, "__len__") or not len(seeds):
        raise bad_argument("seeds", seeds, "a list of at least one int, such as range(10)")
    return [int_seed(seed) for seed in seeds]


def _with_every_value(base: Params, combinations: list[Params]) -> list[Params]:
    """Return combinations that together contain every value of the grid.

    A product of lists repeats the same objects, and each parameter is checked separately. It is
    therefore sufficient to check these combinations.
    """
    seen: set[Any] = set()
    distinct = []
    for combination in combinations:
        # The set of names also matters, because other parameters are taken from the base.
        values = {frozenset(combination), *((name, id(v)) for name, v in combination.items())}
        if not values <= seen:
            seen |= values
            distinct.append(base | combination)
    return distinct


def _warn_if_useless(scores: Array) -> None:
    """Warn if no score is finite, or if all of them are 0."""
    if np.all(scores == 0):
        warn(
            "All scores are 0, because the targets or their squares are 0. Scale the targets, or "
            "use standardize=True.",
            UserWarning,
        )
    if not np.any(np.isfinite(scores)):
        warn(
            f"No combination has a finite score: {np.count_nonzero(np.isnan(scores))} of "
            f"{len(scores)} scores are NaN, and the others are infinite. Scale the data "
            "(standardize=True), or lower sr, lr or input_scaling in the grid.",
            UnstableWarning,
        )


def _run_batches(
    plan: list[Planned], score: str, workers: int, batches: list[Batch]
) -> Iterator[list[Array]]:
    """Yield the results of all batches, in order."""
    from joblib import Parallel, delayed, parallel_config
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    is_chosen = type(backend).__module__ != "joblib._parallel_backends"  # by the user
    with nullcontext() if is_chosen else parallel_config("loky", inner_max_num_threads=1):
        run = Parallel(n_jobs=-1 if is_chosen else workers, return_as="generator")
        parts = ((seed, plan[part]) for seed, part in batches)
        whole = slice(None)
        yield from run(delayed(_score_batch)(part, score, (seed, whole)) for seed, part in parts)


@one_blas_thread()
def _score_batch(plan: list[Planned], score: str, batch: Batch) -> list[Array]:
    (seed, part), cache = batch, Cache()
    return [
        score_group(group, seed, data, split, cache, score) for group, data, split in plan[part]
    ]
