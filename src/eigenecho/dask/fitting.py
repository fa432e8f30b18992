"""Fits on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, TypeVar

import numpy as np

from eigenecho.dask.carry import halo_length
from eigenecho.dask.cluster import Cluster
from eigenecho.dask.panels import fit_panel
from eigenecho.dask.sharded_problem import Rows, ShardedProblem
from eigenecho.dask.shards import Shard, ShardSummary, split_series, validate_shards
from eigenecho.errors import bad_argument
from eigenecho.estimators import Forecaster, LinearESN
from eigenecho.estimators.fitted import fit_network
from eigenecho.estimators.validation import all_or_nothing, gap_options, target_kind
from eigenecho.progress import StageReport, stage_report
from eigenecho.reservoir import DrawnReservoir
from eigenecho.scaling import Spread
from eigenecho.training import Settings, check_warmup, parameters_of

Estimator = TypeVar("Estimator", LinearESN, Forecaster)


def fit(
    estimator: Estimator, X: Any = None, y: Any = None, *, client: Any = None, progress: Any = False
) -> Estimator:
    """Fit an estimator on a cluster.

    Up to rounding errors, the result is the same as that of the estimator's method ``fit``.

    Parameters
    ----------
    estimator : LinearESN or Forecaster
        Estimator that is fitted in place. It is unchanged if the fit fails.
    X, y : for a LinearESN
        One series is a dask array (T, D) that is chunked along time. Several series are a list of
        such arrays, an array (series, T, D), or a list of delayed arrays, each of which is read by
        one worker. X may be None for a generator with ``feedback``.
    X, y : for a Forecaster
        y contains the series, and X the further columns or None. Both are long frames of
        dask.dataframe or lists of delayed pandas frames, and a series may extend over several
        partitions. All rows are sent to the client, because a forecaster stores them. Candidates
        are compared and trained on the workers.
    client : distributed.Client, optional
        By default, the current client or, if there is none, Dask's scheduler in this process.
    progress : bool, or callable (step, done, total)
        True draws a progress bar for each step. A callable is called when shards are finished. If
        it raises an exception, the fit ends and its tasks are removed from the cluster.

    Returns
    -------
    LinearESN or Forecaster
        The fitted estimator.

    Notes
    -----
    Workers read the data once for validation, once for statistics, and once for each round of
    refinement. ``X.persist()`` keeps the data in the memory of the workers.

    ``spectrum="data"``, and targets whose columns have missing values in different rows, are not
    supported and raise an error.
    """
    if not isinstance(estimator, (LinearESN, Forecaster)):
        raise bad_argument("estimator", estimator, "a LinearESN or a Forecaster")
    with stage_report(progress) as report, all_or_nothing(estimator):
        if isinstance(estimator, Forecaster):
            fit_panel(estimator, X, y, Cluster.of(client, report))
        else:
            _fit_network(estimator, X, y, client, report)
    return estimator


def _fit_network(esn: LinearESN, X: Any, y: Any, client: Any, report: StageReport | None) -> None:
    settings = Settings.of(parameters_of(esn))
    if settings.has_features or settings.ridge == "loop":
        got = "features or a delay line" if settings.has_features else "ridge='loop'"
        remedy = "Use LinearESN.fit instead, without a cluster."
        raise bad_argument("estimator", esn, f"a network without {got}", remedy)
    if y is None:
        raise bad_argument("y", None, "targets, as in fit(esn, X[:-1], X[1:])")
    if X is None and not esn.feedback:
        remedy = "A model without inputs requires feedback=True."
        raise bad_argument("X", None, "an input series", remedy)
    shards = split_series(X, y)
    cluster = Cluster.of(client, report)
    gaps = "gaps" in gap_options(settings)
    drawn: DrawnReservoir | None = None
    halo: int | None = 0
    if shards[0].columns is not None:
        # The first pass collects the halos, so their length is computed before.
        drawn = settings.draw(*shards[0].columns, esn.seed)
        halo = halo_length(drawn.reservoir, shards)
    dtype, tail = np.dtype(esn.dtype), max(halo or 0, 1)
    summaries = validate_shards(cluster, shards, dtype, gaps, settings.warmup, tail)
    shards = [replace(s, count=summary.rows) for s, summary in zip(shards, summaries, strict=True)]
    D_in, D_out = summaries[0].columns
    if drawn is None:
        drawn = settings.draw(D_in, D_out, esn.seed)
    spreads = zip(*(summary.spreads for summary in summaries), strict=True)
    inputs, targets = (reduce(Spread.merge, each) for each in spreads)
    lasts = [summary.tail[1][-1] for summary in summaries]
    problem = ShardedProblem.of(
        settings,
        drawn,
        D_out,
        cluster=cluster,
        shards=shards,
        dtype=dtype,
        gaps=gaps,
        halos=None if halo is None else _halos(shards, summaries, halo),
        lasts=lasts,
    )
    for number, length in enumerate(problem.lengths):
        which = f" of series {number}" if len(problem.lengths) > 1 else ""
        check_warmup(settings.warmup, length, D_in, which)
    if settings.standardize:
        scalings = inputs.scaling if D_in else None, targets.scaling
        problem = replace(problem, scalings=scalings)
    heads = zip(*(summary.head for summary in summaries), strict=True)
    fitted = fit_network(
        settings,
        drawn,
        problem,
        targets.size,
        lasts[-1],
        flat=all(summary.flat for summary in summaries),
        target=target_kind(*([np.concatenate(parts)] for parts in heads)),
    )
    esn.n_features_in_ = D_in
    esn.__dict__.pop("feature_names_in_", None)  # Dask arrays have no column names.
    fitted.attach_to(esn)


def _halos(
    shards: Sequence[Shard], summaries: Sequence[ShardSummary], length: int
) -> list[Rows | None]:
    """Return the last ``length`` rows before each shard, which can come from several shards."""
    halos: list[Rows | None] = [None]
    for shard, before in zip(shards[1:], summaries, strict=False):
        halo = None
        if shard.continues:
            known = [before.tail] if halos[-1] is None else [halos[-1], before.tail]
            u, y = (np.concatenate(parts)[-length:] for parts in zip(*known, strict=True))
            halo = u, y
        halos.append(halo)
    return halos
