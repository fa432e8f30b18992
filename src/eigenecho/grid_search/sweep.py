"""Grid search over linear echo state networks, collapsed where the mathematics allows it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from eigenecho.arrays import namespace
from eigenecho.checks import check_count, check_in_memory, generator
from eigenecho.clients import on_client
from eigenecho.errors import UnstableWarning, bad_argument, warn
from eigenecho.estimators import LinearESN
from eigenecho.estimators.validation import training_series
from eigenecho.grid_search.grid import Group, Params, check_names, expand, folds, group
from eigenecho.grid_search.result import SearchResult
from eigenecho.grid_search.scores import Data, root_mean_squared_errors
from eigenecho.progress import Report
from eigenecho.reservoir import Cache, per_feature
from eigenecho.tensors import device_of, is_apart, to_host, with_memory
from eigenecho.threads import one_blas_thread
from eigenecho.training import Fold, Settings, check_lengths, lowest
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
    client: Any = None,
    progress: Report | None = None,
) -> SearchResult:
    """Score every combination of a grid on validation blocks, and fit the best.

    The reservoir runs on through training and validation rows in time order. States are computed
    once for all input scalings and ridges, and one factorisation serves them all; eigenvalues of
    random matrices are computed once for all radii and leaking rates. On long series reservoirs
    are trained from lagged correlations, which are computed once for all of them, wherever that
    is accurate enough to choose by. Models with feedback or y(t−1) in the readout are scored
    teacher-forced. A combination whose score is not a number loses.

    Parameters
    ----------
    estimator : LinearESN
        Its parameters hold where the grid says nothing. Scores come from the orthogonal solver (or
        normal equations, where that would take minutes and they resolve the head of the readout);
        ``solver`` counts when the best is fitted.
    grid : dict of lists, or list of such dicts
        As for scikit-learn's ``ParameterGrid``: a single value, such as one matrix or one
        ``Spectrum``, is a list of one. A ``seed`` that is None or a Generator becomes an int; a
        grid that lists seeds excludes ``seeds``.
    X, y : arrays or lists of arrays
        As for ``LinearESN.fit``: with ``feedback`` in all combinations X may be None. Tensors of a
        device are scored there, all ridges and scalings of a reservoir together.
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
        Processes, each with one BLAS thread. The numbers do not depend on it. Inside of
        ``joblib.parallel_config("dask")``, or of another backend, they are that one's. Tensors of
        a device are scored by this process alone.
    client : distributed.Client, optional
        A Dask cluster whose workers do it instead; the data go there once.
    progress : callable (done, total), optional
        Called as batches finish.

    Returns
    -------
    SearchResult

    See Also
    --------
    eigenecho.grid_search.SearchResult : what comes back
    eigenecho.LinearESN : ``ridge="auto"`` needs no search

    Examples
    --------
    >>> import eigenecho as ee
    >>> series = ee.tasks.mso(3, steps=400)
    >>> grid = {"sr": [0.5, 0.9], "ridge": [1e-10, 1e-2]}
    >>> found = ee.search(ee.LinearESN(50, warmup=50, seed=0), grid, series[:-1], series[1:])
    >>> found.best_params["ridge"]
    1e-10
    """
    if not isinstance(estimator, LinearESN):
        raise bad_argument("estimator", estimator, "a LinearESN")
    check_count(workers, "workers", "a number of processes", 1)
    combinations = _with_int_seeds(expand(grid))
    if seeds is not None and any("seed" in one for one in combinations):
        raise bad_argument("seeds", seeds, "None: the grid lists seeds", "Leave one of them out.")
    base = estimator.get_params(deep=False)
    check_names(combinations, sorted(base))
    seeds = _seeds(seeds, base["seed"])
    check_in_memory({"X": X, "y": y})
    device = device_of({"X": X, "y": y})
    apart = is_apart(device) and client is None
    given = (X, y) if apart else to_host((X, y))
    score = partial(_scored, base, combinations, seeds, validation, test)
    tasks = given, (1 if apart else workers, client), progress
    errors = with_memory(device, score, *tasks) if apart else score(*tasks)
    test_errors = None
    if test is not None:
        errors, test_errors = errors[..., :-1], errors[..., -1]
    scores = errors.mean(axis=(1, 2))
    best, fitted = lowest(scores), None
    _warn_if_useless(scores)
    if refit:
        params = {"seed": seeds[0]} | combinations[best]
        fitted = clone(estimator).set_params(**params).fit(X, y)
    return SearchResult(combinations, seeds, errors, best, fitted, test_errors)


def _scored(
    base: Params,
    combinations: list[Params],
    seeds: list[Any],
    validation: Any,
    test: Any,
    given: tuple[Any, Any],
    who: tuple[int, Any],
    progress: Report | None,
) -> Array:
    """RMSE of every combination, seed and block, that of test rows last."""
    distinct = _with_every_value(base, combinations)
    _check_settings(distinct, given[0])
    cache = Cache()
    inputs, outputs = _data(distinct[0], given, cache)
    scalings = {id(params["input_scaling"]): params["input_scaling"] for params in distinct}
    for scaling in scalings.values():
        per_feature(scaling, inputs[0].shape[1])
    largest = max(_largest(u) for u in inputs)
    plan = []
    for one in group(base, combinations, largest or 1.0):
        warmup = one.params["warmup"]
        check_lengths(inputs, outputs, warmup)
        split = folds(validation, test, [len(u) for u in inputs], warmup)
        plan.append((one, _data(one.params, given, cache), split))
    return _errors(plan, seeds, len(combinations), who, progress)


def _largest(u: Array) -> float:
    xp = namespace(u)
    return float(xp.max(xp.abs(u), initial=0.0))


Planned = tuple[Group, Data, list[Fold]]
"""A group, what it is trained on and how that is split."""


def _errors(
    plan: list[Planned],
    seeds: list[Any],
    combinations: int,
    who: tuple[int, Any],
    progress: Report | None,
) -> Array:
    """RMSE of every combination, seed and block."""
    batches = [
        (number, slice(start, start + BATCH))
        for number in range(len(seeds))
        for start in range(0, len(plan), BATCH)
    ]
    blocks = sum(len(fold.held_out) for fold in plan[0][2])
    errors = np.full((combinations, len(seeds), blocks), np.inf)
    ran = _run(plan, [(seeds[number], part) for number, part in batches], *who)
    for done, ((number, part), results) in enumerate(zip(batches, ran, strict=True)):
        for (one, _, _), rmse in zip(plan[part], results, strict=True):
            scalings, ridges = np.array(one.places).T
            errors[list(one.members), number] = rmse[:, scalings, ridges].T
        if progress is not None:
            progress(done + 1, len(batches))
    return errors


def _seeds(given: Any, own: Any) -> list[Any]:
    """The seeds to try, as ints; by default the estimator's own."""
    if given is None:
        return [_int_seed(own)]
    if not hasattr(given, "__len__"):
        raise bad_argument("seeds", given, "a list of ints", "range(10) gives ten of them.")
    if not len(given):
        raise bad_argument("seeds", given, "at least one seed, or None for the estimator's")
    return [_int_seed(seed) for seed in given]


