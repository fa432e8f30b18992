"""Grid search over linear echo state networks, collapsed where the mathematics allows it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from eigenecho.errors import UnstableWarning, bad_argument
from eigenecho.estimators import LinearESN
from eigenecho.grid_search.blocks import folds
from eigenecho.grid_search.evaluate import root_mean_squared_errors
from eigenecho.grid_search.grid import Group, Params, check_names, expand, group
from eigenecho.grid_search.result import SearchResult
from eigenecho.model.rows import Fold
from eigenecho.model.train import check_lengths
from eigenecho.random import generator
from eigenecho.readout import lowest
from eigenecho.reservoir.inputs import per_feature
from eigenecho.reservoir.memory import Memory
from eigenecho.types import Array

Data = tuple[list[Array], list[Array]]
"""Inputs and outputs of all series, in the dtype of a network."""

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
    teacher-forced. A combination whose score is not a number loses.

    Parameters
    ----------
    estimator : LinearESN
        Its parameters hold where the grid says nothing. Scores come from the orthogonal solver (or
        normal equations, where that would take minutes and they resolve the head of the readout);
        ``solver`` counts when the best is fitted.
    grid : dict of lists, or list of such dicts
        As for scikit-learn's ``ParameterGrid``. A combination with a ``seed`` keeps it, whatever
        ``seeds`` says; one that is None or a Generator becomes an int.
    X, y
        As for ``LinearESN.fit``: with ``feedback`` in all combinations X may be None.
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
    combinations = _with_int_seeds(expand(grid))
    base = estimator.get_params(deep=False)
    check_names(combinations, sorted(base))
    if seeds is not None and not hasattr(seeds, "__len__"):
        raise bad_argument("seeds", seeds, "a list of ints", "range(10) gives ten of them.")
    if seeds is not None and not len(seeds):
        raise bad_argument("seeds", seeds, "at least one seed, or None for the estimator's")
    seeds = [_int_seed(seed) for seed in ([base["seed"]] if seeds is None else seeds)]
    networks = [LinearESN(**(base | combination)) for combination in combinations]
    for network in networks:
        network._recipe(), network._options()
    known = _known_data(networks, X, y)
    inputs, outputs = known[0]
    for network in networks:
        per_feature(network.input_scaling, inputs[0].shape[1])

    largest = max(float(np.abs(u).max(initial=0.0)) for u in inputs)
    groups = group(base, combinations, largest or 1.0)
    data = [known[one.members[0]] for one in groups]
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
    tasks = [(seeds[n], groups[part], split[part], data[part]) for n, part in batches]
    blocks = sum(len(fold.held_out) for fold in split[0])
    errors = np.full((len(combinations), len(seeds), blocks), np.inf)
    for done, ((number, part), results) in enumerate(
        zip(batches, _run(tasks, workers), strict=True)
    ):
        for one, rmse in zip(groups[part], results, strict=True):
            scalings, ridges = np.array(one.places).T
            errors[list(one.members), number] = rmse[:, scalings, ridges].T
        if progress is not None:
            progress(done + 1, len(batches))
    test_errors = None
    if test is not None:
        errors, test_errors = errors[..., :-1], errors[..., -1]
    scores = errors.mean(axis=(1, 2))
    best = lowest(scores)
    _warn_if_none_is_finite(scores)
    fitted = None
    if refit:
        params = {"seed": seeds[0]} | combinations[best]
        fitted = clone(estimator).set_params(**params).fit(X, y)
    return SearchResult(combinations, seeds, errors, best, fitted, test_errors)


def _int_seed(seed: Any) -> Any:
    """A seed that gives the same reservoir when it is scored and when it is fitted."""
    draws = generator(seed)
    return seed if isinstance(seed, (int, np.integer)) else int(draws.integers(2**31))


def _with_int_seeds(combinations: list[Params]) -> list[Params]:
    """The combinations with seeds of the grid as ints, one for each that it lists."""
    listed = {id(one["seed"]): one["seed"] for one in combinations if "seed" in one}
    ints = {place: _int_seed(seed) for place, seed in listed.items()}
    return [one | {"seed": ints[id(one["seed"])]} if "seed" in one else one for one in combinations]


def _known_data(networks: Sequence[LinearESN], X: Any, y: Any) -> list[Data]:
    """What each network is trained on; networks of one dtype share it."""
    if X is None and not all(network.feedback for network in networks):
        raise bad_argument(
            "X",
            None,
            "an input series",
            "A generator without input needs feedback=True, here in every combination.",
        )
    known: dict[Any, Data] = {}
    for network in networks:
        dtype = np.dtype(network.dtype)
        if dtype not in known:
            inputs, outputs, _ = clone(network)._training_data(X, y)
            known[dtype] = inputs, outputs
    return [known[np.dtype(network.dtype)] for network in networks]


def _warn_if_none_is_finite(scores: Array) -> None:
    if np.any(np.isfinite(scores)):
        return
    count = int(np.count_nonzero(np.isnan(scores)))
    warnings.warn(
        f"no combination has a finite score: {count} of {len(scores)} are not a number, the others "
        "infinite. Scale the data (standardize=True), or lower sr, lr or input_scaling in the "
        "grid.",
        UnstableWarning,
        stacklevel=3,
    )


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
    seed: Any, groups: list[Group], split: list[list[Fold]], data: list[Data]
) -> list[Array]:
    memory: Memory = {}
    return [
        root_mean_squared_errors(one.with_seed(seed), *known, fold, memory)
        for one, fold, known in zip(groups, split, data, strict=True)
    ]