def _int_seed(seed: Any) -> Any:
    """A seed that gives the same reservoir when it is scored and when it is fitted."""
    draws = generator(seed)
    return seed if isinstance(seed, (int, np.integer)) else int(draws.integers(2**31))


def _with_int_seeds(combinations: list[Params]) -> list[Params]:
    """The combinations with seeds of the grid as ints, one for each that it lists."""
    listed = {id(one["seed"]): one["seed"] for one in combinations if "seed" in one}
    ints = {place: _int_seed(seed) for place, seed in listed.items()}
    return [one | {"seed": ints[id(one["seed"])]} if "seed" in one else one for one in combinations]


def _with_every_value(base: Params, combinations: list[Params]) -> list[Params]:
    """Return parameters of combinations that together hold every value that is tried.

    A product of lists repeats the same objects, and each parameter is checked by itself: checking
    these combinations checks all of them.
    """
    seen: set[Any] = set()
    distinct = []
    for combination in combinations:
        # The names count as well: all other parameters are those of the base.
        values = {frozenset(combination), *((name, id(v)) for name, v in combination.items())}
        if not values <= seen:
            seen |= values
            distinct.append(base | combination)
    return distinct


def _check_settings(distinct: list[Params], X: Any) -> None:
    for params in distinct:
        Settings.of(params)
    if X is None and not all(params["feedback"] for params in distinct):
        remedy = "A generator without input needs feedback=True, here in every combination."
        raise bad_argument("X", None, "an input series", remedy)


def _data(params: Params, given: tuple[Any, Any], cache: Cache) -> Data:
    """Return the validated series that a combination is trained on.

    Combinations share them if they have the same dtype and both or neither allow missing targets.
    """
    drives = params["feedback"] or params["output_to_readout"]
    key = np.dtype(params["dtype"]), params["missing"] == "skip" and not drives
    inputs, outputs, _ = cache.once(key, lambda: training_series(Settings.of(params), *given))
    return inputs, outputs


def _warn_if_useless(scores: Array) -> None:
    """Warn if no score is finite, or if all of them are 0."""
    if np.all(scores == 0):
        warn(
            "every combination has a score of 0: the targets are 0, or so small that their squares "
            "are. Scale the targets, or use standardize=True.",
            UserWarning,
        )
    if np.any(np.isfinite(scores)):
        return
    count = int(np.count_nonzero(np.isnan(scores)))
    warn(
        f"no combination has a finite score: {count} of {len(scores)} are not a number, the others "
        "infinite. Scale the data (standardize=True), or lower sr, lr or input_scaling in the "
        "grid.",
        UnstableWarning,
    )


Batch = tuple[Any, slice]
"""A seed, and which part of the plan to try with it."""


def _run(
    plan: list[Planned], batches: list[Batch], workers: int, client: Any
) -> Iterator[list[Array]]:
    """The result of every batch, in order."""
    from joblib import Parallel, delayed, parallel_config
    from joblib.parallel import get_active_backend

    if client is not None:
        yield from on_client(client, "search")(partial(_batch, plan), batches)
        return
    backend, _ = get_active_backend()
    callers = type(backend).__module__ != "joblib._parallel_backends"
    if workers == 1 and not callers:
        yield from map(partial(_batch, plan), batches)
        return
    with contextlib.ExitStack() as stack:
        if not callers:
            stack.enter_context(parallel_config("loky", inner_max_num_threads=1))
        run = Parallel(n_jobs=-1 if callers else workers, return_as="generator")
        each = ((seed, plan[part]) for seed, part in batches)
        yield from run(delayed(_batch)(some, (seed, slice(None))) for seed, some in each)


@one_blas_thread()
def _batch(plan: list[Planned], batch: Batch) -> list[Array]:
    (seed, part), cache = batch, Cache()
    return [
        root_mean_squared_errors(one.with_seed(seed), data, split, cache)
        for one, data, split in plan[part]
    ]
